//! Judges one line of plain text by the tables in `patterns.rs`: a sign must speak for it and no veto against it.

use super::kind::ErrorKind;
use super::patterns::{CONDITIONAL, LEAD, LOOSE, SIGNS, VETOES};
use crate::base::text::{Clean, beginning};
use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use std::sync::LazyLock;

/// Bytes of a line that are looked at: a report stands at its head.
const HEAD_BYTES: usize = 2048;

/// Marks that tools put before a report: boxes, bullets of results, crosses.
const MARKS: [char; 15] = ['│', '┃', '╷', '╵', '⎿', '●', '❌', '✗', '✖', '✘', '✕', '×', '⨯', '🚨', '\u{fe0f}'];

static RULES: LazyLock<Option<Rules>> = LazyLock::new(Rules::compiled);

/// The tables, compiled once. ASCII classes over bytes: quick, and error reports are ASCII where it counts.
pub(super) struct Rules {
    lead: Regex,
    signs: RegexSet,
    loose: RegexSet,
    vetoes: RegexSet,
    conditional: RegexSet,
}

impl Rules {
    /// `None` when a pattern is broken, which a test finds.
    pub(super) fn compiled() -> Option<Self> {
        let set = |patterns: &[&str]| RegexSetBuilder::new(patterns).unicode(false).build().ok();
        let patterns = |table: &[(ErrorKind, &'static str)]| table.iter().map(|row| row.1).collect::<Vec<_>>();
        Some(Self {
            lead: RegexBuilder::new(LEAD).unicode(false).build().ok()?,
            signs: set(&patterns(SIGNS))?,
            loose: set(&patterns(LOOSE))?,
            vetoes: set(VETOES)?,
            conditional: set(CONDITIONAL)?,
        })
    }

    fn kind(&self, piece: &str) -> Option<ErrorKind> {
        let bytes = piece.as_bytes();
        // The first row that fits names the kind.
        let sign = self.signs.matches(bytes).iter().next().map(|row| SIGNS[row].0);
        let loose = || {
            let row = self.loose.matches(bytes).iter().next()?;
            (!self.conditional.is_match(bytes)).then(|| LOOSE[row].0)
        };
        sign.or_else(loose).filter(|_| !self.vetoes.is_match(bytes))
    }
}

/// The kind of error that `line` reports, and the part of it that does: the last rewrite of a line that was
/// drawn over (`\r`) counts as much as the first. `next` is the line below.
pub(super) fn judge(line: &str, next: &str) -> Option<(ErrorKind, String)> {
    let rules = RULES.as_ref()?;
    line.split('\r').find_map(|piece| {
        if piece.trim().is_empty() {
            return None;
        }
        let clean = Clean::new(head(piece)).into_string();
        let bare = clean.trim().trim_start_matches(|c: char| MARKS.contains(&c) || c.is_whitespace());
        let lead = rules.lead.find(bare.as_bytes()).map_or(0, |found| found.end());
        // The pattern of a lead is ASCII, so its end is the start of a character.
        let rest = bare.get(lead..).unwrap_or(bare);
        // With nothing behind it, it announces the line below.
        if matches!(rest, "Error:" | "ERROR:") {
            return says_more(next, rules).then(|| (ErrorKind::Error, rest.to_owned()));
        }
        let kind = rules.kind(rest).or_else(|| if lead > 0 { rules.kind(bare) } else { None })?;
        Some((kind, bare.to_owned()))
    })
}

fn says_more(next: &str, rules: &Rules) -> bool {
    let next = head(next).trim();
    !next.is_empty() && !rules.vetoes.is_match(format!("Error: {next}").as_bytes())
}

/// The first 2 KiB of `text`, cut at a character.
pub(super) fn head(text: &str) -> &str {
    beginning(text, HEAD_BYTES)
}
