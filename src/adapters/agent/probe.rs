//! Which Claude Code is installed, and what it knows. Whether it speaks the protocol shows when it is started.
//!
//! Asked at most once in the life of the program for each `agent.command`, and again when one of its files changes.
//! The first time it also brings Claude into memory, so that the ten seconds of the protocol are not spent on a slow
//! disk.

use super::error::AgentError;
use super::features::Features;
use super::launch::Launch;
use super::version::{FLOOR, Version};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use tokio::process::Command;

/// `claude --version` takes 0.4 s, but the first start reads 245 MB from a disk that may be busy. The time that Claude has
/// to begin (`limits.start_timeout`) counts from afterwards.
const PATIENCE: Duration = Duration::from_secs(120);

/// `claude auth status` reads a file or two.
const LOGIN: Duration = Duration::from_secs(20);

/// Of one who takes longer.
const NO_ANSWER: &str = ": no answer within two minutes";

/// What was found out about a Claude.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub version: Version,
    pub features: Features,
}

/// A command, and the files in it as they were.
type Key = (Vec<String>, Vec<(PathBuf, Option<SystemTime>)>);

static KNOWN: Mutex<Option<HashMap<Key, Found>>> = Mutex::new(None);

/// One asks at a time: others want to know the same.
static ASKING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Asks the program of `launch` for its version and its flags, unless it is known. The options are not used.
pub async fn ask(launch: &Launch) -> Result<Found, AgentError> {
    let key = key(launch);
    let _one_at_a_time = ASKING.lock().await;
    if let Some(found) = with_known(|known| known.get(&key).cloned()) {
        return Ok(found);
    }
    let (version, help) = tokio::join!(version(launch), output(launch, &["--help"]));
    let version = version?;
    let help = flags(launch, help)?;
    let found = Found { version, features: Features::found(version, &help) };
    with_known(|known| known.insert(key, found.clone()));
    Ok(found)
}

/// Forgets what was found out about a command: it did not start, so another may be there now than the
/// files tell (on another machine, say).
pub fn forget(command: &[String]) {
    with_known(|known| known.retain(|(known, _), _| known != command));
}

fn with_known<T>(with: impl FnOnce(&mut HashMap<Key, Found>) -> T) -> T {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    with(known.get_or_insert_default())
}

/// The command with all words of it that are files: a program on the PATH, a script behind an interpreter.
fn key(launch: &Launch) -> Key {
    let path = launch.env.iter().find(|(key, _)| key == "PATH").map(|(_, path)| path.as_os_str());
    let found = |(at, word): (usize, &String)| {
        let file = if at == 0 && !word.contains('/') { on_path(word, path)? } else { launch.folder.join(word) };
        let file = file.canonicalize().ok()?;
        let changed = file.metadata().and_then(|data| data.modified()).ok();
        file.is_file().then_some((file, changed))
    };
    (launch.command.clone(), launch.command.iter().enumerate().filter_map(found).collect())
}

/// Whether the program of a command is there: so that no run is begun for one that is not.
pub fn look_up(command: &[String], path: Option<&OsStr>, folder: &Path) -> Result<(), AgentError> {
    let program = command.first().map_or("", String::as_str);
    let found = if program.contains('/') { folder.join(program).exists() } else { on_path(program, path).is_some() };
    let searched = || path.map_or_else(|| "not set".to_owned(), |path| path.to_string_lossy().into_owned());
    if found { Ok(()) } else { Err(AgentError::NotFound { program: program.to_owned(), path: searched() }) }
}

fn on_path(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(path?).map(|folder| folder.join(program)).find(|file: &PathBuf| Path::is_file(file))
}

/// Whether the program of `launch` can reach an account; `None`: it does not say, as a version without `auth status`.
pub async fn is_logged_in(launch: &Launch) -> Option<bool> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        logged_in: bool,
    }
    let said = tokio::time::timeout(LOGIN, output(launch, &["auth", "status"])).await.ok()??.ok()?;
    serde_json::from_slice::<Status>(&said.stdout).ok().map(|status| status.logged_in)
}

