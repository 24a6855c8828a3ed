//! What stands below the options in `--help`: examples, exit codes, environment. The sentences above them are the
//! doc comments in `cli`; `tests/quick/docs.rs` holds both to the program.

mod away;
mod policy;
pub mod tickets;
mod trees;
mod upkeep;

pub use away::*;
pub use policy::*;
pub use trees::*;
pub use upkeep::*;

pub const TOP: &str = "\
Examples:
  programmator demo                      watch a demo; no account needed
  programmator init                      set up this project: checks, tickets, settings
  programmator ticket new \"Add a cache\"  create a ticket; write its phases into the file
  programmator tk-4f2a                   work through a ticket on the screen
  programmator tk-4f2a tk-9c1d plan.md   several, each in a tab
  programmator -C ~/shop tk-4f2a         in another folder
  programmator run --json tk-4f2a        without a screen

A ticket is an id, a unique part of an id, or a path to a markdown file. An interrupted run of it is resumed.";

/// The long form of `programmator --help`.
pub const TOP_LONG: &str = "\
Examples:
  programmator demo                      watch a demo; no account needed
  programmator init                      set up this project: checks, tickets, settings
  programmator ticket new \"Add a cache\"  create a ticket; write its phases into the file
  programmator tk-4f2a                   work through a ticket on the screen
  programmator tk-4f2a tk-9c1d plan.md   several, each in a tab
  programmator -C ~/shop tk-4f2a         in another folder
  programmator run --json tk-4f2a        without a screen

Exit codes:
  0    complete
  1    failed: no claude, no login, no such model, ticket file gone, internal error
  2    wrong usage or configuration; nothing was started
  3    blocked: needs you
  4    stopped by a guard or limit: iterations, no change, errors, time, budget,
       the circuit breaker; a limit that resets does not end the run
  5    stopped by you
  75   the ticket is in use by another program
  77   not allowed inside a run; use a shell of your own
  129  SIGHUP (130 SIGINT, 143 SIGTERM, 141 output closed)
With several tickets, the highest code wins.

Environment:
  TICKETS_DIR                     tickets folder
  PROGRAMMATOR_MAX_ITERATIONS     maximum iterations of one run
  PROGRAMMATOR_STAGNATION_LIMIT   iterations in a row without any change
  PROGRAMMATOR_TIMEOUT            seconds for one iteration
  PROGRAMMATOR_CALLS              Claude calls per hour
  PROGRAMMATOR_APPROVAL_TIMEOUT   seconds until an unanswered question is denied
  PROGRAMMATOR_CLAUDE             the program to start as claude
  PROGRAMMATOR_CLAUDE_FLAGS       more flags for claude
  CLAUDE_CODE_MAX_RETRIES         how often claude itself retries a failed request
  PROGRAMMATOR_PROFILE            the policy profile: strict, guarded, trusted or read_only
  PROGRAMMATOR_WORKFLOW           who reviews finished work: auto, simple, reviewed or thorough
  PROGRAMMATOR_THEME              the screen's theme
  PROGRAMMATOR_CONFIG_DIR         instead of ~/.config/programmator
  PROGRAMMATOR_STATE_DIR          instead of ~/.local/state/programmator
  PROGRAMMATOR_LOG                log level of programmator.log: warn, debug, …
  NO_COLOR                        no colours
  VISUAL, EDITOR                  the editor for tickets and the policy
Flags override the environment, the environment overrides files: see `programmator config show`.";

pub const RUN: &str = "\
Examples:
  programmator run tk-4f2a
  programmator run --json tk-4f2a | jq -r .kind
  programmator run -n 5 --timeout 600 tk-4f2a tk-9c1d
  programmator run --worktree tk-4f2a
  programmator run --on build tk-4f2a       in the background on another machine (`hosts` in your configuration)
  programmator run --resolve tk-4f2a        let Claude resolve a merge conflict (exit code 3)
  programmator run --ready --worktree --max-parallel 3 --halt-on-failure
  programmator run --dry-run tk-4f2a        what it would do first, and what would prevent it from starting
  programmator run --dry-run --ready        the order, and why others are not ready

