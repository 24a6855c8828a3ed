//! Handing the wheel to the person: Claude, interactive, on the ticket's own session and in its own place, its calls
//! judged by the rules of the run, which is paused or has ended. The terminal is free meanwhile, which is the front end's.

use super::Service;
use crate::adapters::agent::launch::{Launch, Options, interactive};
use crate::adapters::agent::probe;
use crate::adapters::git::{SnapshotName, WorkTree};
use crate::adapters::hook_socket::HookSocket;
use crate::adapters::scratch_folder;
use crate::adapters::store::{Store, StoreError};
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{ApprovalKind, Ruling};
use crate::domain::record::Record;
use crate::domain::request::Reply;
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::domain::wheel::{NAMED, Wheel, WheelJudged, WheelReturned, WheelTaken};
use crate::orchestrator::state::State;
use crate::runtime::commits::{Commits, Free};
use crate::runtime::gate::{Gate, Gates, Judged};
use crate::runtime::launching;
use crate::runtime::offline::state_of;
use crate::runtime::supervisor::{Journal, Rules};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::process::Command;
use tokio::sync::oneshot;
use tokio::task::{block_in_place, spawn_blocking};

/// What is needed to open Claude on a run's session.
struct Driving {
    store: Store,
    commits: Commits,
    rules: Rules,
    gates: Gates,
    /// The run's, where it is open in this program.
    journal: Option<Journal>,
    run: RunId,
    by: Answerer,
}

impl Service {
    /// Between iterations only, or once the run has ended. `ungated`: the person has agreed to a session that the rules cannot judge.
    pub(super) fn take_wheel(&self, run: RunId, ungated: bool, by: Answerer, reply: oneshot::Sender<Reply>) {
        let driving = Driving {
            store: self.opener.store.clone(),
            commits: self.commits.clone(),
            rules: self.opener.rules.clone(),
            gates: self.opener.gates.clone(),
            journal: self.supervisor.journal(run),
            run,
            by,
        };
        tokio::spawn(async move {
            let wheel = driving.drive(ungated).await.unwrap_or_else(Wheel::Refused);
            reply.send(Reply::Wheel(wheel))
        });
    }
}

impl Driving {
    async fn drive(self, ungated: bool) -> Result<Wheel, String> {
        let Self { store, commits, rules, gates, journal, run, by } = self;
        let has_ended = journal.is_none();
        let free = Arc::new(commits.free(run, journal).await?);
        let words = |error: StoreError| error.to_string();
        let state = block_in_place(|| state_of(&store, run)).map_err(words)?;
        let workspace = state.workspace.clone();
        if has_ended {
            block_in_place(|| may_be_opened(&store, &state))?;
        }
        let own = state.sessions.open.values().filter(|session| session.folder == workspace.session_key());
        let session = own.max_by_key(|session| session.used).map(|session| session.id.clone());
        let session = match session {
            // Who ends gives up their sessions. Claude knows them still.
            None if has_ended => block_in_place(|| last_session(&store, run)).map_err(words)?,
            session => session,
        };
        let session = session.ok_or("no Claude session yet: it starts with the first iteration")?;
        let (config, _) = rules(&workspace)?;
        let (env, ticket) = (config.agent.variables(), state.ticket_path.clone());
        let ticket = Path::new(&ticket);
        let gate =
            gates(&Judged { run, workspace: &workspace, ticket: Some(ticket), profile: config.profile, env: &env });
        if let Some(why) = gate.trouble() {
            return Err(why);
        }
        let hook = HookSocket::open().and_then(|socket| Ok((command(&socket)?, socket)));
        let (hook, socket) = match hook {
            Ok((hook, socket)) => (Ok(hook), Some(socket)),
            Err(why) if ungated => (Err(why), None),
            Err(why) => return Ok(Wheel::Ungated(why)),
        };
        let folder = workspace.directory();
        // That of a run is removed when it ends; without one `$TMPDIR` were the person's, and the gate took it for the run's.
        let _scratch = if has_ended { Some(Scratch::make(run)?) } else { None };
        let scratch = scratch_folder::path(run).ok().filter(|scratch| scratch.is_dir());
        let options = Options {
            model: state.settings.model.clone(),
            resume: Some(session.clone()),
            setting_sources: config.agent.setting_sources.clone(),
            ..Options::default()
        };
        let launch = launching::launch(&config.agent, folder, options, run.to_string(), scratch);
        let mut launch = launch.map_err(|none| none.to_string())?;
        let found = probe::ask(&launch).await.map_err(|error| error.to_string())?;
        launch.options.features = found.features;
        let tree = WorkTree::open(folder, &store.run_folder(run)).await.map_err(|error| error.to_string())?;
        let exclude = tree.excluded(ticket, &workspace);
        let before = tree.save(&free.run.ticket, &exclude).await.map_err(|error| error.to_string())?;
        let (saved, before) = if let Some((saved, id)) = before {
            (Some(saved), id)
        } else {
            // Without git only names can be compared.
            let name = SnapshotName { ticket: free.run.ticket.clone(), run, n: state.iterations + 1 };
            (None, tree.snapshot(&name, &exclude).await.map_err(|error| error.to_string())?.id)
        };
        let taken = WheelTaken { session, ungated: hook.as_ref().err().cloned(), saved, by };
        free.record(Record::WheelTaken(taken)).await?;
        free.is_still()?;
        let reached = Arc::new(AtomicBool::new(false));
        let ended = open(&launch, hook.ok().as_deref(), socket.as_ref(), answering(&free, &gate, &reached)).await;
        let changed = tree.changed_since_each(&[&before], &exclude).await;
        let (mut files, unknown) = match changed {
            Ok(changed) => (changed.into_iter().next().unwrap_or_default(), None),
            Err(error) => (Vec::new(), Some(format!("cannot tell which files changed: {error}"))),
        };
        let total = files.len();
        files.truncate(NAMED);
        let checked = reached.load(Ordering::Relaxed);
        let trouble = ended.err().or(unknown).map(|why| clean_line(&why, 400));
        free.record(Record::WheelReturned(WheelReturned { files, total, checked, trouble })).await?;
        Ok(Wheel::Returned)
    }
}

