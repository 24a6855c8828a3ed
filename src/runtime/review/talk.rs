//! What is said to and heard from one Claude of a review, up to its answer.

use super::session::{Failed, N, NOBODY, Session, Talk};
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::{Agent, AgentEvent, CallbackAnswer, ToolAnswer};
use crate::adapters::clock::fresh_id;
use crate::base::time::human;
use crate::domain::approval::ApprovalKind;
use crate::domain::background::has_agent;
use crate::domain::critique::Critique;
use crate::domain::limits::admission::Purpose;
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::record::{AgentReady, Level, Record, TurnEnded, TurnFailed};
use crate::domain::session::Told;
use crate::domain::tool_call::{ToolCall, Via};
use crate::domain::turn::{Origin, TurnResult};
use crate::domain::verdict::Verdict;
use crate::orchestrator::input::Input;
use crate::orchestrator::limits;
use crate::orchestrator::state::Failure;
use crate::orchestrator::turn_outcome::{Ending, Exit, TurnOutcome, turn_outcome};
use crate::runtime::gate::Gate;
use crate::runtime::translate;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::block_in_place;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

impl Session<'_> {
    /// Asks, judges the calls, and gives the answer once Claude has exited or has had its time to.
    pub(super) async fn talk<T>(
        &mut self,
        agent: &Agent,
        seen: &mut mpsc::Receiver<AgentEvent>,
        talk: Talk<T>,
        gate: &Gate,
        stop: &CancellationToken,
    ) -> Result<(Critique, T), Failed> {
        let Talk { question, again, read, model, left } = talk;
        let settings = &self.desk.config.settings;
        let [whole, grace] = [settings.iteration_timeout, settings.post_result_grace].map(Duration::from_secs);
        let mut until = Instant::now() + left;
        let (mut answer, mut again) = (None, Some(again));
        say(agent, &question).await;
        loop {
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => return answer.ok_or_else(Failed::interrupted),
                event = seen.recv() => event,
                () = tokio::time::sleep_until(until) => {
                    return answer.ok_or_else(|| {
                        let words = format!("no answer within {} (limits.iteration_timeout)", human(whole));
                        Failed { outcome: IterationOutcome::TimedOut, ..Failed::of(words, ExitReason::Timeout) }
                    });
                }
            };
            let now = self.desk.clock.now();
            let Some(event) = event else { return answer.ok_or_else(|| Failed::from("Claude has exited".to_owned())) };
            let Some(input) = translate::agent_event(N, &Told::default(), event, now) else { continue };
            match input {
                Input::AgentExited { code, signal, stderr, .. } => {
                    let exit = Some(Exit { code, signal, stderr: &stderr });
                    let gone = || match turn_outcome(Ending { exit, ..Ending::default() }) {
                        TurnOutcome::Failed(failure) => Failed::from(failure.message),
                        _ => Failed::from("Claude has exited".to_owned()),
                    };
                    return answer.ok_or_else(gone);
                }
                Input::TurnFinished { result, .. } => {
                    let said = self.turn_finished(&result).await;
                    // What comes behind the answer takes nothing from it.
                    let text = if answer.is_some() { said.unwrap_or_default() } else { said? };
                    if answer.is_some() || self.has_subagents() {
                        continue;
                    }
                    match read(&text) {
                        Ok(read) => {
                            self.journal.record(vec![Record::CritiqueMade { n: N, critique: read.0.clone() }]).await?;
                            answer = Some(read);
                            agent.close_input().await;
                            until = Instant::now() + grace;
                        }
                        // A command in the background has ended or will, and another turn follows.
                        Err(_) if self.more_is_to_come() => {}
                        Err(why) => {
                            self.journal.record(vec![Record::ClaimMissing { n: N, reason: why.to_owned() }]).await?;
                            let Some(again) = again.take() else {
                                let words = format!("no readable answer, even when asked again ({why})");
                                return Err(Failed { outcome: IterationOutcome::NoClaim, ..Failed::from(words) });
                            };
                            let (counted, _) = self.admit(Purpose::FollowUp, model.clone()).await?;
                            let sent = Record::FollowUpSent { n: N };
                            self.journal.record(vec![Record::CallCounted(counted), sent]).await?;
                            say(agent, &again).await;
                        }
                    }
                }
                Input::ToolAsked { call, .. } => self.tool_asked(agent, gate, call).await?,
                input => self.heard(input).await?,
            }
        }
    }

    /// What only the journal hears, and the tripwire.
    async fn heard(&mut self, input: Input) -> Result<(), Failed> {
        let tripped = |words: &str| Err(Failed { ladder: Ladder::KILL, ..Failed::from(format!("stopped: {words}")) });
        let record = match input {
            Input::AgentSpawned { pid, .. } => Record::AgentSpawned { n: N, pid },
            Input::AgentReady { session, model, version, told, .. } => {
                Record::AgentReady(AgentReady { n: N, session, model, version, told })
            }
            Input::ToolRan { tool_use_id, unasked, .. } => match self.judged.get(&tool_use_id) {
                None => return tripped("a tool ran without a verdict from the gate"),
                Some(false) if unasked => return tripped("a tool ran that the gate had not allowed"),
                Some(_) => return Ok(()),
            },
            Input::ToolFinished { tool_use_id, is_error, .. } => match self.judged.get(&tool_use_id) {
                Some(false) if !is_error => return tripped("a tool ran that the gate had not allowed"),
                Some(true) => Record::ToolFinished { n: N, tool_use_id, is_error },
                _ => return Ok(()),
            },
            Input::BackgroundChanged { tasks, .. } => Record::BackgroundChanged { n: N, tasks },
            Input::ForeignTurn { .. } => return tripped("another program spoke to this Claude"),
            Input::ApiRetried(retried) => Record::ApiRetried(retried),
            Input::LimitSeen { window, .. } => Record::LimitSeen(window),
            Input::Warned { text } => Record::Noticed { level: Level::Warn, text },
            _ => return Ok(()),
        };
        Ok(self.journal.record(vec![record]).await?)
    }

    /// What was said in the turn, or why it failed.
    async fn turn_finished(&mut self, result: &TurnResult) -> Result<String, Failed> {
        let ended = Record::TurnEnded(TurnEnded {
            n: N,
            cost_usd: result.cost_usd,
            usage: result.usage,
            context: result.context,
            context_window: result.context_window,
            denials: result.denials.clone(),
            origin: result.origin,
        });
        self.journal.record(vec![ended]).await?;
        if result.origin == Origin::Foreign {
            return Err(Failed::from("stopped: another program spoke to this Claude".to_owned()));
        }
        let outcome = turn_outcome(Ending { result: Some(result), ..Ending::default() });
        let (TurnOutcome::Failed(failure) | TurnOutcome::UnknownSession(failure)) = outcome else {
            return Ok(result.text.clone());
        };
        let Failure { error, message, status } = failure;
        let words = if message.is_empty() { error.clone() } else { message.clone() };
        self.journal.record(vec![Record::TurnFailed(TurnFailed { n: N, error, message, status })]).await?;
        let now = self.desk.clock.now();
        match limits::hit(&self.journal.state, result.limit.as_ref(), result.resets_at, now) {
            Some(hit) => {
                self.journal.record(vec![Record::LimitHit(hit)]).await?;
                Err(Failed::of(words, ExitReason::RateLimited))
            }
            None => Err(Failed::from(words)),
        }
    }

    fn has_subagents(&self) -> bool {
        self.journal.state.open_iteration().is_some_and(|open| has_agent(&open.background))
    }

    fn more_is_to_come(&self) -> bool {
        self.journal.state.open_iteration().is_some_and(|open| !open.followed_up && !open.background.is_empty())
    }

    /// A verdict is stored before it is given; one that cannot be stored is a no.
    async fn tool_asked(&mut self, agent: &Agent, gate: &Gate, mut call: Box<ToolCall>) -> Result<(), Failed> {
        let folder = self.desk.workspace.directory();
        let id = call.tool_use_id.clone();
        // Claude says where a call is made from with the first of its two requests only.
        if let Some(cwd) = call.cwd.take().filter(|cwd| Path::new(cwd) != folder) {
            self.places.insert(id.clone(), cwd);
        }
        call.cwd = self.places.get(&id).cloned();
        let ruling = block_in_place(|| gate.judge(&call));
        let asks = ruling.verdict != Verdict::Allow && ruling.verdict != Verdict::Block;
        let ruling = if asks || ApprovalKind::always(&call.tool).is_some() {
            ruling.blocked("programmator", NOBODY)
        } else {
            ruling
        };
        let is_allowed = ruling.verdict == Verdict::Allow;
        // What was let through at the first request needs no second record.
        let is_known = call.request.via == Via::CanUseTool && is_allowed && self.judged.get(&id) == Some(&true);
        let reason = ruling.words();
        let stored = if is_known {
            Ok(())
        } else {
            let (verdict, target, units) = (ruling.verdict, ruling.target.clone(), ruling.parts());
            let (tool, reason) = (call.tool.clone(), reason.clone());
            let (tool_use_id, cwd) = (id.clone(), call.cwd.clone());
            let judged = Record::ToolJudged { n: N, tool_use_id, tool, target, verdict, reason, cwd, units };
            self.journal.record(vec![judged]).await
        };
        let is_allowed = is_allowed && stored.is_ok();
        self.judged.insert(id, is_allowed);
        let sent = match (call.request.via, is_allowed) {
            (Via::Callback, true) => agent.answer_callback(&call.request.id, &CallbackAnswer::Allow).await,
            (Via::Callback, false) => agent.answer_callback(&call.request.id, &CallbackAnswer::Deny { reason }).await,
            (Via::CanUseTool, true) => {
                agent.answer_can_use_tool(&call.request.id, &ToolAnswer::Allow { input: call.input }).await
            }
            (Via::CanUseTool, false) => {
                agent.answer_can_use_tool(&call.request.id, &ToolAnswer::Deny { message: reason }).await
            }
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "a verdict could not be delivered to Claude; it runs nothing without one");
        }
        Ok(stored?)
    }
}

/// A Claude that has gone meanwhile is told nothing; its exit is told by itself.
async fn say(agent: &Agent, text: &str) {
    agent.send_user(&fresh_id(), text).await.ok();
}
