//! The records about how an iteration's work is judged.

use super::Journal;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::claim::ClaimStatus;
use crate::domain::messages::{foreign_words, goal_words};
use crate::domain::record::{ForeignTurn, Level, Record, TurnFailed, ValidationRan};
use crate::orchestrator::failure::{EXITED, PROTOCOL};
use crate::tui::panes::stream::marks::{Mark, cut_words};
use crate::tui::panes::stream::verdict::{Check, Judged};

impl Journal {
    /// Takes one of them; others say nothing here.
    pub(super) fn judged(&mut self, record: &Record) {
        match record {
            // Where nothing is said to be completed there is nothing to judge.
            Record::ClaimMade { claim, .. } if claim.phase_completed.is_none() && claim.status != ClaimStatus::Done => {
            }
            Record::ClaimMade { claim, .. } => self.mark(Mark::Claim {
                phase: claim.phase_completed.clone(),
                checks: Vec::new(),
                judged: Judged::NotYet,
            }),
            Record::ClaimMissing { reason, .. } => {
                self.say(Level::Warn, format!("no readable status block ({reason})"));
            }
            Record::FollowUpSent { .. } => {
                self.say(Level::Info, "asked Claude for the missing status block");
            }
            // Where the turn had a result, the stream itself tells of it.
            Record::TurnFailed(TurnFailed { error, message, .. }) if [PROTOCOL, EXITED].contains(&error.as_str()) => {
                let message = clean_line(message, 160);
                self.say(Level::Error, format!("turn failed: {message}"));
            }
            Record::OutputAnalysed(analysis) if analysis.is_warning() => {
                self.say(Level::Warn, format!("Claude {}", analysis.told().join(" · ")));
            }
            Record::ForeignTurn(ForeignTurn { wakes, .. }) => {
                self.say(Level::Warn, foreign_words(*wakes));
            }
            Record::WatchdogFired(fired) => {
                self.segment(fired.n).cut_told = true;
                self.say(Level::Warn, fired.sentence());
            }
            Record::ValidationRan(ValidationRan { command, exit, timed_out, ms, tail, .. }) => {
                let check =
                    Check { command: command.clone(), exit: *exit, timed_out: *timed_out, ms: *ms, tail: tail.clone() };
                if let Some((checks, _)) = self.claim() {
                    checks.push(check);
                }
            }
            Record::PhaseDone { phase, how, .. } => {
                if let Some((_, judged)) = self.claim() {
                    *judged = Judged::Done(*how);
                } else {
                    let phase = phase.as_deref().unwrap_or("the ticket");
                    self.say(Level::Info, format!("✓ “{phase}” done"));
                }
            }
            Record::PhaseChecked { how, .. } => {
                if let Some((_, judged)) = self.claim() {
                    *judged = Judged::Checked(*how);
                }
            }
            Record::PhaseRejected { issues, .. } => {
                let doubtful = issues.iter().filter(|issue| issue.doubtful).count();
                let doubt = match doubtful {
                    0 => String::new(),
                    1 => "; one is about a place that the phase did not change".to_owned(),
                    some => format!("; {some} are about places that the phase did not change"),
                };
                self.say(Level::Warn, format!("to be fixed: {}{doubt}", counted(issues.len(), "issue")));
            }
            Record::PhaseDisputed { why, .. } => {
                let check = self.claim().and_then(|(checks, judged)| {
                    *judged = Judged::Disputed;
                    checks.iter().find(|check| !check.passed()).cloned()
                });
                self.mark(Mark::Dispute { why: why.clone(), check });
            }
            Record::ConflictStaged(staged) => staged.told().for_each(|words| self.say(Level::Warn, words)),
            Record::AgentExited { n, cost_usd, swept, .. } => {
                self.segment(*n).head.cost_usd += cost_usd;
                if *swept > 0 {
                    self.say(Level::Warn, format!("leftover Claude processes terminated: {swept}"));
                }
            }
            Record::IterationEnded { n, outcome, ms, .. } => {
                let segment = self.segment(*n);
                segment.head.ms = Some(*ms);
                segment.ended = true;
                if let Some(how) = cut_words(*outcome, segment.cut_told) {
                    self.say(Level::Warn, how);
                }
            }
            _ => goal_words(record).into_iter().for_each(|words| self.say(Level::Info, words)),
        }
    }
}
