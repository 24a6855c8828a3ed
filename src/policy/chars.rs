//! Characters that have no place in a command or a path: what hides text from the person who reads it, or
//! changes what a terminal shows.

/// The first refused character of a text, in words; `None` for a clean text. Newlines and tabs are clean.
pub fn refused(text: &str) -> Option<String> {
    text.chars()
        .find(|char| is_refused(*char))
        .map(|char| format!("the invisible or control character U+{:04X} is in the text", u32::from(char)))
}

fn is_refused(char: char) -> bool {
    #[expect(clippy::match_same_arms, reason = "each kind has its own line")]
    match char {
        '\n' | '\t' => false,
        // C0, DEL and C1.
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Soft hyphen, Arabic letter mark, Mongolian vowel separator, Hangul fillers.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        // Zero width, direction marks, line and paragraph separators, invisible operators, isolates.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // Byte order mark, interlinear annotations, object replacement.
        '\u{feff}' | '\u{fff9}'..='\u{fffc}' => true,
        // Variation selectors, tags, and the last of each plane.
        '\u{fe00}'..='\u{fe0e}' | '\u{e0000}'..='\u{e0fff}' => true,
        // Spaces that bash takes for letters.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => true,
        _ => u32::from(char) & 0xfffe == 0xfffe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_languages_are_clean() {
        for text in ["ls -la\n\tpwd", "café — 日本語", "ü Ω ж ع א", "🦀"] {
            assert_eq!(refused(text), None, "{text}");
        }
    }

    #[test]
    fn what_hides_is_refused() {
        for char in
            ['\u{1b}', '\r', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0072}', '\u{85}', '\u{b}', '\u{a0}']
        {
            assert!(refused(&format!("ls{char}x")).is_some(), "{:x}", u32::from(char));
        }
    }
}
