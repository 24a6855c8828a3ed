//! What the person means by a button or a message on the phone. Whose it is was looked at before.

use super::kept::{Asked, Kept};
use crate::adapters::telegram::update::{Message, Press, Update};

/// What it comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An answer to the question of this message.
    Answer(i64, Given),
    /// They press a button for words: they are to be asked for.
    AskForWords(i64),
    /// A command and what follows it.
    Command(String, Vec<String>),
    /// It cannot be obeyed, in words for the person.
    Unclear(String),
    /// Nothing that words could be said to.
    Nothing,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    Allow,
    /// This call for the rest of the run.
    ForRun,
    /// The same, by a word: only edits of files are allowed by it.
    All,
    /// With what Claude is to do instead; may be empty.
    Deny(String),
    /// The option with this number, from 1, or the person's own words.
    Words(String),
}

/// The data of a button.
pub const ALLOW: &str = "allow";
pub const FOR_RUN: &str = "run";
pub const DENY: &str = "deny";
pub const WORDS: &str = "words";
/// Before the number of an option.
pub const OPTION: &str = "option ";

/// What an update means. `questions`: those that were asked, `is_question`: whether this one is Claude's own.
pub fn meaning(update: &Update, kept: &Kept, is_question: impl Fn(&Asked) -> bool) -> Meaning {
    match (&update.press, &update.message) {
        (Some(press), _) => pressed(press, kept),
        (None, Some(message)) => said(message, kept, is_question),
        (None, None) => Meaning::Nothing,
    }
}

fn pressed(press: &Press, kept: &Kept) -> Meaning {
    let message = press.message.as_ref().map(|pressed| pressed.message_id);
    let Some(asked) = message.and_then(|message| kept.asked.iter().find(|asked| asked.has(message))) else {
        return Meaning::Unclear("No question is known to this button.".to_owned());
    };
    let given = match press.data.as_deref().unwrap_or_default() {
        ALLOW => Given::Allow,
        FOR_RUN => Given::ForRun,
        DENY => Given::Deny(String::new()),
        WORDS => return Meaning::AskForWords(asked.message),
        data => match data.strip_prefix(OPTION) {
            Some(number) => Given::Words(number.to_owned()),
            None => return Meaning::Unclear("This button is of another version of programmator.".to_owned()),
        },
    };
    Meaning::Answer(asked.message, given)
}

fn said(message: &Message, kept: &Kept, is_question: impl Fn(&Asked) -> bool) -> Meaning {
    let Some(text) = message.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        return Meaning::Unclear("Only text is understood here.".to_owned());
    };
    if let Some(command) = text.strip_prefix('/') {
        let mut words = command.split_whitespace().map(str::to_owned);
        // In the menu of a chat a command may have the bot's name behind it.
        let name = words.next().unwrap_or_default();
        let name = name.split('@').next().unwrap_or_default().to_lowercase();
        return Meaning::Command(name, words.collect());
    }
    let word = text.trim_end_matches(['.', '!']).to_lowercase();
    let plain = match word.as_str() {
        "y" | "yes" | "ok" | "allow" => Some(Given::Allow),
        "all" => Some(Given::All),
        "n" | "no" | "deny" => Some(Given::Deny(String::new())),
        _ => None,
    };
    if let Some(answers) = &message.answers {
        let Some(asked) = kept.asked.iter().find(|asked| asked.has(answers.message_id)) else {
            return Meaning::Unclear("The message that you reply to asks nothing.".to_owned());
        };
        let given = match plain {
            // Whatever they are: the person has said no already.
            _ if asked.prompts.contains(&answers.message_id) => Given::Deny(text.to_owned()),
            _ if is_question(asked) => Given::Words(text.to_owned()),
            Some(given) => given,
            None => Given::Deny(text.to_owned()),
        };
        return Meaning::Answer(asked.message, given);
    }
    let open: Vec<&Asked> = kept.open().filter(|asked| asked.question.is_some()).collect();
    match (plain, open.as_slice()) {
        (_, []) => Meaning::Unclear("No question waits for you. /help says what is understood here.".to_owned()),
        // A word alone is for the only question that was there when it was written.
        (Some(given), [asked]) if asked.told.millis() / 1_000 <= message.date && !is_question(asked) => {
            Meaning::Answer(asked.message, given)
        }
        (_, [_]) => Meaning::Unclear("Reply to the question itself: hold its message, then Reply.".to_owned()),
        (_, open) => Meaning::Unclear(format!(
            "{} questions wait, so it is not clear which one you mean: reply to the one itself.",
            open.len()
        )),
    }
}
