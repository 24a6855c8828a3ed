//! What stands below the options of the commands that look after what programmator keeps.

pub const GC: &str = "\
Examples:
  programmator gc --dry-run
  programmator gc
  programmator gc --json | jq -r '.[].what'

It removes what was printed in runs that ended more than storage.keep_days ago (90), and in the oldest finished ones while \
the state folder takes more than storage.max_gb (5); the log of a run stays. It never touches a run that is at work, waits or \
can be resumed, the latest run of an unfinished ticket, or a worktree that holds work. programmator does the same after a run, at \
most once a day, but for worktrees, which are removed only here.

Exit codes: 1 when something could not be removed, 75 while another program clears up, 77 inside a run.";

pub const BACKUP: &str = "\
Examples:
  programmator backup ~/programmator.tar.gz
  programmator backup --force ~/programmator.tar.gz
  tar -tzf ~/programmator.tar.gz    what is in it

Runs may be at work. Left out is what belongs to this machine: the phone's pairing, the passphrase, trust, locks, logs; and the \
configuration, which is a folder of its own. Exit code 77 inside a run.";

pub const RESTORE_STATE: &str = "\
Examples:
  programmator restore-state ~/programmator.tar.gz

Everything in the file is checked first; nothing is changed where something is wrong. Snapshots and worktrees are in your repositories, \
and not in a backup. Exit codes: 1 when it was not restored, 5 when you said no, 75 while a run is at work, 77 inside a run.";

pub const METRICS: &str = "\
Examples:
  programmator metrics
  programmator metrics /var/lib/node_exporter/textfile/programmator.prom

With FILE the text replaces the file in one step, as the textfile collector of node_exporter needs it; call it from a timer or cron. \
programmator opens no port. Runs are counted by outcome and state, never by ticket.";

pub const UNINSTALL: &str = "\
Examples:
  programmator uninstall
  programmator uninstall --purge
  programmator backup ~/programmator.tar.gz && programmator uninstall --purge

Each thing is shown first and asked about; without a terminal it is only shown, unless --yes is given. Tickets, .programmator in \
projects, worktrees and snapshots are never removed. Hooks of other projects: programmator hooks remove --project there. \
Exit codes: 1 when something could not be removed, 75 with --purge while a run is at work or the phone is asked, 77 inside a run.";
