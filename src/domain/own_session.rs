//! A Claude session that the person has started themselves, in a terminal of their own: what its hooks tell, and what they are
//! told. To the store it is a run without a ticket, of which only questions are known.
//!
//! Claude Code's side of it: <https://code.claude.com/docs/en/hooks>.

use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::approval::{Answer, Approval, ApprovalKind, EDIT_TOOLS, NO, QuestionId, UnitView, is_no};
use crate::domain::verdict::Verdict;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// The folder in the state folder under which sessions are known, as tickets are by their files. It is never made.
pub const PLACE: &str = "own-sessions";
/// Behind `session-` in the id: so many digits of Claude's own id of the session.
const MARK: usize = 8;
/// Characters of Claude's last words.
const LAST_WORDS: usize = 500;
/// What a call is asked about by; no name of a rule, but a sentence.
pub const RULE: &str = "Claude Code asks about this call";
/// What the id of such a session begins with.
pub const PREFIX: &str = "session-";
/// What the tool is called that asks for more when Claude has finished.
pub const FINISHED: &str = "Stop";
/// That of a session whose mark is zero: a UUID of version 8, which nothing else makes.
const FIRST_RUN: u128 = 0x0000_0000_0000_8000_8000_0000_0000_0000;
/// What Claude tells before each call.
const BEFORE: &str = "PreToolUse";

/// Whether an id is that of such a session.
pub fn is_id(id: &TicketId) -> bool {
    let is_mark = |mark: &str| mark.len() == MARK && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    id.as_str().strip_prefix(PREFIX).is_some_and(is_mark)
}

/// Whether what has this id and stands for this file is such a session: a ticket of the person's may be called so.
pub fn is(id: &TicketId, file: &str) -> bool {
    is_id(id) && Path::new(file).parent().is_some_and(|folder| folder.ends_with(PLACE))
}

/// What a hook was started for.
#[derive(Clone, Debug, PartialEq)]
pub struct Heard {
    pub session: TicketId,
    /// The directory that Claude works in.
    pub folder: String,
    pub transcript: Option<PathBuf>,
    /// The file of the call lies in that directory, wherever links lead.
    pub is_inside: bool,
    pub event: Event,
}

/// What has happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Claude shows the person its own question about a call.
    Call { tool: String, input: Value, agent: Option<String> },
    /// Claude has finished, with these words where they are known.
    Finished { words: Option<String> },
}

#[derive(Deserialize)]
struct Told {
    session_id: String,
    cwd: String,
    transcript_path: Option<PathBuf>,
    hook_event_name: String,
    tool_name: Option<String>,
    #[serde(default)]
    tool_input: Value,
    agent_id: Option<String>,
    agent_type: Option<String>,
    #[serde(default)]
    stop_hook_active: bool,
    last_assistant_message: Option<String>,
}

/// What Claude has written to a hook's stdin; `None`: it is nothing that somebody is asked about elsewhere. Claude's own
/// questions and plans are not: its prompt takes no plain yes for them.
pub fn read(told: &[u8]) -> Option<Heard> {
    let told: Told = serde_json::from_slice(told).ok()?;
    let session = id(&told.session_id)?;
    let is_absolute = told.cwd.starts_with('/');
    let event = match (told.hook_event_name.as_str(), told.tool_name) {
        ("PermissionRequest", Some(tool)) if ApprovalKind::always(&tool).is_none() && told.tool_input.is_object() => {
            Event::Call { tool, input: told.tool_input, agent: told.agent_type }
        }
        // Claude goes on because of the answer to an earlier one.
        ("Stop", _) if !told.stop_hook_active => Event::Finished { words: told.last_assistant_message },
        _ => return None,
    };
    // A subagent has one of its own.
    let transcript = match (told.transcript_path, told.agent_id) {
        (Some(main), Some(agent)) if agent.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => {
            Some(main.with_extension("").join("subagents").join(format!("agent-{agent}.jsonl")))
        }
        (main, _) => main,
    };
    is_absolute.then_some(Heard { session, folder: told.cwd, transcript, is_inside: false, event })
}

/// A call that Claude is about to make.
#[derive(Debug, PartialEq)]
pub struct Coming {
    /// Claude's own id of the session.
    pub session: String,
    /// The directory that Claude works in.
    pub folder: String,
    pub tool: String,
    pub input: Value,
}

/// The call that Claude is about to make; `None`: Claude has told something else, or asks the person something itself.
pub fn coming(told: &[u8]) -> Option<Coming> {
    let told: Told = serde_json::from_slice(told).ok()?;
    let tool = told.tool_name.filter(|tool| told.hook_event_name == BEFORE && ApprovalKind::always(tool).is_none())?;
    let is_whole = told.tool_input.is_object() && told.cwd.starts_with('/');
    is_whole.then_some(Coming { session: told.session_id, folder: told.cwd, tool, input: told.tool_input })
}

