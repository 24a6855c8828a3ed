//! The lines of an edit, compared: what goes, what comes, one line of context around.

use super::wrap::Piece;
use crate::domain::syntax::{self, Code};
use crate::tui::theme::role::Role;
use similar::{Algorithm, ChangeTag, TextDiff};

/// Lines of context around a change.
const CONTEXT: usize = 1;
/// Above this many lines a side is not compared line by line (the cost grows with the square).
const COMPARED: usize = 2_000;

/// What a line of a diff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Context,
    /// Only in the old text.
    Removed,
    /// Only in the new text.
    Added,
    /// Lines are left out here.
    Gap,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub side: Side,
    /// Its place in lines, relative to the first changed line of the old text: a removed line's place in the old
    /// text, any other's in the new one.
    pub place: i64,
    /// The line without its newline, unclean.
    pub text: String,
}

/// Compares `old` with `new`.
pub fn lines(old: &str, new: &str) -> Vec<DiffLine> {
    let too_long = |text: &str| text.lines().count() > COMPARED;
    if old.is_empty() || new.is_empty() || too_long(old) || too_long(new) {
        return whole(old, new);
    }
    // At newlines only: a carriage return is a letter of its line.
    let (old, new): (Vec<&str>, Vec<&str>) = (split(old).collect(), split(new).collect());
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_slices(&old, &new);
    let groups = diff.grouped_ops(CONTEXT);
    let first = diff
        .iter_all_changes()
        .find(|change| change.tag() != ChangeTag::Equal)
        .and_then(|change| change.old_index().or(change.new_index()))
        .unwrap_or(0) as i64;
    let mut out = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            out.push(DiffLine { side: Side::Gap, place: 0, text: String::new() });
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (side, index) = match change.tag() {
                ChangeTag::Equal => (Side::Context, change.new_index()),
                ChangeTag::Delete => (Side::Removed, change.old_index()),
                ChangeTag::Insert => (Side::Added, change.new_index()),
            };
            out.push(DiffLine { side, place: index.unwrap_or(0) as i64 - first, text: change.value().to_owned() });
        }
    }
    out
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line))
}

fn whole(old: &str, new: &str) -> Vec<DiffLine> {
    let side = |text: &str, side: Side| {
        split(text)
            .enumerate()
            .map(|(place, line)| DiffLine { side, place: place as i64, text: line.to_owned() })
            .collect::<Vec<_>>()
    };
    let mut out = side(old, Side::Removed);
    out.extend(side(new, Side::Added));
    out
}

/// For each line of a diff the one in whose place it stands: among changed lines, the first old one goes with the first
/// new one.
pub fn pairs(sides: impl IntoIterator<Item = Side>) -> Vec<Option<usize>> {
    let mut out: Vec<Option<usize>> = Vec::new();
    let (mut olds, mut news) = (0, 0);
    for (at, side) in sides.into_iter().enumerate() {
        (olds, news) = match side {
            Side::Context | Side::Gap => (0, 0),
            // Another block follows without a line between.
            Side::Removed if news > 0 => (1, 0),
            Side::Removed => (olds + 1, 0),
            Side::Added => (olds, news + 1),
        };
        let other = (side == Side::Added && news <= olds).then(|| at - olds);
        if let Some(old) = other.and_then(|other| out.get_mut(other)) {
            *old = Some(at);
        }
        out.push(other);
    }
    out
}

/// Where each line stands in code. Lines that go have no colours but their own: what stays and what comes is read as
/// code, from gap to gap.
pub fn code<'a>(language: &str, lines: impl Iterator<Item = (Side, &'a String)>) -> Vec<Option<Code>> {
    let (mut out, mut hunk) = (Vec::new(), Vec::new());
    let end = |hunk: &mut Vec<(usize, &'a String)>, out: &mut Vec<Option<Code>>| {
        let texts: Vec<&String> = hunk.iter().map(|(_, text)| *text).collect();
        for ((at, _), code) in hunk.iter().zip(syntax::together(language, &texts)) {
            out[*at] = code;
        }
        hunk.clear();
    };
    for (side, text) in lines {
        match side {
            Side::Gap => end(&mut hunk, &mut out),
            Side::Removed => {}
            Side::Context | Side::Added => hunk.push((out.len(), text)),
        }
        out.push(None);
    }
    end(&mut hunk, &mut out);
    out
}

