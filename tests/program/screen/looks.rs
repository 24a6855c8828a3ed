//! Themes on a terminal that answers, chosen on the screen, and saved by an editor meanwhile.

use super::stage::{ROOMY, start_with};
use crate::project::Project;
use crate::terminal::Terminal;

/// Waits until the terminal was told to write in this colour.
fn wait_colour(terminal: &Terminal, colour: &str) {
    terminal.wait_raw(colour, |bytes| bytes.windows(colour.len()).any(|part| part == colour.as_bytes()));
}

#[test]
fn the_theme_follows_the_terminal_the_person_and_their_files() {
    let project = Project::new();
    project.write("config/config.yaml", "# mine\nscreen:\n  ascii: false\n");
    project.write("config/themes/aaa.yaml", "inherits: light\npalette:\n  text: '#010203'\n");
    let mut terminal = start_with(&project, &[], ROOMY, &[("COLORTERM", "truecolor")]);
    terminal.wait_raw("the question", |bytes| bytes.windows(7).any(|part| part == b"\x1b]11;?\x07"));
    // It comes late, between keys, and ends otherwise than the question.
    terminal.keys("j\x1b]11;rgb:ffff/ffff/ffff\x1b\\j");
    wait_colour(&terminal, "38;2;31;41;51");
    terminal.keys_until("T", "aaa");
    terminal.keys(&"j".repeat(40));
    wait_colour(&terminal, "38;2;1;2;3");
    terminal.keys_until("\r", "theme aaa saved in");
    assert_eq!(project.read("config/config.yaml"), "# mine\nscreen:\n  theme: aaa\n  ascii: false\n");
    project.write("config/themes/aaa.yaml", "inherits: light\npalette:\n  text: '#040506'\n");
    wait_colour(&terminal, "38;2;4;5;6");
    project.write("config/themes/aaa.yaml", "inherits: light\npalette:\n  text: grren\n");
    terminal.wait_for("theme `aaa`, line 3: `grren` is not a colour");
    terminal.keys("q");
    assert!(terminal.wait_end().success(), "{}", terminal.screen());
}
