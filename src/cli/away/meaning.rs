//! What the person means by a button or a message on the phone. Whose it is was looked at before.

use super::kept::{Asked, Kept};
use crate::adapters::telegram::update::{Message, Press, Update};
use crate::base::id::RunId;
use crate::domain::approval::is_no;
use crate::domain::end_answer::EndAnswer;

/// What it comes to.
#[derive(Debug, PartialEq, Eq)]
pub enum Meaning {
    /// An answer to the question of this message.
    Answer(i64, Given),
    /// They press a button for words: they are to be asked for.
    AskForWords(i64),
    /// An answer to the end of this run, of which this message tells: a button, or these words.
    Follow(i64, RunId, Option<EndAnswer>, String),
    /// A command and what follows it; where it replies to the end of a run, that run.
    Command(String, Vec<String>, Option<RunId>),
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
    /// All calls of its kind for the rest of the run: only edits of files are allowed so.
    All,
    /// With what Claude is to do instead; may be empty.
    Deny(String),
    /// The option with this number, from 1, or the person's own words; to what is no question of Claude's one of its answers.
    Words(String),
}

/// The data of a button.
pub const ALLOW: &str = "allow";
pub const FOR_RUN: &str = "run";
pub const ALL: &str = "all";
/// Goes on with a run that has ended.
pub const ON: &str = "on";
/// Before what follows the end of a run.
pub const END: &str = "end ";
pub const DENY: &str = "deny";
pub const WORDS: &str = "words";
/// Before the number of an option.
pub const OPTION: &str = "option ";

/// What an update means. `questions`: those that were asked, `is_question`: whether this one is Claude's own.
/// `bare`: a yes or no alone, which replies to nothing, counts.
pub fn meaning(update: &Update, kept: &Kept, bare: bool, is_question: impl Fn(&Asked) -> bool) -> Meaning {
    match (&update.press, &update.message) {
        (Some(press), _) => pressed(press, kept),
        (None, Some(message)) => said(message, kept, bare, is_question),
        (None, None) => Meaning::Nothing,
    }
}

fn pressed(press: &Press, kept: &Kept) -> Meaning {
    let message = press.message.as_ref().map(|pressed| pressed.message_id);
    if let Some((end, run)) = kept.ends.iter().find(|(end, _)| Some(*end) == message) {
        let data = press.data.as_deref().unwrap_or_default();
        // What an older version had sent.
        let word = if data == ON { EndAnswer::Resume.word() } else { data.strip_prefix(END).unwrap_or_default() };
        return match EndAnswer::from_word(word) {
            Some(answer) => Meaning::Follow(*end, *run, Some(answer), String::new()),
            None => Meaning::Unclear("This button is of another version of programmator.".to_owned()),
        };
    }
    let Some(asked) = message.and_then(|message| kept.asked.iter().find(|asked| asked.has(message))) else {
        return Meaning::Unclear("This button belongs to an unknown question.".to_owned());
    };
    let given = match press.data.as_deref().unwrap_or_default() {
        ALLOW => Given::Allow,
        FOR_RUN => Given::ForRun,
        ALL => Given::All,
        DENY => Given::Deny(String::new()),
        WORDS => return Meaning::AskForWords(asked.message),
        data => match data.strip_prefix(OPTION) {
            Some(number) => Given::Words(number.to_owned()),
            None => return Meaning::Unclear("This button is of another version of programmator.".to_owned()),
        },
    };
    Meaning::Answer(asked.message, given)
}

fn said(message: &Message, kept: &Kept, bare: bool, is_question: impl Fn(&Asked) -> bool) -> Meaning {
    let Some(text) = message.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) else {
        return Meaning::Unclear("Only text messages are supported.".to_owned());
    };
    let word = text.trim_end_matches(['.', '!']).to_lowercase();
    let plain = match word.as_str() {
        "y" | "yes" | "ok" | "allow" => Some(Given::Allow),
        "all" => Some(Given::All),
        word if is_no(word) => Some(Given::Deny(String::new())),
        _ => None,
    };
    let to = message.answers.as_ref().map(|answers| answers.message_id);
    let told_of = kept.ends.iter().find(|(end, _)| Some(*end) == to).copied();
    let replied = message
        .answers
        .as_ref()
        .map(|answers| (answers.message_id, kept.asked.iter().find(|asked| asked.has(answers.message_id))));
    if let Some((to, Some(asked))) = replied {
        let given = match plain {
            // Whatever they are: the person has said no already.
            _ if asked.prompts.contains(&to) => Given::Deny(text.to_owned()),
            _ if asked.question.is_none() => Given::Words(text.to_owned()),
            // Where only a no is possible, a no is one.
            _ if is_question(asked) && asked.can_allow => Given::Words(text.to_owned()),
            Some(given) => given,
            None => Given::Deny(text.to_owned()),
        };
        return Meaning::Answer(asked.message, given);
    }
    if let Some(command) = text.strip_prefix('/') {
        let mut words = command.split_whitespace().map(str::to_owned);
        // In the menu of a chat a command may have the bot's name behind it.
        let name = words.next().unwrap_or_default();
        let name = name.split('@').next().unwrap_or_default().to_lowercase();
        return Meaning::Command(name, words.collect(), told_of.map(|(_, run)| run));
    }
    if let Some((end, run)) = told_of {
        return Meaning::Follow(end, run, None, text.to_owned());
    }
    if replied.is_some() {
        return Meaning::Unclear("The message that you replied to is not a question.".to_owned());
    }
    let open: Vec<&Asked> = kept.open().filter(|asked| asked.question.is_some()).collect();
    match (plain, open.as_slice()) {
        (_, []) => Meaning::Unclear("No question is waiting for you. /help lists the commands.".to_owned()),
        // A word alone is for the only question, and was written below it: a clock says nothing about that.
        (Some(given), [asked]) if bare && message.message_id > asked.message && !is_question(asked) => {
            Meaning::Answer(asked.message, given)
        }
        (_, [_]) => Meaning::Unclear("Reply to the question: hold its message, then Reply.".to_owned()),
        (_, open) => Meaning::Unclear(format!("{} questions are waiting: reply to the one that you mean.", open.len())),
    }
}
