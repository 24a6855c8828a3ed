//! The whole program at work on the real CLI: a person's project, the stub as the service, and ways to run the
//! program in it and to read what it said. One of them at a time.

use crate::messages_stub::{Reply, Stub};
use crate::project::{PROGRAM, Project};
use crate::real_cli::{claude, service};
use crate::terminal::{Start, Terminal};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The ticket of most tests.
pub const TICKET: &str = "tk-1";

/// A project whose Claude is the real CLI and whose service is the stub.
pub struct Bench {
    /// Folders, ticket, git.
    pub project: Project,
    pub stub: Stub,
    _alone: MutexGuard<'static, ()>,
}

impl Bench {
    /// A git repository with a ticket of these phases.
    pub fn new(phases: &[&str]) -> Self {
        // Each start of Claude takes a second of a whole core, and has ten to answer.
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let bench = Self { project: Project::new(), stub: Stub::start([]), _alone: alone };
        bench.judged_by("trusted");
        bench.project.ticket(TICKET, phases);
        bench
    }

    /// The profile of the gate; most tests are about other things, and let pass what may pass.
    pub fn judged_by(&self, profile: &str) {
        let command = json!([claude()]);
        let config =
            format!("workflow: {{name: simple}}\npolicy: {{profile: {profile}}}\nagent:\n  command: {command}\n");
        self.project.write("config/config.yaml", &config);
    }

    /// Adds to what the service will say.
    pub fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.stub.push(replies);
    }

    /// A file of the working directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.project.work().join(name)
    }

    /// The whole environment of the program.
    pub fn env(&self) -> Vec<(String, String)> {
        let mut env = self.project.env();
        env.extend(service(&self.stub));
        // A run that hangs ends by itself, and not as the test wants it.
        env.push(("PROGRAMMATOR_TIMEOUT".into(), "90".into()));
        env
    }

    /// The program in a terminal of 120×40.
    pub fn open(&self, args: &[&str]) -> Terminal {
        let (program, env, folder) = (Path::new(PROGRAM), self.env(), self.project.work());
        Terminal::start(&Start { program, args, env: &env, folder: &folder, size: (120, 40) })
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.project.command(args);
        command.envs(self.env());
        command
    }

    /// `run --json` on the ticket, to its end.
    pub fn run(&self) -> Told {
        Told::new(&self.command(&["run", "--json", TICKET]).output().unwrap())
    }

    /// The same, in the background.
    pub fn start(&self) -> Child {
        let mut command = self.command(&["run", "--json", TICKET]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until a tool has made the file in the working directory.
    pub fn wait_for_file(&self, name: &str) {
        let (path, until) = (self.file(name), Instant::now() + PATIENCE);
        while !path.exists() {
            assert!(Instant::now() < until, "{} was not made", path.display());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The messages of the `n`-th request, from 0, as text.
    pub fn asked(&self, n: usize) -> String {
        self.stub.wait_for(n + 1)[n]["messages"].to_string()
    }

    /// What Claude printed in the run, all iterations.
    pub fn scrollback(&self) -> String {
        let mut all = String::new();
        let mut folders = vec![self.project.path("state")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else if entry.extension().is_some_and(|extension| extension == "ndjson") {
                    all += &String::from_utf8_lossy(&std::fs::read(entry).unwrap());
                }
            }
        }
        all
    }

    /// Processes of the project but the program itself.
    pub fn survivors(&self) -> Vec<String> {
        let own = Path::new(crate::project::PROGRAM).display().to_string();
        self.project.processes().into_iter().filter(|line| !line.starts_with(&own)).collect()
    }
}

/// What a run without a screen said.
pub struct Told {
    /// Its exit code; `None` after a signal that it did not take.
    pub code: Option<i32>,
    pub records: Vec<Value>,
    said: String,
}

impl Told {
    pub fn new(output: &Output) -> Self {
        let said = [&output.stdout, &output.stderr].map(|part| String::from_utf8_lossy(part).into_owned()).join("\n");
        let lines = String::from_utf8_lossy(&output.stdout);
        let record = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}\n{said}"));
        Self { code: output.status.code(), records: lines.lines().map(record).collect(), said }
    }

    pub fn of(&self, kind: &str) -> Vec<&Value> {
        self.records.iter().filter(|record| record["kind"] == kind).collect()
    }

    pub fn each(&self, kind: &str, field: &str) -> Vec<Value> {
        self.of(kind).into_iter().map(|record| record[field].clone()).collect()
    }

    /// The run ended so; gives its last record.
    pub fn ended(&self, code: i32, reason: &str) -> &Value {
        let end = self.records.last().unwrap_or_else(|| panic!("no records: {}", self.said));
        let so = (self.code, end["kind"].as_str(), end["reason"].as_str());
        assert_eq!(so, (Some(code), Some("run_ended"), Some(reason)), "{}", self.said);
        end
    }

    /// Every call was judged before it ran; gives the tools in order.
    pub fn judged(&self) -> Vec<&str> {
        let place = |kind: &str, id: &Value| {
            self.records.iter().position(|record| record["kind"] == kind && record["tool_use_id"] == *id)
        };
        for done in self.of("tool_finished") {
            let (judged, finished) =
                (place("tool_judged", &done["tool_use_id"]), place("tool_finished", &done["tool_use_id"]));
            assert!(judged.is_some() && judged < finished, "{done}\n{}", self.said);
        }
        self.of("tool_judged").into_iter().map(|record| record["tool"].as_str().unwrap()).collect()
    }
}

pub fn block(phase: &str, status: &str, files: &[&str]) -> String {
    let (phase, files) = (json!(phase), json!(files));
    format!(
        "```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: {phase}\n  status: {status}\n  files_changed: {files}\n  \
         summary: \"worked\"\n```"
    )
}

/// Claude writes the file, then claims the phase: the shortest honest iteration.
pub fn honest(bench: &Bench, phase: &str, file: &str) -> [Reply; 2] {
    let write = Reply::tool("Write", json!({"file_path": bench.file(file), "content": "made\n"}));
    [write, Reply::text(&block(phase, "CONTINUE", &[file]))]
}
