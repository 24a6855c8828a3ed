//! What Claude is sent, whole: to a fresh session, to one that is gone on with, after a dispute, with a note.

use programmator::domain::session::Told;
use programmator::orchestrator::effect::Spawn;
use programmator::orchestrator::prompt::{Prompt, PromptContext, Templates};
use programmator::orchestrator::steps::code::{PHASED, PHASELESS};
use programmator::runtime::prompts::make;

fn fresh() -> PromptContext {
    PromptContext {
        ticket_id: "tk-1".into(),
        title: "Parse dates".into(),
        phase: Some("Phase 2: leap years".into()),
        ticket_changed: true,
        gate: vec!["Runs at once: reading files.".into(), "Refused: `git push`.".into()],
        ticket: "# Parse dates\n\n- [x] Phase 1: months\n- [ ] Phase 2: leap years\n- [ ] Phase 3: zones\n".into(),
        ticket_path: "/shop/.tickets/tk-1.md".into(),
        done_phases: vec!["Phase 1: months".into()],
        open_phases: vec!["Phase 2: leap years".into(), "Phase 3: zones".into()],
        summaries: vec!["Months are parsed.".into()],
        validation: vec!["cargo test".into()],
        loop_context: "Open phases: 2 of 3.".into(),
        iteration: 2,
        max_iterations: 50,
        ..PromptContext::default()
    }
}

fn resumed() -> PromptContext {
    PromptContext { resumed: true, ticket_changed: false, ..fresh() }
}

fn sent(name: &str, context: &PromptContext) {
    let text = Templates::default().render(PHASED, context).unwrap();
    insta::with_settings!({ snapshot_path => concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/prompt"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn a_fresh_session_is_told_everything() {
    sent("fresh", &fresh());
}

#[test]
fn a_resumed_session_is_told_its_phase_and_the_news() {
    sent("resumed", &resumed());
    let text = Templates::default().render(PHASED, &resumed()).unwrap();
    for known in ["Months are parsed.", "- [ ] Phase 2: leap years\n- [ ] Phase 3: zones\n```", "Refused:"] {
        assert!(!text.contains(known), "{known:?} in:\n{text}");
    }
}

#[test]
fn a_dispute_and_a_changed_ticket_are_told_again() {
    let dispute = Some("`cargo test` failed with exit code 101\n1900 is no leap year".into());
    sent("disputed", &PromptContext { dispute, ticket_changed: true, ..resumed() });
}

#[test]
fn a_note_is_told_in_the_words_of_the_person() {
    let corrections = vec!["Nobody answers questions in your messages.".into()];
    sent("noted", &PromptContext { notes: vec!["Use jiff, not chrono.".into()], corrections, ..resumed() });
}

#[test]
fn a_ticket_without_phases_is_told_in_the_same_way() {
    let whole = PromptContext { phase: None, done_phases: vec![], open_phases: vec![], open_boxes: 2, ..fresh() };
    let first = Templates::default().render(PHASELESS, &whole).unwrap();
    let again = PromptContext { resumed: true, ticket_changed: false, ..whole };
    let again = Templates::default().render(PHASELESS, &again).unwrap();
    for text in [&first, &again] {
        assert!(text.contains("has 2 open checkboxes: in the file itself") && text.contains("cargo test"), "{text}");
        assert!(text.contains("PROGRAMMATOR_STATUS:") && !text.contains("\n\n\n"), "{text}");
    }
    assert!(first.contains("# Parse dates") && !again.contains("# Parse dates"), "{again}");
    assert!(again.len() * 2 < first.len(), "{} of {} bytes", again.len(), first.len());
}

#[test]
fn what_programmator_writes_into_the_file_is_no_change_of_it() {
    let told = |ticket: &str, kind| -> Told {
        let prompt = Prompt { kind, context: resumed() };
        let spawn = Spawn {
            n: 2,
            session: None,
            told: None,
            model: None,
            max_budget_usd: None,
            effort: None,
            profile: None,
            plan_mode: false,
            prompt,
        };
        make(&Templates::default(), &spawn, ticket.as_bytes(), Vec::new()).unwrap().told
    };
    for end in ["\n", "\r\n"] {
        let ticket = ["---", "status: open", "---", "# T", "- [ ] One", "- [ ] Two", ""].join(end);
        let known = told(&ticket, PHASED);
        let written = ticket.replace("open", "in_progress").replacen("[ ]", "[x]", 1);
        assert_eq!(told(&written, PHASED), known, "{end:?}");
        assert_ne!(told(&ticket.replace("Two", "2"), PHASED).ticket, known.ticket, "{end:?}");
        assert_ne!(told(&ticket, PHASELESS).rules, known.rules, "other words for how to work");
    }
}
