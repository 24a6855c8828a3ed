//! What an output of Claude's says about the state of the work, besides its claim: is it done, were there only tests,
//! does Claude ask questions, is it stuck. Signs, not facts; what they lead to is `orchestrator::exit`.
//!
//! The output comes in one of four shapes (`analysis/shape.rs`). Structure decides first, words only where there is
//! none, and words alone never say that the work is done. The lists of words are files beside the code
//! (`analysis/words/`). Nothing here reads a clock or a file.

mod before;
mod score;
pub mod shape;
pub mod tests_only;
pub mod words;

pub use before::Before;

use crate::domain::claim::parse::parse;
use crate::domain::claim::{Claim, ClaimStatus, WorkType};
use crate::domain::denial::Denial;
use crate::domain::errors;
use serde::{Deserialize, Serialize};
use shape::{Output, Shape};

/// Error lines of one output that are kept, to compare the next ones with.
const ERRORS: usize = 20;
/// Outputs that an error must be in to be stuck on it, besides the present one.
pub const OUTPUTS: usize = 3;
/// Errors that an output counts itself which make it stuck.
const MANY_ERRORS: u64 = 5;
/// Confidence that words alone would need to say that the work is done.
const CONFIDENT: u32 = 70;

/// What one turn's output says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Analysis {
    pub n: u32,
    /// What Claude says in so many words about leaving; it beats all else here.
    pub exit_signal: Option<bool>,
    /// Claude says that the work is complete.
    pub done: bool,
    /// Nothing but tests, by Claude's words.
    pub tests_only: bool,
    /// The question phrase that was found, as listed.
    pub question: Option<String>,
    /// The same errors as in each of the last three outputs, or more than five of them.
    pub stuck: bool,
    /// How sure it is that the work is done: 0 to 100, in Hank's points.
    pub confidence: u32,
    /// Lines that report an error: the first 20.
    pub errors: Vec<String>,
    /// Length of the output in bytes.
    pub length: u64,
    /// What Claude was refused by rules that are not ours.
    pub refused: Vec<Denial>,
    /// What it was refused by them only because commands were put together.
    pub compound: Vec<Denial>,
}

impl Analysis {
    /// Claude wants to leave: it says so, or says that all is complete and nothing against it.
    pub fn indicates_completion(&self) -> bool {
        self.exit_signal.unwrap_or(self.done)
    }

    /// What a person should know of it, in words; empty: nothing.
    pub fn told(&self) -> Vec<String> {
        let exit = self.exit_signal.map(|exit| format!("exit_signal: {exit}"));
        let done = (self.done && self.exit_signal.is_none()).then(|| "reports the work complete".to_owned());
        let tests = self.tests_only.then(|| "only ran tests".to_owned());
        let question = self.question.as_ref().map(|phrase| format!("asks a question (“{phrase}”)"));
        let stuck = self.stuck.then(|| "reports the same errors again".to_owned());
        let by_its_rules = |calls: &[Denial], why: &str| {
            let shown: Vec<_> = calls.iter().map(Denial::shown).collect();
            (!calls.is_empty()).then(|| format!("was denied {} by its own permission rules{why}", shown.join(", ")))
        };
        let refused = by_its_rules(&self.refused, "");
        let compound = by_its_rules(&self.compound, ", which allow each command but not the combination");
        [exit, done, tests, question, stuck, refused, compound].into_iter().flatten().collect()
    }

    /// Something in it wants to be looked at.
    pub fn is_warning(&self) -> bool {
        self.stuck || self.question.is_some() || !self.refused.is_empty() || !self.compound.is_empty()
    }

    /// Takes in a later turn of the same iteration, which has the last word where it says anything.
    #[must_use]
    pub fn then(self, later: Self) -> Self {
        let mut errors = self.errors;
        errors.extend(later.errors);
        errors.truncate(ERRORS);
        Self {
            n: later.n,
            exit_signal: later.exit_signal.or(self.exit_signal),
            done: self.done || later.done,
            tests_only: self.tests_only || later.tests_only,
            question: self.question.or(later.question),
            stuck: self.stuck || later.stuck,
            confidence: self.confidence.max(later.confidence),
            errors,
            length: self.length.max(later.length),
            // Every turn of a process tells all that were refused in it.
            compound: if later.compound.is_empty() { self.compound } else { later.compound },
            refused: if later.refused.is_empty() { self.refused } else { later.refused },
        }
    }
}

/// Reads an output whose text ends in this claim, if it has one.
pub fn analyse(n: u32, output: &Output, claim: Option<&Claim>, before: &Before<'_>) -> Analysis {
    let signals = claim.map(|claim| claim.signals.clone()).unwrap_or_default();
    let exit_signal = signals.exit_signal.or(output.exit_signal);
    let length = output.text.len() as u64;
    let mut errors: Vec<String> = errors::read(&output.text).lines.into_iter().map(|line| line.text).collect();
    errors.truncate(ERRORS);
    let status = claim.map(|claim| claim.status).or(output.status);
    let complete = status == Some(ClaimStatus::Done);
    let confidence = score::confidence(output, exit_signal.unwrap_or(complete), before);
    let by_words = output.shape == Shape::Text && confidence >= CONFIDENT && words::completes(&output.text);
    let work_type = signals.work_type.or(output.work_type);
    Analysis {
        n,
        exit_signal,
        done: exit_signal != Some(false) && (complete || by_words),
        tests_only: work_type.map_or_else(|| words::tests_only(&output.text), |kind| kind == WorkType::Testing),
        question: words::question(&output.text).map(str::to_owned),
        stuck: output.error_count > MANY_ERRORS || is_stuck(&errors, before.errors),
        confidence,
        errors,
        length,
        ..Analysis::default()
    }
}

/// Reads an output from its text alone, in whatever shape it is.
pub fn read(n: u32, text: &str, before: &Before<'_>) -> (Output, Analysis) {
    let output = shape::read(text);
    let claim = parse(&output.text).claim;
    let analysis = analyse(n, &output, claim.as_ref(), before);
    (output, analysis)
}

/// Whether all of `errors` (and there are some) are in each of the last three outputs, word for word.
pub fn is_stuck(errors: &[String], before: &[Vec<String>]) -> bool {
    let last = &before[before.len().saturating_sub(OUTPUTS)..];
    let in_all = |error: &String| last.iter().all(|output| output.contains(error));
    !errors.is_empty() && last.len() == OUTPUTS && errors.iter().all(in_all)
}
