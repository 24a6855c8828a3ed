//! What the rest may take and cost: by the phases that this run has finished, and by the runs that were completed in this
//! directory before.

use crate::base::time::{Timestamp, human};
use crate::domain::outcome::ExitReason;
use crate::domain::step::StepName;
use crate::domain::summary::RunSummary;
use crate::tui::model::{Mode, Model};
use crate::tui::tab::{Tab, TabStatus};
use std::time::Duration;

/// What one call of this step, which only looks at the work, has cost here: the median of the runs that had any. `None`: none
/// had.
pub fn of_a_call(model: &Model, step: &StepName) -> Option<f64> {
    let here = model.runs.values().filter(|run| run.folder == model.folder);
    let costs = here.flat_map(|run| &run.aside).filter(|cost| cost.step == *step && cost.calls > 0);
    median(costs.map(|cost| cost.cost_usd / f64::from(cost.calls)).collect())
}

/// What work on phases has cost: medians of the completed runs of this directory.
pub struct Estimate {
    pub runs: usize,
    /// US dollars.
    pub cost: f64,
    /// In which the run worked: not queued, parked or waiting for the person. `None`: no run tells.
    pub time: Option<Duration>,
}

/// `None`: no run was completed here.
pub fn of_a_phase(model: &Model) -> Option<Estimate> {
    let runs = completed(model, &model.folder);
    let cost = median(runs.iter().map(|run| work_usd(run) / phases(run)).collect())?;
    let time = median(times(&runs));
    Some(Estimate { runs: runs.len(), cost, time: time.map(Duration::from_secs_f64) })
}

/// What the planning of a ticket has cost here, in US dollars: the median.
pub fn of_a_plan(model: &Model) -> Option<f64> {
    let planned = [ExitReason::Planned, ExitReason::Drafted].map(|reason| Some(reason.word()));
    let is_one = |run: &&RunSummary| run.folder == model.folder && planned.contains(&run.reason.as_deref());
    median(model.runs.values().map(AsRef::as_ref).filter(is_one).map(|run| run.cost_usd).collect())
}

/// The time that the open phases of a run at work may still take; `None`: there is nothing to judge by, or the phase takes
/// longer than one usually does.
pub fn left(model: &Model, tab: &Tab) -> Option<Duration> {
    if model.mode == Mode::Replay || !tab.is_at_work() {
        return None;
    }
    rests(model, tab)?.sum::<Option<Duration>>().filter(|rest| !rest.is_zero())
}

/// How many of the open phases will be done before `then`; `None`: all of them, or there is nothing to judge by.
pub fn phases_until(model: &Model, tab: &Tab, then: Timestamp) -> Option<usize> {
    let mut left = then.since(model.now);
    rests(model, tab)?.map(Option::unwrap_or_default).position(|rest| match left.checked_sub(rest) {
        Some(after) => {
            left = after;
            false
        }
        None => true,
    })
}

/// What each open phase may still take, in their order; `None`: it takes longer than one usually does.
fn rests<'a>(model: &'a Model, tab: &'a Tab) -> Option<impl Iterator<Item = Option<Duration>> + 'a> {
    // How long the person takes to answer is not known.
    if tab.standing() == TabStatus::NeedsYou {
        return None;
    }
    let state = &tab.state;
    let done = state.phases.iter().filter(|phase| phase.is_done_by_claude() && phase.spent_ms > 0);
    let mut seen: Vec<f64> = done.map(|phase| phase.spent_ms as f64 / 1_000.0).collect();
    seen.extend(times(&completed(model, &state.workspace.home().to_string_lossy())));
    let usual = Duration::from_secs_f64(median(seen)?);
    let current = tab.current_phase().map(|phase| phase.id);
    let open = state.phases.iter().filter(|phase| phase.is_open());
    Some(open.map(move |phase| match tab.time_on(phase, model.now) {
        Some(spent) if Some(phase.id) == current => usual.checked_sub(spent),
        _ => Some(usual),
    }))
}

/// "≈ 19 min": in minutes, below one in steps of five seconds, for it is no more than a guess.
pub fn words(left: Duration) -> String {
    match left.as_secs().div_ceil(60) {
        0 | 1 => format!("≈ {} s", left.as_secs().div_ceil(5).max(1) * 5),
        minutes @ 2..=90 => format!("≈ {minutes} min"),
        minutes => format!("≈ {}", human(Duration::from_secs(minutes.div_ceil(15) * 15 * 60))),
    }
}

