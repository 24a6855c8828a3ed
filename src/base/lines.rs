//! Lines out of a stream of bytes, split at `\n` and nowhere else, whatever their length.
//!
//! U+0085 and U+2028 are text in Claude's stream, so no reader of `char` lines will do.

/// Collects bytes until a whole line is there. Grows with the longest line and no further.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Feeds `bytes`; `each` sees every line that is complete now, without its newline.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        let mut start = 0;
        while let Some(at) = memchr::memchr(b'\n', &bytes[start..]) {
            let line = &bytes[start..start + at];
            if self.rest.is_empty() {
                each(line);
            } else {
                self.rest.extend_from_slice(line);
                each(&self.rest);
                self.rest.clear();
                if self.rest.capacity() > 1 << 20 {
                    self.rest.shrink_to(64 << 10);
                }
            }
            start += at + 1;
        }
        self.rest.extend_from_slice(&bytes[start..]);
    }

    /// What is left when the stream ends: a line that was cut, or nothing.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        (!self.rest.is_empty()).then(|| std::mem::take(&mut self.rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = "{\"a\":1}\n\u{85}x\u{2028}y\n\nlast".as_bytes();
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for chunk in text.chunks(size) {
                lines.feed(chunk, |line| seen.push(line.to_vec()));
            }
            assert_eq!(seen, [b"{\"a\":1}".to_vec(), "\u{85}x\u{2028}y".into(), Vec::new()], "chunks of {size}");
            assert_eq!(lines.finish().unwrap(), b"last");
        }
    }
}
