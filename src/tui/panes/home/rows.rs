//! Home's rows: every ticket of this place and every run that the store knows, one row a ticket, grouped by what the person
//! has to do about it.

use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::messages::reason_words;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::Mark;
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::{Severity, Ticket, TicketStatus};
use crate::orchestrator::state::Stage;
use crate::tui::marks::Sign;
use crate::tui::model::Model;
use crate::tui::tab::{Tab, TabStatus};
use std::collections::BTreeSet;

/// What is to be done about a ticket. The order is that of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    NeedsYou,
    Running,
    Waiting,
    Ready,
    Done,
}

impl Group {
    /// Its heading.
    pub fn words(self) -> &'static str {
        match self {
            Self::NeedsYou => "Needs you",
            Self::Running => "Running",
            Self::Waiting => "Waiting",
            Self::Ready => "Ready",
            Self::Done => "Done",
        }
    }
}

/// A ticket, and all that is known of it.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    pub id: &'a TicketId,
    pub group: Group,
    pub standing: TabStatus,
    /// It is open here.
    pub tab: Option<&'a Tab>,
    /// Its file, where it is one of this place.
    pub ticket: Option<&'a Ticket>,
    /// Its last run, by whichever program.
    pub run: Option<&'a RunSummary>,
}

/// What is known of a ticket.
pub fn entry<'a>(model: &'a Model, id: &'a TicketId) -> Entry<'a> {
    let run = model.last_run(id);
    // Another program may have begun a newer run than the one that was opened here.
    let is_old = |tab: &Tab| {
        !tab.has_open_run()
            && run.is_some_and(|run| Some(run.run) != tab.run && tab.state.started.is_some_and(|own| own < run.started))
    };
    let tab = model.tab_of(id).filter(|tab| !is_old(tab));
    let ticket = model.listed.get(id).map(AsRef::as_ref);
    let mut entry = Entry { id, group: Group::Ready, standing: TabStatus::NotStarted, tab, ticket, run };
    entry.standing = entry.stands(model);
    entry.group = entry.grouped(model);
    entry
}

/// All rows that the filter leaves, in their groups: of those that are done the latest first, of the others the one that
/// waits longest.
pub fn entries(model: &Model) -> Vec<Entry<'_>> {
    let ran = model.runs.keys().filter(|id| model.last_run(id).is_some());
    let open = model.tabs.iter().map(|tab| &tab.id);
    let ids: BTreeSet<&TicketId> = model.listed.keys().chain(ran).chain(open).collect();
    let filter = model.home.filter.to_lowercase();
    let mut rows: Vec<Entry<'_>> =
        ids.into_iter().map(|id| entry(model, id)).filter(|entry| entry.fits(&filter)).collect();
    rows.sort_by_cached_key(|entry| {
        let at = entry.since().map_or(i64::MAX, Timestamp::millis);
        (entry.group, if entry.group == Group::Done { -at } else { at }, entry.priority())
    });
    rows
}

