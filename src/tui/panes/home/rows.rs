//! Home's rows: every ticket of this place and every run that the store knows, one row a ticket, grouped by what the person
//! has to do about it.

use crate::base::time::Timestamp;
use crate::domain::chat;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::own_seen::OwnSeen;
use crate::domain::own_session;
use crate::domain::phase::Mark;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::domain::ticket::{Severity, Ticket, TicketKey, TicketStatus};
use crate::tui::home::Sort;
use crate::tui::listed::Before;
use crate::tui::marks::Sign;
use crate::tui::model::Model;
use crate::tui::tab::{Tab, TabStatus};

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
    pub id: &'a TicketKey,
    pub group: Group,
    pub standing: TabStatus,
    /// It is open here.
    pub tab: Option<&'a Tab>,
    /// Its file, where it is one of this place.
    pub ticket: Option<&'a Ticket>,
    /// Its last run, by whichever program.
    pub run: Option<&'a RunSummary>,
    /// The Claude session of the person's own that it is, while there is one.
    pub own: Option<&'a OwnSeen>,
}

/// What is known of a ticket.
pub fn entry<'a>(model: &'a Model, id: &'a TicketKey) -> Entry<'a> {
    // A ticket of this place may be at work in another one, and a session in a directory below it.
    let is_of_here = || model.listed.contains_key(id) || model.own.contains_key(id);
    let is_held = |run: &&RunSummary| run.owner() == Owner::Another && is_of_here();
    let run = model.last_run(id).or_else(|| model.runs.get(id).map(AsRef::as_ref).filter(is_held));
    // Another program may have begun a newer run than the one that was opened here.
    let tab = model.tab_of(id).filter(|tab| !run.is_some_and(|run| tab.is_before(run)));
    let ticket = model.listed.get(id).map(AsRef::as_ref);
    let mut entry =
        Entry { id, group: Group::Ready, standing: TabStatus::NotStarted, tab, ticket, run, own: model.own.get(id) };
    entry.standing = entry.stands(model);
    entry.group = entry.grouped(model);
    entry
}

/// The ticket that a run would begin with next; of this place, whatever the filter leaves.
pub fn next_ready(model: &Model) -> Option<Entry<'_>> {
    ready(model).min_by_key(|entry| entry.place(Sort::Attention))
}

/// There is [one](next_ready). Asked for each frame, of ten thousand tickets.
pub fn is_any_ready(model: &Model) -> bool {
    ready(model).next().is_some()
}

fn ready(model: &Model) -> impl Iterator<Item = Entry<'_>> {
    let listed = model.listed.keys().map(|id| entry(model, id));
    listed.filter(|entry| entry.group == Group::Ready && !entry.is_archived(model))
}

