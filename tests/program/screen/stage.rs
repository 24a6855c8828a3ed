//! A project with a gated agent, and the program in a terminal on it.

use crate::project::{PROGRAM, Project};
use crate::terminal::{Start, Terminal};
use std::path::Path;

/// Columns and lines of the roomy screen.
pub const ROOMY: (u16, u16) = (120, 40);
/// Columns and lines of the small screen.
pub const SMALL: (u16, u16) = (80, 24);

/// A scenario for any phase: writes a file named after it, waits at the gate named after it, claims it.
pub fn gated(project: &Project) -> String {
    format!(
        "
turns:
  - when: {{phase: \"\"}}
    steps:
      - say: \"Working on {{phase}}.\"
      - write: {{path: \"{{slug}}.txt\", content: \"{{phase}}\\n\"}}
      - bash: \"{}\"
      - say: \"Through with {{phase}}.\"
      - status: {{summary: \"did {{phase}}\"}}
",
        project.gate("{slug}")
    )
}

/// A project with the ticket `tk-1` of these phases and an agent behind gates.
pub fn gated_project(phases: &[&str]) -> Project {
    let project = Project::new();
    project.ticket("tk-1", phases);
    project.scenario(&gated(&project));
    project
}

/// The same and the program on it, once Claude waits at the gate of the first of them, `Alpha`.
pub fn gated_run(phases: &[&str]) -> (Project, Terminal) {
    let project = gated_project(phases);
    let terminal = at_the_gate(&project, "Alpha");
    (project, terminal)
}

/// The program in a terminal of this size.
pub fn start(project: &Project, args: &[&str], size: (u16, u16)) -> Terminal {
    start_with(project, args, size, &[])
}

/// The same with more environment.
pub fn start_with(project: &Project, args: &[&str], size: (u16, u16), more: &[(&str, &str)]) -> Terminal {
    start_program(project, Path::new(PROGRAM), args, size, more)
}

/// Any program in the project's terminal.
pub fn start_program(
    project: &Project,
    program: &Path,
    args: &[&str],
    size: (u16, u16),
    more: &[(&str, &str)],
) -> Terminal {
    let mut env = project.env();
    env.extend(more.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    Terminal::start(&Start { program, args, env: &env, folder: &project.work(), size })
}

/// The program on `tk-1`, once Claude waits at the gate of `phase`.
pub fn at_the_gate(project: &Project, phase: &str) -> Terminal {
    let terminal = start(project, &["tk-1"], ROOMY);
    wait_at_the_gate(&terminal, phase);
    terminal
}

/// Waits until Claude waits at the gate of `phase`: its Bash call is shown.
pub fn wait_at_the_gate(terminal: &Terminal, phase: &str) {
    let slug = phase.to_lowercase();
    terminal.wait_until(&format!("Claude at the gate of {phase}"), |screen| {
        screen.contains(&format!("▶ {phase}"))
            && screen.lines().any(|line| line.contains("● Bash") && line.contains(&slug) && is_under_way(line))
    });
}

/// The call of this row of the stream has not come back.
fn is_under_way(row: &str) -> bool {
    row.trim_end().trim_end_matches(['┃', '│']).trim_end().ends_with('▶')
}

/// Leaves the program, in which nothing runs any more, and looks that nothing is left of it.
pub fn leave(terminal: Terminal, project: &Project) {
    leave_with(terminal, project, 0);
}

/// The same where the runs ended otherwise than well: the program's exit code says so.
pub fn leave_with(mut terminal: Terminal, project: &Project, code: u32) {
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), code);
    assert_given_back(&terminal);
    assert_eq!(project.processes(), Vec::<String>::new());
}

/// The terminal is as it was before the program came.
pub fn assert_given_back(terminal: &Terminal) {
    assert!(!terminal.in_alternate_screen(), "the alternate screen is left");
    assert!(!terminal.hides_cursor(), "the cursor is back");
    assert!(terminal.has_its_modes_back(), "the modes are back");
    let raw = terminal.raw();
    for (on, off) in [("\x1b[?2004h", "\x1b[?2004l"), ("\x1b[?1004h", "\x1b[?1004l")] {
        assert!(last(&raw, off) > last(&raw, on), "{off:?} is the last word");
    }
    // The mouse is only there if it was asked for.
    for (on, off) in [("\x1b[?1000h", "\x1b[?1000l"), ("\x1b[?1002h", "\x1b[?1002l"), ("\x1b[?1006h", "\x1b[?1006l")] {
        assert!(last(&raw, off) >= last(&raw, on), "{off:?} is the last word");
    }
}

fn last(raw: &[u8], sequence: &str) -> Option<usize> {
    raw.windows(sequence.len()).rposition(|window| window == sequence.as_bytes())
}

/// How many records of a kind the journal of the only run has.
pub fn count(project: &Project, kind: &str) -> usize {
    project.journal().iter().filter(|record| record["kind"] == kind).count()
}

/// The ticket's phase lines: text and whether it is ticked.
pub fn boxes(project: &Project, ticket: &str) -> Vec<(String, bool)> {
    let text = project.ticket_text(ticket);
    let of = |line: &str| {
        let done = line.starts_with("- [x] ");
        (done || line.starts_with("- [ ] ")).then(|| (line[6..].to_owned(), done))
    };
    text.lines().filter_map(of).collect()
}