/// The scratch folder of a run that has ended. Gone with this.
struct Scratch(RunId);

impl Scratch {
    fn make(run: RunId) -> Result<Self, String> {
        scratch_folder::make(run).map(|_| Self(run))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        scratch_folder::remove(self.0);
    }
}

/// Words for the person where the session of a run that is not open cannot be opened.
fn may_be_opened(store: &Store, state: &State) -> Result<(), String> {
    if state.ended.is_none() {
        return Err("the run was interrupted: resume it first (p), then pause it".to_owned());
    }
    let latest = store.latest_for(&state.ticket_path).map_err(|error| error.to_string())?;
    if let Some(latest) = latest.filter(|latest| Some(latest.run) != state.run) {
        return Err(format!("{} has a later run: open that one from Home", latest.ticket));
    }
    let folder = state.workspace.directory();
    if !folder.is_dir() {
        return Err(format!("{} is gone: the session cannot be opened without its directory", folder.display()));
    }
    Ok(())
}

/// The session that worked last on the ticket; where none did, the last there was.
fn last_session(store: &Store, run: RunId) -> Result<Option<String>, StoreError> {
    let (mut works, mut working, mut any) = (false, None, None);
    for stored in store.load(run)?.records {
        match &stored.record {
            Record::IterationStarted { role, .. } => works = role.counts.is_progress(),
            Record::AgentReady(ready) => {
                any = Some(ready.session.clone());
                if works {
                    working.clone_from(&any);
                }
            }
            Record::SessionLost(lost) => {
                any = any.filter(|session| *session != lost.session);
                working = working.filter(|session| *session != lost.session);
            }
            _ => {}
        }
    }
    Ok(working.or(any))
}

/// The command hook that asks over this socket.
fn command(socket: &HookSocket) -> Result<String, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    if !program.is_file() {
        return Err(format!("{} was replaced or removed since it was started", program.display()));
    }
    let quoted = |path: &Path| {
        let text = path.to_str().ok_or_else(|| format!("{}: the name is not UTF-8", path.display()))?;
        Ok::<_, String>(format!("'{}'", text.replace('\'', r"'\''")))
    };
    let own = std::process::id();
    Ok(format!("{} hook --socket {} --program {own}", quoted(&program)?, quoted(&socket.path())?))
}

/// Claude has the terminal until it ends; what its hook asks is answered meanwhile.
async fn open(
    launch: &Launch,
    hook: Option<&str>,
    socket: Option<&HookSocket>,
    answer: impl Fn(Vec<u8>) -> BoxedAnswer + Clone + Send + 'static,
) -> Result<(), String> {
    let [program, first @ ..] = &launch.command[..] else { return Err("agent.command is empty".to_owned()) };
    let mut command = Command::new(program);
    command.args(first).args(interactive(launch, hook)).env_clear().envs(launch.env.iter().cloned());
    command.current_dir(&launch.folder).kill_on_drop(true);
    let failed = |error: std::io::Error| format!("{program} could not be started: {error}");
    let mut child = command.spawn().map_err(failed)?;
    let ended = match (socket, child.id()) {
        (Some(socket), Some(claude)) => tokio::select! {
            ended = child.wait() => ended,
            () = socket.serve(claude, answer) => child.wait().await,
        },
        _ => child.wait().await,
    };
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{program} ended with {status}")),
        Err(error) => Err(format!("cannot read the exit status of {program}: {error}")),
    }
}

