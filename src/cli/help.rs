//! What stands below the options in `--help`: examples, exit codes, environment. The sentences above them are the
//! doc comments in `cli`; `tests/quick/docs.rs` holds both to the program.

/// `programmator --help`.
pub const TOP: &str = "\
Examples:
  programmator demo                      watch it at work; no account needed
  programmator ticket new \"Add a cache\"  make a ticket; write its phases into the file
  programmator tk-4f2a                   work through a ticket on the screen
  programmator tk-4f2a tk-9c1d plan.md   several, each in a tab
  programmator -C ~/shop tk-4f2a         in another folder
  programmator run --json tk-4f2a        without a screen

A ticket is an id, a unique part of an id, or a path to a markdown file. An interrupted run of it is gone on with.";

/// The long form of `programmator --help`.
pub const TOP_LONG: &str = "\
Examples:
  programmator demo                      watch it at work; no account needed
  programmator ticket new \"Add a cache\"  make a ticket; write its phases into the file
  programmator tk-4f2a                   work through a ticket on the screen
  programmator tk-4f2a tk-9c1d plan.md   several, each in a tab
  programmator -C ~/shop tk-4f2a         in another folder
  programmator run --json tk-4f2a        without a screen

Exit codes:
  0    complete
  1    it failed: no claude, no login, no such model, ticket gone, a fault
  2    wrong usage or configuration; nothing was begun
  3    it needs a person: blocked
  4    stopped by a guard or a limit: iterations, no change, errors, time, budget,
       the circuit breaker; a limit that resets is waited for
  5    stopped by you
  75   another program works on this ticket
  77   a run may not do this; it is for you, in a shell of your own
  129  SIGHUP (130 SIGINT, 143 SIGTERM, 141 nobody reads the output)
Of several tickets, the highest counts.

Environment:
  TICKETS_DIR                     folder of the tickets
  PROGRAMMATOR_MAX_ITERATIONS     iterations of one run at most
  PROGRAMMATOR_STAGNATION_LIMIT   iterations in a row without any change
  PROGRAMMATOR_TIMEOUT            seconds for one iteration
  PROGRAMMATOR_CALLS              calls of claude in an hour
  PROGRAMMATOR_APPROVAL_TIMEOUT   seconds until a question to you is a denial
  PROGRAMMATOR_CLAUDE             the program that is started as claude
  PROGRAMMATOR_CLAUDE_FLAGS       further flags for claude
  CLAUDE_CODE_MAX_RETRIES         how often claude itself sends a failed request again
  PROGRAMMATOR_PROFILE            the rules of the gate: strict, guarded or trusted
  PROGRAMMATOR_THEME              the screen's theme
  PROGRAMMATOR_CONFIG_DIR         instead of ~/.config/programmator
  PROGRAMMATOR_STATE_DIR          instead of ~/.local/state/programmator
  PROGRAMMATOR_LOG                how much goes into programmator.log: warn, debug, …
  NO_COLOR                        no colours
  VISUAL, EDITOR                  what opens a ticket or the policy for you
Flags win over the environment, the environment over files: see `programmator config show`.";

/// `programmator run --help`.
pub const RUN: &str = "\
Examples:
  programmator run tk-4f2a
  programmator run --json tk-4f2a | jq -r .kind
  programmator run -n 5 --timeout 600 tk-4f2a tk-9c1d

One line for each fact; with --json one record for each line: v, seq, time, run, ticket, kind and what belongs to the \
kind. The last one of a run is `run_ended`. The exit code is that of the worst ticket: 0 complete, 1 failed, 2 usage, \
3 blocked, 4 stopped by a guard, 5 stopped by you, 75 held by another program, 77 inside a run, 129, 130, 143 by a signal. A second signal ends a run by force.";

/// `programmator resume --help`.
pub const RESUME: &str = "\
Examples:
  programmator resume
  programmator resume tk-4f2a
  programmator resume tk-4f2a --json

It goes on with runs of the folder that you are in, and names the command for one of another. The run keeps the rules \
it began with, but for flags that you give now. Exit codes are those of `programmator run`.";

/// `programmator status --help`.
pub const STATUS: &str = "\
Examples:
  programmator status
  programmator status --json | jq '.[0].reason'
  programmator status tk-4f2a
  programmator status tk-4f2a --json | jq .receipts.phases

With --json an array, newest first: run, ticket, title, folder, state, phase, phases_done, phases, iterations, cost_usd, reason, \
started, updated. With a run (or its ticket) an object: the same, and parked (why, about, until, reset, seconds), limits \
(calls, tokens, windows, budgets) and receipts (total, phases, iterations: ms, input, output, cache_read, cache_write, \
cost_usd, tries).";

