//! What becomes known of an iteration after its status block: how the claim was judged, by which commands, what it cost.
//! It is written into the rows of the iteration's card.

use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::base::time::human;
use crate::domain::outcome::DoneHow;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::Piece;
use std::time::Duration;

/// What holds the rows of a card together.
pub(super) const BAR: &str = "▎ ";

/// A row of the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Head,
    Words,
    Checks,
}

/// What becomes known after the status block.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) judged: Judged,
    pub(super) checks: Vec<Check>,
    /// Cost in USD and milliseconds, once the iteration is over.
    pub(super) spent: Option<(f64, u64)>,
}

/// How a claim was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    NotYet,
    /// A critic is to look at it.
    Checked(DoneHow),
    Done(DoneHow),
    Disputed,
}

/// A validation command that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub(super) command: String,
    pub(super) exit: Option<i32>,
    pub(super) timed_out: bool,
    pub(super) ms: u64,
    pub(super) tail: String,
}

impl Check {
    pub(super) fn passed(&self) -> bool {
        self.exit == Some(0) && !self.timed_out
    }

    pub(super) fn words(&self) -> String {
        let exit = match (self.timed_out, self.exit) {
            (true, _) => "timed out".to_owned(),
            (false, Some(code)) => format!("exit {code}"),
            (false, None) => "killed by a signal".to_owned(),
        };
        format!("`{}` {exit}, {} s", clean_line(&self.command, 60), self.ms / 1000)
    }
}

impl Verdict {
    /// Writes into a row of the card what is known.
    pub(super) fn tell(&self, part: Part, left: &mut [Piece], right: &mut Vec<Piece>) {
        let (mark, role, word) = sign(self.judged);
        let judged = self.judged != Judged::NotYet;
        if let (true, Some(bar)) = (judged, left.first_mut()) {
            bar.role = role;
        }
        match (part, left) {
            (Part::Head, [_, sign, said, ..]) => {
                if judged {
                    *sign = Piece::new(format!("{mark} "), role);
                    said.role = role;
                    word.clone_into(&mut said.text);
                }
                if let Some((usd, ms)) = self.spent {
                    let spent = format!("${usd:.2} · {}", human(Duration::from_millis(ms)));
                    *right = vec![Piece::new(spent, Role::Dim)];
                }
            }
            (Part::Checks, [_, said, ..]) => {
                said.text = match how(self.judged, &self.checks) {
                    how if !how.is_empty() => how,
                    _ if self.spent.is_some() => "not checked".to_owned(),
                    _ => "checking …".to_owned(),
                };
            }
            _ => {}
        }
    }
}

/// A verdict as mark, role and word.
pub(super) fn sign(judged: Judged) -> (&'static str, Role, &'static str) {
    match judged {
        Judged::NotYet => ("◐", Role::PhaseClaimed, "claimed"),
        Judged::Checked(DoneHow::Verified) => ("◑", Role::PhaseClaimed, "verified, in review"),
        Judged::Checked(_) => ("◑", Role::PhaseClaimed, "in review"),
        Judged::Done(DoneHow::Verified) => ("✓", Role::PhaseDone, "verified"),
        Judged::Done(DoneHow::Approved) => ("✓", Role::PhaseDone, "approved"),
        Judged::Done(DoneHow::TickedByPerson) => ("✓", Role::PhaseDone, "done"),
        Judged::Done(_) => ("✓", Role::PhaseUnchecked, "done"),
        Judged::Disputed => ("≠", Role::PhaseDisputed, "disputed"),
    }
}

/// By what it was judged.
pub(super) fn how(judged: Judged, checks: &[Check]) -> String {
    match (judged, checks) {
        (Judged::Done(DoneHow::ClaimedUnchecked) | Judged::Checked(DoneHow::ClaimedUnchecked), _) => {
            "not verified: no validation commands".to_owned()
        }
        (Judged::Done(DoneHow::ClaimedNoChange) | Judged::Checked(DoneHow::ClaimedNoChange), _) => {
            "no files changed".to_owned()
        }
        (Judged::Done(DoneHow::TickedByPerson), _) => "ticked in the ticket".to_owned(),
        (_, []) => String::new(),
        // Which one failed is told by what follows.
        (Judged::Disputed, all) if !passed(all) => some_failed(all),
        (_, [one]) => format!("{}: {}", if one.passed() { "validated" } else { "failed" }, one.words()),
        (_, all) if !passed(all) => some_failed(all),
        (_, all) => format!("validated: {} commands passed, {} s", all.len(), seconds(all)),
    }
}

fn passed(checks: &[Check]) -> bool {
    checks.iter().all(Check::passed)
}

fn some_failed(checks: &[Check]) -> String {
    let failed = checks.iter().filter(|check| !check.passed()).count();
    format!("failed: {failed} of {}, {} s", counted(checks.len(), "command"), seconds(checks))
}

fn seconds(checks: &[Check]) -> u64 {
    checks.iter().map(|check| check.ms).sum::<u64>() / 1000
}
