//! Lone surrogate escapes: Claude's CLI prints `\ud83c` where it cut an emoji in two, and JSON parsers
//! refuse the whole line, which may be the `result` record. Never drop such a line: repair it.

use std::borrow::Cow;

/// Replaces every `\uD8xx`…`\uDFxx` escape that has no partner by `\ufffd`. Borrowed when there is none.
pub fn surrogates(line: &[u8]) -> Cow<'_, [u8]> {
    let mut out: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &line[at..]) {
        let here = at + found;
        match surrogate(&line[here..]) {
            // A pair stays; any other escape (also `\\`) is two bytes long at least.
            Some(Half::High) if matches!(line.get(here + 6..).and_then(surrogate), Some(Half::Low)) => {
                at = here + 12;
            }
            Some(_) => {
                out.get_or_insert_with(|| line.to_vec())[here..here + 6].copy_from_slice(b"\\ufffd");
                at = here + 6;
            }
            None => at = here + 2,
        }
        if at >= line.len() {
            break;
        }
    }
    out.map_or(Cow::Borrowed(line), Cow::Owned)
}

enum Half {
    High,
    Low,
}

fn surrogate(bytes: &[u8]) -> Option<Half> {
    let [b'\\', b'u', b'd' | b'D', second, third, fourth, ..] = bytes else { return None };
    if !third.is_ascii_hexdigit() || !fourth.is_ascii_hexdigit() {
        return None;
    }
    match second {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' => Some(Half::High),
        b'c'..=b'f' | b'C'..=b'F' => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_change() {
        let cases: [(&[u8], &[u8]); 7] = [
            (br#"{"a":"\ud83d\ude00"}"#, br#"{"a":"\ud83d\ude00"}"#),
            (br#"{"a":"\ud83c"}"#, br#"{"a":"\ufffd"}"#),
            (br#"{"a":"\ude00x"}"#, br#"{"a":"\ufffdx"}"#),
            (br#"{"a":"\ud83c\ud83d\ude00"}"#, br#"{"a":"\ufffd\ud83d\ude00"}"#),
            (br#"{"a":"\\ud83c"}"#, br#"{"a":"\\ud83c"}"#),
            (br#"{"a":"\\\ud83c"}"#, br#"{"a":"\\\ufffd"}"#),
            (br"\u", br"\u"),
        ];
        for (given, expected) in cases {
            assert_eq!(surrogates(given).as_ref(), expected, "{}", String::from_utf8_lossy(given));
        }
    }
}
