//! What stands below the options of `programmator ticket`.

pub const LIST: &str = "\
Examples:
  programmator ticket list
  programmator ticket ls --status=open -T backend
  programmator ticket list --phases         phases done, and problems

Tickets are in $TICKETS_DIR (or `tickets.dir`), else in the nearest `.tickets` above, else in ~/.tickets if it exists. The first ticket creates a `.tickets` at the top of the repository. With --phases a malformed ticket is listed with line and column.";

pub const READY: &str = "\
Examples:
  programmator ticket ready
  programmator ticket ready -a 'Ada Lovelace' -T backend

A ticket is blocked by those in its `deps` that are not closed.";

pub const BLOCKED: &str = "\
Examples:
  programmator ticket blocked";

pub const CLOSED: &str = "\
Examples:
  programmator ticket closed
  programmator ticket closed --limit=5";

pub const SHOW: &str = "\
Examples:
  programmator ticket show tk-4f2a
  programmator ticket show tk-4f2a --phases
  programmator ticket show plan.md --json

With --json an object: id, title, status, deps, phases (n, text, state, line), validation, problems.";

pub const QUERY: &str = "\
Examples:
  programmator ticket query
  programmator ticket query '.priority == \"0\"'
  programmator ticket query --json | jq -r '.[].title'

Values are strings, lists are arrays. A filter needs jq. With --json each ticket is printed as by `programmator ticket show tk-4f2a --json`.";

pub const TREE: &str = "\
Examples:
  programmator ticket tree
  programmator ticket tree tk-4f2a --full";

pub const LINT: &str = "\
Examples:
  programmator ticket lint
  programmator ticket lint tk-4f2a --json | jq -r '.[].message'

Prints one line per problem: file:line:column: message. With --json an array: file, line, column, message, severity. Exit code 1: problems were found.";

pub const NEW: &str = "\
Examples:
  programmator ticket new \"Limit logins to five a minute\"

It prints the path of the new file and, on a terminal, opens it in $VISUAL or $EDITOR: write the phases into it. \
Exit code 77 inside a run.";

pub const CREATE: &str = "\
Examples:
  programmator ticket create 'Limit logins to five a minute' -t bug -p 1 --tags login,security
  programmator ticket create 'Count tries' --parent tk-4f2a -d 'For each address.'

Exit code 77 inside a run.";

pub const EDIT: &str = "\
Examples:
  programmator ticket edit tk-4f2a";

pub const START: &str = "\
Examples:
  programmator ticket start tk-4f2a

It only sets the status; `programmator run` starts a run. Exit code 77 inside a run.";

pub const CLOSE: &str = "\
Examples:
  programmator ticket close tk-4f2a

Exit code 77 inside a run.";

pub const REOPEN: &str = "\
Examples:
  programmator ticket reopen tk-4f2a

Exit code 77 inside a run.";

pub const STATUS: &str = "\
Examples:
  programmator ticket status tk-4f2a in_progress

Exit code 77 inside a run.";

pub const DEP: &str = "\
Examples:
  programmator ticket dep tk-4f2a tk-9c1d     tk-4f2a waits for tk-9c1d
  programmator ticket dep tree tk-4f2a
  programmator ticket dep cycle

Exit code 77 inside a run, except `tree` and `cycle`.";

pub const DEP_TREE: &str = "\
Examples:
  programmator ticket dep tree tk-4f2a
  programmator ticket dep tree --full tk-4f2a";

pub const DEP_CYCLE: &str = "\
Examples:
  programmator ticket dep cycle

Closed tickets are ignored.";

pub const UNDEP: &str = "\
Examples:
  programmator ticket undep tk-4f2a tk-9c1d

Exit codes: 1 no such dependency, 77 inside a run.";

pub const LINK: &str = "\
Examples:
  programmator ticket link tk-4f2a tk-9c1d

Each ticket is linked to all the others. Exit code 77 inside a run.";

pub const UNLINK: &str = "\
Examples:
  programmator ticket unlink tk-4f2a tk-9c1d

Exit codes: 1 they are not linked, 77 inside a run.";

pub const ADD_NOTE: &str = "\
Examples:
  programmator ticket add-note tk-4f2a 'The limit is for each address.'
  git log -1 | programmator ticket add-note tk-4f2a

The note is added below Notes; lines that look like headings or checkboxes are quoted. Exit code 77 inside a run.";

pub const TICK: &str = "\
Examples:
  programmator ticket tick tk-4f2a 2
  programmator ticket tick tk-4f2a \"Write the parser\"

An active run applies the tick at once and interrupts an iteration on that phase. A box ticked in the file during an iteration only counts as a claim. Exit code 77 inside a run.";

pub const UNTICK: &str = "\
Examples:
  programmator ticket untick tk-4f2a 2

Exit code 77 inside a run.";
