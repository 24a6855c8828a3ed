//! The programs that know issues: `gh`, and `bd` or `br` for beads. How each is found and asked, and how its failures are worded: what
//! failed, what to do, and the line that it said of it.

use crate::adapters::outside_program::{self, PATIENCE, PRINTED, ProgramError};
use crate::base::text::{Clean, clean_line};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// What a program says of a failure, in small letters; what that means; what to do about it. The first that fits counts.
type Meaning = (&'static str, &'static str, &'static str);

const REMOTE: &str = "add a GitHub remote";
const ACCESS: &str = "check the remote with `git remote -v`, and your account with `gh auth status`";
const UNSEEN: &str = "GitHub has no such repository, or you have no access to it";
const UNREACHED: &str = "GitHub cannot be reached";
const NETWORK: &str = "check the network, then try again";
const LOGIN: &str = "log in with `gh auth login`";
const NO_LOGIN: &str = "you are not logged in to GitHub";

/// What `gh` says.
const OF_GH: &[Meaning] = &[
    // Behind this it says that `gh auth login` knows more hosts.
    ("none of the git remotes configured", "no remote of this repository is on GitHub", REMOTE),
    ("no git remotes found", "the repository has no remote", REMOTE),
    ("not a git repository", "this folder is not in a git repository", "go to a clone of the repository"),
    ("gh repo set-default", "the repository has more than one remote", "choose one with `gh repo set-default`"),
    ("http 401", "GitHub no longer accepts your login", "log in again with `gh auth login`"),
    ("gh auth login", NO_LOGIN, LOGIN),
    ("rate limit", "GitHub's rate limit is reached", "try again later: `gh api rate_limit` shows when"),
    ("saml enforcement", "the organization has not authorized your token", "`gh auth refresh` authorizes it"),
    ("resource not accessible", "your token cannot write to issues", "give it access: `gh auth refresh -s repo`"),
    ("correct permissions", "you lack the permission", "ask for write access, or ask the owner"),
    ("issue is locked", "the issue is locked", "somebody with write access must unlock the conversation"),
    ("http 403", "GitHub refuses it", ACCESS),
    ("could not resolve to a repository", UNSEEN, ACCESS),
    ("could not resolve to an issue", "the issue was deleted, or you have no access", "look for it on GitHub"),
    ("http 404", UNSEEN, ACCESS),
    ("has disabled issues", "issues are disabled in the repository", "enable issues in its settings"),
    ("error connecting to", UNREACHED, NETWORK),
    ("dial tcp", UNREACHED, NETWORK),
    ("unknown flag", "`gh` is too old", "update it"),
    ("unknown json field", "`gh` is too old", "update it"),
    ("already exists", "the branch has a pull request", "look at it with `gh pr view`"),
    (
        "must first push",
        "GitHub does not have the branch",
        "check that the remote is the repository that `gh repo view` shows",
    ),
    ("no commits between", "the base already has all commits", "nothing is to be done"),
];
/// What `bd` and `br` say.
const OF_BEADS: &[Meaning] = &[
    ("no beads database found", "there is no beads database here", "go to a beads project"),
    ("unknown flag", "the beads program is too old", "update it"),
    ("unexpected argument", "the beads program is too old", "update it"),
    ("no issue found", "beads has no such issue", "look for it with its `list`"),
    ("database is locked", "another program uses the beads database", "try again"),
];

/// Exit code of `gh` where nobody is logged in, whatever it says.
const GH_AUTH: i32 = 4;
/// The programs of beads; the first that is installed is asked.
const BEADS: [&str; 2] = ["bd", "br"];

/// What failed, what to do, and what the program said: for the person.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ToolError(String);

/// One of the programs.
#[derive(Clone, Copy, Debug)]
pub struct IssueTool {
    program: &'static str,
    meanings: &'static [Meaning],
    /// What to do where it is missing, and where it does not answer.
    install: &'static str,
    wait: &'static str,
}

/// The command line of GitHub.
pub const GH: IssueTool =
    IssueTool { program: "gh", meanings: OF_GH, install: "get it from https://cli.github.com", wait: NETWORK };

/// What `gh repo view` prints.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Repository {
    name_with_owner: String,
}

/// The repository that `gh` works with in this folder: owner and name.
pub async fn repository(folder: &Path) -> Result<String, ToolError> {
    let here: Repository = GH.json(&["repo", "view", "--json", "nameWithOwner"], folder).await?;
    Ok(here.name_with_owner)
}

/// The program of beads that is installed.
pub fn beads() -> Result<IssueTool, ToolError> {
    let program = BEADS.into_iter().find(|program| outside_program::is_installed(program));
    let program = program
        .ok_or_else(|| ToolError("neither `bd` nor `br` is installed or on your PATH: install one".to_owned()))?;
    Ok(IssueTool { program, meanings: OF_BEADS, install: "install it again", wait: "try again" })
}