type BoxedAnswer = std::pin::Pin<Box<dyn Future<Output = String> + Send>>;

/// How each question of the hook's is answered.
fn answering(
    free: &Arc<Free>,
    gate: &Gate,
    reached: &Arc<AtomicBool>,
) -> impl Fn(Vec<u8>) -> BoxedAnswer + Clone + Send + 'static {
    let (free, gate, reached) = (free.clone(), gate.clone(), reached.clone());
    move |question: Vec<u8>| -> BoxedAnswer {
        let (free, gate, reached) = (free.clone(), gate.clone(), reached.clone());
        Box::pin(async move {
            let Some(call) = call(&question) else {
                // The session has begun: its hooks are not switched off.
                let is_start = serde_json::from_slice::<Value>(&question)
                    .is_ok_and(|question| question["hook_event_name"] == "SessionStart");
                reached.fetch_or(is_start, Ordering::Relaxed);
                return if is_start { "{}".to_owned() } else { decision("deny", "the call cannot be read") };
            };
            reached.store(true, Ordering::Relaxed);
            // Claude's own questions and plans are the person's, who sits there.
            if ApprovalKind::always(&call.tool).is_some() {
                return "{}".to_owned();
            }
            let tool = call.tool.clone();
            let Ok(ruling) = spawn_blocking(move || gate.judge(&call)).await else {
                return decision("ask", "the gate failed");
            };
            let (word, reason) = (word(ruling.verdict), ruling.words());
            let Ruling { verdict, target, .. } = ruling;
            let record = Record::WheelJudged(WheelJudged { tool, target, verdict, reason: reason.clone() });
            match free.record(record).await {
                Ok(()) => decision(word, &reason),
                // What is not stored is not given.
                Err(why) => decision("ask", &format!("the decision could not be stored: {why}")),
            }
        })
    }
}

/// Claude's own prompt asks the person, who may say yes there; but not to what needs the passphrase.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Passphrase | Verdict::Block => "deny",
    }
}

/// The call that a hook asks about.
fn call(question: &[u8]) -> Option<ToolCall> {
    let question: Value = serde_json::from_slice(question).ok()?;
    let text = |name: &str| question.get(name).and_then(Value::as_str).map(str::to_owned);
    if question["hook_event_name"] != "PreToolUse" {
        return None;
    }
    Some(ToolCall {
        request: ControlRequest { id: String::new(), via: Via::Callback },
        tool_use_id: text("tool_use_id").unwrap_or_default(),
        tool: text("tool_name")?,
        input: question.get("tool_input")?.to_string(),
        agent: text("agent_id"),
        cwd: text("cwd"),
    })
}

/// What a command hook prints.
fn decision(word: &str, reason: &str) -> String {
    let reason = format!("programmator: {}", clean_line(reason, 1_000));
    let decision = json!({
        "hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": reason,
    });
    json!({ "hookSpecificOutput": decision }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_question_is_the_call_that_the_gate_judges() {
        let recorded = r#"{"session_id":"7966fb91-fa47-4f89-9e99-3a34ee1a73c7","transcript_path":"/h/x.jsonl","cwd":"/home/dev/proj","prompt_id":"p","permission_mode":"default","effort":{"level":"high"},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"exit 4"},"tool_use_id":"toolu_1","agent_id":"a","agent_type":"t"}"#;
        let call = call(recorded.as_bytes()).unwrap();
        assert_eq!((call.tool.as_str(), call.input.as_str()), ("Bash", r#"{"command":"exit 4"}"#));
        assert_eq!((call.cwd.as_deref(), call.agent.as_deref()), (Some("/home/dev/proj"), Some("a")));
        for other in ["", "{}", "[]", r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{}}"#] {
            assert!(super::call(other.as_bytes()).is_none(), "{other}");
        }
    }

    #[test]
    fn nothing_but_an_allow_of_the_rules_is_an_allow() {
        let words = [Verdict::Allow, Verdict::Ask, Verdict::Passphrase, Verdict::Block].map(word);
        assert_eq!(words, ["allow", "ask", "deny", "deny"]);
        let printed: Value = serde_json::from_str(&decision("deny", "a\u{1b}[31m\"b")).unwrap();
        let output = &printed["hookSpecificOutput"];
        assert_eq!((&output["permissionDecision"], &output["hookEventName"]), (&json!("deny"), &json!("PreToolUse")));
        assert!(!output["permissionDecisionReason"].as_str().unwrap().contains('\u{1b}'));
    }
}
