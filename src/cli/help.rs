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
  3    blocked: needs a person
  4    stopped by a guard or limit: iterations, no change, errors, time, budget,
       the circuit breaker; a limit that resets is waited for
  5    stopped by you
  75   the ticket is in use by another program
  77   not allowed inside a run; use a shell of your own
  129  SIGHUP (130 SIGINT, 143 SIGTERM, 141 nobody reads the output)
With several tickets, the highest code wins.

Environment:
  TICKETS_DIR                     tickets folder
  PROGRAMMATOR_MAX_ITERATIONS     maximum iterations of one run
  PROGRAMMATOR_STAGNATION_LIMIT   iterations in a row without any change
  PROGRAMMATOR_TIMEOUT            seconds for one iteration
  PROGRAMMATOR_CALLS              Claude calls in an hour
  PROGRAMMATOR_APPROVAL_TIMEOUT   seconds until an unanswered question is denied
  PROGRAMMATOR_CLAUDE             the program to start as claude
  PROGRAMMATOR_CLAUDE_FLAGS       more flags for claude
  CLAUDE_CODE_MAX_RETRIES         how often claude itself retries a failed request
  PROGRAMMATOR_PROFILE            the policy profile: strict, guarded, trusted or read_only
  PROGRAMMATOR_WORKFLOW           who looks at finished work: auto, simple, reviewed or thorough
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
  programmator run --on build tk-4f2a       in the background on the machine `build` in `hosts` of your configuration
  programmator run --resolve tk-4f2a        let Claude resolve the conflict that its merge ended with (exit code 3)
  programmator run --ready --worktree --max-parallel 3 --halt-on-failure
  programmator run --dry-run tk-4f2a        what it would begin with, and what would refuse it
  programmator run --dry-run --ready        in which order, and why others are not ready

With --ready every ticket that is open or in progress and waits for no other is worked on, by priority, then age; one whose deps are \
closed that way is taken up. Circles, and tickets that wait for something else, are named on stderr and left. Tickets that are written \
later are not looked for.
With --dry-run nothing is started or written, and Claude is asked for its version and its login alone: you see the first call with its whole \
prompt, the limits and checks, and what would refuse or delay the start. The exit code is the one with which `run` would refuse, 0 if it would start. With --json \
an object a ticket: ticket, path, would_start, exit_code, refusals, delays, notes, run, call; with --ready one object: order, left, max_parallel.
With several tickets, each waits for the ones in its `deps`, and run.max_parallel says how many run at once.
One line per event; with --json one record per line: v, seq, time, run, ticket, kind and the fields of the \
kind. The last one of a run is `run_ended`. The exit code is that of the worst ticket: 0 complete, 1 failed, 2 usage, \
3 blocked, 4 stopped by a guard, 5 stopped by you, 75 in use by another program, 77 inside a run, 129, 130, 143 by a signal. A second signal ends a run by force.";

pub const SERVE: &str = "\
Examples:
  programmator serve --stdio
  ssh build programmator serve --stdio

You need not type it: it stands in `hosts` of the configuration on the other machine, and `programmator attach --on build` runs it. It reads \
this machine's runs, tells them what you say there, and ends when its stdin does. Exit code 77 inside a run.";

pub const RESUME: &str = "\
Examples:
  programmator resume
  programmator resume tk-4f2a
  programmator resume tk-4f2a --json
  programmator resume tk-4f2a --detach      in the background

It resumes runs of the current folder; for a run of another one it prints the command. The run keeps the settings it started with, except for flags given now. Exit codes as for `programmator run`.";

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

All runs of all directories: phases tried and done, how many at the first claim, verdicts of critics, fixes, and cost and \
time of each step and ticket. With --json an object: total, and tickets, each with the same counts.";

pub const REPORT: &str = "\
Examples:
  programmator report
  programmator report --since 2d > report.md
  programmator report tk-4f2a
  programmator report --since 09:00 --json | jq '.runs[].waits'

What the runs of all directories have come to since a moment, as Markdown: how each stands and what waits for you, phases that \
were decided and what verified them, changed files, commits, merges and cost. With --json an object.";

