//! Words that are signs: of questions, of completion, of tests, of work. The lists are files of ours, one phrase to a
//! line, `#` for comments; a phrase is found as whole words, in any letter case.
//!
//! Only what Claude says counts: code blocks, quotes and comments of markup show other people's words.

use std::sync::LazyLock;

static QUESTIONS: LazyLock<Vec<Phrase>> = LazyLock::new(|| phrases(include_str!("words/questions.txt")));
static COMPLETION: LazyLock<Vec<Phrase>> = LazyLock::new(|| phrases(include_str!("words/completion.txt")));
static NOTHING_LEFT: LazyLock<Vec<Phrase>> = LazyLock::new(|| phrases(include_str!("words/nothing_left.txt")));
static TEST_RUNNERS: LazyLock<Vec<Phrase>> = LazyLock::new(|| phrases(include_str!("words/test_runners.txt")));
static IMPLEMENTATION: LazyLock<Vec<Phrase>> = LazyLock::new(|| phrases(include_str!("words/implementation.txt")));

/// One line of a list: as written, and as it is looked for.
struct Phrase {
    written: &'static str,
    sought: String,
}

fn phrases(file: &'static str) -> Vec<Phrase> {
    let lines = file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|written| Phrase { written, sought: words_of(written) }).collect()
}

/// The first phrase of the list in which `text` asks the person something.
pub fn question(text: &str) -> Option<&'static str> {
    found(&QUESTIONS, text)
}

/// The text says that the work is complete.
pub fn completes(text: &str) -> bool {
    found(&COMPLETION, text).is_some()
}

/// The text says that there was nothing to do.
pub fn nothing_left(text: &str) -> bool {
    found(&NOTHING_LEFT, text).is_some()
}

/// The text speaks of running tests and of no other work.
pub fn tests_only(text: &str) -> bool {
    found(&TEST_RUNNERS, text).is_some() && found(&IMPLEMENTATION, text).is_none()
}

fn found(list: &[Phrase], text: &str) -> Option<&'static str> {
    let words = words_of(&spoken(text));
    list.iter().find(|phrase| words.contains(&phrase.sought)).map(|phrase| phrase.written)
}

/// The text without its code blocks and quotes.
fn spoken(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut spoken = String::with_capacity(text.len());
    for line in text.lines() {
        let bare = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        match (fence, mark) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) if !bare.starts_with('>') => {
                spoken.push_str(line);
                spoken.push('\n');
            }
            _ => {}
        }
    }
    // A fence that never closes hides nothing: somebody forgot it.
    if fence.is_some() { text.to_owned() } else { spoken }
}

/// Lower-case words with one blank before, between and behind them; all else divides.
fn words_of(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(' ');
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            out.extend(c.to_lowercase());
        } else if matches!(c, '\'' | '’') {
            out.push('\'');
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}