impl IssueTool {
    /// Whether it can be asked at all.
    pub fn installed(&self) -> Result<(), ToolError> {
        if outside_program::is_installed(self.program) { Ok(()) } else { Err(self.missing()) }
    }

    /// What it prints.
    pub async fn printed(&self, args: &[&str], folder: &Path) -> Result<String, ToolError> {
        outside_program::printed(self.program, args, folder).await.map_err(|error| self.worded(args, error))
    }

    /// What it prints as JSON.
    pub async fn json<T: DeserializeOwned>(&self, args: &[&str], folder: &Path) -> Result<T, ToolError> {
        let text = self.printed(args, folder).await?;
        serde_json::from_str(&text).map_err(|_| self.unexpected(args))
    }

    /// It printed something else than it was asked for.
    pub fn unexpected(&self, args: &[&str]) -> ToolError {
        let program = self.program;
        ToolError(format!("unexpected output from `{}`: update `{program}`, then try again", self.asked(args)))
    }

    fn missing(&self) -> ToolError {
        ToolError(format!("`{}` is not installed or not on your PATH: {}", self.program, self.install))
    }

    /// The command without its operands.
    fn asked(&self, args: &[&str]) -> String {
        let verbs = args.iter().take(if self.program == GH.program { 2 } else { 1 });
        std::iter::once(&self.program).chain(verbs).copied().collect::<Vec<_>>().join(" ")
    }

    fn worded(&self, args: &[&str], error: ProgramError) -> ToolError {
        let (program, wait) = (self.program, self.wait);
        ToolError(match error {
            ProgramError::Missing => return self.missing(),
            ProgramError::NotStarted(error) => format!("`{program}` cannot be started: {error}"),
            ProgramError::NotRead(error) => format!("`{program}` cannot be read: {error}"),
            ProgramError::NoAnswer => format!("`{program}` did not respond for {} s: {wait}", PATIENCE.as_secs()),
            ProgramError::TooMuch => format!("`{program}` printed more than {} MiB: ask it for less", PRINTED >> 20),
            ProgramError::Failed { status, said } => {
                let lines: Vec<String> = Clean::new(&said).as_str().lines().map(|line| clean_line(line, 300)).collect();
                let last = lines.iter().rev().find(|line| !line.is_empty());
                let (what, cure, line) = match self.meant(&lines) {
                    Some((what, cure, line)) => (what, cure, Some(line)),
                    None if program == GH.program && status.code() == Some(GH_AUTH) => (NO_LOGIN, LOGIN, last),
                    None => {
                        let last = last.map_or_else(|| format!("it ended with {status}"), Clone::clone);
                        let cure = "run it yourself in this folder to see more";
                        return ToolError(format!("`{}` failed: {last}; {cure}", self.asked(args)));
                    }
                };
                let said = line.map_or_else(String::new, |line| format!(" (`{program}` said: {line})"));
                format!("{what}: {cure}{said}")
            }
        })
    }

    /// What the first line that is known means, what to do, and the line.
    fn meant<'a>(&self, lines: &'a [String]) -> Option<(&'static str, &'static str, &'a String)> {
        self.meanings.iter().find_map(|(words, what, cure)| {
            let line = lines.iter().find(|line| line.to_lowercase().contains(words))?;
            Some((*what, *cure, line))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn told(said: &str, code: i32) -> String {
        let error = ProgramError::Failed { status: ExitStatus::from_raw(code << 8), said: said.to_owned() };
        GH.worded(&["issue", "list", "--json", "number"], error).to_string()
    }

    #[test]
    fn a_failure_says_what_failed_what_to_do_and_the_line_that_was_said() {
        for (said, code, worded) in [
            (
                "none of the git remotes configured for this repository point to a known GitHub host. To tell gh about a new GitHub host, please use `gh auth login`\n",
                1,
                "no remote of this repository is on GitHub: add a GitHub remote (`gh` said: none of",
            ),
            (
                "HTTP 401: Bad credentials (https://api.github.com/graphql)\nTry authenticating with:  gh auth login\n",
                1,
                "GitHub no longer accepts your login: log in again with `gh auth login` (`gh` said: HTTP 401: Bad credentials (https://api.github.com/graphql))",
            ),
            (
                "gh: To use GitHub CLI in automation, set the GH_TOKEN environment variable.\n",
                4,
                "you are not logged in to GitHub: log in with `gh auth login` (`gh` said: gh: To use",
            ),
            (
                "HTTP 502: Bad Gateway\n\u{1b}[31mlast\n\n",
                1,
                "`gh issue list` failed: last; run it yourself in this folder to see more",
            ),
            ("", 3, "`gh issue list` failed: it ended with exit status: 3; run it"),
        ] {
            assert!(told(said, code).starts_with(worded), "{}", told(said, code));
        }
    }

    #[test]
    fn what_is_known_is_in_small_letters() {
        for (words, what, cure) in OF_GH.iter().chain(OF_BEADS) {
            assert_eq!(*words, words.to_lowercase(), "it would never be found");
            assert!(!what.is_empty() && !cure.is_empty());
        }
    }
}