With --ready it runs every open or in-progress ticket whose deps are closed, by priority, then age; tickets that become ready are included. Tickets in a dependency cycle, or blocked by something else, are listed on stderr and skipped. Tickets created later are not picked up.
With --dry-run nothing is started or written; claude is only called for its version and login. It shows the first call with its full prompt, the limits and checks, and what would prevent or delay the start. The exit code is 0 if the run would start, otherwise that of `run`. With --json one object per ticket: ticket, path, would_start, exit_code, refusals, delays, notes, run, call; with --ready one object: order, left, max_parallel.
With several tickets, each waits for those in its `deps`; run.max_parallel sets how many run at once.
One line per event; with --json one record per line: v, seq, time, run, ticket, kind and the fields of the \
kind. The last one of a run is `run_ended`. The exit code is that of the worst ticket: 0 complete, 1 failed, 2 usage, 3 blocked, 4 stopped by a guard, 5 stopped by you, 75 in use by another program, 77 inside a run, 129, 130, 143 by a signal. A second signal kills the run.";

pub const SERVE: &str = "\
Examples:
  programmator serve --stdio
  ssh build programmator serve --stdio

You do not run it yourself: the other machine lists it under `hosts` in its configuration, and `programmator attach --on build` starts it there. It reads this machine's runs, passes your input to them, and exits when its stdin closes. Exit code 77 inside a run.";

pub const RESUME: &str = "\
Examples:
  programmator resume
  programmator resume tk-4f2a
  programmator resume tk-4f2a --json
  programmator resume tk-4f2a --detach      in the background

It resumes runs of the current folder; for a run of another folder it prints the command to use. The run keeps its original settings, except for flags given now. Exit codes as for `programmator run`.";

pub const STATUS: &str = "\
Examples:
  programmator status
  programmator status --json | jq '.[0].reason'
  programmator status tk-4f2a
  programmator status tk-4f2a --json | jq .receipts.phases
  programmator status --watch-file status.json    kept up to date until Ctrl-C

With --json an array, newest first: run, ticket, title, folder, state, phase, phases_done, phases, iterations, cost_usd, reason, \
started, updated, marks, unverified, needs, until, worktree (top, branch, base; null without one). With a run (or its ticket) an object: the same, and parked (why, about, until, reset, seconds), limits \
(calls, tokens, windows, budgets) and receipts (total, phases, iterations: ms, input, output, cache_read, cache_write, \
cost_usd, tries).";

pub const STATS: &str = "\
Examples:
  programmator stats
  programmator stats --json | jq .total.first_pass_rate

All runs of all directories: phases tried and done, how many on the first claim, critics' verdicts, fixes, and cost and time of each step and ticket. With --json an object: total, and tickets, each with the same counts.";

pub const REPORT: &str = "\
Examples:
  programmator report
  programmator report --since 2d > report.md
  programmator report tk-4f2a
  programmator report --since 09:00 --json | jq '.runs[].waits'

Summarizes the runs of all directories as Markdown: their state and what needs you, finished phases and what verified them, changed files, commits, merges and cost. With --json an object.";

pub const STOP: &str = "\
Examples:
  programmator stop tk-4f2a
  programmator stop tk-4f2a --now

Returns once the run has received the request. Exit codes: 0 received, 1 the run is not active or did not respond, 2 no such run.";

pub const LOGS: &str = "\
Examples:
  programmator logs tk-4f2a
  programmator logs -f tk-4f2a
  programmator logs --json tk-4f2a | jq 'select(.kind == \"tool_judged\")'

With -f it exits when the run ends.";

