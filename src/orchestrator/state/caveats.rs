//! What a complete run has to add to its being complete.

use super::{PhaseState, State};
use crate::domain::outcome::DoneHow;
use crate::domain::phase::Mark;

impl State {
    /// What a complete run says about the ticket's validation commands where it was not checked with those of now.
    pub fn unapplied(&self) -> Option<&'static str> {
        let last = self.last_work.as_ref();
        let ran = last.map_or(&[][..], |last| &last.validated);
        let differs = !ran.iter().map(|ran| &ran.command).eq(&self.validation);
        // What did not pass, the person has settled; and without a claim, none ran.
        let counts = !ran.is_empty() && ran.iter().all(|ran| ran.exit == Some(0));
        match (self.validation_change.is_some() || counts && differs, ran.is_empty()) {
            (false, _) => None,
            (true, false) => Some("validated with the old commands; the new ones were not applied"),
            (true, true) => Some("the new validation commands were not applied"),
        }
    }

    /// Some of it is done by Claude's word alone: files were changed, and no command checked them; or its work is not in the
    /// files any more.
    pub fn is_unverified(&self) -> bool {
        let doubtful =
            |phase: &PhaseState| phase.mark == Mark::Done(DoneHow::ClaimedUnchecked) || phase.is_taken_back();
        self.phases.iter().chain([&self.whole]).any(doubtful)
    }

    /// What a complete run says it is.
    pub fn completed(&self) -> String {
        let detail = match (self.phases.len(), self.phases_skipped()) {
            (0, _) => "the ticket is done".to_owned(),
            (1, 0) => "the phase is done".to_owned(),
            (2, 0) => "both phases are done".to_owned(),
            (all, 0) => format!("all {all} phases are done"),
            (all, skipped) => format!("{} of {all} phases are done", all - skipped),
        };
        format!("{detail}{}", self.caveats())
    }

    /// What a complete run says of how far it went and was checked.
    pub fn caveats(&self) -> String {
        let skipped = match self.phases_skipped() {
            0 => String::new(),
            some => format!(", {some} skipped"),
        };
        let back = match self.parts().filter(|phase| phase.is_taken_back()).count() {
            0 => String::new(),
            some => format!(", {some} reverted by a restore"),
        };
        let unverified = if self.is_unverified() { ", not verified" } else { "" };
        let declined = if self.goal.declined { "; more phases declined" } else { "" };
        let unapplied = self.unapplied().map_or_else(String::new, |words| format!("; {words}"));
        format!("{skipped}{back}{unverified}{declined}{unapplied}")
    }
}
