//! `programmator policy test`: a file of cases judged, line by line, so that its size does not matter.

use super::super::error::CliError;
use crate::base::text::clean_line;
use crate::cli::error::BAD_INPUT;
use crate::policy::cases::{Case, Miss};
use crate::policy::engine::Policy;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;

/// Longest line in bytes: a case with the largest command, escaped, and much to say about it.
const MAX_LINE: u64 = 4 << 20;

#[derive(Default)]
struct Count {
    total: usize,
    missed: usize,
    never: usize,
    bad: usize,
}

/// Prints each miss and each line that is no case. Exit code 0 when there are none, 64 when a line is no case, else 1.
pub fn test(out: &mut dyn Write, path: &Path, policy: &Policy) -> Result<u8, CliError> {
    let failed = |error: std::io::Error| CliError::bad_input(format!("{}: {error}", path.display()));
    let missing = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => CliError::bad_input(format!(
            "{}: no such file. This takes a file of cases; `programmator policy check COMMAND` judges a command",
            clean_line(&path.to_string_lossy(), 400)
        )),
        _ => failed(error),
    };
    let mut file = BufReader::new(File::open(path).map_err(missing)?);
    let mut count = Count::default();
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let whole = line.ends_with(b"\n") || (line.len() as u64) < MAX_LINE;
        if !whole {
            file.skip_until(b'\n').map_err(failed)?;
        }
        if !line.trim_ascii().is_empty() {
            let case = if whole { case(&line) } else { Err(format!("longer than {MAX_LINE} bytes")) };
            judge(out, case, number, policy, &mut count)?;
        }
    }
    let Count { total, missed, never, bad } = count;
    let unread = if bad == 0 { String::new() } else { format!("; unreadable lines: {bad}") };
    writeln!(out, "cases: {total}, mismatches: {missed} (forbidden verdicts: {never}){unread}")?;
    Ok(if bad > 0 { BAD_INPUT } else { u8::from(missed > 0) })
}

fn case(line: &[u8]) -> Result<Case, String> {
    let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    let case = Case::read(line.trim_start_matches('\u{feff}')).map_err(|error| error.to_string())?;
    if Path::new(&case.cwd).is_absolute() {
        Ok(case)
    } else {
        Err(format!("cwd {:?} is not an absolute path", case.cwd))
    }
}

fn judge(
    out: &mut dyn Write,
    case: Result<Case, String>,
    number: u64,
    policy: &Policy,
    count: &mut Count,
) -> std::io::Result<()> {
    let case = match case {
        Ok(case) => case,
        Err(why) => {
            count.bad += 1;
            return writeln!(out, "bad    line {number}: {}", clean_line(&why, 200));
        }
    };
    count.total += 1;
    let decision = case.decide(policy);
    let Some(miss) = case.miss(&decision) else { return Ok(()) };
    count.missed += 1;
    count.never += usize::from(miss == Miss::Never);
    let mark = if miss == Miss::Never { "NEVER" } else { "miss" };
    let (id, got, expected) = (clean_line(&case.id, 60), decision.verdict.word(), case.expect.word());
    let (input, told) = (clean_line(&case.input.to_string(), 200), clean_line(&decision.told(), 200));
    writeln!(out, "{mark:5}  {id}  {got}, not {expected}: {input}\n       {told}")
}
