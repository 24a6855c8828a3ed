//! What stands behind the gauges: each counter with its limit and what it is for, and every movement with the
//! iteration and the evidence that caused it.

use crate::base::time::human;
use crate::domain::breaker::{Circuit, Counter};
use crate::domain::messages::Weight as Level;
use crate::orchestrator::breaker::{Recovery, recover};
use crate::tui::model::Model;
use crate::tui::panes::gauges::{with_same_error, without_progress};
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{WIDEST, centred};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The list of counters and movements.
#[derive(Clone, Copy, Debug, Default)]
pub struct Explain(Scrolled);

impl Explain {
    /// Scrolls by lines, not beyond the end.
    pub fn scroll(&mut self, by: i32, model: &Model, room: Rect) {
        self.0.scroll(by, rows(model, inner_width(room)).len(), Scrolled::page(room));
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let title = model.tab().map(|tab| format!("Gauges · {}", tab.id)).unwrap_or_default();
        let rows = rows(model, inner_width(room));
        let room = centred(room, room.width.min(WIDEST), room.height);
        self.0.view(&title, &rows, model.glyphs, theme, room, buf);
    }
}

fn inner_width(room: Rect) -> usize {
    usize::from(room.width.min(WIDEST)).saturating_sub(4)
}

/// Columns before the words of a counter, and of a movement.
const INDENT: usize = 28;

fn rows(model: &Model, columns: usize) -> Vec<Row> {
    let Some(tab) = model.tab() else { return vec![Row::new().left(Role::Dim, "No run yet.")] };
    let mut rows = standing(model, tab, columns);
    rows.push(Row::new());
    rows.push(Row::new().left(Role::Title, "Changes in this run"));
    if tab.movements.is_empty() {
        rows.push(Row::new().left(Role::Dim, "  No changes yet."));
    }
    for moved in tab.movements.iter().rev() {
        let role = match moved.level {
            Level::Error => Role::Danger,
            Level::Warn => Role::Warning,
            _ => Role::Text,
        };
        let place = moved.iteration.map_or_else(|| "between".to_owned(), |n| format!("iteration {n}"));
        let time = moved.time.clock_time(&model.zone);
        let text = moved
            .text
            .strip_prefix("circuit breaker")
            .map_or(moved.text.as_str(), |rest| rest.trim_start_matches([':', ' ']));
        hang(&mut rows, Row::new().left(Role::Dim, format!("  {time}  {place:<15} ")), role, text, columns);
    }
    rows
}

/// Where the breaker stands, what each counter counts, and what becomes of it at its limit.
fn standing(model: &Model, tab: &Tab, columns: usize) -> Vec<Row> {
    let (breaker, limits) = (&tab.state.breaker, &tab.state.settings.breaker);
    let (word, role) = model.glyphs.lamp(breaker.state);
    let head = Row::new().left(Role::Title, format!("{:<INDENT$}", "Circuit breaker")).left(role, word);
    let mut rows = vec![head];
    let meaning = match breaker.state {
        Circuit::Closed => "runs continue".to_owned(),
        Circuit::HalfOpen => "the next iteration decides: a change closes it".to_owned(),
        Circuit::Open => match recover(breaker, limits, model.now) {
            Recovery::Refused { left } => {
                format!("nothing runs; one iteration is allowed in {}; b closes it now", human(left))
            }
            _ => "nothing runs; the next start allows one iteration; b closes it now".to_owned(),
        },
    };
    let why = if breaker.reason.is_empty() { meaning } else { format!("{}; {meaning}", breaker.reason) };
    hang(&mut rows, Row::new().left(Role::Text, "  "), Role::Text, &why, columns);
    let ((idle, most_idle), (alike, most_alike)) = (without_progress(&tab.state), with_same_error(&tab.state));
    let counted = [
        (Counter::NoProgress, idle, most_idle, "iterations in a row that changed nothing"),
        (Counter::SameError, alike, most_alike, "iterations in a row that ended with the same error"),
        (
            Counter::PermissionDenials,
            breaker.permission_denials,
            limits.permission_denials,
            "iterations in a row without a change and with denied calls",
        ),
        (
            Counter::OutputDecline,
            breaker.output_decline,
            limits.output_decline,
            "drop of the output in percent; at most half-opens the breaker",
        ),
    ];
    for (counter, value, limit, doc) in counted {
        let role = if value == 0 { Role::Dim } else { Role::GaugeWarning };
        let head = Row::new()
            .left(Role::Dim, format!("  {:<18}", counter.word()))
            .left(role, format!("{:>6}  ", format!("{value}/{limit}")));
        hang(&mut rows, head, Role::Text, doc, columns);
    }
    rows
}

/// The words after their head, wrapped behind it.
fn hang(rows: &mut Vec<Row>, head: Row, role: Role, words: &str, columns: usize) {
    let indent = head.left_width();
    let mut lines = wrap(words, columns.saturating_sub(indent).max(20)).into_iter();
    rows.push(head.left(role, lines.next().unwrap_or_default()));
    rows.extend(lines.map(|line| Row::new().left(role, format!("{:indent$}{line}", ""))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::breaker::{CounterMoved, StateMoved};
    use crate::domain::record::Record;
    use crate::tui::sample;

    #[test]
    fn every_movement_names_its_iteration_and_its_evidence() {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        let counted = CounterMoved {
            n: 7,
            counter: Counter::NoProgress,
            value: 2,
            limit: 3,
            why: "the working tree did not change".into(),
            said: None,
        };
        let moved = StateMoved { n: 7, from: Circuit::Closed, to: Circuit::HalfOpen, reason: "idle".into() };
        for (seq, record) in (41..).zip([Record::BreakerCounted(counted), Record::BreakerMoved(moved)]) {
            assert!(tab.record(&sample::stored("tk-1", seq, record)));
        }
        assert_eq!(tab.movements.len(), 2);
        assert_eq!(tab.movements[0].iteration, Some(7));
        assert!(tab.movements[0].text.contains("no progress, 2 in a row · the working tree did not change"));
        model.tabs.push(tab);
        let drawn = rows(&model, 160).len();
        assert_eq!(drawn, 1 + 1 + 4 + 1 + 1 + 2, "lamp, meaning, counters, air, heading, movements");
    }

    #[test]
    fn the_limit_that_comes_first_is_the_one_that_is_told() {
        let mut ui = sample::model();
        let mut tab = sample::running("tk-1");
        tab.state.repeated = Some(("exit 1".into(), 2));
        (tab.state.settings.repeated_error_limit, tab.state.settings.breaker.same_error) = (3, 5);
        ui.tabs.push(tab);
        ui.focus = crate::tui::panes::gauges::NAME;
        let pane = sample::draw(&mut ui, (120, 40));
        crate::tui::update::update(&mut ui, crate::tui::msg::Msg::Key(sample::key("Enter")));
        let explained = sample::draw(&mut ui, (120, 40));
        assert!(pane.contains("2/3"), "{pane}");
        assert!(explained.contains("2/3") && !explained.contains("0/5  iterations in a row that ended"), "{explained}");
    }
}
