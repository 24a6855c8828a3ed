//! The Gauges pane: numbers with their limits. Only what is known is drawn, and each in its own line.

use crate::base::time::human;
use crate::orchestrator::state::{Retry, State};
use crate::tui::command::{self, Command, Scope, c, can_command, press, rows};
use crate::tui::forecast;
use crate::tui::marks::Glyphs;
use crate::tui::model::{Mode, Model};
use crate::tui::msg::{Ask, Key};
use crate::tui::pane::{Entry, Pane};
use crate::tui::panes::now::ROOMY;
use crate::tui::panes::stream::Stream;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::bar::{bar, boxes, spark};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

mod gauge;
mod limits;

use gauge::{BAR, Gauge, role_of};
use limits::COST;

/// The row of the table.
pub const PANE: Entry = Entry { name: NAME, keys: KEYS, new: || Box::new(Gauges) };
/// The pane's name.
pub const NAME: &str = "gauges";

const KEYS: &[command::Row] = rows! {
    Explain "gauges.explain" Scope::Pane(NAME), "gauges", [press(Key::Enter)], Shown, Model::shows_run, |_| "explain",
        "in Gauges: explain the circuit breaker's counters";
    Limits "gauges.limits" Scope::Pane(NAME), "gauges", [c('+'), c('-'), c('=')], Shown, can_command, |_| "limits",
        "in Gauges: change the run's limits, budget and model";
};

struct Gauges;

/// Least lines of the pane, borders included.
const LEAST: u16 = 6;
/// Share of its limit below which a gauge need not be seen.
const AT_REST: f64 = 0.5;

/// Lines of the pane, borders included: more as there is more to say.
pub fn height(model: &Model) -> u16 {
    let rows = model.tab().filter(|tab| tab.run.is_some()).map_or(0, |tab| told(model, tab).len());
    (rows as u16 + 2).max(LEAST)
}

/// The gauges that have something to say; all of them while keys go to the pane.
fn told(model: &Model, tab: &Tab) -> Vec<Gauge> {
    // The line under the tabs says it too.
    let is_said = |gauge: &Gauge| gauge.label == TIME_LEFT && usize::from(model.size.0) >= ROOMY;
    let at_rest = |gauge: &Gauge| {
        !gauge.warns() && (gauge.label.starts_with(' ') || gauge.label == "Model" || is_low(gauge) || is_said(gauge))
    };
    let mut all = gauges(model, tab);
    if model.focus != NAME {
        all.retain(|gauge| !at_rest(gauge));
        join(&mut all);
    }
    all
}

/// Iteration and cost in one line, where neither is near a limit.
fn join(all: &mut Vec<Gauge>) {
    let at = |label: &str| all.iter().position(|gauge| gauge.label == label && !gauge.warns());
    let (Some(iteration), Some(cost)) = (at("Iteration"), at(COST)) else { return };
    let Gauge { value: spent, .. } = all.remove(cost);
    let mut joined = all.remove(iteration);
    joined.value = format!("{} · {spent}", joined.value);
    all.insert(cost - 1, joined);
}

/// It has nothing to say as long as it is low.
fn is_low(gauge: &Gauge) -> bool {
    matches!(gauge.label, "Context" | "Tokens/h") && gauge.share.is_some_and(|share| share < AT_REST)
}

/// It counts, and nothing was counted.
fn is_at_zero(gauge: &Gauge) -> bool {
    gauge.value.starts_with("0/")
}

/// Columns of the labels.
const LABEL: usize = 14;
const TIME_LEFT: &str = "Time left";
/// The circuit breaker's row.
const LAMP: &str = "Breaker";
/// The row that stands at the right of the one-line form.
const LAST_BYTE: &str = "Last byte";
/// The same gauge while Claude waits for the service.
const RETRY: &str = "Retry";
/// Iterations that only looked at what was found done, which count for nothing.
const REVIEWS: &str = "  reviews";
/// Share of the idle limit from which silence is worth a word, and from which the end is near.
const QUIET: f64 = 0.5;
const CUT_SOON: f64 = 0.8;

