//! The rows of limits: calls, tokens, the provider's windows, the budget or the cost.
//!
//! Calls, tokens and windows are the account's: what any open ticket knows of them counts for all. What the provider
//! never told, or told of a window that is over, is not drawn.

use super::gauge::{Gauge, role_of};
use crate::base::time::Timestamp;
use crate::domain::limits::admission::Ledger;
use crate::domain::limits::hour;
use crate::domain::limits::provider::{ACCOUNT, Window, WindowStatus};
use crate::orchestrator::limits::{budgets, spent};
use crate::orchestrator::state::LimitState;
use crate::tui::forecast;
use crate::tui::marks::Glyphs;
use crate::tui::model::Model;
use crate::tui::tab::Tab;
use crate::tui::theme::role::Role;
use std::collections::BTreeMap;

/// What was spent, where there is no budget.
pub(super) const COST: &str = "Cost";
/// From which share on a limit is a warning, and a danger.
const WARN: f64 = 0.8;
const DANGER: f64 = 0.95;

pub(super) fn rows(model: &Model, tab: &Tab) -> Vec<Gauge> {
    let glyphs = model.glyphs;
    let limits = &tab.state.settings.limits;
    let now = model.moment(tab);
    let used = calls(model, tab, now);
    let mut rows = vec![counted(glyphs, "Calls/h", "calls", used, u64::from(limits.calls), |n| n.to_string())];
    if let Some(most) = limits.tokens {
        rows.push(counted(glyphs, "Tokens/h", "tok", tokens(model, tab, now), most, compact));
    }
    for (window, closes) in windows(model, now) {
        rows.push(window_row(model, window));
        rows.extend(closes.filter(|closes| *closes > now).map(|closes| closing(model, tab, closes)));
    }
    rows.push(money(glyphs, tab));
    rows
}

fn counted(
    glyphs: Glyphs,
    label: &'static str,
    brief: &'static str,
    n: u64,
    most: u64,
    write: fn(u64) -> String,
) -> Gauge {
    let share = n as f64 / most.max(1) as f64;
    // At the limit nothing more goes.
    Gauge::new(label, brief, format!("{}/{}", write(n), write(most))).share(glyphs, share, WARN, DANGER).in_words()
}

/// The counters as the newest call of an open ticket found them, as long as their hour lasts.
fn newest(model: &Model, now: Timestamp) -> Option<(&Ledger, Timestamp)> {
    let known = model.tabs.iter().filter_map(|tab| tab.state.limits.ledger.as_ref());
    let newest = known.max_by_key(|(_, at)| *at)?;
    newest.0.frees.is_some_and(|frees| frees > now).then_some((&newest.0, newest.1))
}

/// Calls of all programs at the newest call we know of, and our own since.
fn calls(model: &Model, tab: &Tab, now: Timestamp) -> u64 {
    let window = tab.state.settings.limits.window;
    let begins = hour::start(now, window, &model.zone);
    let own = |after: Timestamp| {
        model.tabs.iter().flat_map(|tab| &tab.state.calls).filter(|time| **time >= begins && **time > after).count()
    };
    match newest(model, now) {
        Some((ledger, at)) => ledger.calls + own(at) as u64,
        None => own(Timestamp::from_millis(i64::MIN)) as u64,
    }
}

fn tokens(model: &Model, tab: &Tab, now: Timestamp) -> u64 {
    let running = tab.state.open_iteration().map_or(0, |open| open.usage.counted());
    newest(model, now).map_or(0, |(ledger, _)| ledger.tokens) + running
}

/// The newest that was told of each window, if it is not over, and when it will be used up.
fn windows(model: &Model, now: Timestamp) -> Vec<(&Window, Option<Timestamp>)> {
    let told = model.tabs.iter().flat_map(|tab| tab.state.limits.windows.iter().map(|seen| (&tab.state.limits, seen)));
    let mut newest: BTreeMap<&str, (&LimitState, &Window, Timestamp)> = BTreeMap::new();
    for (limits, (kind, (window, at))) in told {
        let known = newest.entry(kind).or_insert((limits, window, *at));
        if known.2 < *at {
            *known = (limits, window, *at);
        }
    }
    let open = newest.into_values().filter(|(_, window, _)| window.is_open_at(now));
    open.map(|(limits, window, _)| (window, limits.closes(&window.kind))).collect()
}

