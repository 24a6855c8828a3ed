//! How a question to the person ended, in words.

use super::line::Weight;
use crate::domain::approval::{Again, Answer, Answered, AnsweredBy, Approval, Scope};

/// The sentence for a question about `call`: none for its first, which its verdict has told of.
pub(super) fn asked_again(call: &str, asked: &Approval) -> Option<(Weight, String)> {
    let why = asked.again.map(Again::words)?;
    if asked.again == Some(Again::RulesUnusable) {
        return Some((Weight::Gate, format!("still waiting for you, {why}: {call}")));
    }
    Some((Weight::Gate, format!("asked about again, since {why}: {call}")))
}

/// The sentence for an answer about `call`.
pub(super) fn answered(call: &str, answered: &Answered) -> (Weight, String) {
    let who = match answered.by {
        AnsweredBy::Screen => "by you",
        AnsweredBy::Timeout => "because nobody answered in time",
        AnsweredBy::Nobody => "because nobody was there to ask",
        AnsweredBy::Ticket => "by what you allowed for this run",
        AnsweredBy::Rules => "by the rules as they are now",
    };
    match &answered.answer {
        Answer::Allow { scope, .. } => {
            let reach = match scope {
                Scope::Once => "",
                Scope::Ticket => " for the rest of this run (while its rules hold)",
                Scope::Kind => " with all of its kind for the rest of this run (while its rules hold)",
                Scope::Always => " from now on",
            };
            (Weight::Gate, format!("allowed{reach} {who}: {call}"))
        }
        Answer::Deny { words } if answered.by == AnsweredBy::Screen && !words.is_empty() => {
            (Weight::Gate, format!("denied {who}: {call} · “{words}”"))
        }
        Answer::Deny { .. } => (Weight::Gate, format!("denied {who}: {call}")),
    }
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
            (allow(Scope::Once), AnsweredBy::Screen, "allowed by you: Bash make"),
            (
                allow(Scope::Ticket),
                AnsweredBy::Screen,
                "allowed for the rest of this run (while its rules hold) by you: Bash make",
            ),
            (allow(Scope::Once), AnsweredBy::Ticket, "allowed by what you allowed for this run: Bash make"),
            (deny("use npm"), AnsweredBy::Screen, "denied by you: Bash make · “use npm”"),
            (deny("long words for Claude"), AnsweredBy::Nobody, "denied because nobody was there to ask: Bash make"),
            (deny("x"), AnsweredBy::Timeout, "denied because nobody answered in time: Bash make"),
        ];
        for (answer, by, expected) in cases {
            assert_eq!(said(answer, by), expected);
        }
    }
}