/// Of a count of the breaker's and one of this run's own guard the one that stops the run sooner.
fn nearer(breaker: (u32, u32), guard: (u32, u32)) -> (u32, u32) {
    let left = |(n, limit): (u32, u32)| if limit == 0 { u32::MAX } else { limit.saturating_sub(n) };
    if left(guard) < left(breaker) && guard.0 > 0 { guard } else { breaker }
}

/// How many iterations in a row have changed nothing, and how many may.
pub fn without_progress(state: &State) -> (u32, u32) {
    let (limits, guard) = (&state.settings.breaker, (state.stagnation, state.settings.stagnation_limit));
    nearer((state.breaker.no_progress, limits.no_progress), guard)
}

/// How many in a row have ended with the same error, and how many may.
pub fn with_same_error(state: &State) -> (u32, u32) {
    let repeated = state.repeated.as_ref().map_or(0, |(_, times)| *times);
    let guard = (repeated, state.settings.repeated_error_limit);
    nearer((state.breaker.same_error, state.settings.breaker.same_error), guard)
}

/// A counter that ends the run at its limit.
fn counter(label: &'static str, brief: &'static str, glyphs: Glyphs, (n, limit): (u32, u32)) -> Gauge {
    let mut gauge = Gauge::new(label, brief, format!("{n}/{limit}"));
    gauge.picture = boxes(glyphs, n, limit, BAR as u32);
    if limit > 0 && n > 0 {
        // The last step before the limit is danger, any other above none is a warning.
        gauge.role = role_of(f64::from(n + 1) / f64::from(limit), 0.0, 1.0);
        gauge.word = match limit.saturating_sub(n) {
            0 => "limit",
            1 => "1 left",
            _ => "",
        };
    }
    gauge
}

/// What is known, in the order of the pane.
fn gauges(model: &Model, tab: &Tab) -> Vec<Gauge> {
    if tab.is_own_session() {
        // Nothing of it is counted or limited here.
        let own = tab.own.iter();
        return own.map(|own| Gauge::new("Session", "", own.place.clone())).collect();
    }
    let glyphs = model.glyphs;
    let state = &tab.state;
    let limits = &state.settings;
    let (n, most) = (state.counted_iterations(), limits.max_iterations);
    let share = f64::from(n) / f64::from(most.max(1));
    let iteration = Gauge::new("Iteration", "it", format!("{n}/{most}")).share(glyphs, share, 0.8, 0.95).in_words();
    let (breaker, most) = (&state.breaker, &limits.breaker);
    let (word, role) = glyphs.lamp(breaker.state);
    let denied = breaker.permission_denials;
    let rows = [
        Some(Gauge { role, ..Gauge::new(LAMP, "breaker", word) }),
        Some(counter("  no progress", "stuck", glyphs, without_progress(state))),
        Some(counter("  same error", "errors", glyphs, with_same_error(state))),
        (denied > 0).then(|| counter("  denied", "denied", glyphs, (denied, most.permission_denials))),
        // A chat has no end to come near to.
        state.chat.is_none().then_some(iteration),
        // The log numbers them on.
        (state.reviews > 0).then(|| Gauge::new(REVIEWS, "reviews", state.reviews.to_string())),
        forecast::left(model, tab).map(|left| Gauge::new(TIME_LEFT, "left", forecast::words(left))),
        last_byte(model, tab),
        state.model.as_ref().map(|name| Gauge::new("Model", "model", name.clone())),
    ];
    let mut rows: Vec<Gauge> = rows.into_iter().flatten().collect();
    // Behind the iteration and its time.
    let at = rows
        .iter()
        .rposition(|row| ["Iteration", REVIEWS, TIME_LEFT].contains(&row.label))
        .map_or(rows.len(), |at| at + 1);
    rows.splice(at..at, limits::rows(model, tab).into_iter().chain(context(glyphs, state)));
    rows
}

