//! What a question looks like on the phone: words, buttons, and whether it can be answered with a yes there.

use super::kept::Asked;
use super::meaning::{ALLOW, DENY, FOR_RUN, OPTION, WORDS};
use crate::adapters::telegram::Button;
use crate::adapters::telegram::pairing::Detail;
use crate::base::text::clean_line;
use crate::cli::question::{Question, Shown};
use crate::cli::queue::Waiting;
use crate::domain::approval::{Approval, ApprovalKind};
use crate::domain::credentials::masked;

/// Most characters of a question that is answered with a yes from a message: more is not read on a phone.
const READABLE: usize = 1_500;
/// Most bytes of a file.
const FILE: usize = 200_000;
/// Columns of a title, of words about a question.
const LINE: usize = 200;
/// Most options that are buttons, and characters of one.
const OPTIONS: usize = 8;
const OPTION_WORDS: usize = 40;

/// A question as it is sent.
pub struct Message {
    pub text: String,
    /// The whole call, where it is too long for a message.
    pub file: Option<String>,
    pub buttons: Vec<Vec<Button>>,
    pub can_allow: bool,
}

/// What is sent about something that waits.
pub fn of(waiting: &Waiting, detail: Detail) -> Message {
    let head = format!("{} · {}", waiting.ticket, clean_line(&waiting.title, LINE));
    let only_told = |words: &str| Message {
        text: masked(&format!("{head}\n\n{words}")),
        file: None,
        buttons: Vec::new(),
        can_allow: false,
    };
    let Some(approval) = &waiting.approval else {
        let what =
            if detail == Detail::Full { clean_line(&waiting.words, LINE) } else { "It waits for you".to_owned() };
        return only_told(&format!("{what}.\nThe screen takes the answer: `programmator {}`", waiting.ticket));
    };
    if detail == Detail::Brief {
        let tool = clean_line(&approval.tool, 40);
        let what = match approval.kind {
            ApprovalKind::Question => "Claude has a question for you.".to_owned(),
            ApprovalKind::Plan => "Claude has a plan for you to approve.".to_owned(),
            ApprovalKind::Call | ApprovalKind::Passphrase => format!("Claude asks to use {tool}."),
        };
        let text = format!("{head}\n\n{what}\nWhat it is exactly stays on the machine: it can be denied here.");
        return Message { text, file: None, buttons: vec![denials()], can_allow: false };
    }
    let question = Question::of(approval.clone());
    match question.shown() {
        Shown::Denied(..) if approval.kind == ApprovalKind::Passphrase => only_told(&format!(
            "{} needs your passphrase, which only the screen takes.",
            clean_line(&approval.words(), LINE)
        )),
        // Too long to be shown anywhere but on the screen.
        Shown::Denied(..) => Message {
            text: masked(&format!(
                "{head}\n\n{}\nIt is too long for here: it can be denied.",
                clean_line(&approval.words(), LINE)
            )),
            file: Some(masked(&cut(&approval.input))),
            buttons: vec![denials()],
            can_allow: false,
        },
        Shown::Asked(text, _) => asked(&head, &masked(&text), approval, &question),
    }
}

fn asked(head: &str, text: &str, approval: &Approval, question: &Question) -> Message {
    let whole = format!("{head}\n\n{text}");
    if whole.chars().count() > READABLE {
        let words = masked(&clean_line(&approval.words(), LINE));
        return Message {
            text: format!(
                "{head}\n\n{words}\nAll of it is in the file. It is too long to be allowed from here: it can be denied."
            ),
            file: Some(cut(text)),
            buttons: vec![denials()],
            can_allow: false,
        };
    }
    let button = |words: &str, data: &str| (words.to_owned(), data.to_owned());
    let mut buttons = Vec::new();
    let mut hint = "";
    match approval.kind {
        ApprovalKind::Question if question.count() != 1 => {
            return Message {
                text: format!(
                    "{whole}\nThere are several questions: the screen or `programmator answer` takes the answers."
                ),
                file: None,
                buttons: vec![denials()],
                can_allow: false,
            };
        }
        ApprovalKind::Question => {
            let options = question.labels().take(OPTIONS).enumerate();
            buttons.extend(
                options.map(|(at, label)| vec![(clean_line(label, OPTION_WORDS), format!("{OPTION}{}", at + 1))]),
            );
            hint = "\nPress an option, or reply to this message with your own words.";
        }
        ApprovalKind::Plan => buttons.push(vec![button("✅ Approve", ALLOW)]),
        _ if approval.edited_from.is_none() => {
            buttons.push(vec![button("✅ Allow once", ALLOW), button("✅ For this run", FOR_RUN)]);
        }
        _ => buttons.push(vec![button("✅ Allow once", ALLOW)]),
    }
    buttons.push(denials());
    Message { text: format!("{whole}{hint}"), file: None, buttons, can_allow: true }
}

/// The buttons that say no.
pub fn denials() -> Vec<Button> {
    vec![("❌ Deny".to_owned(), DENY.to_owned()), ("✏ Deny, with words".to_owned(), WORDS.to_owned())]
}

/// The message once the question has come to its end.
pub fn ended(asked: &Asked, end: &str) -> String {
    let sign = if end.starts_with("allowed") || end.starts_with("answered") { "✅" } else { "▪" };
    format!("{}\n\n{sign} {end}", asked.text)
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(FILE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