/// The parts of a line as [`marks`] tells them: those that differ in `word`, the others as code that has colours.
pub fn pieces(parts: Vec<(bool, &str)>, role: Role, word: Role, code: Option<&Code>) -> Vec<Piece> {
    let mut at = 0;
    let piece = |(marked, text): (bool, &str)| {
        let code = code.filter(|_| !marked).map(|code| Code { at: code.at + at, ..code.clone() });
        at += text.len();
        Piece { code, ..Piece::new(text, if marked { word } else { role }) }
    };
    parts.into_iter().map(piece).collect()
}

/// A longer line is not compared word by word.
const LONG: usize = 400;

/// The parts of `line`, and which of them `other`, which stands in its place, does not have. Two lines that have little in
/// common differ as a whole, unmarked.
pub fn marks<'a>(line: &'a str, other: &str) -> Vec<(bool, &'a str)> {
    let whole = vec![(false, line)];
    if line.len().max(other.len()) > LONG {
        return whole;
    }
    let (words, others) = (words(line), words(other));
    let diff = TextDiff::configure().diff_slices(&words, &others);
    if diff.ratio() < 0.4 {
        return whole;
    }
    let mut parts: Vec<(bool, usize)> = Vec::new();
    for change in diff.iter_all_changes().filter(|change| change.tag() != ChangeTag::Insert) {
        let marked = change.tag() == ChangeTag::Delete;
        match parts.last_mut() {
            Some((same, length)) if *same == marked => *length += change.value().len(),
            _ => parts.push((marked, change.value().len())),
        }
    }
    let mut rest = line;
    let part = |(marked, length): (bool, usize)| {
        let (part, after) = rest.split_at(length);
        rest = after;
        (marked, part)
    };
    parts.into_iter().map(part).collect()
}

/// Words, and each other letter by itself.
fn words(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut from, mut inside) = (0, false);
    for (at, letter) in line.char_indices() {
        let joins = letter.is_alphanumeric() || letter == '_';
        if at > from && !(joins && inside) {
            out.push(&line[from..at]);
            from = at;
        }
        inside = joins;
    }
    out.push(&line[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> Vec<String> {
        lines(old, new)
            .into_iter()
            .map(|line| {
                let mark = match line.side {
                    Side::Context => ' ',
                    Side::Removed => '-',
                    Side::Added => '+',
                    Side::Gap => return "…".to_owned(),
                };
                format!("{mark}{} {}", line.place, line.text)
            })
            .collect()
    }

    #[test]
    fn one_line_of_context_and_places_from_the_first_change() {
        assert_eq!(
            shown("a\nb\nc\nd\ne\nf\ng", "a\nb\nC\nC2\nd\ne\nf\nG"),
            [" -1 b", "-0 c", "+0 C", "+1 C2", " 2 d", "…", " 4 f", "-4 g", "+5 G"]
        );
    }

    #[test]
    fn what_differs_inside_a_line_is_marked() {
        let (old, new) = ("    .layer(auth_old)", "    .layer(RateLimit::per(auth_new))");
        assert_eq!(marks(old, new), [(false, "    .layer("), (true, "auth_old"), (false, ")")]);
        let marked: Vec<&str> = marks(new, old).into_iter().filter(|part| part.0).map(|part| part.1).collect();
        assert_eq!(marked.concat(), "RateLimit::per(auth_new)");
        assert_eq!(marks("let a = 1;", "fn other_thing() -> bool {"), [(false, "let a = 1;")]);
        assert_eq!(marks("", ""), [(false, "")]);
    }

    #[test]
    fn the_first_old_line_goes_with_the_first_new_one() {
        use Side::{Added, Context, Gap, Removed};
        let sides = [Context, Removed, Removed, Added, Removed, Added, Added, Gap, Added];
        assert_eq!(pairs(sides), [None, Some(3), None, Some(1), Some(5), Some(4), None, None, None]);
    }

    #[test]
    fn a_new_file_is_all_added() {
        assert_eq!(shown("", "x\ny\n"), ["+0 x", "+1 y"]);
    }

    #[test]
    fn a_carriage_return_is_a_letter_like_any_other() {
        assert_eq!(shown("x\r\n", ""), ["-0 x\r"]);
        assert_eq!(shown("a\nb\rc\n", "a\nb\rd\r\n"), [" -1 a", "-0 b\rc", "+0 b\rd\r"]);
    }

    #[test]
    fn a_giant_edit_is_not_compared() {
        let old = "a\n".repeat(COMPARED + 1);
        assert_eq!(lines(&old, "b").len(), COMPARED + 2);
    }
}
