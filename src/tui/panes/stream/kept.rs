//! Calls whose question outlived Claude's process: what is written at the end of their lines. Claude makes such a call again
//! once it is answered.

use crate::domain::approval::{Answer, Answered, Voided};
use crate::domain::record::Record;
use std::collections::{HashMap, HashSet};

/// What has become of each, by its id.
#[derive(Debug, Default)]
pub(super) struct Kept(HashMap<String, Became>);

/// What has become of such a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Became {
    Waits,
    Allowed,
    Denied,
    Withdrawn,
}

impl Became {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Waits => "! waits for your answer",
            Self::Allowed => "allowed; Claude repeats the call",
            Self::Denied => "denied by you",
            Self::Withdrawn => "question withdrawn",
        }
    }
}

impl Kept {
    /// `waiting`: the calls that wait before this record.
    pub(super) fn fold(&mut self, record: &Record, waiting: &HashSet<String>) {
        let (id, became) = match record {
            Record::ApprovalsKept { .. } => {
                return self.0.extend(waiting.iter().map(|id| (id.clone(), Became::Waits)));
            }
            Record::ApprovalAnswered(Answered { id, answer: Answer::Allow { .. }, .. }) => (id, Became::Allowed),
            Record::ApprovalAnswered(Answered { id, .. }) => (id, Became::Denied),
            Record::ApprovalVoid(Voided { id, .. }) => (id, Became::Withdrawn),
            _ => return,
        };
        if let Some(known) = self.0.get_mut(&id.call) {
            *known = became;
        }
    }

    pub(super) fn of(&self, id: &str) -> Option<Became> {
        self.0.get(id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answerer::Answerer;
    use crate::domain::approval::{AnsweredBy, QuestionId, Scope};

    #[test]
    fn only_what_has_outlived_its_process_is_followed() {
        let mut kept = Kept::default();
        let waiting: HashSet<String> = ["a", "b"].map(str::to_owned).into();
        let answered = |call: &str, answer| {
            let by = AnsweredBy::Person(Answerer::SCREEN);
            Record::ApprovalAnswered(Answered { id: QuestionId::first(call), answer, by })
        };
        let yes = || Answer::Allow { input: "{}".into(), scope: Scope::Once };
        kept.fold(&answered("c", yes()), &waiting);
        kept.fold(&Record::ApprovalsKept { why: String::new() }, &waiting);
        assert_eq!(["a", "b", "c"].map(|id| kept.of(id)), [Some(Became::Waits), Some(Became::Waits), None]);
        kept.fold(&answered("a", yes()), &waiting);
        kept.fold(&answered("b", Answer::Deny { words: String::new() }), &waiting);
        assert_eq!(["a", "b", "c"].map(|id| kept.of(id)), [Some(Became::Allowed), Some(Became::Denied), None]);
        let void = Voided { id: QuestionId::first("b"), why: String::new() };
        kept.fold(&Record::ApprovalVoid(void), &waiting);
        assert_eq!(kept.of("b"), Some(Became::Withdrawn));
    }
}
