//! What a claim becomes: the table that turns Claude's words and our own evidence into facts.

use crate::domain::claim::{Claim, ClaimStatus};
use crate::domain::outcome::DoneHow;
use crate::domain::phase::{Claimed, PhaseId};
use crate::domain::record::ValidationRan;
use crate::orchestrator::phase_match;
use crate::orchestrator::state::{PhaseState, State};

/// What a claim is about. A name is matched among the open phases only; `DONE` without one is about the iteration's own
/// phase and no other.
pub fn claimed(state: &State, claim: &Claim) -> Claimed {
    if claim.status == ClaimStatus::Blocked {
        return Claimed::Nothing;
    }
    if state.phases.is_empty() {
        return Claimed::Whole;
    }
    // One that the person has ticked or skipped meanwhile is no matter of Claude's any more.
    let own = state.own_phase();
    let own_open = own.filter(|phase| phase.is_open()).map(|phase| phase.id);
    match &claim.phase_completed {
        Some(name) => match match_open(state, own_open, name) {
            Some(id) => Claimed::Phase(id),
            None if own.is_some_and(|own| !own.is_open() && means(state, name, own)) => Claimed::Nothing,
            None => Claimed::Unknown,
        },
        None if claim.status == ClaimStatus::Done => own_open.map_or(Claimed::Nothing, Claimed::Phase),
        None => Claimed::Nothing,
    }
}

/// A claim about the whole ticket says, or shows by the boxes, that it is done.
pub fn is_sign(state: &State, claim: &Claim) -> bool {
    let leaves = claim.status == ClaimStatus::Done || claim.signals.exit_signal == Some(true);
    state.phases.is_empty() && !claim.denies_exit() && (leaves || state.boxes.all_ticked())
}

/// The claim, once it holds, is the end of the matter; any other is only a sign (`exit`).
pub fn settles(state: &State, claim: &Claim) -> bool {
    !state.phases.is_empty() || (claim.status == ClaimStatus::Done && claim.source.is_ours())
}

/// The name is this phase's, or was when Claude was told.
fn means(state: &State, name: &str, phase: &PhaseState) -> bool {
    [Some(phase.text.as_str()), old_name(state)].into_iter().flatten().any(|own| fits(name, own))
}

fn match_open(state: &State, own: Option<PhaseId>, name: &str) -> Option<PhaseId> {
    // A phase that was renamed during the iteration is claimed by the name that Claude was told.
    let old = old_name(state);
    if old.is_some_and(|old| old.trim() == name.trim()) {
        return own;
    }
    let open: Vec<&PhaseState> = state.phases.iter().filter(|phase| phase.is_open()).collect();
    let texts: Vec<&str> = open.iter().map(|phase| phase.text.as_str()).collect();
    let found = phase_match::find(name, &texts).map(|at| {
        // Of several with one text, the iteration's own.
        let alike = open.iter().find(|phase| Some(phase.id) == own && phase.text == open[at].text);
        alike.unwrap_or(&open[at]).id
    });
    found.or_else(|| own.filter(|_| old.is_some_and(|old| fits(name, old))))
}

/// What the running phase was called when Claude was told, if that is no phase's name any more.
fn old_name(state: &State) -> Option<&str> {
    let told = state.iteration.as_ref()?.told.as_deref()?;
    state.phases.iter().all(|phase| phase.text != told).then_some(told)
}

fn fits(name: &str, phase: &str) -> bool {
    phase_match::find(name, &[phase]).is_some()
}

/// What the validation commands said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checks<'a> {
    None,
    /// They are yet to run.
    Pending,
    /// They ran, up to the first failure.
    Ran(&'a [ValidationRan]),
}

/// What is to be done about a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Run the validation commands first.
    Validate,
    Done(DoneHow),
    /// It does not hold, for this reason.
    Disputed(String),
}

