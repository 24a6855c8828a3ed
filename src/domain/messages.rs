//! A run's records in words: the one line that the Log pane and the headless printer show for each.
//!
//! Owns the sentences; front ends add time, ticket and colour.

mod approvals;
mod breaker;
mod chat;
mod checks;
mod claims;
mod commits;
mod ends;
mod goal;
mod iterations;
mod limits;
mod line;
mod phases;
mod planning;
mod settings;
mod turns;
mod wheel;
mod worktrees;

pub use approvals::decided_words;
pub use ends::{done_words, how_to_reopen, iterations_words, outcome_words, reason_words};
pub use goal::goal_words;
pub use iterations::IterationSummary;
pub use limits::{countdown, wait_words};
pub use line::{Line, Weight};
pub use planning::{AT_LAST, draft_lines, draft_words, part_words};
pub use turns::foreign_words;

use crate::base::amount::counted;
use crate::base::time::human;
use crate::domain::approval::{ApprovalKind, OF_ANSWER};
use crate::domain::outcome::IterationOutcome;
use crate::domain::record::{
    AgentReady, ApiRetried, ChangeAnswered, ForeignTurn, Level, Record, SessionLost, TurnFailed, WorkCarried,
};
use crate::domain::session::{COMPLETE, SessionEnded};
use crate::domain::settings::SettingsChanged;
use crate::domain::ticket::Boxes;
use crate::domain::verdict::Verdict;
use crate::domain::workspace::Workspace;
use jiff::tz::TimeZone;
use line::{WIDEST, WIDEST_OURS, quoted};
use std::collections::HashMap;
use std::time::Duration;

const RATE_LIMITED: u16 = 429;
/// Calls whose names are remembered until they come back.
const CALLS: usize = 1_024;

/// Tells the records of one run, in their order: remembers what later lines name again.
#[derive(Clone, Debug, Default)]
pub struct LogFormatter {
    /// Paths in it are told from there.
    workspace: Workspace,
    /// Calls under way: tool and target by id.
    calls: HashMap<String, String>,
    /// For clock times; UTC without one.
    zone: Option<TimeZone>,
    is_limited: bool,
    /// The run was asked to stop.
    stops: bool,
}

impl LogFormatter {
    /// A formatter that shows times in `zone`.
    pub fn of(zone: TimeZone) -> Self {
        Self { zone: Some(zone), ..Self::default() }
    }

    /// The line for the next record; `None` for steps that only matter to the machine.
    pub fn line(&mut self, record: &Record) -> Option<Line> {
        let (level, text) = match record {
            Record::ToolJudged { tool_use_id, tool, target, verdict, reason, .. } => {
                let call = match ApprovalKind::always(tool) {
                    Some(ApprovalKind::Question) => approvals::QUESTION.to_owned(),
                    Some(ApprovalKind::Plan) => approvals::PLAN.to_owned(),
                    _ => format!("{tool} {}", self.workspace.shortened(target)),
                };
                let level = if *verdict == Verdict::Allow { Weight::Call } else { Weight::Gate };
                let text = match (verdict, ApprovalKind::always(tool)) {
                    // No rule asks: it is Claude who does.
                    (Verdict::Ask, Some(ApprovalKind::Plan)) => "Claude has a plan for you to approve".to_owned(),
                    (Verdict::Ask, Some(_)) => "Claude has a question".to_owned(),
                    _ => format!("{} {call} · {reason}", verdict.word()),
                };
                if self.calls.len() >= CALLS {
                    self.calls.clear();
                }
                self.calls.insert(tool_use_id.clone(), call);
                (level, text)
            }
            Record::ToolFinished { tool_use_id, is_error, .. } => {
                let call = self.calls.remove(tool_use_id).unwrap_or_else(|| "a tool call".into());
                if !is_error {
                    return None;
                }
                (Weight::Call, format!("{call} failed"))
            }
            Record::ApprovalAnswered(answered) => approvals::answered(self.call(&answered.id.call), answered),
            Record::AnswerTooLate(late) => approvals::too_late(self.call(&late.id.call), late),
            Record::ApprovalAsked(asked) => approvals::asked_again(self.call(&asked.id.call), asked)?,
            Record::EditRefused(refused) => {
                let text = format!("edit rejected: {} · {}", self.call(&refused.id.call), refused.why);
                (Weight::Warn, text)
            }
            Record::ApprovalVoid(void) => {
                (Weight::Info, format!("request withdrawn: {} · {}", self.call(&void.id.call), void.why))
            }
            Record::ApprovalsKept { why } => (Weight::Warn, format!("still waiting for your answer: {why}")),
            Record::Continued if std::mem::take(&mut self.stops) => {
                (Weight::Info, "stop withdrawn: the run keeps going".to_owned())
            }
            // A rate limit is one line: that of the wait which follows, or of the run's end.
            Record::ApiRetried(ApiRetried { status: Some(RATE_LIMITED), .. })
            | Record::IterationEnded { outcome: IterationOutcome::Parked, .. } => return None,
            Record::TurnFailed(TurnFailed { status: Some(RATE_LIMITED), .. }) => {
                self.is_limited = true;
                return None;
            }
            Record::AgentExited { swept, .. } if std::mem::take(&mut self.is_limited) && *swept == 0 => return None,
            Record::Parked(parking) => (Weight::Warn, limits::parked_words(parking, self.zone.as_ref())),
            record => {
                match record {
                    Record::StopRequested { .. } => self.stops = true,
                    Record::RunEnded { .. } | Record::RunResumed { .. } => self.stops = false,
                    _ => {}
                }
                worktrees::follow(&mut self.workspace, record);
                sentence(record)?
            }
        };
        let is_ours = matches!(record, Record::RunEnded { .. } | Record::Parked(_) | Record::Noticed { .. });
        Some(Line::of(level, &text, if is_ours { WIDEST_OURS } else { WIDEST }))
    }

