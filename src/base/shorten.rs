//! One line of JSON that is too long for memory, made short while it comes: of each long string the beginning and the
//! end are kept, with a mark between them, and all else as it is. What comes out is JSON where the line was.
//!
//! A line that is long by its structure and not by its strings cannot be made short so: it is cut off, and is no JSON.

/// Kept of the beginning of a string.
const HEAD: usize = 64 << 10;
/// Kept of its end: more than is ever read of one (a status block is at the end).
const TAIL: usize = 2 << 20;
/// Most bytes of all.
const WHOLE: usize = 32 << 20;
/// Kept of a line that is cut off.
const CUT_OFF: usize = 64 << 10;

/// Makes one line short.
#[derive(Debug, Default)]
pub struct Shortener {
    out: Vec<u8>,
    string: Option<Inside>,
    left_out: u64,
    cut_off: bool,
}

/// Inside of a string, its quote passed.
#[derive(Debug, Default)]
struct Inside {
    /// Bytes of it in `out`.
    head: usize,
    escape: Escape,
    tail: Vec<u8>,
    /// Bytes between them that are gone.
    gone: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// So many hexadecimal digits are still to come.
    Digits(u8),
}

impl Shortener {
    /// Takes more of the line.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let plain = !matches!(bytes[at], b'"' | b'\\');
            let taken = self.string.as_mut().filter(|_| plain).map_or(0, |inside| inside.take(&bytes[at..]));
            if taken == 0 {
                self.byte(bytes[at]);
            }
            at += taken.max(1);
        }
    }

    /// The line, and how many of its bytes are not in it.
    pub fn finish(mut self) -> (Vec<u8>, u64) {
        if let Some(inside) = self.string.take() {
            self.close(inside);
        }
        if self.cut_off {
            self.left_out += self.out.len().saturating_sub(CUT_OFF) as u64;
            self.out.truncate(CUT_OFF);
        }
        (self.out, self.left_out)
    }

    fn byte(&mut self, byte: u8) {
        let Some(inside) = &mut self.string else {
            self.keep(byte);
            if byte == b'"' {
                self.string = Some(Inside::default());
            }
            return;
        };
        if inside.escape == Escape::None && byte == b'"' {
            if let Some(inside) = self.string.take() {
                self.close(inside);
            }
            return self.keep(byte);
        }
        // Between two characters, and not between the halves of one that is written as two escapes.
        let between = inside.escape == Escape::None && byte & 0xc0 != 0x80;
        let in_tail = !inside.tail.is_empty() || inside.gone > 0;
        let to_tail = in_tail || (inside.head >= HEAD && between && !ends_in_half(&self.out));
        inside.escape = match (inside.escape, byte) {
            (Escape::None, b'\\') => Escape::Begun,
            (Escape::Begun, b'u') => Escape::Digits(4),
            (Escape::Digits(left), _) if left > 1 => Escape::Digits(left - 1),
            _ => Escape::None,
        };
        if to_tail {
            inside.tail.push(byte);
            if inside.tail.len() >= 2 * TAIL {
                inside.forget();
            }
        } else {
            inside.head += 1;
            self.keep(byte);
        }
    }

    fn keep(&mut self, byte: u8) {
        self.cut_off |= self.out.len() >= WHOLE;
        if self.cut_off {
            self.left_out += 1;
        } else {
            self.out.push(byte);
        }
    }

    fn close(&mut self, mut inside: Inside) {
        if inside.gone > 0 {
            inside.forget();
            self.left_out += inside.gone;
            let mark = format!(" [programmator: {} bytes are left out here] ", inside.gone);
            mark.bytes().for_each(|byte| self.keep(byte));
        }
        inside.tail.into_iter().for_each(|byte| self.keep(byte));
    }
}

impl Inside {
    /// Takes what the tail takes as it is, up to an escape or the string's end: how many bytes.
    fn take(&mut self, bytes: &[u8]) -> usize {
        let in_tail = !self.tail.is_empty() || self.gone > 0;
        if !in_tail || self.escape != Escape::None {
            return 0;
        }
        let plain = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
        let taken = plain.min(2 * TAIL - self.tail.len());
        self.tail.extend_from_slice(&bytes[..taken]);
        if self.tail.len() >= 2 * TAIL {
            self.forget();
        }
        taken
    }

    /// Keeps the end of the tail, from between two characters.
    fn forget(&mut self) {
        let goal = self.tail.len().saturating_sub(TAIL);
        let mut at = 0;
        while at < goal {
            at += match self.tail[at] {
                b'\\' => escape(&self.tail[at..]),
                _ => memchr::memchr(b'\\', &self.tail[at..goal]).unwrap_or(goal - at),
            };
        }
        at += self.tail.iter().skip(at).take_while(|byte| **byte & 0xc0 == 0x80).count();
        let at = at.min(self.tail.len());
        self.tail.drain(..at);
        self.gone += at as u64;
    }
}

/// Bytes of the escape at the beginning, with its other half.
fn escape(text: &[u8]) -> usize {
    match text {
        [_, b'u', ..] if is_half(text) => 12,
        [_, b'u', ..] => 6,
        _ => 2,
    }
}

/// `\uD800` to `\uDBFF`: the other half follows.
fn is_half(text: &[u8]) -> bool {
    matches!(text, [b'\\', b'u', b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B', _, _, ..])
}

fn ends_in_half(out: &[u8]) -> bool {
    out.len().checked_sub(6).is_some_and(|at| is_half(&out[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shorten(line: &[u8], size: usize) -> (Vec<u8>, u64) {
        let mut shortener = Shortener::default();
        line.chunks(size).for_each(|chunk| shortener.push(chunk));
        shortener.finish()
    }

    #[test]
    fn short_strings_stay_as_they_are() {
        let line = br#"{"a":"x\"y\\","b":[1,"\ud83d\ude00"],"c":null}"#;
        for size in [1, 7, 1_000] {
            assert_eq!(shorten(line, size), (line.to_vec(), 0));
        }
    }

    #[test]
    fn long_strings_keep_both_ends_and_the_line_stays_json() {
        for unit in ["x", "ä", "😀", "\\n", "\\\\", "\\\"", "\\u00e4", "\\ud83d\\ude00"] {
            let text = unit.repeat(12 * TAIL / unit.len());
            let line = format!(r#"{{"type":"assistant","text":"begin {text} the end","n":7}}"#);
            let (short, left_out) = shorten(line.as_bytes(), 64 << 10);
            assert!(short.len() < HEAD + TAIL + 1_000, "{unit}: {}", short.len());
            assert!(short.len() as u64 + left_out >= line.len() as u64, "{unit}");
            let json: serde_json::Value =
                serde_json::from_slice(&short).unwrap_or_else(|error| panic!("{unit}: {error}"));
            let text = json["text"].as_str().unwrap();
            assert!(text.starts_with("begin ") && text.ends_with(" the end") && text.contains("left out here"));
            assert_eq!((json["type"].as_str(), json["n"].as_u64()), (Some("assistant"), Some(7)), "{unit}");
            assert!(!text.contains('\u{fffd}'), "{unit}");
        }
    }

    #[test]
    fn what_is_long_by_its_structure_is_cut_off_and_no_json() {
        let line = format!(r#"{{"type":"result","list":[{}1]}}"#, "1,".repeat(20 << 20));
        let (short, left_out) = shorten(line.as_bytes(), 1 << 20);
        assert_eq!((short.len(), short.len() as u64 + left_out), (CUT_OFF, line.len() as u64));
        assert!(serde_json::from_slice::<serde_json::Value>(&short).is_err());
    }
}