pub const STOP: &str = "\
Examples:
  programmator stop tk-4f2a
  programmator stop tk-4f2a --now

Returns once the run has noted it. Exit codes: 0 noted, 1 no program works on it, or it did not respond, 2 no such run.";

pub const LOGS: &str = "\
Examples:
  programmator logs tk-4f2a
  programmator logs -f tk-4f2a
  programmator logs --json tk-4f2a | jq 'select(.kind == \"tool_judged\")'

With -f it ends when the run does.";

pub const REVIEW: &str = "\
Examples:
  programmator review
  programmator review --base origin/main --out review.md
  programmator review --focus bug-deep,silent-failures --json | jq '.issues[].text'

Each reviewer is a Claude that may only read, with one thing to look for; what several find is merged, and one more \
looks at all of it again and drops what does not hold. What it drops is listed with the reason; an issue that is critical \
or that several reviewers found is not dropped on its word alone: the exit code is 3 all the same. Of a diff of more than \
200 kB reviewers are shown the beginning and the names of the other files, which they can read. Calls count for your limits, budget.run_usd for the whole review. \
Exit code 0: no issues, 3: there are some, 1: it failed, or a reviewer did and the others found nothing, 2 usage, \
75: another review is at work here.";

pub const SETTINGS_MERGE: &str = "\
Examples:
  programmator settings merge
  programmator settings merge --yes

It shows the change and asks first; nothing else in the file changes. Rules that you deny or are asked about are left out. \
Exit code 5: you said no. 77 inside a run.";

pub const SEARCH: &str = "\
Examples:
  programmator search rate limiter
  programmator search --only errors
  programmator search --only edits --json stack.rs | jq -r .spot

Tickets come first, then runs, the newest first, with at most 40 matches of each, 10 of them in its log. The words are one phrase. \
Exit code 1: nothing was found.";

pub const REPLAY: &str = "\
Examples:
  programmator replay tk-4f2a
  programmator replay tk-4f2a --theme mono

Nothing is run or changed: the screen reads the stored run.";

pub const PICTURE: &str = "\
Examples:
  programmator picture tk-4f2a -o run.png
  programmator picture tk-4f2a --size 200x50 --theme solarized-light -o run.svg
  programmator picture tk-4f2a --press '?' > keys.svg

The screen is drawn as `programmator replay` shows it, after the keys were pressed.";

pub const PROMPT_SHOW: &str = "\
Examples:
  programmator prompt show tk-4f2a
  programmator prompt show tk-4f2a --headless --json | jq -r .prompt

It starts nothing and changes nothing. A claim that is still to be checked is taken to hold, and limits are not looked up. \
With --json an object: ticket, iteration, phase, session, model, prompt, tokens.";

pub const PHASE_ADD: &str = "\
Examples:
  programmator phase add tk-4f2a \"Write the docs\"
  programmator phase add tk-4f2a \"Write a test\" \"Fix the test\" --after 2

They are written in the form of the ticket's other phases. Exit code 75 when the run at work does not respond, 77 inside a run.";

pub const PHASE_RENAME: &str = "\
Examples:
  programmator phase rename tk-4f2a 2 \"Write the parser\"

Nothing else of the file changes. If the phase was edited meanwhile, nothing is written, exit code 1.";

pub const PHASE_SPLIT: &str = "\
Examples:
  programmator phase split tk-4f2a 2 \"Write the lexer\" \"Write the parser\"

Lines below the phase stay with the first one.";

pub const PHASE_MOVE: &str = "\
Examples:
  programmator phase move tk-4f2a 3 up

The phase changes places with its neighbour, each with what stands below it.";

pub const PHASE_SKIP: &str = "\
Examples:
  programmator phase skip tk-4f2a 3

The file does not change. `programmator phase reopen` takes it back.";

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

It needs git and bash. Everything it writes is in a temporary folder that is removed at the end.";

pub const DOCTOR: &str = "\
Examples:
  programmator doctor
  programmator -C ~/shop doctor