/// The table. `changed`: the tree differs from the phase's baseline. `refused`: the tools whose calls were refused in the
/// iteration.
pub fn judge(claim: &Claim, checks: Checks<'_>, changed: bool, refused: &[String]) -> Judgement {
    match checks {
        Checks::Pending => Judgement::Validate,
        Checks::Ran([]) => Judgement::Disputed("none of the validation commands ran".to_owned()),
        Checks::Ran(results) => match results.iter().find(|result| !result.passed()) {
            None => Judgement::Done(DoneHow::Verified),
            Some(failed) => Judgement::Disputed(failure(failed)),
        },
        Checks::None if changed => Judgement::Done(DoneHow::ClaimedUnchecked),
        // What was to be done may be what was refused: that is no investigation.
        Checks::None if !refused.is_empty() => Judgement::Disputed(format!(
            "nothing in the working tree has changed since the phase began, and calls were denied: {}",
            refused.join(", ")
        )),
        Checks::None => match claim.claimed_files() {
            None => Judgement::Done(DoneHow::ClaimedNoChange),
            Some(files) => Judgement::Disputed(format!(
                "nothing in the working tree has changed since the phase began, but changed files were claimed: {files}"
            )),
        },
    }
}

fn failure(result: &ValidationRan) -> String {
    let how = match (result.timed_out, result.exit) {
        (true, _) => "timed out".to_owned(),
        (_, Some(code)) => format!("failed with exit code {code}"),
        (_, None) => "was killed by a signal".to_owned(),
    };
    format!("`{}` {how}\n{}", result.command, result.tail.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(files: &[&str]) -> Claim {
        Claim {
            phase_completed: Some("Build".into()),
            files_changed: files.iter().map(ToString::to_string).collect(),
            ..Claim::new(ClaimStatus::Continue)
        }
    }

    fn ran(exit: i32) -> Vec<ValidationRan> {
        vec![ValidationRan {
            n: 1,
            command: "sh test.sh".into(),
            exit: Some(exit),
            timed_out: false,
            ms: 1,
            tail: "2 failed\n".into(),
            log: String::new(),
        }]
    }

    #[test]
    fn the_table_of_claims() {
        let (passed, failed) = (ran(0), ran(1));
        let none: &[&str] = &[];
        let disputed = |text: &str| Judgement::Disputed(text.to_owned());
        let cases = [
            (none, Checks::Pending, true, Judgement::Validate),
            (&["a"], Checks::Ran(&passed), true, Judgement::Done(DoneHow::Verified)),
            (&["a"], Checks::Ran(&passed), false, Judgement::Done(DoneHow::Verified)),
            (&["a"], Checks::Ran(&failed), true, disputed("`sh test.sh` failed with exit code 1\n2 failed")),
            (none, Checks::Ran(&failed), false, disputed("`sh test.sh` failed with exit code 1\n2 failed")),
            (&["a"], Checks::Ran(&[]), true, disputed("none of the validation commands ran")),
            (&["a"], Checks::None, true, Judgement::Done(DoneHow::ClaimedUnchecked)),
            (none, Checks::None, true, Judgement::Done(DoneHow::ClaimedUnchecked)),
            (none, Checks::None, false, Judgement::Done(DoneHow::ClaimedNoChange)),
            (
                &["a", "b"],
                Checks::None,
                false,
                disputed(
                    "nothing in the working tree has changed since the phase began, but changed files were claimed: \
                    a, b",
                ),
            ),
        ];
        for (files, checks, changed, expected) in cases {
            assert_eq!(judge(&claim(files), checks, changed, &[]), expected, "{files:?} {checks:?} {changed}");
        }
    }

    #[test]
    fn no_change_after_a_refusal_is_no_investigation() {
        let refused = ["Bash".to_owned(), "Write".to_owned()];
        let why = "nothing in the working tree has changed since the phase began, and calls were denied: Bash, \
        Write";
        let (passed, judged) = (ran(0), |checks, changed| judge(&claim(&[]), checks, changed, &refused));
        assert_eq!(judged(Checks::None, false), Judgement::Disputed(why.to_owned()));
        assert_eq!(judged(Checks::None, true), Judgement::Done(DoneHow::ClaimedUnchecked));
        assert_eq!(judged(Checks::Ran(&passed), false), Judgement::Done(DoneHow::Verified));
    }
}
