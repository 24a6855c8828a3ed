//! The fingerprint of an error: its words without what differs from one occurrence to the next.
//!
//! Paths, numbers, hex, times, lengths of time and UUIDs are masked. Whether something is an error at all is
//! not decided here.

use crate::base::text::{Clean, beginning};

/// Longest fingerprint in characters.
const MAX_CHARS: usize = 200;
/// As much of the text is looked at; the rest cannot get into the fingerprint.
const MAX_BYTES: usize = 16 << 10;
/// Words that belong to the number before them.
const UNITS: [&str; 22] = [
    "ns", "us", "µs", "ms", "s", "m", "h", "d", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "hours",
    "kb", "mb", "gb", "kib", "mib", "z",
];

/// The fingerprint of `text`: one line of at most 200 characters. Of a text of several lines, the lines that
/// speak of an error count, when there are any; progress around them differs from time to time.
pub fn fingerprint(text: &str) -> String {
    let clean = Clean::new(beginning(text, MAX_BYTES)).into_string().to_lowercase();
    let telling: Vec<&str> = clean.lines().filter(|line| speaks_of_an_error(line)).collect();
    let told = if telling.is_empty() { clean } else { telling.join(" ") };
    let mut print = String::new();
    let mut count = 0;
    for word in told.split_whitespace() {
        let masked = mask(word);
        // `12 34` and `12 34 56` are the same list of numbers; `12 ms` and `1 s` the same length.
        let after_number = print.ends_with(" #") || print == "#";
        if after_number && (masked == "#" || UNITS.contains(&masked.as_str())) {
            continue;
        }
        count += masked.chars().count() + 1;
        if count > MAX_CHARS {
            break;
        }
        if !print.is_empty() {
            print.push(' ');
        }
        print.push_str(&masked);
    }
    if print.is_empty() {
        // One word longer than the whole fingerprint.
        print = told.split_whitespace().next().map(mask).unwrap_or_default().chars().take(MAX_CHARS).collect();
    }
    print
}

/// Whether the line, in small letters, may say what went wrong.
pub fn speaks_of_an_error(line: &str) -> bool {
    ["error", "fail", "panic", "fatal", "exception", "denied", "refused", "not found", "cannot", "timed out"]
        .iter()
        .any(|word| line.contains(word))
}

/// Lines that name errors and report none: names of packages, and counts of zero.
const HARMLESS: [&str; 6] = ["compiling ", "downloading ", "downloaded ", " 0 failed", " 0 failures", " 0 errors"];

/// The line of a failed command's output that says what went wrong, as it is: the first that speaks of an error, else the
/// last that says anything.
pub fn telling_line(output: &str) -> Option<&str> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let tells = |line: &&str| {
        let line = line.to_lowercase();
        speaks_of_an_error(&line) && !HARMLESS.iter().any(|words| line.contains(words))
    };
    lines().find(tells).or_else(|| lines().next_back())
}

/// A word without what differs: paths become `<path>`, and every number in it `#`.
fn mask(word: &str) -> String {
    let core = word.trim_matches(|c: char| !(c.is_alphanumeric() || "/\\.~_#".contains(c)));
    if core.is_empty() {
        return word.to_owned();
    }
    let at = word.find(core).unwrap_or(0);
    let masked = if is_path(core) { "<path>".to_owned() } else { mask_numbers(core) };
    format!("{}{masked}{}", &word[..at], &word[at + core.len()..])
}

/// `a/b`, `C:\x`, `main.rs`, `main.rs:12:5`; not `and/or`-like words of letters only, not `1/2`.
fn is_path(word: &str) -> bool {
    let stem = word.split(':').next().unwrap_or(word);
    let rooted = word.starts_with(['/', '~', '.']) && word.contains('/');
    let slashes = word.matches(['/', '\\']).count();
    let file = stem.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..=5).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && !name.chars().all(|c| c.is_ascii_digit() || c == '.')
    });
    rooted || slashes >= 2 || (file && (slashes > 0 || !stem.contains("::"))) || word.contains(":\\")
}

