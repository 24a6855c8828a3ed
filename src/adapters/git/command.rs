//! One call of the `git` binary, with everything off that a repository could use to run code of its own.
//!
//! Owns the hardening, the process group, the time limit and the cap on output. What is asked of git
//! stands with the one who asks: `repository`, `scratch`, `history`, `restore`.

use super::error::EvidenceError;
use crate::adapters::own_session;
use crate::adapters::process_group::ProcessGroup;
use crate::base::text::clean_line;
use std::ffi::OsStr;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// Most bytes of stdout that are taken (a listing of about two million files).
const MAX_OUTPUT: u64 = 256 << 20;
/// Most bytes of stderr that are kept.
const MAX_STDERR: u64 = 64 << 10;
/// For questions that git answers from its own files.
const QUICK: Duration = Duration::from_secs(30);
/// For calls that read or write the working tree.
const THOROUGH: Duration = Duration::from_secs(300);

/// How often is looked whether hooks have ended.
const LOOK: Duration = Duration::from_millis(20);

/// Set on every call. A repository's own settings never decide what runs.
const HARDENING: [&str; 12] = [
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.pager=cat", "core.editor=false",
    "core.logAllRefUpdates=false", "diff.external=", "gc.auto=0", "maintenance.auto=false", "submodule.recurse=false",
    "credential.helper=", "safe.bareRepository=explicit", "protocol.allow=never",
];

/// Variables of the person's that stay: which config files, which git and who they are, never which repository.
const KEPT_GIT_VARIABLES: [&str; 11] = [
    "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT", "GIT_EXEC_PATH",
    "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
];

/// Variables that name another repository than that of the folder.
const OF_A_REPOSITORY: [&str; 9] = [
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_PREFIX", "GIT_NAMESPACE", "GIT_CONFIG_PARAMETERS",
];

/// A call for the person's repository. It runs no hook.
pub(super) fn git(folder: &Path, verb: &'static str) -> Git {
    Git::new(folder, std::iter::empty::<&str>(), verb)
}

/// A call that is being put together.
pub(super) struct Git {
    command: Command,
    verb: &'static str,
    folder: PathBuf,
    input: Vec<u8>,
    limit: Duration,
    /// How long it may take to end when it is asked to, before it is killed.
    grace: Duration,
    /// Most bytes of stdout that are taken; `None`: what goes beyond the bound of all calls is an error.
    most: Option<u64>,
}

/// What a call gave.
pub(super) struct Said {
    /// Exit code; `None` for a signal.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    /// There was more of it.
    pub cut: bool,
    /// The beginning of stderr, lossy.
    pub stderr: String,
}