/// `programmator logs --help`.
pub const LOGS: &str = "\
Examples:
  programmator logs tk-4f2a
  programmator logs -f tk-4f2a
  programmator logs --json tk-4f2a | jq 'select(.kind == \"tool_judged\")'

With -f it ends when the run does.";

/// `programmator replay --help`.
pub const REPLAY: &str = "\
Examples:
  programmator replay tk-4f2a
  programmator replay tk-4f2a --theme mono

Nothing is run and nothing is changed: the screen reads the stored run.";

/// `programmator ticket list --help`.
pub const TICKET_LIST: &str = "\
Examples:
  programmator ticket list
  programmator -C ~/shop ticket list

Tickets are in $TICKETS_DIR (or `tickets.dir`), else in the nearest `.tickets` above, else in ~/.tickets. A ticket that \
cannot be read is listed as broken, with line and column.";

/// `programmator ticket show --help`.
pub const TICKET_SHOW: &str = "\
Examples:
  programmator ticket show tk-4f2a
  programmator ticket show plan.md --json

With --json an object: id, title, status, deps, phases (n, text, state, line), validation, problems.";

/// `programmator ticket tick --help`.
pub const TICKET_TICK: &str = "\
Examples:
  programmator ticket tick tk-4f2a 2
  programmator ticket tick tk-4f2a \"Write the parser\"

While a run works on the ticket it takes the tick over at once, and an iteration on that phase is cut off. A tick that is \
made in the file while an iteration is open is only a claim. Exit code 77 inside a run.";

/// `programmator ticket untick --help`.
pub const TICKET_UNTICK: &str = "\
Examples:
  programmator ticket untick tk-4f2a 2

Exit code 77 inside a run.";

/// `programmator ticket new --help`.
pub const TICKET_NEW: &str = "\
Examples:
  programmator ticket new \"Limit logins to five a minute\"

It prints the path of the new file and, on a terminal, opens it in $VISUAL or $EDITOR: write the phases into it.";

/// `programmator snapshots --help`.
pub const SNAPSHOTS: &str = "\
Examples:
  programmator snapshots tk-4f2a

They are hidden refs of the git repository, refs/programmator/…; branches, index and stash are not touched.";

/// `programmator restore --help`.
pub const RESTORE: &str = "\
Examples:
  programmator restore tk-4f2a 3
  programmator restore tk-4f2a restore/1    take a restore back
  programmator restore tk-4f2a 3 --yes      without being asked

It shows what it would write and remove and asks first; without a terminal it needs --yes. The state before is saved \
as a snapshot of its own. Files that git ignores, the ticket and .programmator/ stay as they are. HEAD and the index are not touched.";

/// `programmator demo --help`.
pub const DEMO: &str = "\
Examples:
  programmator demo
  programmator demo --headless

It needs git and nothing else. Everything it writes is in a temporary folder that is removed at the end.";

/// `programmator doctor --help`.
pub const DOCTOR: &str = "\
Examples:
  programmator doctor
  programmator -C ~/shop doctor

Each line says ok, warn or fail, with the cure. It starts claude, but asks it nothing that costs money. Exit code 1 when \
a check failed.";

/// `programmator config show --help`.
pub const CONFIG_SHOW: &str = "\
Examples:
  programmator config show
  PROGRAMMATOR_TIMEOUT=60 programmator config show

Built-in values < ~/.config/programmator/config.yaml < .programmator/config.yaml of the folder < environment < flags. A key \
that does not exist is an error with its line and the nearest key.";

/// `programmator trust --help`.
pub const TRUST: &str = "\
Examples:
  programmator trust
  programmator -C ~/shop trust

It prints the files and remembers their hashes. Until then, and after any change, what they say about agent.*, \
validation.*, tickets.dir and prompts is announced and ignored, and Claude does not load the repository's own \
.claude/settings.json, .claude/settings.local.json and .mcp.json. Without a screen it never does.";

/// `programmator completions --help`.
pub const COMPLETIONS: &str = "\
Examples:
  programmator completions bash > ~/.local/share/bash-completion/completions/programmator
  programmator completions fish > ~/.config/fish/completions/programmator.fish";

/// `programmator policy check --help`.
pub const POLICY_CHECK: &str = "\
Examples:
  programmator policy check 'ls | tee out.txt'
  programmator policy check --profile strict --json 'git log --oneline'
  programmator policy check --tool Write --input '{\"file_path\":\"a.txt\",\"content\":\"x\"}'

