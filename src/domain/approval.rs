//! What only a person can decide while Claude waits: one question, its card, its one answer.
//!
//! Owns the words of a question and of an answer. Who is asked when is the orchestrator's, what rules say is the
//! policy's, how a card looks is the screen's.

use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::answerer::Answerer;
use crate::domain::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which question: about one call, as it and its rules stood. Where one of them is changed, the call is asked about
/// again under the next revision, and an answer to an earlier one does not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct QuestionId {
    /// Claude's id of the call (`tool_use_id`).
    #[serde(rename = "id")]
    pub call: String,
    /// Counts from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub revision: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_first(revision: &u32) -> bool {
    *revision == 0
}

impl QuestionId {
    /// The first question about a call.
    pub fn first(call: impl Into<String>) -> Self {
        Self { call: call.into(), revision: 0 }
    }

    /// The question that takes the place of this one.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { call: self.call.clone(), revision: self.revision.saturating_add(1) }
    }
}

/// How the id of a message begins that tells Claude an answer whose process was gone.
pub const OF_ANSWER: &str = "answer-";

/// The words are a plain no.
pub fn is_no(words: &str) -> bool {
    let word = words.trim().trim_end_matches(['.', '!']).to_lowercase();
    ["n", "no", "deny"].contains(&word.as_str())
}

/// What Claude is told when the person gives no words with a no.
pub const NO: &str = "the user denied this call. Do not retry it in another form; take a different approach, or say \
what you need it for.";

/// The same of a question of its own.
pub const NO_ANSWER: &str = "the user does not answer this question. Do not ask it again; go on with what you know, or take the \
choice that is easiest to change later, and say which.";

/// Why a call is asked about again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// The rules were changed, and ask for another reason.
    RulesChanged,
    /// The rules were changed and cannot be used, which `reason` says.
    RulesUnusable,
    /// The person changed the call.
    Edited,
}

impl Again {
    pub fn words(self) -> &'static str {
        match self {
            Self::RulesChanged => "the rules were changed",
            Self::RulesUnusable => "the policy has an error",
            Self::Edited => "you edited the call",
        }
    }
}

/// Whether the rules of a run can be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesRead {
    /// Why they cannot, in words; `None`: they can again.
    pub trouble: Option<String>,
}

/// How the sentence begins that an answer to a call was not applied.
pub fn not_applied(tool: &str) -> String {
    format!("your answer to the {tool} call was not applied")
}

/// A question that a call of Claude's waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// Which question. A call waits for the answer to its latest one.
    #[serde(flatten)]
    pub id: QuestionId,
    /// Why it takes the place of an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
    pub n: u32,
    /// Its phase; `None` is the whole ticket.
    pub phase: Option<String>,
    /// What is asked. Not stored as `kind`: that is the record's own.
    #[serde(rename = "asks")]
    pub kind: ApprovalKind,
    /// `Bash`, `Edit`, …
    pub tool: String,
    /// The tool's input: JSON text, whole. It is what runs.
    pub input: String,
    /// The input that Claude asked with, where the person has changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_from: Option<String>,
    /// The folder that it is called from, absolute; `None` in journals of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    pub agent: Option<String>,
    /// What the call consists of, as the policy took it apart.
    pub units: Vec<UnitView>,
    pub rule: String,
    pub reason: String,
    pub asked: Timestamp,
    /// When it is answered with a denial by itself; `None`: never.
    pub expires: Option<Timestamp>,
    /// The policy could show what the call does, so a lasting rule may be made of it.
    pub provable: bool,
}

impl Approval {
    /// The call in a few words: tool and target, or the question. Raw: what it names may hide characters.
    pub fn words(&self) -> String {
        let input: serde_json::Value = serde_json::from_str(&self.input).unwrap_or_default();
        let text = |at: &str| input.pointer(at).and_then(|value| value.as_str());
        match self.kind {
            ApprovalKind::Question => {
                format!("asks: {}", first_line(text("/questions/0/question").unwrap_or_default()))
            }
            ApprovalKind::Plan => "has a plan: approve it?".into(),
            ApprovalKind::Call | ApprovalKind::Passphrase => {
                let mut targets =
                    ["/command", "/file_path", "/notebook_path", "/path", "/url", "/query", "/pattern"].into_iter();
                let target = targets.find_map(text).unwrap_or_default();
                format!("{} {}", self.tool, first_line(target)).trim_end().to_owned()
            }
        }
    }