/// A window will be used up before it opens anew: when, and after how many of this ticket's phases.
fn closing(model: &Model, tab: &Tab, closes: Timestamp) -> Gauge {
    let time = if closes.is_within_a_day_of(model.now) { closes.minute(&model.zone) } else { closes.day(&model.zone) };
    let value = match forecast::phases_until(model, tab, closes) {
        Some(0) => format!("{time}, in this phase"),
        Some(1) => format!("{time}, one phase from now"),
        Some(n) => format!("{time}, {n} phases from now"),
        None => time,
    };
    let done_before = forecast::left(model, tab).is_some_and(|left| model.now.plus(left) <= closes);
    let role = if done_before { Role::GaugeFill } else { Role::GaugeWarning };
    Gauge { role, ..Gauge::new("  closes", "closes", value) }
}

fn window_row(model: &Model, window: &Window) -> Gauge {
    let (label, brief) = match window.kind.as_str() {
        "five_hour" => ("5 hours", "5h"),
        "seven_day" => ("7 days", "7d"),
        "seven_day_opus" => ("7d Opus", "7d-opus"),
        "seven_day_sonnet" => ("7d Sonnet", "7d-sonnet"),
        ACCOUNT => ("Provider", "provider"),
        _ => ("Other", "other"),
    };
    let least = match window.status {
        WindowStatus::Allowed => 0.0,
        WindowStatus::Warning => WARN,
        WindowStatus::Rejected => 1.0,
    };
    // The seven-day window ends on another day: there the day says more than the hour.
    let resets = |word: &str| {
        let at = window.resets_at?;
        let time = if at.is_within_a_day_of(model.now) { at.minute(&model.zone) } else { at.day(&model.zone) };
        Some(format!("{word} {time}"))
    };
    let value = match (window.used, window.status) {
        (_, WindowStatus::Rejected) => resets("until").unwrap_or_else(|| "now".to_owned()),
        (Some(used), _) => format!("{:.0} %", used * 100.0),
        (None, WindowStatus::Warning) => resets("resets").unwrap_or_else(|| "nearly".to_owned()),
        (None, WindowStatus::Allowed) => "open".to_owned(),
    };
    let mut gauge = Gauge::new(label, brief, value);
    gauge.role = role_of(window.used.unwrap_or(0.0).max(least), WARN, DANGER);
    match (window.status, window.used) {
        (WindowStatus::Rejected, _) => return Gauge { word: "blocked", ..gauge },
        // How much is used is often not told: then there is no bar to draw.
        (_, Some(used)) => gauge = gauge.filled(model.glyphs, used),
        (_, None) => {}
    }
    gauge.in_words()
}

/// The budget that is nearest to its end; without one what was spent.
fn money(glyphs: Glyphs, tab: &Tab) -> Gauge {
    let state = &tab.state;
    let share = |limit: f64, spent: f64| spent / limit.max(f64::MIN_POSITIVE);
    let budgets = budgets(state);
    let tightest = budgets.iter().max_by(|a, b| share(a.1, a.2).total_cmp(&share(b.1, b.2)));
    if let Some((_, limit, spent)) = tightest {
        let value = format!("{}/{}", dollars(*spent), dollars(*limit));
        return Gauge::new("Budget", "", value).share(glyphs, share(*limit, *spent), WARN, DANGER).in_words();
    }
    if let Some(most) = state.settings.limits.run.tokens {
        let used = spent(state).tokens;
        return counted(glyphs, "Budget", "tokens", used, most, compact);
    }
    Gauge::new(COST, "", format!("${:.2}", state.ticket_usd()))
}

/// `$1.42`, but `$5`.
fn dollars(usd: f64) -> String {
    let text = format!("${usd:.2}");
    text.strip_suffix(".00").map_or_else(|| text.clone(), str::to_owned)
}