pub const REVIEW: &str = "\
Examples:
  programmator review
  programmator review --base origin/main --out review.md
  programmator review --focus bug-deep,silent-failures --json | jq '.issues[].text'

Each reviewer is a read-only Claude with one focus; duplicates are merged, and a final reviewer drops what it can refute. Dropped issues are listed with the reason; critical ones, and those found by several reviewers, still give exit code 3. If the diff is larger than 200 kB, reviewers see the beginning and the names of the remaining files, which they can read. Calls count towards your limits; budget.run_usd covers the whole review. Exit codes: 0 no issues, 3 issues found, 1 failed (or a reviewer failed and the others found nothing), 2 usage, 75 another review is running here.";

pub const SETTINGS_MERGE: &str = "\
Examples:
  programmator settings merge
  programmator settings merge --yes

It shows the change and asks first; nothing else in the file changes. Rules that you have set to deny or ask are left out. Exit codes: 5 you said no, 77 inside a run.";

pub const SEARCH: &str = "\
Examples:
  programmator search rate limiter
  programmator search --only errors
  programmator search --only edits --json stack.rs | jq -r .spot

Tickets come first, then runs, newest first, with at most 40 matches each, 10 of them in the log. Several words are searched as one phrase. Exit code 1: nothing found.";

pub const REPLAY: &str = "\
Examples:
  programmator replay tk-4f2a
  programmator replay tk-4f2a --theme mono

Nothing is run or changed: the screen shows the stored run.";

pub const PICTURE: &str = "\
Examples:
  programmator picture tk-4f2a -o run.png
  programmator picture tk-4f2a --size 200x50 --theme solarized-light -o run.svg
  programmator picture tk-4f2a --press '?' > keys.svg

It draws the screen of `programmator replay`, after pressing the keys.";

pub const PROMPT_SHOW: &str = "\
Examples:
  programmator prompt show tk-4f2a
  programmator prompt show tk-4f2a --headless --json | jq -r .prompt

It starts and changes nothing. It assumes that pending claims pass, and ignores limits. With --json an object: ticket, iteration, phase, session, model, prompt, tokens.";

pub const PHASE_ADD: &str = "\
Examples:
  programmator phase add tk-4f2a \"Write the docs\"
  programmator phase add tk-4f2a \"Write a test\" \"Fix the test\" --after 2

They are written in the same form as the ticket's other phases. Exit codes: 75 the active run does not respond, 77 inside a run.";

pub const PHASE_RENAME: &str = "\
Examples:
  programmator phase rename tk-4f2a 2 \"Write the parser\"

Nothing else in the file changes. If the phase was edited in the meantime, nothing is written, and the exit code is 1.";

pub const PHASE_SPLIT: &str = "\
Examples:
  programmator phase split tk-4f2a 2 \"Write the lexer\" \"Write the parser\"

Lines below the phase stay with the first one.";

pub const PHASE_MOVE: &str = "\
Examples:
  programmator phase move tk-4f2a 3 up

The phase swaps places with its neighbour, each with the lines below it.";

pub const PHASE_SKIP: &str = "\
Examples:
  programmator phase skip tk-4f2a 3

The file does not change. `programmator phase reopen` undoes it.";

pub const PHASE_REOPEN: &str = "\
Examples:
  programmator phase reopen tk-4f2a 3

Its box is unticked.";

pub const PHASE_ACCEPT: &str = "\
Examples:
  programmator phase accept tk-4f2a 2 \"The failing test is flaky, see #41\"

The phase counts as done at once, its box is ticked, and the reason is added to the ticket's Notes.";

pub const DEMO: &str = "\
Examples:
  programmator demo
  programmator demo --headless

It needs git and bash. It writes only to a temporary folder, which is removed at the end.";

pub const DOCTOR: &str = "\
Examples:
  programmator doctor
  programmator -C ~/shop doctor

Each line says ok, warn or fail, with a fix. It starts claude but sends no prompt, so it costs nothing. Exit code 1: a check failed.";