    /// The kinds of calls that a yes to this one can be given for: one for each part that is asked about. `None` where one
    /// of them has no name.
    pub fn kinds(&self) -> Option<Vec<&str>> {
        if self.kind != ApprovalKind::Call {
            return None;
        }
        let asked = self.units.iter().filter(|unit| unit.verdict == Verdict::Ask);
        let mut kinds = asked.map(|unit| unit.kind.as_deref()).collect::<Option<Vec<_>>>()?;
        kinds.sort_unstable();
        kinds.dedup();
        (!kinds.is_empty()).then_some(kinds)
    }
}

/// The first line, and that there are more.
fn first_line(text: &str) -> String {
    match text.trim().split_once('\n') {
        Some((first, _)) => format!("{} …", first.trim_end()),
        None => text.trim().to_owned(),
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalKind {
    Call,
    /// May it run, for one who knows the passphrase?
    Passphrase,
    /// Claude's own question (`AskUserQuestion`): answered through the call's input.
    Question,
    /// Claude's plan (`ExitPlanMode`): good enough to begin?
    Plan,
}

impl ApprovalKind {
    /// What a tool asks by its nature: Claude's own words to the person. No rule answers these.
    pub fn always(tool: &str) -> Option<Self> {
        match tool {
            "AskUserQuestion" => Some(Self::Question),
            "ExitPlanMode" => Some(Self::Plan),
            _ => None,
        }
    }
}

/// Tools that only write files: what they write is seen in Changes and can be taken back.
pub const EDIT_TOOLS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];

/// Whether a tool runs its `command` in the shell.
pub fn runs_in_shell(tool: &str) -> bool {
    matches!(tool, "Bash" | "Monitor")
}

/// Who could be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Presence {
    /// A person at the screen: a question waits for them, unless nobody touches the screen for long.
    Screen,
    /// Nobody: a question is a denial.
    #[default]
    Nobody,
}

/// What the gate says about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The decision: the strictest of the units'.
    pub verdict: Verdict,
    /// The rule or profile that decided.
    pub rule: String,
    /// Why, in words; empty where the rule's name says it all.
    pub reason: String,
    /// What the call is about, in one clean line.
    pub target: String,
    /// What the call consists of.
    pub units: Vec<UnitView>,
    /// The engine could show what the call does.
    pub provable: bool,
}

impl Ruling {
    /// Rule and reason in one, for the journal and for Claude.
    pub fn words(&self) -> String {
        if self.reason.is_empty() { self.rule.clone() } else { format!("{}: {}", self.rule, self.reason) }
    }

    /// What the call consists of, for the journal: none for a call of one unit, of which all is said; of very many those
    /// that decided. Texts are cut.
    pub fn parts(&self) -> Vec<UnitView> {
        const MOST: usize = 40;
        const COLUMNS: usize = 200;
        let few = self.units.len() <= MOST;
        let told = self.units.iter().filter(|unit| self.units.len() > 1 && (few || unit.verdict == self.verdict));
        let cut = |unit: &UnitView| UnitView {
            text: clean_line(&unit.text, COLUMNS),
            reason: clean_line(&unit.reason, COLUMNS),
            ..unit.clone()
        };
        told.take(MOST).map(cut).collect()
    }

    /// The same call, blocked for another reason.
    #[must_use]
    pub fn blocked(self, rule: &str, reason: &str) -> Self {
        Self { verdict: Verdict::Block, rule: rule.to_owned(), reason: reason.to_owned(), ..self }
    }
}

/// One unit of a call and what the policy says of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitView {
    /// As it was spelled, in one line.
    pub text: String,
    /// What the rules say of it.
    pub verdict: Verdict,
    pub rule: String,
    pub reason: String,
    /// The kind of call that can be allowed for the rest of the run instead of this one alone, where it has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// The person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// This call runs, once, with this input: the one that was asked about, or the one that carries the answers to
    /// Claude's question. JSON text.
    Allow {
        input: String,
        /// Whether it holds for more than this call.
        scope: Scope,
    },
    /// It does not run; Claude reads the words.
    Deny {
        /// For Claude.
        words: String,
    },
}

