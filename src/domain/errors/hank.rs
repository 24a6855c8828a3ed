//! Hank's own rule for error lines, kept to the letter for projects and tests that count on it. It misses what
//! compilers say and fires on prose; what programmator goes by is [`super::read`].

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
    RULE.as_ref().is_some_and(|(key, sign)| {
        text.split('\n').map(str::as_bytes).any(|line| !key.is_match(line) && sign.is_match(line))
    })
}
