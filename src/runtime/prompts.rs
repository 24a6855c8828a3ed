//! The text that Claude is sent: what the core knows, filled up with what only the edge can look up.

use crate::adapters::{context_files, project_kind, scratch_folder};
use crate::base::id::RunId;
use crate::config::Config;
use crate::domain::approval::Presence;
use crate::domain::session::Told;
use crate::domain::ticket::parse;
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::domain::workspace::Workspace;
use crate::orchestrator::effect::Spawn;
use crate::orchestrator::prompt::{PARTS, Prompt, PromptContext, Templates};
use crate::orchestrator::review;
use crate::runtime::gate::{Judge, Kept};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// What tells a project, and how it is tested.
const PROJECTS: [(&str, &str); 5] = [
    ("Cargo.toml", "cargo test"),
    ("package.json", "npm test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "pytest"),
    ("Makefile", "make test"),
];

/// What the prompts of a run are made of.
pub struct Source<'a> {
    pub templates: &'a Templates,
    pub gate: &'a dyn Judge,
    pub run: RunId,
    pub workspace: &'a Workspace,
    /// The ticket's file.
    pub ticket: &'a Path,
    pub presence: Presence,
    /// What was changed since the phase began, where the prompt shows it.
    pub diff: String,
    /// Says what else goes along.
    pub config: &'a Config,
}

impl Source<'_> {
    /// The prompt for a call of Claude's, whose calls are judged for it from now on. `file`: the ticket's text.
    pub fn prompt(&self, spawn: &Spawn, file: &[u8]) -> Result<Made, String> {
        self.gate.keep_to(Kept::of(spawn));
        let briefing = briefing(self.gate, self.run, self.workspace, self.ticket, self.presence);
        let mut spawn = spawn.clone();
        spawn.prompt.context.diff.clone_from(&self.diff);
        if self.config.guidelines {
            spawn.prompt.context.project = project_kind::lines(self.workspace.directory());
        }
        spawn.prompt.context.context_files =
            context_files::read(self.workspace.directory(), &self.config.context_files);
        make(self.templates, &spawn, file, briefing)
    }
}

/// A prompt, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub text: String,
    /// What Claude knows when it has read it.
    pub told: Told,
}

impl Made {
    /// How many tokens the text is, estimated: one for every four characters.
    pub fn tokens(&self) -> usize {
        self.text.chars().count().div_ceil(4)
    }
}

/// Makes the prompt for a call of Claude's. A session that does not know how to work here, or what the gate does now, is
/// told everything, like a fresh one. An error says, for people, what is wrong.
pub fn make(templates: &Templates, spawn: &Spawn, file: &[u8], gate: Vec<String>) -> Result<Made, String> {
    // What programmator itself writes into the file is no change: the front matter and ticks.
    let body = String::from_utf8_lossy(parse::body(file)).replace("[X]", "[ ]").replace("[x]", "[ ]");
    let Prompt { kind, context } = &spawn.prompt;
    let mut rules = format!("{}\n{}", templates.get(*kind).source, gate.join("\n"));
    rules.extend(PARTS.map(|(_, source)| source));
    for file in &context.context_files {
        rules.extend(["\n", &file.path, "\n", file.text.as_deref().unwrap_or_default()]);
    }
    let told = Told { ticket: digest(&body), rules: digest(&rules) };
    let before = spawn.told.as_ref().filter(|before| before.rules == told.rules);
    let context = PromptContext {
        ticket: String::from_utf8_lossy(file).into_owned(),
        resumed: context.resumed && before.is_some(),
        ticket_changed: before.is_none_or(|before| before.ticket != told.ticket),
        gate,
        ..context.clone()
    };
    let mut focus = Vec::new();
    for name in &context.foci {
        let Some(kind) = review::focus(name) else { continue };
        let text = templates.render(kind, &context).map_err(|error| error.to_string())?;
        focus.push(format!("- **{name}**: {}", text.trim()));
    }
    let focus = if focus.is_empty() { context.focus.clone() } else { focus.join("\n") };
    let context = PromptContext { focus, ..context };
    let text = templates.render(*kind, &context).map_err(|error| error.to_string())?;
    Ok(Made { text, told })
}

