//! Calls that are judged and questions that wait, in the world of the simulation: what the rules say, what Claude does
//! with the answer, and how the person looks at the queue. What must hold of it is at the end.

use super::world::{Weather, World};
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{
    Answer, Answered, AnsweredBy, ApprovalKind, Presence, QuestionId, Ruling, Scope, UnitView, Voided,
};
use programmator::domain::command::UserCommand;
use programmator::domain::outcome::IterationOutcome;
use programmator::domain::record::{Record, Stored};
use programmator::domain::tool_call::{ControlRequest, ToolCall, Via};
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::input::Input;
use programmator::orchestrator::state::State;

impl World {
    /// The rules of the run say what becomes of a call.
    pub fn judge(&mut self, n: u32, call: Box<ToolCall>) {
        let verdict = match self.dice.roll(24) {
            _ if self.weather == Weather::Fair => Verdict::Allow,
            // The rules say the same again, unless somebody changed them.
            4.. if call.request.via == Via::CanUseTool => Verdict::Ask,
            _ if ApprovalKind::always(&call.tool).is_some() => Verdict::Ask,
            0..3 => Verdict::Block,
            3..8 => Verdict::Ask,
            8 => Verdict::Passphrase,
            _ => Verdict::Allow,
        };
        let presence = if self.rough(3) { Presence::Nobody } else { Presence::Screen };
        let ruling = Box::new(ruling(verdict));
        self.coming.insert(0, Input::Judged { n, call, ruling, presence });
    }

    /// The rules judge a call that the person changed.
    pub fn judge_edit(&mut self, id: QuestionId, input: String) {
        let verdict = if self.dice.one_in(3) { Verdict::Block } else { Verdict::Ask };
        self.coming.insert(0, Input::EditJudged { by: Answerer::SCREEN, id, input, ruling: Box::new(ruling(verdict)) });
    }

    /// Other rules judge a call that waits: the same as before, or anything else.
    pub fn judge_again(&mut self, id: QuestionId) {
        let verdict = match self.dice.roll(7) {
            6 => {
                // The person repairs the file later.
                let why = "policy.yaml:3".to_owned();
                return self.coming.insert(0, Input::NotRejudged { id, why });
            }
            0 => Verdict::Allow,
            1 => Verdict::Block,
            2 => Verdict::Passphrase,
            _ => Verdict::Ask,
        };
        let mut ruling = ruling(verdict);
        if self.dice.one_in(2) {
            ruling.rule = "another".into();
        }
        self.coming.insert(0, Input::Rejudged { id, ruling: Box::new(ruling) });
    }

    /// Claude reads the verdict on a request of its own.
    pub fn heard(&mut self, request: &ControlRequest, verdict: Verdict) {
        let Some(n) = self.state.open_iteration().map(|open| open.n) else { return };
        let tool_use_id = request.id.trim_end_matches("-can").to_owned();
        match (request.via, verdict) {
            (_, Verdict::Allow) => self.runs(n, tool_use_id),
            (Via::Callback, Verdict::Ask | Verdict::Passphrase) => {
                let again = call(&tool_use_id, Via::CanUseTool);
                self.coming.insert(0, Input::ToolAsked { n, call: Box::new(again) });
            }
            _ => self.coming.push(Input::ToolFinished { n, tool_use_id, is_error: true }),
        }
    }

    /// Claude reads the person's answer: exactly one to each question, and a stored one.
    pub fn settled(&mut self, id: &str, answer: &Answer) {
        let stored = self.journal.iter().rev().find_map(|stored| match &stored.record {
            Record::ApprovalAnswered(answered) if answered.id.call == id => Some(&answered.answer),
            _ => None,
        });
        assert_eq!(stored, Some(answer), "an answer was given that is not stored");
        let Some(n) = self.state.open_iteration().map(|open| open.n) else { return };
        match answer {
            Answer::Deny { .. } => {
                self.coming.push(Input::ToolFinished { n, tool_use_id: id.to_owned(), is_error: true });
            }
            Answer::Allow { .. } => self.runs(n, id.to_owned()),
        }
    }

    fn runs(&mut self, n: u32, tool_use_id: String) {
        self.tool_runs();
        if !self.rough(12) {
            self.coming.push(Input::ToolFinished { n, tool_use_id, is_error: false });
        }
    }

    /// Whether the person turns to what waits for them: now and then at once, and before the turn ends.
    pub fn looks_at_the_queue(&mut self) -> bool {
        let last = matches!(self.coming.first(), Some(Input::TurnFinished { .. }));
        let looks = !self.state.approvals.is_empty()
            && (self.dice.one_in(3)
                || last && !self.rough(6)
                || self.coming.is_empty() && (self.timers.is_empty() || self.dice.one_in(2)));
        if looks {
            self.look();
        }
        looks
    }

