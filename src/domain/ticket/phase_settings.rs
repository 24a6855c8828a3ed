//! What a ticket says of the work on one of its phases, in a comment behind the phase's text or on the next line:
//! `<!-- model: opus, critique: off -->`. A comment that begins otherwise is a comment.

use serde::{Deserialize, Serialize};

/// What a phase has of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseSettings {
    /// `--model` for work on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `--effort` for work on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// A critic looks at it, or not, where commands have checked it; what no command checks is the workflow's to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critique: Option<bool>,
}

const KEYS: [&str; 3] = ["model", "effort", "critique"];

impl PhaseSettings {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// As the ticket has it, in one order.
    pub fn words(&self) -> String {
        let critique = self.critique.map(|on| if on { "on" } else { "off" }.to_owned());
        let all = [("model", &self.model), ("effort", &self.effort), ("critique", &critique)];
        let set = all.into_iter().filter_map(|(key, value)| Some(format!("{key}: {}", value.as_ref()?)));
        set.collect::<Vec<_>>().join(", ")
    }

    /// A text with such a comment behind it, where there is anything to say.
    pub fn behind(&self, text: &str) -> String {
        if self.is_empty() { text.to_owned() } else { format!("{text} <!-- {} -->", self.words()) }
    }

    /// A text with the comment behind it as programmator writes it; one that it cannot read stays as it is.
    pub fn tidied(text: &str) -> String {
        let inside = split(text.as_bytes()).1.and_then(|inside| std::str::from_utf8(inside).ok());
        match inside.and_then(Self::read) {
            Some((settings, wrong)) if wrong.is_empty() => settings.behind(Self::off(text)),
            _ => text.to_owned(),
        }
    }

    /// A text without such a comment behind it.
    pub fn off(text: &str) -> &str {
        std::str::from_utf8(split(text.as_bytes()).0).map_or(text, str::trim_end)
    }

    /// A text without any such comment behind it: of two, the one in front would count when the other is gone.
    pub fn bare(text: &str) -> &str {
        let mut bare = text.trim_end();
        while Self::off(bare) != bare {
            bare = Self::off(bare);
        }
        bare
    }

    /// Reads the inside of a comment; the errors say what cannot be used. `None`: it is an ordinary comment.
    pub(super) fn read(comment: &str) -> Option<(Self, Vec<String>)> {
        let key = |part: &str| part.split_once(':').map(|(key, _)| key.trim().to_owned());
        if !comment.split(',').filter_map(key).any(|key| KEYS.contains(&key.as_str())) {
            return None;
        }
        let (mut settings, mut wrong) = (Self::default(), Vec::new());
        for part in comment.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once(':').map_or((part, ""), |(key, value)| (key.trim(), value.trim()));
            let is_word = !value.is_empty() && !value.contains(char::is_whitespace) && !value.starts_with('-');
            match (key, value) {
                ("model", _) if is_word => settings.model = Some(value.to_owned()),
                ("effort", _) if is_word => settings.effort = Some(value.to_owned()),
                ("critique", "on") => settings.critique = Some(true),
                ("critique", "off") => settings.critique = Some(false),
                _ => {
                    wrong.push(format!("unknown phase setting `{part}`; use model, effort, or critique: on or off"));
                }
            }
        }
        Some((settings, wrong))
    }
}

/// A line that holds such a comment alone: it belongs to the phase above it.
pub(super) fn is_line(line: &str) -> bool {
    let inside = line.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
    inside.is_some_and(|inside| PhaseSettings::read(inside).is_some())
}

/// A text without the comment of settings at its end, and the inside of that.
pub(super) fn split(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let trimmed = text.trim_ascii_end();
    let inside = trimmed.strip_suffix(b"-->").and_then(|head| {
        let at = head.windows(4).rposition(|four| four == b"<!--")?;
        let inside = &head[at + 4..];
        let is_read = std::str::from_utf8(inside).is_ok_and(|text| PhaseSettings::read(text).is_some());
        is_read.then_some((at, inside))
    });
    match inside {
        Some((at, inside)) if !text[..at].trim_ascii().is_empty() => (&text[..at], Some(inside)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_settings_is_told_from_others() {
        let read = |text: &str| PhaseSettings::read(text).map(|(settings, wrong)| (settings.words(), wrong.len()));
        for (text, expected) in [
            (" model: opus, critique: off ", Some(("model: opus, critique: off", 0))),
            ("critique:on,effort: high", Some(("effort: high, critique: on", 0))),
            ("model: opus, colour: red, critique", Some(("model: opus", 2))),
            ("critique: maybe", Some(("", 1))),
            ("model: --dangerously", Some(("", 1))),
            ("a note", None),
            ("See: this", None),
            ("todo: fix it, later", None),
        ] {
            let expected = expected.map(|(words, wrong)| (words.to_owned(), wrong));
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn only_such_a_comment_is_taken_off_a_text() {
        for (text, rest, inside) in [
            ("Do it <!-- model: opus -->  ", "Do it ", Some(" model: opus ")),
            ("Do it <!-- a note -->", "Do it <!-- a note -->", None),
            ("Do it", "Do it", None),
            ("<!-- model: opus -->", "<!-- model: opus -->", None),
            ("a --> <!-- b --> c", "a --> <!-- b --> c", None),
        ] {
            let (left, found) = split(text.as_bytes());
            assert_eq!((left, found), (rest.as_bytes(), inside.map(str::as_bytes)), "{text}");
        }
    }
}
