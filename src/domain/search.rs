//! Words looked for in all that Claude printed in a run: what holds them, and what was found so far.
//!
//! A run is cut into stretches of records; whoever looks takes the next one and says what it holds, whoever shows asks
//! meanwhile what is known. Who looks, and on which thread, is the scrollback's.

use crate::domain::approval::EDIT_TOOLS;
use crate::domain::record::Level;
use crate::domain::scrollback::{Entry, EntryKind, Scrollback, Survey};
use crate::domain::stream::show::{self, Block, Shown};
use regex::{Regex, RegexBuilder, bytes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Records of a stretch.
pub const STRETCH: usize = 1_024;
/// Bytes read at once.
const CHUNK: u64 = 1 << 20;
/// Of a longer record the beginning is searched, as far as it is ever shown.
pub const LONGEST: usize = 1 << 24;

/// Which records count, whatever their words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Only {
    /// Calls of tools.
    Tools,
    /// Failed calls and turns.
    Errors,
    /// Calls that change a file.
    Edits,
}

impl Only {
    pub fn word(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Errors => "errors",
            Self::Edits => "edits",
        }
    }

    /// What the line of such a record holds.
    fn raw(self) -> &'static str {
        match self {
            Self::Tools => "tool_use\"",
            Self::Errors => "error|rejected",
            Self::Edits => "\"(?:Edit|MultiEdit|Write|NotebookEdit)\"",
        }
    }

    fn is_in(self, block: &Block) -> bool {
        match (self, block) {
            (Self::Tools, Block::Tool(_)) => true,
            (Self::Edits, Block::Tool(tool)) => EDIT_TOOLS.contains(&tool.name.as_str()),
            (Self::Errors, Block::ToolResult(result)) => result.error,
            (Self::Errors, Block::TurnEnd(end)) => end.error,
            (Self::Errors, Block::Notice { level, .. }) => *level == Level::Error,
            _ => false,
        }
    }
}

/// Words as they stand in the log file, and as they are shown. Case does not matter.
#[derive(Debug)]
pub struct Words {
    /// Empty: every record that counts.
    pub query: String,
    pub only: Option<Only>,
    raw: bytes::Regex,
    pub shown: Regex,
    /// What of a record is drawn, where that is not all of its texts.
    drawn: Option<Drawn>,
}

/// All that is drawn of a record when it is unfolded.
pub type Drawn = fn(&Shown) -> String;

impl Words {
    /// `None` for an empty query.
    pub fn new(query: &str) -> Option<Self> {
        Self::among(query, None)
    }

    /// Words in the records that count. `None` where all of them do and the query is empty.
    pub fn among(query: &str, only: Option<Only>) -> Option<Self> {
        // In the log file JSON escapes quotes and backslashes.
        let json = serde_json::to_string(query).ok()?;
        let raw = match only {
            Some(only) if query.is_empty() => only.raw().to_owned(),
            None if query.is_empty() => return None,
            _ => regex::escape(json.strip_prefix('"')?.strip_suffix('"')?),
        };
        Some(Self {
            query: query.to_owned(),
            only,
            raw: bytes::RegexBuilder::new(&raw).case_insensitive(true).build().ok()?,
            shown: RegexBuilder::new(&regex::escape(query)).case_insensitive(true).build().ok()?,
            drawn: None,
        })
    }

    /// A record counts only if the words are in what is drawn of it.
    #[must_use]
    pub fn drawn_by(self, drawn: Drawn) -> Self {
        Self { drawn: Some(drawn), ..self }
    }

    /// The record counts and shows the words, in brief or in full.
    fn are_shown_by(&self, line: &[u8]) -> bool {
        let record = show::decode(line, line.len(), "");
        self.only.is_none_or(|only| record.blocks.iter().any(|block| only.is_in(block)))
            && (self.query.is_empty() || record.texts().any(|text| self.shown.is_match(text)))
            && self.drawn.is_none_or(|drawn| {
                let drawn = drawn(&record);
                if self.query.is_empty() { !drawn.is_empty() } else { self.shown.is_match(&drawn) }
            })
    }

