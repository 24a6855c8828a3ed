//! Lines out of a stream of bytes, split at `\n` and nowhere else, whatever their length.
//!
//! U+0085 and U+2028 are text in Claude's stream, so no reader of `char` lines will do.

use crate::base::shorten::Shortener;

/// Collects bytes until a whole line is there. Grows with the longest line and no further.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
    /// Longer lines are made short.
    longest: Option<usize>,
    /// Of the line at hand, once it is too long.
    shortener: Option<Shortener>,
}

impl Lines {
    /// Lines of which those that are longer than `longest` are made short.
    pub fn up_to(longest: usize) -> Self {
        Self { longest: Some(longest), ..Self::default() }
    }

    /// Feeds `bytes`; `each` sees every line that is complete now, without its newline, and how many of its bytes were
    /// left out.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8], u64)) {
        let mut start = 0;
        while let Some(at) = memchr::memchr(b'\n', &bytes[start..]) {
            let line = &bytes[start..start + at];
            if self.rest.is_empty() && self.shortener.is_none() {
                each(line, 0);
            } else {
                self.collect(line);
                let left_out = self.complete();
                each(&self.rest, left_out);
                self.rest.clear();
                if self.rest.capacity() > 1 << 20 {
                    self.rest.shrink_to(64 << 10);
                }
            }
            start += at + 1;
        }
        self.collect(&bytes[start..]);
    }

    /// What is left when the stream ends: a line that was cut, and how many of its bytes were left out, or nothing.
    pub fn finish(&mut self) -> Option<(Vec<u8>, u64)> {
        let left_out = self.complete();
        (!self.rest.is_empty()).then(|| (std::mem::take(&mut self.rest), left_out))
    }

    fn collect(&mut self, bytes: &[u8]) {
        if let Some(shortener) = &mut self.shortener {
            return shortener.push(bytes);
        }
        self.rest.extend_from_slice(bytes);
        if self.longest.is_some_and(|longest| self.rest.len() > longest) {
            let mut shortener = Shortener::default();
            shortener.push(&std::mem::take(&mut self.rest));
            self.shortener = Some(shortener);
        }
    }

    /// The line at hand is in `rest`, as short as it is to be.
    fn complete(&mut self) -> u64 {
        let Some(shortener) = self.shortener.take() else { return 0 };
        let (line, left_out) = shortener.finish();
        self.rest = line;
        left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = "{\"a\":1}\n\u{85}x\u{2028}y\n\nlast".as_bytes();
        for longest in [None, Some(1), Some(3)] {
            for size in 1..text.len() {
                let mut lines = Lines { longest, ..Lines::default() };
                let mut seen = Vec::new();
                for chunk in text.chunks(size) {
                    lines.feed(chunk, |line, left_out| {
                        assert_eq!(left_out, 0);
                        seen.push(line.to_vec());
                    });
                }
                assert_eq!(seen, [b"{\"a\":1}".to_vec(), "\u{85}x\u{2028}y".into(), Vec::new()], "chunks of {size}");
                assert_eq!(lines.finish().unwrap(), (b"last".to_vec(), 0));
            }
        }
    }

    #[test]
    fn a_long_line_is_short_and_its_neighbours_are_whole() {
        let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(20 << 20));
        let text = format!("first\n{long}\nlast\n");
        let mut lines = Lines::up_to(1 << 20);
        let mut seen = Vec::new();
        for chunk in text.as_bytes().chunks(100_000) {
            lines.feed(chunk, |line, left_out| seen.push((line.len(), left_out)));
            assert!(lines.rest.capacity() < 4 << 20, "it is never all in memory");
        }
        assert_eq!((seen[0], seen[2]), ((5, 0), (4, 0)));
        assert!(seen[1].0 < 3 << 20 && seen[1].1 > 16 << 20, "{seen:?}");
    }
}
