//! The lines of Claude's text, cleaned, with what surrounds them: code fences, diffs, comments.
//!
//! Does not know what a status block is (`block`).

use crate::base::text::Clean;

/// One line of the text.
pub(super) struct Line {
    /// The line without its newline, escape sequences and invisible characters.
    pub(super) text: String,
    /// Characters of white space at its start.
    pub(super) indent: usize,
    /// What is tolerated about it, as words for the log.
    pub(super) oddities: Vec<&'static str>,
    /// It ends with a newline: it is not cut.
    pub(super) ended: bool,
    /// What it is for the text around it.
    pub(super) role: Role,
    /// It stands inside a code fence.
    pub(super) fenced: bool,
}

/// What a line is for the text around it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Text,
    Opens,
    Closes,
    /// Shown, not said: a diff or a comment. Nothing in it is a claim.
    Hidden,
}

impl Line {
    pub(super) fn is_blank(&self) -> bool {
        self.indent == self.text.chars().count()
    }
}

/// Splits `text` into lines and finds out where each stands, in one pass.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let last_comment_end = text.rfind("-->").unwrap_or(0);
    let mut surroundings = Surroundings::default();
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|raw| {
            let closable = start < last_comment_end;
            start += raw.len();
            let body = raw.strip_suffix('\n').unwrap_or(raw);
            let text = Clean::new(body).into_string();
            let blank: Vec<char> = text.chars().take_while(|c| c.is_whitespace()).collect();
            let ansi = body.contains(['\u{1b}', '\u{9b}']).then_some("ansi_stripped");
            let tab = blank.contains(&'\t').then_some("tab_indent");
            let (role, fenced) = surroundings.place(text.trim(), &text, closable);
            Line {
                indent: blank.len(),
                oddities: ansi.into_iter().chain(tab).collect(),
                ended: raw.len() > body.len(),
                role,
                fenced,
                text,
            }
        })
        .collect()
}

/// What the reader is inside of.
#[derive(Default)]
struct Surroundings {
    fence: Option<Fence>,
    comment: bool,
    hunk: bool,
}

struct Fence {
    mark: char,
    length: usize,
    diff: bool,
}

impl Surroundings {
    /// Takes the next line in; `closable` says that a comment begun here would end.
    fn place(&mut self, trimmed: &str, whole: &str, closable: bool) -> (Role, bool) {
        if let Some(fence) = &self.fence {
            let (mark, length, info) = fence_mark(trimmed);
            let diff = fence.diff;
            if mark == fence.mark && length >= fence.length && info.is_empty() {
                self.fence = None;
                return (Role::Closes, true);
            }
            return (if diff { Role::Hidden } else { Role::Text }, true);
        }
        if self.comment || (trimmed.starts_with("<!--") && closable) {
            self.comment = !trimmed.contains("-->");
            return (Role::Hidden, false);
        }
        if trimmed.starts_with("@@ -") {
            self.hunk = true;
        }
        self.hunk &= whole.starts_with([' ', '+', '-', '\\', '@']);
        if self.hunk {
            return (Role::Hidden, false);
        }
        let (mark, length, info) = fence_mark(trimmed);
        if length >= 3 && !info.contains('`') {
            let diff = ["diff", "patch"].contains(&info.split_whitespace().next().unwrap_or(""));
            self.fence = Some(Fence { mark, length, diff });
            return (Role::Opens, false);
        }
        (Role::Text, false)
    }
}

/// The run of fence characters a line starts with, and what follows it.
fn fence_mark(trimmed: &str) -> (char, usize, &str) {
    let mark = if trimmed.starts_with('~') { '~' } else { '`' };
    let info = trimmed.trim_start_matches(mark);
    (mark, trimmed.len() - info.len(), info.trim())
}