impl<'a> Entry<'a> {
    /// The title, as far as it is known.
    pub fn title(&self) -> &'a str {
        let of_tab = self.tab.map(Tab::title).filter(|title| !title.is_empty());
        let of_file = self.ticket.map(|ticket| ticket.title.as_str());
        let of_own = self.own.map(|own| own.title.as_str());
        of_own.or(of_tab).or(of_file).or(self.run.map(|run| run.title.as_str())).unwrap_or_default()
    }

    /// Where it stands among its group.
    pub fn place(&self, sort: Sort) -> (bool, i64, String) {
        let (at, then) = self.sorted(sort);
        (sort == Sort::Attention && !self.is_held_up(), at, then)
    }

    /// A run stands still until the person does something: before those that have ended, or have not begun.
    fn is_held_up(&self) -> bool {
        matches!(self.standing, TabStatus::NeedsYou | TabStatus::Paused | TabStatus::YourTurn)
    }

    fn sorted(&self, sort: Sort) -> (i64, String) {
        let since = self.since().map_or(i64::MAX, Timestamp::millis);
        let newest = since.checked_neg().unwrap_or(i64::MAX);
        match sort {
            // Of those that are done the latest first, of the others the one that waits longest.
            Sort::Attention if self.group == Group::Done => (newest, String::new()),
            Sort::Attention => (since, self.priority()),
            Sort::Age if self.since().is_none() => (i64::MAX, self.priority()),
            Sort::Age => (newest, String::new()),
            Sort::Cost => ((self.cost().unwrap_or_default() * -10_000.0) as i64, String::new()),
            Sort::Title => (0, self.title().to_lowercase()),
            Sort::Progress => {
                let marks = self.marks();
                let done = marks.iter().filter(|mark| mark.is_settled()).count() as i64;
                (done * -1_000 / (marks.len() as i64).max(1), String::new())
            }
        }
    }

    /// The front matter's tags, without `#`.
    pub fn tags(&self) -> impl Iterator<Item = &'a str> {
        let around = |c: char| c.is_whitespace() || "[],\"'".contains(c);
        let tags = self.extra("tags").unwrap_or_default().split(around);
        tags.map(|tag| tag.trim_start_matches('#')).filter(|tag| !matches!(*tag, "" | "-"))
    }

    /// What it is called in the table: the number of a chat says nothing to anybody.
    pub fn name(&self) -> &'a str {
        match self.run {
            _ if self.is_chat() => "chat",
            _ if self.is_own_session() => "session",
            _ => self.id.as_str(),
        }
    }

    /// It is out of the table: nothing of it runs or needs the person.
    pub fn is_archived(&self, model: &Model) -> bool {
        self.can_rest() && model.home.archived.contains(self.id.file())
    }

    /// Nothing of it runs or needs the person.
    pub fn can_rest(&self) -> bool {
        !matches!(self.group, Group::NeedsYou | Group::Running) && !self.tab.is_some_and(Tab::has_open_run)
    }

    /// Why it cannot be started here now; `None`: it can.
    pub fn hindrance(&self, model: &Model) -> Option<String> {
        let (id, place) = (self.id, model.short_path(self.directory(model)));
        let is_elsewhere = self.run.is_some_and(|run| run.folder != model.folder);
        match self.run.map_or(Owner::Nobody, RunSummary::owner) {
            _ if self.tab.is_some_and(Tab::has_open_run) => Some(format!("{id} is already running")),
            _ if self.queued(model).is_some() => Some(format!("{id} is already queued")),
            _ if self.is_own_session() => Some(format!("{id} continues in its own terminal")),
            Owner::Another if is_elsewhere => Some(format!("{id} is running in {place}")),
            Owner::Another => Some(format!("{id} is running in another process")),
            _ if self.broken().is_some() => self.broken().map(|why| format!("{id}: {why} (e edits it)")),
            _ if self.group == Group::Done && !self.is_chat() => Some(format!("{id} is done")),
            _ if is_elsewhere => Some(format!("{id} belongs to {place}; start programmator there")),
            _ => None,
        }
    }

    /// What is wrong with its file, so that no run can begin.
    pub fn broken(&self) -> Option<String> {
        let problem = self.ticket?.problems.iter().find(|problem| problem.severity == Severity::Error)?;
        Some(format!("line {}: {}", problem.line, problem.message))
    }

    /// The directory of its run, or of this program where it has none.
    pub fn directory(&self, model: &'a Model) -> &'a str {
        self.own.map(|own| &own.folder).or(self.run.map(|run| &run.folder)).unwrap_or(&model.folder)
    }

    /// The branch of the worktree that its run works in.
    pub fn branch(&self) -> Option<&'a str> {
        let of_tab = self.tab.and_then(|tab| tab.state.workspace.worktree());
        of_tab.or(self.run.and_then(|run| run.worktree.as_ref())).map(|worktree| worktree.branch.as_str())
    }

    /// Its run was at work when its program died.
    fn is_interrupted(&self) -> bool {
        match (self.tab.filter(|tab| tab.run.is_some()), self.run) {
            (Some(tab), _) => tab.is_interrupted(),
            (None, run) => run.is_some_and(|run| run.state == RunState::Interrupted) && self.own.is_none(),
        }
    }

    /// A start goes on with its run.
    pub fn is_resumed(&self) -> bool {
        let reason = match (self.tab.filter(|tab| tab.run.is_some()), self.run) {
            (Some(tab), _) => tab.state.ended.as_ref().map(|ended| ended.reason),
            (None, Some(run)) => run.reason.as_deref().and_then(ExitReason::from_word),
            (None, None) => return false,
        };
        self.is_interrupted() || reason.is_some_and(ExitReason::is_resumable)
    }

    /// The base that its work is not merged into, though nothing else is left to do; `None`: that is not so.
    pub fn unmerged(&self) -> Option<&'a str> {
        let (worktree, reason) = match (self.tab.filter(|tab| tab.run.is_some()), self.run) {
            (Some(tab), _) => (tab.state.workspace.worktree(), tab.state.ended.as_ref().map(|ended| ended.reason)),
            (None, Some(run)) => (run.worktree.as_ref(), run.reason.as_deref().and_then(ExitReason::from_word)),
            (None, None) => return None,
        };
        let is_it = reason == Some(ExitReason::MergeFailed) && self.marks().iter().all(|mark| mark.is_settled());
        worktree.filter(|_| is_it).map(|worktree| worktree.base.as_str())
    }

    /// Why it waits to be started here.
    pub fn queued(&self, model: &'a Model) -> Option<&'a str> {
        model.queued_why(self.id)
    }

    fn stands(&self, model: &Model) -> TabStatus {
        if self.queued(model).is_some() {
            return TabStatus::Waiting;
        }
        if let Some(own) = self.own.filter(|_| self.run.is_none_or(|run| run.asks().is_none())) {
            return TabStatus::of_own(own);
        }
        if let Some(tab) = self.tab.filter(|tab| tab.is_known()) {
            return model.standing(tab);
        }
        let Some(run) = self.run else {
            let closed = self.ticket.is_some_and(|ticket| ticket.status == Some(TicketStatus::Closed));
            return if closed { TabStatus::Complete } else { TabStatus::NotStarted };
        };
        if run.state == RunState::Ended && self.has_more_to_do(run) {
            TabStatus::NotStarted
        } else {
            TabStatus::of(run)
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
            TabStatus::Stopped if self.is_chat() && !self.is_interrupted() => Group::Done,
            TabStatus::Stopped if self.is_own_session() => Group::Done,
            // Nothing can be done about one that failed.
            TabStatus::Halted | TabStatus::Stopped if self.run.is_some_and(RunSummary::is_review) => Group::Done,
            TabStatus::NeedsYou | TabStatus::Halted | TabStatus::Gone => Group::NeedsYou,
            TabStatus::Running | TabStatus::Checking | TabStatus::Pausing | TabStatus::Stopping => Group::Running,
            TabStatus::Waiting
            | TabStatus::Unstored
            | TabStatus::Parked
            | TabStatus::Paused
            | TabStatus::YourTurn
            | TabStatus::Stopped => Group::Waiting,
            TabStatus::Complete | TabStatus::Unverified => Group::Done,
            TabStatus::NotStarted if self.ticket.is_some_and(Ticket::is_broken) => Group::NeedsYou,
            TabStatus::NotStarted if self.open_dependencies(model).next().is_some() => Group::Waiting,
            TabStatus::NotStarted => Group::Ready,
        }
    }

    /// What must be closed or corrected before it.
    pub fn open_dependencies(&self, model: &'a Model) -> impl Iterator<Item = Before<'a>> + use<'a> {
        self.ticket.into_iter().flat_map(|ticket| model.listed.open_dependencies(self.id, ticket))
    }

    /// The front matter's priority; tickets without one come last.
    fn priority(&self) -> String {
        self.extra("priority").map_or_else(|| "~".to_owned(), str::to_owned)
    }

    pub fn extra(&self, key: &str) -> Option<&'a str> {
        self.ticket?.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// When it came to stand as it does.
    pub fn since(&self) -> Option<Timestamp> {
        let of_tab = self.tab.and_then(|tab| match tab.state.approvals.first() {
            Some(approval) if tab.state.ended.is_none() => Some(approval.asked),
            _ if tab.is_at_work() => tab.state.open_iteration().map(|open| open.started).or(tab.state.started),
            _ => tab.state.updated,
        });
        // Of another program's run only its beginning is known: its records come too often to tell a time by.
        if let Some(own) = self.own.filter(|_| self.standing != TabStatus::NeedsYou) {
            return Some(own.since);
        }
        of_tab.or(self.run.map(|run| if self.group == Group::Running { run.started } else { run.updated }))
    }

    /// Where each phase stands.
    pub fn marks(&self) -> Vec<Mark> {
        let in_file = |ticket: &Ticket| {
            let mark = |done| if done { Mark::Done(DoneHow::TickedByPerson) } else { Mark::Pending };
            ticket.phases.iter().map(|phase| mark(phase.done)).collect()
        };
        match (self.tab.filter(|tab| !tab.is_as_in_file()), self.run, self.ticket) {
            (Some(tab), ..) => tab.phases(false).into_iter().map(|phase| phase.mark).collect(),
            (None, Some(run), ticket)
                if !run.marks.is_empty()
                    && self.standing != TabStatus::NotStarted
                    // Since then the person has added or removed some.
                    && ticket.is_none_or(|ticket| ticket.phases.len() == run.marks.len()) =>
            {
                run.marks.clone()
            }
            (None, _, Some(ticket)) => in_file(ticket),
            (None, ..) => Vec::new(),
        }
    }

    /// Which of the marks are of phases that count as done, and whose work a restore took back.
    pub fn taken_back(&self) -> Vec<usize> {
        let places = |tab: &Tab| {
            let lines = tab.phases(false);
            (0..).zip(&lines).filter(|(_, line)| line.is_taken_back()).map(|(at, _)| at).collect()
        };
        match (self.tab.filter(|tab| !tab.is_as_in_file()), self.run) {
            (Some(tab), _) => places(tab),
            (None, Some(run)) if self.standing != TabStatus::NotStarted && run.marks == self.marks() => {
                run.taken_back.clone()
            }
            (None, _) => Vec::new(),
        }
    }

    pub fn is_chat(&self) -> bool {
        chat::is_id(self.id.id())
    }

    /// A Claude session that the person has started themselves.
    pub fn is_own_session(&self) -> bool {
        own_session::is(self.id.id(), self.id.file())
    }

    /// It is one that is not there any more, and is not open here: only its questions are stored, and nobody goes on with it.
    pub fn is_over(&self) -> bool {
        let is_asked = self.run.is_some_and(|run| run.owner() == Owner::Another);
        self.is_own_session() && self.own.is_none() && self.tab.is_none() && !is_asked
    }

    /// Lines that its runs have added and removed; `None`: none, or that is not known, as of chats, beside which others
    /// work.
    pub fn lines(&self) -> Option<(u64, u64)> {
        if self.is_chat() {
            return None;
        }
        let of_tab = self.tab.filter(|tab| tab.run.is_some()).map(|tab| tab.state.ticket_lines());
        of_tab.or(self.run.map(|run| (run.added, run.removed))).filter(|lines| *lines != (0, 0))
    }

    /// US dollars that the ticket's runs have cost; `None`: there was none, or that is not known.
    pub fn cost(&self) -> Option<f64> {
        if self.is_own_session() {
            return None;
        }
        let of_tab = self.tab.filter(|tab| tab.run.is_some()).map(|tab| tab.state.ticket_usd());
        of_tab.or(self.run.map(RunSummary::ticket_usd))
    }

    /// What of that its earlier runs have cost.
    pub fn carried_usd(&self) -> f64 {
        let of_tab = self.tab.filter(|tab| tab.run.is_some()).map(|tab| tab.state.carried_usd);
        of_tab.or(self.run.map(|run| run.carried_usd)).unwrap_or_default()
    }

    /// Glyph and role of how it stands.
    pub fn sign(&self, model: &Model) -> Sign {
        let blocked = self.standing == TabStatus::NotStarted && self.group == Group::Waiting;
        let broken = self.standing == TabStatus::NotStarted && self.group == Group::NeedsYou;
        match () {
            () if self.is_interrupted() && self.standing != TabStatus::NeedsYou => {
                Sign { word: "interrupted", ..TabStatus::Stopped.sign(model.glyphs) }
            }
            () if blocked => Sign { word: "blocked", ..TabStatus::Waiting.sign(model.glyphs) },
            () if broken => Sign { word: "broken", ..TabStatus::Halted.sign(model.glyphs) },
            () => self.standing.sign(model.glyphs),
        }
    }
}
