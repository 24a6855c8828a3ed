//! What Claude asks by itself, and how the person goes through all that waits.

use super::*;
use crate::domain::phase::PhaseId;
use crate::domain::request::Request;
use crate::domain::syntax::{Kind, Span};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use ratatui::style::Modifier;

#[test]
fn answers_go_out_in_the_tools_own_shape() {
    let one = serde_json::json!([question("Which?", false)]);
    let two = serde_json::json!([question("Which?", false), question("And?", true)]);
    for (questions, keys, answers) in [
        (&one, "! Enter", serde_json::json!({"Which?": "A"})),
        (&one, "! j Enter", serde_json::json!({"Which?": "B"})),
        (&one, "! 2 k k Space j Enter", serde_json::json!({"Which?": "B"})),
        (&one, "! j j j Enter o w n Enter", serde_json::json!({"Which?": "own"})),
        (&two, "! Enter 1 3 Enter Enter", serde_json::json!({"Which?": "A", "And?": "A, C"})),
        (&two, "! 3 Enter j Space Enter Enter", serde_json::json!({"Which?": "C", "And?": "B"})),
        (&two, "! Enter Space j j j Enter m e Enter y", serde_json::json!({"Which?": "A", "And?": "A, me"})),
    ] {
        let approval = asks_person(questions);
        let mut model = waits([approval.clone()]);
        let asks = press(&mut model, keys);
        let [
            Ask::Request(Request::Command(
                _,
                UserCommand::AnswerApproval { answer: Answer::Allow { input, scope }, .. },
            )),
        ] = &asks[..]
        else {
            panic!("{keys}: {asks:?}")
        };
        let mut expected: serde_json::Value = serde_json::from_str(&approval.input).unwrap();
        expected["answers"] = answers;
        assert_eq!(
            (serde_json::from_str::<serde_json::Value>(input).unwrap(), *scope),
            (expected, Scope::Once),
            "{keys}"
        );
    }
}

#[test]
fn a_question_can_be_left_or_declined_but_not_waved_through() {
    let one = serde_json::json!([question("Which?", false)]);
    for (keys, expected) in [
        ("! Esc", Vec::new()),
        ("! y t A e", Vec::new()),
        ("! j j j Enter Esc Esc", Vec::new()),
        ("! j j j Enter Enter Esc", Vec::new()),
        ("! d n o Enter", vec![deny("c", "no")]),
    ] {
        let mut model = waits([asks_person(&one)]);
        assert_eq!(press(&mut model, keys), expected, "{keys}");
    }
    // Without options that could be shown there is only a no.
    for odd in [serde_json::json!([]), serde_json::json!("x"), serde_json::json!([{"question": 1}])] {
        let mut model = waits([asks_person(&odd)]);
        assert_eq!(press(&mut model, "! y t A Enter"), [], "{odd}");
        assert_eq!(press(&mut model, "d n o Enter"), [deny("c", "no")], "{odd}");
    }
}

