//! Phases on the screen: what stands behind one, and the dialogs that change them.

use super::{modal, press, pressed, whole};
use crate::domain::changes::Changes;
use crate::domain::claim::{Claim, ClaimStatus};
use crate::domain::critique::{CriticVerdict, Critique, Issue, Severity};
use crate::domain::limits::Receipt;
use crate::domain::outcome::{DoneHow, IterationOutcome};
use crate::domain::phase::PhaseId;
use crate::domain::record::{Record, ValidationRan};
use crate::domain::request::{BoxOutcome, Reply, Request};
use crate::domain::step::{Counts, Role, StepName};
use crate::sample;
use crate::tui::msg::{Ask, Msg};
use crate::tui::ui::Ui;
use crate::tui::update::update;

#[allow(clippy::unnecessary_wraps, reason = "as records have it")]
fn phase() -> Option<String> {
    Some("Tests for burst".into())
}

/// An iteration of this step from its beginning to its end.
fn iteration(n: u32, step: StepName, within: Vec<Record>, cost_usd: f64, ms: u64) -> Vec<Record> {
    let id = Some(PhaseId(4));
    let counts = if step == StepName::CRITIQUE { Counts::Nothing } else { Counts::Progress };
    let role = Role { step: step.clone(), counts, model: None };
    let begun = [
        Record::IterationStarted { n, phase: phase(), session: None, id, role },
        Record::SnapshotTaken { n, id: format!("{n:040x}") },
    ];
    let receipt = Receipt { n, phase: phase(), ms, cost_usd, step, ..Receipt::default() };
    let outcome = IterationOutcome::Claimed;
    let ended = Record::IterationEnded { n, outcome, changed: true, fingerprint: None, ms, reading: Some(1) };
    begun.into_iter().chain(within).chain([Record::Receipt(receipt), ended]).collect()
}

fn ran(n: u32, command: &str, exit: i32, tail: &str) -> Record {
    Record::ValidationRan(ValidationRan {
        n,
        command: command.into(),
        exit: Some(exit),
        timed_out: false,
        ms: 41_200,
        tail: tail.into(),
        log: format!("/home/ann/.local/state/programmator/runs/7/validation-{n}-1.log"),
    })
}

fn claimed(n: u32) -> Vec<Record> {
    let claim = Claim {
        phase_completed: phase(),
        files_changed: vec!["tests/burst.rs".into(), "src/http/limit.rs".into()],
        summary: "Added a test that fires 120 requests within a second and expects 100 of them to pass. The limiter \
                  counts by key now, so that two accounts do not share a bucket."
            .into(),
        ..Claim::new(ClaimStatus::Continue)
    };
    let files: Vec<String> = vec!["tests/burst.rs".into(), "src/http/limit.rs".into()];
    vec![
        Record::ClaimMade { n, claim, about: None },
        Record::EvidenceGathered { n, iteration_files: files.clone(), phase_files: files },
    ]
}

/// A phase that a command, a critic and a fix have looked at.
fn disputed() -> Ui {
    let mut ui = sample::busy();
    let id = Some(PhaseId(4));
    let failed = "running 12 tests\ntest burst::one_second ... FAILED\n\nfailures: burst::one_second\n\x1b[31m101\x1b[0m \
                  requests passed, 100 expected\n";
    let issue = Issue {
        severity: Severity::Major,
        file: Some("src/http/limit.rs".into()),
        line: Some(42),
        text: "the bucket is refilled before the key is looked up".into(),
        evidence: Some("line 42 runs for unknown keys too".into()),
        doubtful: false,
    };
    let minor = Issue {
        severity: Severity::Minor,
        file: Some("README.md".into()),
        text: "the limit is not named".into(),
        doubtful: true,
        ..Issue::default()
    };
    let issues = vec![issue, minor];
    let critique = Critique {
        verdict: CriticVerdict::NeedsFixes,
        issues: issues.clone(),
        summary: "The test is good; the limiter is not.".into(),
    };
    let rejected = Record::PhaseRejected { n: 9, phase: phase(), issues, id, of_ticket: false };
    let why = "`cargo test` failed with exit 101\nrunning 12 tests".to_owned();
    let done = Record::PhaseChecked { n: 8, phase: phase(), how: DoneHow::ClaimedUnchecked, id };
    let first = [claimed(8), vec![done]].concat();
    let second = vec![Record::CritiqueMade { n: 9, critique }, rejected];
    let third = [claimed(10), vec![ran(10, "cargo test", 101, failed)]].concat();
    let third = [third, vec![Record::PhaseDisputed { n: 10, phase: phase(), why, id }]].concat();
    let records = [
        iteration(8, StepName::CODE, first, 0.42, 260_000),
        iteration(9, StepName::CRITIQUE, second, 0.08, 31_000),
        iteration(10, StepName::FIX, third, 0.31, 190_000),
    ];
    for record in records.concat() {
        let seq = ui.tabs[0].state.seq + 1;
        assert!(ui.model.tabs[0].record(&sample::stored("tk-4f2a", seq, record)));
    }
    ui
}

/// The dialog of that phase, once what differs is told.
fn evidence() -> Ui {
    let changes: Changes = sample::busy().told_changes().cloned().unwrap().unwrap();
    let mut ui = disputed();
    let asks = press(&mut ui, "BackTab g j j j j Enter");
    let asked = asks.iter().find_map(|ask| match ask {
        Ask::Request(Request::Changes(run, since)) => Some((*run, since.clone())),
        _ => None,
    });
    let (run, since) = asked.expect("what differs since the phase began");
    update(&mut ui, Msg::Replied(Reply::Changes(run, since, Ok(changes))));
    ui
}

#[test]
fn evidence_of_a_phase() {
    whole("evidence", evidence);
}

#[test]
fn evidence_to_its_end() {
    whole("evidence_end", || pressed(evidence(), "G ["));
}

#[test]
fn phases_are_added() {
    modal("phase_add", || pressed(disputed(), "BackTab g j j A D o c s Alt-Enter M o r e"));
}

#[test]
fn an_edit_that_is_refused_keeps_what_was_typed() {
    modal("phase_refused", || {
        let mut ui = pressed(disputed(), "BackTab g j j j R ! Enter");
        let why = "“Wire into middleware” is no longer in the ticket".to_owned();
        let told = Reply::PhasesEdited(sample::id("tk-4f2a"), BoxOutcome::NotWritten(why), None);
        update(&mut ui, Msg::Replied(told));
        ui
    });
}

#[test]
fn a_disputed_phase_is_accepted_with_a_reason() {
    modal("phase_accept", || pressed(disputed(), "BackTab g j j j j Y"));
}
