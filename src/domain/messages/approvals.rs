//! How a question to the person ended, in words.

use super::line::Weight;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Again, Answer, Answered, AnsweredBy, Approval, Scope};

/// The sentence for a question about `call`: none for its first, which its verdict has told of.
pub(super) fn asked_again(call: &str, asked: &Approval) -> Option<(Weight, String)> {
    let why = asked.again.map(Again::words)?;
    if asked.again == Some(Again::RulesUnusable) {
        return Some((Weight::Gate, format!("still waiting for you, {why}: {call}")));
    }
    Some((Weight::Gate, format!("asking again, since {why}: {call}")))
}

/// What a call is named that asks the person something.
pub(super) const QUESTION: &str = "Claude's question";
/// What a call is named that has a plan.
pub(super) const PLAN: &str = "Claude's plan";

/// The sentence for an answer about `call`.
pub(super) fn answered(call: &str, answered: &Answered) -> (Weight, String) {
    let person = Answerer::SCREEN.to_string();
    let (person, who) = match &answered.by {
        AnsweredBy::Person(by) => (by.to_string(), format!("by {by}")),
        AnsweredBy::Timeout => (person, "because nobody answered in time".to_owned()),
        AnsweredBy::Nobody => (person, "because nobody could be asked".to_owned()),
        AnsweredBy::Unshown => (person, "because it cannot be asked in plain mode".to_owned()),
        AnsweredBy::Ticket => (person, "by your approval for this run".to_owned()),
        AnsweredBy::Rules => (person, "by the changed rules".to_owned()),
    };
    match &answered.answer {
        Answer::Allow { scope: Scope::Once, .. } if call == QUESTION => {
            (Weight::Gate, format!("{person} answered Claude's question"))
        }
        Answer::Allow { scope: Scope::Once, .. } if call == PLAN => {
            (Weight::Gate, format!("{person} approved Claude's plan"))
        }
        Answer::Allow { scope, .. } => {
            let reach = match scope {
                Scope::Once => "",
                Scope::Ticket => " for the rest of this run (until the rules change)",
                Scope::Kind => " with all calls of its kind for the rest of this run (until the rules change)",
                Scope::Always => " from now on",
            };
            (Weight::Gate, format!("allowed{reach} {who}: {call}"))
        }
        Answer::Deny { words } if matches!(answered.by, AnsweredBy::Person(_)) && !words.is_empty() => {
            (Weight::Gate, format!("denied {who}: {call} · “{words}”"))
        }
        Answer::Deny { .. } => (Weight::Gate, format!("denied {who}: {call}")),
    }
}

/// The words for who had the question open meanwhile.
pub fn decided_words(answered: &Answered) -> String {
    match &answered.by {
        AnsweredBy::Timeout => "denied: nobody answered in time".to_owned(),
        AnsweredBy::Ticket => "answered by your approval for this run".to_owned(),
        AnsweredBy::Rules => "decided by the changed rules".to_owned(),
        AnsweredBy::Unshown => "denied: it cannot be asked in plain mode".to_owned(),
        AnsweredBy::Nobody => "already answered".to_owned(),
        AnsweredBy::Person(by) => match &answered.answer {
            Answer::Allow { scope: Scope::Once, .. } => format!("allowed by {by}"),
            Answer::Allow { .. } => format!("allowed for this run by {by}"),
            Answer::Deny { .. } => format!("denied by {by}"),
        },
    }
}

/// The sentence for an answer about `call` that came too late.
pub(super) fn too_late(call: &str, late: &Answered) -> (Weight, String) {
    let who = if let AnsweredBy::Person(by) = &late.by { format!(" by {by}") } else { String::new() };
    (Weight::Warn, format!("an answer{who} came too late: {call} is no longer waiting"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::approval::QuestionId;

    #[test]
    fn it_says_who_answered_what_and_for_how_long() {
        let said = |answer: Answer, by| answered("Bash make", &Answered { id: QuestionId::first("t"), answer, by }).1;
        let allow = |scope| Answer::Allow { input: "{}".into(), scope };
        let deny = |words: &str| Answer::Deny { words: words.into() };
        let cases = [
            (allow(Scope::Once), AnsweredBy::Person(Answerer::SCREEN), "allowed by you: Bash make"),
            (
                allow(Scope::Ticket),
                AnsweredBy::Person(Answerer::SCREEN),
                "allowed for the rest of this run (until the rules change) by you: Bash make",
            ),
            (allow(Scope::Once), AnsweredBy::Ticket, "allowed by your approval for this run: Bash make"),
            (deny("use npm"), AnsweredBy::Person(Answerer::SCREEN), "denied by you: Bash make · “use npm”"),
            (deny("long words for Claude"), AnsweredBy::Nobody, "denied because nobody could be asked: Bash make"),
            (
                deny("use npm"),
                AnsweredBy::Person(Answerer { name: Some("Ann".into()), ..Answerer::COMMAND_LINE }),
                "denied by Ann (command line): Bash make · “use npm”",
            ),
            (deny("too long"), AnsweredBy::Unshown, "denied because it cannot be asked in plain mode: Bash make"),
            (deny("x"), AnsweredBy::Timeout, "denied because nobody answered in time: Bash make"),
        ];
        for (answer, by, expected) in cases {
            assert_eq!(said(answer, by), expected);
        }
    }
}
