//! What a person is told where there is nothing to list. What reads the list gets an empty one.

use std::io::{IsTerminal, Write, stderr, stdout};

/// Says that nothing was found, to a person.
pub fn found() {
    if stdout().is_terminal() {
        let _ = writeln!(stderr(), "nothing found");
    }
}
