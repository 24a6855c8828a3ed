//! What became of a validation command, in one line.

use super::line::Weight::{self, Info, Warn};
use crate::base::text::clean_line;
use crate::base::time::human;
use crate::domain::claim::fingerprint::telling_line;
use crate::domain::record::ValidationRan;
use std::time::Duration;

/// Columns of what a failed command has printed.
const SAID: usize = 160;

pub(super) fn words(ran: &ValidationRan) -> (Weight, String) {
    let ValidationRan { command, exit, timed_out, ms, tail, .. } = ran;
    let time = human(Duration::from_millis(*ms));
    // Without a screen this is all that is seen of it.
    let said = telling_line(tail).map(|line| format!(" · {}", clean_line(line, SAID))).unwrap_or_default();
    match (exit, timed_out) {
        (_, true) => (Warn, format!("validation timed out: `{command}` · {time}{said}")),
        (Some(0), _) => (Info, format!("validation passed: `{command}` · {time}")),
        (Some(code), _) => (Warn, format!("validation failed: `{command}` · exit {code} · {time}{said}")),
        (None, _) => (Warn, format!("validation killed by a signal: `{command}` · {time}{said}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_is_told_with_what_it_said_of_it() {
        let words = |exit, tail: &str| {
            let (command, tail, log) = ("cargo test".into(), tail.into(), String::new());
            words(&ValidationRan { n: 1, command, exit, timed_out: false, ms: 41_000, tail, log }).1
        };
        let tail =
            "   Compiling thiserror v2\nok. 3 passed; 0 failed\n\x1b[31mtest b ... FAILED\x1b[m\nerror: 1 failed\n";
        assert_eq!(words(Some(101), tail), "validation failed: `cargo test` · exit 101 · 41 s · test b ... FAILED");
        assert_eq!(words(Some(1), "3 lines\n\nbad\n\n"), "validation failed: `cargo test` · exit 1 · 41 s · bad");
        assert_eq!(words(None, " \n"), "validation killed by a signal: `cargo test` · 41 s");
        assert_eq!(words(Some(0), tail), "validation passed: `cargo test` · 41 s");
    }
}
