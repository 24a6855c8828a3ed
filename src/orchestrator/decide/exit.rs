//! What an output says besides its claim: weighed at the end of a turn, acted upon before the next iteration.

use super::Draft;
use crate::domain::analysis::shape::Output;
use crate::domain::analysis::{self, Analysis, Before};
use crate::domain::claim::Claim;
use crate::domain::denial::{self, Denial};
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Level, Record};
use crate::domain::ticket::Boxes;
use crate::domain::turn::TurnResult;
use crate::orchestrator::exit::{self, CompletionRule};

/// Claude's tool for asking the person: a question is no refusal.
const QUESTION: &str = "AskUserQuestion";
/// Refusals of one turn that are kept.
const REFUSED: usize = 20;

impl Draft<'_> {
    /// Weighs a turn's output; a turn that says nothing new leaves no record.
    pub(super) fn weigh(&mut self, n: u32, result: &TurnResult, claim: Option<&Claim>) {
        let before = Before { errors: &self.state.signs.errors, length: self.state.signs.length, files_changed: 0 };
        let refused = self.refused_by_others(&result.refused);
        let is_compound = denial::only_compound(&refused, &self.state.settings.allowed_tools);
        let (refused, compound) = if is_compound { (Vec::new(), refused) } else { (refused, Vec::new()) };
        let said = analysis::analyse(n, &Output::of_turn(result), claim, &before);
        self.record(Record::OutputAnalysed(Analysis { refused, compound, ..said }));
    }

    /// The refusals that our gate has not given.
    fn refused_by_others(&self, refused: &[Denial]) -> Vec<Denial> {
        let ours = |denial: &&Denial| {
            denial.tool == QUESTION || self.open(|open| open.refused_by_us.contains(&denial.tool_use_id))
        };
        refused.iter().filter(|denial| !ours(denial)).take(REFUSED).cloned().collect()
    }

    /// The boxes as they are in the file now.
    pub(super) fn boxes_read(&mut self, boxes: Boxes) {
        if self.state.phases.is_empty() && boxes != self.state.boxes {
            self.record(Record::BoxesRead(boxes));
        }
    }

    pub(super) fn finish(&mut self, rule: CompletionRule) {
        let detail = exit::detail(rule, &self.state);
        if rule.reason() != ExitReason::Complete {
            return self.end(rule.reason(), detail);
        }
        self.notice(Level::Info, detail);
        let (n, how) = (self.state.iterations, exit::ground(&self.state));
        let is_reviewed = self.state.wants_critique(None, how);
        self.record(if is_reviewed {
            Record::PhaseChecked { n, phase: None, how, id: None }
        } else {
            Record::PhaseDone { n, phase: None, how, id: None }
        });
        self.advance();
    }
}