/// What Claude is told of a call that it is not simply to make: the hook's output.
pub fn held_back(verdict: Verdict, why: &str) -> Value {
    let decision = if verdict == Verdict::Block { "deny" } else { "ask" };
    json!({"hookSpecificOutput": {
        "hookEventName": BEFORE, "permissionDecision": decision, "permissionDecisionReason": format!("programmator: {why}"),
    }})
}

/// A session that has begun, was resumed, cleared or compacted.
#[derive(Debug, PartialEq)]
pub struct Begun {
    pub session: TicketId,
    /// The directory that Claude works in.
    pub folder: String,
    /// The file in which Claude Code writes it down; it need not be there yet.
    pub transcript: Option<PathBuf>,
}

/// The session that has begun; `None`: Claude has told something else.
pub fn begun(told: &[u8]) -> Option<Begun> {
    let told: Told = serde_json::from_slice(told).ok()?;
    let is_begun = told.hook_event_name == "SessionStart" && told.cwd.starts_with('/');
    let session = is_begun.then(|| id(&told.session_id)).flatten()?;
    Some(Begun { session, folder: told.cwd, transcript: told.transcript_path.filter(|path| is_transcript(path)) })
}

/// The file in which Claude Code writes the session down, of whatever it tells.
pub fn transcript(told: &[u8]) -> Option<PathBuf> {
    serde_json::from_slice::<Told>(told).ok()?.transcript_path.filter(|path| is_transcript(path))
}

/// A file of this name may be a transcript.
fn is_transcript(path: &Path) -> bool {
    path.is_absolute() && path.extension().is_some_and(|kind| kind == "jsonl")
}

/// The run of a session's questions, where none has begun: the same for whoever looks.
pub fn run_of(session: &TicketId) -> RunId {
    let mark = session.as_str().rsplit('-').next().and_then(|mark| u32::from_str_radix(mark, 16).ok());
    RunId(uuid::Uuid::from_u128(FIRST_RUN | u128::from(mark.unwrap_or_default())))
}

/// The session that this names: as it is named here, or as Claude Code names it.
pub fn named(name: &str) -> Option<TicketId> {
    let own = || uuid::Uuid::parse_str(name).ok().and_then(|_| id(name));
    TicketId::parse(name).ok().filter(is_id).or_else(own)
}

/// The session that has ended; `None`: Claude has told something else.
pub fn ended(told: &[u8]) -> Option<TicketId> {
    let told: Told = serde_json::from_slice(told).ok()?;
    (told.hook_event_name == "SessionEnd").then(|| id(&told.session_id)).flatten()
}

/// The id of the session that Claude has given this one.
pub(super) fn id(session: &str) -> Option<TicketId> {
    TicketId::parse(&format!("{PREFIX}{}", session.get(..MARK)?)).ok().filter(is_id)
}

/// What a session in this directory is called.
pub fn title(folder: &str) -> String {
    let name = Path::new(folder).file_name().map_or("/".into(), |name| name.to_string_lossy());
    clean_line(&format!("Your Claude session in {name}"), 120)
}

impl Heard {
    /// What the session is called.
    pub fn title(&self) -> String {
        title(&self.folder)
    }

    /// The question that the person is asked. `id` is of nobody else's.
    pub fn question(&self, id: String, now: Timestamp) -> Approval {
        let (kind, tool, input, agent) = match &self.event {
            Event::Call { tool, input, agent } => (ApprovalKind::Call, tool.clone(), input.clone(), agent.clone()),
            Event::Finished { words } => {
                let words = words.as_deref().unwrap_or_default().trim();
                let last: String = words.chars().take(LAST_WORDS).collect();
                let more = if last.len() < words.len() { " …" } else { "" };
                let question = format!("Claude has finished. What next?\n\n{last}{more}");
                let asked = json!({"questions": [{"question": question.trim_end(), "options": []}]});
                (ApprovalKind::Question, FINISHED.to_owned(), asked, None)
            }
        };
        Approval {
            id: QuestionId::first(id),
            again: None,
            n: 0,
            phase: None,
            kind,
            tool,
            input: input.to_string(),
            edited_from: None,
            cwd: Some(self.folder.clone()),
            agent,
            units: self.edits().into_iter().collect(),
            rule: RULE.to_owned(),
            reason: String::new(),
            asked: now,
            expires: None,
            provable: false,
        }
    }