/// Every run of digits (with what joins numbers: `12:30`, `1.5`, `2026-11-21t10:00z`), hex number, UUID and
/// length of time becomes `#`.
fn mask_numbers(word: &str) -> String {
    let joins = |c: char| ".,:-+/".contains(c);
    let mut out = String::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        if !first.is_alphanumeric() {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        out.push_str(&mask_token(token));
        rest = after;
        // A joint between two numbers belongs to them.
        if out.ends_with('#') {
            let next = rest.trim_start_matches(joins);
            let until = next.find(|c: char| !c.is_alphanumeric()).unwrap_or(next.len());
            if next.len() < rest.len() && mask_token(&next[..until]) == "#" {
                out.pop();
                rest = next;
            }
        }
    }
    out
}

fn mask_token(token: &str) -> String {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 {
        return token.to_owned();
    }
    let bare = token.strip_prefix("0x").unwrap_or(token);
    let hex = bare.len() >= 4 && bare.bytes().all(|b| b.is_ascii_hexdigit());
    let unit = token.trim_start_matches(|c: char| c.is_ascii_digit());
    let length = digits == token.len() - unit.len() && (unit.is_empty() || UNITS.contains(&unit));
    let time = token.contains('t') && token.bytes().all(|b| b.is_ascii_digit() || b == b't' || b == b'z');
    // `0x…` and `1m05s`
    let mixed = token.starts_with("0x") || token.bytes().all(|b| b.is_ascii_digit() || b"hms".contains(&b));
    if hex || length || time || mixed {
        return "#".to_owned();
    }
    // Names with numbers in them: `thread4`, but `e0308` and `ts2345` are the error's own name.
    let letters = token.trim_end_matches(|c: char| c.is_ascii_digit());
    if letters.len() >= 4 && letters.bytes().all(|b| b.is_ascii_alphabetic()) {
        format!("{letters}#")
    } else {
        token.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_same_error_twice_is_one() {
        let pairs = [
            ("error: src/a.rs:3:5: no such thing", "error: src/lib/b.rs:88:1: no such thing"),
            ("thread 'main' panicked at src/main.rs:4:5", "thread 'main' panicked at src/main.rs:9:13"),
            (
                "request 6f1c2d3e-0a1b-4c5d-8e9f-001122334455 failed",
                "request 11111111-2222-3333-4444-555555555555 failed",
            ),
            ("timed out after 12.5s", "timed out after 900 ms"),
            ("timed out after 1m05s", "timed out after 59s"),
            ("2026-11-21T10:00:01.120Z error: x", "2026-01-02T23:59:59Z error: x"),
            ("fault at 0x7ffe12ab in frame 3", "fault at 0xdeadbeef in frame 12"),
            ("at commit 9f8e7d6 build failed", "at commit 1a2b3c4d5e build failed"),
            (
                "   Compiling x v0.1\nerror: cannot find `y`",
                "   Compiling z v3\n   Compiling x v0.1\nerror: cannot find `y`",
            ),
            ("\u{1b}[31mError:\u{1b}[0m exit code 2", "error: exit code 101"),
            ("Cannot open C:\\Users\\a\\x.txt", "cannot open C:\\b\\y.txt"),
            ("3 tests failed", "17 tests failed"),
            ("worker-12 failed on port 8080", "worker-3 failed on port 9090"),
        ];
        for (one, other) in pairs {
            assert_eq!(fingerprint(one), fingerprint(other), "{one} / {other}");
        }
    }

    #[test]
    fn different_errors_stay_different() {
        let pairs = [
            ("error[E0308]: mismatched types", "error[E0425]: cannot find value"),
            ("error TS2345: x", "error TS1005: x"),
            ("connection refused", "connection reset"),
            ("cannot find `a`", "cannot find `b`"),
        ];
        for (one, other) in pairs {
            assert_ne!(fingerprint(one), fingerprint(other), "{one} / {other}");
        }
        assert_eq!(fingerprint(""), "");
    }

    proptest! {
        #[test]
        fn is_one_short_line(text in "\\PC{0,300}|[a-z0-9/.:\\-\n ]{0,600}") {
            let print = fingerprint(&text);
            prop_assert!(print.chars().count() <= MAX_CHARS);
            prop_assert!(!print.contains('\n'));
        }
    }
}
