//! The draft of a ticket's phases, as it waits for the person.

use super::{modal, press, pressed, sample, whole};
use programmator::domain::command::UserCommand;
use programmator::domain::news::News;
use programmator::domain::outcome::ExitReason;
use programmator::domain::planning::{DraftAnswer, Tried};
use programmator::domain::record::Record;
use programmator::domain::request::Request;
use programmator::domain::ticket::draft::Draft;
use programmator::domain::ticket::part::Part;
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::state::{PlanStage, Planning, Stage, State};
use programmator::tui::msg::{Ask, Msg};
use programmator::tui::ui::Ui;
use programmator::tui::update::update;
use std::sync::Arc;

fn draft() -> Draft {
    let all = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    Draft {
        title: "Logins are limited to five a minute".into(),
        text: "Somebody tries passwords all night. Six tries a minute are one too many, by IPv6 too.".into(),
        phases: all(&[
            "Find out where a login is decided, and write it down in src/login.rs",
            "Count the tries for each address, in memory, with the time of each",
            "Refuse the sixth within a minute with 429 and a Retry-After",
        ]),
        validation: all(&["cargo test login", "scripts/check --all", "git push"]),
        ..Draft::default()
    }
}

/// An ordinary afternoon in which this draft waits.
fn waits(draft: Draft) -> Ui {
    let mut model = sample::busy();
    let old = &model.tabs[0].state;
    let plan = Planning { stage: PlanStage::Waiting, draft: Some(draft), ..Planning::default() };
    model.tabs[0].state =
        State { phases: Vec::new(), iteration: None, stage: Stage::Idle, plan: Some(Arc::new(plan)), ..old.clone() };
    model
}

fn tried(mut model: Ui) -> Ui {
    let one = |command: &str, verdict, reason: &str, exit, tail: &str| Tried {
        command: command.into(),
        verdict,
        reason: reason.into(),
        exit,
        tail: tail.into(),
    };
    let commands = draft().validation;
    let plan = model.tabs[0].state.plan.as_mut().unwrap();
    Arc::make_mut(plan).tried = vec![
        one(&commands[0], Verdict::Allow, "", Some(0), ""),
        one(&commands[1], Verdict::Allow, "", Some(127), "bash: line 1:\n\u{1b}[31mscripts/check: No such file"),
        one(&commands[2], Verdict::Ask, "needs your approval: guarded/network", None, ""),
    ];
    model
}

fn asked(model: &mut Ui, keys: &str) -> Vec<DraftAnswer> {
    let asks = press(model, keys);
    let answers = asks.into_iter().filter_map(|ask| match ask {
        Ask::Request(Request::Command(_, UserCommand::AnswerDraft { answer, .. })) => Some(answer),
        _ => None,
    });
    answers.collect()
}

#[test]
fn a_draft_waits() {
    whole("plan", || pressed(waits(draft()), "!"));
    modal("plan_tried", || pressed(tried(waits(draft())), "!"));
    modal("plan_words", || pressed(waits(draft()), "! r N o t e"));
}

#[test]
fn a_draft_for_several_tickets_shows_each_and_what_it_waits_for() {
    let part = |title: &str, phase: &str, after: &[usize]| Part {
        title: title.into(),
        text: "As the document says.".into(),
        phases: vec![phase.into()],
        after: after.to_vec(),
    };
    let parts = vec![
        part("Tries are counted", "Count the tries for each address", &[]),
        part("The sixth is refused", "Answer 429 with a Retry-After", &[1]),
    ];
    let phases = vec!["Check every requirement of the document".into()];
    let split = Draft { title: String::new(), text: String::new(), parts, phases, ..draft() };
    modal("plan_split", || pressed(waits(split.clone()), "!"));
    // What comes back from the editor is all of it.
    let mut model = pressed(waits(split.clone()), "!");
    let edited = split.body().replace("After: 1\n\n", "");
    let asks = update(&mut model, Msg::Edited(edited));
    let answers: Vec<_> = asks.into_iter().collect();
    let expected =
        Draft { parts: split.parts.iter().map(|one| Part { after: vec![], ..one.clone() }).collect(), ..split };
    let is_it = |ask: &Ask| matches!(ask, Ask::Request(Request::Command(_, UserCommand::AnswerDraft { answer: DraftAnswer::Edit(draft), .. })) if *draft == expected);
    assert!(answers.iter().any(is_it), "{answers:?}");
}

