//! The Stream pane at 200×50 over runs of 1,000 to 1,000,000 records: a frame must cost the same whatever the length.
//!
//! `cargo bench --bench render`. The scrollback is made up from a cycle of records, so that only the pane is measured.
//! How to read it: within a row, the median at 1,000,000 divided by that at 1,000 must stay near 1 (at most 1.3); between
//! rows, `limit_cells` is the least a frame can cost: as many cells written by the terminal library alone.

use divan::Bencher;
use programmator::domain::scrollback::{Entry, EntryKind, Live, Scrollback, Survey};
use programmator::tui::panes::stream::{StreamMsg, StreamState, view};
use programmator::tui::syntax::Syntax;
use programmator::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a made-up line; shorter records are filled with blanks.
const LINE: usize = 2_400;
const AREA: Rect = Rect::new(0, 0, 200, 50);
const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];

/// `len` records, each one of a cycle of six.
struct Cycle {
    len: usize,
    lines: Vec<(EntryKind, Vec<u8>)>,
}

impl Cycle {
    fn new(len: usize) -> Arc<Self> {
        let words = "Some words about the stack, with 日本語 and `code`, long enough to be wrapped. ".repeat(12);
        let output = "   Compiling web v0.1.0 (/home/dev/web)\\n".repeat(40);
        let lines = [
            (EntryKind::Assistant, format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{words}"}}]}}"#)),
            (EntryKind::Assistant, r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"ID-A","name":"Bash","input":{"command":"cargo check"}}]}"#.to_owned()),
            (EntryKind::User, format!(r#"{{"type":"user","message":{{"content":[{{"tool_use_id":"ID-A","type":"tool_result","content":"{output}"}}]}},"tool_use_result":{{"stdout":"x","stderr":""}}"#)),
            (EntryKind::Assistant, r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"ID-B","name":"Edit","input":{"file_path":"src/a.rs","old_string":"a\nb\nc","new_string":"a\nB\nc\nd"}}]}"#.to_owned()),
            (EntryKind::User, r#"{"type":"user","message":{"content":[{"tool_use_id":"ID-B","type":"tool_result","content":"updated"}]},"tool_use_result":{"structuredPatch":[{"oldStart":7,"lines":[" a","-b","+B"]}]}"#.to_owned()),
            (EntryKind::Assistant, r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"So it goes on.\nAnd on.\nAnd on."}]}"#.to_owned()),
        ];
        let lines = lines.map(|(kind, line)| {
            let mut bytes = line.into_bytes();
            bytes.resize(LINE - 1, b' ');
            bytes.push(b'}');
            (kind, bytes)
        });
        Arc::new(Self { len, lines: lines.into() })
    }
}

impl Scrollback for Cycle {
    fn iterations(&self) -> Vec<u32> {
        vec![1]
    }

    fn len(&self, _: u32) -> usize {
        self.len
    }

    fn entries(&self, _: u32, range: Range<usize>, out: &mut Vec<Entry>) {
        out.extend((range.start..range.end.min(self.len)).map(|i| {
            let start = (i * LINE) as u64;
            Entry::new(&(start..start + LINE as u64), self.lines[i % 6].0)
        }));
    }

    fn read(&self, _: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(entry.len().min(max));
        let mut i = entry.offset as usize / LINE;
        while out.len() < entry.len().min(max) {
            let at = out.len();
            out.extend_from_slice(&self.lines[i % 6].1);
            // Ids differ from one round of the cycle to the next, as they do in life.
            if let Some(id) = memchr::memmem::find(&out[at..], b"ID-") {
                let round = format!("{:02}", i / 6 % 100);
                out[at + id..at + id + 2].copy_from_slice(round.as_bytes());
            }
            i += 1;
        }
        out.truncate(max);
        Ok(out)
    }

    fn live(&self) -> Live {
        Live { text: "Now the response body".to_owned(), ..Live::default() }
    }

