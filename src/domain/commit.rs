//! A commit of what a ticket's runs have done: what would go in, what stays out and why, what came of it, and what the
//! journal says of it. Plain data; names of files are raw.

use crate::domain::answerer::Answerer;
use crate::domain::changes::ChangedFile;
use crate::domain::merge::MergeHow;
use crate::domain::worded::worded;
use crate::domain::worktree::WorktreeFor;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

worded! {
    /// When a run commits its own work.
    #[derive(Default)]
    pub enum CommitWhen {
        /// Never: the person does.
        #[default]
        Off = "off",
        /// After each phase that is found done.
        Phase = "phase",
        /// Once, when the ticket is done.
        Ticket = "ticket",
    }
}

/// How a run uses git: where it works, and how it commits its own work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GitSettings {
    pub commit: CommitWhen,
    /// The template of a commit's message.
    pub message: String,
    /// Branches that no run commits to.
    pub protected: Vec<String>,
    /// What works in a worktree of its own.
    pub worktree: WorktreeFor,
    /// The template of a worktree's branch.
    pub branch: String,
    /// What a worktree begins at; `None`: the branch that the person is on.
    pub base: Option<String>,
    /// How the work of a worktree comes into its base.
    pub merge: MergeHow,
    /// The person has set the branch: a run without a worktree works on it, too.
    pub switches: bool,
}

impl Default for GitSettings {
    fn default() -> Self {
        Self {
            commit: CommitWhen::Off,
            message: "{{ phase }}\n\nTicket: {{ id }}".to_owned(),
            protected: vec!["main".to_owned(), "master".to_owned()],
            worktree: WorktreeFor::Off,
            branch: "programmator/{{ id }}".to_owned(),
            base: None,
            merge: MergeHow::Off,
            switches: false,
        }
    }
}

/// What a run commits by itself, and under which words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnCommit {
    /// The phase that is done, or the ticket's title where there are several.
    pub phase: String,
    pub title: String,
    pub settings: GitSettings,
}

/// What a commit would be, as things stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitPlan {
    /// What the names of files are relative to.
    pub top: PathBuf,
    /// The commit that it would stand on; `None`: it would be the first.
    pub head: Option<String>,
    /// The branch that it would go on; `None`: HEAD is detached.
    pub branch: Option<String>,
    /// Names the content of the working tree: another one makes another plan.
    pub tree: String,
    /// What goes in.
    pub files: Vec<ChangedFile>,
    /// Lines, in all of them.
    pub added: u64,
    pub removed: u64,
    pub left_out: Vec<LeftOut>,
    /// Hooks and settings of the repository that were changed since the ticket began: git would run what they say.
    pub programs: Vec<Program>,
}

/// A hook or a file of settings that git would run or follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Relative to the top where it is below.
    pub name: String,
    /// The beginning of what it says, raw.
    pub text: String,
    /// When it was changed, in nanoseconds since the epoch: another text has another time.
    pub changed: i128,
}

/// A file that the runs have changed and that stays out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub path: String,
    pub why: Why,
}

/// Why a file stays out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// It had uncommitted changes before.
    Before,
    /// Somebody else has changed it, between iterations or after the last one.
    Since,
    /// An iteration was cut off before its changes were seen.
    Unseen,
    /// What it holds was moved there from a file that stays out.
    Moved,
    /// The index holds another version of it.
    Staged,
    /// A repository of its own.
    Repository,
    /// It was changed while the directory was in no repository: what was there before is not known.
    NoGit,
}

impl LeftOut {
    /// The first file and why, and how many more there are; `None`: nothing stays out.
    pub fn told(all: &[Self]) -> Option<String> {
        let (first, more) = all.split_first()?;
        let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        Some(format!("{} excluded ({}){more}", first.path, first.why.words()))
    }
}

impl Why {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Before => "had uncommitted changes before the run",
            Self::Since => "was also changed outside the run",
            Self::Unseen => "was changed in an interrupted iteration",
            Self::Moved => "was moved from an excluded file",
            Self::Staged => "is staged in another version",
            Self::Repository => "is a nested repository",
            Self::NoGit => "is from before `git init`: commit it yourself",
        }
    }
}

