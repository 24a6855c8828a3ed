//! Which calls a stretch of records makes: found out once for each record, however many results look for theirs.

use super::{BRIEF, Book, FACTS};
use crate::domain::scrollback::EntryKind;
use memchr::memmem;
use std::collections::HashMap;
use std::ops::Range;

/// Longest id of a call that is looked for.
const LONGEST: usize = 256;

/// What was seen of a stretch of an iteration.
#[derive(Default)]
pub(super) struct Glimpsed {
    n: u32,
    range: Range<usize>,
    /// The records by the ids that they hold.
    at: HashMap<String, usize>,
}

impl Book {
    /// The last record of a stretch that seems to make this call.
    pub(super) fn glimpse(&mut self, n: u32, range: &Range<usize>, id: &str) -> Option<usize> {
        let apart = range.start > self.glimpsed.range.end || range.end < self.glimpsed.range.start;
        if self.glimpsed.n != n || apart || self.glimpsed.at.len() > FACTS {
            self.glimpsed = Glimpsed { n, range: range.start..range.start, at: HashMap::new() };
        }
        let seen = self.glimpsed.range.clone();
        self.look(n, range.start..seen.start);
        self.look(n, seen.end..range.end);
        self.glimpsed.range = seen.start.min(range.start)..seen.end.max(range.end);
        self.glimpsed.at.get(id).copied().filter(|at| range.contains(at))
    }

    fn look(&mut self, n: u32, range: Range<usize>) {
        for (i, entry) in range.clone().zip(self.entries(n, range)) {
            if entry.kind != EntryKind::Assistant {
                continue;
            }
            if let Some((_, Ok(bytes))) = self.bytes(n, i, BRIEF) {
                for id in ids(&bytes) {
                    let last = self.glimpsed.at.entry(id.to_owned()).or_insert(i);
                    *last = (*last).max(i);
                }
            }
        }
    }
}

/// Everything in a record that may be the id of a call.
fn ids(record: &[u8]) -> impl Iterator<Item = &str> {
    let calls = memmem::find(record, b"\"tool_use\"").is_some();
    let found = calls.then(|| memmem::find_iter(record, b"\"id\"")).into_iter().flatten();
    found.filter_map(|at| {
        let value = record[at + 4..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start().strip_prefix(b"\"")?;
        let end = value.iter().take(LONGEST).position(|byte| *byte == b'"')?;
        std::str::from_utf8(&value[..end]).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::ids;

    #[test]
    fn ids_are_found_in_records_with_calls_and_nowhere_else() {
        let found = |record: &str| ids(record.as_bytes()).map(str::to_owned).collect::<Vec<_>>();
        let call = r#"{"message":{"id":"msg_1","content":[{"type":"tool_use", "id" : "toolu_1","input":{"a":"\"id\":\"no\""}}]}}"#;
        assert_eq!(found(call), ["msg_1", "toolu_1"]);
        assert!(found(r#"{"message":{"id":"msg_1","content":[{"type":"text","text":"\"tool_use\""}]}}"#).is_empty());
        assert!(found(&format!(r#"{{"type":"tool_use","id":"{}"}}"#, "x".repeat(300))).is_empty());
        assert!(found(r#"{"type":"tool_use","id":"cut"#).is_empty());
    }
}
