//! Supervision on the screen: the circuit breaker, the limits and the watchdog, each in every state a person can meet.

use super::{modal, press, pressed, scene, whole, with};
use crate::domain::breaker::{Circuit, Counter, CounterMoved, StateMoved};
use crate::domain::limits::admission::{Ledger, Why};
use crate::domain::limits::provider::{Reset, Window, WindowStatus};
use crate::domain::limits::{Budget, Limits, Parking};
use crate::domain::outcome::{ExitReason, IterationOutcome};
use crate::domain::record::{ApiRetried, Record};
use crate::domain::watchdog::{Watch, WatchdogFired};
use crate::orchestrator::state::{Ended, Stage};
use crate::sample;
use crate::tui::panes::gauges;
use crate::tui::tab::Tab;
use crate::tui::ui::Ui;
use programmator::base::time::Timestamp;
use programmator::domain::analysis::Analysis;
use programmator::domain::denial::Denial;

/// So many seconds after now.
fn at(seconds: i64) -> Timestamp {
    sample::ago(-seconds)
}

/// A running ticket to which these records came.
fn told(records: impl IntoIterator<Item = Record>) -> Tab {
    let mut tab = sample::running("tk-4f2a");
    tell(&mut tab, records);
    tab
}

fn tell(tab: &mut Tab, records: impl IntoIterator<Item = Record>) {
    for record in records {
        let seq = tab.state.seq + 1;
        assert!(tab.record(&sample::stored("tk-4f2a", seq, record)));
    }
}

fn counted(n: u32, counter: Counter, value: u32, limit: u32, why: &str) -> Record {
    Record::BreakerCounted(CounterMoved { n, counter, value, limit, why: why.into(), said: None })
}

fn moved(n: u32, from: Circuit, to: Circuit, reason: &str) -> Record {
    Record::BreakerMoved(StateMoved { n, from, to, reason: reason.into() })
}

const IDLE: &str = "the working tree did not change";
const TWICE: &str = "2 iterations in a row changed nothing";
const THRICE: &str = "3 iterations in a row changed nothing";

fn half_open() -> Vec<Record> {
    vec![
        counted(5, Counter::NoProgress, 1, 3, IDLE),
        counted(6, Counter::NoProgress, 2, 3, IDLE),
        counted(6, Counter::SameError, 1, 5, "cargo test: cannot find type `Limits` in module `http::stack`"),
        moved(6, Circuit::Closed, Circuit::HalfOpen, TWICE),
    ]
}

/// A run that the breaker halted some minutes ago.
fn halted() -> Tab {
    let mut tab = told(half_open());
    let end = [
        counted(7, Counter::NoProgress, 3, 3, IDLE),
        moved(7, Circuit::HalfOpen, Circuit::Open, THRICE),
        Record::RunEnded {
            reason: ExitReason::CircuitOpen,
            detail: "the circuit breaker is OPEN".into(),
            iterations: 7,
            phases_done: 2,
            phases: 6,
            cost_usd: 1.42,
        },
    ];
    tell(&mut tab, end);
    tab.state.breaker.opened_at = Some(sample::ago(300));
    tab
}

fn parked(why: Why, about: &str, until: i64, reset: Reset) -> Tab {
    let mut tab = sample::running("tk-4f2a");
    tab.state.stage = Stage::Parked;
    if let Some(iteration) = &mut tab.state.iteration {
        iteration.ended = Some(sample::ago(20));
    }
    tab.state.limits.parked = Some(Parking { why, about: about.into(), until: at(until), reset, known: None });
    tab
}

fn window(tab: &mut Tab, kind: &str, status: WindowStatus, used: Option<f64>, resets: i64) {
    let window = Window { kind: kind.into(), status, used, resets_at: Some(at(resets)) };
    tab.state.limits.windows.insert(kind.into(), (window, sample::NOW));
}

fn budget(tab: &mut Tab, usd: u64) {
    let run = Budget { micro_usd: Some(usd * 1_000_000), tokens: None };
    *tab.state.settings.limits = Limits { run, ..Limits::default() };
}

#[test]
fn breaker_half_open() {
    scene("breaker_half_open", || with(told(half_open())));
}

#[test]
fn breaker_open() {
    whole("breaker_open", || with(halted()));
}

#[test]
fn breaker_after_its_cooldown() {
    scene("breaker_cooled", || {
        let mut tab = halted();
        tab.state.breaker.opened_at = Some(sample::ago(3_600));
        with(tab)
    });
}

#[test]
fn breaker_reset_dialog() {
    modal("breaker_reset", || pressed(with(halted()), "b"));
}

#[test]
fn breaker_open_explained() {
    modal("breaker_open_explained", || {
        let mut model = with(halted());
        model.focus = gauges::NAME;
        press(&mut model, "Enter");
        model
    });
}

#[test]
fn nothing_to_explain_yet() {
    modal("nothing_to_explain", || {
        let mut model = sample::busy();
        model.focus = gauges::NAME;
        press(&mut model, "Enter");
        model
    });
}

#[test]
fn parked_until_a_known_reset() {
    whole("parked_known", || {
        let mut tab = parked(Why::Provider, "the provider's five-hour limit is reached", 3_700, Reset::Known);
        window(&mut tab, "five_hour", WindowStatus::Rejected, Some(1.0), 3_660);
        window(&mut tab, "seven_day", WindowStatus::Allowed, Some(0.18), 300_000);
        with(tab)
    });
}

