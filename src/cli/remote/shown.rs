//! A run of another machine, shown in this terminal by the program once more while a screen has left it.

use crate::adapters::own_program;
use crate::base::text::clean_line;
use std::io::{BufRead as _, BufReader, Write as _, stderr};
use std::process::{Command, Stdio};

/// Returns when the person has left it; an error: why it was not shown, in words for them.
pub fn show(machine: &str, ticket: &str, run: &str) -> Result<(), String> {
    let failed = |why: &str| clean_line(&format!("{ticket} on {machine} was not shown: {why}"), 600);
    let program = own_program::to_start().map_err(|error| failed(&error.to_string()))?;
    let mut command = Command::new(program);
    command.args(["attach", "--on", machine, "--", run]).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(&error.to_string()))?;
    // What it complains of would be gone with the next frame.
    let mut last = String::new();
    for line in child.stderr.take().into_iter().flat_map(|err| BufReader::new(err).split(b'\n')).map_while(Result::ok) {
        last = String::from_utf8_lossy(&line).into_owned();
        // Nobody may be reading.
        let _ = writeln!(stderr(), "{last}");
    }
    let status = child.wait().map_err(|error| failed(&error.to_string()))?;
    match (status.success(), last.trim().is_empty()) {
        (true, _) => Ok(()),
        (false, true) => Err(failed(&status.to_string())),
        (false, false) => Err(failed(last.trim())),
    }
}
