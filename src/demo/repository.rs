//! The demo's repository: a small git project with a ticket, in a temporary folder that vanishes with its guard.
//!
//! Everything the demo writes lies inside: the project, programmator's state and the agent's sessions, so the
//! person's own store and `~/.claude` stay untouched. Does not run anything but git.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub const TICKET: &str = include_str!("../../tickets/demo.md");
/// The id in the ticket's front matter.
pub const TICKET_ID: &str = "demo-greet";

const GREET: &str = "#!/bin/sh\n# Says hello.\necho \"Hello, world!\"\n";
const TEST: &str = r#"#!/bin/sh
# Each check: the words expected, then the arguments for greet.sh.
failed=0
check() {
    expected=$1
    shift
    actual=$(sh ./greet.sh "$@" 2>&1)
    if [ "$actual" = "$expected" ]; then
        echo "ok    greet.sh $*"
    else
        echo "FAIL  greet.sh $*: expected '$expected', got '$actual'"
        failed=1
    fi
}

check "Hello, world!"
exit $failed
"#;
/// The repository's own configuration.
const IDENTITY: [(&str, &str); 3] =
    [("user.name", "programmator demo"), ("user.email", "demo@localhost"), ("commit.gpgSign", "false")];
const README: &str = "# greet.sh\n\nSays hello.\n";

/// Why there is no demo.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("the demo's folder {folder} could not be made: {source}; set TMPDIR to a folder that can be written to")]
    Folder { folder: PathBuf, source: io::Error },
    #[error("the demo needs git, which could not be started: {0}; install git and try again")]
    NoGit(io::Error),
    #[error("git {command} failed in the demo's repository: {said}")]
    Git { command: String, said: String },
}

/// Where the demo's parts lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoPaths {
    /// The temporary folder with everything in it.
    pub root: PathBuf,
    /// The git repository to work in.
    pub folder: PathBuf,
    pub tickets: PathBuf,
    pub ticket: PathBuf,
    pub state: PathBuf,
    /// For the scripted agent's `--state`.
    pub agent_state: PathBuf,
}

/// The demo's repository; dropping it removes the folder with everything in it.
#[derive(Debug)]
pub struct DemoRepository {
    /// Where its parts lie.
    pub paths: DemoPaths,
    _folder: tempfile::TempDir,
}

impl DemoRepository {
    /// The `agent.command` for this demo: `program` is programmator's own executable, `pace` the factor on all
    /// pauses of the script (1 to watch, 0.05 for a pipe).
    pub fn agent_command(&self, program: &Path, pace: f64) -> Vec<String> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let state = text(&self.paths.agent_state);
        let words = ["scripted-agent", "--state", state.as_str(), "--pace"];
        let pace = pace.to_string();
        std::iter::once(text(program)).chain(words.map(str::to_owned)).chain([pace]).collect()
    }
}

/// Makes the repository in a fresh folder below `parent` (for the demo `std::env::temp_dir()`).
pub fn create(parent: &Path) -> Result<DemoRepository, DemoError> {
    let failed = |source| DemoError::Folder { folder: parent.to_owned(), source };
    let folder = tempfile::Builder::new().prefix("programmator-demo-").tempdir_in(parent).map_err(failed)?;
    // git and the agent see real paths; macOS's temporary folder is behind a symlink.
    let root = folder.path().canonicalize().map_err(failed)?;
    let paths = DemoPaths {
        folder: root.join("greeter"),
        tickets: root.join("greeter/.tickets"),
        ticket: root.join(format!("greeter/.tickets/{TICKET_ID}.md")),
        state: root.join("state"),
        agent_state: root.join("agent"),
        root,
    };
    for made in [&paths.tickets, &paths.state, &paths.agent_state] {
        fs::create_dir_all(made).map_err(failed)?;
    }
    for (name, text) in [("greet.sh", GREET), ("test.sh", TEST), ("README.md", README)] {
        fs::write(paths.folder.join(name), text).map_err(failed)?;
    }
    executable(&paths.folder.join("test.sh")).map_err(failed)?;
    fs::write(&paths.ticket, TICKET).map_err(failed)?;
    git(&paths.folder, &["init", "--quiet", "--initial-branch=main"])?;
    // Who commits in the demo need not have told git who they are, nor sign.
    for (key, value) in IDENTITY {
        git(&paths.folder, &["config", "--local", key, value])?;
    }
    git(&paths.folder, &["add", "--all"])?;
    git(&paths.folder, &["commit", "--quiet", "--message", "A script that says hello"])?;
    Ok(DemoRepository { paths, _folder: folder })
}

fn executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

/// Runs git without anything of the person's: no configuration, no identity, no hooks, no repository around.
fn git<A: AsRef<OsStr>>(folder: &Path, args: &[A]) -> Result<(), DemoError> {
    let around = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_"));
    let mut command = Command::new("git");
    for (name, _) in around {
        command.env_remove(name);
    }
    let output = command
        .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(Stdio::null())
        .output()
        .map_err(DemoError::NoGit)?;
    if output.status.success() {
        return Ok(());
    }
    Err(DemoError::Git {
        command: args.first().map_or_else(String::new, |arg| arg.as_ref().to_string_lossy().into_owned()),
        said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_clean_repository_and_vanishes() {
        let parent = tempfile::tempdir().unwrap();
        let demo = create(parent.path()).unwrap();
        let status =
            Command::new("git").args(["status", "--porcelain"]).current_dir(&demo.paths.folder).output().unwrap();
        assert!(status.status.success() && status.stdout.is_empty(), "{status:?}");
        let test = Command::new("sh").arg("test.sh").current_dir(&demo.paths.folder).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&test.stdout), "ok    greet.sh \n");
        assert!(test.status.success());
        assert_eq!(fs::read_to_string(&demo.paths.ticket).unwrap(), TICKET);
        assert!(TICKET.contains(&format!("\nid: {TICKET_ID}\n")));
        drop(demo);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn who_has_told_git_no_name_can_commit_there() {
        let parent = tempfile::tempdir().unwrap();
        let demo = create(parent.path()).unwrap();
        let nobody = parent.path().join("nobody");
        fs::write(&nobody, "[user]\n\tuseConfigOnly = true\n[commit]\n\tgpgSign = true\n").unwrap();
        let output = Command::new("git")
            .args(["commit", "--quiet", "--allow-empty", "--message", "x"])
            .current_dir(&demo.paths.folder)
            .env("GIT_CONFIG_GLOBAL", &nobody)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = create(Path::new("/nowhere/at/all")).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all") && error.contains("TMPDIR"), "{error}");
    }
}
