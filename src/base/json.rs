//! JSON that is safe to show: what a terminal would obey is written as `\\u` escapes. For a machine it is the same value.

use super::text::Clean;
use serde::Serialize;

pub fn line<T: Serialize>(value: &T) -> serde_json::Result<String> {
    serde_json::to_string(value).map(escaped)
}

/// On several lines, set in.
pub fn pretty<T: Serialize>(value: &T) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(escaped)
}

/// JSON itself escapes only C0; the rest can stand in strings alone, so that escapes may take its place.
fn escaped(json: String) -> String {
    let plain = |c: char| matches!(c, '\n' | ' '..='~');
    if json.chars().all(plain) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if plain(c) || !Clean::new(c.encode_utf8(&mut [0; 4])).as_str().is_empty() {
            out.push(c);
        } else {
            let units = &mut [0; 2];
            out.extend(c.encode_utf16(units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped_and_means_the_same() {
        let text = "a\u{1b}\u{7f}\u{9d}\u{85}\u{202e}\u{e0041}é日e\u{301}";
        let json = line(&text).unwrap();
        assert_eq!(json, "\"a\\u001b\\u007f\\u009d\\u0085\\u202e\\udb40\\udc41é日e\u{301}\"");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert_eq!(serde_json::from_str::<Vec<String>>(&pretty(&[text]).unwrap()).unwrap(), [text]);
    }
}
