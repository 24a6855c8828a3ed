//! A person's project in a temporary folder: a git repository, tickets, a config that plays Claude from a
//! scenario, a home and a store of its own. Nothing outside the folder is read or written.

use programmator::adapters::store::Store;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_programmator");

/// How long a record may take to come before the test says that it never does.
const PATIENCE: Duration = Duration::from_secs(60);

/// A project and everything around it; gone when dropped.
pub struct Project {
    root: tempfile::TempDir,
}

impl Project {
    /// A git repository with one commit.
    pub fn new() -> Self {
        let project = Self::without_git();
        project.git(&["init", "-q", "-b", "main"]);
        project.git(&["add", "-A"]);
        project.git(&["-c", "user.name=P", "-c", "user.email=p@example.invalid", "commit", "-q", "-m", "Begin"]);
        project
    }

    /// One with the ticket `tk-1` of these phases, for which Claude plays this scenario.
    pub fn with(phases: &[&str], scenario: &str) -> Self {
        Self::with_config(phases, scenario, "")
    }

    /// The same with more lines for the config file.
    pub fn with_config(phases: &[&str], scenario: &str, config: &str) -> Self {
        let project = Self::new();
        project.ticket("tk-1", phases);
        project.scenario_with(scenario, config);
        project
    }

    /// A plain folder.
    pub fn without_git() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let project = Self { root };
        for folder in ["work/.tickets", "home", "state", "config", "agent"] {
            std::fs::create_dir_all(project.path(folder)).expect("a folder");
        }
        project.write("work/README.md", "# A project\n");
        project
    }

    /// A path in the temporary folder: `work/…` is the repository.
    pub fn path(&self, name: &str) -> PathBuf {
        // The system's temporary folder may be behind a symlink; the program shows real paths.
        self.root.path().canonicalize().expect("a real path").join(name)
    }

    pub fn work(&self) -> PathBuf {
        self.path("work")
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn ticket(&self, id: &str, phases: &[&str]) {
        let boxes: Vec<String> = phases.iter().map(|phase| format!("- [ ] {phase}")).collect();
        let boxes = boxes.join("\n");
        let text = format!(
            "---\nid: {id}\nstatus: open\ndeps: []\nlinks: []\ncreated: 2026-11-21T12:00:00Z\ntype: feature\npriority: 2\n---\n\
             # Work on {id}\n\n## Design\n\n{boxes}\n"
        );
        self.write(&format!("work/.tickets/{id}.md"), &text);
    }

    /// Adds a validation command to the ticket `tk-1`.
    pub fn validate_by(&self, command: &str) {
        let text = format!("{}\n## Validation Commands\n\n- `{command}`\n", self.ticket_text("tk-1"));
        self.write("work/.tickets/tk-1.md", &text);
    }

    /// The ticket's file as it is now.
    pub fn ticket_text(&self, id: &str) -> String {
        self.read(&format!("work/.tickets/{id}.md"))
    }

    /// Plays Claude from this scenario.
    pub fn scenario(&self, yaml: &str) {
        self.scenario_with(yaml, "");
    }

    /// The same, with more lines for the config file. Unless they say otherwise, the gate lets pass what it may, and no
    /// critic looks at the work.
    pub fn scenario_with(&self, yaml: &str, config: &str) {
        self.write("scenario.yaml", yaml);
        let words = [
            PROGRAM.to_owned(),
            "scripted-agent".to_owned(),
            "--state".to_owned(),
            self.path("agent").display().to_string(),
            "--scenario".to_owned(),
            self.path("scenario.yaml").display().to_string(),
            "--pace".to_owned(),
            "0".to_owned(),
        ];
        let list = serde_json::to_string(&words).expect("a list");
        let profile = if config.contains("policy:") { "" } else { "policy: {profile: trusted}\n" };
        let workflow = if config.contains("workflow:") { "" } else { "workflow: {name: simple}\n" };
        // By the clock, the turn of an hour in the midst of a test would let through what a limit holds back.
        let limits = if config.contains("limits:") { "" } else { "limits: {window: sliding}\n" };
        self.write("config/config.yaml", &format!("agent:\n  command: {list}\n{profile}{workflow}{limits}{config}"));
    }

    /// The whole environment of the program.
    pub fn env(&self) -> Vec<(String, String)> {
        let own = |name: &str| self.path(name).display().to_string();
        vec![
            ("PATH".into(), std::env::var("PATH").expect("a PATH")),
            ("HOME".into(), own("home")),
            ("LANG".into(), "C.UTF-8".into()),
            ("TERM".into(), "xterm-256color".into()),
            ("TZ".into(), "UTC".into()),
            ("PROGRAMMATOR_STATE_DIR".into(), own("state")),
            ("PROGRAMMATOR_CONFIG_DIR".into(), own("config")),
        ]
    }

    /// The program as a command in the repository.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(args).env_clear().envs(self.env()).current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the program starts")
    }

    /// The journal of the only run, oldest record first, as `--json` prints it.
    pub fn journal(&self) -> Vec<Value> {
        let store = Store::open(&self.path("state")).expect("the store opens");
        let runs = store.runs().expect("the runs");
        assert_eq!(runs.len(), 1, "one run: {runs:?}");
        let loaded = store.load(runs[0].run).expect("the journal");
        assert!(loaded.skipped.is_empty(), "{:?}", loaded.skipped);
        loaded.records.iter().map(|stored| serde_json::to_value(&**stored).expect("a record")).collect()
    }

    /// Waits until a record of this kind is in the journal that many times. The run itself may still be coming.
    pub fn wait_for_records(&self, kind: &str, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let store = Store::open(&self.path("state")).expect("the store opens");
            if !store.runs().expect("the runs").is_empty() {
                let seen = self.journal().iter().filter(|record| record["kind"] == kind).count();
                if seen >= count {
                    return;
                }
            }
            assert!(Instant::now() < deadline, "{count} of {kind} never came");
            std::thread::yield_now();
        }
    }

    /// A Bash command that ends once [`open_gate`](Self::open_gate) was called with that name.
    pub fn gate(&self, name: &str) -> String {
        format!("until [ -e {}/{name} ]; do sleep 0.02; done", self.path("gates").display())
    }

    /// Lets the command behind [`gate`](Self::gate) go on.
    pub fn open_gate(&self, name: &str) {
        self.write(&format!("gates/{name}"), "");
    }

    /// Runs git in the repository.
    pub fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(self.work()).output().expect("git starts");
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    }

    /// Processes (not zombies) that have this folder in their environment: nothing of a run may be left when its
    /// program has ended.
    pub fn processes(&self) -> Vec<String> {
        self.processes_here().into_iter().map(|(_, command)| command).collect()
    }

    /// The same, each with its id.
    fn processes_here(&self) -> Vec<(i32, String)> {
        processes_with(&self.path("home").display().to_string())
    }
}