    /// The person looks at the queue: answers any of it, or something that is not in it.
    fn look(&mut self) {
        let pending: Vec<(QuestionId, String)> =
            self.state.approvals.iter().map(|approval| (approval.id.clone(), approval.input.clone())).collect();
        if self.dice.one_in(8) {
            return self.give(Input::RulesChanged { words: "other rules".into(), trouble: None });
        }
        let at = usize::try_from(self.dice.roll(pending.len() as u64 + 1)).unwrap();
        let (id, input) = pending.get(at).cloned().unwrap_or((QuestionId::first("Edit-1-0"), "{}".into()));
        // Now and then what they saw is not what waits by now.
        if self.dice.one_in(20) {
            let seen = QuestionId { revision: id.revision.wrapping_sub(1), ..id };
            let answer = Answer::Allow { input, scope: Scope::Ticket };
            let settled = self.journal.len();
            self.give(Input::Unlocked { id: seen.clone(), by: Answerer::SCREEN });
            self.give(Input::Commanded {
                by: Answerer::SCREEN,
                id: "a".into(),
                command: UserCommand::AnswerApproval { id: seen, answer },
            });
            let answered = |stored: &Stored| matches!(stored.record, Record::ApprovalAnswered(_));
            assert!(!self.journal[settled..].iter().any(answered), "an answer to another question counted");
            return;
        }
        let answer = match self.dice.roll(8) {
            0 => Answer::Deny { words: String::new() },
            1 => Answer::Allow { input: r#"{"edited":1}"#.into(), scope: Scope::Ticket },
            2 => Answer::Allow { input, scope: Scope::Ticket },
            _ => Answer::Allow { input, scope: Scope::Once },
        };
        match answer {
            Answer::Allow { input, .. } if self.dice.one_in(16) => {
                self.give(Input::Commanded {
                    by: Answerer::SCREEN,
                    id: "e".into(),
                    command: UserCommand::EditCall { id, input },
                });
            }
            Answer::Allow { .. } if self.dice.one_in(2) => self.give(Input::Unlocked { id, by: Answerer::SCREEN }),
            answer => {
                self.give(Input::Commanded {
                    by: Answerer::SCREEN,
                    id: "a".into(),
                    command: UserCommand::AnswerApproval { id, answer },
                });
            }
        }
    }
}

/// What the rules say of a call.
pub fn ruling(verdict: Verdict) -> Ruling {
    let unit = UnitView { text: "x".into(), verdict, rule: "r".into(), reason: String::new(), kind: None };
    Ruling { verdict, rule: "r".into(), reason: String::new(), target: "x".into(), units: vec![unit], provable: false }
}

/// A call of Claude's, as it is told by the hook or asked by `can_use_tool`. Its `id` begins with its tool.
pub fn call(id: &str, via: Via) -> ToolCall {
    let request = if via == Via::Callback { id.to_owned() } else { format!("{id}-can") };
    ToolCall {
        request: ControlRequest { id: request, via },
        tool_use_id: id.to_owned(),
        tool: id.split('-').next().unwrap_or_default().to_owned(),
        input: "{}".into(),
        agent: None,
        cwd: None,
    }
}

/// Questions that are open, and what became of the others. None outlives its process, but those that are kept.
#[derive(Default)]
pub struct Questions {
    open: Vec<QuestionId>,
    kept: bool,
}

impl Questions {
    /// A record is stored: every question is answered or void exactly once. Gives what is worth counting.
    pub fn stored(&mut self, stored: &Stored) -> Option<&'static str> {
        match &stored.record {
            Record::ApprovalAsked(approval) => {
                let open = self.open.iter_mut().find(|open| open.call == approval.id.call);
                let Some(open) = open else {
                    assert!(!self.kept, "a process asks that is gone");
                    self.open.push(approval.id.clone());
                    return Some("asked");
                };
                assert_eq!(approval.id, open.next(), "asked twice at once");
                *open = approval.id.clone();
                Some("asked again")
            }
            Record::ApprovalAnswered(Answered { id, by, .. }) => {
                let kept = self.kept;
                self.close(id);
                Some(match by {
                    AnsweredBy::Person(_) if kept => "answered when Claude was gone",
                    AnsweredBy::Person(_) => "answered by the person",
                    AnsweredBy::Rules => "answered by other rules",
                    AnsweredBy::Timeout | AnsweredBy::Nobody | AnsweredBy::Unshown | AnsweredBy::Ticket => {
                        "answered for the person"
                    }
                })
            }
            Record::ApprovalVoid(Voided { id, .. }) => {
                self.close(id);
                Some("void")
            }
            Record::ApprovalsKept { .. } => {
                assert!(!self.open.is_empty() && !self.kept, "nothing is left to keep");
                self.kept = true;
                Some("kept")
            }
            Record::IterationEnded { .. } if self.kept => None,
            Record::IterationStarted { .. }
            | Record::AgentSpawned { .. }
            | Record::IterationEnded { .. }
            | Record::RunEnded { .. } => {
                assert!(self.open.is_empty(), "{:?} outlive their process", self.open);
                None
            }
            Record::StopAsked { outcome: IterationOutcome::Idle | IterationOutcome::TimedOut, .. } => {
                assert!(self.open.is_empty(), "cut off while the person was waited for");
                None
            }
            _ => None,
        }
    }

    /// A journal was taken over in the middle.
    pub fn believe(&mut self, state: &State) {
        self.kept = state.gate.kept;
        self.open = state.approvals.iter().map(|approval| approval.id.clone()).collect();
    }

    fn close(&mut self, id: &QuestionId) {
        let at = self.open.iter().position(|open| open == id);
        self.open.remove(at.unwrap_or_else(|| panic!("{id:?} is settled, and was not open")));
        self.kept &= !self.open.is_empty();
    }
}
