//! The scenario: what the scripted agent says and does, as a YAML file. Owns its format and the choice of a turn;
//! does not perform anything ([`super::steps`] does).
//!
//! ```yaml
//! cli: 2.1.330                          # the version whose way is spoken; by default 2.1.197
//! logged_out: true                      # what `claude auth status` says; by default it is logged in
//! start: [ {hang: {}} ]                 # done before anything is read, so also before `initialize` is answered
//! turns:
//!   - when: {phase: "Greet", lacks: {greet.sh: "name="}}   # all conditions must hold
//!     before: [ {sleep_ms: 50} ]        # done before the turn's `init` record
//!     steps:
//!       - think: "…"
//!       - say: "Working on {phase}."
//!       - bash: "sh test.sh"
//!       - status: {summary: "Done."}
//!     after: [ second_result ]          # done after the turn's `result` record
//! ```
//!
//! **Choice of a turn.** The first that fits: `when.phase` (text in the current phase's name, else anywhere in a prompt
//! that shows no phases), `when.prompt` (text anywhere in the prompt), `when.follow_up` (`true`: a later message of the
//! same process that asks for the status block only; a turn with `when` but without this key takes no such message),
//! `when.critic` (`true`: a message that asks for a verdict on finished work; no other turn takes one), `when.evaluator`
//! and `when.planner` (the same for one that asks whether the ticket's goal is reached, and for a draft of phases),
//! `when.has` and `when.lacks` (path → text that a file must, must not hold). A turn without `when` is used once, one with
//! `when` any number of times; `times: N` says otherwise (0 = any number). What was used is remembered by folder and
//! scenario in `--state`, so order holds across processes. A message that no turn fits: a follow-up gets a status block,
//! a critic's message an approval, an evaluator's that the goal is reached, a planner's a draft of two phases,
//! another later message a short answer and the last block again, a first message says that it fits no turn.
//! `{phase}`, `{slug}` (as a file name) and `{prompt}` are filled in wherever a step has text.
//!
//! **Steps of work** (all asked for as the host ordered): `say`, `think`: text, streamed. `write: {path, content}`,
//! `edit: {path, old, new, unless?}` (left out when the file already holds `unless`, by default `new`, so that a turn
//! can be repeated), `read: path`, `bash: command`. `together: [tools]`: calls of one message. `parallel: [tools]`: the
//! same, all asked about before any is answered. `ask: {question, options, header?, multi?}`: a question to the person,
//! whose answer is `{answer}` from then on. `plan: text`: a plan to be approved. `agent: {description, prompt, steps?,
//! meanwhile?, then?}`: a subagent with steps of its own, in the foreground or in the background as the version does
//! it; the last step of a turn. `if_refused: [steps]`: done when the last call was refused. `tool_without_asking:
//! tool`: runs with no question at all. `status: {phase?, status?, files?, summary?, error?}`: the status block; by
//! default the current phase, `CONTINUE` (`DONE` for the last open phase), the files written in this turn; `phase: ""`
//! writes `null`. `verdict: {verdict?, issues?, summary?}`: a critic's block; by default `APPROVED`, each issue a text.
//! `goal: {verdict?, new_phases?, summary?}`: an evaluator's block; by default `ACHIEVED`, with phases `MORE_WORK`.
//! `draft: {title?, text?, tickets?, phases, validation?}`: a planner's block, each ticket `{title, text?, phases, after?}`.
//!
//! **Unpleasant steps**: `no_status` (says in the file that the block is missing on purpose), `broken_status`,
//! `sleep_ms: n`, `drip: {text, every_ms}` (a character at a time), `huge: n` (one text block of n bytes), `surrogate:
//! text` (text with an unpaired surrogate escape behind it), `raw: text` and `raw_hex: "ff00"` (bytes verbatim, no
//! newline added), `replay: file` (a file's bytes verbatim), `stderr: text`, `partial` (half a record, no newline),
//! `api_retry: {attempt?, status?, error?, delay_ms?}`, `api_error: {status?, kind, text?}` (ends the turn as the real
//! one does), `rate_limit_event: {status, resets_at?, kind?}`, `exit: code`, `die: KILL|TERM|SEGV|ABRT|…`, `hang: {}`
//! (no byte until interrupted; outside a turn for ever, also with stdin closed), `ignore_term` (from here on), `deaf`
//! (from here on no interrupt, signal or end of stdin is heard), `spawn_child: {ignore_term?, setsid?, holds_stdout?,
//! seconds?}`, `second_result`, `no_result` (the turn ends without one), `foreign: {wakes?, steps?}` (a turn at another
//! session's word, or at a wake-up; among `after`).

