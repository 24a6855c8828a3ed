//! What the hooks of the person's own sessions did and were told, where the person wants to see it: a log with times, and what
//! Claude has said to them. In the state folder, for its owner alone, without what looks like a credential, and bounded. What
//! cannot be written is not: no hook fails by it.

use super::bounded_log::{append, own};
use crate::base::text::{beginning, clean_line};
use crate::base::time::Timestamp;
use crate::domain::credentials::masked;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Variables that switch it on; the second one is claude-afk's.
pub const VARIABLES: [&str; 2] = ["PROGRAMMATOR_HOOK_DEBUG", "CLAUDE_AFK_DEBUG"];
/// Most bytes of the log; what is older is kept once, beside it.
const LOG: u64 = 1 << 20;
/// Most characters of a line of it.
const LINE: usize = 1_000;
/// Most captures, and bytes of one.
const CAPTURES: usize = 50;
const CAPTURE: usize = 64 << 10;

/// The log in this state folder.
pub struct HookLog(PathBuf);

impl HookLog {
    /// `None`: nobody has switched it on. `state`: the state folder, which is made if there is none.
    pub fn of(state: &Path, is_set: impl Fn(&str) -> bool) -> Option<Self> {
        VARIABLES.iter().any(|name| is_set(name)).then(|| Self(state.join("hooks")))
    }

    /// Adds what a hook was told, what came of it and how long that took.
    pub fn add(&self, told: &[u8], came: &str, now: Timestamp, took: Duration) {
        let read: serde_json::Value = serde_json::from_slice(told).unwrap_or_default();
        // Masked before it is cut: half a credential is one, too.
        let told = masked(&String::from_utf8_lossy(told));
        let word = |field: &str| clean_line(read[field].as_str().unwrap_or("?"), 40);
        let (event, of_tool, session) = (word("hook_event_name"), word("tool_name"), word("session_id"));
        let line = format!("{} {event} {of_tool} {session} {} ms: {came}\n", now.millis(), took.as_millis());
        let _ = self.write(&line, beginning(&told, CAPTURE), now);
    }

    fn write(&self, line: &str, told: &str, now: Timestamp) -> io::Result<()> {
        let captures = self.0.join("captures");
        DirBuilder::new().recursive(true).mode(0o700).create(&captures)?;
        append(&self.0.join("hook.log"), line, LOG)?;
        let name = format!("{:013}-{}.json", now.millis(), std::process::id());
        own(OpenOptions::new().write(true).create_new(true), &captures.join(name))?.write_all(told.as_bytes())?;
        // By their names the oldest are first.
        let mut all: Vec<PathBuf> = fs::read_dir(&captures)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        all.sort();
        all.iter().take(all.len().saturating_sub(CAPTURES)).try_for_each(fs::remove_file)
    }
}

/// Where it is noted what the policy asks about and blocks in sessions of the person's own.
pub fn verdicts(state: &Path) -> PathBuf {
    state.join("hooks").join("policy.log")
}

/// Notes such a verdict: one line, without what looks like a credential. No hook fails by it.
pub fn note(state: &Path, line: &str) {
    let log = verdicts(state);
    let folder = log.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
    if matches!(folder, Some(Ok(()))) {
        let _ = append(&log, &format!("{}\n", clean_line(&masked(line), LINE)), LOG);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn of_a_full_log_nothing_is_lost_when_several_write_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (log, old) = (verdicts(folder.path()), folder.path().join("hooks/policy.log.old"));
        note(folder.path(), "first");
        let full = "x".repeat(usize::try_from(LOG).unwrap()) + "\n";
        fs::write(&log, &full).unwrap();
        std::thread::scope(|all| {
            for n in 0..8 {
                let folder = folder.path();
                all.spawn(move || note(folder, &format!("line {n}")));
            }
        });
        let [old, new] = [&old, &log].map(|path| fs::read_to_string(path).unwrap());
        assert!(old.starts_with(&full), "the full one is kept");
        let both = old + &new;
        assert!((0..8).all(|n| both.contains(&format!("line {n}\n"))), "{new}");
    }

    #[test]
    fn it_is_the_owners_bounded_and_without_credentials() {
        let folder = tempfile::tempdir().unwrap();
        assert!(HookLog::of(folder.path(), |_| false).is_none());
        let log = HookLog::of(folder.path(), |name| name == "CLAUDE_AFK_DEBUG").unwrap();
        let told = br#"{"hook_event_name": "Stop\u001b[2J", "key": "ghp_abcdefghijklmnopqrstuvwx"}"#;
        for n in 0..60 {
            log.add(told, "nobody is asked", Timestamp::from_millis(n), Duration::from_millis(7));
        }
        let lines = fs::read_to_string(folder.path().join("hooks/hook.log")).unwrap();
        assert!(lines.ends_with("59 Stop ? ? 7 ms: nobody is asked\n") && lines.lines().count() == 60, "{lines}");
        let captures: Vec<_> = fs::read_dir(folder.path().join("hooks/captures")).unwrap().flatten().collect();
        assert_eq!(captures.len(), CAPTURES);
        for capture in captures {
            let text = fs::read_to_string(capture.path()).unwrap();
            assert!(text.contains("[masked]") && !text.contains("ghp_"), "{text}");
            assert_eq!(capture.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        // What is in the way of it stops nobody.
        fs::remove_dir_all(folder.path().join("hooks")).unwrap();
        fs::write(folder.path().join("hooks"), "").unwrap();
        log.add(told, "nobody is asked", Timestamp::from_millis(1), Duration::ZERO);
    }
}
