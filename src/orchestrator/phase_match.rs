//! Finds the phase that a claim speaks of. Claude repeats a phase's text from memory: with other
//! punctuation, without its number, cut short, with a slip of the pen.
//!
//! Four steps, each only if the one before found nothing, and each only among phases that are not done:
//! the same text; the same words; one text contained in the other; the same words but for small slips.
//! Where several phases fit, or a number differs, nothing is found: a dispute is cheap, a wrong tick is not.

use crate::domain::ticket::PhaseSettings;

/// The index in `incomplete` of the phase that `claimed` means; `None` when that is not certain.
pub fn find(claimed: &str, incomplete: &[&str]) -> Option<usize> {
    let claimed = PhaseSettings::off(claimed.trim());
    if let Some(at) = incomplete.iter().position(|phase| phase.trim() == claimed) {
        return Some(at);
    }
    let claim = Name::of(claimed);
    let names: Vec<Name> = incomplete.iter().map(|phase| Name::of(phase)).collect();
    let steps: [fn(&Name, &Name) -> bool; 3] = [same, contained, alike];
    for fits in steps {
        let mut fitting = (0..names.len()).filter(|&at| !claim.contradicts(&names[at]) && fits(&claim, &names[at]));
        match (fitting.next(), fitting.next()) {
            (Some(at), None) => return Some(at),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
    }
    None
}

/// The number that a phase carries in its text: 3 of `Phase 3: Test`, of `3. Test` and of `3 - Test`, none of `3rd test`.
pub fn carried_number(text: &str) -> Option<usize> {
    Name::of(text).number?.parse().ok()
}

/// Fewest letters and digits of a text that may be found inside another.
const MIN_CONTAINED: usize = 8;
/// Fewest letters and digits of a text that may be found with slips.
const MIN_ALIKE: usize = 12;
/// Fewest letters of a word that may hold a slip.
const MIN_WORD: usize = 5;

/// A phase's text, taken apart.
struct Name {
    /// `phase` or `step`.
    kind: Option<String>,
    /// `2` of `Phase 2: …` and of `2. …`.
    number: Option<String>,
    /// The rest as words: lower case, without markup and punctuation.
    words: Vec<String>,
}

impl Name {
    fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let mut rest = lower.trim_matches(is_markup);
        for tick in ["[ ]", "[x]"] {
            rest = rest.strip_prefix(tick).unwrap_or(rest);
            rest = rest.strip_suffix(tick).unwrap_or(rest).trim_matches(is_markup);
        }
        let after_kind = ["phase", "step"].into_iter().find_map(|kind| {
            let rest = rest.strip_prefix(kind)?;
            let rest = rest.strip_prefix(char::is_whitespace)?.trim_start();
            rest.starts_with(|c: char| c.is_ascii_digit()).then_some((kind, rest))
        });
        let (kind, rest) = after_kind.map_or((None, rest), |(kind, rest)| (Some(kind), rest));
        let (number, rest) = number(rest, kind.is_some());
        Self { kind: kind.map(str::to_owned), number, words: words(rest) }
    }

    /// Both are numbered, and differently: never the same phase, whatever the words.
    fn contradicts(&self, other: &Self) -> bool {
        let differ = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
        differ(&self.kind, &other.kind) || differ(&self.number, &other.number)
    }

    fn letters(&self) -> String {
        self.words.concat()
    }
}

/// Splits off a leading number: `2`, `2b`, `1.3`. Without the word `phase` before it, only a `.`, `)`, `:`
/// or a dash makes it one ("3 tests fail" begins with no number of a phase).
fn number(text: &str, after_kind: bool) -> (Option<String>, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number = text[..end].trim_end_matches('.');
    let mut rest = &text[number.len()..];
    let mut full = number.to_owned();
    if let Some(letter) = rest.chars().next().filter(char::is_ascii_lowercase)
        && !rest[1..].starts_with(char::is_alphanumeric)
    {
        full.push(letter);
        rest = &rest[1..];
    }
    let dash = [" - ", " – ", " — "].iter().any(|dash| rest.starts_with(dash));
    let closed = rest.starts_with(['.', ')', ':']) || dash || after_kind;
    if number.is_empty() || !closed || rest.starts_with(char::is_alphanumeric) {
        return (None, text);
    }
    (Some(full), rest)
}