Each line says ok, warn or fail, with a fix. It starts claude but sends no prompt, so it costs nothing. Exit code 1 when a check failed.";

pub const CONFIG_SHOW: &str = "\
Examples:
  programmator config show
  programmator config show limits.calls budget
  PROGRAMMATOR_TIMEOUT=60 programmator config show

Built-in values < ~/.config/programmator/config.yaml < .programmator/config.yaml of the folder < environment < flags. A key \
that does not exist is an error, with its line and the nearest key.";

pub const TRUST: &str = "\
Examples:
  programmator trust
  programmator -C ~/shop trust

It prints the files and stores their hashes. Until then, and after any change, their agent.*, validation.*, tickets.dir and prompts are reported and ignored, and Claude does not load the repository's own \
.claude/settings.json, .claude/settings.local.json and .mcp.json. In headless mode it never does.";

pub const EXPORT: &str = "\
Examples:
  programmator export tk-4f2a -o run.md
  programmator export tk-4f2a --iteration 3
  programmator export tk-4f2a --as jsonl | jq 'select(.kind == \"stream\")'
  programmator export tk-4f2a --as cast -o run.cast

md is for reading, jsonl has each record and each line that Claude printed, cast is for `asciinema play`. An existing file is \
never overwritten. Values of variables whose names contain KEY, TOKEN, SECRET, PASSWORD or CREDENTIAL, in your environment and \
in agent.env, are masked; whatever else Claude has read is in it. Exit code 2 when there is no such run or iteration, or the \
file exists.";

pub const KEYS: &str = "\
Examples:
  programmator keys
  programmator keys | grep tab

Your own keys are in keys.yaml in the config folder, in the same form: each scope with its commands, each command with a \
key, a list of keys, or null. Exit code 2 when that file has errors; they name the line.";

pub const MAN: &str = "\
Examples:
  programmator man | man -l -
  programmator man ~/.local/share/man/man1

The pages say what `--help` says. Files there with the same names are replaced.";

pub const COMPLETIONS: &str = "\
Examples:
  programmator completions bash > ~/.local/share/bash-completion/completions/programmator
  programmator completions fish > ~/.config/fish/completions/programmator.fish
  programmator completions zsh > ~/.zfunc/_programmator

The script asks `programmator`, which must be on your PATH, so it stays right when programmator is updated.";

pub const CIRCUIT_STATUS: &str = "\
Examples:
  programmator circuit status
  programmator circuit status --json

With --json an array: ticket, state (CLOSED, HALF_OPEN, OPEN), reason, the counters, thresholds, left (seconds until an open one allows one iteration), history (every change, with run and iteration).";

pub const CIRCUIT_WHAT_IF: &str = "\
Examples:
  programmator circuit what-if tk-4f2a --no-progress 2
  programmator circuit what-if tk-4f2a --same-error 3 --permission-denials 4

Claude's iterations are taken as they were recorded; only the thresholds differ. The first OPEN would have ended the run.";

pub const CIRCUIT_RESET: &str = "\
Examples:
  programmator circuit reset tk-4f2a
  programmator circuit reset

Exit code 75 when a program is running the ticket: press c there, or stop it first.";

pub const PASSPHRASE_SET: &str = "\
Examples:
  programmator passphrase set
  pass show programmator | programmator passphrase set --stdin

There is no default: until one is set, calls that need it are blocked. It is stored as an argon2id hash in
passphrase.phc of the config folder and typed only into the masked field of a card. Exit code 77 inside a run.";

pub const SESSION_SHOW: &str = "\
Examples:
  programmator session show
  programmator session show tk-4f2a --json

With --json an array: ticket, run, continuity, expiry_hours, sessions (step, session, opened, used, expires, expired), \
history (the last 50 transitions: opened, resumed, expired, lost, reset, with time and reason).";

pub const SESSION_RESET: &str = "\
Examples:
  programmator session reset tk-4f2a

Claude forgets the earlier iterations; summaries of the run still go into its prompt. Exit code 75 when a program is running the ticket, 77 inside a run.";
