//! What each key on a card does, and what it never does.

mod again;
mod asked;
mod lost;
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
    let mut asks = Vec::new();
    for key in keys.split(' ') {
        sample::settle(model, key);
        asks.extend(update(model, Msg::Key(sample::key(key))));
    }
    // What the screen asks for by itself.
    asks.retain(|ask| !matches!(ask, Ask::Request(Request::Changes(..))));
    asks
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
fn a_yes_in_the_moment_in_which_a_card_appears_is_not_taken() {
    let mut model = waits([sample::push("c")]);
    let key = |model: &mut Ui, key: &str| update(model, Msg::Key(sample::key(key)));
    key(&mut model, "!");
    sample::draw(&mut model, (120, 40));
    for yes in ["y", "t", "A"] {
        assert_eq!(key(&mut model, yes), [], "{yes}");
        assert!(sample::draw(&mut model, (120, 40)).contains("press again"), "{yes}");
    }
    model.now = sample::NOW.plus(std::time::Duration::from_millis(299));
    assert_eq!(key(&mut model, "y"), []);
    model.now = sample::NOW.plus(std::time::Duration::from_millis(300));
    assert_eq!(key(&mut model, "y").len(), 1);
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
            let after = model.now.plus(wait);
            update(&mut model, Msg::Tick(after));
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
    assert!(drawn.contains("choose first"), "{drawn}");
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
    assert!(sample::draw(&mut model, (80, 24)).contains("can't be verified"));
    let mut model = waits([sample::push("c")]);
    press(&mut model, "!");
    assert!(!sample::draw(&mut model, (80, 24)).contains("can't be verified"));
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
fn a_rule_is_saved_only_when_its_end_was_seen() {
    let mut model = waits([sample::push("c")]);
    sample::draw(&mut model, (60, 15));
    press(&mut model, "! Space Space A");
    assert!(!sample::draw(&mut model, (60, 15)).contains("cwd"), "its end does not fit");
    assert_eq!(press(&mut model, "y"), []);
    assert_eq!(press(&mut model, "Space Space Space y").len(), 1);
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
fn after_a_conflict_the_card_lets_claude_resolve_it_or_opens_a_shell_as_the_tickets_own_does() {
    let conflict = || {
        let mut ui = sample::model();
        let mut tab = sample::guarded("tk-1");
        let reason = crate::domain::outcome::ExitReason::MergeFailed;
        tab.state.ended =
            Some(crate::orchestrator::state::Ended { reason, detail: "it conflicts".into(), is_left: false });
        tab.state.workspace =
            std::mem::take(&mut tab.state.workspace).in_worktree(Some(crate::domain::worktree::Worktree {
                directory: "/trees/tk-1".into(),
                ..Default::default()
            }));
        let failed = crate::domain::merge::MergeSettled::conflict("main", "tk-1", vec!["a.rs".into()]);
        tab.state.merge_failed = Some(failed.into());
        ui.tabs.push(tab);
        ui
    };
    let mut ui = conflict();
    press(&mut ui, "!");
    let screen = sample::draw(&mut ui, (120, 40));
    let card = screen.lines().find(|line| line.contains("Claude resolves")).unwrap_or_else(|| panic!("{screen}"));
    assert!(card.contains("M Claude resolves") && card.contains("W shell there"), "{card}");
    assert_eq!(press(&mut ui, "W"), [Ask::Shell("/trees/tk-1".into())]);
    let mut ui = conflict();
    assert_eq!(press(&mut ui, "! M"), []);
    assert!(sample::draw(&mut ui, (120, 40)).contains("Let Claude resolve the conflicts of tk-1"));
    assert_eq!(press(&mut ui, "y"), [Ask::Request(Request::Resolve(sample::id("tk-1")))]);
    // A merge that failed for another reason has nothing to resolve.
    let mut ui = conflict();
    std::sync::Arc::make_mut(ui.tabs[0].state.merge_failed.as_mut().unwrap()).files.clear();
    assert_eq!(press(&mut ui, "! M"), []);
    assert!(!sample::draw(&mut ui, (120, 40)).contains("Let Claude resolve"));
}