/// `950`, `1.2k`, `34k`, `5.6M`.
fn compact(n: u64) -> String {
    let (value, unit) = match n {
        0..1_000 => return n.to_string(),
        1_000..1_000_000 => (n as f64 / 1e3, "k"),
        1_000_000..1_000_000_000 => (n as f64 / 1e6, "M"),
        _ => (n as f64 / 1e9, "G"),
    };
    let text = if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") };
    format!("{}{unit}", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::limits::{Budget, Limits};
    use crate::tui::sample;
    use std::time::Duration;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(sample::NOW.millis() + seconds * 1_000)
    }

    fn told(kind: &str, status: WindowStatus, used: Option<f64>, resets: i64) -> Window {
        Window { kind: kind.into(), status, used, resets_at: Some(at(resets)) }
    }

    fn drawn(change: impl FnOnce(&mut Tab)) -> Vec<(String, String, &'static str, Role)> {
        let mut model = sample::model();
        let mut tab = sample::running("tk-1");
        tab.state.calls.clear();
        change(&mut tab);
        model.tabs.push(tab);
        let rows = rows(&model, &model.tabs[0]);
        rows.into_iter().map(|row| (row.label.to_owned(), row.value, row.word, row.role)).collect()
    }

    fn row(rows: &[(String, String, &'static str, Role)], label: &str) -> Option<(String, &'static str, Role)> {
        rows.iter().find(|row| row.0 == label).map(|row| (row.1.clone(), row.2, row.3))
    }

    #[test]
    fn what_the_provider_never_told_is_not_drawn() {
        let rows = drawn(|_| {});
        let labels: Vec<_> = rows.iter().map(|row| row.0.as_str()).collect();
        assert_eq!(labels, ["Calls/h", "Cost"]);
    }

    #[test]
    fn a_window_that_will_be_used_up_too_early_says_when() {
        let seen = |used: [f64; 2], minutes: i64, resets: i64| {
            let rows = drawn(|tab| {
                let first = told("five_hour", WindowStatus::Allowed, Some(used[0]), resets);
                tab.state.limits.see(&first, at(-minutes * 60));
                tab.state.limits.see(&Window { used: Some(used[1]), ..first }, sample::NOW);
            });
            row(&rows, "  closes").map(|(value, _, role)| (value, role))
        };
        let minute = |minutes: i64| at(minutes * 60).minute(&sample::model().zone);
        // A tenth in ten minutes: the last tenth takes ten more.
        let warned = Some((format!("{}, 2 phases from now", minute(10)), Role::GaugeWarning));
        assert_eq!(seen([0.8, 0.9], 10, 3_600), warned);
        assert_eq!(seen([0.7, 0.8], 10, 3_600), Some((minute(20), Role::GaugeFill)), "the ticket is done before");
        assert_eq!(seen([0.7, 0.8], 10, 600), None, "it opens anew before");
        assert_eq!(seen([0.7, 0.71], 10, 36_000), None, "that is too little to tell");
        assert_eq!(seen([0.7, 0.8], 1, 36_000), None, "and that too short");
        assert_eq!(seen([0.8, 0.7], 10, 36_000), None, "it was opened anew");
    }

    #[test]
    fn a_window_is_drawn_while_it_lasts_with_role_and_word() {
        let cases = [
            (told("five_hour", WindowStatus::Allowed, Some(0.62), 60), Some(("62 %", "", Role::GaugeFill))),
            (told("five_hour", WindowStatus::Warning, Some(0.91), 60), Some(("91 %", "high", Role::GaugeWarning))),
            (told("five_hour", WindowStatus::Allowed, None, 60), Some(("open", "", Role::GaugeFill))),
            (told("five_hour", WindowStatus::Allowed, Some(0.62), -1), None),
        ];
        for (window, expected) in cases {
            let rows = drawn(|tab| {
                tab.state.limits.see(&window, sample::NOW);
            });
            let expected = expected.map(|(value, word, role)| (value.to_owned(), word, role));
            assert_eq!(row(&rows, "5 hours"), expected, "{window:?}");
        }
        let closed = told("seven_day", WindowStatus::Rejected, Some(1.0), 3_600);
        let rows = drawn(|tab| drop(tab.state.limits.windows.insert("seven_day".into(), (closed, sample::NOW))));
        let (value, word, role) = row(&rows, "7 days").unwrap();
        assert!(value.starts_with("until ") && (word, role) == ("blocked", Role::GaugeDanger), "{value}");
    }

    #[test]
    fn calls_are_those_of_all_programs_and_ours_since() {
        let ledger = |calls, frees: i64| Ledger { calls, frees: Some(at(frees)), ..Ledger::default() };
        let rows = drawn(|tab| {
            tab.state.limits.ledger = Some((ledger(96, 30), at(-5)));
            tab.state.calls = vec![at(-5), at(-1)];
        });
        assert_eq!(row(&rows, "Calls/h"), Some(("97/100".into(), "tight", Role::GaugeDanger)));
        let rows = drawn(|tab| {
            tab.state.limits.ledger = Some((ledger(96, -1), at(-3_700)));
            tab.state.calls = vec![at(-3_700), at(0)];
        });
        assert_eq!(row(&rows, "Calls/h"), Some(("1/100".into(), "", Role::GaugeFill)), "the hour is over");
    }

    #[test]
    fn who_is_parked_before_the_first_call_shows_what_others_used() {
        use crate::domain::limits::admission::{Ask, Asker, Facts, Place, Purpose, Verdict, admit};
        use crate::domain::record::{FORMAT, Record, Stored};
        let window = told("five_hour", WindowStatus::Allowed, Some(0.62), 3_600);
        let facts = Facts { calls: vec![(at(-1), 1); 100], windows: vec![window], ..Facts::default() };
        let rows = drawn(|tab| {
            let state = &mut tab.state;
            (state.iteration, state.limits) = (None, crate::orchestrator::state::LimitState::default());
            let ask = Ask {
                n: 1,
                purpose: Purpose::Iteration,
                limits: Limits::default(),
                spent: crate::domain::limits::Spent::default(),
                forecast: crate::domain::limits::Spent::default(),
                model: None,
                place: Place::PhaseStart,
                asker: Asker::Program,
                lasts: Duration::from_secs(900),
            };
            let run = state.run.unwrap();
            let Verdict::Park(parking) = admit(&facts, &ask, run, at(-1), &jiff::tz::TimeZone::UTC).verdict else {
                panic!("it is not parked");
            };
            let (v, seq, time, ticket) = (FORMAT, state.seq + 1, at(-1), tab.id.id().clone());
            let record = Record::Parked(parking);
            crate::orchestrator::apply::apply(&mut tab.state, &Stored { v, seq, time, run, ticket, record });
        });
        assert_eq!(row(&rows, "Calls/h"), Some(("100/100".into(), "tight", Role::GaugeDanger)));
        assert_eq!(row(&rows, "5 hours"), Some(("62 %".into(), "", Role::GaugeFill)));
    }

    #[test]
    fn of_several_budgets_the_tightest_is_drawn() {
        let usd = |micro_usd| Budget { micro_usd: Some(micro_usd), tokens: None };
        let rows = drawn(|tab| {
            tab.state.cost_usd = 1.42;
            let spent = crate::domain::limits::Spent { usd: 4.5, tokens: 0 };
            tab.state.limits.ledger = Some((Ledger { day: spent, ..Ledger::default() }, at(-1)));
            tab.state.iteration = None;
            *tab.state.settings.limits = Limits { run: usd(20_000_000), day: usd(5_000_000), ..Limits::default() };
        });
        assert_eq!(row(&rows, "Budget"), Some(("$4.50/$5".into(), "high", Role::GaugeWarning)));
        assert_eq!(row(&rows, "Cost"), None);
    }

    #[test]
    fn numbers_stay_short() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1k"), (1_234, "1.2k"), (34_567, "35k"), (5_600_000, "5.6M")];
        for (n, expected) in cases {
            assert_eq!(compact(n), expected);
        }
        assert_eq!((dollars(1.416), dollars(5.0)), ("$1.42".to_owned(), "$5".to_owned()));
        assert_eq!(at(60).since(sample::NOW), Duration::from_secs(60));
    }
}
