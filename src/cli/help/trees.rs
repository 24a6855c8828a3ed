//! What stands below the options of commands for working trees: snapshots and worktrees.

pub const SNAPSHOTS: &str = "\
Examples:
  programmator snapshots tk-4f2a
  programmator snapshots tk-4f2a --json | jq -r '.[].pick'
  programmator snapshots prune --dry-run    what is older than snapshots.keep_days

`end` is how the last iteration of the latest run left the files. Snapshots are hidden git refs, refs/programmator/…; branches, index and stash are not touched.";

pub const RESTORE: &str = "\
Examples:
  programmator restore tk-4f2a 3
  programmator restore tk-4f2a 3 src/a.rs tests    one file and one folder
  programmator restore tk-4f2a restore/1    undo a restore
  programmator restore tk-4f2a 3 --yes      without asking

It shows what it would write and remove, and asks first; without a terminal it needs --yes. The current state is saved as a snapshot. Files that git ignores, the ticket, .programmator/, HEAD and the index are not touched.";

pub const FORK: &str = "\
Examples:
  programmator fork tk-4f2a 3
  programmator fork tk-4f2a 3 --id tk-try2
  programmator fork tk-4f2a 3 --json | jq -r .worktree

The branch of the new worktree begins at the commit that HEAD was at when the snapshot was taken; what the snapshot has besides is uncommitted there. The ticket and its files stay as they are.";

pub const WORKTREE_LIST: &str = "\
Examples:
  programmator worktree list
  programmator worktree list --json | jq -r '.[].path'

A worktree is made by `programmator run --worktree tk-4f2a`, or for every ticket with `git.worktree: ticket`.";

pub const WORKTREE_PATH: &str = "\
Examples:
  programmator worktree path tk-4f2a
  cd $(programmator worktree path tk-4f2a)

Exit code 2: the ticket has no worktree.";

pub const WORKTREE_REMOVE: &str = "\
Examples:
  programmator worktree remove tk-4f2a

Nothing is removed while it holds uncommitted or untracked files, or commits that its base does not have, or while a run \
works in it. Files that git ignores go with it.";