Without --profile and --policy: your policy.yaml, the project's, and the profile guarded. Exit code 0 allow, 10 ask, \
11 passphrase, 2 block, 64 bad input.";

/// `programmator policy test --help`.
pub const POLICY_TEST: &str = "\
Examples:
  programmator policy test cases.jsonl --profile strict

One case a line, as JSON: id, tool, input, expect; cwd, never and fs if need be. Home is /home/dev. Exit code 1 when a \
case is judged otherwise, 64 when a line is no case.";

/// `programmator policy show --help`.
pub const POLICY_SHOW: &str = "\
Examples:
  programmator policy show
  programmator policy show --profile strict

The first rule that is about a part of a call decides it; the strictest part decides the call.";

/// `programmator policy edit --help`.
pub const POLICY_EDIT: &str = "\
Examples:
  programmator policy edit

You edit a copy of policy.yaml in the config folder. It is saved when it can be used; else the file stays as it was, and \
edit says what is wrong, with line and column. Exit code 2 then.
floor: {unprotect: [PATTERN]} takes a pattern off the floor, as it stands there; only your own file can.";

/// `programmator policy why --help`.
pub const POLICY_WHY: &str = "\
Examples:
  programmator logs --json tk-4f2a | jq -r 'select(.kind == \"tool_judged\") | .tool_use_id + \" \" + .target'
  programmator policy why toolu_01Hx

What was stored about the call: verdict, rule and reason, the parts of one that was asked about, and the answer.";

/// `programmator policy import --help`.
pub const POLICY_IMPORT: &str = "\
Examples:
  programmator policy import policy.json
  programmator policy import --print policy.json

Patterns that allow can only narrow what is proven to read; patterns that block keep their meaning. A policy.yaml or a \
passphrase that is there already stays; the passphrase that Clanker published is refused. Exit code 1 then.";

/// `programmator parse --help`.
pub const PARSE: &str = "\
Examples:
  programmator parse status answer.txt
  cargo test 2>&1 | programmator parse errors";

/// `programmator parse status --help`.
pub const PARSE_STATUS: &str = "\
Examples:
  programmator parse status answer.txt
  programmator parse status --json answer.txt

Read are PROGRAMMATOR_STATUS, HANK_STATUS and RALPH_STATUS, the last two also between ---RALPH_STATUS--- and
---END_RALPH_STATUS---; also in what `claude --output-format json` or stream-json printed.
With --json an object: found, valid, status, phase_completed, files_changed, summary, error, warnings, reason.";

/// `programmator parse errors --help`.
pub const PARSE_ERRORS: &str = "\
Examples:
  programmator parse errors build.log
  cargo test 2>&1 | programmator parse errors --json

--rule hank_literal counts the lines that Hank counts.
With --json an object: is_error, and lines, each with line, kind and text.";

/// `programmator circuit status --help`.
pub const CIRCUIT_STATUS: &str = "\
Examples:
  programmator circuit status
  programmator circuit status --json

With --json an array: ticket, state (CLOSED, HALF_OPEN, OPEN), reason, the counters, thresholds, left (seconds until an \
open one lets one iteration through), history (every move, with run and iteration).";

/// `programmator circuit reset --help`.
pub const CIRCUIT_RESET: &str = "\
Examples:
  programmator circuit reset tk-4f2a
  programmator circuit reset

Exit code 75 when a program works on the ticket: press c there.";

/// `programmator passphrase set --help`.
pub const PASSPHRASE_SET: &str = "\
Examples:
  programmator passphrase set
  pass show programmator | programmator passphrase set --stdin

There is no default: until one is set, whatever asks for it is blocked. It is kept as an argon2id hash in
passphrase.phc of the config folder and typed only into the masked field of a card. Exit code 77 inside a run.";

/// `programmator session show --help`.
pub const SESSION_SHOW: &str = "\
Examples:
  programmator session show
  programmator session show tk-4f2a --json

With --json an array: ticket, run, continuity, expiry_hours, sessions (step, session, opened, used, expires, expired), \
history (the last 50 transitions: opened, resumed, expired, lost, reset, with time and reason).";

/// `programmator session reset --help`.
pub const SESSION_RESET: &str = "\
Examples:
  programmator session reset tk-4f2a

What Claude knows of the ticket from earlier iterations is left behind; summaries of the run still go into its prompt. \
Exit code 75 when a program works on the ticket, 77 inside a run.";
