//! A call that is asked about again, since it was edited or its rules were changed; and how its passphrase is left.

use super::*;
use crate::domain::approval::EditRefused;
use crate::domain::request::Request;

#[test]
fn an_edit_is_judged_before_the_yes_and_the_card_says_how() {
    let mut model = waits([sample::push("c")]);
    let asks = press(&mut model, "! e x Ctrl-s");
    edit_is_judged(&mut model, &asks);
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(drawn.contains("--follow-tagsx") && drawn.contains("with its verdict"), "{drawn}");
    let edited = model.tabs[0].state.approvals[0].clone();
    assert_eq!(edited.id.revision, 1);
    let yes = Answer::Allow { input: edited.input.clone(), scope: Scope::Once };
    let command = UserCommand::AnswerApproval { id: edited.id.clone(), answer: yes };
    assert_eq!(press(&mut model, "y"), [Ask::Request(Request::Command(sample::id("tk-1"), command))]);
    // Nothing changed, nothing to judge.
    let mut model = waits([sample::push("c")]);
    assert_eq!(press(&mut model, "! e Ctrl-s"), []);
    assert_eq!(press(&mut model, "y"), [allow(&sample::push("c"), Scope::Once)]);
    // It may need the passphrase now.
    let mut model = waits([sample::push("c")]);
    press(&mut model, "! e x Ctrl-s");
    let asks = again(&mut model, Again::Edited, |call| call.kind = ApprovalKind::Passphrase);
    assert!(matches!(&asks[..], [Ask::Request(Request::LookUpPassphrase { id, .. })] if id.revision == 1), "{asks:?}");
    assert!(sample::draw(&mut model, (100, 30)).contains("y passphrase…"));
}