    fn survey(&self, survey: Arc<dyn Survey>) {
        // In the background, which is not measured here.
        survey.step(self);
    }
}

fn pane(len: usize) -> StreamState {
    let mut state = StreamState::default();
    state.attach(Cycle::new(len));
    state.prepare(AREA.width, AREA.height);
    state
}

fn frame(state: &mut StreamState, buffer: &mut Buffer, theme: &Theme) {
    buffer.reset();
    state.prepare(AREA.width, AREA.height);
    view(state, &Syntax::default(), theme, AREA, buffer);
}

/// Measures a frame after each of `turns`, told in turn.
fn frames(bencher: Bencher<'_, '_>, mut state: StreamState, turns: &[StreamMsg]) {
    let theme = Theme::plain();
    let mut buffer = Buffer::empty(AREA);
    let mut turn = 0;
    bencher.bench_local(move || {
        state.update(turns[turn % turns.len()].clone());
        turn += 1;
        frame(&mut state, &mut buffer, &theme);
    });
}

/// A full screen of styled text and nothing to decide.
#[divan::bench]
fn limit_cells(bencher: Bencher<'_, '_>) {
    let words = "x".repeat(usize::from(AREA.width));
    let mut buffer = Buffer::empty(AREA);
    bencher.bench_local(move || {
        buffer.reset();
        for y in AREA.top()..AREA.bottom() {
            buffer.set_string(AREA.left(), y, &words, ratatui::style::Style::new());
        }
    });
}

/// Following, nothing new.
#[divan::bench(args = SIZES)]
fn tail(bencher: Bencher<'_, '_>, len: usize) {
    frames(bencher, pane(len), &[StreamMsg::End]);
}

/// Page up and down, in the middle (as far as the run reaches).
#[divan::bench(args = SIZES)]
fn middle(bencher: Bencher<'_, '_>, len: usize) {
    let mut state = pane(len);
    for _ in 0..(len / 200).min(400) {
        state.update(StreamMsg::Lines(-1));
        state.update(StreamMsg::Page(-1));
        state.prepare(AREA.width, AREA.height);
    }
    frames(bencher, state, &[StreamMsg::Page(-1), StreamMsg::Page(1)]);
}

/// A row down and up at the top.
#[divan::bench(args = SIZES)]
fn top(bencher: Bencher<'_, '_>, len: usize) {
    let mut state = pane(len);
    state.update(StreamMsg::Top);
    frames(bencher, state, &[StreamMsg::Lines(3), StreamMsg::Lines(-3)]);
}

/// From one end to the other and back.
#[divan::bench(args = SIZES)]
fn ends(bencher: Bencher<'_, '_>, len: usize) {
    frames(bencher, pane(len), &[StreamMsg::Top, StreamMsg::End]);
}

/// The first frame over a run that is already there: nothing is laid out yet.
#[divan::bench(args = SIZES)]
fn first_frame(bencher: Bencher<'_, '_>, len: usize) {
    let cycle = Cycle::new(len);
    let theme = Theme::plain();
    bencher.bench_local(|| {
        let mut state = StreamState::default();
        state.attach(cycle.clone());
        let mut buffer = Buffer::empty(AREA);
        frame(&mut state, &mut buffer, &theme);
        buffer
    });
}

/// Another width: everything visible is wrapped anew.
#[divan::bench(args = SIZES)]
fn resize(bencher: Bencher<'_, '_>, len: usize) {
    let mut state = pane(len);
    let mut width = AREA.width;
    bencher.bench_local(move || {
        width = if width == AREA.width { 80 } else { AREA.width };
        state.prepare(width, AREA.height);
    });
}

/// Hits marked in the window.
#[divan::bench(args = SIZES)]
fn hits(bencher: Bencher<'_, '_>, len: usize) {
    let mut state = pane(len);
    state.update(StreamMsg::Search("stack".to_owned()));
    frames(bencher, state, &[StreamMsg::End]);
}

fn main() {
    divan::main();
}
