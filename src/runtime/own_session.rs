//! A question of a Claude session that the person has started themselves. The hook that Claude has started for it is the program
//! that works on the session's run, for as long as it waits: it asks by a record, and hears the answer as other programs do.
//!
//! The first answer counts, by a record. Whatever goes wrong, there is no answer, and Claude goes on with its own prompt.

use crate::adapters::clock::fresh_id;
use crate::adapters::person_socket::PersonSocket;
use crate::adapters::store::{Append, Holder, LockError, Store, StoreError, TicketLock};
use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::{Clock, Timestamp};
use crate::domain::approval::{Answer, Answered, AnsweredBy, Approval, ApprovalKind, QuestionId, Scope, Voided};
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::own_notice::LastQuestion;
use crate::domain::own_session::{FINISHED, Heard, next_words, run_of};
use crate::domain::record::Record;
use crate::domain::settings::Settings;
use crate::domain::summary::RunSummary;
use crate::domain::verdict::Verdict;
use crate::orchestrator::apply::after;
use crate::orchestrator::state::State;
use crate::orchestrator::summary::summary;
use crate::runtime::heard::{Came, Said, answer};
use crate::runtime::offline::state_of;
use crate::runtime::own_run::path;
use std::path::Path;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::block_in_place;
use tokio::time::{Instant, sleep, sleep_until};

/// How often is looked whether Claude still waits, and for another hook of the session.
const LOOK: Duration = Duration::from_millis(500);
/// Under what a call is allowed for the rest of the session.
const RULES: &str = "own session";
const LATE: &str = "not answered in time: Claude asks in its terminal";
const LEFT: &str = "answered in its terminal, or the session has ended";
const OVER: &str = "it is no longer waiting for this answer";
/// Why a session's run stands still.
const AT_REST: &str = "idle: no question from the session";
const ENDED: &str = "the session has ended";
/// How long its end waits for a hook of it: Claude does not wait much longer for ours.
const LAST: Duration = Duration::from_secs(1);
/// Two hooks for the same event begin at most so long one after the other.
const TWINS: Duration = Duration::from_secs(5);

/// The other side of a hook.
pub trait Claude: Send {
    /// Why it waits no more; `None`: it does.
    fn gone(&mut self) -> Option<&'static str>;

    /// Tells it the answer.
    fn tell(&mut self, answer: &Answer) -> std::io::Result<()>;
}

/// Where is asked, and for how long.
pub struct Asking<'a> {
    pub store: &'a Store,
    pub clock: &'a dyn Clock,
    pub patience: Duration,
    /// The process of the session: what it starts may not answer.
    pub claude: Option<u32>,
}

/// The run of a session, while this program has it.
struct Own {
    ticket: TicketId,
    run: RunId,
    state: State,
    _lock: TicketLock,
}