#[test]
fn parked_for_days() {
    scene("parked_for_days", || {
        let mut tab = parked(Why::Provider, "the provider's seven-day limit is reached", 300_000, Reset::Known);
        window(&mut tab, "seven_day", WindowStatus::Rejected, None, 299_990);
        with(tab)
    });
}

#[test]
fn parked_with_the_reset_unknown() {
    scene("parked_unknown", || with(parked(Why::Provider, "the provider is overloaded", 32, Reset::Unknown)));
}

#[test]
fn parked_while_another_ticket_tries() {
    scene("parked_probe", || with(parked(Why::Provider, "the provider is overloaded", 60, Reset::Probe)));
}

#[test]
fn parked_by_the_calls_of_the_hour() {
    scene("parked_calls", || {
        let mut tab = parked(Why::Calls, "hourly limit of 100 calls reached", 3_466, Reset::Known);
        let ledger = Ledger { calls: 100, frees: Some(at(3_466)), ..Ledger::default() };
        tab.state.calls.clear();
        tab.state.limits.ledger = Some((ledger, sample::NOW));
        with(tab)
    });
}

#[test]
fn the_provider_warns() {
    scene("provider_warns", || {
        let mut tab = sample::running("tk-4f2a");
        window(&mut tab, "five_hour", WindowStatus::Warning, Some(0.91), 3_660);
        window(&mut tab, "seven_day", WindowStatus::Warning, None, 300_000);
        with(tab)
    });
}

#[test]
fn budget_near_its_end() {
    scene("budget_near", || {
        let mut tab = sample::running("tk-4f2a");
        tab.state.cost_usd = 4.5;
        budget(&mut tab, 5);
        with(tab)
    });
}

#[test]
fn budget_at_its_end() {
    scene("budget_ended", || {
        let mut tab = sample::running("tk-4f2a");
        tab.state.cost_usd = 19.87;
        tab.state.stage = Stage::Ended;
        if let Some(iteration) = &mut tab.state.iteration {
            iteration.ended = Some(sample::ago(9));
        }
        let detail = "$19.87 of $20.00 for this run spent, and an iteration costs about $0.31; raise \
                      `budget.run_usd` and resume";
        tab.state.ended = Some(Ended { reason: ExitReason::Budget, detail: detail.into(), is_left: false });
        budget(&mut tab, 20);
        with(tab)
    });
}

#[test]
fn silence_gets_a_word() {
    scene("quiet", || {
        let mut tab = sample::running("tk-4f2a");
        tab.pulse = crate::tui::tab::Pulse::default();
        tab.pulse.beat(sample::ago(160));
        with(tab)
    });
}

#[test]
fn retries_near_their_end() {
    scene("retry_storm", || {
        let retried = |attempt, delay_ms| {
            let error = "rate_limit".into();
            Record::ApiRetried(ApiRetried { n: 7, attempt, max_retries: 10, delay_ms, error, status: Some(429) })
        };
        with(told([retried(7, 2_000), retried(8, 4_000), retried(9, 37_000)]))
    });
}

/// The stream and the log tell of each timer what it cut off, and the fix.
#[test]
fn timers_that_fired() {
    scene("timers", || {
        let fired = |timer, seconds| Record::WatchdogFired(WatchdogFired { n: 7, timer, seconds });
        let ended = Record::IterationEnded {
            n: 7,
            outcome: IterationOutcome::Idle,
            changed: false,
            fingerprint: Some("timed out: idle".into()),
            ms: 300_000,
            reading: None,
        };
        let records = [
            fired(Watch::Start, 30),
            fired(Watch::FirstByte, 180),
            fired(Watch::PostResult, 10),
            fired(Watch::Total, 900),
            fired(Watch::Idle, 300),
            ended,
        ];
        logged(records)
    });
}

#[test]
fn a_refusal_is_shown_with_its_command() {
    scene("refused", || {
        let refused = vec![Denial::new("Bash", "t1", "npm install --global left-pad")];
        let why = "Claude's own permissions denied Bash(npm install --global left-pad)";
        let records = [
            Record::OutputAnalysed(Analysis { n: 7, refused, ..Analysis::default() }),
            counted(7, Counter::PermissionDenials, 1, 2, why),
        ];
        logged(records)
    });
}

/// The plan of a Hank project, left by the gate.
#[test]
fn left_by_the_gate() {
    scene("left_by_the_gate", || {
        let mut tab = sample::finished("fix_plan.md");
        tab.state.phases.clear();
        let mut file = tab.ticket.as_deref().cloned().unwrap();
        file.phases.clear();
        file.title = "Fix plan".into();
        tab.ticket = Some(std::sync::Arc::new(file));
        with(tab)
    });
}

/// The records in stream and log.
fn logged(records: impl IntoIterator<Item = Record>) -> Ui {
    let mut tab = sample::running("tk-4f2a");
    let mut lines = Vec::new();
    for record in records {
        lines.extend(tab.formatter.line(&record));
        tell(&mut tab, [record]);
    }
    let mut model = with(tab);
    for line in lines {
        model.log.push(sample::NOW, line.level, sample::id("tk-4f2a"), None, &line.text);
    }
    model
}