    /// The call, as it was told before.
    fn call(&self, id: &str) -> &str {
        self.calls.get(id).map_or("a tool call", String::as_str)
    }
}

/// The sentence of a record that needs no other to be understood.
fn sentence(record: &Record) -> Option<(Weight, String)> {
    use Weight::{Error, Info, Warn};
    let info = |text: String| Some((Info, text));
    match record {
        Record::RunStarted { folder, phases, validation, settings, .. } => info(format!(
            "run started in {folder} · {} · {} · at most {}",
            phases::phases_word(phases),
            match validation.len() {
                0 => "no validation commands".into(),
                some => counted(some, "validation command"),
            },
            counted(settings.max_iterations as usize, "iteration"),
        )),
        Record::RunResumed { pid } => info(format!("run resumed (process {pid})")),
        Record::TreeAwaited { holder } => Some((Warn, format!("queued: working directory in use by {holder}"))),
        Record::TicketRead { title, phases, .. } => {
            info(format!("ticket read: “{title}” · {}", phases::phases_word(phases)))
        }
        Record::BoxesRead(Boxes { ticked, open, optional }) => {
            info(format!("checkboxes: {ticked} ticked, {open} open, {optional} optional"))
        }
        Record::OutputAnalysed(analysis) => Some(analysis.told())
            .filter(|told| !told.is_empty())
            .map(|told| (if analysis.is_warning() { Warn } else { Info }, format!("Claude {}", told.join(" · ")))),
        Record::TicketLost { why } => Some((Error, format!("ticket unusable: {why}"))),
        Record::ValidationChangeSeen { commands } => Some((
            Warn,
            format!(
                "the ticket's validation commands changed during the run: now {}; the old list applies until you decide",
                counted(commands.len(), "command"),
            ),
        )),
        Record::ValidationChangeAnswered(ChangeAnswered { commands, accepted }) => info(format!(
            "using {} validation commands: {}",
            if *accepted { "the new" } else { "the old" },
            counted(commands.len(), "command"),
        )),
        Record::IterationStarted { n, phase, session, role, .. } => info(format!(
            "iteration {n}{} · {} · {}",
            if role.step.is_code() { String::new() } else { format!(" · {}", role.step) },
            quoted(phase.as_deref()),
            if session.is_some() { "session resumed" } else { "fresh session" },
        )),
        Record::SnapshotTaken { n, id } => info(format!("snapshot {n} · {}", short_id(id))),
        Record::CallCounted(_)
        | Record::TurnEnded { .. }
        | Record::TurnBegan { .. }
        | Record::TickIntended(_)
        | Record::RevisionIntended(_)
        | Record::UntickIntended(_)
        | Record::EditDue(_)
        | Record::ChangesShown { .. }
        | Record::GoalAchieved { .. }
        | Record::WishTaken(_)
        | Record::StatusIntended { .. }
        | Record::CommitDue
        | Record::AgentSpawned { .. }
        | Record::ApprovalAsked(_)
        | Record::ApprovalAnswered(_)
        | Record::AnswerTooLate(_)
        | Record::ApprovalVoid(_)
        | Record::ApprovalsKept { .. }
        | Record::EditRefused(_)
        | Record::ToolJudged { .. }
        | Record::ToolFinished { .. }
        | Record::TreeGranted
        | Record::LinesCounted { .. }
        | Record::RulesKnown { .. }
        | Record::RulesRead(_) => None,
        Record::WorktreeIntended(_)
        | Record::SwitchIntended(_)
        | Record::SwitchSettled(_)
        | Record::WorktreeMade(_)
        | Record::WorktreeRemoved(_)
        | Record::MergeIntended(_)
        | Record::MergeSettled(_)
        | Record::ConflictStaged(_) => worktrees::sentence(record),
        Record::CommitIntended(_)
        | Record::CommitSettled(_)
        | Record::RevertIntended(_)
        | Record::RevertSettled(_)
        | Record::RestoreIntended(_)
        | Record::RestoreSettled(_)
        | Record::SnapshotsPruned(_) => commits::sentence(record),
        Record::OutputCleared(cleared) => info(cleared.words()),
        Record::EndAnswered(answered) => info(answered.words()),
        Record::TicketReviewed { .. }
        | Record::TicketFaulted { .. }
        | Record::EvaluationMade { .. }
        | Record::PhasesProposed(_)
        | Record::ProposalAnswered { .. }
        | Record::EditDropped { .. } => goal::sentence(record),
        Record::WheelTaken(_) | Record::WheelJudged(_) | Record::WheelReturned(_) => wheel::sentence(record),
        Record::StorageWaited { ms } => {
            info(format!("storage works again after {}", human(Duration::from_millis(*ms))))
        }
        Record::GrantsDropped => info("rules changed: what you allowed for this run no longer applies".into()),
        Record::SpawnRequested { notes, .. } if notes.is_empty() => None,
        Record::SpawnRequested { notes, .. } => info(format!("{} in the prompt", counted(notes.len(), "message"))),
        Record::AgentReady(AgentReady { session, model, version, .. }) => {
            // The whole id: it can be handed to `claude --resume`.
            info(format!("Claude Code {version} · {model} · session {session}"))
        }
        Record::SessionLost(SessionLost { session, .. }) => {
            Some((Warn, format!("Claude cannot resume session {}; starting a fresh one", short_id(session))))
        }
        Record::ApiRetried(ApiRetried { attempt, max_retries, delay_ms, error, .. }) => Some((
            Warn,
            format!("API: {error}; retry {attempt} of {max_retries} in {}", human(Duration::from_millis(*delay_ms))),
        )),
        Record::WatchdogFired(fired) => Some((Warn, fired.sentence())),
        Record::WorkCarried(WorkCarried { run, cost_usd, .. }) => {
            info(format!("the previous run is {0}: `programmator replay {0}` · ${cost_usd:.2} so far", run.short()))
        }
        Record::SessionsCarried(sessions) => {
            let kept: Vec<String> =
                sessions.open.iter().map(|(step, kept)| format!("{step} {}", short_id(&kept.id))).collect();
            (!kept.is_empty()).then(|| (Info, format!("sessions from the previous run: {}", kept.join(", "))))
        }
        // That the work is done says it.
        Record::SessionEnded(SessionEnded { reason, .. }) if reason == COMPLETE => None,
        Record::SessionEnded(SessionEnded { session, to, reason, .. }) => {
            let session = format!("session {} {}: {reason}", short_id(session), to.word());
            info(format!("{session}; the next iteration starts a fresh one"))
        }
        Record::SettingsChanged(SettingsChanged { what, .. }) => {
            info(format!("settings changed: {}", settings::changed(what)))
        }
        Record::NoteGiven { id, .. } if id.starts_with(OF_ANSWER) => info("your answer goes to Claude next".into()),
        Record::NoteGiven { text, .. } => info(format!("message queued: “{text}”")),
        Record::NoteSent { .. } => info("message sent to Claude".into()),
        Record::NoteReturned { .. } => Some((Warn, "Claude did not read your message; queued again".to_owned())),
        Record::NoteDelivered { .. } => info("Claude has read your message".into()),
        Record::ClaimMade { claim, .. } => info(claims::words(claim)),
        Record::ClaimMissing { reason, .. } => Some((Warn, format!("no readable status block: {reason}"))),
        Record::BackgroundChanged { tasks, .. } => info(turns::background_words(tasks)),
        Record::ForeignTurn(ForeignTurn { wakes, .. }) => Some((Warn, foreign_words(*wakes))),
        Record::FollowUpSent { .. } => info("asked Claude for the missing status block".into()),
        Record::TurnFailed(TurnFailed { error, message, status, .. }) => {
            let status = status.map_or_else(String::new, |code| format!(" (HTTP {code})"));
            Some((Error, format!("turn failed: {error}{status}: {message}")))
        }
        Record::StopAsked { outcome, .. } => Some((Warn, format!("stopping Claude: {}", outcome_words(*outcome)))),
        Record::AgentExited { code, signal, swept, cost_usd, .. } => {
            let how = match (code, signal) {
                (Some(code), _) => format!("with code {code}"),
                (None, Some(signal)) => format!("on signal {signal}"),
                (None, None) => "with unknown status".into(),
            };
            let swept = match swept {
                0 => String::new(),
                n => format!(" · {} terminated", counted(*n as usize, "leftover process")),
            };
            info(format!("Claude exited {how} · ${cost_usd:.2}{swept}"))
        }
        Record::EvidenceGathered { iteration_files, phase_files, .. } => {
            let any = !iteration_files.is_empty() || !phase_files.is_empty();
            any.then(|| {
                (
                    Info,
                    format!(
                        "changed: {} in this iteration, {} in this phase",
                        counted(iteration_files.len(), "file"),
                        counted(phase_files.len(), "file"),
                    ),
                )
            })
        }
        Record::ValidationRan(ran) => Some(checks::words(ran)),
        Record::ChatAsked(_) | Record::ChatAnswered(_) | Record::NoteNotSent { .. } => chat::sentence(record),
        Record::PlanAsked(_)
        | Record::DraftMade { .. }
        | Record::DraftAnswered(_)
        | Record::DraftTried { .. }
        | Record::DraftNotWritten { .. } => planning::sentence(record),
        Record::PhaseDone { .. }
        | Record::PhaseSettingsRead { .. }
        | Record::PhaseChecked { .. }
        | Record::CritiqueMade { .. }
        | Record::PhaseRejected { .. }
        | Record::PhaseDisputed { .. }
        | Record::PhaseSkipped(_)
        | Record::PhaseTicked(_)
        | Record::PhaseReopened(_)
        | Record::TickSettled(_)
        | Record::UntickSettled(_)
        | Record::RevisionSettled(_)
        | Record::StatusSettled { .. } => phases::sentence(record),
        Record::IterationEnded { n, outcome, changed, ms, .. } => {
            let level = match outcome {
                IterationOutcome::Claimed | IterationOutcome::Interrupted | IterationOutcome::Parked => Info,
                _ => Warn,
            };
            Some((
                level,
                format!(
                    "iteration {n}: {}, {} · {}",
                    outcome_words(*outcome),
                    if *changed { "files changed" } else { "no files changed" },
                    human(Duration::from_millis(*ms)),
                ),
            ))
        }
        Record::LimitSeen(_)
        | Record::LimitHit(_)
        | Record::Parked(_)
        | Record::Unparked
        | Record::LimitsChanged(_)
        | Record::Receipt(_) => limits::sentence(record),
        Record::PauseAsked => info("pausing after this iteration".into()),
        Record::Paused => info("paused; waiting for you".into()),
        Record::Continued => info("resumed".into()),
        Record::StopRequested { by } if by.is_hangup() => info("stopping: the terminal was closed".into()),
        Record::StopRequested { .. } => info("stopping".into()),
        Record::Noticed { level, text } => Some((
            match level {
                Level::Info => Info,
                Level::Warn => Warn,
                Level::Error => Error,
            },
            text.clone(),
        )),
        Record::BreakerCarried { .. }
        | Record::BreakerCounted(_)
        | Record::BreakerMoved(_)
        | Record::BreakerReset(_) => breaker::sentence(record),
        Record::RunEnded { reason, detail, iterations, phases_done, phases, cost_usd } => {
            let level = match reason.exit_code() {
                0 | 5 => Info,
                1 => Error,
                _ => Warn,
            };
            let why = if detail.is_empty() { reason_words(*reason) } else { detail };
            Some((
                level,
                format!(
                    "run ended: {why}{} · {} · ${cost_usd:.2}",
                    if *phases == 0 { String::new() } else { format!(" · {phases_done}/{phases} phases") },
                    counted(*iterations as usize, "iteration"),
                ),
            ))
        }
    }
}

