//! What is remembered between processes: which sessions exist in a folder and which turns were used up.
//!
//! Lies where the real CLI keeps transcripts (`$CLAUDE_CONFIG_DIR` or `~/.claude`, below `projects/`), or in
//! `--state`. Files are only appended to, one short line at a time, so a killed process loses nothing but its
//! last line. What cannot be written is forgotten, as with `--no-session-persistence`.

use super::flags::Flags;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The memory of one working directory.
#[derive(Clone, Debug)]
pub struct Memory {
    folder: PathBuf,
    forgets: bool,
}

impl Memory {
    /// The memory that `flags` and the environment name, for work in `cwd`.
    pub fn open(flags: &Flags, cwd: &Path) -> Self {
        let home = || {
            let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
            home.join(".claude")
        };
        let config = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from);
        let state = flags.state.clone().or(config).unwrap_or_else(home);
        Self { forgets: flags.forgets, ..Self::at(&state, cwd) }
    }

    /// The memory in `state` for work in `cwd`.
    pub fn at(state: &Path, cwd: &Path) -> Self {
        let dashed: String =
            cwd.to_string_lossy().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        Self { folder: state.join("projects").join(dashed), forgets: false }
    }

    /// The transcript of session `id`, whether or not it exists.
    pub fn transcript(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.jsonl"))
    }

    /// The folder for notes of the agent itself, as printed in `init`.
    pub fn notes(&self) -> PathBuf {
        self.folder.join("memory")
    }

    /// The file that holds the whole output of tool call `id`.
    pub fn output(&self, session: &str, id: &str) -> PathBuf {
        self.folder.join(session).join("tool-results").join(format!("{id}.txt"))
    }

    /// Whether session `id` had a turn in this folder.
    pub fn knows(&self, id: &str) -> bool {
        self.transcript(id).is_file()
    }

    /// Notes a message in the transcript; the session can be resumed from here on.
    pub fn note(&self, id: &str, text: &str) {
        if !self.forgets {
            let line =
                serde_json::json!({"type": "user", "sessionId": id, "message": {"role": "user", "content": text}});
            append(&self.transcript(id), &line.to_string());
        }
    }

    /// The turns of `scenario` used so far, in order.
    pub fn used(&self, scenario: Option<&Path>) -> Vec<usize> {
        let text = std::fs::read_to_string(self.used_file(scenario)).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Notes that turn `at` of `scenario` is used.
    pub fn use_turn(&self, scenario: Option<&Path>, at: usize) {
        append(&self.used_file(scenario), &at.to_string());
    }

    fn used_file(&self, scenario: Option<&Path>) -> PathBuf {
        let name = scenario.map_or_else(|| "demo".to_owned(), |file| super::prompt::slug(&file.to_string_lossy()));
        self.folder.join(format!("{name}.used"))
    }
}

fn append(file: &Path, line: &str) {
    let Some(folder) = file.parent() else { return };
    let _ = std::fs::create_dir_all(folder);
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(file) {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
