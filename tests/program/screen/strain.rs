//! A terminal that does not behave: a thousand sizes while Claude prints, a megabyte pasted at once, a line that takes a
//! kilobyte a second.

use super::stage::{ROOMY, assert_given_back, gated_project, leave, start};
use crate::project::{PROGRAM, Project};
use crate::terminal::{Start, Terminal};
use std::fmt::Write as _;
use std::num::NonZeroU32;
use std::path::Path;

/// A small generator of numbers: the same storm every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u16) -> u16 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u16
    }
}

/// Lines of text with wide characters in them, so that no two rows are alike.
fn lines(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "line {n}: the quick brown fox 日本語 jumps over the lazy dog");
        text
    })
}

#[test]
fn a_thousand_sizes_while_claude_prints_end_with_a_whole_screen() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    let (text, gate) = (serde_json::to_string(&lines(60)).unwrap(), project.gate("alpha"));
    project.scenario(&format!(
        "turns: [{{when: {{phase: \"\"}}, steps: [{{drip: {{text: {text}, every_ms: 1}}}}, {{bash: \"{gate}\"}}, {{status: {{summary: did}}}}]}}]\n"
    ));
    let terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("line 1:");
    let mut dice = Dice(20_261_121);
    for n in 0..1000 {
        let size = (60 + dice.below(141), 15 + dice.below(36));
        terminal.resize(size);
        // Now and then it is let draw, so that the sizes are not all one.
        if n % 25 == 0 {
            terminal.wait_until("the new size", |screen| {
                !screen.contains("too small") && screen.lines().any(|line| line.contains("Stream"))
            });
        }
    }
    terminal.resize((59, 24));
    terminal.wait_for("too small: 59 × 24");
    terminal.resize((120, 14));
    terminal.wait_for("too small: 120 × 14");
    terminal.resize((60, 15));
    terminal.wait_until("the smallest screen", |screen| !screen.contains("too small") && screen.contains("Stream"));
    terminal.resize(ROOMY);
    project.open_gate("alpha");
    terminal.wait_for("complete: 1/1 phases");
    assert_whole(terminal, &project);
}

/// Four panes, and the same when it is drawn anew, cell by cell.
fn assert_whole(mut terminal: Terminal, project: &Project) {
    let whole = terminal.wait_until("four panes", |screen| {
        ["Tickets", "Stream · tk-1", "Gauges", "Log"].iter().all(|pane| screen.contains(pane))
            && screen.lines().count() == 40
            && !screen.contains("x stop")
            // What is found out behind the end has come as well.
            && screen.contains("✓ Alpha")
            && screen.contains("no file changed")
    });
    let before = terminal.raw().len();
    terminal.keys("\x0c");
    let anew = terminal.wait_raw("a whole frame", |raw| {
        let frame = &raw[before..];
        frame.len() > 4_000 && frame.ends_with(b"\x1b[?2026l")
    });
    // What was drawn and is blank again may be a blank, or nothing.
    let trimmed = |screen: &str| screen.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&anew), trimmed(&whole));
    leave(terminal, project);
}

/// Terminals send Enter for the end of a line.
fn paste(terminal: &mut Terminal, text: &str) {
    terminal.keys(&format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r")));
}

#[test]
fn what_is_pasted_is_kept_whole_and_a_megabyte_is_refused_with_a_word() {
    let project = Project::new();
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("write your first ticket");
    terminal.keys_until("n", "New ticket");
    terminal.keys("A long story\t");
    let much = lines(18_000);
    assert!(much.len() > 1 << 20);
    paste(&mut terminal, &much);
    terminal.wait_for("pasted text is too long");
    let text = lines(2_000) + "the last of it";
    assert!(text.len() > 100 << 10);
    paste(&mut terminal, &text);
    terminal.wait_for("the last of it");
    terminal.keys_until("\x13", "created wor-");
    let folder = std::fs::read_dir(project.path("work/.tickets")).unwrap();
    let files: Vec<_> = folder.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert!(files.iter().any(|file| file.contains("# A long story") && file.contains(&text)), "not as it was pasted");
    leave(terminal, &project);
}

/// Its pictures arrive seconds late. The run does not wait for them, and the terminal is given back.
#[test]
fn a_line_of_a_kilobyte_a_second_holds_no_run_up() {
    let project = gated_project(&["Alpha", "Beta"]);
    let env = project.env();
    let args = &["tk-1"];
    let begin = Start { program: Path::new(PROGRAM), args, env: &env, folder: &project.work(), size: (60, 15) };
    let mut terminal = Terminal::start_slow(&begin, NonZeroU32::new(1024).unwrap());
    terminal.wait_for("Stream");
    project.open_gate("alpha");
    project.open_gate("beta");
    terminal.wait_for("complete: 2/2 phases");
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 0);
    assert_given_back(&terminal);
    assert_eq!(project.processes(), Vec::<String>::new());
}