    /// The records of a stretch that show the words, ascending.
    pub fn hits(&self, scrollback: &dyn Scrollback, n: u32, range: &Range<usize>) -> Vec<usize> {
        let mut entries = Vec::new();
        scrollback.entries(n, range.clone(), &mut entries);
        let mut hits = Vec::new();
        let mut rest = entries.as_slice();
        while let Some(first) = rest.first() {
            let end = |entry: &Entry| entry.offset + entry.len() as u64;
            let near = rest.iter().take_while(|entry| end(entry).saturating_sub(first.offset) <= CHUNK).count().max(1);
            let (group, beyond) = rest.split_at(near);
            let whole = Entry::new(&(first.offset..end(&group[near - 1])), EntryKind::Garbage);
            let read = scrollback.read(n, whole, LONGEST).unwrap_or_default();
            let at = range.start + (entries.len() - rest.len());
            let mut next = 0;
            // Once over all of them: most hold nothing.
            while next <= read.len()
                && let Some(found) = self.raw.find_at(&read, next)
            {
                let offset = first.offset + found.start() as u64;
                let index = group.partition_point(|entry| end(entry) <= offset);
                let Some(entry) = group.get(index) else { break };
                let start = entry.offset.saturating_sub(first.offset) as usize;
                // Before the record lies something that is not shown, such as a piece of a message.
                if entry.offset > offset {
                    next = start;
                    continue;
                }
                let line = &read[start.min(read.len())..(start + entry.len()).min(read.len())];
                if self.are_shown_by(line) {
                    hits.push(at + index);
                }
                next = (start + entry.len()).max(found.start() + 1);
            }
            rest = beyond;
        }
        hits
    }

    /// What of a record shows the words: the line that they are in, or its first words.
    pub fn shown_line(&self, line: &[u8]) -> Option<String> {
        let record = show::decode(line, line.len(), "");
        let mut lines = record.texts().flat_map(str::lines).filter(|line| !line.trim().is_empty());
        if self.query.is_empty() {
            // Of a call its tool, and what it is about.
            return Some(lines.take(2).collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty());
        }
        lines.find(|line| self.shown.is_match(line)).map(str::to_owned)
    }

    /// What is looked for, for people.
    pub fn label(&self) -> String {
        match self.only {
            None => self.query.clone(),
            Some(only) if self.query.is_empty() => only.word().to_owned(),
            Some(only) => format!("{}: {}", only.word(), self.query),
        }
    }
}

/// What is known of a stretch of an iteration.
#[derive(Debug)]
struct Stretch {
    range: Range<usize>,
    /// The records that hold the words, ascending; `None`: not looked at yet.
    hits: Option<Vec<usize>>,
    taken: bool,
}

/// Which way a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Down,
    Up,
}

/// The nearest record with the words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nearest {
    At(usize),
    None,
    /// It is not known yet.
    Unknown,
}

/// What was found so far, shared by who looks and who shows.
#[derive(Debug)]
pub struct Found {
    pub words: Words,
    /// Where it begins.
    from: (u32, usize),
    way: Way,
    iterations: Mutex<BTreeMap<u32, Vec<Stretch>>>,
    /// Nobody wants to know more.
    stopped: AtomicBool,
}

impl Survey for Found {
    fn step(&self, scrollback: &dyn Scrollback) -> bool {
        let next = if self.stopped.load(Ordering::Relaxed) { None } else { self.take() };
        if let Some((n, range)) = &next {
            self.tell(*n, range, self.words.hits(scrollback, *n, range));
        }
        next.is_some()
    }
}

impl Found {
    /// Nothing yet; it is looked for from a record of an iteration on.
    pub fn new(words: Words, from: (u32, usize), way: Way) -> Self {
        Self { words, from, way, iterations: Mutex::default(), stopped: AtomicBool::new(false) }
    }

    /// Whoever looks leaves off.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Vec<Stretch>>> {
        self.iterations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what is in the scrollback by now. `true`: there is more to look at.
    pub fn extend(&self, scrollback: &dyn Scrollback) -> bool {
        let mut iterations = self.lock();
        let mut more = false;
        for n in scrollback.iterations() {
            let stretches = iterations.entry(n).or_default();
            let (mut from, len) = (stretches.last().map_or(0, |last| last.range.end), scrollback.len(n));
            while from < len {
                let range = from..len.min(from + STRETCH);
                from = range.end;
                stretches.push(Stretch { range, hits: None, taken: false });
                more = true;
            }
        }
        more
    }

