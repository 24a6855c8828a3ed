//! What stands below the options of the commands that look after what programmator keeps.

pub const GC: &str = "\
Examples:
  programmator gc --dry-run
  programmator gc
  programmator gc --json | jq -r '.[].what'

It removes the output of runs that ended more than storage.keep_days ago (90), and of the oldest finished runs while the state folder is larger than storage.max_gb (5); their logs are kept. It never touches a run that is active, waiting or can be resumed, the latest run of an unfinished ticket, or a worktree with unmerged work. programmator does the same after a run, at most once a day, except for worktrees, which are only removed here.

Exit codes: 1 something could not be removed, 75 another cleanup is running, 77 inside a run.";

pub const BACKUP: &str = "\
Examples:
  programmator backup ~/programmator.tar.gz
  programmator backup --force ~/programmator.tar.gz
  tar -tzf ~/programmator.tar.gz    what is in it

Runs may be active meanwhile. Machine-specific files are left out: the phone's pairing, the passphrase, trust, locks, logs; and so is the configuration, a separate folder. Exit code 77 inside a run.";

pub const RESTORE_STATE: &str = "\
Examples:
  programmator restore-state ~/programmator.tar.gz

The file is checked first; if anything is wrong, nothing changes. Snapshots and worktrees are in your repositories, not in a backup. Exit codes: 1 not restored, 5 you said no, 75 a run is active, 77 inside a run.";

pub const METRICS: &str = "\
Examples:
  programmator metrics
  programmator metrics /var/lib/node_exporter/textfile/programmator.prom

With FILE it replaces the file atomically, for the textfile collector of node_exporter; call it from a timer or cron. programmator opens no port. Metrics have no ticket labels.";

pub const HOST: &str = "\
Examples:
  programmator host install                  start it whenever you log in
  programmator host status
  programmator host stop --now
  programmator host                          in the foreground: for a service manager

The host watches what runs in the background (`programmator run --detach tk-4f2a`, and runs moved there from the screen). If such a process is killed, or the machine restarts, it resumes the runs and queued tickets that are left, with the options they were started with, and the phone relay if it was on: at most three times an hour. What you stop, pause, complete or continue elsewhere is left alone, and so are runs without a record for more than a week. There is one host per state folder; it restarts itself when programmator is updated. Exit codes: 1 a host is already running, 77 inside a run.";

pub const HOST_STATUS: &str = "\
Examples:
  programmator host status
  programmator host status --json | jq '.background[] | select(.interrupted)'";

pub const HOST_STOP: &str = "\
Examples:
  programmator host stop
  programmator host stop --now

Runs stop after their current iteration, or with --now at once; queued tickets are not started. A run that is waiting for you stops after you have answered. The phone stays on until `programmator away off`. An installed host starts again when you next log in.";

pub const HOST_LOGS: &str = "\
Examples:
  programmator host logs
  programmator host logs --last 500

What was interrupted, what was resumed, and what could not be. Up to 2 MB are kept in `host.log` in the state folder. `programmator logs` prints the records of a run.";

pub const HOST_INSTALL: &str = "\
Examples:
  programmator host install
  programmator host install --yes

Writes `programmator-host.service` for systemd, or `programmator.host.plist` for launchd, with your current PATH; the file is shown first. Run it again after your PATH has changed, or to start the host again. Exit codes: 1 the service manager refused, 5 you said no, 77 inside a run.";

pub const HOST_UNINSTALL: &str = "\
Examples:
  programmator host uninstall
  programmator host uninstall --yes

Ends the host and removes its service file, which is shown first. Background runs continue. Exit codes: 1 the service manager refused, 5 you said no, 77 inside a run.";

pub const UNINSTALL: &str = "\
Examples:
  programmator uninstall
  programmator uninstall --purge
  programmator backup ~/programmator.tar.gz && programmator uninstall --purge

It shows each item and asks before removing it; without a terminal it only lists them, unless --yes is given. Tickets, .programmator in projects, worktrees and snapshots are never removed. Hooks of other projects: run programmator hooks remove --project there. Exit codes: 1 something could not be removed, 75 with --purge while a run or the phone relay is active, 77 inside a run.";
