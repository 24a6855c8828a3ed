//! Which calls a stretch of records makes: found out once for each record, however many results look for theirs.

use memchr::memmem;
use std::collections::HashMap;
use std::ops::Range;

/// Longest id of a call that is looked for.
const LONGEST: usize = 256;
/// Ids kept.
const MOST: usize = 8_192;

/// What was seen of a stretch of an iteration.
#[derive(Default)]
pub(super) struct Glimpsed {
    n: u32,
    range: Range<usize>,
    /// The records by the ids that they hold.
    at: HashMap<String, usize>,
}

impl Glimpsed {
    /// Makes `range` part of what is seen. Gives what of it was not looked at yet: [`Self::saw`] takes it.
    pub(super) fn extend(&mut self, n: u32, range: &Range<usize>) -> [Range<usize>; 2] {
        let apart = range.start > self.range.end || range.end < self.range.start;
        if self.n != n || apart || self.at.len() > MOST {
            *self = Self { n, range: range.start..range.start, at: HashMap::new() };
        }
        let (below, above) = (self.range.start.max(range.start), self.range.end.min(range.end));
        let new = [range.start..below, above..range.end];
        self.range = self.range.start.min(range.start)..self.range.end.max(range.end);
        new
    }

    /// Takes a record in which a call may be.
    pub(super) fn saw(&mut self, i: usize, record: &[u8]) {
        for id in ids(record) {
            let last = self.at.entry(id.to_owned()).or_insert(i);
            *last = (*last).max(i);
        }
    }

    /// The last record of a stretch that seems to make this call.
    pub(super) fn of(&self, range: &Range<usize>, id: &str) -> Option<usize> {
        self.at.get(id).copied().filter(|at| range.contains(at))
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
    use super::{Glimpsed, ids};

    #[test]
    fn each_record_is_looked_at_once() {
        let mut seen = Glimpsed::default();
        assert_eq!(seen.extend(1, &(10..20)), [10..10, 10..20]);
        seen.saw(12, br#"{"type":"tool_use","id":"a"}"#);
        seen.saw(15, br#"{"type":"tool_use","id":"a"}"#);
        assert_eq!((seen.of(&(10..20), "a"), seen.of(&(10..13), "a"), seen.of(&(10..20), "b")), (Some(15), None, None));
        assert_eq!(seen.extend(1, &(15..25)), [15..15, 20..25]);
        assert_eq!(seen.extend(1, &(5..12)), [5..10, 12..12]);
        assert_eq!(seen.of(&(5..25), "a"), Some(15));
        // Another iteration, and a stretch that is far away.
        assert_eq!((seen.extend(2, &(5..12)), seen.of(&(5..25), "a")), ([5..5, 5..12], None));
        assert_eq!(seen.extend(2, &(50..60)), [50..50, 50..60]);
    }

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