    /// The stretch to look at next: the nearest one in the way of the search, then from the other end on.
    fn take(&self) -> Option<(u32, Range<usize>)> {
        let mut iterations = self.lock();
        let mut open: Vec<(u32, &mut Stretch)> = iterations
            .iter_mut()
            .flat_map(|(n, stretches)| stretches.iter_mut().map(|stretch| (*n, stretch)))
            .filter(|(_, stretch)| !stretch.taken)
            .collect();
        let at = match self.way {
            Way::Down => open.iter().position(|(n, stretch)| (*n, stretch.range.end) > self.from).unwrap_or(0),
            Way::Up => {
                let after = open.iter().position(|(n, stretch)| (*n, stretch.range.start) > self.from);
                after.unwrap_or(open.len()).checked_sub(1).unwrap_or(open.len().saturating_sub(1))
            }
        };
        let (n, stretch) = open.get_mut(at)?;
        stretch.taken = true;
        Some((*n, stretch.range.clone()))
    }

    /// What a stretch that was taken holds.
    fn tell(&self, n: u32, range: &Range<usize>, hits: Vec<usize>) {
        let mut iterations = self.lock();
        let stretch = iterations.get_mut(&n).and_then(|all| all.iter_mut().find(|stretch| stretch.range == *range));
        if let Some(stretch) = stretch {
            stretch.hits = Some(hits);
        }
    }

    /// The nearest record of `range` with the words, from its beginning down or from its end up.
    pub fn nearest(&self, n: u32, range: &Range<usize>, way: Way) -> Nearest {
        let iterations = self.lock();
        let Some(stretches) = iterations.get(&n) else { return Nearest::Unknown };
        let covered = stretches.last().map_or(0, |last| last.range.end);
        let mut within = stretches.iter().filter(|stretch| meet(&stretch.range, range));
        let of = |stretch: &Stretch| match &stretch.hits {
            None => Some(Nearest::Unknown),
            Some(hits) => {
                let mut hits = hits.iter().copied().filter(|hit| range.contains(hit));
                let hit = if way == Way::Down { hits.next() } else { hits.next_back() };
                hit.map(Nearest::At)
            }
        };
        let beyond = covered < range.end;
        match way {
            Way::Up if beyond => Nearest::Unknown,
            Way::Up => within.rev().find_map(of).unwrap_or(Nearest::None),
            Way::Down => within.find_map(of).unwrap_or(if beyond { Nearest::Unknown } else { Nearest::None }),
        }
    }

    /// Records with the words so far; how many of them stand before this one, and whether some are not looked at yet.
    pub fn count(&self, before: (u32, usize)) -> (usize, usize, bool) {
        let iterations = self.lock();
        let all = || iterations.iter().flat_map(|(n, stretches)| stretches.iter().map(move |stretch| (*n, stretch)));
        let total = all().filter_map(|(_, stretch)| stretch.hits.as_ref()).map(Vec::len).sum();
        let earlier = all().map(|(n, stretch)| match &stretch.hits {
            Some(hits) if (n, stretch.range.end) <= before => hits.len(),
            Some(hits) if n == before.0 => hits.partition_point(|hit| *hit < before.1),
            _ => 0,
        });
        (total, earlier.sum(), all().any(|(_, stretch)| stretch.hits.is_none()))
    }

    /// Some record of the stretch is known to have the words.
    pub fn any(&self, n: u32, range: &Range<usize>) -> bool {
        let iterations = self.lock();
        let mut stretches = iterations.get(&n).into_iter().flatten().filter(|stretch| meet(&stretch.range, range));
        stretches.any(|stretch| {
            let hits = stretch.hits.as_deref().unwrap_or_default();
            hits.get(hits.partition_point(|hit| *hit < range.start)).is_some_and(|hit| *hit < range.end)
        })
    }
}