impl Git {
    /// `git <verb>` in `folder`; `before` stands before the verb (`--git-dir=…`).
    pub(super) fn new<S: AsRef<OsStr>>(folder: &Path, before: impl IntoIterator<Item = S>, verb: &'static str) -> Self {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let configured = text.starts_with("GIT_CONFIG_KEY_") || text.starts_with("GIT_CONFIG_VALUE_");
            if text.starts_with("GIT_") && !configured && !KEPT_GIT_VARIABLES.contains(&&*text) {
                command.env_remove(&name);
            }
        }
        command.envs([
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("LC_ALL", "C"),
        ]);
        for setting in HARDENING {
            command.args(["-c", setting]);
        }
        command.args(before).arg(verb).current_dir(folder);
        Self {
            command,
            verb,
            folder: folder.to_owned(),
            input: Vec::new(),
            limit: QUICK,
            grace: Duration::ZERO,
            most: None,
        }
    }

    /// The same as the person would call it: with their settings, hooks and programs, in the repository that `folder` is
    /// in. It asks nothing on a terminal.
    pub(super) fn as_person(folder: &Path, verb: &'static str) -> Self {
        Self::of_person(Command::new("git"), folder, verb)
    }

    /// The same without a terminal: what signs would ask on the screen's own.
    pub(super) fn as_person_apart(folder: &Path, verb: &'static str) -> Self {
        Self::of_person(own_session::command("git"), folder, verb)
    }

    fn of_person(mut command: Command, folder: &Path, verb: &'static str) -> Self {
        for name in OF_A_REPOSITORY {
            command.env_remove(name);
        }
        command.env_remove("GPG_TTY").env("GIT_TERMINAL_PROMPT", "0").env("GIT_EDITOR", "false");
        command.arg(verb).current_dir(folder);
        Self {
            command,
            verb,
            folder: folder.to_owned(),
            input: Vec::new(),
            limit: QUICK,
            grace: Duration::ZERO,
            most: None,
        }
    }

    pub(super) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(super) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.input = bytes;
        self
    }

    /// Gives the call the time that work on the whole tree needs.
    pub(super) fn thorough(mut self) -> Self {
        self.limit = THOROUGH;
        self
    }

    /// Gives the call so much time.
    pub(super) fn within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// At the end of its time it is asked to end, and has so long for it: a hook may have put files of the person's aside.
    pub(super) fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Takes the beginning of what it prints.
    pub(super) fn at_most(mut self, bytes: u64) -> Self {
        self.most = Some(bytes);
        self
    }

    /// Runs it; exit 0 gives stdout, everything else is an error.
    pub(super) async fn ok(self) -> Result<Vec<u8>, EvidenceError> {
        Ok(self.some().await?.0)
    }

    /// The same, and whether there was more of it.
    pub(super) async fn some(self) -> Result<(Vec<u8>, bool), EvidenceError> {
        let (verb, folder) = (self.verb, self.folder.clone());
        let said = self.run().await?;
        match said.code {
            Some(0) => Ok((said.stdout, said.cut)),
            _ => Err(failed(verb, &folder, &said)),
        }
    }

    /// Runs it; any exit is an answer.
    pub(super) async fn run(mut self) -> Result<Said, EvidenceError> {
        ProcessGroup::prepare(&mut self.command);
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound if self.folder.is_dir() => {
                EvidenceError::GitMissing { folder: self.folder.clone() }
            }
            _ => self.trouble(error),
        })?;
        let mut group = ProcessGroup::of(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // git may stop reading early; its exit says what that means.
                let _ = stdin.write_all(&self.input).await;
            }
        };
        let work = async {
            let ((), out, err) =
                tokio::join!(write, drain(stdout, self.most.unwrap_or(MAX_OUTPUT)), drain(stderr, MAX_STDERR));
            (child.wait().await, out, err)
        };
        let mut work = std::pin::pin!(work);
        let ended = tokio::time::timeout(self.limit, &mut work).await;
        if ended.is_err() && !self.grace.is_zero() {
            group.terminate();
            let _ = tokio::time::timeout(self.grace, &mut work).await;
        }
        group.kill();
        let Ok((status, out, err)) = ended else {
            let seconds = self.limit.as_secs();
            return Err(EvidenceError::TimedOut { verb: self.verb, folder: self.folder.clone(), seconds });
        };
        let status = status.map_err(|error| self.trouble(error))?;
        let stdout = out.map_err(|error| self.trouble(error))?;
        if stdout.cut && self.most.is_none() {
            return Err(self.trouble(std::io::Error::other("it lists more than 256 MiB")));
        }
        let stderr = err.map_err(|error| self.trouble(error))?;
        Ok(Said {
            code: status.code(),
            stdout: stdout.bytes,
            cut: stdout.cut,
            stderr: String::from_utf8_lossy(&stderr.bytes).into_owned(),
        })
    }

    /// In a process group of its own: what ends us does not end it.
    pub(super) fn apart(mut self) -> Self {
        self.command.process_group(0);
        self
    }

    /// Runs it with its input and all that it says in files, so that it ends as it should when this program ends before
    /// it. `called`: it runs. Gives its exit code; `None` for a signal.
    pub(super) async fn run_in_files(
        mut self,
        input: File,
        said: &File,
        called: &(dyn Fn() + Send + Sync),
    ) -> Result<Option<i32>, EvidenceError> {
        let trouble = |error, git: &Self| git.trouble(error);
        let (out, err) =
            said.try_clone().and_then(|out| Ok((out, said.try_clone()?))).map_err(|e| trouble(e, &self))?;
        self.command.stdin(input).stdout(out).stderr(err);
        let mut child = self.command.spawn().map_err(|error| self.trouble(error))?;
        // Not ended with the future that waits for it.
        let mut group = ManuallyDrop::new(ProcessGroup::of(&child));
        // What it has of the input keeps the lock, not we.
        self.command = Command::new("git");
        called();
        let ended = tokio::time::timeout(self.limit, child.wait()).await;
        if ended.is_err() {
            group.terminate();
            // Git ends at once, a hook may have something to tidy up.
            let tidied = async {
                let _ = child.wait().await;
                while group.is_alive() {
                    tokio::time::sleep(LOOK).await;
                }
            };
            let _ = tokio::time::timeout(self.grace, tidied).await;
        }
        group.kill();
        match ended {
            Ok(status) => Ok(status.map_err(|error| self.trouble(error))?.code()),
            Err(_) => {
                Err(EvidenceError::TimedOut { verb: self.verb, folder: self.folder, seconds: self.limit.as_secs() })
            }
        }
    }

    fn trouble(&self, source: std::io::Error) -> EvidenceError {
        EvidenceError::Io { what: format!("git {}", self.verb), path: self.folder.clone(), source }
    }
}

/// The error for a call that ended badly.
pub(super) fn failed(verb: &'static str, folder: &Path, said: &Said) -> EvidenceError {
    EvidenceError::Failed { verb, folder: folder.to_owned(), said: clean_line(&said.stderr, 600) }
}

/// One line of output without its newline.
pub(super) fn line(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    bytes
}

struct Drained {
    bytes: Vec<u8>,
    cut: bool,
}

/// Keeps the first `max` bytes and reads the rest away, so that the writer never blocks.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, max: u64) -> std::io::Result<Drained> {
    let mut bytes = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(Drained { bytes, cut: false }) };
    (&mut pipe).take(max).read_to_end(&mut bytes).await?;
    let rest = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await?;
    Ok(Drained { bytes, cut: rest > 0 })
}