/// Enough of a session, object or call id to tell it from its neighbours.
fn short_id(id: &str) -> String {
    id.chars().take(8).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::domain::breaker::{Counter, CounterMoved};
    use crate::domain::limits::admission::Why;
    use crate::domain::limits::provider::{Reset, WindowStatus};
    use crate::domain::limits::{Parking, Window};
    use crate::domain::outcome::{DoneHow, ExitReason};

    #[test]
    fn an_error_is_named_as_it_was_reported() {
        let counted = |said: Option<&str>| {
            let (why, said) = ("no such file: <path>".into(), said.map(str::to_owned));
            let moved = CounterMoved { n: 1, counter: Counter::SameError, value: 2, limit: 5, why, said };
            LogFormatter::default().line(&Record::BreakerCounted(moved)).unwrap().text
        };
        assert_eq!(
            counted(Some("no such file: /a.rs")),
            "circuit breaker: same error, 2 in a row · no such file: /a.rs"
        );
        assert_eq!(
            counted(None),
            "circuit breaker: same error, 2 in a row · no such file: <path>",
            "in older journals"
        );
    }

    #[test]
    fn a_counter_that_is_back_at_zero_is_reset() {
        let why = "2 files changed".to_owned();
        let moved = CounterMoved { n: 1, counter: Counter::NoProgress, value: 0, limit: 3, why, said: None };
        let told = LogFormatter::default().line(&Record::BreakerCounted(moved)).unwrap().text;
        assert_eq!(told, "circuit breaker: no progress reset · 2 files changed");
    }

    #[test]
    fn what_to_do_at_the_end_of_our_own_sentences_is_not_cut_off() {
        let detail = format!("{}; fix it, then resume", "x ".repeat(400));
        let (reason, iterations, phases_done, phases, cost_usd) = (ExitReason::Blocked, 1, 0, 1, 0.0);
        let ended = Record::RunEnded { reason, detail, iterations, phases_done, phases, cost_usd };
        let told = LogFormatter::default().line(&ended).unwrap().text;
        assert!(told.contains("fix it, then resume"), "{told}");
    }

    #[test]
    fn says_what_a_person_wants_to_know() {
        let cases = [
            (
                Record::PhaseDone { n: 1, phase: Some("Parse".into()), how: DoneHow::ClaimedUnchecked, id: None },
                Weight::Info,
                "done: “Parse” · claimed, not verified",
            ),
            (
                Record::AgentExited { n: 1, code: None, signal: Some(9), swept: 2, cost_usd: 0.314 },
                Weight::Info,
                "Claude exited on signal 9 · $0.31 · 2 leftover processes terminated",
            ),
            (
                Record::RunEnded {
                    reason: ExitReason::Stagnation,
                    detail: String::new(),
                    iterations: 1,
                    phases_done: 2,
                    phases: 5,
                    cost_usd: 1.0,
                },
                Weight::Warn,
                "run ended: no change · 2/5 phases · 1 iteration · $1.00",
            ),
        ];
        for (record, level, text) in cases {
            let line = LogFormatter::default().line(&record).unwrap();
            assert_eq!((line.level, line.text.as_str()), (level, text));
        }
    }

    #[test]
    fn a_stop_that_is_taken_back_says_so() {
        let mut formatter = LogFormatter::default();
        let mut told = |record| formatter.line(&record).unwrap().text;
        assert_eq!(told(Record::StopRequested { by: crate::domain::answerer::Answerer::SCREEN }), "stopping");
        assert_eq!(told(Record::Continued), "stop withdrawn: the run keeps going");
        assert_eq!(told(Record::Continued), "resumed");
        told(Record::StopRequested { by: crate::domain::answerer::Answerer::SCREEN });
        told(Record::RunResumed { pid: 1 });
        assert_eq!(told(Record::Continued), "resumed", "that stop is over");
    }

    #[test]
    fn a_rate_limit_is_one_line() {
        let error = || "rate_limit".to_owned();
        let until = Timestamp::from_millis(1_795_273_200_000);
        let about = "the provider's five-hour limit is reached".into();
        let (outcome, changed, fingerprint) = (IterationOutcome::Parked, false, None);
        let exited = |swept| Record::AgentExited { n: 1, code: Some(1), signal: None, swept, cost_usd: 0.0 };
        let failed = || {
            Record::TurnFailed(TurnFailed { n: 1, error: error(), message: "429".into(), status: Some(RATE_LIMITED) })
        };
        let records = [
            Record::ApiRetried(ApiRetried {
                n: 1,
                attempt: 1,
                max_retries: 2,
                delay_ms: 500,
                error: error(),
                status: Some(RATE_LIMITED),
            }),
            Record::LimitSeen(Window {
                kind: "five_hour".into(),
                status: WindowStatus::Rejected,
                resets_at: Some(until),
                used: None,
            }),
            failed(),
            exited(0),
            Record::IterationEnded { n: 1, outcome, changed, fingerprint, ms: 900, reading: None },
            Record::Parked(Parking { why: Why::Provider, about, until, reset: Reset::Known, known: None }),
        ];
        let mut formatter = LogFormatter::of(TimeZone::UTC);
        let lines: Vec<String> = records.iter().filter_map(|record| formatter.line(record)).map(|l| l.text).collect();
        assert_eq!(lines, ["parked: the provider's five-hour limit is reached; resuming at Nov 21 15:00"]);
        assert!(formatter.line(&failed()).is_none());
        for exited in [exited(2), exited(0)] {
            assert!(formatter.line(&exited).is_some(), "any other exit is told");
        }
    }

    #[test]
    fn what_claude_wrote_cannot_move_the_cursor() {
        let record = Record::ToolJudged {
            n: 1,
            tool_use_id: "t".into(),
            tool: "Bash".into(),
            target: "echo \x1b[2J\x1b]52;c;Zm9v\x07 a\nb\u{202e}c".into(),
            verdict: Verdict::Block,
            reason: "rule".into(),
            units: vec![],
            cwd: None,
        };
        let line = LogFormatter::default().line(&record).unwrap();
        assert_eq!((line.level, line.text.as_str()), (Weight::Gate, "block Bash echo a bc · rule"));
    }

    #[test]
    fn steps_of_the_machine_are_silent() {
        let mut formatter = LogFormatter::default();
        assert_eq!(formatter.line(&Record::CallCounted(crate::domain::limits::Counted::default())), None);
        assert_eq!(formatter.line(&Record::ToolFinished { n: 1, tool_use_id: "t".into(), is_error: false }), None);
    }

    #[test]
    fn calls_are_named_from_the_work_folder() {
        let mut formatter = LogFormatter { workspace: Workspace::shared("/home/dev/shop"), ..LogFormatter::default() };
        let judged = Record::ToolJudged {
            n: 1,
            tool_use_id: "t".into(),
            tool: "Edit".into(),
            target: "/home/dev/shop/src/a.rs".into(),
            verdict: Verdict::Allow,
            reason: "profile trusted".into(),
            units: vec![],
            cwd: None,
        };
        let line = formatter.line(&judged).unwrap();
        assert_eq!((line.level, line.text.as_str()), (Weight::Call, "allow Edit src/a.rs · profile trusted"));
        let failed = Record::ToolFinished { n: 1, tool_use_id: "t".into(), is_error: true };
        assert_eq!(formatter.line(&failed).unwrap().text, "Edit src/a.rs failed");
        assert_eq!(formatter.line(&failed).unwrap().text, "a tool call failed");
    }

    #[test]
    fn a_line_has_an_end() {
        let record = Record::Noticed { level: Level::Error, text: "x".repeat(100_000) };
        assert_eq!(LogFormatter::default().line(&record).unwrap().text.chars().count(), WIDEST_OURS);
    }
}
