//! A decision in words: each part of the call, its verdict, the rule that decided it and why. Colours and the width
//! of the terminal are used where there is one; a pipe gets one line for each part.

use crate::base::text::{clean_line, cut};
use crate::domain::verdict::Verdict;
use crate::policy::engine::Policy;
use crate::policy::verdict::{Decision, Ruled};
use clap::builder::styling::{AnsiColor, Style};
use std::io::{IsTerminal, Write, stdout};

/// Fewest columns for a part, its rule and the reason on one line.
const WIDE: usize = 110;
/// Most columns of a part on a line with its rule.
const TEXT: usize = 60;
/// Most columns of a reason.
const REASON: usize = 300;
/// What every exit code stands for.
const CODES: &str = "(0 allow, 10 ask, 11 passphrase, 2 block, 64 bad input)";

/// How it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// For a file or another program.
    Plain,
    /// For a person: this many columns, in colours or without.
    Terminal {
        /// Columns.
        width: usize,
        /// Whether colours are wanted.
        colours: bool,
    },
}

impl Look {
    /// What stdout is, and what the person wants of it.
    pub fn of_stdout(no_color: Option<&str>) -> Self {
        if !stdout().is_terminal() {
            return Self::Plain;
        }
        let size = rustix::termios::tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_col));
        let width = if size == 0 { 80 } else { size.max(20) };
        Self::Terminal { width, colours: no_color.is_none_or(str::is_empty) }
    }

    fn style(self, verdict: Verdict) -> Style {
        let colour = match verdict {
            Verdict::Allow => AnsiColor::Green,
            Verdict::Ask => AnsiColor::Yellow,
            Verdict::Passphrase => AnsiColor::Magenta,
            Verdict::Block => AnsiColor::Red,
        };
        match self {
            Self::Terminal { colours: true, .. } => Style::new().fg_color(Some(colour.into())).bold(),
            Self::Plain | Self::Terminal { .. } => Style::new(),
        }
    }

    /// The columns of a terminal that is too narrow for one line.
    fn narrow(self) -> Option<usize> {
        match self {
            Self::Terminal { width, .. } if width < WIDE => Some(width),
            Self::Plain | Self::Terminal { .. } => None,
        }
    }
}

/// Prints the decision: the whole, each part, and the exit code.
pub fn decision(out: &mut dyn Write, decision: &Decision, policy: &Policy, look: Look) -> std::io::Result<()> {
    let decided = decision.units.iter().position(|unit| unit.verdict == decision.verdict).unwrap_or(0);
    let hash = policy.fingerprint().get(..8).unwrap_or("");
    let files: Vec<String> = policy.files().map(|file| clean_line(&file.path, 200)).collect();
    let (style, word) = (look.style(decision.verdict), decision.verdict.word().to_uppercase());
    let total = decision.units.len();
    writeln!(
        out,
        "verdict  {style}{word}{style:#}   (part {} of {total})   policy {hash}…  {}",
        decided + 1,
        files.join(", ")
    )?;
    let rules: Vec<String> = decision.units.iter().map(|unit| rule(unit, policy)).collect();
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let text = |unit: &Ruled| clean_line(&unit.text, TEXT);
    let columns = |text: &str| unicode_width::UnicodeWidthStr::width(text);
    let text_width = widest(&mut decision.units.iter().map(|unit| columns(&text(unit))));
    let rule_width = widest(&mut rules.iter().map(|rule| columns(rule)));
    for (at, (unit, rule)) in decision.units.iter().zip(&rules).enumerate() {
        let (n, style, verdict) = (at + 1, look.style(unit.verdict), unit.verdict.word());
        let reason = clean_line(&unit.reason, REASON);
        if let Some(width) = look.narrow() {
            writeln!(out, "{n:3}  {}", cut(&clean_line(&unit.text, REASON), width - 5))?;
            writeln!(out, "     {style}{verdict}{style:#}  {}", cut(rule, width.saturating_sub(7 + verdict.len())))?;
            for line in wrapped(&reason, width - 5) {
                writeln!(out, "     {line}")?;
            }
        } else {
            let text = text(unit);
            let (gap, rule_gap) = (text_width - columns(&text), rule_width - columns(rule));
            writeln!(out, "{n:3}  {text}{:gap$}  {style}{verdict:10}{style:#}  {rule}{:rule_gap$}  {reason}", "", "")?;
        }
    }
    let codes = if look.narrow().is_some() { "" } else { CODES };
    writeln!(out, "{}", format!("exit {:<4}  {codes}", decision.verdict.exit_code()).trim_end())
}

/// A rule, and where it stands: the line, and the file where it is not the profile's.
fn rule(unit: &Ruled, policy: &Policy) -> String {
    let name = clean_line(&unit.rule, 60);
    let Some(line) = unit.line else { return name };
    let mut places = policy.rules().filter(|(_, rule)| rule.name == unit.rule && rule.line == line);
    match places.next() {
        Some((file, _)) if !policy.is_profile(file) => {
            format!("{name} (line {line} of {})", clean_line(&file.path, 200))
        }
        _ => format!("{name} (line {line})"),
    }
}

/// Words on lines of at most so many columns; a longer word is cut.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let columns = |text: &str| unicode_width::UnicodeWidthStr::width(text);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = cut(word, width);
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::profile::Profile;
    use crate::policy::place::{MadeUp, Place};
    use serde_json::json;
    use std::path::Path;
    use unicode_width::UnicodeWidthStr as _;

    fn told(command: &str, look: Look) -> String {
        let policy = Policy::of(Profile::Strict);
        let root = Path::new("/w");
        let view = MadeUp::new(root, [], []);
        let place = Place { workspace: root, cwd: root, home: Path::new("/h"), user: "u", view: &view };
        let mut out = Vec::new();
        decision(&mut out, &policy.decide("Bash", &json!({ "command": command }), &place), &policy, look).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_columns_stand_under_each_other() {
        let told = told("ls 日本; tee out.txt; cat a | sort", Look::Plain);
        let columns: Vec<usize> = told
            .lines()
            .filter(|line| line.contains("(line "))
            .map(|line| line[..line.find("(line ").unwrap()].width())
            .collect();
        let verdicts: Vec<usize> = told
            .lines()
            .filter_map(|line| Some(line[..line.find("  allow  ").or_else(|| line.find("  passphrase  "))?].width()))
            .collect();
        assert_eq!(columns.len(), 4, "{told}");
        assert!(verdicts.iter().all(|at| *at == verdicts[0]) && verdicts.len() == 4, "{told}");
        assert!(told.ends_with("exit 11    (0 allow, 10 ask, 11 passphrase, 2 block, 64 bad input)\n"), "{told}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let command = format!("ls {}; curl https://x.test/{}", "a".repeat(300), "b".repeat(300));
        for width in [20, 40, 80, 109] {
            let told = told(&command, Look::Terminal { width, colours: false });
            let wide = told.lines().skip(1).find(|line| line.width() > width);
            assert_eq!(wide, None, "{width}: {told}");
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        for (look, coloured) in [
            (Look::Plain, false),
            (Look::Terminal { width: 120, colours: false }, false),
            (Look::Terminal { width: 120, colours: true }, true),
            (Look::Terminal { width: 60, colours: true }, true),
        ] {
            assert_eq!(told("ls; curl x", look).contains('\u{1b}'), coloured, "{look:?}");
        }
        let hostile = told("ls '\u{1b}[2J\u{202e}'", Look::Plain);
        assert!(!hostile.contains(['\u{1b}', '\u{202e}']), "{hostile}");
    }
}