/// The input of Claude's own question with the answers: each the text of a question and what was answered.
pub fn with_answers(input: &str, answers: &[(String, String)]) -> String {
    let mut whole = serde_json::from_str::<Map<String, Value>>(input).unwrap_or_default();
    let answers = answers.iter().map(|(question, answer)| (question.clone(), Value::String(answer.clone())));
    whole.insert("answers".into(), Value::Object(answers.collect()));
    Value::Object(whole).to_string()
}

/// How far a yes reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Once,
    /// This call again (same tool, input and folder), for the rest of this ticket's run while its rules hold.
    Ticket,
    /// Every call of the same [kind](UnitView::kind), as long as [`Ticket`](Self::Ticket).
    Kind,
    /// A rule in the person's policy file, shown before it is saved.
    Always,
}

/// How a question came to its end, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    #[serde(flatten)]
    pub id: QuestionId,
    pub answer: Answer,
    pub by: AnsweredBy,
}

/// A question that needs no answer any more, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voided {
    #[serde(flatten)]
    pub id: QuestionId,
    pub why: String,
}

/// A call that may not run as the person changed it, in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditRefused {
    /// The question, which still waits.
    #[serde(flatten)]
    pub id: QuestionId,
    pub why: String,
}

/// Who answered.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnsweredBy {
    Timeout,
    Nobody,
    /// Whoever is there could not be shown it.
    Unshown,
    /// An earlier answer: for the whole ticket, or to the same call of a process that is gone.
    Ticket,
    /// The rules, which were changed while it waited.
    Rules,
    #[serde(untagged)]
    Person(Answerer),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::record::Record;

    #[test]
    fn a_question_comes_back_from_the_journal_as_it_went() {
        let approval = Approval {
            id: QuestionId { call: "toolu_1".into(), revision: 3 },
            again: Some(Again::Edited),
            n: 2,
            phase: None,
            kind: ApprovalKind::Passphrase,
            tool: "Bash".into(),
            input: r#"{"command":"x"}"#.into(),
            edited_from: Some("{}".into()),
            cwd: Some("/w".into()),
            agent: Some("a".into()),
            units: vec![UnitView {
                text: "x".into(),
                verdict: Verdict::Ask,
                rule: "r".into(),
                reason: "w".into(),
                kind: None,
            }],
            rule: "r".into(),
            reason: "w".into(),
            asked: Timestamp::from_millis(5),
            expires: None,
            provable: true,
        };
        let answer = Answer::Allow { input: "{}".into(), scope: Scope::Ticket };
        for record in [
            Record::ApprovalAsked(approval),
            Record::ApprovalAnswered(Answered { id: QuestionId::first("t"), answer, by: AnsweredBy::Nobody }),
            Record::ApprovalVoid(Voided { id: QuestionId::first("t"), why: "w".into() }),
            Record::EditRefused(EditRefused { id: QuestionId { call: "t".into(), revision: 1 }, why: "w".into() }),
        ] {
            let json = serde_json::to_string(&record).unwrap();
            assert_eq!(json.matches(r#""kind":"#).count(), 1, "{json}");
            assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record, "{json}");
        }
    }

    #[test]
    fn a_journal_from_before_revisions_has_first_questions() {
        let old = r#"{"kind":"approval_answered","id":"t","answer":{"answer":"deny","words":"w"},"by":"screen"}"#;
        let Record::ApprovalAnswered(answered) = serde_json::from_str(old).unwrap() else { panic!("{old}") };
        assert_eq!(answered.id, QuestionId::first("t"));
        assert_eq!(serde_json::to_string(&Record::ApprovalAnswered(answered)).unwrap(), old);
        let old = r#"{"kind":"approval_asked","id":"t","n":1,"phase":null,"asks":"call","tool":"Bash","input":"{}",
            "agent":null,"units":[],"rule":"r","reason":"w","asked":"2026-07-01T08:00:00.000Z","expires":null,
            "provable":true}"#;
        let Record::ApprovalAsked(asked) = serde_json::from_str(old).unwrap() else { panic!("{old}") };
        assert_eq!((asked.id, asked.again, asked.edited_from), (QuestionId::first("t"), None, None));
        let old = r#"{"kind":"tool_judged","n":1,"tool_use_id":"t","tool":"Bash","target":"ls","verdict":"allow",
            "reason":"r","writes":false}"#;
        let Record::ToolJudged { target, units, .. } = serde_json::from_str(old).unwrap() else { panic!("{old}") };
        assert_eq!((target.as_str(), units), ("ls", vec![]));
    }
}
