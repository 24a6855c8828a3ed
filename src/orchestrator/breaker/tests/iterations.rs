//! What iterations tell the breaker, and which of them tell it nothing.

use super::*;
use crate::base::id::{RunId, TicketId};
use crate::domain::analysis::Analysis;
use crate::domain::denial::Denial;
use crate::domain::outcome::{DoneHow, IterationOutcome};
use crate::domain::record::{FORMAT, Stored, TurnEnded, TurnFailed};
use crate::domain::step::Role;
use crate::orchestrator::apply::apply;
use crate::orchestrator::state::State;

/// Runs one iteration's records through the fold and observes it.
fn observed(outcome: IterationOutcome, records: Vec<Record>) -> Option<Observation> {
    let mut state = State::default();
    let begun = Record::IterationStarted { n: 1, phase: None, session: None, id: None, role: Role::default() };
    for (seq, record) in (1..).zip(std::iter::once(begun).chain(records)) {
        let (run, ticket) = (RunId(uuid::Uuid::nil()), TicketId::parse("t").unwrap());
        apply(&mut state, &Stored { v: FORMAT, seq, time: START, run, ticket, record });
    }
    observe(state.iteration.as_ref().unwrap(), outcome)
}

fn compared(files: &[&str]) -> Record {
    let iteration_files = files.iter().map(ToString::to_string).collect();
    Record::EvidenceGathered { n: 1, iteration_files, phase_files: vec![] }
}

fn failed(error: &str, status: Option<u16>) -> Record {
    Record::TurnFailed(TurnFailed { n: 1, error: error.into(), message: "m".into(), status })
}

fn judged(tool: &str, verdict: crate::domain::verdict::Verdict) -> Record {
    Record::ToolJudged {
        n: 1,
        tool_use_id: format!("{tool}-1"),
        tool: tool.into(),
        target: String::new(),
        verdict,
        reason: String::new(),
        units: vec![],
        cwd: None,
    }
}

/// What Claude's own rules refused, as it is weighed at the end of a turn.
fn refused(tools: &[&str]) -> Record {
    let refused = tools.iter().map(|tool| Denial { tool: (*tool).into(), ..Denial::default() }).collect();
    Record::OutputAnalysed(Analysis { n: 1, refused, ..Analysis::default() })
}

fn turn(output: u64) -> Record {
    Record::TurnEnded(TurnEnded {
        n: 1,
        cost_usd: 0.0,
        usage: crate::domain::turn::Usage { output, ..Default::default() },
        context: None,
        context_window: None,
        denials: vec![],
        origin: crate::domain::turn::Origin::Ours,
    })
}

#[test]
fn iterations_that_say_nothing() {
    use IterationOutcome::{CutOff, Failed, Idle, Interrupted, TimedOut};
    let changed = || compared(&["a"]);
    let cases = [
        ("interrupted by the person", Interrupted, vec![changed()], false),
        ("cut off by a crash", CutOff, vec![compared(&[])], false),
        ("never compared", Failed, vec![], false),
        ("out of time, but it worked", TimedOut, vec![changed()], false),
        ("silent, but it had worked", Idle, vec![changed()], false),
        ("out of time with nothing", TimedOut, vec![compared(&[])], true),
        ("rate limited", Failed, vec![failed("rate_limit", Some(429)), compared(&[])], false),
        ("rate limited, kind unknown", Failed, vec![failed("unknown", Some(429)), changed()], false),
        ("no credit", Failed, vec![failed("billing_error", None), compared(&[])], false),
        ("not logged in", Failed, vec![failed("authentication_failed", Some(401)), compared(&[])], false),
        ("the API is overloaded", Failed, vec![failed("server_error", Some(529)), compared(&[])], true),
    ];
    for (name, outcome, records, tells) in cases {
        assert_eq!(observed(outcome, records).is_some(), tells, "{name}");
    }
}

#[test]
fn what_iterations_tell() {
    use crate::domain::verdict::Verdict::{Allow, Block};
    let seen = |records| observed(IterationOutcome::NoClaim, records).unwrap();
    assert_eq!(seen(vec![turn(10), turn(5), compared(&["a", "b"])]).progress, Progress::Made { files: 2 });
    assert_eq!(seen(vec![turn(10), turn(5), compared(&[])]).output, Some(15));
    assert_eq!(seen(vec![compared(&[])]).output, None, "no turn ended: not measured");

    let denied = |records| seen(records).denied;
    let gate = || judged("Bash", Block);
    assert!(denied(vec![gate(), turn(1), compared(&[])]).unwrap().contains("Bash"));
    assert_eq!(denied(vec![gate(), turn(1), compared(&["a"])]), None, "Claude worked around it");
    assert!(
        denied(vec![turn(1), refused(&["Write"]), compared(&["a"])]).unwrap().contains("Write"),
        "not ours: always"
    );
    let both = vec![gate(), turn(1), refused(&["Write"]), compared(&["a"])];
    assert!(denied(both).unwrap().contains("Write"), "one of ours hides none of theirs");
    assert_eq!(denied(vec![judged("Bash", Allow), turn(1), compared(&[])]), None);

    let asked = || seen(vec![judged("AskUserQuestion", Block), turn(1), compared(&[])]);
    assert_eq!((asked().progress, asked().denied), (Progress::Asked, None));

    let verified = Record::PhaseDone { n: 1, phase: None, how: DoneHow::Verified, id: None };
    let verified = seen(vec![gate(), turn(1), compared(&[]), verified]);
    assert_eq!((verified.progress, verified.denied), (Progress::Verified, None), "validation is evidence");
    let unchecked = Record::PhaseDone { n: 1, phase: None, how: DoneHow::ClaimedNoChange, id: None };
    assert_eq!(seen(vec![turn(1), compared(&[]), unchecked]).progress, Progress::None, "words are none");
}

#[test]
fn a_failure_is_read_from_its_masked_words() {
    let exited = |message: &str| {
        let failed =
            Record::TurnFailed(TurnFailed { n: 1, error: "ended".into(), message: message.into(), status: None });
        observed(IterationOutcome::Failed, vec![failed, compared(&[])])
    };
    let (one, two) = (exited("exit code 7 at 12:01:02").unwrap(), exited("exit code 9 at 13:44:59").unwrap());
    assert_eq!(one.error, two.error);
}
