//! The pictures of the README. The first is the screen's own drawing of a recorded run of the demo, at the moment when
//! what a critic has rejected is being fixed; the others are scenes of the screen's snapshots. `tests/fixtures/demo/` has the
//! records and what the scripted agent printed up to there.

use super::{hold, read};
use programmator::base::time::Timestamp;
use programmator::demo::repository::TICKET;
use programmator::domain::approval::Approval;
use programmator::domain::news::News;
use programmator::domain::record::{BoxSettled, OfPhase, Record, Stored};
use programmator::domain::scrollback::{Entry, Live, Scrollback, Survey};
use programmator::domain::stream::envelope::classify;
use programmator::domain::summary::Owner;
use programmator::domain::ticket::TicketKey;
use programmator::domain::ticket::parse::parse;
use programmator::tui::msg::{Input, Key, Msg};
use programmator::tui::picture::svg;
use programmator::tui::theme::Theme;
use programmator::tui::ui::Ui;
use programmator::tui::update::update;
use programmator::tui::view::view;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const PICTURE: &str = "snapshots/readme/demo.svg";
/// Columns and rows of the picture.
const SIZE: (u16, u16) = (120, 36);

/// What was printed in each iteration, and where its records lie.
struct Recorded(Vec<(String, Vec<Entry>)>);

impl Recorded {
    fn read() -> Self {
        let files = (1..=3).map(|n| read(&format!("tests/fixtures/demo/{n}.ndjson")));
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
        out.extend_from_slice(all.get(range.start..range.end.min(all.len())).unwrap_or_default());
    }

    fn read(&self, iteration: u32, entry: Entry, max: usize) -> io::Result<Vec<u8>> {
        let start = entry.offset as usize;
        Ok(self.0[iteration as usize - 1].0.as_bytes()[start..start + entry.len().min(max)].to_vec())
    }

    fn live(&self) -> Live {
        Live::default()
    }

    fn survey(&self, _: Arc<dyn Survey>) {}
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
    let (ticket, run) = (TicketKey::new(last.ticket.clone(), Path::new("/demo/.tickets/demo-greet.md")), last.run);
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
    update(&mut model, Msg::News(News::TicketRead(ticket.clone(), file.clone())));
    update(
        &mut model,
        Msg::News(News::RunOpened { ticket: ticket.clone(), run, earlier: 0, records, owner: Owner::Here }),
    );
    update(&mut model, Msg::Scrollback(run, scrollback));
    update(&mut model, Msg::News(News::TicketRead(ticket, file)));
    update(&mut model, Msg::News(News::StreamGrew(run)));
    model
}

fn theme() -> Theme {
    Theme::load("auto", &[], crate::SURFACE).0
}

fn draw(model: &mut Ui, size: (u16, u16)) -> Buffer {
    model.size = size;
    let theme = theme();
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    let layout = model.prepare_whole(programmator::adapters::syntax::read);
    terminal.draw(|frame| view(model, &layout, &theme, frame)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows =
        buffer.content().chunks(width).map(|row| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

/// The screen with the list of keys over it, in one column and tall enough to hold all of it.
pub fn help_screen() -> String {
    let mut model = demo();
    update(&mut model, Msg::Key(Input { key: Key::Char('?'), ..Input::default() }));
    text(&draw(&mut model, (84, 300)))
}

#[test]
fn the_picture_is_what_the_screen_draws() {
    let buffer = draw(&mut demo(), SIZE);
    let shown = text(&buffer);
    for words in
        ["Tickets", "Stream", "Gauges", "Log", "1 issue to fix", "fix · Greet a person", "Ada Lovelace", "p pause"]
    {
        assert!(shown.contains(words), "the picture does not show “{words}”:\n{shown}");
    }
    hold(PICTURE, &svg(&buffer, &theme(), "programmator demo"));
    assert!(read("README.md").contains(PICTURE), "README.md does not show {PICTURE}");
}

/// A call waits for the person in the demo.
fn question() -> Ui {
    let mut model = demo();
    let (phase, asked) = (Some("Greet a person by name".to_owned()), model.now);
    let approval = Approval { phase, asked, ..crate::sample::push("call") };
    model.tabs[0].state.approvals.push(approval.into());
    update(&mut model, Msg::Key(Input { key: Key::Char('!'), ..Input::default() }));
    model
}

#[test]
fn the_other_pictures_are_what_the_screen_draws() {
    let pictures = [
        ("home", crate::screen::at_home(), ["NEEDS YOU", "READY"]),
        ("question", question(), ["git push", "allow once"]),
        ("diff", crate::screen::diffed(), ["RateLimit", "hunk 1/2"]),
    ];
    for (name, mut model, expected) in pictures {
        let buffer = draw(&mut model, SIZE);
        let shown = text(&buffer);
        assert!(expected.iter().all(|words| shown.contains(words)), "{name}:\n{shown}");
        let file = format!("snapshots/readme/{name}.svg");
        hold(&file, &svg(&buffer, &theme(), "programmator"));
        assert!(read("README.md").contains(&file), "README.md does not show {file}");
    }
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
