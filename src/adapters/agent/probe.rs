//! Which Claude Code is installed. Whether it speaks the protocol shows when it is started.
//!
//! Ask before the first start: it also brings the program into memory, so that the ten seconds of the
//! protocol are not spent on a slow disk.

use super::AgentError;
use super::launch::Launch;
use std::fmt;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// `claude --version` takes 0.4 s, but the first start reads 245 MB from a disk that may be busy.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// A version of Claude Code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

/// The oldest version that is used: those up to 2.1.78 were reported not to ask for permission over stdio.
pub const FLOOR: Version = Version(2, 1, 79);

/// The version that the tests drive.
pub const TESTED: Version = Version(2, 1, 197);

/// What is to be thought of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitness {
    /// Older than [`FLOOR`]: not to be used.
    TooOld,
    /// Between [`FLOOR`] and [`TESTED`]: the start of the protocol decides.
    Untested,
    /// [`TESTED`] or newer.
    Good,
}

impl Version {
    /// Reads what `claude --version` prints: `2.1.197 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        text.split_whitespace().find_map(|word| {
            let word = word.strip_prefix('v').unwrap_or(word);
            let mut numbers = word.split(['-', '+']).next()?.splitn(3, '.').map(str::parse);
            match (numbers.next()?, numbers.next()?, numbers.next()?) {
                (Ok(major), Ok(minor), Ok(patch)) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }

    /// What is to be thought of it.
    pub fn fitness(self) -> Fitness {
        if self < FLOOR {
            Fitness::TooOld
        } else if self < TESTED {
            Fitness::Untested
        } else {
            Fitness::Good
        }
    }
}

impl Version {
    /// Why this version is not used, with the cure; `None` when it is.
    pub fn refusal(self) -> Option<String> {
        let old = self.fitness() == Fitness::TooOld;
        old.then(|| {
            format!(
                "Claude Code {self} is too old: {FLOOR} or newer is needed, because older ones do not ask before a \
                 tool runs. Update it with `claude update` or `npm install -g @anthropic-ai/claude-code@latest`"
            )
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// Asks the program of `launch` for its version. The options are not used.
pub async fn version(launch: &Launch) -> Result<Version, AgentError> {
    let program = launch.program();
    let output = Command::new(&program)
        .args(launch.command.iter().skip(1))
        .arg("--version")
        .env_clear()
        .envs(launch.env.iter().map(|(key, value)| (key, value)))
        .current_dir(&launch.folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let no_version = |said: String| AgentError::NoVersion { program: program.clone(), said, floor: FLOOR };
    let output = tokio::time::timeout(VERSION_TIMEOUT, output)
        .await
        .map_err(|_| no_version(": no answer within 30 s".into()))?
        .map_err(|error| super::start::explain(launch, error))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Version::parse(&text).ok_or_else(|| {
        let heard = if text.trim().is_empty() { String::from_utf8_lossy(&output.stderr) } else { text };
        no_version(super::said(&heard))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_judged() {
        let cases = [
            ("2.1.197 (Claude Code)\n", Some((Version(2, 1, 197), Fitness::Good))),
            ("v2.1.78", Some((Version(2, 1, 78), Fitness::TooOld))),
            ("claude 2.1.100-beta.1", Some((Version(2, 1, 100), Fitness::Untested))),
            ("3.0.0", Some((Version(3, 0, 0), Fitness::Good))),
            ("Usage: claude", None),
            ("", None),
        ];
        for (text, expected) in cases {
            let read = Version::parse(text).map(|version| (version, version.fitness()));
            assert_eq!(read, expected, "{text}");
        }
    }
}