    /// The file that the call names.
    pub fn file(&self) -> Option<&Path> {
        let Event::Call { input, .. } = &self.event else { return None };
        input["file_path"].as_str().map(Path::new)
    }

    /// A plain edit of a file of the session's folder, of which all like it can be allowed at once; what else is edited may
    /// have more to say than others see.
    fn edits(&self) -> Option<UnitView> {
        let Event::Call { tool, .. } = &self.event else { return None };
        let path = self.file().filter(|_| self.is_inside && EDIT_TOOLS.contains(&tool.as_str()))?;
        let inside = path.strip_prefix(&self.folder).ok()?;
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(name) if !name.as_encoded_bytes().starts_with(b"."));
        inside.components().all(is_plain).then(|| UnitView {
            text: clean_line(&path.to_string_lossy(), 200),
            verdict: Verdict::Ask,
            rule: RULE.to_owned(),
            reason: String::new(),
            kind: Some(format!("{tool} calls on files in {}", self.folder)),
        })
    }

    /// What Claude is told: the hook's output.
    pub fn told(&self, answer: &Answer) -> Value {
        let decision = match (&self.event, answer) {
            (Event::Finished { .. }, answer) => {
                return next_words(answer)
                    .map_or_else(|| json!({}), |words| json!({"decision": "block", "reason": words}));
            }
            (Event::Call { .. }, Answer::Allow { .. }) => json!({"behavior": "allow"}),
            (Event::Call { .. }, Answer::Deny { words }) if words.trim().is_empty() => {
                json!({"behavior": "deny", "message": NO, "interrupt": true})
            }
            (Event::Call { .. }, Answer::Deny { words }) => json!({"behavior": "deny", "message": words}),
        };
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}})
    }
}

/// What Claude is to do by this answer to the end of a turn; `None`: it stops.
pub fn next_words(answer: &Answer) -> Option<String> {
    let words = match answer {
        Answer::Allow { input, .. } => first_answer(input),
        Answer::Deny { words } => Some(words.clone()),
    };
    // A plain no lets it stop.
    words.filter(|words| !words.trim().is_empty() && !is_no(words) && words.trim().to_lowercase() != "nothing")
}

