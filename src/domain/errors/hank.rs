//! Hank's own rule for error lines, kept to the letter for projects and tests that count on it. It misses what
//! compilers say and fires on prose; what programmator goes by is [`super::read`].

use super::found::{Errors, error_line};
use super::kind::ErrorKind;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::LazyLock;

/// Stage one drops lines with a JSON key that contains `error`.
const KEY: &str = r#""[^"]*error[^"]*":"#;

/// Stage two counts the rest.
const SIGN: &str =
    r"^Error:|^ERROR:|^error:|\]: error|Link: error|Error occurred|failed with error|[Ee]xception|Fatal|FATAL";

static RULE: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| Some((compiled(KEY)?, compiled(SIGN)?)));

/// Bytes, as `grep` sees them; a pattern of ours that does not compile is found by the tests.
fn compiled(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}

/// Whether Hank finds an error line in `text`: two stages of `grep`, line by line, in letter case.
pub fn hank_literal(text: &str) -> bool {
    text.split('\n').any(is_counted)
}

/// The lines that Hank counts as errors, in the form of [`super::read`].
pub fn hank_lines(text: &str) -> Errors {
    let counted = text.split('\n').zip(1..).filter(|(line, _)| is_counted(line));
    let lines: Vec<_> = counted.map(|(line, number)| error_line(number, ErrorKind::Error, line)).collect();
    Errors { is_error: !lines.is_empty(), lines }
}

fn is_counted(line: &str) -> bool {
    let line = line.as_bytes();
    RULE.as_ref().is_some_and(|(key, sign)| !key.is_match(line) && sign.is_match(line))
}
