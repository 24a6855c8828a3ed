//! The program on a stage: a project in a temporary folder, Claude played by the bench's own binary, which notes in a
//! log when it starts and when it ends, and what the system knows of a process.

use crate::project::Project;
use crate::watched::{Start, Watched};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

/// The first word with which the bench's binary plays Claude.
pub const AGENT: &str = "--agent";

/// Words of the help, which `?` opens, in a replay too.
pub const HELP: &str = "redraw the screen";

/// What the screen says of a run that has ended well.
pub const ENDED: &str = "✓ done";

/// Plays Claude; `words`: the folder of the log (not the log: a file of the command that changes has Claude asked for its
/// version again), then those of the scripted agent. A question for the version or the flags is not noted.
pub fn agent(words: &[String]) -> ExitCode {
    let Some((folder, words)) = words.split_first() else { return ExitCode::FAILURE };
    if words.iter().any(|word| word == "--version" || word == "--help") {
        return programmator::demo::agent::main(words);
    }
    note(folder, "start");
    let code = programmator::demo::agent::main(words);
    note(folder, "end");
    code
}

fn note(folder: &str, what: &str) {
    let log = Path::new(folder).join("log");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let file = std::fs::OpenOptions::new().append(true).create(true).open(log);
    let _ = file.and_then(|mut file| file.write_all(format!("{what} {now}\n").as_bytes()));
}

/// A project whose Claude plays a scenario.
pub struct Stage {
    pub project: Project,
}

impl Stage {
    /// With the ticket `tk-1` of so many phases.
    pub fn new(phases: usize, scenario: &str) -> Self {
        let project = Project::new();
        let names: Vec<String> = (1..=phases).map(|n| format!("Phase {n}: a step")).collect();
        project.ticket("tk-1", &names.iter().map(String::as_str).collect::<Vec<_>>());
        let this = Self { project };
        this.project.write("scenario.yaml", scenario);
        let command = serde_json::to_string(&this.agent_words()).unwrap();
        let config = format!(
            "agent: {{command: {command}}}\npolicy: {{profile: trusted}}\n\
             limits: {{max_iterations: 10000, calls: 100000, stagnation: 1000}}\n\
             breaker: {{no_progress: 1000, output_decline: 100}}\nstorage: {{stream: 10000}}\n"
        );
        this.project.write("config/config.yaml", &config);
        this
    }

    /// The words that start Claude's double.
    pub fn agent_words(&self) -> Vec<String> {
        let this = std::env::current_exe().unwrap().display().to_string();
        let path = |name: &str| self.project.path(name).display().to_string();
        let [folder, state, scenario] = [path("."), path("agent"), path("scenario.yaml")];
        [&this, AGENT, &folder, "--state", &state, "--scenario", &scenario, "--pace", "0"].map(str::to_owned).to_vec()
    }

    /// The program in a terminal of 200 × 50.
    pub fn screen(&self, args: &[&str]) -> Watched {
        let program = Path::new(crate::project::PROGRAM);
        let (env, folder) = (self.project.env(), self.project.work());
        Watched::start(&Start { program, args, env: &env, folder: &folder, size: (200, 50) })
    }

    /// When Claude started and ended so far, in nanoseconds.
    pub fn log(&self) -> Vec<(bool, u64)> {
        let text = std::fs::read_to_string(self.project.path("log")).unwrap_or_default();
        let line = |line: &str| {
            let (what, at) = line.split_once(' ')?;
            Some((what == "start", at.parse().ok()?))
        };
        text.lines().filter_map(line).collect()
    }

    /// Waits until Claude has ended so many times, `beat` by beat.
    pub fn wait_ends(&self, ends: usize, mut each: impl FnMut(usize)) {
        let began = Instant::now();
        loop {
            let seen = self.log().iter().filter(|(start, _)| !start).count();
            each(seen);
            if seen >= ends {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(180), "Claude ended {seen} times instead of {ends}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// From each end of Claude to its next start, in milliseconds.
    pub fn gaps(&self) -> Vec<f64> {
        let log = self.log();
        let pairs = log.windows(2).filter(|pair| !pair[0].0 && pair[1].0);
        pairs.map(|pair| pair[1].1.saturating_sub(pair[0].1) as f64 / 1e6).collect()
    }

    /// How often Claude started so far.
    pub fn starts(&self) -> usize {
        self.log().iter().filter(|(start, _)| *start).count()
    }

    /// Waits until Claude has started so many times.
    pub fn wait_starts(&self, starts: usize) {
        let began = Instant::now();
        while self.starts() < starts {
            let patience = Duration::from_secs(60);
            assert!(began.elapsed() < patience, "Claude started {} times instead of {starts}", self.starts());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.project.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// What the system counts of a process.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Processor time in seconds.
    pub cpu: f64,
    /// For each thread the times that it went to sleep of its own accord, and so woke up.
    pub wakes: BTreeMap<String, u64>,
    /// Memory now and at most, in MB.
    pub rss: f64,
    pub peak: f64,
}

impl Counted {
    /// Times that its threads woke up since `before`; what those that are gone did is not known.
    pub fn woken_since(&self, before: &Self) -> u64 {
        let was = |thread| before.wakes.get(thread).copied().unwrap_or(0);
        self.wakes.iter().map(|(thread, now)| now.saturating_sub(was(thread))).sum()
    }
}

/// Looks at a process (Linux; elsewhere all is zero).
pub fn counted(pid: u32) -> Counted {
    let field = |text: &str, name: &str| -> u64 {
        let rest = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        rest.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let wakes = tasks.map(|task| {
        let text = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        (task.file_name().to_string_lossy().into_owned(), field(&text, "voluntary_ctxt_switches:"))
    });
    Counted {
        cpu: ticks as f64 / 100.0,
        wakes: wakes.collect(),
        rss: field(&status, "VmRSS:") as f64 / 1e3,
        peak: field(&status, "VmHWM:") as f64 / 1e3,
    }
}

/// The middle of them.
pub fn median(values: &[f64]) -> f64 {
    at(values, 0.5)
}

/// The value that this share of them does not exceed.
pub fn at(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(((sorted.len().max(1) - 1) as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}

/// Milliseconds that it took.
pub fn timed<T>(act: impl FnOnce() -> T) -> (f64, T) {
    let began = Instant::now();
    let done = act();
    (began.elapsed().as_secs_f64() * 1e3, done)
}
