//! A card whose call needs the passphrase.

use super::*;
use crate::domain::request::Request;

#[test]
fn a_passphrase_is_typed_blind_and_once_sent_not_called_back() {
    let call = Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") };
    let mut model = waits([call.clone()]);
    let look = Ask::Request(Request::LookUpPassphrase { ticket: sample::id("tk-1"), id: QuestionId::first("c") });
    assert_eq!(press(&mut model, "!"), [look]);
    assert_eq!(checked(&mut model, Checked::Ready), []);
    assert_eq!(press(&mut model, "t A"), [], "never for longer");
    press(&mut model, "y");
    update(&mut model, Msg::Paste("correct horse".into()));
    press(&mut model, "x Backspace");
    assert!(!sample::draw(&mut model, (80, 24)).contains("correct"));
    let secret = Secret::of("correct horse");
    let asked = Ask::Request(Request::TryPassphrase { ticket: sample::id("tk-1"), id: QuestionId::first("c"), secret });
    assert_eq!(format!("{asked:?}").matches("correct").count(), 0);
    assert_eq!(press(&mut model, "Enter"), [asked]);
    assert_eq!(checked(&mut model, Checked::Wrong { failures: 1, wait: Duration::ZERO }), []);
    press(&mut model, "x Enter");
    assert_eq!(press(&mut model, "y x"), [], "it is on its way");
    assert!(card_is_open(&model));
    press(&mut model, "Backspace Backspace");
    assert_eq!(checked(&mut model, Checked::Right), [], "whoever checked it has let the call run");
    answered_with(&mut model, Answer::Allow { input: call.input, scope: Scope::Once });
    assert!(!card_is_open(&model));
}

#[test]
fn without_a_passphrase_the_card_is_a_block() {
    let call = Approval { kind: ApprovalKind::Passphrase, ..sample::push("c") };
    let mut model = waits([call]);
    press(&mut model, "!");
    checked(&mut model, Checked::Unset);
    assert!(sample::draw(&mut model, (80, 24)).contains("programmator passphrase set"));
    assert_eq!(press(&mut model, "y x Enter"), []);
    assert!(checked(&mut model, Checked::Right).is_empty());
}