fn is_markup(c: char) -> bool {
    c.is_whitespace() || "*_`~#-+\"'“”„‘’".contains(c)
}

fn words(text: &str) -> Vec<String> {
    // A link's target says nothing about the phase.
    let mut plain = text.to_owned();
    while let Some(open) = plain.find("](")
        && let Some(close) = plain[open..].find(')')
    {
        plain.replace_range(open..=open + close, " ");
    }
    plain
        .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '/'))
        .map(|word| word.trim_matches(|c| c == '_' || c == '/'))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The same words, or at least the same letters ("log-in" and "login"). A claim of a mere "Phase 2" means
/// the phase with that number.
fn same(claim: &Name, phase: &Name) -> bool {
    if claim.words.is_empty() || phase.words.is_empty() {
        return claim.number.is_some() && claim.number == phase.number;
    }
    claim.words == phase.words || claim.letters() == phase.letters()
}

/// The words of one stand together in the other; of a claim that was cut off, the last word may be a part.
fn contained(claim: &Name, phase: &Name) -> bool {
    let numbered_alike = claim.number.is_some() && claim.number == phase.number;
    let long_enough =
        |name: &Name| !name.words.is_empty() && (numbered_alike || name.letters().chars().count() >= MIN_CONTAINED);
    let within = |part: &Name, whole: &Name| {
        long_enough(part) && whole.words.windows(part.words.len()).any(|window| window == part.words)
    };
    within(claim, phase) || within(phase, claim) || (long_enough(claim) && cut_off(claim, phase))
}

/// The claim is the beginning of the phase, cut inside a word (or before an ellipsis).
fn cut_off(claim: &Name, phase: &Name) -> bool {
    let Some((last, before)) = claim.words.split_last() else { return false };
    let Some((start, next)) = phase.words.get(..before.len()).zip(phase.words.get(before.len())) else { return false };
    let ends_in_letter = last.ends_with(char::is_alphabetic);
    start == before && ends_in_letter && next.starts_with(last.as_str())
}

/// As many words, the same but for at most one slip in three, and each slip small: one letter wrong, missing,
/// too many, or two swapped, in a word of some length without digits.
fn alike(claim: &Name, phase: &Name) -> bool {
    if claim.words.len() != phase.words.len() || claim.letters().chars().count() < MIN_ALIKE {
        return false;
    }
    let mut slips = 0;
    for (ours, theirs) in claim.words.iter().zip(&phase.words) {
        if ours != theirs {
            if !one_slip(ours, theirs) {
                return false;
            }
            slips += 1;
        }
    }
    slips * 3 <= claim.words.len().max(3)
}