use super::dialect::Dialect;
use super::prompt::Asked;
use super::sessions::Memory;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const DEMO: &str = include_str!("../scenario.yaml");

/// A whole scenario.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The version whose way is spoken: `2.1.197` or `2.1.330`.
    #[serde(default)]
    pub cli: Dialect,
    /// `claude auth status` finds no account.
    #[serde(default)]
    pub logged_out: bool,
    /// Done before stdin is read.
    #[serde(default)]
    pub start: Vec<Step>,
    #[serde(default)]
    pub turns: Vec<Turn>,
    /// Where it was read from; `None`: the demo's own.
    #[serde(skip)]
    pub source: Option<PathBuf>,
}

/// What is done for one message of the host.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// When it fits; `None`: always, once.
    pub when: Option<When>,
    /// How often it is used at most; 0: any number.
    pub times: Option<usize>,
    #[serde(default)]
    pub before: Vec<Step>,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub after: Vec<Step>,
}

/// Conditions of a turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct When {
    /// Text in the current phase's name.
    pub phase: Option<String>,
    pub prompt: Option<String>,
    /// A message that asks for the status block only.
    pub follow_up: bool,
    /// A message that asks for a verdict on finished work.
    pub critic: bool,
    /// A message that asks whether the ticket's goal is reached.
    pub evaluator: bool,
    /// A message that asks for a draft of phases.
    pub planner: bool,
    /// Files that hold a text.
    pub has: BTreeMap<PathBuf, String>,
    /// Files that do not hold a text (a missing file holds none).
    pub lacks: BTreeMap<PathBuf, String>,
}

/// One step; the module's header says what each does.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Say(String),
    Think(String),
    Write { path: String, content: String },
    Edit { path: String, old: String, new: String, unless: Option<String> },
    Read(String),
    Bash(String),
    Together(Vec<Step>),
    Parallel(Vec<Step>),
    Ask(Question),
    Plan(String),
    Agent(Subagent),
    Foreign(Foreign),
    IfRefused(Vec<Step>),
    ToolWithoutAsking(Box<Step>),
    Status(Status),
    Verdict(Verdict),
    Goal(Goal),
    Draft(Drafted),
    NoStatus,
    BrokenStatus,
    SleepMs(u64),
    Drip { text: String, every_ms: u64 },
    Huge(usize),
    Surrogate(String),
    Raw(String),
    RawHex(String),
    Replay(PathBuf),
    Stderr(String),
    Partial,
    ApiRetry(Retry),
    ApiError { status: Option<u16>, kind: String, text: Option<String> },
    RateLimitEvent { status: String, resets_at: Option<u64>, kind: Option<String> },
    Exit(i32),
    Die(String),
    Hang {},
    IgnoreTerm,
    Deaf,
    SpawnChild(Child),
    SecondResult,
    NoResult,
}

/// The status block of a turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Status {
    /// The phase claimed; `None`: the current one, empty: `null`.
    pub phase: Option<String>,
    /// `CONTINUE`, `DONE` or `BLOCKED`.
    pub status: Option<String>,
    /// Files claimed; `None`: those written in this turn.
    pub files: Option<Vec<String>>,
    pub summary: Option<String>,
    pub error: Option<String>,
}

