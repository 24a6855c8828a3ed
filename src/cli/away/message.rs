//! What a question looks like on the phone: words, buttons, and whether it can be answered with a yes there.

use super::kept::{Asked, Over};
use super::meaning::{ALL, ALLOW, DENY, FOR_RUN, OPTION, WORDS};
use crate::adapters::telegram::Button;
use crate::adapters::telegram::pairing::Detail;
use crate::base::text::{beginning, clean_line};
use crate::cli::decision::Decision;
use crate::cli::question::{Question, Shown};
use crate::cli::queue::{Subject, Waiting};
use crate::domain::approval::ApprovalKind;
use crate::domain::credentials::masked;
use crate::domain::stream::transcript::Speaker;

/// Most characters of a question that is answered with a yes from a message: more is not read on a phone.
const READABLE: usize = 1_500;
/// Most bytes of a file.
const FILE: usize = 200_000;
/// Columns of a title, of words about a question.
const LINE: usize = 200;
/// Most options that are buttons, and characters of one.
const OPTIONS: usize = 8;
const OPTION_WORDS: usize = 40;
/// Characters of Claude's last words.
const SAID: usize = 500;
/// What a reply means that is neither yes nor no.
const OTHER_WORDS: &str = "\n\nAny reply other than yes or no denies it, with your text as the reason for Claude.";
/// The same of a Claude session of the person's own.
const OTHER_WORDS_OF_OWN: &str =
    "\n\nNo ends Claude's turn. Any reply other than yes or no denies it, with your text as the reason for Claude.";

/// A question as it is sent.
pub struct Message {
    pub text: String,
    /// How it is answered, behind the text: of no use once it is.
    pub hint: &'static str,
    /// The whole call, where it is too long for a message.
    pub file: Option<String>,
    pub buttons: Vec<Vec<Button>>,
    pub can_allow: bool,
}

/// What is known of it beside the question.
#[derive(Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Claude's last words; where there are none, those of the person.
    pub said: Option<(Speaker, &'a str)>,
    /// The terminal of a Claude session of the person's own.
    pub terminal: Option<&'a str>,
}

/// What is sent about something that waits. `bulk`: tools whose calls can be allowed all at once.
pub fn of(waiting: &Waiting, detail: Detail, bulk: &[String], Beside { said, terminal }: Beside<'_>) -> Message {
    let title = clean_line(&waiting.title, LINE);
    let phase =
        waiting.summary.phase.as_deref().map_or_else(String::new, |phase| format!(" · {}", clean_line(phase, LINE)));
    // In brief a terminal stays on the machine, too.
    let terminal = terminal.filter(|_| detail == Detail::Full).map_or_else(String::new, |place| format!(" · {place}"));
    let place = format!("{title}{phase}{terminal}");
    let approval = match &waiting.subject {
        Subject::Question(approval) => approval,
        Subject::Decision(decision) if detail == Detail::Full => {
            let head = format!("{}: {}\n{place}", waiting.ticket, clean_line(&waiting.words, LINE));
            return of_decision(&head, decision, &decision.text);
        }
        Subject::Decision(decision) if decision.is_parked() => {
            // Behind the time are amounts, and what the provider has said.
            let until = waiting.words.split_once(": ").map_or("parked", |(until, _)| until);
            let head = format!("{}: {}\n{place}", waiting.ticket, clean_line(until, LINE));
            return of_decision(&head, decision, "The limit is not sent to the phone: `programmator queue`.");
        }
        Subject::Decision(_) | Subject::Ended(_) => {
            return only_told(&format!(
                "{}: waiting for you\n{place}\n\nDetails are not sent to the phone: `programmator queue`.",
                waiting.ticket
            ));
        }
    };
    if detail == Detail::Brief {
        let what = match approval.kind {
            ApprovalKind::Question => "Claude has a question for you".to_owned(),
            ApprovalKind::Plan => "Claude has a plan for you to approve".to_owned(),
            ApprovalKind::Call | ApprovalKind::Passphrase => {
                format!("Claude wants to use {}", clean_line(&approval.tool, 40))
            }
        };
        let text = format!("{}: {what}\n{place}", waiting.ticket);
        if approval.kind == ApprovalKind::Question && Question::of((**approval).clone()).labels().next().is_none() {
            let buttons = vec![vec![("▪ Nothing".to_owned(), DENY.to_owned())]];
            return Message { buttons, ..denied(text, "\n\nDetails are not sent to the phone.") };
        }
        return denied(text, "\n\nDetails are not sent to the phone, so it can only be denied here.");
    }
    // What it is about comes first: of a message on a locked screen no more is seen.
    let about = clean_line(&approval.words(), LINE);
    let colon = if matches!(approval.kind, ApprovalKind::Call | ApprovalKind::Passphrase) { ":" } else { "" };
    let head = format!("{}{colon} {about}\n{place}", waiting.ticket);
    let question = Question::of((**approval).clone());
    let others = if waiting.summary.is_own_session() { OTHER_WORDS_OF_OWN } else { OTHER_WORDS };
    match question.shown() {
        Shown::Denied(..) if approval.kind == ApprovalKind::Passphrase => {
            only_told(&format!("{head}\n\nIt needs your passphrase, which can only be entered on the screen."))
        }
        // Too long to be shown anywhere but on the screen.
        Shown::Denied(..) => {
            let file = Some(beginning(&masked(&question.whole()), FILE).to_owned());
            Message {
                file,
                ..denied(masked(&head), "\n\nIt is too long for the phone, so it can only be denied here.")
            }
        }
        Shown::Asked(text, _) => asked(&head, text.trim_end(), &question, (bulk, others), said),
    }
}