/// Tells texts apart.
fn digest(text: &str) -> String {
    let sum = Sha256::digest(text.as_bytes());
    let half: [u8; 16] = std::array::from_fn(|at| sum[at]);
    format!("{:032x}", u128::from_be_bytes(half))
}

/// What the gate does with calls of the usual kinds, in at most five lines: it is asked about each that is named.
pub fn briefing(gate: &dyn Judge, run: RunId, workspace: &Workspace, ticket: &Path, presence: Presence) -> Vec<String> {
    let folder = workspace.directory();
    let scratch = scratch_folder::path(run).unwrap_or_else(|_| folder.to_owned());
    let write = |path: &Path| ("Write", json!({ "file_path": path, "content": "" }));
    let read = |path: &Path| ("Read", json!({ "file_path": path }));
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let tests = PROJECTS.iter().find(|(file, _)| folder.join(file).is_file()).map(|(_, command)| *command);
    let tests = tests.map(|command| (format!("building and testing (`{command}`)"), bash(command)));
    let samples = [
        ("reading files in the working tree", read(&folder.join("programmator-sample.txt"))),
        ("writing files in the working tree", write(&folder.join("programmator-sample.txt"))),
        ("writing files in `$TMPDIR`", write(&scratch.join("sample.txt"))),
        ("`git commit`", bash("git commit -m sample")),
        ("`python3 -c`", bash("python3 -c 1")),
        ("`node -e`", bash("node -e 1")),
        ("network access (`curl`)", bash("curl https://example.com")),
        ("installing packages (`npm install`)", bash("npm install sample")),
        ("`git push`", bash("git push")),
        ("`git reset --hard`", bash("git reset --hard")),
        ("writing elsewhere (`/srv`)", write(Path::new("/srv/programmator-sample.txt"))),
        ("`rm -rf src`", bash("rm -rf src")),
        ("changing the ticket's file", write(ticket)),
    ];
    let mut kinds: [Vec<String>; 4] = Default::default();
    let samples = samples.map(|(words, call)| (words.to_owned(), call));
    let asked = |(words, (tool, input)): (String, (&str, Value))| {
        // Asked as Claude would; nobody waits for an answer.
        let request = ControlRequest { id: String::new(), via: Via::Callback };
        let (tool, input, tool_use_id) = (tool.to_owned(), input.to_string(), String::new());
        (words, ToolCall { request, tool_use_id, tool, input, agent: None, cwd: None })
    };
    let (words, calls): (Vec<String>, Vec<ToolCall>) = tests.into_iter().chain(samples).map(asked).unzip();
    for (words, verdict) in words.into_iter().zip(gate.sample(&calls)) {
        let at = match verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 1,
            Verdict::Passphrase => 2,
            Verdict::Block => 3,
        };
        kinds[at].push(words);
    }
    let waits = match presence {
        Presence::Nobody => "Refused, because nobody is there to approve it",
        Presence::Screen => "Waits for the user's approval",
    };
    let locked = match presence {
        Presence::Nobody => "Refused, because nobody is there to type the passphrase",
        Presence::Screen => "Waits for the user's passphrase",
    };
    let heads = ["Runs at once", waits, locked, "Refused"];
    let lines = heads.into_iter().zip(&kinds).filter(|(_, kinds)| !kinds.is_empty());
    let mut lines: Vec<String> = lines.map(|(head, kinds)| format!("{head}: {}.", kinds.join("; "))).collect();
    lines.push(
        "A refusal comes with its reason. Do not retry it in another form; use what is allowed, or report it.".into(),
    );
    lines
}
