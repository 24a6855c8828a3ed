//! The priority that words ask for: from 0, the highest, to 4; `tk` has 2 where nothing is said.

/// Words of each priority, those of the first row that has one.
const WORDS: [(u8, &[&str]); 5] = [
    (0, &["critical", "urgent", "blocker", "p0"]),
    (4, &["p4", "backlog", "won't"]),
    (3, &["nice to have", "nice-to-have", "optional", "future", "later", "low priority", "low", "could", "p3"]),
    (1, &["breaking", "security", "high", "important", "must", "needed", "required", "p1"]),
    (2, &["medium", "should", "p2"]),
];

/// What the words of a text ask for.
pub(super) fn of(text: &str) -> Option<u8> {
    let lower = text.to_lowercase();
    let words: String = lower.chars().map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' }).collect();
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    let has = |word: &&str| words.contains(&format!(" {} ", word.replace('-', " ")));
    WORDS.iter().find(|(_, all)| all.iter().any(has)).map(|(priority, _)| *priority)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_count_whole() {
        let cases = [
            ("Critical: data loss", Some(0)),
            ("Must log out (P1)", Some(1)),
            ("## Medium Priority", Some(2)),
            ("Nice-to-have", Some(3)),
            ("Low priority", Some(3)),
            ("Future enhancements", Some(3)),
            ("Flow of mustard", None),
            ("P10", None),
        ];
        for (text, expected) in cases {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