fn one_slip(a: &str, b: &str) -> bool {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let (short, long) = if a.len() <= b.len() { (&a, &b) } else { (&b, &a) };
    if short.len() < MIN_WORD || short.iter().chain(long).any(|c| c.is_numeric()) {
        return false;
    }
    let same_start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    // A slip at the very start is more often another word ("encode", "decode").
    if same_start == 0 {
        return false;
    }
    let (short, long) = (&short[same_start..], &long[same_start..]);
    match long.len() - short.len() {
        0 => {
            short.get(1..) == long.get(1..)
                || (short.len() >= 2 && short[0] == long[1] && short[1] == long[0] && short[2..] == long[2..])
        }
        1 => *short == long[1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn settings_of_a_phase_are_no_part_of_its_name() {
        assert_eq!(find("Greet <!-- model: opus -->", &["Ask", "Greet"]), Some(1));
        assert_eq!(find("Greet <!-- a note -->", &["Ask", "Greet"]), None, "its words differ");
    }

    #[test]
    fn finds_what_is_certain_and_nothing_else() {
        let cases: &[(&str, &[&str], Option<usize>)] = &[
            // The same text; of two, the first.
            ("Write the parser", &["Read", "Write the parser"], Some(1)),
            (" a ", &["a", "a"], Some(0)),
            ("ü", &["u", "ü"], Some(1)),
            // The same words.
            ("investigation", &["Phase 1: Investigation", "Phase 2: Implementation"], Some(0)),
            ("Phase 2 - **Implementation**.", &["Phase 1: Investigation", "Phase 2: Implementation"], Some(1)),
            ("## Step 3. `parse_line()` [x]", &["Step 3: parse_line"], Some(0)),
            ("- [x] Add [docs](https://x.y/z)", &["Add docs"], Some(0)),
            ("Log-in form", &["Login form", "Logout form"], Some(0)),
            ("GRÖSSE  PRÜFEN", &["Phase 1: größe", "Grösse prüfen"], Some(1)),
            ("解析器を書く", &["テストを書く", "解析器を書く"], Some(1)),
            // Numbers.
            ("Phase 1", &["Phase 10: Ship", "Phase 1: Plan"], Some(1)),
            ("Phase 1", &["Phase 10: Ship"], None),
            ("Phase 2", &["Phase 12: Two"], None),
            ("Phase 2", &["First", "Second"], None),
            ("2", &["Phase 2: A"], None),
            ("Phase 2: Tests", &["Phase 1: Tests", "Phase 3: Tests"], None),
            ("Tests", &["Phase 1: Tests", "Phase 3: Tests"], None),
            ("Phase 3: Tests", &["Phase 1: Tests", "Phase 3: Tests"], Some(1)),
            ("Step 1: Set up the thing", &["Phase 1: Set up the thing"], None),
            ("Phase 1: Set up", &["1. Set up", "2. Build"], Some(0)),
            ("Phase 2b: Fix it up", &["Phase 2a: Fix it up", "Phase 2b: Fix it up now"], Some(1)),
            ("Phase 2b", &["Phase 2a: Plan", "Phase 2b: Fix it up"], Some(1)),
            ("Phase 2: tests", &["Phase 2: Write tests", "Phase 3: Run tests"], Some(0)),
            ("Phase 1.2: Parser", &["Phase 1.3: Parser", "Phase 1.2 Parser"], Some(1)),
            ("3 tests were added", &["3. Write tests"], None),
            // Contained.
            ("Phase 1: Investigation (done)", &["Phase 1: Investigation"], Some(0)),
            ("Implement the login form with vali", &["Implement the login form with validation", "Ship"], Some(0)),
            ("Implement the login form…", &["Implement the login form with validation", "Ship"], Some(0)),
            ("Implement the lo", &["Implement the login", "Implement the logout"], None),
            ("Add endpoint v1", &["Add endpoint v10"], None),
            ("tests", &["Write the tests"], None),
            ("I wrote the tests and all else", &["tests"], None),
            ("the", &["Implement the parser"], None),
            // Slips.
            ("Implment the parser", &["Implement the parser", "Ship"], Some(0)),
            ("Implement the praser", &["Implement the parser", "Implement the lexer"], Some(0)),
            ("Add error messages for clients", &["Add error message for clients"], Some(0)),
            ("Implement the parser", &["Implement the lexer"], None),
            ("Implement module Ab", &["Implement module Ac"], None),
            ("Support version 12 files", &["Support version 13 files"], None),
            ("Encode the records", &["Decode the records"], None),
            ("Enable the new cache", &["Disable the new cache"], None),
            ("Import all the data", &["Export all the data"], None),
            ("Implement the parsers", &["Implement the parser", "Implement the parserz"], None),
            // Nothing to go by.
            ("", &["a", "b"], None),
            ("***", &["***a***"], None),
            ("a", &[], None),
            ("completely different", &["Implement the parser"], None),
        ];
        for (claimed, incomplete, expected) in cases {
            assert_eq!(find(claimed, incomplete), *expected, "{claimed:?} in {incomplete:?}");
        }
    }

    proptest! {
        #[test]
        fn a_phase_is_found_by_its_own_text_and_any_text_is_taken(
            phases in prop::collection::vec("\\PC{0,20}", 0..5),
            claimed in "\\PC{0,30}",
        ) {
            let phases: Vec<&str> = phases.iter().map(String::as_str).collect();
            for phase in &phases {
                let found = find(phase, &phases).map(|at| phases[at].trim());
                prop_assert_eq!(found, Some(phase.trim()));
            }
            if let Some(at) = find(&claimed, &phases) {
                prop_assert!(at < phases.len());
            }
        }
    }
}
