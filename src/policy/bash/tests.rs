//! What becomes of commands: their units, and which of them are proven.

use super::units;
use crate::policy::place::{MadeUp, Place};
use crate::policy::unit::Unit;
use std::path::Path;

fn of(command: &str) -> Vec<Unit> {
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], []);
    units(command, &Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view })
}

#[test]
fn a_command_becomes_its_units() {
    for (command, expected) in [
        ("ls -la | wc -l", vec!["ls -la", "wc -l"]),
        ("ls && pwd; date &", vec!["ls", "pwd", "date"]),
        ("echo $(ls)", vec!["ls", "echo $(ls)"]),
        ("cat <<EOF > out\n$(date)\nEOF", vec!["cat", "date", "> out"]),
        ("timeout 5 nice ls", vec!["timeout 5 nice ls"]),
    ] {
        let units = of(command);
        let texts: Vec<&str> = units.iter().map(|unit| unit.text.as_str()).collect();
        assert_eq!(texts, expected, "{command}");
    }
}
