//! Asking before a tool runs: the hook callbacks of `initialize`, then `can_use_tool`.
//!
//! Fails as the real CLI does: no opinion of a hook falls back to the permission mode, a hook out of time
//! refuses, a `can_use_tool` that is not answered properly refuses.

use super::host::{Host, Reply};
use super::records::Book;
use super::tools::Outcome;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;

/// Who let a call run or not: a hook.
pub const HOOK: &str = "hook";
/// The same: nobody but the configuration and the mode.
pub const CONFIG: &str = "config";
/// What a hook that ran out of time becomes.
const LATE: &str = "The user doesn't want to take this action right now. STOP what you are doing and wait for the user to \
                    tell you how to proceed.";

/// A tool call about to run.
#[derive(Clone, Debug)]
pub struct Call {
    pub id: String,
    pub name: &'static str,
    pub input: Value,
}

/// What came of asking.
#[derive(Debug)]
pub enum HookVerdict {
    /// It runs, with this input, at this one's word.
    Allowed(Value, &'static str),
    /// It does not run, at this one's word; the model gets this.
    Denied(Outcome, &'static str),
    Aborted,
}

/// What the hooks say together: deny beats ask beats allow.
enum Opinion {
    None,
    Allow(Option<Value>),
    Ask(Option<Value>, String),
    Deny(String),
    Late,
    Aborted,
}

/// Asks everyone who has a say about `call`.
pub fn decide(host: &mut Host, book: &Book, prompt_id: &str, call: &Call) -> HookVerdict {
    decide_all(host, book, prompt_id, std::slice::from_ref(call)).pop().unwrap_or(HookVerdict::Aborted)
}

/// The same for several calls at once, as those of parallel subagents are: all are asked about before any is
/// answered.
pub fn decide_all(host: &mut Host, book: &Book, prompt_id: &str, calls: &[Call]) -> Vec<HookVerdict> {
    let opinions = opinions(host, book, prompt_id, calls);
    let steps: Vec<HookStep> =
        calls.iter().zip(opinions).map(|(call, opinion)| step(host, book, call, opinion)).collect();
    let requests: Vec<Value> = steps.iter().filter_map(HookStep::request).cloned().collect();
    let mut replies = host.ask_all(&requests, None).into_iter();
    let answered = |step| match step {
        HookStep::Decided(verdict) => verdict,
        HookStep::AskHost(_) => replies.next().map_or(HookVerdict::Aborted, verdict_of),
    };
    steps.into_iter().map(answered).collect()
}

/// Where a call stands after the hooks.
enum HookStep {
    Decided(HookVerdict),
    AskHost(Value),
}

impl HookStep {
    fn request(&self) -> Option<&Value> {
        match self {
            Self::AskHost(request) => Some(request),
            Self::Decided(_) => None,
        }
    }
}

fn step(host: &Host, book: &Book, call: &Call, opinion: Opinion) -> HookStep {
    let mut input = call.input.clone();
    let (rewritten, reason) = match opinion {
        Opinion::Aborted => return HookStep::Decided(HookVerdict::Aborted),
        Opinion::Late => {
            let refused = Outcome { result: json!("Error: undefined"), ..Outcome::error(LATE) };
            return HookStep::Decided(HookVerdict::Denied(refused, HOOK));
        }
        Opinion::Deny(reason) => {
            let reason = host.dialect().refusal(call.name, &reason);
            return HookStep::Decided(HookVerdict::Denied(Outcome::error(&reason), HOOK));
        }
        Opinion::Allow(rewritten) => return HookStep::Decided(HookVerdict::Allowed(rewritten.unwrap_or(input), HOOK)),
        Opinion::Ask(rewritten, reason) => (rewritten, Some(reason)),
        Opinion::None if host.mode == "bypassPermissions" || harmless(call, book) => {
            return HookStep::Decided(HookVerdict::Allowed(input, CONFIG));
        }
        Opinion::None if host.mode == "acceptEdits" && matches!(call.name, "Write" | "Edit") => {
            return HookStep::Decided(HookVerdict::Allowed(input, CONFIG));
        }
        Opinion::None => (None, None),
    };
    if let Some(rewritten) = rewritten {
        input = rewritten;
    }
    if host.mode == "dontAsk" || !host.asks_host {
        return HookStep::Decided(HookVerdict::Denied(Outcome::error(&ungranted(call)), CONFIG));
    }
    let mut question = question(call, &input, reason.as_deref());
    if let Some(within) = &book.within {
        question["agent_id"] = json!(within.agent);
    }
    HookStep::AskHost(question)
}

/// Tells the hooks of `event` what happened; what they answer changes nothing.
pub fn tell(host: &mut Host, book: &Book, prompt_id: &str, event: &str, tool: &str, fields: &Value) {
    for (callback, patience) in callbacks(&host.hooks, event, tool) {
        let mut input = book.hook_input(event, &host.mode, prompt_id);
        extend(&mut input, fields);
        let mut request = json!({"subtype": "hook_callback", "callback_id": callback, "input": input});
        if let Some(id) = fields.get("tool_use_id") {
            request["tool_use_id"] = id.clone();
        }
        if matches!(host.ask(&request, patience), Reply::Aborted) {
            return;
        }
    }
}

/// What the hooks say of each call. The callbacks of one call are asked one after another.
fn opinions(host: &mut Host, book: &Book, prompt_id: &str, calls: &[Call]) -> Vec<Opinion> {
    let hooks: Vec<_> = calls.iter().map(|call| callbacks(&host.hooks, "PreToolUse", call.name)).collect();
    let mut opinions: Vec<Opinion> = calls.iter().map(|_| Opinion::None).collect();
    for round in 0..hooks.iter().map(Vec::len).max().unwrap_or(0) {
        let is_final = |opinion: &Opinion| matches!(opinion, Opinion::Deny(_) | Opinion::Late | Opinion::Aborted);
        let open = |at: &usize| hooks[*at].len() > round && !is_final(&opinions[*at]);
        let at: Vec<usize> = (0..calls.len()).filter(open).collect();
        let ask = |at: &usize| {
            let (call, callback) = (&calls[*at], &hooks[*at][round].0);
            let mut input = book.hook_input("PreToolUse", &host.mode, prompt_id);
            extend(&mut input, &json!({"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id}));
            json!({"subtype": "hook_callback", "callback_id": callback, "input": input, "tool_use_id": call.id})
        };
        let requests: Vec<Value> = at.iter().map(ask).collect();
        let patience = at.iter().filter_map(|at| hooks[*at][round].1).min();
        for (at, reply) in at.into_iter().zip(host.ask_all(&requests, patience)) {
            let so_far = std::mem::replace(&mut opinions[at], Opinion::None);
            opinions[at] = so_far.with(reply);
        }
    }
    opinions
}

impl Opinion {
    /// One hook more has answered.
    fn with(self, reply: Reply) -> Self {
        let answer = match reply {
            Reply::Said(answer) => answer,
            Reply::Failed(_) => return self,
            Reply::Late => return Self::Late,
            Reply::Aborted => return Self::Aborted,
        };
        let said = &answer["hookSpecificOutput"];
        let reason = said["permissionDecisionReason"].as_str().unwrap_or_default().to_owned();
        let rewritten = said["updatedInput"].is_object().then(|| said["updatedInput"].clone());
        match (said["permissionDecision"].as_str(), self) {
            (Some("deny"), _) => Self::Deny(reason),
            (Some("ask"), _) => Self::Ask(rewritten, reason),
            (Some("allow"), Self::None) => Self::Allow(rewritten),
            (_, so_far) => so_far,
        }
    }
}

fn question(call: &Call, input: &Value, reason: Option<&str>) -> Value {
    let about = ["command", "file_path"].iter().find_map(|key| input[*key].as_str()).unwrap_or(call.name);
    let mut request = json!({"subtype": "can_use_tool", "tool_name": call.name, "display_name": call.name,
                             "input": input, "description": about});
    match reason {
        Some(reason) => {
            request["decision_reason"] = json!(reason);
            request["decision_reason_type"] = json!("hook");
        }
        None => {
            request["permission_suggestions"] =
                json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
        }
    }
    request["tool_use_id"] = json!(call.id);
    request
}

fn verdict_of(reply: Reply) -> HookVerdict {
    let failed = |why: &str| Outcome::error(&format!("Tool permission request failed: {why}"));
    match reply {
        Reply::Aborted | Reply::Late => HookVerdict::Aborted,
        Reply::Failed(why) => HookVerdict::Denied(failed(&format!("Error: {why}")), CONFIG),
        Reply::Said(answer) => match (answer["behavior"].as_str(), &answer["updatedInput"], answer["message"].as_str())
        {
            (Some("allow"), Value::Object(input), _) => {
                HookVerdict::Allowed(Value::Object(input.clone()), "user_temporary")
            }
            (Some("deny"), _, Some(_)) if answer["interrupt"] == true => HookVerdict::Aborted,
            (Some("deny"), _, Some(message)) => HookVerdict::Denied(Outcome::error(message), "user_reject"),
            _ => HookVerdict::Denied(failed("ZodError: [\n  {\n    \"code\": \"invalid_union\"\n  }\n]"), CONFIG),
        },
    }
}

/// Ids and time limits of the callbacks for `event`; a matcher is a name, `A|B`, or absent, empty, `*` for all.
fn callbacks(hooks: &Value, event: &str, tool: &str) -> Vec<(String, Option<Duration>)> {
    let fits = |matcher: &Value| match matcher.as_str() {
        None | Some("" | "*") => true,
        Some(names) => names.split('|').any(|name| name == tool),
    };
    let groups = hooks[event].as_array().into_iter().flatten().filter(|group| fits(&group["matcher"]));
    groups
        .flat_map(|group| {
            let patience = group["timeout"].as_f64().and_then(|s| Duration::try_from_secs_f64(s).ok());
            let ids = group["hookCallbackIds"].as_array().into_iter().flatten();
            ids.filter_map(move |id| Some((id.as_str()?.to_owned(), patience)))
        })
        .collect()
}

/// What `default` mode lets pass without a question.
fn harmless(call: &Call, book: &Book) -> bool {
    let echoes = call.input["command"]
        .as_str()
        .is_some_and(|command| command.starts_with("echo ") && !command.contains(['>', '|', ';', '&', '$', '`', '\n']));
    let inside = call.input["file_path"].as_str().is_some_and(|path| Path::new(path).starts_with(book.cwd()));
    call.name == "Read" && inside || echoes
}

fn ungranted(call: &Call) -> String {
    match call.input["file_path"].as_str() {
        Some(path) => format!("Claude requested permissions to write to {path}, but you haven't granted it yet."),
        None => "This command requires approval".to_owned(),
    }
}

fn extend(input: &mut Value, fields: &Value) {
    if let (Value::Object(input), Value::Object(fields)) = (input, fields) {
        input.extend(fields.clone());
    }
}