fn meet(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::scrollback::Live;
    use std::io;
    use std::sync::Arc;

    /// Lines of one iteration, one after another; pieces of messages are no records.
    struct Lines(Vec<String>);

    fn is_record(line: &str) -> bool {
        !line.contains("content_block_delta")
    }

    impl Scrollback for Lines {
        fn iterations(&self) -> Vec<u32> {
            vec![1]
        }

        fn len(&self, _: u32) -> usize {
            self.0.iter().filter(|line| is_record(line)).count()
        }

        fn entries(&self, _: u32, range: Range<usize>, out: &mut Vec<Entry>) {
            let mut offset = 0;
            let mut records = 0;
            for line in &self.0 {
                if is_record(line) {
                    if range.contains(&records) {
                        out.push(Entry::new(&(offset..offset + line.len() as u64), EntryKind::Assistant));
                    }
                    records += 1;
                }
                offset += line.len() as u64 + 1;
            }
        }

        fn read(&self, _: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
            let all = self.0.join("\n").into_bytes();
            let start = entry.offset as usize;
            Ok(all[start..start + entry.len().min(max)].to_vec())
        }

        fn live(&self) -> Live {
            Live::default()
        }

        fn survey(&self, _: Arc<dyn Survey>) {}
    }

    fn said(words: &str) -> String {
        let words = serde_json::to_string(words).unwrap();
        format!(r#"{{"type":"assistant","uuid":"needle","message":{{"content":[{{"type":"text","text":{words}}}]}}}}"#)
    }

    #[test]
    fn only_what_a_record_shows_counts_wherever_it_lies_in_what_is_read() {
        let lines: Vec<String> = (0..3_000)
            .map(|i| match i % 1_000 {
                7 => said("a \"Needle\\\" here"),
                8 => said(&"x".repeat(2 << 20)),
                _ => said("nothing"),
            })
            .collect();
        let lines = Lines(lines);
        let look = |query: &str, range| Words::new(query).unwrap().hits(&lines, 1, &range);
        assert_eq!(look("needle\\\"", 0..3_000), [7, 1_007, 2_007]);
        assert_eq!(look("needle\\\"", 8..1_008), [1_007]);
        assert_eq!(look("needle", 0..3_000), [7, 1_007, 2_007]);
        assert!(look("uuid", 0..3_000).is_empty());
    }

    #[test]
    fn words_in_the_pieces_of_a_message_do_not_hide_the_message() {
        let piece = r#"{"type":"stream_event","event":{"type":"content_block_delta","text":"a needle"}}"#.to_owned();
        let lines = vec![said("first"), piece.clone(), piece.clone(), said("a needle"), piece, said("another needle")];
        assert_eq!(Words::new("needle").unwrap().hits(&Lines(lines), 1, &(0..3)), [1, 2]);
    }

    #[test]
    fn only_records_that_count_are_found_with_words_or_without() {
        let call = |name: &str, input: &str| {
            format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"a","name":"{name}","input":{input}}}]}}}}"#
            )
        };
        let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","content":"no such needle","is_error":true,"tool_use_id":"a"}]}}"#;
        let lines = Lines(vec![
            said("an error, a tool_use\" and an \"Edit\""),
            call("Bash", r#"{"command":"find needle"}"#),
            failed.to_owned(),
            call("Write", r#"{"file_path":"/a.rs"}"#),
            said("needle"),
        ]);
        let look = |query: &str, only| Words::among(query, only).unwrap().hits(&lines, 1, &(0..5));
        assert_eq!(look("", Some(Only::Tools)), [1, 3]);
        assert_eq!(look("", Some(Only::Errors)), [2]);
        assert_eq!(look("", Some(Only::Edits)), [3]);
        assert_eq!(look("needle", Some(Only::Tools)), [1]);
        assert_eq!(look("needle", None), [1, 2, 4]);
        assert!(Words::among("", None).is_none());
    }

    #[test]
    fn the_nearest_hit_is_known_once_all_before_it_was_looked_at() {
        let lines = Lines(vec![String::new(); 3 * STRETCH]);
        let found = Found::new(Words::new("x").unwrap(), (1, STRETCH + 5), Way::Up);
        assert!(found.extend(&lines) && !found.extend(&lines));
        let order: Vec<usize> = std::iter::from_fn(|| found.take()).map(|(_, range)| range.start).collect();
        assert_eq!(order, [STRETCH, 0, 2 * STRETCH]);
        let all = 0..3 * STRETCH;
        found.tell(1, &(0..STRETCH), vec![3, 9]);
        found.tell(1, &(2 * STRETCH..3 * STRETCH), vec![2 * STRETCH]);
        assert_eq!(found.nearest(1, &all, Way::Down), Nearest::At(3));
        assert_eq!(found.nearest(1, &(10..3 * STRETCH), Way::Down), Nearest::Unknown);
        assert_eq!(found.nearest(1, &(0..2 * STRETCH), Way::Up), Nearest::Unknown);
        assert_eq!(found.count((1, 9)), (3, 1, true));
        found.tell(1, &(STRETCH..2 * STRETCH), vec![]);
        assert_eq!(found.nearest(1, &(10..2 * STRETCH), Way::Up), Nearest::None);
        assert_eq!(found.nearest(1, &(10..all.end), Way::Down), Nearest::At(2 * STRETCH));
        assert_eq!(found.nearest(1, &(10..all.end + 1), Way::Up), Nearest::Unknown, "it has grown");
        assert_eq!(found.count((1, 2 * STRETCH)), (3, 2, false));
        assert!(found.any(1, &(0..4)) && !found.any(1, &(10..2 * STRETCH)));
    }
}
