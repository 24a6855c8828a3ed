//! A text that only its owner may know: wiped when dropped, never printed, never grown (a buffer that grows leaves
//! a copy behind).
//!
//! Does not own how it is checked (`adapters::passphrase`) nor how it is typed (`tui::modals::card`).

use std::fmt;
use unicode_segmentation::UnicodeSegmentation;
use zeroize::Zeroizing;

/// Longest secret in bytes.
const LONGEST: usize = 1_024;

/// The text.
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// An empty one, to be typed into.
    pub fn new() -> Self {
        Self(Zeroizing::new(String::with_capacity(LONGEST)))
    }

    /// What was given, as far as there is room for it.
    pub fn of(text: &str) -> Self {
        let mut secret = Self::new();
        secret.push(text);
        secret
    }

    /// Adds text without its control characters; `false` when there is no room for it: then nothing is added.
    pub fn push(&mut self, text: &str) -> bool {
        let fits = self.0.len() + text.len() <= LONGEST;
        if fits {
            self.0.extend(text.chars().filter(|c| !c.is_control()));
        }
        fits
    }

    /// Takes back what a reader sees as the last letter.
    pub fn pop(&mut self) {
        let end = self.0.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
        self.truncate(end);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Cuts the end off and wipes it: a plain `truncate` would leave the bytes.
    fn truncate(&mut self, end: usize) {
        let kept = Self::of(&self.0[..end]);
        *self = kept;
    }

    /// Letters as a reader counts them.
    pub fn letters(&self) -> usize {
        self.0.graphemes(true).count()
    }

    /// The text itself. What is made of it must be wiped by who makes it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Default for Secret {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Secret {
    fn clone(&self) -> Self {
        Self::of(&self.0)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        let (one, other) = (self.0.as_bytes(), other.0.as_bytes());
        // Looks at every byte, wherever the first difference is.
        one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_typed_letter_by_letter_and_never_shown() {
        let mut secret = Secret::of("correct horse");
        secret.push("e\u{301}\n\x1b");
        assert_eq!((secret.letters(), secret.expose()), (14, "correct horsee\u{301}"));
        secret.pop();
        assert_eq!(secret.expose(), "correct horse");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert!(secret == secret.clone() && secret != Secret::of("correct horsf"));
        secret.clear();
        assert_eq!(secret.expose(), "");
    }

    #[test]
    fn never_grows() {
        let mut secret = Secret::of(&"x".repeat(LONGEST));
        let place = secret.expose().as_ptr();
        assert!(!secret.push("y"));
        assert_eq!((secret.letters(), secret.expose().as_ptr()), (LONGEST, place));
    }
}