impl<'a> Entry<'a> {
    /// The title, as far as it is known.
    pub fn title(&self) -> &'a str {
        let of_tab = self.tab.map(Tab::title).filter(|title| !title.is_empty());
        let of_file = self.ticket.map(|ticket| ticket.title.as_str());
        of_tab.or(of_file).or(self.run.map(|run| run.title.as_str())).unwrap_or_default()
    }

    /// Every word of the filter, in small letters, is in the id, the title or what the front matter says.
    fn fits(&self, filter: &str) -> bool {
        if filter.is_empty() {
            return true;
        }
        let extra = self.ticket.iter().flat_map(|ticket| ticket.extra.iter().map(|(_, value)| value.as_str()));
        let text: Vec<&str> = [self.id.as_str(), self.title()].into_iter().chain(extra).collect();
        let text = text.join(" ").to_lowercase();
        filter.split_whitespace().all(|word| text.contains(word))
    }

    fn stands(&self, model: &Model) -> TabStatus {
        if let Some(tab) = self.tab.filter(|tab| tab.run.is_some() || tab.failure.is_some()) {
            return model.standing(tab);
        }
        let Some(run) = self.run else {
            let closed = self.ticket.is_some_and(|ticket| ticket.status == Some(TicketStatus::Closed));
            return if closed { TabStatus::Complete } else { TabStatus::NotStarted };
        };
        match run.state {
            RunState::Ended if self.has_more_to_do(run) => TabStatus::NotStarted,
            RunState::Ended => match run.reason.as_deref().and_then(ExitReason::from_word) {
                Some(ExitReason::Complete) if run.unverified => TabStatus::Unverified,
                Some(ExitReason::Complete) => TabStatus::Complete,
                Some(ExitReason::UserStopped) => TabStatus::Stopped,
                _ => TabStatus::Halted,
            },
            _ if run.needs.is_some() && run.state != RunState::Interrupted => TabStatus::NeedsYou,
            RunState::Running => TabStatus::Running,
            RunState::Waiting => TabStatus::Waiting,
            RunState::Paused => TabStatus::Paused,
            RunState::Parked => TabStatus::Parked,
            RunState::Interrupted => TabStatus::Stopped,
        }
    }

    /// The run is complete, and the file has open phases again.
    fn has_more_to_do(&self, run: &RunSummary) -> bool {
        let complete = run.reason.as_deref() == Some(ExitReason::Complete.word());
        let skipped = run.marks.contains(&Mark::Skipped);
        complete && !skipped && self.ticket.is_some_and(|ticket| ticket.phases.iter().any(|phase| !phase.done))
    }

    fn grouped(&self, model: &Model) -> Group {
        match self.standing {
            TabStatus::NeedsYou | TabStatus::Halted | TabStatus::Gone => Group::NeedsYou,
            TabStatus::Running | TabStatus::Checking | TabStatus::Pausing => Group::Running,
            TabStatus::Waiting | TabStatus::Unstored | TabStatus::Parked | TabStatus::Paused | TabStatus::Stopped => {
                Group::Waiting
            }
            TabStatus::Complete | TabStatus::Unverified => Group::Done,
            TabStatus::NotStarted if self.ticket.is_some_and(Ticket::is_broken) => Group::NeedsYou,
            TabStatus::NotStarted if self.open_dependency(model).is_some() => Group::Waiting,
            TabStatus::NotStarted => Group::Ready,
        }
    }

    /// A ticket of this place that must be done before this one.
    fn open_dependency(&self, model: &'a Model) -> Option<&'a TicketId> {
        let deps = self.ticket.into_iter().flat_map(|ticket| &ticket.deps).filter_map(|dep| TicketId::parse(dep).ok());
        let listed = |dep: TicketId| model.listed.get_key_value(&dep);
        let mut open = deps.filter_map(listed).filter(|(_, ticket)| ticket.status != Some(TicketStatus::Closed));
        open.next().map(|(id, _)| id)
    }

    /// The front matter's priority; tickets without one come last.
    fn priority(&self) -> String {
        self.extra("priority").map_or_else(|| "~".to_owned(), str::to_owned)
    }

    fn extra(&self, key: &str) -> Option<&'a str> {
        self.ticket?.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// When it came to stand as it does.
    pub fn since(&self) -> Option<Timestamp> {
        let of_tab = self.tab.and_then(|tab| match tab.state.approvals.first() {
            Some(approval) if tab.state.ended.is_none() => Some(approval.asked),
            _ if tab.is_active() => tab.state.open_iteration().map(|open| open.started).or(tab.state.started),
            _ => tab.state.updated,
        });
        of_tab.or(self.run.map(|run| run.updated))
    }

    /// Where each phase stands.
    pub fn marks(&self) -> Vec<Mark> {
        let in_file = |ticket: &Ticket| {
            let mark = |done| if done { Mark::Done(DoneHow::TickedByPerson) } else { Mark::Pending };
            ticket.phases.iter().map(|phase| mark(phase.done)).collect()
        };
        match (self.tab.filter(|tab| !tab.is_as_in_file()), self.run, self.ticket) {
            (Some(tab), ..) => tab.state.phases.iter().map(|phase| phase.mark).collect(),
            (None, Some(run), _) if !run.marks.is_empty() && self.standing != TabStatus::NotStarted => {
                run.marks.clone()
            }
            (None, _, Some(ticket)) => in_file(ticket),
            (None, ..) => Vec::new(),
        }
    }

    /// US dollars that the ticket's last run has cost; `None`: there was none.
    pub fn cost(&self) -> Option<f64> {
        let of_tab = self.tab.filter(|tab| tab.run.is_some()).map(|tab| tab.state.ticket_usd());
        of_tab.or(self.run.map(|run| run.cost_usd))
    }

    /// Glyph and role of how it stands.
    pub fn sign(&self, model: &Model) -> Sign {
        let blocked = self.standing == TabStatus::NotStarted && self.group == Group::Waiting;
        let broken = self.standing == TabStatus::NotStarted && self.group == Group::NeedsYou;
        match () {
            () if blocked => Sign { word: "blocked", ..TabStatus::Waiting.sign(model.glyphs) },
            () if broken => Sign { word: "broken", ..TabStatus::Halted.sign(model.glyphs) },
            () => self.standing.sign(model.glyphs),
        }
    }

    /// What it does, waits for or needs, in a few words; raw.
    pub fn words(&self, model: &Model) -> String {
        let broken = self.ticket.and_then(|ticket| ticket.problems.iter().find(|p| p.severity == Severity::Error));
        match (self.standing, self.tab.filter(|tab| tab.run.is_some() || tab.failure.is_some()), self.run) {
            (TabStatus::NotStarted, ..) => match (broken, self.open_dependency(model)) {
                (Some(problem), _) => format!("line {}: {}", problem.line, problem.message),
                (None, Some(dep)) => format!("after {dep}"),
                (None, None) => self.ready(),
            },
            (_, Some(tab), _) => of_tab(model, tab, self.standing),
            (_, None, Some(run)) => of_run(model, run),
            (_, None, None) => String::new(),
        }
    }

    fn ready(&self) -> String {
        let checks = self.ticket.is_some_and(|ticket| ticket.validation.is_empty()).then_some("no checks");
        let priority =
            self.extra("priority").map(|priority| format!("priority {}", priority.trim_start_matches(['p', 'P'])));
        priority.into_iter().chain(checks.map(str::to_owned)).collect::<Vec<_>>().join(" · ")
    }
}