/// Asks the program of `launch` for its version. The options are not used.
async fn version(launch: &Launch) -> Result<Version, AgentError> {
    let program = launch.program();
    let no_version = |said: String| AgentError::NoVersion { program: program.clone(), said, floor: FLOOR };
    let output = output(launch, &["--version"]).await.ok_or_else(|| no_version(NO_ANSWER.to_owned()))?;
    let output = output.map_err(|error| super::start::explain(launch, error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Version::parse(&text).ok_or_else(|| {
        let heard = if text.trim().is_empty() { String::from_utf8_lossy(&output.stderr) } else { text };
        no_version(super::said(&heard))
    })
}

/// What the help says. Without it nothing is known of the flags, which is not the same as lacking them.
fn flags(launch: &Launch, help: Option<std::io::Result<Output>>) -> Result<String, AgentError> {
    let no_help = |said: String| AgentError::NoHelp { program: launch.program(), said };
    let output = help.ok_or_else(|| no_help(NO_ANSWER.to_owned()))?;
    let output = output.map_err(|error| super::start::explain(launch, error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(no_help(super::said(&String::from_utf8_lossy(&output.stderr))))
    }
}

/// What the program of `launch` prints with these arguments; `None` when it takes too long.
async fn output(launch: &Launch, args: &[&str]) -> Option<std::io::Result<Output>> {
    let output = Command::new(launch.program())
        .args(launch.command.iter().skip(1))
        .args(args)
        .env_clear()
        .envs(launch.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&launch.folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    tokio::time::timeout(PATIENCE, output).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::agent::version::Fitness;

    #[test]
    fn a_program_is_looked_for_before_anything_is_begun() {
        let folder = tempfile::tempdir().unwrap();
        let look = |program: &str| look_up(&[program.to_owned()], Some(OsStr::new("/bin:/usr/bin")), folder.path());
        assert!(look("sh").is_ok() && look("/bin/sh").is_ok());
        for missing in ["no-such-claude", "./no-such-claude", "/nowhere/claude", ""] {
            assert!(matches!(look(missing), Err(AgentError::NotFound { .. })), "{missing}");
        }
    }

    #[test]
    fn versions_are_read_and_judged() {
        let cases = [
            ("2.1.197 (Claude Code)\n", Some((Version(2, 1, 197), Fitness::Tested))),
            ("2.1.330 (Claude Code)\n", Some((Version(2, 1, 330), Fitness::Tested))),
            ("2.1.224", Some((Version(2, 1, 224), Fitness::Between))),
            ("v2.1.78", Some((Version(2, 1, 78), Fitness::TooOld))),
            ("claude 2.1.100-beta.1", Some((Version(2, 1, 100), Fitness::Untested))),
            ("2.1.331", Some((Version(2, 1, 331), Fitness::Newer))),
            ("3.0.0", Some((Version(3, 0, 0), Fitness::Newer))),
            ("Usage: claude", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let read = Version::parse(text).map(|version| (version, version.fitness()));
            assert_eq!(read, expected, "{text}");
        }
    }

    #[tokio::test]
    async fn a_program_is_asked_once_until_it_changes_or_does_not_start() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("claude.sh");
        let write = |version: &str, age: u64| {
            let text = format!(
                "echo \"$1\" >> asked\nif [ \"$1\" = --help ]; then echo '  --system-prompt-snapshot <x>'; else echo \
                 {version}; fi\n"
            );
            std::fs::write(&script, text).unwrap();
            let file = std::fs::File::options().append(true).open(&script).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(age)).unwrap();
        };
        let launch = Launch {
            command: vec!["sh".into(), script.display().to_string()],
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            folder: dir.path().to_owned(),
            ..Launch::default()
        };
        let asked = || std::fs::read_to_string(dir.path().join("asked")).unwrap().lines().count();
        write("2.1.330", 1);
        let (first, second) = tokio::join!(ask(&launch), ask(&launch));
        assert_eq!(first.as_ref().unwrap(), second.as_ref().unwrap());
        assert!(first.unwrap().features.have(super::super::features::Feature::SystemPromptSnapshot));
        assert_eq!(asked(), 2, "--version and --help");
        write("2.1.331", 2);
        assert_eq!(ask(&launch).await.unwrap().version, Version(2, 1, 331));
        assert_eq!(asked(), 4);
        forget(&launch.command);
        ask(&launch).await.unwrap();
        assert_eq!(asked(), 6);
    }

    #[tokio::test]
    async fn help_that_is_not_told_is_unknown_and_not_remembered_as_lacking() {
        let dir = tempfile::tempdir().unwrap();
        let script = "[ \"$1\" = --version ] && { echo 2.1.330; exit; }; [ -e known ] || { echo no memory >&2; exit 1; }; \
                      echo '  --system-prompt-snapshot <x>'";
        let launch = Launch {
            command: ["sh", "-c", script, "claude"].map(str::to_owned).into(),
            env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
            folder: dir.path().to_owned(),
            ..Launch::default()
        };
        let error = ask(&launch).await.unwrap_err().to_string();
        assert!(error.contains("--help") && error.contains("no memory"), "{error}");
        std::fs::write(dir.path().join("known"), "").unwrap();
        let found = ask(&launch).await.unwrap();
        assert!(found.features.have(super::super::features::Feature::SystemPromptSnapshot));
        let error = flags(&launch, None).unwrap_err().to_string();
        assert!(error.contains("--help") && error.contains("two minutes"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_prints_no_version_is_not_used() {
        let command = ["sh", "-c", "echo hello"].map(str::to_owned).into();
        let env = vec![("PATH".into(), std::env::var_os("PATH").unwrap())];
        let launch = Launch { command, env, folder: std::env::temp_dir(), ..Launch::default() };
        let told = ask(&launch).await.unwrap_err().to_string();
        assert!(told.contains("hello") && told.contains("2.1.79"), "{told}");
    }
}
