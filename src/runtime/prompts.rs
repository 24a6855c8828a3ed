//! The text that Claude is sent: what the core knows, filled up with what only the edge can look up.

use crate::adapters::scratch_folder;
use crate::adapters::tickets;
use crate::base::id::RunId;
use crate::domain::approval::Presence;
use crate::domain::tool_call::{ControlRequest, ToolCall, Via};
use crate::domain::verdict::Verdict;
use crate::orchestrator::effect::Spawn;
use crate::orchestrator::prompt::{PromptContext, Templates};
use crate::runtime::gate::Judge;
use serde_json::json;
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

/// A prompt, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its text.
    pub text: String,
    /// Which text of the ticket Claude knows when it has read it.
    pub told: String,
}

/// Makes the prompt for a call of Claude's. An error says, for people, what is wrong.
pub fn make(templates: &Templates, spawn: &Spawn, ticket: &Path, gate: Vec<String>) -> Result<Made, String> {
    let text = tickets::load::read(ticket).map_err(|error| format!("no prompt can be made of the ticket: {error}"))?;
    let ticket = String::from_utf8_lossy(&text).into_owned();
    let told = digest(&ticket);
    let ticket_changed = spawn.told.as_ref() != Some(&told);
    let context = PromptContext { ticket, ticket_changed, gate, ..spawn.prompt.context.clone() };
    let text = templates.render(spawn.prompt.kind, &context).map_err(|error| error.to_string())?;
    Ok(Made { text, told })
}

/// Tells texts of a ticket apart, but for what programmator writes into it: the front matter and ticks.
fn digest(ticket: &str) -> String {
    let body = match ticket.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((_, body)) => body,
        None => ticket,
    };
    let body = body.replace("[X]", "[ ]").replace("[x]", "[ ]");
    Sha256::digest(body.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// What the gate does with calls of the usual kinds, in at most five lines: it is asked.
pub fn briefing(gate: &dyn Judge, run: RunId, folder: &Path, ticket: &Path, presence: Presence) -> Vec<String> {
    let scratch = scratch_folder::path(run).unwrap_or_else(|_| folder.to_owned());
    let write = |path: &Path| ("Write", json!({ "file_path": path, "content": "" }));
    let bash = |command: &str| ("Bash", json!({ "command": command }));
    let tests = PROJECTS.iter().find(|(file, _)| folder.join(file).is_file()).map(|(_, command)| *command);
    let tests = tests.map(|command| (format!("building and testing (`{command}`)"), bash(command)));
    let samples = [
        ("reading files", bash("ls")),
        ("writing files in the work tree", write(&folder.join("programmator-sample.txt"))),
        ("writing files in `$TMPDIR`", write(&scratch.join("sample.txt"))),
        ("`git commit`", bash("git commit -m sample")),
        ("code in an argument (`python -c`, `node -e`)", bash("python3 -c 1")),
        ("network access, installing packages", bash("curl https://example.com")),
        ("`git push`", bash("git push")),
        ("changing history or discarding changes (`git reset --hard`)", bash("git reset --hard")),
        ("writing outside the work tree and `$TMPDIR`", write(Path::new("/srv/programmator-sample.txt"))),
        ("`rm -r` of anything but build output", bash("rm -rf src")),
        ("changing the ticket's file", write(ticket)),
    ];
    let mut kinds: [Vec<String>; 4] = Default::default();
    let samples = samples.map(|(words, call)| (words.to_owned(), call));
    for (words, (tool, input)) in tests.into_iter().chain(samples) {
        // Asked as Claude would; nobody waits for an answer.
        let request = ControlRequest { id: String::new(), via: Via::Callback };
        let (tool, input, tool_use_id) = (tool.to_owned(), input.to_string(), String::new());
        let call = ToolCall { request, tool_use_id, tool, input, agent: None, cwd: None };
        let at = match gate.judge(&call).verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 1,
            Verdict::Passphrase => 2,
            Verdict::Block => 3,
        };
        kinds[at].push(words);
    }
    let waits = match presence {
        Presence::Nobody => "Refused, since nobody is there to be asked",
        _ => "Waits for the person to say yes",
    };
    let locked = match presence {
        Presence::Nobody => "Refused, since nobody is there to type the passphrase",
        _ => "Waits for the person's passphrase",
    };
    let heads = ["Runs at once", waits, locked, "Refused"];
    let lines = heads.into_iter().zip(&kinds).filter(|(_, kinds)| !kinds.is_empty());
    let mut lines: Vec<String> = lines.map(|(head, kinds)| format!("{head}: {}.", kinds.join("; "))).collect();
    lines.push(
        "A refusal comes with its reason. Do not try the same in another way; do what is allowed, or report it.".into(),
    );
    lines
}