/// What a ticket that is open here does.
fn of_tab(model: &Model, tab: &Tab, standing: TabStatus) -> String {
    if let Some(failure) = &tab.failure {
        return failure.clone();
    }
    let first = model.attention().into_iter().find(|item| item.ticket == tab.id);
    if let Some(item) = first.filter(|item| item.what != crate::tui::attention::What::Ended) {
        return model.words_of(&item);
    }
    let state = &tab.state;
    match (&state.ended, standing) {
        (None, _) if model.is_interrupted(tab) => "interrupted".to_owned(),
        (Some(_), TabStatus::Complete) => {
            let verified = state.phases.iter().all(|phase| phase.mark == Mark::Done(DoneHow::Verified));
            if verified && !state.phases.is_empty() { "verified" } else { "complete" }.to_owned()
        }
        (Some(_), TabStatus::Unverified) => "not verified".to_owned(),
        (Some(_), TabStatus::Stopped) => "stopped by you".to_owned(),
        (Some(ended), _) if ended.detail.is_empty() => reason_words(ended.reason).to_owned(),
        (Some(ended), _) => ended.detail.clone(),
        (None, TabStatus::Parked) => state.limits.parked.as_ref().map_or_else(String::new, |parking| {
            format!("{} · until {}", parking.about, parking.until.minute(&model.zone))
        }),
        (None, TabStatus::Waiting) => "queued: another run works in this directory".to_owned(),
        (None, TabStatus::Unstored) => "nothing can be stored".to_owned(),
        (None, _) => match (&state.stage, &tab.call) {
            (Stage::Validating, _) => "running the validation commands".to_owned(),
            (Stage::Running, Some((call, _))) => call.clone(),
            (Stage::Running, None) => "Claude is thinking".to_owned(),
            (Stage::Paused, _) => "paused".to_owned(),
            _ => "starting Claude".to_owned(),
        },
    }
}

/// What another program's run does, or one of the past has done.
fn of_run(model: &Model, run: &RunSummary) -> String {
    let reason = run.reason.as_deref().and_then(ExitReason::from_word);
    let phase = run.phase.as_deref().unwrap_or_default();
    match (run.state, &run.needs) {
        (RunState::Ended, _) if reason == Some(ExitReason::Complete) => {
            let verified = !run.marks.is_empty() && run.marks.iter().all(|mark| *mark == Mark::Done(DoneHow::Verified));
            match (run.unverified, verified) {
                (true, _) => "not verified",
                (false, true) => "verified",
                (false, false) => "complete",
            }
            .to_owned()
        }
        (RunState::Ended, _) if reason == Some(ExitReason::UserStopped) => "stopped by you".to_owned(),
        (RunState::Interrupted, _) => "interrupted".to_owned(),
        (_, Some(needs)) => needs.clone(),
        (RunState::Ended, None) => reason.map_or_else(String::new, |reason| reason_words(reason).to_owned()),
        (RunState::Parked, None) => {
            let until = run.until.map(|until| format!(" until {}", until.minute(&model.zone)));
            format!("rate limited{}", until.unwrap_or_default())
        }
        (RunState::Waiting, None) => "queued: another run works in its directory".to_owned(),
        (RunState::Paused, None) => "paused".to_owned(),
        (RunState::Running, None) => clean_line(phase, 200),
    }
}