#[test]
fn a_question_that_is_asked_again_has_a_card_of_its_own_and_no_key_answers_it_unseen() {
    let stricter = |call: &mut Approval| call.rule = "stricter".into();
    // An answer on its way was one to the old question.
    let mut model = waits([sample::push("c")]);
    assert_eq!(press(&mut model, "! y").len(), 1);
    again(&mut model, Again::RulesChanged, stricter);
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(drawn.contains("the rules were changed before your answer arrived"), "{drawn}");
    assert_eq!(press(&mut model, "y"), [], "a key that was meant for the old card");
    assert!(sample::draw(&mut model, (100, 30)).contains("asked again"));
    let asks = press(&mut model, "y");
    let [Ask::Request(Request::Command(_, UserCommand::AnswerApproval { id, .. }))] = &asks[..] else {
        panic!("{asks:?}")
    };
    assert_eq!(id.revision, 1);
    // Who types goes on typing where they are; the new card comes when they leave.
    for typing in ["! d n", "! e", "! d y"] {
        let mut model = waits([sample::push("c")]);
        press(&mut model, typing);
        again(&mut model, Again::RulesChanged, stricter);
        let drawn = sample::draw(&mut model, (100, 30));
        assert!(drawn.contains("the rules were changed"), "{typing}: {drawn}");
        assert_eq!(press(&mut model, "y t q Enter"), [], "{typing}");
        press(&mut model, "Esc");
        let drawn = sample::draw(&mut model, (100, 30));
        assert!(card_is_open(&model) && drawn.contains("rule stricter"), "{typing}: {drawn}");
    }
    // And what they had typed is still there.
    let mut model = waits([sample::push("c")]);
    press(&mut model, "! d n o t");
    again(&mut model, Again::RulesUnusable, stricter);
    let asks = press(&mut model, "x Esc d Enter");
    let [Ask::Request(Request::Command(_, UserCommand::AnswerApproval { id, answer: Answer::Deny { words } }))] =
        &asks[..]
    else {
        panic!("{asks:?}")
    };
    assert_eq!((id.revision, words.as_str()), (1, "not"));
    // News of an old try says nothing about the new question.
    let mut model = waits([Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") }]);
    press(&mut model, "! y h Enter");
    let asks = again(&mut model, Again::RulesChanged, stricter);
    assert_eq!(asks.len(), 1, "how the passphrase stands: {asks:?}");
    checked(&mut model, Checked::Failed("of the old card".into()));
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(!drawn.contains("of the old card") && drawn.contains("was not applied"), "{drawn}");
}

#[test]
fn a_passphrase_that_is_being_checked_holds_nobody() {
    for key in ["Esc", "Ctrl-c"] {
        let mut model = waits([Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") }]);
        press(&mut model, "! y h Enter");
        assert!(sample::draw(&mut model, (100, 30)).contains("Esc close"), "{key}");
        assert_eq!(press(&mut model, key), []);
        assert!(!card_is_open(&model) && model.waiting() == 1, "{key}");
        // What comes of it finds no card, and the call still waits for whoever looks again.
        assert_eq!(checked(&mut model, Checked::Wrong { failures: 1, wait: Duration::ZERO }), []);
        press(&mut model, "!");
        assert!(card_is_open(&model), "{key}");
    }
}

#[test]
fn an_edit_that_may_not_run_goes_back_to_what_was_typed_with_the_reason() {
    let refused = |id: &str| {
        Record::EditRefused(EditRefused { id: QuestionId::first(id), why: "rm-blocks: it removes files".into() })
    };
    let mut model = waits([sample::push("c"), sample::push("other")]);
    let asked = press(&mut model, "! e x Ctrl-s");
    assert_eq!(asked.len(), 1);
    assert_eq!(press(&mut model, "y"), [], "it is not judged yet");
    for other in
        [refused("other"), Record::EditRefused(EditRefused { id: QuestionId::first("c").next(), why: "w".into() })]
    {
        news(&mut model, other);
        assert!(sample::draw(&mut model, (80, 24)).contains("checking"));
    }
    news(&mut model, refused("c"));
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("rm-blocks: it removes files") && drawn.contains("save, then y"), "{drawn}");
    assert!(model.toast.is_none() && model.waiting() == 2);
    assert_eq!(press(&mut model, "Ctrl-s"), asked, "nothing of it was lost");
    news(&mut model, refused("c"));
    assert_eq!(press(&mut model, "y Ctrl-s").len(), 1, "it can be typed on");
}

#[test]
fn an_answer_to_claudes_question_that_may_not_be_given_can_be_chosen_again() {
    let mut model = waits([asks_person(&serde_json::json!([question("Which?", false)]))]);
    let asked = press(&mut model, "! Enter");
    assert_eq!(asked.len(), 1, "{asked:?}");
    news(&mut model, Record::EditRefused(EditRefused { id: QuestionId::first("c"), why: "it is locked".into() }));
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("it is locked"), "{drawn}");
    assert_eq!(press(&mut model, "Enter"), asked);
}

#[test]
fn while_the_rules_cannot_be_used_a_call_can_only_be_denied() {
    for kind in [ApprovalKind::Call, ApprovalKind::Passphrase, ApprovalKind::Plan] {
        let mut model = waits([sample::push("c")]);
        press(&mut model, "!");
        again(&mut model, Again::RulesUnusable, |call| {
            call.kind = kind;
            call.reason = "policy.yaml:2:1: no such key".into();
        });
        assert_eq!(press(&mut model, "y y t T A y e y Enter"), [], "{kind:?}");
        let drawn = sample::draw(&mut model, (100, 30));
        assert!(drawn.contains("policy.yaml:2:1") && drawn.contains("can only be denied"), "{drawn}");
        for key in ["allow once", "passphrase…", "approve", "allow for this run", "always…", "e edit"] {
            assert!(!drawn.contains(key), "{kind:?} {key}: {drawn}");
        }
        let asks = press(&mut model, "d Enter");
        let [Ask::Request(Request::Command(_, UserCommand::AnswerApproval { answer: Answer::Deny { .. }, .. }))] =
            &asks[..]
        else {
            panic!("{asks:?}")
        };
    }
}