fn first_answer(input: &str) -> Option<String> {
    let input: Value = serde_json::from_str(input).ok()?;
    Some(input["answers"].as_object()?.values().next()?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::approval::{Scope, with_answers};

    fn told(more: &Value) -> Vec<u8> {
        let mut told = json!({
            "session_id": "1a2b3c4d-0000-4000-8000-000000000000", "cwd": "/w/shop", "transcript_path": "/t/1a2b3c4d.jsonl",
        });
        let fields = more.as_object().unwrap().clone();
        told.as_object_mut().unwrap().extend(fields);
        told.to_string().into_bytes()
    }

    #[test]
    fn what_is_no_question_for_somebody_else_is_nothing() {
        let call =
            json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let heard = read(&told(&call)).unwrap();
        assert_eq!(
            (heard.session.as_str(), heard.title().as_str()),
            ("session-1a2b3c4d", "Your Claude session in shop")
        );
        let with = |name: &str, value: Value| {
            let mut call = call.clone();
            call[name] = value;
            read(&told(&call))
        };
        let of_agent = with("agent_id", json!("a1")).unwrap().transcript.unwrap();
        assert_eq!(of_agent, Path::new("/t/1a2b3c4d/subagents/agent-a1.jsonl"));
        assert_eq!(with("agent_id", json!("../x")).unwrap().transcript.unwrap(), Path::new("/t/1a2b3c4d.jsonl"));
        for (name, value) in [
            ("session_id", json!("../../../etc/passwd")),
            ("session_id", json!("1a2b")),
            ("session_id", json!("éééééééé")),
            ("session_id", json!(7)),
            ("cwd", json!("shop")),
            ("tool_input", json!("ls")),
            ("tool_name", json!("AskUserQuestion")),
            ("tool_name", json!("ExitPlanMode")),
            ("hook_event_name", json!("Notification")),
            ("hook_event_name", json!("SubagentStop")),
        ] {
            assert_eq!(with(name, value.clone()), None, "{name}: {value}");
        }
        for bytes in [&b""[..], b"{", b"[]", b"\xff\xfe", b"null"] {
            assert_eq!(read(bytes), None);
        }
        assert_eq!(read(&told(&json!({"hook_event_name": "Stop", "stop_hook_active": true}))), None);
        let over = told(&json!({"hook_event_name": "SessionEnd", "reason": "other"}));
        assert_eq!((read(&over), ended(&over).unwrap().as_str()), (None, "session-1a2b3c4d"));
        assert_eq!((ended(&told(&call)), begun(&told(&call)), begun(&over)), (None, None, None));
        let start = told(&json!({"hook_event_name": "SessionStart", "source": "resume"}));
        let Begun { session, folder, transcript } = begun(&start).unwrap();
        assert_eq!((session.as_str(), folder.as_str()), ("session-1a2b3c4d", "/w/shop"));
        assert_eq!(transcript.as_deref(), Some(Path::new("/t/1a2b3c4d.jsonl")));
        for path in ["/etc/passwd", "t.jsonl"] {
            let start = told(&json!({"hook_event_name": "SessionStart", "transcript_path": path}));
            assert_eq!(begun(&start).unwrap().transcript, None, "{path}");
        }
        assert_eq!(run_of(&session).short(), "1a2b3c4d");
        for name in ["session-1a2b3c4d", "1a2b3c4d-0000-4000-8000-000000000000"] {
            assert_eq!(named(name), Some(session.clone()));
        }
        for name in ["session-1a2b", "1a2b3c4d", "tk-4f2a", "", "../x"] {
            assert_eq!(named(name), None, "{name}");
        }
        for (name, value) in [("session_id", json!("../../..")), ("cwd", json!("shop"))] {
            let mut start: Value = serde_json::from_slice(&start).unwrap();
            start[name] = value;
            assert_eq!((begun(start.to_string().as_bytes()), read(start.to_string().as_bytes())), (None, None));
        }
    }

    #[test]
    fn only_plain_edits_in_its_folder_are_of_one_kind() {
        let kinds_of = |is_inside: bool, tool: &str, path: &str| {
            let call =
                json!({"hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": {"file_path": path}});
            let heard = Heard { is_inside, ..read(&told(&call)).unwrap() };
            heard.question("q".into(), Timestamp::from_millis(1)).kinds().map(|kinds| kinds.concat())
        };
        let kinds = |tool: &str, path: &str| kinds_of(true, tool, path);
        assert_eq!(kinds_of(false, "Edit", "/w/shop/src/a.rs"), None, "a link leads out of it");
        assert_eq!(kinds("Edit", "/w/shop/src/a.rs").as_deref(), Some("Edit calls on files in /w/shop"));
        assert_eq!(kinds("Write", "/w/shop/src/a.rs").as_deref(), Some("Write calls on files in /w/shop"));
        for (tool, path) in [
            ("Bash", "/w/shop/a"),
            ("Edit", "/w/shop/../x"),
            ("Edit", "/w/other/a"),
            ("Edit", "/w/shop/.git/hooks/pre-commit"),
            ("Write", "/w/shop/.env"),
            ("Edit", "a.rs"),
        ] {
            assert_eq!(kinds(tool, path), None, "{tool} {path}");
        }
    }

    #[test]
    fn only_an_explicit_no_denies_and_words_do_not_interrupt() {
        let call =
            json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        let heard = read(&told(&call)).unwrap();
        let decision = |answer: Answer| heard.told(&answer)["hookSpecificOutput"]["decision"].clone();
        let allow = Answer::Allow { input: String::new(), scope: Scope::Once };
        assert_eq!(decision(allow), json!({"behavior": "allow"}));
        let no = decision(Answer::Deny { words: " ".into() });
        assert_eq!(no, json!({"behavior": "deny", "message": NO, "interrupt": true}));
        let words = decision(Answer::Deny { words: "use mv".into() });
        assert_eq!(words, json!({"behavior": "deny", "message": "use mv"}));
    }

    #[test]
    fn the_answer_to_the_end_of_a_turn_is_the_next_one_s_beginning() {
        let long = "é".repeat(LAST_WORDS + 1);
        let heard = read(&told(&json!({"hook_event_name": "Stop", "last_assistant_message": long}))).unwrap();
        let approval = heard.question("q".into(), Timestamp::from_millis(1));
        assert_eq!(approval.words(), "asks: Claude has finished. What next? …");
        let question: Value = serde_json::from_str(&approval.input).unwrap();
        let question = question["questions"][0]["question"].as_str().unwrap().to_owned();
        assert!(question.ends_with("é …") && question.chars().count() < LAST_WORDS + 50);
        let input = with_answers(&approval.input, &[(question, "now the tests".into())]);
        let told = |answer: &Answer| heard.told(answer);
        let block = json!({"decision": "block", "reason": "now the tests"});
        assert_eq!(told(&Answer::Allow { input, scope: Scope::Once }), block);
        assert_eq!(told(&Answer::Deny { words: "now the tests".into() }), block);
        assert_eq!(told(&Answer::Deny { words: String::new() }), json!({}));
        assert_eq!(told(&Answer::Allow { input: "{}".into(), scope: Scope::Once }), json!({}));
    }
}
