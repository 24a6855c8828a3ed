//! What each key on a card does, and what it never does.

mod again;
mod asked;
mod passphrase;
use super::*;
use crate::base::secret::Secret;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Again, Answered, AnsweredBy, Approval, Scope, Voided};
use crate::domain::news::{News, StorageAwaited};
use crate::domain::record::Record;
use crate::domain::request::{Reply, Request};
use crate::domain::verdict::Verdict;
use crate::tui::msg::Msg;
use crate::tui::sample;
use crate::tui::update::update;
use std::sync::Arc;
use std::time::Duration;

fn waits(approvals: impl IntoIterator<Item = Approval>) -> Ui {
    let mut model = sample::model();
    let mut tab = sample::running("tk-1");
    tab.state.approvals.extend(approvals.into_iter().map(Into::into));
    model.tabs.push(tab);
    model
}

fn press(model: &mut Ui, keys: &str) -> Vec<Ask> {
    keys.split(' ').flat_map(|key| update(model, Msg::Key(sample::key(key)))).collect()
}

fn answer(id: &str, answer: Answer) -> Ask {
    Ask::Request(Request::Command(
        sample::id("tk-1"),
        UserCommand::AnswerApproval { id: QuestionId::first(id), answer },
    ))
}

fn allow(approval: &Approval, scope: Scope) -> Ask {
    answer(&approval.id.call, Answer::Allow { input: approval.input.clone(), scope })
}

fn deny(id: &str, words: &str) -> Ask {
    answer(id, Answer::Deny { words: words.into() })
}

fn asks_person(questions: &serde_json::Value) -> Approval {
    let input = serde_json::json!({ "questions": questions, "metadata": {"source": "x"} }).to_string();
    Approval { kind: ApprovalKind::Question, ..sample::asks("c", "AskUserQuestion", &input, 1) }
}

