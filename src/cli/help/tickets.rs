//! What stands below the options of `programmator ticket`.

pub const LIST: &str = "\
Examples:
  programmator ticket list
  programmator ticket ls --status=open -T backend
  programmator ticket list --phases         how many phases are done, and what is wrong

Tickets are in $TICKETS_DIR (or `tickets.dir`), else in the nearest `.tickets` above, else in ~/.tickets if there is one. \
The first ticket makes a `.tickets` at the top of the repository. With --phases a ticket that \
cannot be read is listed as broken, with line and column.";

pub const READY: &str = "\
Examples:
  programmator ticket ready
  programmator ticket ready -a 'Ada Lovelace' -T backend

A ticket waits for those in its `deps` that are not closed.";

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

Values are text, lists are arrays. A filter needs jq. With --json each ticket is what `programmator ticket show tk-4f2a --json` prints.";

pub const TREE: &str = "\
Examples:
  programmator ticket tree
  programmator ticket tree tk-4f2a --full";

pub const LINT: &str = "\
Examples:
  programmator ticket lint
  programmator ticket lint tk-4f2a --json | jq -r '.[].message'

One line for each: file:line:column: what is odd. With --json an array: file, line, column, message, severity. Exit code 1 when something was found.";

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

It runs nothing: `programmator run` does. Exit code 77 inside a run.";

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

Exit code 77 inside a run, but for `tree` and `cycle`.";

pub const DEP_TREE: &str = "\
Examples:
  programmator ticket dep tree tk-4f2a
  programmator ticket dep tree --full tk-4f2a";

pub const DEP_CYCLE: &str = "\
Examples:
  programmator ticket dep cycle

Tickets that are closed are left out.";

pub const UNDEP: &str = "\
Examples:
  programmator ticket undep tk-4f2a tk-9c1d

Exit code 1 when it does not wait for that one, 77 inside a run.";

pub const LINK: &str = "\
Examples:
  programmator ticket link tk-4f2a tk-9c1d

Each of the tickets is linked with all others. Exit code 77 inside a run.";

pub const UNLINK: &str = "\
Examples:
  programmator ticket unlink tk-4f2a tk-9c1d

Exit code 1 when they are not linked, 77 inside a run.";

pub const ADD_NOTE: &str = "\
Examples:
  programmator ticket add-note tk-4f2a 'The limit is for each address.'
  git log -1 | programmator ticket add-note tk-4f2a

The note stands below Notes; what would read as a heading or a box is quoted. Exit code 77 inside a run.";

pub const TICK: &str = "\
Examples:
  programmator ticket tick tk-4f2a 2
  programmator ticket tick tk-4f2a \"Write the parser\"

A run of the ticket applies the tick at once and interrupts an iteration on that phase. A box ticked in the file during an iteration is only a claim. Exit code 77 inside a run.";

pub const UNTICK: &str = "\
Examples:
  programmator ticket untick tk-4f2a 2

Exit code 77 inside a run.";