impl Asking<'_> {
    /// Asks, and tells Claude the answer, if there is one in time.
    pub async fn ask(&self, heard: &Heard, claude: &mut dyn Claude) -> Result<(), String> {
        let (end, begun, mut waited) = (Instant::now() + self.patience, self.clock.now(), false);
        // Claude shows its own prompts one after the other, too.
        let mut own = loop {
            match self.take(heard) {
                Ok(own) => break own,
                Err(LockError::Store(error)) => return Err(error.to_string()),
                Err(LockError::Held { .. }) if claude.gone().is_some() || Instant::now() >= end => return Ok(()),
                Err(LockError::Held { .. }) => {
                    waited = true;
                    sleep(LOOK).await;
                }
            }
        };
        let approval = heard.question(fresh_id(), self.clock.now());
        if waited && self.was_asked(&own, &approval, begun).map_err(|error| error.to_string())? {
            return Ok(());
        }
        if claude.gone().is_some() {
            return Ok(());
        }
        let socket = PersonSocket::open(self.store.folder()).map_err(|error| error.to_string())?;
        let mut records = own.begin(heard, self.store);
        let state = after(&own.state, &records, self.clock.now());
        records.extend([judged(&approval), Record::ApprovalAsked(approval.clone())]);
        if state.gate.grants(&approval) {
            let answer = Answer::Allow { input: approval.input.clone(), scope: Scope::Once };
            let answered = Answered { id: approval.id, answer: answer.clone(), by: AnsweredBy::Ticket };
            records.extend([Record::ApprovalAnswered(answered), rests(AT_REST)]);
            self.append(&mut own, records).await.map_err(|error| error.to_string())?;
            return claude.tell(&answer).map_err(|error| error.to_string());
        }
        self.append(&mut own, records).await.map_err(|error| error.to_string())?;
        let (say, mut said) = mpsc::channel::<(Said, oneshot::Sender<Came>)>(1);
        let hear = move |said: Vec<u8>| {
            let say = say.clone();
            async move { answer(&passed_on(&say, &said).await) }
        };
        let serving = socket.serve(self.claude, hear);
        tokio::pin!(serving);
        let why = loop {
            tokio::select! {
                () = &mut serving => {}
                Some((said, done)) = said.recv() => match decided(&approval, own.run, said) {
                    Err(why) => drop(done.send(Err(why))),
                    Ok(answered) => {
                        // Who is told that it counts must be able to rely on it.
                        if let Some(gone) = claude.gone() {
                            let _ = done.send(Err(gone.to_owned()));
                            break gone;
                        }
                        let answer = answered.answer.clone();
                        let records = vec![Record::ApprovalAnswered(answered), rests(AT_REST)];
                        let stored = self.append(&mut own, records).await.map_err(|error| error.to_string());
                        let told = stored.and_then(|()| claude.tell(&answer).map_err(|error| error.to_string()));
                        let _ = done.send(told.clone());
                        return told;
                    }
                },
                () = sleep(LOOK) => if let Some(gone) = claude.gone() {
                    break gone;
                },
                () = sleep_until(end) => break LATE,
            }
        };
        let records = vec![voided(approval.id, why), rests(AT_REST)];
        self.append(&mut own, records).await.map_err(|error| error.to_string())
    }

    /// Another hook has asked the same for the same event: Claude has hooks of ours in its settings and in a plugin.
    fn was_asked(&self, own: &Own, approval: &Approval, begun: Timestamp) -> Result<bool, StoreError> {
        let records = block_in_place(|| self.store.load(own.run))?.records;
        let last = records.iter().rev().find_map(|stored| match &stored.record {
            Record::ApprovalAsked(asked) => Some(asked),
            _ => None,
        });
        let is_same = |asked: &Approval| {
            (&asked.tool, &asked.input, &asked.agent) == (&approval.tool, &approval.input, &approval.agent)
        };
        Ok(last.is_some_and(|asked| is_same(asked) && asked.asked.plus(TWINS) >= begun))
    }

    /// Takes the session's run, or begins one.
    fn take(&self, heard: &Heard) -> Result<Own, LockError> {
        let (store, ticket) = (self.store, heard.session.clone());
        let path = path(store, &ticket);
        block_in_place(|| {
            let (mut lock, mut holder) = lock(store, &path, &ticket, self.clock)?;
            let last = store.latest_for(&path.display().to_string())?.map(|last| last.run);
            let run = last.unwrap_or_else(|| run_of(&ticket));
            holder.run = Some(run);
            lock.describe(&holder)?;
            let state = if last.is_some() { state_of(store, run)? } else { State::of(run, ticket.clone()) };
            Ok(Own { ticket, run, state, _lock: lock })
        })
    }

    async fn append(&self, own: &mut Own, records: Vec<Record>) -> Result<(), StoreError> {
        if let Some(append) = own.append(records, self.clock.now()) {
            self.store.append(append).await?;
        }
        Ok(())
    }
}

