//! The picture of the README: the screen's own drawing of a recorded run of the demo, at the moment when a rejected
//! phase is being fixed. `tests/fixtures/demo/` has the records and what the scripted agent printed up to there.

use super::{hold, read, svg};
use programmator::base::time::Timestamp;
use programmator::demo::repository::TICKET;
use programmator::domain::news::News;
use programmator::domain::record::{BoxSettled, OfPhase, Record, Stored};
use programmator::domain::scrollback::{Entry, Live, Scrollback};
use programmator::domain::stream::envelope::classify;
use programmator::domain::ticket::parse::parse;
use programmator::tui::msg::{Input, Key, Msg};
use programmator::tui::theme::Theme;
use programmator::tui::ui::Ui;
use programmator::tui::update::update;
use programmator::tui::view::view;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::io;
use std::ops::Range;
use std::sync::Arc;

const PICTURE: &str = "snapshots/readme/demo.svg";
/// Columns and rows of the picture.
const SIZE: (u16, u16) = (120, 36);

/// What was printed in each iteration, and where its records lie.
struct Recorded(Vec<(String, Vec<Entry>)>);

impl Recorded {
    fn read() -> Self {
        let files = (1..=4).map(|n| read(&format!("tests/fixtures/demo/{n}.ndjson")));
        Self(files.map(|text| (text.clone(), entries(&text))).collect())
    }
}

fn entries(text: &str) -> Vec<Entry> {
    let mut start = 0;
    let mut found = Vec::new();
    for line in text.lines() {
        let end = start + line.len() as u64;
        found.extend(classify(line.as_bytes()).map(|kind| Entry::new(&(start..end), kind)));
        start = end + 1;
    }
    found
}

impl Scrollback for Recorded {
    fn iterations(&self) -> Vec<u32> {
        (1..=self.0.len() as u32).collect()
    }

    fn len(&self, iteration: u32) -> usize {
        self.0[iteration as usize - 1].1.len()
    }

    fn entries(&self, iteration: u32, range: Range<usize>, out: &mut Vec<Entry>) {
        let all = &self.0[iteration as usize - 1].1;
        out.extend_from_slice(&all[range.start.min(all.len())..range.end.min(all.len())]);
    }

    fn read(&self, iteration: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        let start = entry.offset as usize;
        Ok(self.0[iteration as usize - 1].0.as_bytes()[start..start + entry.len().min(max)].to_vec())
    }

    fn live(&self) -> Live {
        Live::default()
    }
}

fn records() -> Vec<Arc<Stored>> {
    read("tests/fixtures/demo/records.ndjson")
        .lines()
        .map(|line| Arc::new(serde_json::from_str(line).unwrap()))
        .collect()
}

/// The demo's screen a moment after the last record.
fn demo() -> Ui {
    let records = records();
    let last = records.last().unwrap();
    let (ticket, run) = (last.ticket.clone(), last.run);
    let now = Timestamp::from_millis(last.time.millis() + 200);
    let mut model = Ui::new(now, jiff::tz::TimeZone::UTC);
    // The file as it is at that moment: what was done has its tick.
    let mut text = TICKET.replace("status: open", "status: in_progress");
    for stored in &records {
        if let Record::TickSettled(BoxSettled { phase: OfPhase { phase, .. }, .. }) = &stored.record {
            text = text.replace(&format!("- [ ] {phase}"), &format!("- [x] {phase}"));
        }
    }
    let file = Arc::new(parse(text.as_bytes(), "demo-greet.md"));
    let scrollback: Arc<dyn Scrollback> = Arc::new(Recorded::read());
    update(&mut model, Msg::News(News::TicketRead(file.clone())));
    update(&mut model, Msg::News(News::RunOpened { ticket, run, earlier: 0, records, ours: true }));
    update(&mut model, Msg::Scrollback(run, scrollback));
    update(&mut model, Msg::News(News::TicketRead(file)));
    update(&mut model, Msg::News(News::StreamGrew(run)));
    model
}

fn draw(model: &mut Ui, size: (u16, u16)) -> Buffer {
    model.size = size;
    let (theme, _) = Theme::load("auto", &[], crate::SURFACE);
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let layout = model.prepare();
    terminal.draw(|frame| view(model, &layout, &theme, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows =
        buffer.content().chunks(width).map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

/// The screen with the list of keys over it, tall enough to hold all of it.
pub fn help_screen() -> String {
    let mut model = demo();
    update(&mut model, Msg::Key(Input { key: Key::Char('?'), ..Input::default() }));
    text(&draw(&mut model, (120, 120)))
}

#[test]
fn the_picture_is_what_the_screen_draws() {
    let buffer = draw(&mut demo(), SIZE);
    let shown = text(&buffer);
    for words in ["Tickets", "Stream", "Gauges", "Log", "Refuse a language", "did not hold", "sh test.sh", "p pause"] {
        assert!(shown.contains(words), "the picture does not show “{words}”:\n{shown}");
    }
    hold(PICTURE, &svg::of(&buffer, "programmator demo"));
    assert!(read("README.md").contains(PICTURE), "README.md does not show {PICTURE}");
}

#[test]
fn the_recorded_run_is_one_of_the_demo() {
    let Record::RunStarted { phases, validation, .. } = &records()[0].record else { panic!("no beginning") };
    let ticket = parse(TICKET.as_bytes(), "demo.md");
    let names = |texts: Vec<&str>| texts.join("\n");
    assert_eq!(
        names(phases.iter().map(|phase| phase.text.as_str()).collect()),
        names(ticket.phases.iter().map(|phase| phase.text.as_str()).collect())
    );
    assert_eq!(*validation, ticket.validation);
}