fn question(text: &str, several: bool) -> serde_json::Value {
    serde_json::json!({"question": text, "header": "H", "multiSelect": several,
        "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}, {"label": "C"}]})
}

fn news(model: &mut Ui, record: Record) -> Vec<Ask> {
    let seq = model.tabs[0].state.seq + 1;
    update(model, Msg::News(News::Recorded(Arc::new(sample::stored("tk-1", seq, record)))))
}

fn checked(model: &mut Ui, checked: Checked) -> Vec<Ask> {
    update(model, Msg::Replied(Reply::Passphrase { ticket: sample::id("tk-1"), id: QuestionId::first("c"), checked }))
}

fn answered_with(model: &mut Ui, answer: Answer) {
    let answered = Answered { id: QuestionId::first("c"), answer, by: AnsweredBy::Person(Answerer::SCREEN) };
    news(model, Record::ApprovalAnswered(answered));
}

/// The same call, asked about again.
fn again(model: &mut Ui, why: Again, change: impl FnOnce(&mut Approval)) -> Vec<Ask> {
    let old = model.tabs[0].state.approvals[0].clone();
    let mut new = Approval { id: old.id.next(), again: Some(why), ..(*old).clone() };
    change(&mut new);
    news(model, Record::ApprovalAsked(new))
}

/// What the run makes of an edit that its rules do not block.
fn edit_is_judged(model: &mut Ui, asks: &[Ask]) {
    let [Ask::Request(Request::Command(_, UserCommand::EditCall { input, .. }))] = asks else { panic!("{asks:?}") };
    again(model, Again::Edited, |call| {
        call.edited_from = Some(std::mem::replace(&mut call.input, input.clone()));
    });
}

fn toast(model: &Ui) -> &str {
    model.toast.as_ref().map_or("", |(words, _)| words)
}

fn card_is_open(model: &Ui) -> bool {
    model.modals.iter().any(|modal| matches!(modal, Modal::Card(_)))
}

#[test]
fn yes_once_for_the_ticket_and_no_with_words() {
    let push = sample::push("c");
    for (keys, expected) in [
        ("! y", allow(&push, Scope::Once)),
        ("! t", allow(&push, Scope::Ticket)),
        ("! T T t", allow(&push, Scope::Ticket)),
        ("! d n o Enter", deny("c", "no")),
        ("! d Enter", deny("c", "The user declined this call.")),
        ("a Enter y", allow(&push, Scope::Once)),
    ] {
        let mut model = waits([push.clone()]);
        assert_eq!(press(&mut model, keys), std::slice::from_ref(&expected), "{keys}");
        let Ask::Request(Request::Command(_, UserCommand::AnswerApproval { answer, .. })) = expected else {
            panic!("{keys}")
        };
        assert!(card_is_open(&model) && model.toast.is_none(), "{keys}: nothing is recorded yet");
        assert_eq!(press(&mut model, "y p"), [], "{keys}: not twice");
        answered_with(&mut model, answer);
        assert!(!card_is_open(&model), "{keys}");
        assert!(toast(&model).contains("git push"), "{keys}: {}", toast(&model));
    }
}

#[test]
fn a_kind_is_allowed_where_the_card_names_one_and_the_call_is_as_it_was() {
    let units = vec![sample::unit_of_kind("make x", "w", "`make x`, any of them")];
    let named = Approval { units, ..sample::asks("c", "Bash", r#"{"command":"make x"}"#, 1) };
    assert_eq!(press(&mut waits([named.clone()]), "! T"), [allow(&named, Scope::Kind)]);
    let mut edited = waits([named]);
    press(&mut edited, "! e x Ctrl-s");
    assert_eq!(press(&mut edited, "T"), [], "an edited call is of no kind");
}

#[test]
fn an_answer_is_told_of_when_it_is_recorded_and_as_it_was_recorded() {
    let push = sample::push("c");
    let edited = push.input.replace("git push", "git pull");
    let mut model = waits([push.clone(), sample::push("other")]);
    press(&mut model, "! y");
    answered_with(&mut model, Answer::Allow { input: edited, scope: Scope::Once });
    assert!(toast(&model).starts_with("allowed: Bash git pull"), "{}", toast(&model));
    assert!(toast(&model).contains("1 more waiting"), "{}", toast(&model));
    // Left before it was recorded: it is told of all the same.
    let mut model = waits([push]);
    press(&mut model, "! y Esc");
    assert!(model.modals.is_empty());
    answered_with(&mut model, Answer::Deny { words: "x".into() });
    assert!(toast(&model).starts_with("denied: Bash git push"), "{}", toast(&model));
}

#[test]
fn what_is_typed_blind_is_never_a_command() {
    let locked = Checked::Locked { failures: 5, wait: Duration::from_secs(2) };
    let wrong = Checked::Wrong { failures: 5, wait: Duration::from_secs(2) };
    for outcome in [wrong, locked, Checked::Unset, Checked::Failed("no file".into())] {
        let mut model = waits([Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") }]);
        press(&mut model, "!");
        checked(&mut model, Checked::Ready);
        press(&mut model, "y h");
        assert_eq!(press(&mut model, "Enter").len(), 1);
        assert_eq!(press(&mut model, "d e ! q Enter"), [], "while it is checked");
        let wait = match &outcome {
            Checked::Wrong { wait, .. } | Checked::Locked { wait, .. } => *wait,
            _ => Duration::ZERO,
        };
        checked(&mut model, outcome.clone());
        let drawn = sample::draw(&mut model, (80, 24));
        assert!(drawn.contains("passphrase  ••••"), "what was typed meanwhile is masked: {outcome:?}\n{drawn}");
        update(&mut model, Msg::Paste("horse".into()));
        assert_eq!(press(&mut model, "d e ! q y"), []);
        let drawn = sample::draw(&mut model, (80, 24));
        assert!(!drawn.contains("horse") && !drawn.contains("Why not") && drawn.contains("passphrase  •••"), "{drawn}");
        if wait.is_zero() {
            press(&mut model, "Esc");
            assert!(sample::draw(&mut model, (80, 24)).contains("Esc later"));
        } else {
            assert!(drawn.contains("Wait 2 s."), "{drawn}");
            assert_eq!(press(&mut model, "Enter"), [], "not before the time");
            update(&mut model, Msg::Tick(sample::NOW.plus(wait)));
            assert!(!sample::draw(&mut model, (80, 24)).contains("Wait"));
            assert_eq!(press(&mut model, "Enter").len(), 1);
        }
    }
    // The right one lets the call run while the person types on.
    for recorded_first in [true, false] {
        let call = Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") };
        let yes = Answer::Allow { input: call.input.clone(), scope: Scope::Once };
        let mut model = waits([call]);
        press(&mut model, "! y h Enter q x");
        if recorded_first {
            answered_with(&mut model, yes);
            checked(&mut model, Checked::Right);
        } else {
            checked(&mut model, Checked::Right);
            answered_with(&mut model, yes);
        }
        assert_eq!(press(&mut model, "q x s P"), []);
        assert!(card_is_open(&model), "keys go nowhere else");
        press(&mut model, "Esc");
        assert!(model.modals.is_empty());
    }
}

#[test]
fn nothing_is_answered_that_was_not_chosen_and_every_line_can_be_reached() {
    let many = serde_json::json!([question("And?", true)]);
    let mut model = waits([asks_person(&many)]);
    assert_eq!(press(&mut model, "! j Enter"), []);
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("Space chooses first"), "{drawn}");
    assert_eq!(press(&mut model, "Space Enter").len(), 1);
    for end in ["G", "End"] {
        let mut model = waits([asks_person(&serde_json::json!([question("Which?", false)]))]);
        press(&mut model, "!");
        assert!(sample::draw(&mut model, (80, 24)).contains("↑ ↓ 1-3"));
        press(&mut model, &format!("{end} Enter"));
        assert!(sample::draw(&mut model, (80, 24)).contains("your own answer"), "{end}");
        press(&mut model, "Esc g Enter");
        assert!(!sample::draw(&mut model, (80, 24)).contains("your own answer"), "{end}");
    }
}

#[test]
fn where_something_is_not_offered_or_not_there_a_word_says_so() {
    let mut model = waits([Approval { provable: false, ..sample::push("c") }]);
    press(&mut model, "!");
    assert!(sample::draw(&mut model, (80, 24)).contains("decided one by one"));
    let mut model = waits([sample::push("c")]);
    press(&mut model, "!");
    assert!(!sample::draw(&mut model, (80, 24)).contains("decided one by one"));
    let mut model = waits([]);
    assert_eq!(press(&mut model, "!"), []);
    assert_eq!(toast(&model), "nothing is waiting for you");
}

#[test]
fn leaving_a_card_never_answers() {
    for keys in ["! Esc", "! q", "! d Esc Esc", "! e Esc Esc", "! A Esc Esc", "! A n Esc", "! Enter Esc", "! Ctrl-c"] {
        let mut model = waits([sample::push("c")]);
        assert_eq!(press(&mut model, keys), [], "{keys}");
        assert!(!card_is_open(&model), "{keys}");
        assert_eq!(model.waiting(), 1, "{keys}");
    }
}

#[test]
fn what_is_typed_on_is_no_key_when_the_call_is_withdrawn() {
    for typing in ["! d n", "! e"] {
        let mut model = waits([sample::push("c")]);
        press(&mut model, typing);
        news(
            &mut model,
            Record::ApprovalVoid(Voided { id: QuestionId::first("c"), why: "the turn was interrupted".into() }),
        );
        let drawn = sample::draw(&mut model, (80, 24));
        assert!(drawn.contains("no answer needed: the turn was interrupted"), "{drawn}");
        assert_eq!(press(&mut model, "x y p q Enter"), [], "{typing}");
        press(&mut model, "Esc");
        assert!(model.modals.is_empty(), "{typing}");
    }
    let mut model = waits([sample::push("c")]);
    press(&mut model, "!");
    news(&mut model, Record::ApprovalVoid(Voided { id: QuestionId::first("c"), why: "x".into() }));
    assert!(model.modals.is_empty(), "nothing was being typed");
}

#[test]
fn the_keys_fit_and_a_yes_that_comes_too_early_is_answered() {
    let words = (0..400).map(|n| format!("--word{n}")).collect::<Vec<_>>().join(" ");
    let input = serde_json::json!({ "command": format!("git push {words}") }).to_string();
    let units = vec![sample::unit(&format!("git push {words}"), Verdict::Ask, "pushes-ask", "publishes")];
    let mut model = waits([Approval { input, units, ..sample::push("c") }]);
    press(&mut model, "!");
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("A always…") && drawn.contains("Esc later"), "{drawn}");
    assert_eq!(press(&mut model, "y"), []);
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("Space first") && drawn.contains("Esc later"), "{drawn}");
}

#[test]
fn pasted_text_is_no_key() {
    let mut model = waits([sample::push("c")]);
    press(&mut model, "!");
    assert_eq!(update(&mut model, Msg::Paste("yyy".into())), []);
    assert!(card_is_open(&model));
}

#[test]
fn a_rule_is_shown_before_it_is_saved_and_the_call_runs_only_then() {
    let push = sample::push("c");
    let mut model = waits([push.clone()]);
    assert_eq!(press(&mut model, "! A"), []);
    let drawn = sample::draw(&mut model, (120, 40));
    let asks = press(&mut model, "y");
    let [Ask::Request(Request::SaveRule { rules, before, .. })] = &asks[..] else { panic!("{asks:?}") };
    assert_eq!(before, "pushes-ask");
    for line in rules.lines() {
        assert!(drawn.contains(line), "{line} was not shown");
    }
    assert_eq!(press(&mut model, "y"), [], "not twice");
    let saved =
        |saved| Msg::Replied(Reply::RuleSaved { ticket: sample::id("tk-1"), id: QuestionId::first("c"), saved });
    assert_eq!(update(&mut model, saved(Err("no room".into()))), []);
    assert!(card_is_open(&model), "it goes on waiting");
    assert!(sample::draw(&mut model, (80, 24)).contains("The rule was not saved: no room"));
    press(&mut model, "A y");
    assert_eq!(update(&mut model, saved(Ok("policy.yaml".into()))), [allow(&push, Scope::Always)]);
}

#[test]
fn no_rule_of_what_could_not_be_proven_or_was_edited() {
    let unproven = Approval { provable: false, ..sample::push("c") };
    let mut model = waits([unproven]);
    assert_eq!(press(&mut model, "! A y").len(), 1, "A is no page; y answers");
    let mut model = waits([sample::push("c")]);
    let asks = press(&mut model, "! e x Ctrl-s");
    edit_is_judged(&mut model, &asks);
    assert_eq!(press(&mut model, "t A"), []);
}

#[test]
fn an_edit_that_is_no_input_stays_open() {
    let call = sample::asks("c", "Write", r#"{"file_path":"a","content":"b"}"#, 1);
    let mut model = waits([call]);
    assert_eq!(press(&mut model, "! e x Ctrl-s"), []);
    assert!(sample::draw(&mut model, (80, 24)).contains("not JSON"));
    press(&mut model, "Backspace Ctrl-s");
    assert_eq!(press(&mut model, "y").len(), 1);
}

#[test]
fn a_withdrawn_call_takes_its_card_along_and_says_so() {
    for (record, note) in [
        (Record::ApprovalVoid(Voided { id: QuestionId::first("c"), why: "interrupted".into() }), "interrupted"),
        (
            Record::ApprovalAnswered(Answered {
                id: QuestionId::first("c"),
                answer: Answer::Deny { words: "x".into() },
                by: AnsweredBy::Timeout,
            }),
            "answered",
        ),
    ] {
        let mut model = waits([sample::push("c"), sample::push("other")]);
        press(&mut model, "!");
        news(&mut model, record);
        assert!(!card_is_open(&model));
        assert!(model.toast.as_ref().is_some_and(|(words, _)| words.contains(note)), "{:?}", model.toast);
        assert_eq!(model.waiting(), 1);
    }
    // Another one's end leaves the card alone.
    let mut model = waits([sample::push("c"), sample::push("other")]);
    press(&mut model, "!");
    news(&mut model, Record::ApprovalVoid(Voided { id: QuestionId::first("other"), why: "x".into() }));
    assert!(card_is_open(&model));
}

#[test]
fn an_answer_that_another_front_end_gave_first_is_told_of() {
    let mut model = waits([sample::push("c")]);
    assert_eq!(press(&mut model, "! y").len(), 1);
    let (answer, by) = (Answer::Deny { words: "no".into() }, AnsweredBy::Person(Answerer::COMMAND_LINE));
    news(&mut model, Record::ApprovalAnswered(Answered { id: QuestionId::first("c"), answer, by }));
    assert_eq!((card_is_open(&model), toast(&model)), (false, "answered by you (command line)"));
}

#[test]
fn a_run_that_is_opened_again_repeats_no_old_answer() {
    let mut model = waits([sample::push("c")]);
    model.tabs[0].failure = Some("left".into());
    let answered = Answered {
        id: QuestionId::first("c"),
        answer: Answer::Deny { words: "no".into() },
        by: AnsweredBy::Person(Answerer::SCREEN),
    };
    let records = [Record::ApprovalAsked(sample::push("c")), Record::ApprovalAnswered(answered)];
    let records: Vec<_> = (1..).zip(records).map(|(seq, record)| sample::stored("tk-1", seq, record).into()).collect();
    let ticket = model.tabs[0].id.clone();
    let run = sample::stored("tk-1", 1, Record::Paused).run;
    let opened = News::RunOpened { ticket, run, earlier: 0, records };
    update(&mut model, Msg::News(opened));
    assert_eq!(toast(&model), "");
}

#[test]
fn a_run_that_is_read_again_leaves_what_the_person_has_begun() {
    let mut model = sample::model();
    let void = |id: &str| Record::ApprovalVoid(Voided { id: QuestionId::first(id), why: "interrupted".into() });
    let asked = |id: &str| Record::ApprovalAsked(sample::push(id));
    let (ticket, run) = (sample::id("tk-1"), sample::run("tk-1"));
    let read = |model: &mut Ui, all: &[Record]| {
        let stored = (1..).zip(all).map(|(seq, record)| sample::stored("tk-1", seq, record.clone()).into());
        let (ticket, records) = (ticket.clone(), stored.collect());
        update(model, Msg::News(News::RunOpened { ticket, run, earlier: 0, records }));
    };
    let mut all = vec![asked("old"), void("old"), asked("c")];
    read(&mut model, &all);
    press(&mut model, "! d n o");
    all.extend([asked("later"), void("later")]);
    read(&mut model, &all);
    assert_eq!(press(&mut model, "Enter"), [deny("c", "no")], "the card and its words are still there");
    let (why, until) = ("the disk is full".into(), sample::NOW.plus(Duration::from_secs(60)));
    let full = StorageAwaited { run, ticket: ticket.clone(), why, since: sample::NOW, until };
    update(&mut model, Msg::News(News::StorageAwaited(full)));
    read(&mut model, &all);
    assert!(model.tabs[0].storage.is_some() && model.waiting() == 0, "nothing was stored since");
    all.push(void("c"));
    read(&mut model, &all);
    assert!(!card_is_open(&model) && model.tabs[0].storage.is_none());
    assert_eq!(toast(&model), "your answer was not recorded: interrupted");
}

#[test]
fn what_could_not_be_sent_can_be_given_again() {
    for keys in ["y", "d n o Enter", "e x Ctrl-s"] {
        let mut model = waits([sample::push("c")]);
        press(&mut model, "!");
        let asks = press(&mut model, keys);
        let [Ask::Request(request)] = &asks[..] else { panic!("{asks:?}") };
        update(&mut model, Msg::NotAsked(Box::new(request.clone())));
        assert_eq!(model.tabs[0].unstored_words(), None, "{keys}");
        let drawn = sample::draw(&mut model, (100, 30));
        assert!(drawn.contains("was not sent"), "{keys}: {drawn}");
        let last = keys.rsplit(' ').next().unwrap();
        assert_eq!(press(&mut model, last), std::slice::from_ref(&asks[0]), "{keys}");
    }
    let mut model = waits([Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") }]);
    press(&mut model, "!");
    checked(&mut model, Checked::Ready);
    let asks = press(&mut model, "y p w Enter");
    let [Ask::Request(request @ Request::TryPassphrase { .. })] = &asks[..] else { panic!("{asks:?}") };
    update(&mut model, Msg::NotAsked(Box::new(request.clone())));
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(drawn.contains("not sent"), "{drawn}");
}