#[test]
fn a_ticket_that_others_were_split_off_comes_after_them() {
    let part = Part {
        title: "Tries are counted".into(),
        text: String::new(),
        phases: vec!["Count".into()],
        after: Vec::new(),
    };
    let mut model = waits(Draft { parts: vec![part.clone(), part], ..draft() });
    let (whole, seq) = (model.tabs[0].id.clone(), model.tabs[0].state.seq + 1);
    let ended = Record::RunEnded {
        reason: ExitReason::Planned,
        detail: String::new(),
        iterations: 1,
        phases_done: 0,
        phases: 1,
        cost_usd: 0.0,
    };
    update(&mut model, Msg::News(News::Recorded(sample::stored(whole.id().as_str(), seq, ended).into())));
    let told = |model: &Ui| model.toast.as_ref().map(|(words, _)| words.clone()).unwrap_or_default();
    assert_eq!(told(&model), format!("{whole} is planned and waits for 2 new tickets; h lists them"));
    let open = |name: &str| sample::ticket(name, "T", &[]);
    let mut planned = (*open(whole.id().as_str())).clone();
    planned.deps = vec!["tk-one".into(), "tk-two".into()];
    model.listed.insert(whole.clone(), Arc::new(planned));
    for name in ["tk-one", "tk-two"] {
        model.listed.insert(sample::id(name), open(name));
    }
    assert_eq!(press(&mut model, "r"), []);
    assert_eq!(told(&model), format!("{whole} cannot start yet: after tk-one and 1 more"));
}

#[test]
fn a_yes_counts_only_when_the_end_was_seen() {
    let long = || waits(Draft { text: "word\n".repeat(200), ..draft() });
    let mut model = long();
    model.size = (80, 24);
    press(&mut model, "!");
    assert_eq!(asked(&mut model, "y"), []);
    assert_eq!(asked(&mut model, "G y"), [DraftAnswer::Accept]);
}

#[test]
fn it_is_sent_back_tried_and_refused() {
    let mut model = waits(draft());
    model.size = (120, 40);
    press(&mut model, "!");
    assert_eq!(asked(&mut model, "t"), [DraftAnswer::Try]);
    assert_eq!(asked(&mut model, "r Enter"), [], "no words are no answer");
    assert_eq!(asked(&mut model, "r N o Enter"), [DraftAnswer::Revise { words: "No".into() }]);
    press(&mut model, "!");
    assert_eq!(asked(&mut model, "x j x"), [], "a draft is not gone by one key");
    assert_eq!(asked(&mut model, "x"), [DraftAnswer::Refuse]);
    assert!(model.modals.is_empty(), "the ticket was not made for it");
}

#[test]
fn what_comes_back_from_the_editor_is_the_draft_if_it_is_one() {
    let mut model = waits(draft());
    model.size = (120, 40);
    let asks = press(&mut model, "! e");
    let [Ask::EditText(text)] = &asks[..] else { panic!("{asks:?}") };
    assert!(text.contains("## Design\n\n- [ ] Find out") && !text.contains("Acceptance"), "{text}");
    assert_eq!(update(&mut model, Msg::Edited(text.clone())), [], "nothing was changed");
    assert_eq!(update(&mut model, Msg::Edited("# T\n\nnothing\n".into())), [], "there are no phases in it");
    let changed = text.replace("- [ ] Find out where a login is decided, and write it down in src/login.rs\n", "");
    let asks = update(&mut model, Msg::Edited(changed));
    let [Ask::Request(Request::Command(_, UserCommand::AnswerDraft { answer: DraftAnswer::Edit(edited), .. }))] =
        &asks[..]
    else {
        panic!("{asks:?}")
    };
    assert_eq!((edited.phases.len(), &edited.title), (2, &draft().title));
}