/// What a test that failed has started does not outlive it: it would hold the pipe into which the tests print, and
/// whoever reads that would wait for good.
impl Drop for Project {
    fn drop(&mut self) {
        for (pid, _) in self.processes_here() {
            if let Some(pid) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn processes_with(needle: &str) -> Vec<(i32, String)> {
    let folders = std::fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let alive = |path: &Path| {
        let environment = std::fs::read(path.join("environ")).unwrap_or_default();
        let stat = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        let zombie = stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
        !zombie && String::from_utf8_lossy(&environment).contains(needle)
    };
    let named = |path: &Path| {
        let pid = path.file_name()?.to_str()?.parse().ok()?;
        let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
        Some((pid, String::from_utf8_lossy(&line).replace('\0', " ")))
    };
    folders.map(|entry| entry.path()).filter(|path| alive(path)).filter_map(|path| named(&path)).collect()
}

#[cfg(not(target_os = "linux"))]
fn processes_with(needle: &str) -> Vec<(i32, String)> {
    let output = Command::new("ps").args(["axeww", "-o", "pid=,command="]).output().expect("ps starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter(|line| line.contains(needle));
    let named = lines.filter_map(|line| line.trim_start().split_once(' '));
    named.filter_map(|(pid, command)| Some((pid.parse().ok()?, command.to_owned()))).collect()
}
