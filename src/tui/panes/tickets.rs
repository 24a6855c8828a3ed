//! The Tickets pane: open tickets with their phases, the other tickets below them.
//!
//! The cursor is on a thing, not on a line: it stays where it is while lines come and go above it.

mod keys;

pub use keys::NAME;

use crate::base::text::{clean_line, cut, cut_middle};
use crate::base::time::short;
use crate::domain::command::UserCommand;
use crate::domain::outcome::ExitReason;
use crate::domain::phase::{Mark, PhaseId};
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::{Severity, Task, Ticket, TicketStatus};
use crate::orchestrator::state::PhaseState;
use crate::tui::command::{Command, lines, page};
use crate::tui::marks::Sign;
use crate::tui::model::{Mode, Model};
use crate::tui::msg::Ask;
use crate::tui::pane::{Entry, Pane};
use crate::tui::selection::Thing;
use crate::tui::tab::{PhaseLine, Tab, TabStatus};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Inner width from which on a state has a word beside its glyph.
const WORDY: u16 = 48;
/// Topics of a chat that are listed, the newest.
const TOPICS: usize = 10;

/// The row of the table.
pub const PANE: Entry = Entry { name: NAME, keys: keys::KEYS, new: || Box::<Tickets>::default() };

/// The pane's own state; its cursor is [`Selection`](crate::tui::selection::Selection), for other keys act on it too.
#[derive(Default)]
struct Tickets(Scrolled);