pub const CONFIG_SHOW: &str = "\
Examples:
  programmator config show
  programmator config show limits.calls budget
  PROGRAMMATOR_TIMEOUT=60 programmator config show

Built-in values < ~/.config/programmator/config.yaml < .programmator/config.yaml of the folder < environment < flags. An unknown key is an error that names its line and the closest key.";

pub const TRUST: &str = "\
Examples:
  programmator trust
  programmator -C ~/shop trust

It prints the files and stores their hashes. Until then, and after any change, their agent.*, validation.*, tickets.dir and prompts are reported and ignored, and Claude does not load the repository's .claude/settings.json, .claude/settings.local.json and .mcp.json. In headless mode it never loads them.";

pub const EXPORT: &str = "\
Examples:
  programmator export tk-4f2a -o run.md
  programmator export tk-4f2a --iteration 3
  programmator export tk-4f2a --as jsonl | jq 'select(.kind == \"stream\")'
  programmator export tk-4f2a --as cast -o run.cast

md is for reading, jsonl has every record and every line of Claude's output, cast is for `asciinema play`. An existing file is never overwritten. Values of variables whose names contain KEY, TOKEN, SECRET, PASSWORD or CREDENTIAL, in your environment and in agent.env, are masked; everything else that Claude read is included. Exit code 2: no such run or iteration, or the file exists.";

pub const KEYS: &str = "\
Examples:
  programmator keys
  programmator keys | grep tab

Your own keys are in keys.yaml in the config folder, in the same format: each scope with its commands, each command with a key, a list of keys, or null. Exit code 2: that file has errors, reported with their line.";

pub const MAN: &str = "\
Examples:
  programmator man | man -l -
  programmator man ~/.local/share/man/man1

The pages have the text of `--help`. Existing files with the same names are replaced.";

pub const COMPLETIONS: &str = "\
Examples:
  programmator completions bash > ~/.local/share/bash-completion/completions/programmator
  programmator completions fish > ~/.config/fish/completions/programmator.fish
  programmator completions zsh > ~/.zfunc/_programmator

The script calls `programmator`, which must be on your PATH, so it stays current when programmator is updated.";

pub const CIRCUIT_STATUS: &str = "\
Examples:
  programmator circuit status
  programmator circuit status tk-4f2a
  programmator circuit status --json

With --json an array: ticket, state (CLOSED, HALF_OPEN, OPEN), reason, the counters, thresholds, left (seconds until an open breaker allows one iteration), history (every state change, with run and iteration).";

pub const CIRCUIT_WHAT_IF: &str = "\
Examples:
  programmator circuit what-if tk-4f2a --no-progress 2
  programmator circuit what-if tk-4f2a --same-error 3 --permission-denials 4

It replays the recorded iterations with different thresholds. The first OPEN would have ended the run.";

pub const CIRCUIT_RESET: &str = "\
Examples:
  programmator circuit reset tk-4f2a
  programmator circuit reset

Exit code 75: another process is running the ticket; press b there, or stop it first.";

pub const PASSPHRASE_SET: &str = "\
Examples:
  programmator passphrase set
  pass show programmator | programmator passphrase set --stdin

There is no default: until one is set, calls that need it are blocked. It is stored as an argon2id hash in
passphrase.phc in the config folder and typed only into the masked field of a card. Exit code 77 inside a run.";

pub const SESSION_SHOW: &str = "\
Examples:
  programmator session show
  programmator session show tk-4f2a --json

With --json an array: ticket, run, continuity, expiry_hours, sessions (step, session, opened, used, expires, expired), \
history (the last 50 transitions: opened, resumed, expired, lost, reset, with time and reason).";

pub const SESSION_RESET: &str = "\
Examples:
  programmator session reset tk-4f2a

Claude forgets the earlier iterations; summaries of the run still go into its prompt. Exit codes: 75 another process is running the ticket, 77 inside a run.";
