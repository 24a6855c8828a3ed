//! The door to the parser: what is too deep or too large for it stays outside, and its options are set in one
//! place. Claude runs bash with `extglob` off.

use brush_parser::ast::Program;
use brush_parser::word::{self, BraceExpressionOrText, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};

/// Whose grammar a text is read by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grammar {
    Bash,
    /// POSIX `sh`, which knows less: `sh -c` is read both ways.
    Sh,
}

fn options(grammar: Grammar) -> ParserOptions {
    ParserOptions { enable_extended_globbing: false, sh_mode: grammar == Grammar::Sh, ..ParserOptions::default() }
}

/// The tree of a script. The error says where it ends to make sense.
pub fn program(text: &str, grammar: Grammar) -> Result<Program, String> {
    let mut parser = Parser::new(text.as_bytes(), &options(grammar));
    parser.parse_program().map_err(|error| format!("not valid bash: {error}"))
}

pub fn word(text: &str) -> Option<Vec<WordPieceWithSource>> {
    word::parse(text, &options(Grammar::Bash)).ok()
}

/// The pieces of a here-document that is expanded.
pub fn heredoc(text: &str) -> Option<Vec<WordPieceWithSource>> {
    word::parse_heredoc(text, &options(Grammar::Bash)).ok()
}

/// The parts of a word with braces.
pub fn braces(text: &str) -> Option<Vec<BraceExpressionOrText>> {
    word::parse_brace_expansions(text, &options(Grammar::Bash)).ok().flatten()
}

/// Why a text is kept from the parser: it would overflow its stack, take too long, or make it panic.
pub fn refused(text: &str, max_openers: usize, max_substitutions: usize) -> Option<String> {
    if openers(text) > max_openers {
        return Some(format!("it opens more than {max_openers} brackets and blocks"));
    }
    if substitutions(text) > max_substitutions {
        return Some(format!("its substitutions are more than {max_substitutions} deep"));
    }
    let joined = text.replace("\\\n", "");
    if joined.len() != text.len() && text.contains("$'") {
        return Some("a line continues inside $'…'".to_owned());
    }
    if document_in_expansion(&joined) {
        return Some("a here-document may begin inside an expansion".to_owned());
    }
    overflows(&joined).then(|| "a number in it is too large".to_owned())
}

/// Signs and words that open something, wherever they stand.
fn openers(text: &str) -> usize {
    const WORDS: [&str; 9] = ["if", "for", "while", "until", "case", "coproc", "select", "function", "time"];
    let signs = text.chars().filter(|char| matches!(char, '(' | '{' | '[' | '`' | '!')).count();
    let words = text.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| WORDS.contains(word)).count();
    signs + words
}

/// How deep `$(`, `${`, `<(` and their like stand in each other, at most.
fn substitutions(text: &str) -> usize {
    let (mut open, mut deepest) = (Vec::new(), 0);
    let mut before = ' ';
    for char in text.chars() {
        match char {
            '(' if matches!(before, '$' | '<' | '>') => open.push(')'),
            '(' if !open.is_empty() => open.push(')'),
            '{' if before == '$' => open.push('}'),
            '[' if before == '$' => open.push(']'),
            _ if open.last() == Some(&char) => {
                open.pop();
            }
            _ => {}
        }
        deepest = deepest.max(open.len());
        before = char;
    }
    deepest
}

/// Whether `<<` may stand inside of `${…}`: the parser takes what follows for a here-document, bash runs it. Where an
/// expansion with quotes or another one in it ends is not looked for.
fn document_in_expansion(text: &str) -> bool {
    let text = text.replace("<<<", " ");
    let is_open = |at: usize| {
        let rest = &text[at + 2..];
        let inside = &rest[..rest.find('}').unwrap_or(rest.len())];
        inside.contains(['\'', '"', '\\', '`', '$', '\n']) || inside.contains("<<")
    };
    text.rfind("<<").is_some_and(|last| text[..last].match_indices("${").any(|(at, _)| is_open(at)))
}

/// Whether a number stands where the parser takes it for one of 32 or 64 bits and would panic: before a
/// redirection, in `{1..9}`, in `~+1`.
fn overflows(text: &str) -> bool {
    const DIGITS: usize = 10;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        let before = text.get(..start).unwrap_or("");
        let counted = before.ends_with("..") || before.trim_end_matches(['+', '-']).ends_with(['{', '~', '.']);
        let redirects = matches!(bytes.get(at), Some(b'<' | b'>'));
        if at - start >= DIGITS && (counted || redirects) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_hurt_the_parser_is_kept_out() {
        for text in [
            "(".repeat(100_000),
            "{ ".repeat(300),
            "if true; then ".repeat(201),
            "\"$(echo ".repeat(20),
            "ls 99999999999999999999>x".to_owned(),
            "echo {1..99999999999999999999}".to_owned(),
            "echo ~+99999999999999999999999".to_owned(),
            "echo $'a\\\nb'".to_owned(),
            "ls 99999\\\n9999999999>x".to_owned(),
        ] {
            assert!(refused(&text, 200, 8).is_some(), "{}", &text[..text.len().min(40)]);
        }
    }

    #[test]
    fn ordinary_texts_go_in() {
        for text in ["ls -la", "echo \"$(ls | wc -l)\"", "date -d @1700000000000", "cat log-1700000000000.txt"] {
            assert_eq!(refused(text, 200, 8), None, "{text}");
        }
    }
}