impl Own {
    /// The records before a question.
    fn begin(&self, heard: &Heard, store: &Store) -> Vec<Record> {
        let first = if self.state.started.is_some() {
            Record::RunResumed { pid: std::process::id() }
        } else {
            Record::RunStarted {
                folder: heard.folder.clone(),
                ticket_path: path(store, &self.ticket).display().to_string(),
                title: heard.title(),
                ticket_status: None,
                phases: Vec::new(),
                unverified: Vec::new(),
                unverified_ids: Vec::new(),
                validation: Vec::new(),
                settings: Settings::default(),
            }
        };
        let left = self.state.approvals.iter().map(|left| voided(left.id.clone(), LEFT));
        [first, Record::RulesKnown { rules: RULES.to_owned() }].into_iter().chain(left).collect()
    }

    fn append(&mut self, records: Vec<Record>, now: Timestamp) -> Option<Append> {
        self.state = after(&self.state, &records, now);
        let summary = summary(&self.state)?;
        Some(Append { run: self.run, ticket: self.ticket.clone(), time: now, records, summary })
    }
}

/// Ends what a hook has left behind that was killed: nobody can be answered any more. What cannot be ended now is later.
pub fn settle(store: &Store, run: &RunSummary, clock: &dyn Clock) {
    block_in_place(|| {
        let Ok((held, _)) = lock(store, Path::new(&run.ticket_path), &run.ticket, clock) else { return };
        let Ok(state) = state_of(store, run.run) else { return };
        if state.ended.is_none() {
            close(store, Own { ticket: run.ticket.clone(), run: run.run, state, _lock: held }, AT_REST, clock);
        }
    });
}

/// The session has ended: so has its run, if there is one. A hook that still waits ends with it.
pub async fn over(store: &Store, session: &TicketId, clock: &dyn Clock) {
    let (path, end) = (path(store, session), Instant::now() + LAST);
    loop {
        let is_done = block_in_place(|| {
            let Ok(Some(last)) = store.latest_for(&path.display().to_string()) else { return true };
            let held = match lock(store, &path, session, clock) {
                Ok((held, _)) => held,
                Err(LockError::Held { .. }) => return false,
                Err(LockError::Store(_)) => return true,
            };
            let Ok(state) = state_of(store, last.run) else { return true };
            if state.ended.as_ref().is_none_or(|ended| ended.detail != ENDED) {
                close(store, Own { ticket: session.clone(), run: last.run, state, _lock: held }, ENDED, clock);
            }
            true
        });
        if is_done || Instant::now() >= end {
            return;
        }
        sleep(LOOK / 5).await;
    }
}

/// The last question of a session, and what became of it; `None`: it has asked nothing, or that cannot be read.
pub fn last_question(store: &Store, session: &TicketId) -> Option<LastQuestion> {
    let last = store.latest_for(&path(store, session).display().to_string()).ok()??;
    let records = store.load(last.run).ok()?.records;
    last_of(records.iter().map(|stored| (&stored.record, stored.time)))
}

fn last_of<'a>(records: impl Iterator<Item = (&'a Record, Timestamp)>) -> Option<LastQuestion> {
    let mut found: Option<(&QuestionId, LastQuestion)> = None;
    for (record, time) in records {
        match (record, &mut found) {
            (Record::ApprovalAsked(asked), found) => {
                let is_end_of_turn = asked.tool == FINISHED;
                *found = Some((&asked.id, LastQuestion { is_end_of_turn, asked: asked.asked, ended: None }));
            }
            // What becomes of an earlier one says nothing of the last.
            (Record::ApprovalAnswered(given), Some((id, last))) if given.id == **id => {
                let goes_on = !last.is_end_of_turn || next_words(&given.answer).is_some();
                last.ended = Some((time, goes_on));
            }
            (Record::ApprovalVoid(void), Some((id, last))) if void.id == **id && last.ended.is_none() => {
                last.ended = Some((time, false));
            }
            _ => {}
        }
    }
    found.map(|(_, last)| last)
}