/// A critic's block.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Verdict {
    /// `APPROVED`, `MINOR_ISSUES` or `NEEDS_FIXES`.
    pub verdict: Option<String>,
    /// What is wrong: `path:line: words`.
    pub issues: Vec<String>,
    pub summary: Option<String>,
}

/// An evaluator's block.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Goal {
    /// `ACHIEVED` or `MORE_WORK`.
    pub verdict: Option<String>,
    pub new_phases: Vec<String>,
    pub summary: Option<String>,
}

/// A planner's block.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Drafted {
    pub title: Option<String>,
    pub text: Option<String>,
    pub tickets: Vec<DraftedTicket>,
    pub phases: Vec<String>,
    pub validation: Vec<String>,
}

/// A ticket that it splits off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DraftedTicket {
    pub title: String,
    pub text: String,
    pub phases: Vec<String>,
    pub after: Vec<usize>,
}

/// A question to the person, with answers to choose from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub question: String,
    #[serde(default)]
    pub header: String,
    pub options: Vec<String>,
    #[serde(default)]
    pub multi: bool,
}

impl Question {
    pub(super) fn input(&self) -> Value {
        let options = self.options.iter().map(|label| json!({"label": label, "description": label}));
        let options: Vec<Value> = options.collect();
        json!({"questions": [{"question": self.question, "header": self.header, "options": options,
                              "multiSelect": self.multi}]})
    }
}

/// A subagent. In the foreground: its steps, then `then`. In the background: `meanwhile`, the end of the turn, its steps,
/// and `then` in a turn of its own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subagent {
    pub description: String,
    pub prompt: String,
    #[serde(default)]
    pub steps: Vec<Step>,
    /// What Claude does while it works in the background.
    #[serde(default)]
    pub meanwhile: Vec<Step>,
    /// What Claude does once it has ended.
    #[serde(default)]
    pub then: Vec<Step>,
}

/// A turn that no message of the host's began.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Foreign {
    /// A wake-up that Claude had set, not the message of another session.
    #[serde(default)]
    pub wakes: bool,
    #[serde(default)]
    pub steps: Vec<Step>,
}

/// An `api_retry` record.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    pub attempt: u32,
    /// HTTP status; `None`: the connection.
    pub status: Option<u16>,
    /// `rate_limit`, `authentication_failed`, …
    pub error: String,
    /// The pause, which is also slept, in milliseconds.
    pub delay_ms: f64,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempt: 1, status: Some(429), error: "rate_limit".to_owned(), delay_ms: 10.5 }
    }
}

/// A process left behind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Child {
    pub ignore_term: bool,
    /// It leads a session of its own.
    pub setsid: bool,
    /// It keeps the agent's stdout open.
    pub holds_stdout: bool,
    /// How long it lives, in seconds.
    pub seconds: u32,
}

impl Default for Child {
    fn default() -> Self {
        Self { ignore_term: false, setsid: false, holds_stdout: false, seconds: 600 }
    }
}

/// One message of the host, as far as the choice needs it.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub text: &'a str,
    pub asked: &'a Asked,
    /// It asks for the status block only.
    pub follow_up: bool,
}

impl Scenario {
    /// Reads `file`, or the demo's own script. The error names the file and the place.
    pub fn load(file: Option<&Path>) -> Result<Self, String> {
        let (text, name) = match file {
            Some(file) => (
                std::fs::read_to_string(file)
                    .map_err(|e| format!("Error: the scenario {} cannot be read: {e}", file.display()))?,
                file.display().to_string(),
            ),
            None => (DEMO.to_owned(), "the demo's scenario".to_owned()),
        };
        let mut scenario: Self = serde_yaml::from_str(&text).map_err(|e| format!("Error: {name}: {e}"))?;
        scenario.source = file.map(Path::to_owned);
        Ok(scenario)
    }

