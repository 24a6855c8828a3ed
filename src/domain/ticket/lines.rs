//! A markdown text as lines of bytes, each with what it is: prose, code or comment.
//!
//! Follows `CommonMark` for fences (§4.5) and comments (§4.6, kind 2) as far as a checkbox or heading
//! could hide in one. Does not know phases: `outline` reads those.

/// What a line is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Prose,
    /// The opening line of a fenced block.
    FenceOpen,
    Code,
    /// The closing line of a fenced block.
    FenceClose,
    Comment,
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a> {
    /// 1-based.
    pub number: usize,
    /// Offset of `text` in the file, in bytes.
    pub start: usize,
    /// Without its line end (`\n` or `\r\n`) and without a byte order mark.
    pub text: &'a [u8],
    /// What it is part of.
    pub place: Place,
}

impl<'a> Line<'a> {
    /// Width of the leading blanks in columns, a tab reaching to the next multiple of 4, and the rest.
    pub fn indent(&self) -> (usize, &'a [u8]) {
        indent(self.text)
    }
}

/// Splits off the byte order mark: offset of the text proper.
pub(super) fn text_start(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// The raw lines from offset `start`, the first one being line `number`; each as offset and text.
pub(super) fn raw(bytes: &[u8], start: usize, number: usize) -> impl Iterator<Item = (usize, usize, &[u8])> {
    let mut at = start;
    let mut next = number;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found);
        let text = &bytes[at..end];
        let line = (next, at, text.strip_suffix(b"\r").unwrap_or(text));
        at = end + 1;
        next += 1;
        Some(line)
    })
}

/// A block that was opened and not closed before the text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unclosed {
    /// Line of the opening.
    pub line: usize,
    /// `a code fence` or `a comment`.
    pub what: &'static str,
}

/// All lines from offset `start` on, and a block that hides everything to the end, if one does.
pub(super) fn classify(bytes: &[u8], start: usize, number: usize) -> (Vec<Line<'_>>, Option<Unclosed>) {
    let mut lines = Vec::new();
    let mut open: Option<Open> = None;
    let mut item_column = 0;
    for (number, start, text) in raw(bytes, start, number) {
        let (column, rest) = indent(text);
        if let Some(Open::Fence(fence)) = &open
            && !rest.is_empty()
            && column < fence.container
        {
            // The list item that held the fence is over, and so is the fence.
            open = None;
        }
        let place = match &open {
            Some(Open::Fence(fence)) if fence.is_closed_by(rest) => {
                open = None;
                Place::FenceClose
            }
            Some(Open::Fence(_)) => Place::Code,
            Some(Open::Comment(_)) => {
                if memchr::memmem::find(text, b"-->").is_some() {
                    open = None;
                }
                Place::Comment
            }
            None => {
                let content = item_content(rest);
                if let Some(offset) = content {
                    item_column = column + offset;
                } else if !rest.is_empty() && column < item_column {
                    item_column = 0;
                }
                let inner = content.map_or(rest, |offset| rest.get(offset..).unwrap_or(&[]));
                if let Some(fence) = Fence::opened_by(inner, number, item_column) {
                    open = Some(Open::Fence(fence));
                    if content.is_some() { Place::Prose } else { Place::FenceOpen }
                } else if rest.starts_with(b"<!--") {
                    if memchr::memmem::find(&rest[4..], b"-->").is_none() {
                        open = Some(Open::Comment(number));
                    }
                    Place::Comment
                } else {
                    Place::Prose
                }
            }
        };
        lines.push(Line { number, start, text, place });
    }
    let unclosed = open.map(|open| match open {
        Open::Fence(fence) => Unclosed { line: fence.line, what: "a code fence" },
        Open::Comment(line) => Unclosed { line, what: "a comment" },
    });
    (lines, unclosed)
}

enum Open {
    Fence(Fence),
    Comment(usize),
}

struct Fence {
    mark: u8,
    length: usize,
    line: usize,
    /// Column where the content of the surrounding list item starts; 0 outside of lists.
    container: usize,
}

impl Fence {
    fn opened_by(rest: &[u8], line: usize, container: usize) -> Option<Self> {
        let mark = *rest.first().filter(|byte| b"`~".contains(byte))?;
        let length = run(rest, mark);
        let info = &rest[length..];
        (length >= 3 && !(mark == b'`' && info.contains(&b'`'))).then_some(Self { mark, length, line, container })
    }

    fn is_closed_by(&self, rest: &[u8]) -> bool {
        let length = run(rest, self.mark);
        length >= self.length && rest[length..].iter().all(u8::is_ascii_whitespace)
    }
}

fn run(text: &[u8], mark: u8) -> usize {
    text.iter().take_while(|&&byte| byte == mark).count()
}

/// Leading blanks in columns, and what follows them.
pub(super) fn indent(text: &[u8]) -> (usize, &[u8]) {
    let mut column = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b' ' => column += 1,
            b'\t' => column += 4 - column % 4,
            _ => return (column, &text[at..]),
        }
    }
    (column, &[])
}

/// Where the content of a list item starts, for a line without its indent: behind `- `, `* `, `+ `, `1. ` or `1) `.
pub(super) fn item_content(rest: &[u8]) -> Option<usize> {
    let marker = match rest.first()? {
        b'-' | b'*' | b'+' => 1,
        _ => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let closed = matches!(rest.get(digits), Some(b'.' | b')'));
            ((1..=9).contains(&digits) && closed).then_some(digits + 1)?
        }
    };
    let blanks = rest[marker..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (blanks > 0).then_some(marker + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One letter for each line: prose, fence `<` and `>`, code, comment `!`.
    fn places(text: &str) -> String {
        classify(text.as_bytes(), 0, 1)
            .0
            .iter()
            .map(|line| match line.place {
                Place::Prose => 'p',
                Place::FenceOpen => '<',
                Place::Code => 'c',
                Place::FenceClose => '>',
                Place::Comment => '!',
            })
            .collect()
    }

    #[test]
    fn fences_and_comments_hide_their_lines() {
        let cases = [
            ("a\n```\n- [ ] x\n```\nb", "p<c>p"),
            ("~~~ sh\n```\n~~\n~~~~\nb", "<cc>p"),
            ("````\n```\n````\nb", "<c>p"),
            ("``` a`b\nc", "pp"),
            ("  ```\r\n  x\r\n  ```\r\nb", "<c>p"),
            ("- a\n  ```\n  x\n- b", "p<cp"),
            ("- ```\n  x\n  ```\n- b", "pc>p"),
            ("```\n- [ ] x\n", "<c"),
            ("<!-- one -->\nb", "!p"),
            ("<!--\n- [ ] x\n--> y\nb", "!!!p"),
            ("a <!-- b\nc", "pp"),
            ("- [ ] a <!-- n -->\n", "p"),
        ];
        for (text, expected) in cases {
            assert_eq!(places(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_never_closed_is_reported() {
        let unclosed = |text: &str| classify(text.as_bytes(), 0, 1).1;
        assert_eq!(unclosed("a\n```\nb").unwrap().line, 2);
        assert_eq!(unclosed("<!--\nb").unwrap().what, "a comment");
        assert_eq!(unclosed("- a\n  ```\n  b\nc"), None);
    }

    #[test]
    fn offsets_point_into_the_file() {
        let bytes = b"a\r\nbc\nd";
        let lines: Vec<_> = raw(bytes, 0, 1).collect();
        assert_eq!(lines, [(1, 0, &b"a"[..]), (2, 3, &b"bc"[..]), (3, 6, &b"d"[..])]);
    }
}
