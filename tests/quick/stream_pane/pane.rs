//! A pane over a scrollback in memory, and the records that fill it.

use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::record::{FORMAT, Record, Stored};
use programmator::domain::scrollback::{Entry, EntryKind, Live, Scrollback, Survey};
use programmator::domain::step::Role;
use programmator::tui::panes::stream::{FollowStatus, StreamMsg, StreamState, view};
use programmator::tui::syntax::Syntax;
use programmator::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// An iteration's lines and their index.
type File = (Vec<u8>, Vec<Entry>);

/// A scrollback in memory: the files, and what the index says about them.
#[derive(Default)]
pub struct Memory {
    pub files: Mutex<BTreeMap<u32, File>>,
    pub live: Mutex<Live>,
    /// Surveys are kept here instead of being made.
    pub surveys: Option<Mutex<Vec<Arc<dyn Survey>>>>,
}

impl Memory {
    pub fn push(&self, n: u32, record: &Value) {
        self.push_line(n, record.to_string().as_bytes());
    }

    pub fn push_line(&self, n: u32, line: &[u8]) {
        let kinds = [
            ("assistant", EntryKind::Assistant),
            ("user", EntryKind::User),
            ("result", EntryKind::Result),
            ("system", EntryKind::System),
            ("rate_limit_event", EntryKind::RateLimit),
        ];
        let named = |name: &str| line.starts_with(format!("{{\"type\":\"{name}\"").as_bytes());
        let kind = kinds.into_iter().find(|(name, _)| named(name)).map_or(EntryKind::Garbage, |(_, kind)| kind);
        let mut files = self.files.lock().unwrap();
        let (bytes, entries) = files.entry(n).or_default();
        let start = bytes.len() as u64;
        bytes.extend_from_slice(line);
        entries.push(Entry::new(&(start..bytes.len() as u64), kind));
        bytes.push(b'\n');
    }

    pub fn say(&self, text: &str) {
        self.live.lock().unwrap().text.push_str(text);
    }
}

impl Scrollback for Memory {
    fn iterations(&self) -> Vec<u32> {
        self.files.lock().unwrap().keys().copied().collect()
    }

    fn len(&self, iteration: u32) -> usize {
        self.files.lock().unwrap().get(&iteration).map_or(0, |file| file.1.len())
    }

    fn entries(&self, iteration: u32, range: Range<usize>, out: &mut Vec<Entry>) {
        if let Some((_, entries)) = self.files.lock().unwrap().get(&iteration) {
            let end = range.end.min(entries.len());
            out.extend_from_slice(&entries[range.start.min(end)..end]);
        }
    }

    fn read(&self, iteration: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        let files = self.files.lock().unwrap();
        let (bytes, _) = files.get(&iteration).ok_or(io::ErrorKind::NotFound)?;
        let start = entry.offset as usize;
        Ok(bytes[start..start + entry.len().min(max)].to_vec())
    }

    fn live(&self) -> Live {
        self.live.lock().unwrap().clone()
    }

    fn survey(&self, survey: Arc<dyn Survey>) {
        match &self.surveys {
            Some(surveys) => surveys.lock().unwrap().push(survey),
            None => while survey.step(self) {},
        }
    }
}

pub fn text(text: &str) -> Value {
    json!({"type":"assistant","message":{"content":[{"type":"text","text":text}]},"parent_tool_use_id":null})
}

pub fn thinking(text: &str) -> Value {
    json!({"type":"assistant","message":{"content":[{"type":"thinking","thinking":text}]}})
}

pub fn call(id: &str, name: &str, input: Value) -> Value {
    json!({"type":"assistant","message":{"content":[{"type":"tool_use","id":id,"name":name,"input":input}]},"parent_tool_use_id":null})
}

pub fn result(id: &str, content: &str, shape: Value) -> Value {
    json!({"type":"user","message":{"content":[{"tool_use_id":id,"type":"tool_result","content":content}]},"parent_tool_use_id":null,"tool_use_result":shape})
}

pub fn failure(id: &str, content: &str) -> Value {
    json!({"type":"user","message":{"content":[{"type":"tool_result","content":content,"is_error":true,"tool_use_id":id}]},"tool_use_result":"Error"})
}

pub fn within(mut record: Value, parent: &str) -> Value {
    record["parent_tool_use_id"] = json!(parent);
    record
}

/// A pane over a scrollback in memory.
pub struct Pane {
    pub memory: Arc<Memory>,
    pub state: StreamState,
    seq: u64,
    pub size: (u16, u16),
}

impl Pane {
    pub fn new(width: u16, height: u16) -> Self {
        let memory = Arc::new(Memory::default());
        let mut state = StreamState::default();
        state.attach(memory.clone());
        Self { memory, state, seq: 0, size: (width, height) }
    }

    /// Journals a record `ms` milliseconds after the start.
    pub fn record(&mut self, ms: i64, record: Record) {
        self.seq += 1;
        self.state.record(&Stored {
            v: FORMAT,
            seq: self.seq,
            time: Timestamp::from_millis(1_795_269_600_000 + ms),
            run: RunId(uuid::Uuid::nil()),
            ticket: TicketId::parse("tk-4f2a").unwrap(),
            record,
        });
    }

    pub fn start(&mut self, n: u32, phase: &str, session: Option<&str>) {
        self.record(
            0,
            Record::IterationStarted {
                n,
                phase: Some(phase.into()),
                session: session.map(Into::into),
                id: None,
                role: Role::default(),
            },
        );
        self.record(0, Record::AgentSpawned { n, pid: 1 });
    }

    pub fn push(&self, n: u32, record: &Value) {
        self.memory.push(n, record);
    }

    pub fn prepare(&mut self) {
        self.state.prepare(self.size.0, self.size.1);
    }

    pub fn buffer(&mut self) -> Buffer {
        self.prepare();
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        let mut buffer = Buffer::empty(area);
        view(&self.state, &Syntax::default(), &Theme::plain(), area, &mut buffer);
        buffer
    }

    pub fn screen(&mut self) -> Vec<String> {
        let buffer = self.buffer();
        let width = usize::from(self.size.0);
        let rows = buffer.content().chunks(width).map(|row| {
            let mut line = String::new();
            let mut skip = 0;
            for cell in row {
                if skip == 0 {
                    line.push_str(cell.symbol());
                    skip = unicode_width::UnicodeWidthStr::width(cell.symbol()).max(1);
                }
                skip -= 1;
            }
            line.trim_end().to_owned()
        });
        rows.collect()
    }

    pub fn update(&mut self, msg: StreamMsg) {
        self.state.update(msg);
        self.prepare();
    }

    pub fn behind(&self) -> bool {
        matches!(self.state.status(), FollowStatus::Behind { .. })
    }

    /// Every row from the first to the last, by scrolling down one row at a time.
    pub fn walk(&mut self) -> Vec<String> {
        self.update(StreamMsg::Top);
        let mut rows = vec![self.screen()[0].clone()];
        let mut steps = 0;
        while self.behind() {
            self.update(StreamMsg::Lines(1));
            if self.behind() {
                rows.push(self.screen()[0].clone());
            }
            steps += 1;
            assert!(steps < 100_000, "scrolling down never ends");
        }
        // The last window.
        let last = self.screen();
        if rows.len() == 1 && steps == 0 {
            return last;
        }
        rows.extend(last);
        rows
    }
}