/// One line of the tree.
enum Item<'a> {
    Tab(&'a Tab),
    Phase(&'a Tab, PhaseLine<'a>),
    Task(&'a Task),
    Whole(&'a Tab),
    /// What a message of a chat is about.
    Topic(&'a str),
    Gap,
    Listed(&'a TicketKey, &'a Ticket),
}

impl Item<'_> {
    fn thing(&self) -> Option<Thing> {
        match self {
            Self::Tab(tab) => Some(Thing::Ticket(tab.id.clone())),
            Self::Phase(tab, phase) => Some(Thing::Phase(tab.id.clone(), phase.id)),
            Self::Listed(key, _) => Some(Thing::Ticket((*key).clone())),
            Self::Task(_) | Self::Whole(_) | Self::Topic(_) | Self::Gap => None,
        }
    }
}

fn is_unfolded(model: &Model, tab: &Tab) -> bool {
    let in_front = model.tab().is_some_and(|front| front.id == tab.id);
    in_front != model.selection.turned.contains(&tab.id)
}

fn items(model: &Model) -> Vec<Item<'_>> {
    let mut out = Vec::new();
    for tab in &model.tabs {
        out.push(Item::Tab(tab));
        if !is_unfolded(model, tab) {
            continue;
        }
        let before = out.len();
        for phase in tab.phases(model.mode == Mode::Replay) {
            let running = phase.mark == Mark::Running;
            let text = phase.text;
            out.push(Item::Phase(tab, phase));
            let in_file = tab.ticket.iter().flat_map(|ticket| &ticket.phases);
            for phase in in_file.filter(|phase| running && phase.text == text) {
                out.extend(phase.tasks.iter().map(Item::Task));
            }
        }
        if out.len() == before && (tab.ticket.is_some() || tab.run.is_some()) {
            let topics = tab.state.chat.as_ref().map_or(&[][..], |chat| &chat.topics);
            out.extend(topics.iter().rev().take(TOPICS).rev().map(|topic| Item::Topic(topic)));
            if topics.is_empty() {
                out.push(Item::Whole(tab));
            }
        }
        if model.tabs.len() > 1 {
            out.push(Item::Gap);
        }
    }
    let is_other =
        |key: &TicketKey, ticket: &Ticket| model.tab_of(key).is_none() && ticket.status != Some(TicketStatus::Closed);
    let others: Vec<_> = model.listed.iter().filter(|(key, ticket)| is_other(key, ticket)).collect();
    if !out.is_empty() && !others.is_empty() && !matches!(out.last(), Some(Item::Gap)) {
        out.push(Item::Gap);
    }
    out.extend(others.into_iter().map(|(key, ticket)| Item::Listed(key, ticket)));
    out
}

/// Where the cursor is: on its thing, else on the running phase, else on the ticket in front.
fn position(model: &Model, items: &[Item<'_>]) -> usize {
    let at = |wanted: &Thing| items.iter().position(|item| item.thing().as_ref() == Some(wanted));
    let front = model.tab().map(|tab| tab.id.clone());
    let current = model.tab().and_then(Tab::current_phase);
    model
        .selection
        .cursor
        .as_ref()
        .and_then(at)
        .or_else(|| at(&Thing::Phase(front.clone()?, current?.id)))
        .or_else(|| at(&Thing::Ticket(front.clone()?)))
        .unwrap_or(0)
}

impl Model {
    /// What the tree's cursor stands on, when the tree has the focus.
    pub fn under_cursor(&self) -> Option<Thing> {
        if self.focus != NAME {
            return None;
        }
        let items = items(self);
        items.get(position(self, &items))?.thing()
    }

    /// The phase of the ticket in front that the cursor was put on.
    pub fn phase_under_cursor(&self) -> Option<PhaseId> {
        match (self.under_cursor()?, self.tab()) {
            (Thing::Phase(id, phase), Some(tab)) if tab.id == id => Some(phase),
            _ => None,
        }
    }

    /// The phase of the ticket in front that the cursor is on.
    pub fn chosen_phase(&self) -> Option<(&Tab, PhaseLine<'_>)> {
        let (id, tab) = (self.phase_under_cursor()?, self.tab()?);
        let line = tab.phases(self.mode == Mode::Replay).into_iter().find(|line| line.id == id)?;
        Some((tab, line))
    }

    /// The phase that `d` would tick: the one under the tree's cursor.
    fn tickable(&self) -> Option<&PhaseState> {
        let phase = self.tab()?.state.phase_by(self.phase_under_cursor()?)?;
        (!phase.ticked || !matches!(phase.stands(), Mark::Done(_))).then_some(phase)
    }

    /// The line under the cursor as text for the clipboard.
    fn line_under_cursor(&self) -> Option<String> {
        let items = items(self);
        let text = match items.get(position(self, &items)).filter(|_| self.focus == NAME)? {
            Item::Phase(_, phase) => phase.text.to_owned(),
            item => match item.thing()? {
                Thing::Ticket(id) | Thing::Phase(id, _) => id.to_string(),
            },
        };
        Some(crate::base::text::clean_line(&text, 1_000))
    }
}

impl Tickets {
    /// The cursor goes down (or, negative, up) by this many stops.
    fn step(&mut self, model: &mut Model, by: i32, height: usize) {
        let items = items(model);
        let at = position(model, &items);
        let stops: Vec<usize> = (0..items.len()).filter(|at| items[*at].thing().is_some()).collect();
        let Some(now) = stops.iter().position(|stop| *stop == at) else { return };
        let to = stops[now.saturating_add_signed(by as isize).min(stops.len() - 1)];
        self.0 = self.0.showing(to, to, height);
        let thing = items[to].thing();
        drop(items);
        model.selection.cursor = thing;
    }
}

/// Folds or unfolds the ticket under the cursor.
fn fold(model: &mut Model) {
    let Some(Thing::Ticket(id) | Thing::Phase(id, _)) = model.under_cursor() else { return };
    if !model.selection.turned.remove(&id) {
        model.selection.turned.insert(id.clone());
    }
    model.selection.cursor = Some(Thing::Ticket(id));
}

/// An open ticket comes to the front or is folded, a listed one is shown.
fn choose(model: &mut Model) -> Vec<Ask> {
    let Some(Thing::Ticket(id) | Thing::Phase(id, _)) = model.under_cursor() else { return Vec::new() };
    match model.tabs.iter().position(|tab| tab.id == id) {
        Some(at) if at == model.active => fold(model),
        Some(at) => model.show_tab(at),
        None => return model.show_listed(&id),
    }
    Vec::new()
}

/// The branch that the ticket in front is worked on: of its worktree, else of the directory.
fn branch(model: &Model) -> Option<&str> {
    let tab = model.tab();
    let own = tab.and_then(|tab| tab.state.workspace.worktree()).map(|worktree| worktree.branch.as_str());
    let is_here = |tab: &Tab| tab.run.is_none() || tab.state.workspace.home().as_os_str() == model.folder.as_str();
    own.or_else(|| model.branch.as_deref().filter(|branch| !branch.is_empty() && tab.is_none_or(is_here)))
}

/// Columns of the border around its words.
const AROUND: u16 = 20;

impl Pane for Tickets {
    fn border(&self, model: &Model, width: u16) -> (String, String) {
        let shown = branch(model)
            .filter(|_| model.mode == Mode::Live)
            .map(|branch| cut_middle(&clean_line(branch, 200), width.saturating_sub(AROUND).into()));
        (String::new(), shown.unwrap_or_default())
    }

    fn act(&mut self, model: &mut Model, command: Command, height: usize) -> Vec<Ask> {
        match command {
            Command::Choose => return choose(model),
            Command::Own("fold") => fold(model),
            // Told when it is recorded.
            Command::Own("tick") => {
                let phase = model.tickable().map(|phase| phase.id);
                return phase.map_or_else(Vec::new, |phase| model.to_run(UserCommand::TickPhase { phase }));
            }
            Command::Own("copy") => return model.line_under_cursor().map(Ask::Copy).into_iter().collect(),
            command => match lines(Some(command), page(height)) {
                0 => {}
                by => self.step(model, by, height),
            },
        }
        Vec::new()
    }

    /// Why a key does nothing with what the cursor is on.
    fn refusal(&self, model: &Model, command: Command) -> Option<String> {
        let Command::Own(word @ ("tick" | "add" | "rename" | "split" | "up" | "down" | "accept" | "reopen")) = command
        else {
            return None;
        };
        if model.mode == Mode::Replay {
            return Some("not available in a replay".to_owned());
        }
        let (Thing::Ticket(id) | Thing::Phase(id, _)) = model.under_cursor()?;
        let at = model.tabs.iter().position(|tab| tab.id == id);
        let tab = at.map(|at| &model.tabs[at]);
        let elsewhere = tab.and_then(|tab| model.is_elsewhere(tab));
        Some(match (at, elsewhere, model.chosen_phase()) {
            (None, ..) => format!("{id} is not open; use `programmator phase`"),
            (Some(at), ..) if at != model.active => format!("switch to {id} first (tab {})", at + 1),
            (_, Some(why), _) => why,
            _ if tab.is_some_and(|tab| tab.gone) => format!("the file of {id} is gone"),
            (.., None) => "select a phase".to_owned(),
            (.., Some((tab, _))) if word == "reopen" && !tab.has_open_run() => {
                "select a phase that is done or skipped".to_owned()
            }
            _ if word == "accept" => "the phase is already done; reopen it first".to_owned(),
            _ => "already ticked".to_owned(),
        })
    }

    fn view(&self, model: &Model, focused: bool, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let items = items(model);
        if items.is_empty() {
            let say = [
                (
                    Role::Text,
                    if model.listed.is_empty() { "No tickets here yet." } else { "All tickets here are closed." },
                ),
                (Role::Text, ""),
                (Role::Dim, "Create one in a shell:"),
                (Role::Text, "programmator ticket new \"…\""),
                (Role::Dim, "or press t and enter a path."),
            ];
            for (line, (role, text)) in area.rows().zip(say) {
                Row::new().left(role, text).draw(theme, line, buf);
            }
            return;
        }
        let at = position(model, &items);
        let height = usize::from(area.height);
        let mut scrolled = self.0.showing(at, at, height);
        scrolled.scroll(0, items.len(), height);
        let rows = items.iter().map(|item| line(model, item, area.width));
        scrolled.list(rows, focused.then_some(at), theme, area, buf);
    }
}

fn line(model: &Model, item: &Item<'_>, width: u16) -> Row {
    let glyphs = model.glyphs;
    match item {
        Item::Gap => Row::new(),
        Item::Tab(tab) => {
            let fold = if is_unfolded(model, tab) { glyphs.pick("▾", "-") } else { glyphs.pick("▸", "+") };
            let front = model.tab().is_some_and(|front| front.id == tab.id);
            let row = Row::new()
                .left(Role::Dim, format!("{fold} "))
                .left(if front { Role::Title } else { Role::Text }, tab.id.as_str())
                .left(if front { Role::Text } else { Role::Dim }, format!(" {}", tab.title()));
            signed(row, model.standing(tab).sign(glyphs), width)
        }
        Item::Phase(tab, phase) => {
            let sign = phase.sign(model.standing(tab).of_phase(phase.mark, glyphs), glyphs);
            let time = phase.run.and_then(|run| tab.time_on(run, model.moment(tab))).map(short).unwrap_or_default();
            let text = match phase.mark {
                Mark::Running => Role::PhaseRunning,
                mark if mark.is_settled() => Role::Dim,
                _ => Role::Text,
            };
            let row = Row::new().left(sign.role, format!("  {} ", sign.glyph)).left(text, phase.text);
            if width >= WORDY {
                row.right(sign.role, format!("{:<10}", sign.word)).right(Role::Dim, format!("{time:>7}"))
            } else {
                row.right(Role::Dim, time)
            }
        }
        Item::Task(task) => {
            Row::new().left(Role::Dim, format!("    {} ", glyphs.task(task.done))).left(Role::Dim, &task.text)
        }
        Item::Topic(topic) => {
            Row::new().left(Role::Dim, format!("  {} ", glyphs.pick("·", "-"))).left(Role::Dim, topic)
        }
        Item::Whole(tab) => {
            if let Some(words) = tab.no_ticket() {
                return Row::new().left(Role::Dim, words);
            }
            let whole = &tab.state.whole;
            let sign = if whole.is_taken_back() { glyphs.taken_back() } else { glyphs.phase(whole.mark) };
            Row::new().left(sign.role, format!("  {} ", sign.glyph)).left(Role::Dim, "no phases: worked on as a whole")
        }
        Item::Listed(key, ticket) => {
            let (sign, word) = listed(model, key, ticket, width);
            Row::new()
                .left(sign.role, format!("{} ", sign.glyph))
                .left(Role::Text, ticket.id.as_str())
                .left(Role::Dim, format!(" {}", ticket.title))
                .right(sign.role, word)
        }
    }
}

fn signed(row: Row, sign: Sign, width: u16) -> Row {
    if width >= WORDY {
        row.right(sign.role, format!("{} {}", sign.glyph, sign.word))
    } else {
        row.right(sign.role, sign.glyph)
    }
}

/// How a ticket without a tab stands, and its word; why it waits, where there is room for that.
fn listed(model: &Model, key: &TicketKey, ticket: &Ticket, width: u16) -> (Sign, String) {
    if let Some(why) = model.queued_why(key) {
        let sign = TabStatus::Waiting.sign(model.glyphs);
        let why = if width >= WORDY { cut(why, usize::from(width) / 2) } else { sign.word.to_owned() };
        return (sign, why);
    }
    // Another program works on it, or it waits there.
    if let Some(open) = model.last_run(key).filter(|run| run.owner() != Owner::Nobody) {
        let sign = TabStatus::of(open).sign(model.glyphs);
        return (sign, sign.word.to_owned());
    }
    let broken = ticket.problems.iter().find(|problem| problem.severity == Severity::Error);
    if let Some(problem) = broken {
        let sign = Sign { glyph: "!", word: "broken", role: Role::Danger };
        return (sign, format!("broken, line {}", problem.line));
    }
    let waits = model.listed.open_dependencies(key, ticket).next().is_some();
    let all_done = !ticket.phases.is_empty() && ticket.phases.iter().all(|phase| phase.done);
    let ended = model.last_run(key).filter(|run| matches!(run.state, RunState::Ended | RunState::Interrupted));
    let is_unmerged = ended.is_some_and(|run| run.reason.as_deref() == Some(ExitReason::MergeFailed.word()));
    let has_more_to_do = |run: &RunSummary| {
        run.reason.as_deref() == Some(ExitReason::Complete.word()) && !run.marks.contains(&Mark::Skipped)
    };
    let sign = match ticket.status {
        _ if is_unmerged => Sign { word: "not merged", ..TabStatus::Halted.sign(model.glyphs) },
        _ if waits => Sign { word: "blocked", ..TabStatus::Waiting.sign(model.glyphs) },
        _ if all_done => TabStatus::Complete.sign(model.glyphs),
        status => match ended {
            Some(run) if run.state == RunState::Interrupted && run.left_waiting().is_none() => {
                Sign { word: "interrupted", ..TabStatus::Stopped.sign(model.glyphs) }
            }
            // Boxes are open: of what was skipped, else there is more to do.
            Some(run) if !has_more_to_do(run) => TabStatus::of(run).sign(model.glyphs),
            _ if status == Some(TicketStatus::InProgress) => {
                Sign { word: "in progress", ..TabStatus::NotStarted.sign(model.glyphs) }
            }
            _ => TabStatus::NotStarted.sign(model.glyphs),
        },
    };
    (sign, sign.word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    #[test]
    fn the_cursor_begins_at_the_running_phase_and_stays_on_its_thing() {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        model.focus = NAME;
        assert_eq!(model.line_under_cursor().as_deref(), Some("Wire into middleware"));
        Tickets::default().step(&mut model, -1, 10);
        let before = model.under_cursor();
        assert_eq!(model.line_under_cursor().as_deref(), Some("Token bucket"));
        model.tabs[0].state.phases.insert(0, PhaseState::default());
        assert_eq!(model.under_cursor(), before);
    }

    #[test]
    fn a_listed_ticket_says_how_far_it_is() {
        let mut model = sample::model();
        let word = |model: &Model, done: bool, status| {
            let mut ticket = sample::ticket("tk-2", "T", &[("X", done, &[])]).as_ref().clone();
            ticket.status = status;
            listed(model, &sample::id("tk-2"), &ticket, 40).1
        };
        assert_eq!(word(&model, false, Some(TicketStatus::Open)), "ready");
        assert_eq!(word(&model, false, Some(TicketStatus::InProgress)), "in progress");
        assert_eq!(word(&model, true, None), "done");
        let mut run = sample::seen("tk-2", &model.folder);
        run.ticket_path = sample::id("tk-2").file().to_owned();
        run.state = RunState::Ended;
        model.see_run(run.clone().into());
        assert_eq!(word(&model, false, Some(TicketStatus::InProgress)), "stopped");
        run.reason = Some("merge_failed".into());
        model.see_run(run.clone().into());
        assert_eq!(word(&model, true, Some(TicketStatus::InProgress)), "not merged");
        run.reason = Some("complete".into());
        run.marks = vec![Mark::Skipped];
        model.see_run(run.clone().into());
        assert_eq!(word(&model, false, Some(TicketStatus::InProgress)), "done");
        run.state = RunState::Waiting;
        model.see_run(run.into());
        assert_eq!(word(&model, false, Some(TicketStatus::Open)), "queued", "in another program");
    }

    #[test]
    fn closed_tickets_are_not_no_tickets() {
        let mut model = sample::model();
        let mut closed = sample::ticket("tk-1", "T", &[]).as_ref().clone();
        closed.status = Some(TicketStatus::Closed);
        assert!(sample::draw(&mut model, (120, 40)).contains("No tickets here yet."));
        model.listed.insert(sample::id("tk-1"), std::sync::Arc::new(closed));
        assert!(sample::draw(&mut model, (120, 40)).contains("All tickets here are closed."));
    }

    #[test]
    fn a_replay_has_the_clock_of_its_records() {
        let mut ui = sample::model();
        ui.tabs.push(sample::running("tk-1"));
        ui.tabs[0].state.updated = Some(sample::NOW);
        let row = |ui: &mut crate::tui::ui::Ui| {
            let screen = sample::draw(ui, (120, 40));
            let line = screen.lines().find(|line| line.contains("▶ Wire into")).unwrap();
            line.chars().take(34).collect::<String>()
        };
        let live = row(&mut ui);
        (ui.mode, ui.now) = (Mode::Replay, sample::ago(-86_400));
        assert_eq!(row(&mut ui), live);
    }

    #[test]
    fn the_ends_hold() {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        model.focus = NAME;
        Tickets::default().step(&mut model, -100, 5);
        assert_eq!(model.under_cursor(), Some(Thing::Ticket(sample::id("tk-1"))));
        Tickets::default().step(&mut model, 100, 5);
        assert_eq!(model.line_under_cursor().as_deref(), Some("Docs"));
    }

    #[test]
    fn a_folded_ticket_hides_its_phases() {
        let mut model = sample::model();
        model.tabs.push(sample::running("tk-1"));
        model.focus = NAME;
        let open = items(&model).len();
        fold(&mut model);
        assert_eq!(items(&model).len(), 1);
        fold(&mut model);
        assert_eq!(items(&model).len(), open);
    }
}
