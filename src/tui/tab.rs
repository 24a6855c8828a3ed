//! One open ticket: its file as read, the fold of its run, its stream, and how it stands.
//!
//! Does not own what is drawn of it (`panes`), nor the log, which all tickets share (`panes::log`).

mod evidence;
mod movement;
mod own;
mod phases;
mod pulse;
mod status;
mod summed;
mod undo;
mod unstored;

pub use evidence::{Evidence, IterationEvidence};
pub use movement::Movement;
pub use phases::PhaseLine;
pub use pulse::Pulse;
pub use status::TabStatus;
pub use undo::Step;
pub use unstored::Unstored;

use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::approval::Answer;
use crate::domain::messages::LogFormatter;
use crate::domain::outcome::ExitReason;
use crate::domain::own_seen::OwnSeen;
use crate::domain::phase::Mark;
use crate::domain::record::{BoxSettled, Record, Stored, WriteOutcome};
use crate::domain::summary::{Owner, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::{Ticket, TicketStatus};
use crate::orchestrator::apply::apply;
use crate::orchestrator::state::{Pace, PhaseState, Stage, State};
use crate::tui::panes::stream::StreamState;
use movement::moved_in;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Movements of the gauges that are kept for the person to read.
const MOVEMENTS: usize = 500;

/// An open ticket.
pub struct Tab {
    pub id: TicketKey,
    /// Its file as last read; `None` until it was.
    pub ticket: Option<Arc<Ticket>>,
    /// The run is complete, and the file says since that there is more to do.
    pub reopened: bool,
    pub gone: bool,
    pub run: Option<RunId>,
    /// Who works on the run, as the service said last; without a run, who would.
    pub owner: Owner,
    pub state: State,
    /// The Claude session of the person's own that it shows.
    pub own: Option<OwnSeen>,
    /// The Stream pane of this ticket.
    pub stream: StreamState,
    /// Puts the run's records into words for the log.
    pub formatter: LogFormatter,
    /// Claude's call that runs or waits: tool and target, raw, and since when.
    pub call: Option<(String, Timestamp)>,
    /// Claude's id of it.
    call_id: String,
    /// When Claude was last heard, and how often lately.
    pub pulse: Pulse,
    /// The run could not be opened, or went down: words for the person.
    pub failure: Option<String>,
    pub unstored: Unstored,
    /// How the gauges came to where they stand, oldest first, the last 500.
    pub movements: VecDeque<Movement>,
    /// What the records tell of each phase.
    pub evidence: Evidence,
    /// What the person can take back, the last one at the end.
    pub undo: Vec<Step>,
    /// What of it is being taken back.
    pub undoing: Option<Step>,
}

impl Tab {
    /// It tells more of its ticket than the file does.
    pub fn is_known(&self) -> bool {
        self.run.is_some() || self.failure.is_some() || self.gone
    }

    /// A tab for a ticket of which nothing is known yet.
    pub fn new(id: TicketKey) -> Self {
        Self {
            id,
            ticket: None,
            reopened: false,
            gone: false,
            run: None,
            owner: Owner::Here,
            state: State::default(),
            own: None,
            stream: StreamState::default(),
            formatter: LogFormatter::default(),
            call: None,
            call_id: String::new(),
            pulse: Pulse::default(),
            failure: None,
            unstored: Unstored::default(),
            movements: VecDeque::new(),
            evidence: Evidence::default(),
            undo: Vec::new(),
            undoing: None,
        }
    }

    /// Takes the file as it is now.
    pub fn read(&mut self, ticket: Arc<Ticket>) {
        let complete = self.state.ended.as_ref().is_some_and(|ended| ended.reason == ExitReason::Complete);
        // A box that the run left empty, as of a phase that was skipped, is no more work.
        let stays = |phase: &PhaseState| !phase.ticked && phase.since != Some(Mark::Pending);
        let left = |text: &str| self.state.phases.iter().any(|phase| phase.text == text && stays(phase));
        let closed = Some(TicketStatus::Closed);
        self.reopened = complete
            && if ticket.phases.is_empty() {
                self.state.ticket_status == closed && ticket.status.is_some() && ticket.status != closed
            } else {
                ticket.phases.iter().any(|phase| !phase.done && !left(&phase.text))
            };
        self.ticket = Some(ticket);
        self.gone = false;
    }

    /// Its phases are those of the file: there is no run, or the file has more to do than the run knew.
    pub fn is_as_in_file(&self) -> bool {
        self.reopened || self.state.phases.is_empty()
    }

    /// Its phases as they are shown. `is_past`: as the records told them, whatever became of them since.
    pub fn phases(&self, is_past: bool) -> Vec<PhaseLine<'_>> {
        phases::lines(phases::Source {
            state: &self.state,
            ticket: self.ticket.as_deref(),
            as_in_file: self.is_as_in_file(),
            at_work: self.state.ended.is_none() && self.owner != Owner::Nobody,
            is_left: self.failure.is_some(),
            is_past,
        })
    }

    /// Takes how the store has the run. This program knows better how its own stands, until another goes on with it.
    pub fn seen(&mut self, run: &RunSummary) {
        let goes_on = run.owner() == Owner::Another && self.state.updated.is_none_or(|at| at < run.updated);
        if self.owner != Owner::Here || goes_on && !self.has_open_run() {
            self.owner = run.owner();
        }
    }

    /// Folds a record in; `false` when it was known already.
    pub fn record(&mut self, stored: &Stored) -> bool {
        if stored.seq <= self.state.seq {
            return false;
        }
        undo::fold(&mut self.undo, &self.state, &stored.record);
        apply(&mut self.state, stored);
        self.evidence.record(&self.state, stored);
        self.reopened &= self.state.ended.is_some();
        self.unstored.stored(&self.state);
        if self.owner == Owner::Another && self.state.ended.is_some() {
            self.owner = Owner::Nobody;
        }
        self.stream.record(stored);
        match &stored.record {
            Record::ToolJudged { tool, target, tool_use_id, .. } => {
                self.call = Some((self.doing(tool, target), stored.time));
                self.call_id.clone_from(tool_use_id);
            }
            Record::IterationStarted { .. } | Record::ToolFinished { .. } => self.call = None,
            // What the person took to think about it is not what it takes.
            Record::ApprovalAnswered(answered) if answered.id.call == self.call_id => match &answered.answer {
                Answer::Deny { .. } => self.call = None,
                Answer::Allow { .. } => self.call.iter_mut().for_each(|(_, since)| *since = stored.time),
            },
            Record::TickSettled(settled) => self.follow_box(settled, true),
            Record::UntickSettled(settled) => self.follow_box(settled, false),
            _ => {}
        }
        self.follow_gauges(stored);
        true
    }

    /// A call as people say it: a file by its path in the directory of the run.
    fn doing(&self, tool: &str, target: &str) -> String {
        match tool {
            "ExitPlanMode" => "Claude has a plan".to_owned(),
            "AskUserQuestion" => format!("Claude asks: {target}"),
            _ => {
                let file = Path::new(target).strip_prefix(self.state.workspace.directory()).ok();
                let file = file.and_then(Path::to_str).filter(|file| !file.is_empty());
                format!("{tool} {}", file.unwrap_or(target))
            }
        }
    }

    /// The run has written a box: the file is read later, and what was read before is older than that.
    fn follow_box(&mut self, settled: &BoxSettled, done: bool) {
        let is_so = matches!(settled.outcome, WriteOutcome::Written | WriteOutcome::AlreadySo);
        let place = settled.phase.id.filter(|_| is_so).and_then(|id| self.state.place(id));
        if let (Some((text, nth)), Some(ticket)) = (place, &mut self.ticket) {
            let phases = &mut Arc::make_mut(ticket).phases;
            phases
                .iter_mut()
                .filter(|phase| phase.text == text)
                .nth(nth)
                .into_iter()
                .for_each(|phase| phase.done = done);
        }
    }

    fn follow_gauges(&mut self, stored: &Stored) {
        let Some(iteration) = moved_in(&stored.record) else { return };
        let Some(line) = self.formatter.line(&stored.record) else { return };
        if self.movements.len() == MOVEMENTS {
            self.movements.pop_front();
        }
        self.movements.push_back(Movement { time: stored.time, iteration, level: line.level, text: line.text });
    }

    pub fn standing(&self) -> TabStatus {
        if self.failure.is_some() {
            return TabStatus::Halted;
        }
        let asks = self.unstored.open_questions(&self.state).next().is_some() || self.state.needs_person();
        match (&self.state.ended, &self.state.stage) {
            _ if self.own.is_some() && !asks => self.own.as_ref().map_or(TabStatus::Stopped, TabStatus::of_own),
            (Some(_), _) if self.reopened => TabStatus::NotStarted,
            (Some(ended), _) if ended.reason == ExitReason::Complete => {
                if self.state.is_unverified() {
                    TabStatus::Unverified
                } else {
                    TabStatus::Complete
                }
            }
            (Some(_), _) if self.state.needs_person() => TabStatus::Halted,
            // A plan is no work: the ticket is to be begun.
            (Some(ended), _) if matches!(ended.reason, ExitReason::Planned | ExitReason::NotPlanned) => {
                TabStatus::NotStarted
            }
            (Some(_), _) => TabStatus::Stopped,
            (None, _) if self.is_interrupted() => TabStatus::Stopped,
            (None, _) if asks => TabStatus::NeedsYou,
            (None, _) if self.gone => TabStatus::Gone,
            (None, _) if self.run.is_none() => TabStatus::NotStarted,
            (None, _) if self.unstored.awaited.is_some() => TabStatus::Unstored,
            (None, Stage::Paused) if self.state.awaits_message() => TabStatus::YourTurn,
            (None, Stage::Paused) => TabStatus::Paused,
            (None, Stage::Parked) => TabStatus::Parked,
            (None, Stage::AwaitingTree { .. }) => TabStatus::Waiting,
            (None, Stage::Validating) => TabStatus::Checking,
            (None, _) if self.state.pace == Pace::StopNext => TabStatus::Stopping,
            (None, _) if self.state.pace != Pace::Run => TabStatus::Pausing,
            (None, _) => TabStatus::Running,
        }
    }

    /// It ends after its iteration, unless the person has it keep going.
    pub fn is_stopping(&self) -> bool {
        self.takes_commands() && self.state.pace == Pace::StopNext
    }

    /// Something is under way that a clock should be shown for, in whatever program.
    pub fn is_at_work(&self) -> bool {
        self.takes_commands() && !matches!(self.state.stage, Stage::Paused | Stage::Ended | Stage::AwaitingTree { .. })
    }

    /// The same in this program: quitting would cut it off.
    pub fn is_active(&self) -> bool {
        self.has_open_run() && self.is_at_work()
    }

    /// The run is complete but for phases that the person left out: another one works on them.
    pub fn left_out(&self) -> bool {
        matches!(self.standing(), TabStatus::Complete | TabStatus::Unverified)
            && self.state.phases.iter().any(|phase| phase.stands() == Mark::Skipped)
    }

    /// Nobody works on the run: it waits for nobody.
    pub fn is_only_shown(&self) -> bool {
        self.owner == Owner::Nobody
    }

    /// Some program works on a run of it that has not ended, and obeys what is decided here.
    pub fn takes_commands(&self) -> bool {
        let is_at_work = self.owner != Owner::Nobody && self.failure.is_none() && self.state.ended.is_none();
        self.run.is_some() && is_at_work && !self.is_own_session()
    }

    /// The run was at work when its program died: another one than this.
    pub fn is_interrupted(&self) -> bool {
        self.owner == Owner::Nobody && self.state.ended.is_none() && !self.is_own_session()
    }

    /// A run of this program is open that has not ended.
    pub fn has_open_run(&self) -> bool {
        self.run.is_some() && self.owner == Owner::Here && self.failure.is_none() && self.state.ended.is_none()
    }

    /// It shows an earlier run than this one of its ticket, and nothing goes on in it.
    pub fn is_before(&self, run: &RunSummary) -> bool {
        let is_later = self.state.started.is_some_and(|own| own < run.started);
        !self.has_open_run() && Some(run.run) != self.run && is_later
    }

    /// The run has ended, and says how.
    pub fn is_over(&self) -> bool {
        self.failure.is_none() && self.run.is_some() && self.state.ended.is_some() && !self.is_own_session()
    }

    /// The title, as far as it is known.
    pub fn title(&self) -> &str {
        match &self.ticket {
            // A chat's file has no title of its own.
            Some(ticket) if self.state.chat.is_none() => &ticket.title,
            _ => self.own.as_ref().map_or(&self.state.title, |own| &own.title),
        }
    }

    /// Phases done and phases in all, from the run, else from the file.
    pub fn progress(&self) -> (usize, usize) {
        match &self.ticket {
            Some(ticket) if self.is_as_in_file() => {
                (ticket.phases.iter().filter(|phase| phase.done).count(), ticket.phases.len())
            }
            _ => (self.state.phases_done(), self.state.phases.len()),
        }
    }

    /// The phase that an iteration works on, else the next one.
    pub fn current_phase(&self) -> Option<&PhaseState> {
        match self.state.open_iteration().and_then(|open| open.phase) {
            Some(id) => self.state.phase_by(id),
            None => self.state.next_phase(),
        }
    }

    /// Time that the run has worked: not the time in which it was paused, parked, stopped or waited for the person.
    pub fn worked(&self, now: Timestamp) -> Duration {
        let phases = self.state.phases.iter().chain([&self.state.whole]);
        let spent = Duration::from_millis(phases.map(|phase| phase.spent_ms).sum());
        spent + if self.is_at_work() { self.state.worked(self.unstored.at_work_until(now)) } else { Duration::ZERO }
    }

    /// Time spent on a phase, the running iteration included; `None` when there was none.
    pub fn time_on(&self, phase: &PhaseState, now: Timestamp) -> Option<Duration> {
        let spent = Duration::from_millis(phase.spent_ms);
        let now = self.unstored.at_work_until(now);
        let running = self
            .state
            .iteration
            .as_ref()
            .filter(|iteration| iteration.ended.is_none() && self.is_at_work())
            .filter(|iteration| iteration.phase == Some(phase.id))
            .map(|_| self.state.worked(now));
        match (phase.spent_ms, running) {
            (0, None) => None,
            (_, running) => Some(spent + running.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answerer::Answerer;
    use crate::domain::approval::{Answered, AnsweredBy, QuestionId, Scope};
    use crate::domain::outcome::DoneHow;
    use crate::domain::phase::Mark;
    use crate::domain::record::Record;
    use crate::orchestrator::state::Ended;
    use crate::tui::sample;

    #[test]
    fn a_record_counts_once() {
        let mut tab = Tab::new(sample::id("tk-1"));
        let given = Record::NoteGiven { id: "n".into(), text: "x".into() };
        let stored = sample::stored("tk-1", 1, given);
        assert!(tab.record(&stored));
        assert!(!tab.record(&stored));
        assert_eq!(tab.state.notes.all().len(), 1);
    }

    #[test]
    fn what_a_call_takes_begins_with_its_answer_and_a_denied_one_takes_nothing() {
        let after = |call: &str, answer| {
            let mut tab = sample::running("tk-1");
            tab.call_id = "c".into();
            let by = AnsweredBy::Person(Answerer::SCREEN);
            let answered = Record::ApprovalAnswered(Answered { id: QuestionId::first(call), answer, by });
            tab.record(&sample::stored("tk-1", tab.state.seq + 1, answered));
            tab.call.map(|(_, since)| since)
        };
        let (deny, before) =
            (Answer::Deny { words: "no".into() }, sample::running("tk-1").call.map(|(_, since)| since));
        assert_eq!(after("c", deny.clone()), None);
        assert_eq!(after("c", Answer::Allow { input: "{}".into(), scope: Scope::Once }), Some(sample::NOW));
        assert_eq!(after("another", deny), before, "it is still running");
    }

    #[test]
    fn a_complete_run_needs_nobody_though_its_validation_commands_were_changed() {
        let mut tab = sample::finished("tk-1");
        tab.state.validation_change = Some(vec!["make".into()]);
        assert_eq!(tab.standing(), TabStatus::Complete);
    }

    #[test]
    fn a_new_run_goes_on_with_the_marks_times_and_costs_of_the_one_before() {
        use crate::domain::record::PhaseSeed;
        let mut earlier = sample::guarded("tk-1");
        earlier.state.carried_usd = 1.0;
        let seed = |phase: &PhaseState| PhaseSeed { text: phase.text.clone(), done: phase.mark.is_settled() };
        let phases: Vec<_> = earlier.state.phases.iter().map(seed).collect();
        let carried = earlier.state.carried_into(&phases, &earlier.state.workspace).unwrap();
        let started = Record::RunStarted {
            folder: "/w".into(),
            ticket_path: "/w/t.md".into(),
            title: "T".into(),
            ticket_status: None,
            phases,
            unverified: vec![],
            unverified_ids: vec![],
            validation: vec![],
            settings: crate::domain::settings::Settings::default(),
        };
        let mut tab = Tab::new(sample::id("tk-1"));
        tab.run = Some(sample::run("tk-1"));
        for (seq, record) in (1..).zip([started, Record::WorkCarried(carried)]) {
            assert!(tab.record(&sample::stored("tk-1", seq, record)));
        }
        let known = |tab: &Tab| tab.state.phases.iter().map(|phase| (phase.mark, phase.spent_ms)).collect::<Vec<_>>();
        assert_eq!(known(&tab), known(&earlier));
        assert_eq!((tab.state.ticket_usd(), tab.state.cost_usd), (2.42, 0.0), "the run's own budget is whole");
        let mut model = sample::model();
        model.tabs.push(tab);
        let screen = sample::draw(&mut model, (120, 40));
        let run = sample::run("tk-1").short();
        assert!(screen.contains("6m01s") && screen.contains("$2.42"), "{screen}");
        assert!(screen.contains(&format!("`programmator replay {run}` shows it")), "{screen}");
        let complete = Ended { reason: ExitReason::Complete, detail: String::new(), is_left: false };
        model.tabs[0].state.ended = Some(complete);
        let screen = sample::draw(&mut model, (120, 40));
        assert!(screen.contains("$0.00 · 0 iterations · with earlier runs: $2.42"), "{screen}");
    }

    #[test]
    fn a_complete_run_that_nothing_verified_says_so_everywhere() {
        let mut model = sample::model();
        let mut tab = sample::finished("tk-1");
        tab.state.phases[3].mark = Mark::Done(DoneHow::ClaimedUnchecked);
        model.tabs.push(tab);
        let screen = sample::draw(&mut model, (120, 40));
        assert_eq!(screen.matches("done, not verified").count(), 2, "tree and footer: {screen}");
        assert!(screen.contains("? complete: 6/6 phases, not verified"), "{screen}");
        assert!(screen.lines().next().is_some_and(|bar| bar.contains('?') && !bar.contains('✓')), "{screen}");
        for size in [(80, 24), (60, 15)] {
            let screen = sample::draw(&mut model, size);
            assert!(screen.contains("? complete: 6/6 phases, not verified"), "{screen}");
        }
    }

    #[test]
    fn the_time_between_a_crash_and_the_resume_is_no_work() {
        let mut tab = sample::running("tk-1");
        let phase = tab.current_phase().unwrap().clone();
        let (run, spent) = (tab.worked(sample::NOW), tab.time_on(&phase, sample::NOW));
        let later = sample::NOW.plus(Duration::from_secs(3_600));
        tab.state.updated = Some(sample::NOW);
        let seq = tab.state.seq + 1;
        let resumed = Stored { time: later, ..sample::stored("tk-1", seq, Record::RunResumed { pid: 7 }) };
        assert!(tab.record(&resumed));
        tab.state.stage = Stage::Running;
        assert_eq!((tab.worked(later), tab.time_on(&phase, later)), (run, spent));
    }

    #[test]
    fn time_of_the_running_phase_grows_with_the_clock() {
        let tab = sample::running("tk-1");
        let phase = tab.current_phase().unwrap();
        let at = |seconds| tab.time_on(phase, sample::NOW.plus(Duration::from_secs(seconds))).unwrap();
        assert_eq!(at(60), at(0) + Duration::from_secs(60));
    }
}