fn context(glyphs: Glyphs, state: &State) -> Option<Gauge> {
    let (tokens, window) = state.context?;
    if window == 0 {
        return None;
    }
    let share = tokens as f64 / window as f64;
    let gauge = Gauge::new("Context", "ctx", format!("{:.0} %", share * 100.0));
    Some(gauge.share(glyphs, share, 0.8, 0.9).in_words())
}

/// The heartbeat, while Claude's process runs: how long it has been silent, and a word when that goes on for long.
fn last_byte(model: &Model, tab: &Tab) -> Option<Gauge> {
    let state = &tab.state;
    if !tab.is_at_work() || !state.agent_alive() || model.mode == Mode::Replay {
        return None;
    }
    let silence = tab.pulse.silence(model.now)?;
    let mut gauge = Gauge::new(LAST_BYTE, "", human(silence));
    if model.animations {
        gauge.picture.0 = spark(model.glyphs, &tab.pulse.seen(model.now));
    }
    let open = state.open_iteration();
    if let Some(retry) = open.and_then(|open| open.retry.as_ref()).filter(|retry| retry.at > model.now) {
        let (Retry { attempt, max, .. }, error) = (retry, retry.error.replace('_', " "));
        let value = format!("{attempt}/{max} · {error} · {}", human(retry.at.since(model.now)));
        let role = role_of(f64::from(*attempt) / f64::from((*max).max(1)), 0.0, CUT_SOON);
        return Some(Gauge { role, ..Gauge::new(RETRY, "", value) });
    }
    if !state.approvals.is_empty() || open.is_some_and(|open| !open.tools.is_empty()) {
        // A tool may be silent for as long as it likes, and whoever waits for an answer is.
        return Some(gauge);
    }
    let limit = state.settings.idle_timeout.max(1);
    gauge.role = role_of(silence.as_secs_f64() / limit as f64, QUIET, CUT_SOON);
    match gauge.role {
        Role::GaugeWarning => gauge.value.push_str(" quiet"),
        Role::GaugeDanger => {
            gauge.picture.0.clear();
            gauge.value = format!("{} · limit {}", human(silence), human(Duration::from_secs(limit)));
        }
        _ => {}
    }
    Some(gauge)
}

impl Pane for Gauges {
    /// There is nothing to scroll here: the keys are the stream's.
    fn act(&mut self, model: &mut Model, command: Command, height: usize) -> Vec<Ask> {
        Stream.act(model, command, height)
    }

    fn view(&self, model: &Model, _: bool, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let Some(tab) = model.tab().filter(|tab| tab.run.is_some()) else {
            Row::new().left(Role::Dim, "No run yet.").draw(theme, area, buf);
            return;
        };
        let inside = Rect { width: area.width.min(60), ..area };
        for (place, gauge) in inside.rows().zip(told(model, tab)) {
            let (picture_role, value_role) =
                if gauge.warns() { (gauge.role, gauge.role) } else { (Role::GaugeFill, Role::Text) };
            // The picture's column is the value's where there is no picture.
            let label = if gauge.picture.0.is_empty() && gauge.picture.1.is_empty() { 0 } else { LABEL };
            // A word that has no room behind the label stands before the value.
            let beside = label == 0 || gauge.label.width() + gauge.word.len() + 1 < LABEL;
            let (word, value) = match (gauge.word, beside) {
                ("", _) => (String::new(), gauge.value),
                (word, true) => (format!(" {word}"), gauge.value),
                (word, false) => (String::new(), format!("{word} {}", gauge.value)),
            };
            let room = usize::from(inside.width).saturating_sub(LABEL + 1 + value.width());
            let picture = match gauge.share {
                Some(share) if room < BAR => bar(model.glyphs, share, room),
                _ => gauge.picture,
            };
            Row::new()
                .left(Role::Dim, gauge.label)
                .left(value_role, format!("{word:<rest$}", rest = label.saturating_sub(gauge.label.width())))
                .left(picture_role, picture.0)
                .left(Role::GaugeTrack, picture.1)
                .right(value_role, value)
                .draw(theme, place, buf);
        }
    }

