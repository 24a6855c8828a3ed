//! A call that is asked about again, since it was edited or its rules were changed; and how its passphrase is left.

use super::*;

#[test]
fn an_edit_is_judged_before_the_yes_and_the_card_says_how() {
    let mut model = waits([sample::push("c")]);
    let asks = press(&mut model, "! e x Ctrl-s");
    edit_is_judged(&mut model, &asks);
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(drawn.contains("--follow-tagsx") && drawn.contains("what the policy says of it"), "{drawn}");
    let edited = model.tabs[0].state.approvals[0].clone();
    assert_eq!(edited.id.revision, 1);
    let yes = Answer::Allow { input: edited.input.clone(), scope: Scope::Once };
    let command = UserCommand::AnswerApproval { id: edited.id.clone(), answer: yes };
    assert_eq!(press(&mut model, "y"), [Ask::Command(sample::id("tk-1"), command)]);
    // Nothing changed, nothing to judge.
    let mut model = waits([sample::push("c")]);
    assert_eq!(press(&mut model, "! e Ctrl-s"), []);
    assert_eq!(press(&mut model, "y"), [allow(&sample::push("c"), Scope::Once)]);
    // It may need the passphrase now.
    let mut model = waits([sample::push("c")]);
    press(&mut model, "! e x Ctrl-s");
    let asks = again(&mut model, Again::Edited, |call| call.kind = ApprovalKind::Passphrase);
    assert!(matches!(&asks[..], [Ask::LookUpPassphrase { id, .. }] if id.revision == 1), "{asks:?}");
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
    assert!(drawn.contains("the rules were changed before your answer came"), "{drawn}");
    assert_eq!(press(&mut model, "y"), [], "a key that was meant for the old card");
    assert!(sample::draw(&mut model, (100, 30)).contains("asked anew"));
    let asks = press(&mut model, "y");
    let [Ask::Command(_, UserCommand::AnswerApproval { id, .. })] = &asks[..] else { panic!("{asks:?}") };
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
    // News of an old try says nothing about the new question.
    let mut model = waits([Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") }]);
    press(&mut model, "! y h Enter");
    let asks = again(&mut model, Again::RulesChanged, stricter);
    assert_eq!(asks.len(), 1, "how the passphrase stands: {asks:?}");
    checked(&mut model, Checked::Failed("of the old card".into()));
    let drawn = sample::draw(&mut model, (100, 30));
    assert!(!drawn.contains("of the old card") && drawn.contains("did not count"), "{drawn}");
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
