//! What the person means by a button or a message on the phone. Whose it is was looked at before.

use super::kept::{Asked, Kept};
use crate::adapters::telegram::update::{Message, Press, Update};
use crate::base::id::RunId;
use crate::base::time::Timestamp;
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
/// `bare`: what replies to nothing counts where only one
/// question can be meant.
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
    let is_below = |asked: &Asked| message.message_id > asked.message;
    let written = Timestamp::from_millis(message.date.saturating_mul(1_000));
    // One that has had its end since may have been meant.
    let was_open = |asked: &Asked| asked.question.is_some() && is_below(asked) && asked.ended > written;
    match (plain, open.as_slice()) {
        (_, []) => Meaning::Unclear("No question is waiting for you. /help lists the commands.".to_owned()),
        (_, [_]) if kept.asked.iter().any(was_open) => Meaning::Unclear(
            "Another question was open when you wrote this: reply to the one that you mean.".to_owned(),
        ),
        // What replies to nothing is for the only question, and was written below it: a clock says nothing about that.
        (Some(given), [asked]) if bare && is_below(asked) && !is_question(asked) => {
            Meaning::Answer(asked.message, given)
        }
        // To what Claude asks, or how to go on, all words are an answer.
        (_, [asked]) if bare && is_below(asked) && is_question(asked) && asked.can_allow => {
            Meaning::Answer(asked.message, Given::Words(text.to_owned()))
        }
        (_, [_]) => Meaning::Unclear("Reply to the question: hold its message, then Reply.".to_owned()),
        (_, open) => Meaning::Unclear(format!("{} questions are waiting: reply to the one that you mean.", open.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A question, told by this message. `ended`: when, in seconds; 0: it is open.
    fn asked(message: i64, ended: i64) -> Value {
        let end = if ended == 0 { Value::Null } else { json!({"words": "denied", "is_agreed": false}) };
        json!({
            "message": message, "is_file": false, "run": uuid::Uuid::from_u128(1).to_string(), "ticket": "tk-1",
            "question": {"id": format!("toolu_{message}")}, "text": "", "can_allow": true, "repeats": 0,
            "told": Timestamp::default(), "end": end, "ended": Timestamp::from_millis(ended * 1_000), "is_edited": false,
        })
    }

    /// What this means that replies to nothing, as message 10, written at second 100.
    fn bare(text: &str, asked: &[Value], is_question: bool) -> Meaning {
        let kept: Kept = serde_json::from_value(json!({"asked": asked})).unwrap();
        let update = Update::of(&json!({
            "update_id": 1, "message": {"message_id": 10, "date": 100, "text": text,
            "chat": {"id": 1, "type": "private"}, "from": {"id": 1, "first_name": "Ada"}},
        }));
        meaning(&update.unwrap(), &kept, true, |_| is_question)
    }

    #[test]
    fn what_replies_to_nothing_is_for_the_only_question_that_was_open_when_it_was_written() {
        assert_eq!(bare("Yes.", &[asked(5, 0)], false), Meaning::Answer(5, Given::Allow));
        assert_eq!(bare("Yes.", &[asked(4, 90), asked(5, 0)], false), Meaning::Answer(5, Given::Allow));
        let unclear = |meaning| assert!(matches!(meaning, Meaning::Unclear(_)), "{meaning:?}");
        unclear(bare("yes", &[asked(4, 0), asked(5, 0)], false));
        // The other one may have been meant, which has had its end since.
        unclear(bare("yes", &[asked(4, 101), asked(5, 0)], false));
        // Nobody had seen it.
        unclear(bare("yes", &[asked(11, 0)], false));
        unclear(bare("use the fixture", &[asked(5, 0)], false));
    }

    #[test]
    fn words_that_reply_to_nothing_are_the_answer_to_what_is_asked_in_words() {
        let words = |text: &str| Given::Words(text.to_owned());
        assert_eq!(bare("run the tests", &[asked(5, 0)], true), Meaning::Answer(5, words("run the tests")));
        assert_eq!(bare("no", &[asked(5, 0)], true), Meaning::Answer(5, words("no")));
        assert!(matches!(bare("run the tests", &[asked(4, 0), asked(5, 0)], true), Meaning::Unclear(_)));
    }
}
