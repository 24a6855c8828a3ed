//! What stands below the options of commands for working trees: snapshots and worktrees.

pub const SNAPSHOTS: &str = "\
Examples:
  programmator snapshots tk-4f2a
  programmator snapshots tk-4f2a --json | jq -r '.[].pick'
  programmator snapshots prune --dry-run    list those older than snapshots.keep_days

`end` is the state after the last iteration of the latest run. Snapshots are hidden git refs, refs/programmator/…; branches, index and stash are not touched.";

pub const RESTORE: &str = "\
Examples:
  programmator restore tk-4f2a 3
  programmator restore tk-4f2a 3 src/a.rs tests    one file and one folder
  programmator restore tk-4f2a restore/1    undo a restore
  programmator restore tk-4f2a 3 --yes      without asking

It shows what it would write and remove, and asks first; without a terminal it needs --yes. The current state is saved as a snapshot. Ignored files, the ticket, .programmator/, HEAD and the index are not touched.";

pub const FORK: &str = "\
Examples:
  programmator fork tk-4f2a 3
  programmator fork tk-4f2a 3 --id tk-try2
  programmator fork tk-4f2a 3 --json | jq -r .worktree

The branch of the new worktree starts at the commit that HEAD was at when the snapshot was taken; other changes in the snapshot are uncommitted there. The original ticket and its files do not change.";

pub const WORKTREE_LIST: &str = "\
Examples:
  programmator worktree list
  programmator worktree list --json | jq -r '.[].path'

`programmator run --worktree tk-4f2a` creates a worktree; `git.worktree: ticket` does so for every ticket.";

pub const WORKTREE_PATH: &str = "\
Examples:
  programmator worktree path tk-4f2a
  cd $(programmator worktree path tk-4f2a)

Exit code 2: the ticket has no worktree.";

pub const WORKTREE_REMOVE: &str = "\
Examples:
  programmator worktree remove tk-4f2a

Nothing is removed if it has uncommitted or untracked files, or commits missing from its base, or while a run is active in it. Ignored files are removed with it.";
