//! The keys of the block, in every spelling and markup that models put them in.

use crate::domain::worded::worded;

worded! {
    /// The keys of the protocol, as the prompt asks for them.
    pub(super) enum Field {
        Phase = "phase_completed",
        Status = "status",
        Files = "files_changed",
        Summary = "summary",
        Error = "error",
        ExitSignal = "exit_signal",
        WorkType = "work_type",
        TestsStatus = "tests_status",
        TasksCompleted = "tasks_completed",
        Recommendation = "recommendation",
        /// Of critics' blocks only.
        Verdict = "verdict",
        Issues = "issues",
        /// Of evaluators' blocks only.
        NewPhases = "new_phases",
        /// Of Hank's blocks only.
        FilesModified = "files_modified",
    }
}

/// A line `key: value`.
pub(super) struct KeyLine<'a> {
    pub(super) name: &'a str,
    pub(super) field: Option<Field>,
    pub(super) value: &'a str,
    pub(super) bullet: bool,
    pub(super) warnings: Vec<&'static str>,
}

impl KeyLine<'_> {
    /// Written exactly as asked for.
    pub(super) fn is_verbatim(&self) -> bool {
        self.warnings.is_empty()
    }
}

/// Reads `key: value`, with bullets and markup around the key; `None` when the line is none.
pub(super) fn line(text: &str) -> Option<KeyLine<'_>> {
    let text = text.trim();
    let (bullet, rest) = bullet(text).map_or((false, text), |rest| (true, rest));
    let (open, rest) = opening(rest);
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_- ".contains(c))).unwrap_or(rest.len());
    let name = rest[..end].trim_end();
    let name = if open.contains('_') { name.trim_end_matches('_') } else { name };
    let (colon, after) = closing(&rest[name.len()..], open)?;
    let (field, spelling) = field(name);
    let spaced = after.is_empty() || after.starts_with(char::is_whitespace);
    let marked = bullet || open.contains(['*', '_', '`']);
    let plausible = name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(' ');
    if !colon || (field.is_none() && !(spaced && plausible && !marked)) {
        return None;
    }
    let mut value = after.trim();
    if open.contains('"') {
        value = value.strip_suffix(',').unwrap_or(value).trim_end();
    }
    let warnings = spelling.into_iter().chain(marked.then_some("markup_stripped")).collect();
    Some(KeyLine { name, field, value, bullet, warnings })
}

/// Which key of the protocol `name` is, and a warning when it is not spelled as asked for.
pub(super) fn field(name: &str) -> (Option<Field>, Option<&'static str>) {
    // Longer than any key's name: not worth a look.
    let bare = if name.len() < 40 { name.replace(['_', '-', ' '], "").to_ascii_lowercase() } else { String::new() };
    let is_named = |field: &Field| field.word().bytes().filter(|b| *b != b'_').eq(bare.bytes());
    // Hank's name for it has more words.
    let field = Field::ALL
        .iter()
        .copied()
        .find(is_named)
        .or((bare == "taskscompletedthisloop").then_some(Field::TasksCompleted));
    let warning = field.and_then(|field| {
        if Field::from_word(name) == Some(field) {
            None
        } else if field.word().eq_ignore_ascii_case(name) {
            Some("key_case")
        } else {
            Some("key_spelling")
        }
    });
    (field, warning)
}

/// The run of markup and quotes at the start of `text`, and the rest.
pub(super) fn opening(text: &str) -> (&str, &str) {
    let rest = text.trim_start_matches(['*', '_', '`', '"', '\'']);
    text.split_at(text.len() - rest.len())
}

/// Takes the mirror of `open` and a colon, in either order, from the start of `text`: was there a colon,
/// and what follows. `None` when what was opened is not closed, or anything else comes first.
pub(super) fn closing<'a>(text: &'a str, open: &str) -> Option<(bool, &'a str)> {
    let close: String = open.chars().rev().collect();
    let colon = |text: &'a str| text.trim_start().strip_prefix([':', '：']);
    if let Some(rest) = text.strip_prefix(close.as_str()) {
        if let Some(after) = colon(rest) {
            return Some((true, after));
        }
        return rest.trim().is_empty().then_some((false, ""));
    }
    let after = colon(text)?.trim_start().strip_prefix(close.as_str())?;
    Some((true, after))
}

/// What follows a bullet.
pub(super) fn bullet(text: &str) -> Option<&str> {
    ["- ", "* ", "• "].iter().find_map(|bullet| text.strip_prefix(bullet)).map(str::trim_start)
}