/// What is no question of Claude's. Nobody says yes to what they have not seen.
fn of_decision(head: &str, decision: &Decision, text: &str) -> Message {
    let whole = format!("{head}\n\n{}", text.trim_end());
    let shown = masked(&whole);
    let is_long = whole.chars().count() > READABLE;
    let is_whole = !is_long && shown == whole;
    let choices = || decision.answers.iter().filter(|choice| is_whole || !choice.is_yes);
    let buttons = choices().filter(|choice| choice.needs.is_empty());
    let buttons = buttons.map(|choice| (label(choice.word), format!("{OPTION}{}", choice.word)));
    let hint = match () {
        () if is_long => "\n\nThe file has the full text. It is too long to be approved from the phone.",
        () if !is_whole => "\n\nA part that looks like a credential is masked, so approve it on your machine.",
        () if choices().any(|choice| choice.word == "revise") => "\n\nOr reply: revise, and what Claude should change.",
        () if choices().any(|choice| choice.word == "retry") => {
            "\n\nOr reply: accept, and why the phase counts as done."
        }
        () => "",
    };
    let file = is_long.then(|| beginning(&masked(text), FILE).to_owned());
    Message {
        text: if is_long { masked(head) } else { shown },
        hint,
        file,
        buttons: vec![buttons.collect()],
        can_allow: is_whole,
    }
}

fn label(word: &str) -> String {
    if word == "try-now" {
        return "Retry now".to_owned();
    }
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// What the phone cannot answer.
fn only_told(text: &str) -> Message {
    Message { text: masked(text), hint: "", file: None, buttons: Vec::new(), can_allow: false }
}

/// What the phone can only deny, and why.
fn denied(text: String, why: &'static str) -> Message {
    Message { text, hint: why, file: None, buttons: vec![denials()], can_allow: false }
}

fn asked(
    head: &str,
    shown: &str,
    question: &Question,
    (bulk, others): (&[String], &'static str),
    said: Option<(Speaker, &str)>,
) -> Message {
    let approval = &question.approval;
    let whole = masked(&format!("{head}\n\n{shown}"));
    if whole.chars().count() > READABLE {
        let file = Some(beginning(&masked(shown), FILE).to_owned());
        let why =
            "\n\nThe file has the full text. It is too long to be allowed from the phone: it can only be denied here.";
        return Message { file, ..denied(masked(head), why) };
    }
    if approval.kind == ApprovalKind::Question && question.count() != 1 {
        return denied(
            whole,
            "\n\nThere are several questions: answer them on the screen or with `programmator answer`.",
        );
    }
    // Nobody allows what they have not seen.
    if approval.kind != ApprovalKind::Question && whole != format!("{head}\n\n{shown}") {
        return denied(whole, "\n\nA part that looks like a credential is masked, so it can only be denied here.");
    }
    let button = |words: &str, data: &str| (words.to_owned(), data.to_owned());
    let (mut buttons, hint) = match approval.kind {
        ApprovalKind::Question => {
            let options = question.labels().take(OPTIONS).enumerate();
            let buttons =
                options.map(|(at, label)| vec![(clean_line(label, OPTION_WORDS), format!("{OPTION}{}", at + 1))]);
            (buttons.collect(), "\n\nPress an option, or reply to this message with your own answer.")
        }
        ApprovalKind::Plan => (
            vec![vec![button("✅ Approve", ALLOW)]],
            "\n\nAny reply other than yes sends the plan back to Claude, with your text.",
        ),
        _ if approval.edited_from.is_some() => (vec![vec![button("✅ Allow once", ALLOW)]], others),
        _ if bulk.contains(&approval.tool) && approval.kinds().is_some() => {
            (vec![vec![button("✅ Allow once", ALLOW), button("✅ All like it", ALL)]], others)
        }
        _ => (vec![vec![button("✅ Allow once", ALLOW), button("✅ Allow for this run", FOR_RUN)]], others),
    };
    let is_open = approval.kind == ApprovalKind::Question && buttons.is_empty();
    buttons.push(if is_open { vec![button("▪ Nothing", DENY)] } else { denials() });
    let hint = if is_open { "\n\nReply to this message with your answer." } else { hint };
    let said = said.map_or_else(String::new, |(who, said)| {
        let who = if who == Speaker::Claude { "Claude" } else { "You" };
        format!("\n\n{who} said: {}", masked(&clean_line(said, SAID)))
    });
    let kinds = approval.kinds().filter(|_| buttons.iter().flatten().any(|(_, data)| data == ALL));
    let kinds = kinds
        .map_or_else(String::new, |kinds| format!("\n\n“All like it” is: {}", clean_line(&kinds.join(", "), LINE)));
    Message { text: format!("{whole}{said}{kinds}"), hint, file: None, buttons, can_allow: true }
}

/// The buttons that say no.
pub fn denials() -> Vec<Button> {
    vec![("❌ Deny".to_owned(), DENY.to_owned()), ("✏ Deny with a reason".to_owned(), WORDS.to_owned())]
}

/// The message once the question has come to its end.
pub fn ended(asked: &Asked, end: &Over) -> String {
    let sign = if end.is_agreed { "✅" } else { "▪" };
    format!("{}\n\n{sign} {}", asked.text, end.words)
}