fn close(store: &Store, mut own: Own, why: &str, clock: &dyn Clock) {
    let left = own.state.approvals.iter().map(|left| voided(left.id.clone(), LEFT));
    let records = left.chain([rests(why)]).collect();
    if let Some(append) = own.append(records, clock.now())
        && let Err(error) = store.append_blocking(append)
    {
        tracing::warn!(%error, "a session's run cannot be closed");
    }
}

fn lock(store: &Store, path: &Path, ticket: &TicketId, clock: &dyn Clock) -> Result<(TicketLock, Holder), LockError> {
    let holder = Holder { pid: std::process::id(), ticket: ticket.clone(), run: None, since: clock.now() };
    Ok((store.lock_ticket(path, &holder)?, holder))
}

/// What the log says that is asked about.
fn judged(approval: &Approval) -> Record {
    let (words, tool) = (approval.words(), approval.tool.clone());
    Record::ToolJudged {
        n: approval.n,
        tool_use_id: approval.id.call.clone(),
        target: clean_line(words.strip_prefix(&tool).unwrap_or(&words), 500),
        tool,
        verdict: Verdict::Ask,
        reason: approval.rule.clone(),
        units: Vec::new(),
        cwd: None,
    }
}

fn voided(id: QuestionId, why: &str) -> Record {
    Record::ApprovalVoid(Voided { id, why: why.to_owned() })
}

/// Until the next question, if there is one.
fn rests(why: &str) -> Record {
    Record::RunEnded {
        reason: ExitReason::UserStopped,
        detail: why.to_owned(),
        iterations: 0,
        phases_done: 0,
        phases: 0,
        cost_usd: 0.0,
    }
}

/// One after the other.
async fn passed_on(say: &mpsc::Sender<(Said, oneshot::Sender<Came>)>, said: &[u8]) -> Came {
    let (done, came) = oneshot::channel();
    say.send((Said::read(said)?, done)).await.map_err(|_| OVER.to_owned())?;
    came.await.unwrap_or_else(|_| Err(OVER.to_owned()))
}

/// What was said, as the answer to this question.
fn decided(approval: &Approval, run: RunId, said: Said) -> Result<Answered, String> {
    let UserCommand::AnswerApproval { id, answer } = said.command else {
        return Err("your own Claude session only accepts answers: do the rest in its terminal".to_owned());
    };
    if said.run != run || id != approval.id {
        return Err(OVER.to_owned());
    }
    let is_call = approval.kind == ApprovalKind::Call;
    let answer = match answer {
        Answer::Allow { input, .. } if is_call && input != approval.input => {
            return Err("a call of your own session cannot be edited: allow it, or deny it with a reason".to_owned());
        }
        Answer::Allow { input, scope } => {
            let scope = match scope {
                Scope::Ticket if is_call => scope,
                Scope::Kind if approval.kinds().is_some() => scope,
                _ => Scope::Once,
            };
            Answer::Allow { input, scope }
        }
        deny @ Answer::Deny { .. } => deny,
    };
    Ok(Answered { id, answer, by: AnsweredBy::Person(said.by) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::own_session::read;

    #[test]
    fn what_becomes_of_an_earlier_question_says_nothing_of_the_last() {
        let told = serde_json::json!({
            "session_id": "1a2b3c4d-0000-4000-8000-000000000000", "cwd": "/w", "transcript_path": "/t/1.jsonl",
            "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"},
        });
        let heard = read(told.to_string().as_bytes()).unwrap();
        let [first, last] = [1, 2].map(|at| heard.question(fresh_id(), Timestamp::from_millis(at)));
        let asked = [first.clone(), last.clone()].map(Record::ApprovalAsked);
        let [first, last] = [first, last].map(|one| voided(one.id, LEFT));
        let ended = |over: &[&Record]| {
            let records = asked.iter().chain(over.iter().copied());
            last_of(records.map(|record| (record, Timestamp::from_millis(9)))).unwrap().ended
        };
        assert_eq!(ended(&[&first]), None);
        assert_eq!(ended(&[&first, &last]), Some((Timestamp::from_millis(9), false)));
    }
}
