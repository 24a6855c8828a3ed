//! A run as it is stored, in the order in which it is written: its records, and what Claude printed in an iteration before
//! the record that tells its end. Values of the person's secrets are masked.

use crate::domain::record::{Record, Stored};
use crate::domain::scrollback::{Entry, Scrollback};
use crate::domain::stream::show::{Shown, decode};
use crate::domain::summary::RunSummary;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// A run as it is stored.
pub struct Exported<'a> {
    pub summary: &'a RunSummary,
    pub records: &'a [Arc<Stored>],
    pub scrollback: &'a dyn Scrollback,
    /// Only this iteration.
    pub iteration: Option<u32>,
    pub secrets: Secrets,
    pub zone: jiff::tz::TimeZone,
}

/// Values that are not written.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

/// Shorter values are words that stand anywhere.
const SHORTEST: usize = 8;
const MASK: &str = "••••";

impl Secrets {
    /// The values of the variables whose names say that they are secret; also each line of one of several, and how JSON
    /// writes them, in JSON as well.
    pub fn of<'a>(variables: impl IntoIterator<Item = (&'a String, &'a String)>) -> Self {
        let words = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
        let is_secret = |name: &str| words.iter().any(|word| name.to_uppercase().contains(word));
        let named = variables.into_iter().filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST);
        let plain = named.flat_map(|(_, value)| std::iter::once(value.as_str()).chain(value.lines().map(str::trim)));
        let mut values: Vec<String> = plain
            .filter(|value| value.len() >= SHORTEST)
            .flat_map(|value| {
                let once = in_json(value);
                [value.to_owned(), in_json(&once), once]
            })
            .collect();
        // A longer one may contain a shorter one.
        values.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        values.dedup();
        Self(values)
    }

    /// The record without them.
    fn mask_record<'a>(&self, stored: &'a Stored) -> Cow<'a, Stored> {
        if self.0.is_empty() {
            return Cow::Borrowed(stored);
        }
        let masked = || {
            let before = serde_json::to_string(stored).ok()?;
            let after = self.mask(before.clone());
            if after == before { None } else { serde_json::from_str(&after).ok() }
        };
        masked().map_or(Cow::Borrowed(stored), Cow::Owned)
    }

    /// A line of Claude's without them.
    fn mask_line(&self, line: Vec<u8>) -> Vec<u8> {
        match String::from_utf8(line) {
            Ok(text) => self.mask(text).into_bytes(),
            Err(error) => error.into_bytes(),
        }
    }

    /// The text without them.
    pub fn mask(&self, text: String) -> String {
        self.0
            .iter()
            .fold(text, |text, value| if text.contains(value.as_str()) { text.replace(value, MASK) } else { text })
    }
}

/// What stands for it in a JSON string.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or(text).to_owned()
}

/// Something of the run, in the order in which it is written, and masked before any of it is cut.
pub(super) enum Item<'a> {
    Record(&'a Stored),
    /// What Claude printed: the iteration, the line, and how far it is through the iteration, from 0 to 1.
    Said(u32, Vec<u8>, f64),
}

impl Exported<'_> {
    /// Calls back for all that is to be written, in order; one line of Claude's is held at a time.
    pub(super) fn each(&self, mut give: impl FnMut(Item<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut unsaid: BTreeSet<u32> = self.scrollback.iterations().into_iter().filter(|n| self.wants(*n)).collect();
        let mut current = None;
        for stored in self.records {
            if let Record::IterationStarted { n, .. } = stored.record {
                current = Some(n);
            }
            let ended = match stored.record {
                Record::AgentExited { n, .. } | Record::IterationEnded { n, .. } => Some(n),
                _ => None,
            };
            if let Some(n) = ended.filter(|n| unsaid.remove(n)) {
                self.said(n, &mut give)?;
            }
            if self.iteration.is_none() || current.is_some_and(|n| self.wants(n)) {
                give(Item::Record(&self.secrets.mask_record(stored)))?;
            }
            if let Record::IterationEnded { .. } = stored.record
                && self.iteration.is_some()
            {
                current = None;
            }
        }
        // Those that are under way, or were cut off.
        unsaid.into_iter().try_for_each(|n| self.said(n, &mut give))
    }

    fn wants(&self, n: u32) -> bool {
        self.iteration.is_none_or(|only| only == n)
    }

    fn said(&self, n: u32, give: &mut impl FnMut(Item<'_>) -> io::Result<()>) -> io::Result<()> {
        let count = self.scrollback.len(n);
        let mut entries: Vec<Entry> = Vec::new();
        self.scrollback.entries(n, 0..count, &mut entries);
        for (at, entry) in entries.into_iter().enumerate() {
            let line = self.secrets.mask_line(self.scrollback.read(n, entry, entry.len())?);
            give(Item::Said(n, line, (at + 1) as f64 / (count + 1) as f64))?;
        }
        Ok(())
    }

    /// A line of Claude's for people.
    pub(super) fn shown(&self, line: &[u8]) -> Shown {
        decode(line, line.len(), &self.summary.workspace().to_string())
    }
}