    /// What matters most first, for the end is cut.
    fn view_line(&self, model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let Some(tab) = model.tab().filter(|tab| tab.run.is_some()) else { return };
        let mut all = gauges(model, tab);
        all.retain(|gauge| !is_low(gauge) && !is_at_zero(gauge));
        let last =
            all.iter().position(|gauge| gauge.label == LAST_BYTE || gauge.label == RETRY).map(|at| all.remove(at));
        let mut row = Row::new().left(Role::Text, " ");
        if let Some(last) = last {
            let role = match last.role {
                Role::GaugeFill => Role::Dim,
                role => role,
            };
            if area.width >= 76 {
                row = row.right(Role::GaugeFill, last.picture.0);
            }
            let value = if last.label == RETRY { format!("retry {}", last.value) } else { last.value };
            row = row.right(role, format!(" {value:>5} "));
        }
        let room = usize::from(area.width).saturating_sub(row.right_width() + 1);
        // The lamp, what rises towards its limit, money and limits; the breaker's counters at rest give way.
        all.sort_by_key(|gauge| match gauge.label {
            LAMP => 0,
            _ if gauge.warns() => 1,
            label if label.starts_with(' ') => 3,
            _ => 2,
        });
        let mut apart = "";
        for gauge in all.into_iter().filter(|gauge| gauge.brief != "model") {
            let gap = if gauge.brief.is_empty() { "" } else { " " };
            let told = gauge.told();
            let width = apart.len() + gauge.brief.len() + gap.len() + told.width();
            if row.left_width() + width > room {
                continue;
            }
            let role = match gauge.role {
                Role::GaugeFill => Role::Text,
                role => role,
            };
            row = row.left(Role::Dim, format!("{apart}{}{gap}", gauge.brief)).left(role, told);
            apart = "  ";
        }
        row.draw(theme, area, buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::orchestrator::state::Stage;
    use crate::tui::sample;
    use crate::tui::tab::Pulse;

    #[test]
    fn of_two_limits_the_nearer_one_is_shown() {
        assert_eq!(nearer((2, 5), (2, 3)), (2, 3));
        assert_eq!([nearer((2, 3), (2, 3)), nearer((1, 3), (0, 1)), nearer((2, 5), (9, 0))], [(2, 3), (1, 3), (2, 5)]);
    }

    #[test]
    fn the_last_step_before_a_limit_is_danger() {
        let role = |n| counter("stuck", "stuck", Glyphs::Unicode, (n, 3)).role;
        assert_eq!(role(0), Role::GaugeFill);
        assert_eq!(role(1), Role::GaugeWarning);
        assert_eq!(role(2), Role::GaugeDanger);
    }

    /// The heartbeat of a tab whose last byte came so many seconds ago: label, value, role.
    fn heart(seconds: i64, change: impl FnOnce(&mut Tab)) -> Option<(&'static str, String, Role)> {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        tab.pulse = Pulse::default();
        tab.pulse.beat(Timestamp::from_millis(sample::NOW.millis() - seconds * 1_000));
        change(&mut tab);
        model.tabs.push(tab);
        let all = gauges(&model, &model.tabs[0]);
        let found = all.into_iter().find(|gauge| gauge.label == LAST_BYTE || gauge.label == RETRY);
        found.map(|gauge| (gauge.label, gauge.value, gauge.role))
    }

    #[test]
    fn silence_gets_a_word_before_it_is_cut() {
        let still = |seconds| heart(seconds, |_| ());
        assert_eq!(still(2), Some((LAST_BYTE, "2 s".into(), Role::GaugeFill)));
        assert_eq!(still(160), Some((LAST_BYTE, "2m 40s quiet".into(), Role::GaugeWarning)));
        assert_eq!(still(250), Some((LAST_BYTE, "4m 10s · limit 5m 00s".into(), Role::GaugeDanger)));
        let tool = |tab: &mut Tab| {
            tab.state.iteration.as_mut().unwrap().tools.insert("t".into());
        };
        let asks = |tab: &mut Tab| tab.state.approvals.push(sample::push("c").into());
        let calm = Some(("4m 10s".into(), Role::GaugeFill));
        assert_eq!(heart(250, tool).map(|(_, value, role)| (value, role)), calm);
        assert_eq!(heart(250, asks).map(|(_, value, role)| (value, role)), calm, "it is Claude who waits");
    }

    #[test]
    fn without_animations_the_heart_is_a_time_alone() {
        let mut model = sample::busy();
        let picture = |model: &Model| {
            let all = gauges(model, &model.tabs[0]);
            all.into_iter().find(|gauge| gauge.label == LAST_BYTE).map(|gauge| (gauge.picture.0, gauge.value)).unwrap()
        };
        let (moving, value) = picture(&model);
        assert!(!moving.is_empty());
        model.animations = false;
        assert_eq!(picture(&model), (String::new(), value));
    }

    #[test]
    fn the_heart_is_drawn_while_claude_runs_only() {
        for stage in [Stage::Snapshotting, Stage::Comparing, Stage::Validating, Stage::Paused] {
            assert_eq!(heart(2, |tab| tab.state.stage = stage), None);
        }
        assert!(heart(2, |tab| tab.state.stage = Stage::Closing).is_some());
    }

    #[test]
    fn a_retry_is_counted_down_until_it_is_made() {
        let retry = |attempt, seconds: i64| {
            move |tab: &mut Tab| {
                let at = Timestamp::from_millis(sample::NOW.millis() + seconds * 1_000);
                let retry = Retry { attempt, max: 10, error: "rate_limit".into(), at };
                tab.state.iteration.as_mut().unwrap().retry = Some(retry);
            }
        };
        assert_eq!(heart(2, retry(3, 8)), Some((RETRY, "3/10 · rate limit · 8 s".into(), Role::GaugeWarning)));
        assert_eq!(heart(2, retry(8, 37)), Some((RETRY, "8/10 · rate limit · 37 s".into(), Role::GaugeDanger)));
        let made = heart(160, retry(3, 0));
        assert_eq!(made, Some((LAST_BYTE, "2m 40s quiet".into(), Role::GaugeWarning)), "from there on it is silence");
    }

    #[test]
    fn a_counter_that_rises_stays_on_the_one_line() {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        (tab.state.breaker.no_progress, tab.state.breaker.same_error) = (1, 1);
        model.tabs.push(tab);
        let mut buf = Buffer::empty(Rect::new(0, 0, 80, 1));
        Gauges.view_line(&model, &Theme::plain(), buf.area, &mut buf);
        let line: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert!(line.contains("breaker ● closed  stuck 1/3  errors 1/5  it "), "{line}");
    }

    #[test]
    fn at_rest_there_are_three_lines_and_the_heartbeat_and_none_is_lost_to_who_looks() {
        let mut model = sample::busy();
        let labels = |model: &Model| told(model, &model.tabs[0]).iter().map(|gauge| gauge.label).collect::<Vec<_>>();
        let screen = sample::draw(&mut model, (120, 40));
        assert_eq!(labels(&model), [LAMP, "Calls/h", "Iteration", LAST_BYTE]);
        assert!(screen.contains("7/50 · $1.42 │"), "{screen}");
        let iterations = model.tabs[0].state.settings.max_iterations;
        model.tabs[0].state.iterations = iterations;
        assert!(labels(&model).contains(&COST), "what warns has its own line");
        model.tabs[0].state.iterations = 7;
        model.focus = NAME;
        assert!(["Iteration", COST].iter().all(|label| labels(&model).contains(label)));
    }

    #[test]
    fn what_is_not_known_is_not_drawn() {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        tab.state.context = Some((10, 0));
        tab.pulse = Pulse::default();
        model.tabs.push(tab);
        let drawn = gauges(&model, &model.tabs[0]);
        assert!(drawn.iter().all(|gauge| gauge.label != "Context" && gauge.label != LAST_BYTE));
    }
}