#[test]
fn a_plan_is_agreed_to_once_or_sent_back() {
    let plan = Approval { kind: ApprovalKind::Plan, ..sample::asks("c", "ExitPlanMode", r##"{"plan":"# P"}"##, 1) };
    let mut model = waits([plan.clone()]);
    assert_eq!(press(&mut model, "! t A e y"), [allow(&plan, Scope::Once)]);
    let mut model = waits([plan]);
    assert_eq!(press(&mut model, "! d m o r e Enter"), [deny("c", "more")]);
}

#[test]
fn next_goes_through_what_waits() {
    let mut model = waits([sample::push("c")]);
    let mut other = sample::running("tk-2");
    other.state.approvals.push(sample::asks("old", "Bash", r#"{"command":"x"}"#, 500).into());
    model.tabs.push(other);
    press(&mut model, "!");
    assert_eq!(model.active, 0, "the ticket in front first");
    press(&mut model, "y");
    news(&mut model, Record::ApprovalVoid(Voided { id: QuestionId::first("c"), why: String::new() }));
    press(&mut model, "!");
    assert_eq!((model.active, card_is_open(&model)), (1, true));
    model.tabs[0].state.approvals.push(sample::push("third").into());
    assert_eq!((press(&mut model, "!"), model.active, model.modals.len()), (Vec::new(), 0, 1), "from card to card");
    assert_eq!((press(&mut model, "!"), model.active, model.modals.len()), (Vec::new(), 1, 1), "around");
}

#[test]
fn what_is_not_drawn_is_not_agreed_to() {
    let mut model = waits([sample::push("c")]);
    model.size = (40, 10);
    assert_eq!(press(&mut model, "! y t d n o Enter"), []);
    model.size = (80, 24);
    assert_eq!(press(&mut model, "y").len(), 1);
}

#[test]
fn a_conflict_that_was_seen_waits_no_more_and_a_dispute_takes_a_decision() {
    let mut model = sample::model();
    model.tabs.push(sample::paused("tk-1"));
    let phase = PhaseId(3);
    let command = |command| vec![Ask::Request(Request::Command(sample::id("tk-1"), command))];
    assert_eq!(press(&mut model, "! r"), command(UserCommand::RetryPhase { phase }));
    assert_eq!(press(&mut model, "! s"), command(UserCommand::SkipPhase { phase }));
    assert_eq!(press(&mut model, "! d Esc"), [], "a dispute is not just seen");
    model.tabs[0] = sample::finished("tk-1");
    model.tabs[0].state.phases[0].untickable = true;
    assert_eq!(model.waiting(), 1);
    assert_eq!(press(&mut model, "! d"), []);
    assert_eq!(model.waiting(), 0);
}

#[test]
fn a_command_on_a_card_has_its_colours_once_they_are_known() {
    let mut model = waits([sample::push("c")]);
    press(&mut model, "!");
    sample::draw(&mut model, (120, 40));
    let wanted = model.syntax.ask().unwrap_or_default();
    let [snippet] = &wanted[..] else { panic!("{wanted:?}") };
    assert_eq!((snippet.language.as_str(), snippet.text.split(' ').next()), ("sh", Some("git")));
    let theme = Theme::plain().marked(Role::SyntaxFunction, Modifier::BOLD);
    let is_coloured = |model: &mut Ui| {
        let screen = sample::drawn(model, (120, 40), &theme);
        let cells: Vec<_> = (0..screen.area.height)
            .flat_map(|y| (0..screen.area.width).map(move |x| (x, y)))
            .filter(|(x, y)| {
                let text: String = (0..5).filter_map(|by| Some(screen.cell((x + by, *y))?.symbol())).collect();
                text == "$ git"
            })
            .collect();
        let [(x, y)] = cells[..] else { panic!("the command stands there once: {cells:?}") };
        screen[(x + 2, y)].style().add_modifier.contains(Modifier::BOLD)
    };
    assert!(!is_coloured(&mut model));
    let spans = [Span { range: 0..3, kind: Kind::Function }].into();
    update(&mut model, Msg::Coloured(snippet.clone(), spans));
    assert!(is_coloured(&mut model));
}

#[test]
fn what_was_chosen_and_typed_is_there_when_the_person_comes_back_from_a_no() {
    let approval = asks_person(&serde_json::json!([question("Which?", true)]));
    let mut model = waits([approval.clone()]);
    press(&mut model, "! 1 3 d n o Esc d");
    assert!(sample::draw(&mut model, (120, 40)).contains("no"), "the words");
    press(&mut model, "! w Esc");
    let asks = press(&mut model, "Enter Enter");
    let [Ask::Request(Request::Command(_, UserCommand::AnswerApproval { answer, .. }))] = &asks[..] else {
        panic!("{asks:?}")
    };
    let Answer::Allow { input, .. } = answer else { panic!("{answer:?}") };
    assert!(input.contains(r#""Which?":"A, C""#), "{input}");
}

#[test]
fn what_has_ended_for_the_person_is_in_the_queue_though_nobody_works_on_it() {
    use crate::domain::summary::{RunState, RunSummary};
    let mut model = sample::model();
    let run = RunSummary {
        state: RunState::Ended,
        reason: Some("blocked".into()),
        needs: Some("Claude is blocked: no key".into()),
        ..sample::seen("tk-1", "/home/ann/shop")
    };
    model.folder = "/home/ann/shop".into();
    update(&mut model, Msg::News(News::RunSeen(run.into())));
    press(&mut model, "h");
    assert_eq!(model.waiting(), 0, "it asks nothing");
    press(&mut model, "a");
    let screen = sample::draw(&mut model, (120, 40));
    assert!(screen.contains("1 needs you") && screen.contains("Claude is blocked: no key"), "{screen}");
    press(&mut model, "Esc !");
    assert_eq!(model.home.cursor, Some(sample::id("tk-1")));
    assert!(toast(&model).starts_with("Enter opens tk-1: Claude is blocked"), "{}", toast(&model));
    let other = RunSummary { updated: sample::ago(10), ..sample::seen("tk-2", "/home/ann/shop") };
    let other = RunSummary { state: RunState::Ended, reason: Some("blocked".into()), needs: Some("x".into()), ..other };
    update(&mut model, Msg::News(News::RunSeen(other.into())));
    for ticket in ["tk-2", "tk-1", "tk-2"] {
        press(&mut model, "!");
        assert_eq!(model.home.cursor, Some(sample::id(ticket)), "one after the other");
    }
}

#[test]
fn a_tab_follows_a_later_run_of_its_ticket_that_another_program_has_ended() {
    use crate::domain::summary::{RunState, RunSummary};
    let mut model = sample::model();
    model.folder = "/home/ann/shop".into();
    model.tabs.push(sample::finished("tk-1"));
    let later = RunSummary {
        run: sample::run("another"),
        state: RunState::Ended,
        reason: Some("blocked".into()),
        needs: Some("no key".into()),
        started: sample::NOW,
        ..sample::seen("tk-1", "/home/ann/shop")
    };
    let asks = update(&mut model, Msg::News(News::RunSeen(later.clone().into())));
    assert!(asks.contains(&Ask::Request(Request::Show(later.run))), "{asks:?}");
    assert!(model.attention().iter().any(|item| item.what == What::Ended), "until it is shown it is in the queue");
}