fn completed<'a>(model: &'a Model, folder: &str) -> Vec<&'a RunSummary> {
    let complete = ExitReason::Complete.word();
    let is_one =
        |run: &&RunSummary| run.folder == folder && run.reason.as_deref() == Some(complete) && run.iterations > 0;
    model.runs.values().map(AsRef::as_ref).filter(is_one).collect()
}

/// Seconds that a phase took in each of these runs.
fn times(runs: &[&RunSummary]) -> Vec<f64> {
    let timed = runs.iter().filter(|run| run.worked_ms > 0);
    timed.map(|run| run.worked_ms as f64 / 1_000.0 / phases(run)).collect()
}

/// What the run has cost without the steps that only look at the work.
fn work_usd(run: &RunSummary) -> f64 {
    (run.cost_usd - run.aside.iter().map(|cost| cost.cost_usd).sum::<f64>()).max(0.0)
}

fn phases(run: &RunSummary) -> f64 {
    f64::from(run.phases_done.max(1))
}

fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::summary::AsideCost;
    use crate::tui::sample;

    fn minutes(change: impl FnOnce(&mut Model)) -> Option<u64> {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        change(&mut model);
        left(&model, &model.tabs[0]).map(|left| left.as_secs() / 60)
    }

    #[test]
    fn while_the_person_is_waited_for_nothing_is_foretold() {
        assert!(minutes(|_| ()).is_some());
        assert_eq!(minutes(|model| model.tabs[0].state.approvals.push(sample::push("c").into())), None);
    }

    #[test]
    fn what_is_left_is_told_by_the_phases_that_were_done() {
        // Two are done, in 2 and 6 minutes; the third of six runs for 4.
        assert_eq!(minutes(|_| ()), Some(19));
        let late = |model: &mut Model| model.tabs[0].state.phases[2].spent_ms = 3_600_000;
        assert_eq!(minutes(late), None, "the running one takes longer than usual");
        let first = |model: &mut Model| model.tabs[0].state.phases.iter_mut().for_each(|phase| phase.spent_ms = 0);
        assert_eq!(minutes(first), None, "nothing is known yet");
        let last = |model: &mut Model| {
            late(model);
            model.tabs[0].state.phases.truncate(3);
        };
        assert_eq!(minutes(last), None, "any moment now");
        assert_eq!(minutes(|model| model.mode = Mode::Replay), None);
        assert_eq!(minutes(|model| model.tabs[0].state.stage = crate::orchestrator::state::Stage::Paused), None);
    }

    #[test]
    fn what_is_done_by_then_is_counted_in_phases() {
        let until = |minutes: u64| {
            let mut model = sample::model();
            model.tabs.push(sample::running("tk-1"));
            let then = model.now.plus(Duration::from_secs(minutes * 60));
            phases_until(&model, &model.tabs[0], then)
        };
        // The third of six may take a minute more, those behind it six each.
        assert_eq!([0, 2, 8, 15, 60].map(until), [Some(0), Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn who_only_looks_is_told_apart_from_the_work() {
        let mut model = sample::model();
        model.runs.clear();
        for (ticket, usd, critic) in [("tk-1", 1.0, 0.2), ("tk-2", 2.0, 0.4), ("tk-3", 9.0, 3.0)] {
            let aside = AsideCost { step: StepName::CRITIQUE, calls: 2, cost_usd: critic };
            let run = RunSummary {
                cost_usd: usd,
                phases_done: 1,
                reason: Some(ExitReason::Complete.word().to_owned()),
                aside: vec![aside],
                ..sample::seen(ticket, &model.folder)
            };
            model.runs.insert(run.key(), run.into());
        }
        let cost = of_a_phase(&model).map(|estimate| format!("{:.2}", estimate.cost));
        let call = |step| of_a_call(&model, &step).map(|usd| format!("{usd:.2}"));
        assert_eq!((cost.as_deref(), call(StepName::CRITIQUE).as_deref()), (Some("1.60"), Some("0.20")));
        assert_eq!(call(StepName::EVALUATE), None);
    }

    #[test]
    fn a_guess_is_told_in_minutes() {
        let told = |seconds| words(Duration::from_secs(seconds));
        assert_eq!([told(1), told(61), told(1_140), told(5_401)], ["≈ 5 s", "≈ 2 min", "≈ 19 min", "≈ 1h 45m"]);
    }
}