    /// The turn for `message`, remembered as used.
    pub fn choose(&self, message: Message, cwd: &Path, memory: &Memory) -> Option<Turn> {
        let used = memory.used(self.source.as_deref());
        let (at, turn) = self.turns.iter().enumerate().find(|(at, turn)| {
            let times = turn.times.unwrap_or(usize::from(turn.when.is_none()));
            let count = used.iter().filter(|used| *used == at).count();
            let fits = turn.when.as_ref().map_or(!message.asked.only_looks(), |when| when.fits(message, cwd));
            (times == 0 || count < times) && fits
        })?;
        memory.use_turn(self.source.as_deref(), at);
        Some(turn.clone())
    }
}

impl When {
    fn fits(&self, message: Message, cwd: &Path) -> bool {
        let holds = |(path, text): (&PathBuf, &String)| {
            std::fs::read_to_string(cwd.join(path)).is_ok_and(|content| content.contains(text))
        };
        let in_phase = |text: &String| match &message.asked.phase {
            Some(phase) => phase.to_lowercase().contains(&text.to_lowercase()),
            None => message.text.contains(text),
        };
        self.follow_up == message.follow_up
            && (self.critic, self.planner) == (message.asked.critic, message.asked.planner)
            && self.evaluator == message.asked.evaluator
            && self.phase.as_ref().is_none_or(in_phase)
            && self.prompt.as_ref().is_none_or(|text| message.text.contains(text))
            && self.has.iter().all(holds)
            && !self.lacks.iter().any(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_and_every_kind_of_step_can_be_read() {
        assert!(Scenario::load(None).unwrap().turns.len() >= 6);
        let text = r#"
start: [{hang: {}}, deaf]
turns:
  - steps:
      - say: "hi"
      - edit: {path: a, old: b, new: c}
      - together: [{bash: "true"}, {read: a}]
      - tool_without_asking: {write: {path: x, content: y}}
      - parallel: [{bash: "true"}, {read: a}]
      - ask: {question: "Which?", options: [a, b]}
      - plan: "First this."
      - status: {phase: "", files: []}
      - no_status
      - spawn_child: {ignore_term: true}
      - api_retry: {status: 401, error: authentication_failed}
      - api_error: {status: 529, kind: server_error}
      - drip: {text: slow, every_ms: 1}
      - status: {}
      - exit: 3
"#;
        let scenario: Scenario = serde_yaml::from_str(text).unwrap();
        assert_eq!(scenario.turns[0].steps.len(), 15);
        assert!(serde_yaml::from_str::<Scenario>("turns: [{steps: [{sya: x}]}]").is_err());
    }

    #[test]
    fn turns_are_chosen_by_order_phase_and_files() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::at(folder.path(), folder.path());
        let scenario: Scenario = serde_yaml::from_str(
            "turns: [{steps: [{say: a}]}, {when: {phase: two, lacks: {f: x}}, steps: [{say: b}]}, {when: {phase: two}, steps: [{say: c}]}, {times: 0, steps: [{say: d}]}]",
        )
        .unwrap();
        let asked = Asked { phase: Some("Phase TWO".to_owned()), ..Asked::default() };
        let said = || {
            let message = Message { text: "", asked: &asked, follow_up: false };
            let turn = scenario.choose(message, folder.path(), &memory).unwrap();
            format!("{:?}", turn.steps[0])
        };
        assert_eq!(said(), "Say(\"a\")");
        assert_eq!(said(), "Say(\"b\")");
        std::fs::write(folder.path().join("f"), "x").unwrap();
        assert_eq!([said(), said()], ["Say(\"c\")", "Say(\"c\")"]);
        let follow_up = Message { text: "", asked: &asked, follow_up: true };
        let turn = scenario.choose(follow_up, folder.path(), &memory).unwrap();
        assert_eq!(format!("{:?}", turn.steps[0]), "Say(\"d\")");
    }
}
