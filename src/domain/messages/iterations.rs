//! An iteration in one line, told anew as its records come: its phase, what became of it, files, time, cost.

use super::ends::{done_words, outcome_words};
use super::line::{Line, WIDEST, Weight, quoted};
use crate::base::amount::counted;
use crate::base::time::human;
use crate::domain::claim::ClaimStatus;
use crate::domain::outcome::IterationOutcome;
use crate::domain::record::Record;
use crate::domain::step::StepName;
use std::fmt::Write as _;
use std::time::Duration;

/// One iteration, as far as its records tell.
#[derive(Clone, Debug)]
pub struct IterationSummary {
    pub n: u32,
    phase: Option<String>,
    /// It is one of a chat.
    is_chat: bool,
    /// What became of it, and how much that wants to be read; `None`: it is in progress.
    fate: Option<(Weight, String)>,
    /// Files that it changed.
    files: usize,
    ms: Option<u64>,
    /// US dollars.
    cost: f64,
}

impl IterationSummary {
    /// The iteration that begins with this record.
    pub fn begun_by(record: &Record) -> Option<Self> {
        let Record::IterationStarted { n, phase, role, .. } = record else { return None };
        let is_chat = role.step == StepName::CHAT;
        Some(Self { n: *n, phase: phase.clone(), is_chat, fate: None, files: 0, ms: None, cost: 0.0 })
    }

    /// Takes a record of this iteration.
    pub fn hear(&mut self, record: &Record) {
        match record {
            Record::EvidenceGathered { iteration_files, .. } => self.files = iteration_files.len(),
            Record::AgentExited { cost_usd, .. } => self.cost = *cost_usd,
            Record::ClaimMade { claim, .. } if claim.status == ClaimStatus::Blocked => {
                let why = claim.error.as_deref().unwrap_or(&claim.summary).lines().next().unwrap_or_default();
                self.fate = Some((Weight::Warn, format!("blocked: {why}").trim_end_matches([':', ' ']).to_owned()));
            }
            Record::PhaseDone { how, .. } => self.fate = Some((Weight::Info, done_words(*how).to_owned())),
            Record::PhaseChecked { how, .. } => {
                self.fate = Some((Weight::Info, format!("{}, in review", done_words(*how))));
            }
            Record::PhaseRejected { issues, of_ticket, .. } => {
                let who = if *of_ticket { "review" } else { "critic" };
                self.fate = Some((Weight::Warn, format!("{who}: {} to fix", counted(issues.len(), "issue"))));
            }
            Record::TicketFaulted { issues, .. } => {
                self.fate = Some((Weight::Info, format!("{} to check again", counted(issues.len(), "issue"))));
            }
            Record::TicketReviewed { .. } => self.fate = Some((Weight::Info, "nothing to fix".to_owned())),
            Record::DraftMade { .. } => self.fate = Some((Weight::Info, "draft ready".to_owned())),
            Record::GoalAchieved { .. } => self.fate = Some((Weight::Info, "goal reached".to_owned())),
            Record::PhasesProposed(proposal) => {
                self.fate = Some((Weight::Warn, format!("{} missing", counted(proposal.phases.len(), "phase"))));
            }
            Record::PhaseDisputed { why, .. } => {
                // What follows is the output of a command.
                let why = why.lines().next().unwrap_or_default();
                self.fate = Some((Weight::Warn, format!("disputed: {why}")));
            }
            Record::IterationEnded { outcome, ms, .. } => {
                self.ms = Some(*ms);
                self.fate.get_or_insert_with(|| match outcome {
                    IterationOutcome::Claimed if self.is_chat => (Weight::Info, "answered".to_owned()),
                    IterationOutcome::Claimed => (Weight::Info, "to be continued".to_owned()),
                    IterationOutcome::Interrupted | IterationOutcome::Parked => {
                        (Weight::Info, outcome_words(*outcome).to_owned())
                    }
                    _ => (Weight::Warn, outcome_words(*outcome).to_owned()),
                });
            }
            _ => {}
        }
    }

    /// It has not ended yet.
    pub fn is_under_way(&self) -> bool {
        self.ms.is_none()
    }

    /// The line.
    pub fn line(&self) -> Line {
        let (level, fate) = self.fate.clone().unwrap_or((Weight::Info, "in progress".to_owned()));
        let what = if self.is_chat { "chat".to_owned() } else { quoted(self.phase.as_deref()) };
        let mut text = format!("iteration {} · {what} · {fate}", self.n);
        if self.files > 0 {
            let _ = write!(text, " · {}", counted(self.files, "file"));
        }
        if let Some(ms) = self.ms {
            let _ = write!(text, " · {}", human(Duration::from_millis(ms)));
        }
        if self.cost > 0.0 {
            let _ = write!(text, " · ${:.2}", self.cost);
        }
        Line::of(level, &text, WIDEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::claim::Claim;
    use crate::domain::outcome::DoneHow;
    use crate::domain::step::Role;

    #[test]
    fn one_of_a_chat_is_about_no_ticket() {
        let role = Role { step: StepName::CHAT, ..Role::default() };
        let started = Record::IterationStarted { n: 2, phase: None, session: None, id: None, role };
        let mut summary = IterationSummary::begun_by(&started).unwrap();
        let outcome = IterationOutcome::Claimed;
        summary.hear(&Record::IterationEnded {
            n: 2,
            outcome,
            changed: false,
            fingerprint: None,
            ms: 0,
            reading: None,
        });
        assert!(summary.line().text.starts_with("iteration 2 · chat · answered"), "{}", summary.line().text);
    }

    fn told(records: &[Record]) -> Line {
        let phase = Some("Wire".into());
        let started = Record::IterationStarted { n: 7, phase, session: None, id: None, role: <_>::default() };
        let mut summary = IterationSummary::begun_by(&started).unwrap();
        for record in records {
            summary.hear(record);
        }
        summary.line()
    }

    fn ended(outcome: IterationOutcome) -> Record {
        Record::IterationEnded { n: 7, outcome, changed: true, fingerprint: None, ms: 160_000, reading: None }
    }

    #[test]
    fn the_line_grows_with_the_records() {
        let done = Record::PhaseDone { n: 7, phase: None, how: DoneHow::Verified, id: None };
        let disputed = Record::PhaseDisputed { n: 7, phase: None, why: "cargo test: exit 1\nrest".into(), id: None };
        let line = |level, text: &str| Line { level, text: format!("iteration 7 · “Wire” · {text}") };
        assert_eq!(told(&[]), line(Weight::Info, "in progress"));
        assert_eq!(told(&[done, ended(IterationOutcome::Claimed)]), line(Weight::Info, "verified · 2m 40s"));
        let claimed = ended(IterationOutcome::Claimed);
        assert_eq!(told(&[disputed, claimed]), line(Weight::Warn, "disputed: cargo test: exit 1 · 2m 40s"));
        assert_eq!(told(&[ended(IterationOutcome::Claimed)]), line(Weight::Info, "to be continued · 2m 40s"));
        let error = Some("no access to the registry\nrest".to_owned());
        let claim = Claim { error, ..Claim::new(ClaimStatus::Blocked) };
        let blocked = Record::ClaimMade { n: 7, claim, about: None };
        assert_eq!(
            told(&[blocked, ended(IterationOutcome::Claimed)]),
            line(Weight::Warn, "blocked: no access to the registry · 2m 40s")
        );
        assert_eq!(told(&[ended(IterationOutcome::TimedOut)]), line(Weight::Warn, "timed out · 2m 40s"));
    }
}
