//! What a claim becomes: the table that turns Claude's words and our own evidence into facts.

use crate::domain::claim::{Claim, ClaimStatus};
use crate::domain::outcome::DoneHow;
use crate::orchestrator::input::CommandResult;
use crate::orchestrator::phase_match;
use crate::orchestrator::state::{PhaseState, State};

/// The phase that a claim is about.
///
/// `None`: it claims none. `Some(None)`: the whole (phaseless) ticket, also when it only shows signs of being done. The name is matched among the
/// incomplete phases only; `DONE` without a name is about the iteration's own phase and no other.
pub fn claimed_phase(state: &State, claim: &Claim) -> Option<Option<String>> {
    if claim.status == ClaimStatus::Blocked {
        return None;
    }
    if state.phases.is_empty() {
        let leaves = claim.status == ClaimStatus::Done || claim.signals.exit_signal == Some(true);
        let is_sign = !claim.denies_exit() && (leaves || state.boxes.all_ticked());
        return is_sign.then_some(None);
    }
    let own = || {
        let own = state.iteration.as_ref()?.phase.clone()?;
        // One that the person has ticked or skipped meanwhile is no matter of Claude's any more.
        state.phase(Some(&own)).is_some_and(|phase| !phase.mark.is_settled()).then_some(own)
    };
    match &claim.phase_completed {
        Some(name) => match_open(state, name).map(Some),
        None if claim.status == ClaimStatus::Done => own().map(Some),
        None => None,
    }
}

/// The claim, once it holds, is the end of the matter; any other is only a sign (`exit`).
pub fn settles(state: &State, claim: &Claim) -> bool {
    !state.phases.is_empty() || (claim.status == ClaimStatus::Done && claim.source.is_ours())
}

/// A claim that names a phase which cannot be found: never a guess.
pub fn names_unknown_phase(state: &State, claim: &Claim) -> bool {
    if claim.status == ClaimStatus::Blocked || state.phases.is_empty() {
        return false;
    }
    let Some(name) = &claim.phase_completed else {
        return false;
    };
    // The person may have ticked or skipped it a moment ago: then there is nothing to dispute.
    let own = state.iteration.as_ref().and_then(|iteration| iteration.phase.as_deref());
    let own_is_settled = || {
        let own = state.phase(own).filter(|phase| phase.mark.is_settled());
        let names = |own: &PhaseState| {
            [Some(own.text.as_str()), old_name(state)].into_iter().flatten().any(|own| fits(name, own))
        };
        own.is_some_and(names)
    };
    match_open(state, name).is_none() && !own_is_settled()
}

fn match_open(state: &State, name: &str) -> Option<String> {
    let open: Vec<&str> =
        state.phases.iter().filter(|phase| !phase.mark.is_settled()).map(|phase| phase.text.as_str()).collect();
    // A phase that was renamed during the iteration is claimed by the name that Claude was told.
    let own = || {
        let own = state.iteration.as_ref()?.phase.as_deref()?;
        open.contains(&own).then(|| own.to_owned())
    };
    match old_name(state) {
        Some(old) if old.trim() == name.trim() => own(),
        old => {
            let found = phase_match::find(name, &open).map(|at| open[at].to_owned());
            found.or_else(|| old.filter(|old| fits(name, old)).and_then(|_| own()))
        }
    }
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
    /// There are none.
    None,
    /// They are yet to run.
    Pending,
    /// They ran, up to the first failure.
    Ran(&'a [CommandResult]),
}

/// What is to be done about a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// Run the validation commands first.
    Validate,
    /// It holds.
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
            "nothing in the work tree has changed since the phase began, and calls were refused: {}",
            refused.join(", ")
        )),
        Checks::None => match claim.claimed_files() {
            None => Judgement::Done(DoneHow::ClaimedNoChange),
            Some(files) => Judgement::Disputed(format!(
                "nothing in the work tree has changed since the phase began, but these files were claimed: {files}"
            )),
        },
    }
}

fn failure(result: &CommandResult) -> String {
    let how = match (result.timed_out, result.exit) {
        (true, _) => "ran into its timeout".to_owned(),
        (_, Some(code)) => format!("failed with exit code {code}"),
        (_, None) => "was ended by a signal".to_owned(),
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

    fn ran(exit: i32) -> Vec<CommandResult> {
        vec![CommandResult {
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
                    "nothing in the work tree has changed since the phase began, but these files were claimed: a, b",
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
        let why = "nothing in the work tree has changed since the phase began, and calls were refused: Bash, Write";
        let (passed, judged) = (ran(0), |checks, changed| judge(&claim(&[]), checks, changed, &refused));
        assert_eq!(judged(Checks::None, false), Judgement::Disputed(why.to_owned()));
        assert_eq!(judged(Checks::None, true), Judgement::Done(DoneHow::ClaimedUnchecked));
        assert_eq!(judged(Checks::Ran(&passed), false), Judgement::Done(DoneHow::Verified));
    }
}