/// What the person has agreed to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    pub message: String,
    pub head: Option<String>,
    /// The branch that they have seen it go on.
    #[serde(default)]
    pub branch: Option<String>,
    pub tree: String,
    /// The changed hooks and settings that they have been shown.
    pub programs: Vec<Program>,
    /// The files that they have seen go in.
    #[serde(default)]
    pub files: Vec<String>,
    /// Files of the plan that they have taken out.
    #[serde(default)]
    pub without: Vec<String>,
    /// The files of the runs that stay out, and why.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Committed {
    pub id: String,
    pub files: usize,
    /// What did not work out after it was made.
    pub trouble: Option<String>,
}

/// A commit is about to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitIntended {
    /// Names this try, also in git's reflog.
    pub id: String,
    /// The commit that it is to stand on; `None`: it is the first.
    pub head: Option<String>,
    /// The content of the working tree that was agreed to.
    pub tree: String,
    pub message: String,
    /// What is to go in: the first names, and how many there are.
    pub files: Vec<String>,
    pub total: usize,
    /// What the runs have changed and does not go in: the first names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How many files the person has taken out.
    #[serde(default)]
    pub without: usize,
    pub by: Answerer,
}

/// Names in a record, at most.
const NAMES: usize = 200;

impl CommitIntended {
    pub fn of(id: String, agreed: &Agreed, by: Answerer) -> Self {
        let Agreed { head, tree, message, mut files, mut left_out, without, .. } = agreed.clone();
        let (total, without) = (files.len(), without.len());
        files.truncate(NAMES);
        left_out.truncate(NAMES);
        Self { id, head, tree, message, files, total, left_out, without, by }
    }
}

/// A commit is made, or it is known that it is not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitSettled {
    /// Which try.
    pub id: String,
    /// The commit; `None`: there is none.
    pub commit: Option<String>,
    /// How many files it has.
    #[serde(default)]
    pub files: usize,
    /// Why there is none, or what did not work out after it was made; may have several lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl CommitSettled {
    pub fn of(id: String, made: &Result<Committed, String>) -> Self {
        match made {
            Ok(made) => Self { id, commit: Some(made.id.clone()), files: made.files, trouble: made.trouble.clone() },
            Err(why) => Self { id, trouble: Some(why.clone()), ..Self::default() },
        }
    }
}

/// How the commits of a run's work stand, as its records tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commits {
    /// It was begun, and its end is not known yet.
    pub open: Option<CommitIntended>,
    /// What was found done and is not committed.
    pub due: Vec<String>,
    /// No commit came of it; with what is found done next it is tried again.
    pub tried: bool,
    /// The last one that was made after the run's last iteration.
    pub last: Option<String>,
    /// That of the ticket's earlier run, while this one has not worked.
    pub earlier: Option<String>,
    /// Why the last try made none.
    pub refused: Option<String>,
    /// How many files the person has taken out of the last one.
    pub without: usize,
}

impl Commits {
    /// The commit that has the ticket's work as it is now.
    pub fn of_work(&self) -> Option<&str> {
        self.last.as_deref().or(self.earlier.as_deref())
    }

    pub fn begin(&mut self, intended: &CommitIntended) {
        (self.open, self.refused) = (Some(intended.clone()), None);
    }

    /// Something was found done.
    pub fn owe(&mut self, done: String) {
        self.due.push(done);
        self.tried = false;
    }

    pub fn settle(&mut self, settled: &CommitSettled) {
        let open = self.open.take_if(|open| open.id == settled.id);
        self.tried = true;
        match &settled.commit {
            Some(commit) => {
                self.without = open.map_or(0, |open| open.without);
                self.due.clear();
                self.last = Some(commit.clone());
            }
            None => self.refused.clone_from(&settled.trouble),
        }
    }
}

/// The beginning of a commit's id.
pub fn short(id: &str) -> &str {
    id.get(..9).unwrap_or(id)
}
