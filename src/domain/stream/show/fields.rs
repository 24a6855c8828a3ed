//! Lenient reading of one JSON object: any field may be missing, of another type, or hold half a
//! surrogate pair; a line that was cut short is closed so that its beginning can be read.
//!
//! Used for the few records that are on the screen, so clarity counts for more than speed here; the path that every
//! record takes is `domain::stream::envelope`.

use crate::domain::stream::repair;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The fields of one object, unread. Of two with the same name the last counts.
#[derive(Deserialize, Default)]
#[serde(transparent)]
pub(super) struct Fields<'a> {
    #[serde(borrow)]
    all: BTreeMap<String, &'a RawValue>,
}

impl<'a> Fields<'a> {
    /// Reads an object; `None` when `json` is none.
    pub(super) fn read(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    /// The field as it stands; `None` when missing or `null`.
    pub(super) fn raw(&self, key: &str) -> Option<&'a RawValue> {
        self.all.get(key).copied().filter(|raw| raw.get() != "null")
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.keys().map(String::as_str)
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        text(self.raw(key)?)
    }

    pub(super) fn number(&self, key: &str) -> Option<f64> {
        serde_json::from_str(self.raw(key)?.get()).ok()
    }

    /// The field as a count; fractions are cut off, negative numbers are none.
    pub(super) fn count(&self, key: &str) -> Option<u64> {
        self.number(key).filter(|n| *n >= 0.0).map(|n| n as u64)
    }

    /// The field is `true`.
    pub(super) fn is(&self, key: &str) -> bool {
        self.raw(key).is_some_and(|raw| raw.get() == "true")
    }

    pub(super) fn object(&self, key: &str) -> Option<Self> {
        Self::read(self.raw(key)?.get())
    }

    /// The field as a list; empty when it is none.
    pub(super) fn list(&self, key: &str) -> Vec<&'a RawValue> {
        self.raw(key).map(list).unwrap_or_default()
    }
}

/// A JSON string; half surrogate pairs become U+FFFD.
pub(super) fn text(raw: &RawValue) -> Option<String> {
    let json = raw.get();
    if !json.starts_with('"') {
        return None;
    }
    serde_json::from_str(json).or_else(|_| serde_json::from_slice(&repair::surrogates(json.as_bytes()))).ok()
}

/// A JSON list; empty when `raw` is none.
pub(super) fn list(raw: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// Makes the beginning of a JSON object whole: ends what is open. The last value may be shortened or lost.
pub(super) fn close(cut: &str) -> String {
    let mut open: Vec<char> = Vec::new();
    let mut in_string = false;
    let mut escape = None;
    // Where the last complete member ended, and what was open there.
    let mut safe: (usize, Vec<char>) = (0, Vec::new());
    for (at, byte) in cut.bytes().enumerate() {
        if in_string {
            match (escape, byte) {
                (Some(1), b'u') => escape = Some(5),
                (Some(1), _) => escape = None,
                (Some(n), _) => escape = Some(n - 1),
                (None, b'\\') => escape = Some(1),
                (None, b'"') => in_string = false,
                _ => {}
            }
            if escape == Some(0) {
                escape = None;
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop();
            }
            b',' => safe = (at, open.clone()),
            _ => {}
        }
    }
    let mut base = cut;
    if escape.is_some() {
        // Half an escape at the end: back to its backslash.
        base = &cut[..cut.rfind('\\').unwrap_or(cut.len())];
    }
    let closers: String = open.iter().rev().collect();
    let endings: [&str; 2] = if in_string { ["\"", "\":null"] } else { ["", "null"] };
    for ending in endings {
        let whole = format!("{base}{ending}{closers}");
        if Fields::read(&whole).is_some() {
            return whole;
        }
    }
    let closers: String = safe.1.iter().rev().collect();
    format!("{}{closers}", &cut[..safe.0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn any_field_may_be_anything() {
        let fields = Fields::read(r#"{"a":1,"b":"x\ud83c","c":null,"d":[1,"2"],"e":{"f":true}}"#).expect("an object");
        assert_eq!(fields.text("a"), None);
        assert_eq!(fields.count("a"), Some(1));
        assert_eq!(fields.text("b").as_deref(), Some("x\u{fffd}"));
        assert!(fields.raw("c").is_none());
        assert_eq!(fields.list("d").len(), 2);
        assert!(fields.list("a").is_empty());
        assert!(fields.object("e").expect("an object").is("f"));
        assert!(Fields::read("[1]").is_none());
    }

    #[test]
    fn the_beginning_of_a_cut_text_is_kept() {
        let whole = r#"{"type":"x","content":[{"text":"one\ntwo\u00e9 three"}]}"#;
        let cut = &whole[..whole.find("three").expect("in there")];
        let closed = close(cut);
        let fields = Fields::read(&closed).expect("closed");
        let block = Fields::read(fields.list("content")[0].get()).expect("an object");
        assert_eq!(block.text("text").as_deref(), Some("one\ntwoé "));
    }

    proptest! {
        #[test]
        fn a_cut_anywhere_can_be_read(cut in 1_usize..200) {
            let whole = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"a\"b\\","is_error":true,"n":-1.5e3}]},"x":[1,2,{"y":null}],"z":"\ud83d\ude00 end"}"#;
            let cut = cut.min(whole.len());
            let closed = close(&whole[..cut]);
            prop_assert!(Fields::read(&closed).is_some() || cut < 9, "{}", closed);
        }
    }
}
