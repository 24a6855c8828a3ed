//! The snapshots of a ticket, newest first, and the files that differ between two of them, or between one and now.

mod files;
pub(super) mod foot;
mod question;
mod row;

use self::files::{Files, LEAST};
use self::foot::Foot;
use self::question::{Fork, named, question, spared};
use self::row::snapshots;
use crate::base::amount;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::changes::{Changes, Since};
use crate::domain::request::{BoxOf, Request};
use crate::domain::restore::{Plan, WantedFiles};
use crate::domain::ticket::TicketKey;
use crate::domain::timeline::Moment;
use crate::tui::changes::Compared;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::card::APPEARS;
use crate::tui::modals::diff::Diff;
use crate::tui::modals::prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;
use std::path::PathBuf;

const EMPTY: &str = "No snapshot yet. One is taken before each iteration, of all files that git does not ignore.";

/// The dialog.
pub struct Timeline {
    pub run: RunId,
    pub ticket: TicketKey,
    /// Newest first, or why there are none; `None`: not yet told.
    told: Option<Result<Vec<Moment>, String>>,
    /// It is asked for; and since then there is another one.
    is_asked: bool,
    is_stale: bool,
    at: usize,
    /// One that another one is to be compared with.
    marked: Option<Key>,
    /// What differs between two of them, once that is asked for.
    files: Option<Files>,
    restoring: Restoring,
    /// What came of the last key.
    notice: String,
}

/// What tells a snapshot from all others, also when the list is told anew: what a person calls it may shift then.
type Key = (Option<RunId>, String);

fn key(moment: &Moment) -> Key {
    (moment.run, moment.id.clone())
}

/// How far the restoring of files is. Each names the snapshot as the person was shown it.
enum Restoring {
    No,
    /// It is found out what it would do.
    Planned(WantedFiles, String),
    /// The person is asked.
    Asked(WantedFiles, Plan, String),
    Sent,
    /// The id of a ticket is typed that is forked from this snapshot, which a person calls so.
    Forks(Fork),
    ForkSent,
    /// Phases that count as done without their work being there: the person is asked whether to reopen them, since then.
    Reopens(Vec<BoxOf>, Timestamp),
}

/// What a key wants besides.
#[allow(clippy::large_enum_variant, reason = "it lives for one key")]
pub enum Outcome {
    Stays,
    Closes,
    Asks(Vec<Ask>),
    Shows(Box<Diff>, Ask),
}

impl Timeline {
    /// That of the ticket of this tab, and the request for it.
    pub fn open(tab: &Tab) -> Option<(Self, Ask)> {
        let (run, ticket) = (tab.run?, tab.id.clone());
        let dialog = Self {
            run,
            ticket,
            told: None,
            is_asked: true,
            is_stale: false,
            at: 0,
            marked: None,
            files: None,
            restoring: Restoring::No,
            notice: String::new(),
        };
        Some((dialog, Ask::Request(Request::Timeline(run))))
    }

    /// Where its keys stand in the table.
    pub fn scope(&self) -> Scope {
        match (&self.restoring, &self.files) {
            (Restoring::Asked(..) | Restoring::Reopens(..), _) => Scope::Confirm,
            (Restoring::Forks(_), _) => Scope::Prompt,
            (_, Some(_)) => Scope::TimelineFiles,
            (_, None) => Scope::Timeline,
        }
    }

    /// There may be another snapshot: the list is asked for again.
    pub fn renew(&mut self) -> Option<Ask> {
        self.is_stale = self.is_asked;
        (!std::mem::replace(&mut self.is_asked, true)).then_some(Ask::Request(Request::Timeline(self.run)))
    }

    /// The snapshots, oldest first, or why there are none; what is to be asked for again.
    pub fn tell(&mut self, told: Result<Vec<Moment>, String>) -> Option<Ask> {
        self.is_asked = false;
        let chosen = self.chosen().map(key);
        self.told = Some(told.map(|moments| moments.into_iter().rev().collect()));
        let at = self.moments().iter().position(|moment| Some(key(moment)) == chosen);
        self.at = at.unwrap_or(0);
        if std::mem::take(&mut self.is_stale) { self.renew() } else { None }
    }

    /// What differs is told; `false`: of something else.
    pub fn tell_files(&mut self, compared: &Compared, changes: &Result<Changes, String>) -> bool {
        self.files.as_mut().is_some_and(|files| files.tell(compared, changes))
    }

    fn moments(&self) -> &[Moment] {
        self.told.as_ref().and_then(|told| told.as_ref().ok()).map_or(&[], Vec::as_slice)
    }

    fn chosen(&self) -> Option<&Moment> {
        self.moments().get(self.at)
    }

    pub fn key(&mut self, command: Option<Command>, (input, lines): (&Input, i32), now: Timestamp) -> Outcome {
        match self.restoring {
            Restoring::Asked(..) | Restoring::Reopens(..) => return self.answer(command, now),
            Restoring::Forks(_) => return self.type_id(command, input),
            _ => {}
        }
        self.notice.clear();
        if command == Some(Command::Own("restore")) {
            let ticked = self.files.as_ref().map(|files| files.ticked.clone()).unwrap_or_default();
            return self.restore(ticked);
        }
        if let Some(files) = &mut self.files {
            match files.key(command, lines) {
                files::Outcome::Stays => {}
                files::Outcome::Leaves => self.files = None,
                files::Outcome::Shows(diff, ask) => return Outcome::Shows(diff, ask),
            }
            return Outcome::Stays;
        }
        let last = self.moments().len().saturating_sub(1);
        match command {
            Some(Command::Close) => return Outcome::Closes,
            Some(Command::Choose) if self.at < last => return self.compare(self.at + 1, Some(self.at)),
            Some(Command::Choose) if self.chosen().is_some() => {
                "This is the first snapshot.".clone_into(&mut self.notice);
            }
            Some(Command::Own("start")) => return self.against_start(),
            Some(Command::Own("now")) => return self.compare(self.at, None),
            Some(Command::Own("mark")) => return self.mark(),
            Some(Command::Own("fork")) => self.fork(),
            _ => self.at = self.at.saturating_add_signed(lines as isize).min(last),
        }
        Outcome::Stays
    }

    /// Asks what restoring would do: of these files, else of all.
    pub fn restore(&mut self, only: BTreeSet<String>) -> Outcome {
        let named = self.chosen().map(|moment| (moment.id.clone(), moment.pick.clone()));
        let Some((snapshot, pick)) = named else { return Outcome::Stays };
        if !matches!(self.restoring, Restoring::No) {
            "A restore or a fork is in progress.".clone_into(&mut self.notice);
            return Outcome::Stays;
        }
        let wanted = WantedFiles { snapshot, only };
        self.restoring = Restoring::Planned(wanted.clone(), pick);
        Outcome::Asks(vec![Ask::Request(Request::PlanRestore(self.run, wanted))])
    }

    /// Asks for the id of the new ticket.
    fn fork(&mut self) {
        let named = self.chosen().map(|moment| (moment.id.clone(), moment.pick.clone()));
        match (named, &self.restoring) {
            (Some((snapshot, pick)), Restoring::No) => {
                self.restoring = Restoring::Forks(Fork { snapshot, pick, id: String::new() });
            }
            (Some(_), _) => "A restore or a fork is in progress.".clone_into(&mut self.notice),
            (None, _) => {}
        }
    }

    fn type_id(&mut self, command: Option<Command>, input: &Input) -> Outcome {
        let Restoring::Forks(fork) = &mut self.restoring else { return Outcome::Stays };
        match command {
            Some(Command::Close) => self.restoring = Restoring::No,
            Some(Command::Choose) => {
                let asked = Request::Fork(self.run, fork.snapshot.clone(), fork.id.trim().to_owned());
                self.restoring = Restoring::ForkSent;
                return Outcome::Asks(vec![Ask::Request(asked)]);
            }
            _ => drop(prompt::edit(&mut fork.id, input)),
        }
        Outcome::Stays
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        if let Restoring::Forks(fork) = &mut self.restoring { prompt::insert(&mut fork.id, text) } else { true }
    }

    /// What came of a fork.
    pub fn forked(&mut self, words: String) {
        if matches!(self.restoring, Restoring::ForkSent) {
            self.restoring = Restoring::No;
        }
        self.notice = words;
    }

    /// What it would do, or why it cannot be done.
    pub fn planned(&mut self, wanted: WantedFiles, plan: Result<Plan, String>) {
        let pick = match &self.restoring {
            Restoring::Planned(asked, pick) if *asked == wanted => pick.clone(),
            _ => return,
        };
        self.restoring = Restoring::No;
        match plan {
            Err(why) => self.notice = format!("Not restored: {why}"),
            Ok(plan) if plan.writes.is_empty() && plan.removes.is_empty() => {
                self.notice = match plan.keeps.first() {
                    _ if !plan.spares.is_empty() => {
                        format!(
                            "Nothing to restore except changes of other tickets. {}",
                            spared(&plan.spares, self.files.is_some())
                        )
                    }
                    Some(kept) => format!("Nothing to restore: {} is kept ({})", kept.path, kept.why),
                    None => "Nothing to restore: the files are already like that.".to_owned(),
                };
            }
            Ok(plan) => self.restoring = Restoring::Asked(wanted, plan, pick),
        }
    }

    fn answer(&mut self, command: Option<Command>, now: Timestamp) -> Outcome {
        match (command, std::mem::replace(&mut self.restoring, Restoring::No)) {
            (Some(Command::Yes), Restoring::Asked(wanted, plan, _)) => {
                self.restoring = Restoring::Sent;
                return Outcome::Asks(vec![Ask::Request(Request::Restore(self.run, wanted, plan.tree))]);
            }
            // The yes to the restore, still held down, is none to this.
            (Some(Command::Yes), Restoring::Reopens(phases, shown)) if now.since(shown) < APPEARS => {
                self.restoring = Restoring::Reopens(phases, now);
            }
            (Some(Command::Yes), Restoring::Reopens(phases, _)) => {
                self.notice = format!("Reopened: {}", named(&phases));
                return Outcome::Asks(phases.into_iter().map(|phase| self.untick(phase)).collect());
            }
            (Some(Command::No), _) => {}
            (_, asked) => self.restoring = asked,
        }
        Outcome::Stays
    }

    fn untick(&self, wanted: BoxOf) -> Ask {
        Ask::Request(Request::SetBox(PathBuf::from(self.ticket.file()), wanted))
    }

    /// What was restored, or why nothing, in words; what there is now is asked for. `phases`: they count as done without
    /// their work being there, and are to be unticked.
    pub fn restored(&mut self, words: String, phases: Vec<BoxOf>, now: Timestamp) -> Option<Ask> {
        let restoring = if phases.is_empty() { Restoring::No } else { Restoring::Reopens(phases, now) };
        (self.restoring, self.files, self.notice) = (restoring, None, words);
        self.renew()
    }

    /// What stands above the keys.
    fn words(&self) -> String {
        match (&self.restoring, &self.marked) {
            (Restoring::Planned(..), _) => "Comparing with the current files …".to_owned(),
            (Restoring::Sent, _) => "Restoring …".to_owned(),
            (Restoring::ForkSent, _) => "Forking …".to_owned(),
            (Restoring::Forks(fork), _) => fork.question(),
            (Restoring::Asked(_, plan, pick), _) => question(plan, pick, self.files.is_some()),
            (Restoring::Reopens(phases, _), _) => {
                let (boxes, named) = (if phases.len() == 1 { "its box" } else { "their boxes" }, named(phases));
                format!("{} · Done, but no longer in the files: {named}. Untick {boxes}?", self.notice)
            }
            (Restoring::No, Some(marked)) if self.notice.is_empty() && self.files.is_none() => {
                let known = self.moments().iter().find(|moment| key(moment) == *marked);
                let words =
                    |moment: &Moment| format!("Snapshot {} is marked: x on another one compares them.", moment.pick);
                known.map(words).unwrap_or_default()
            }
            _ => self.notice.clone(),
        }
    }

    /// With the first snapshot of its run; of one that was saved for the person, with the ticket's first.
    fn against_start(&mut self) -> Outcome {
        let run = self.chosen().and_then(|moment| moment.run);
        let of_run = |moment: &Moment| run.is_none() || moment.run == run;
        match self.moments().iter().rposition(of_run) {
            Some(start) if start != self.at => self.compare(start.max(self.at), Some(start.min(self.at))),
            Some(_) => {
                "The start of the run.".clone_into(&mut self.notice);
                Outcome::Stays
            }
            None => Outcome::Stays,
        }
    }

    /// Marks the snapshot, or compares it with the one that is marked.
    fn mark(&mut self) -> Outcome {
        let Some(chosen) = self.chosen().map(key) else { return Outcome::Stays };
        let marked = self.marked.take();
        match self.moments().iter().position(|moment| Some(key(moment)) == marked) {
            Some(other) if other != self.at => return self.compare(other.max(self.at), Some(other.min(self.at))),
            Some(_) => {}
            None => self.marked = Some(chosen),
        }
        Outcome::Stays
    }

    /// Shows what differs between two, the older one first, or between one and now.
    fn compare(&mut self, from: usize, to: Option<usize>) -> Outcome {
        let named = |at: usize| self.moments().get(at).map(|moment| (moment.id.clone(), moment.pick.clone()));
        let Some((id, from)) = named(from) else { return Outcome::Stays };
        let (since, to) = match to.and_then(named) {
            Some((to, pick)) => (Since::Between(id, to), pick),
            None => (Since::Now(id), "now".to_owned()),
        };
        let (files, ask) = Files::of((self.run, since), format!("{from} to {to}"));
        self.files = Some(files);
        Outcome::Asks(vec![ask])
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        if let Some(files) = &self.files {
            return files.view((self.scope(), &self.words()), model, theme, room, buf);
        }
        let title = format!("Timeline · {}", clean_line(self.ticket.as_str(), 40));
        let status = match self.moments().len() {
            0 => String::new(),
            all => amount::counted(all, "snapshot"),
        };
        let keys: &[Command] = match self.moments().len() {
            _ if self.scope() == Scope::Confirm => &[Command::Yes, Command::No],
            _ if self.scope() == Scope::Prompt => &[Command::Choose, Command::Close],
            0 => &[Command::Close],
            _ => &[
                Command::Choose,
                Command::Own("start"),
                Command::Own("now"),
                Command::Own("mark"),
                Command::Own("restore"),
                Command::Own("fork"),
                Command::Close,
            ],
        };
        let mut hints = hints(model, self.scope(), keys);
        if self.scope() == Scope::Prompt {
            hints.iter_mut().zip(["fork", "cancel"]).for_each(|(hint, word)| hint.1 = word);
        }
        let foot = Foot::of(&self.words(), hints, room.width.saturating_sub(4).into());
        let place = centred(room, room.width, self.moments().len().max(LEAST) as u16 + 3 + foot.height());
        let inside = Frame::dialog(&title, &status, model.glyphs).draw(theme, place, buf);
        let list = foot.draw(theme, inside, buf);
        let words = match &self.told {
            None => "Reading the snapshots …",
            Some(Err(why)) => why,
            Some(Ok(all)) if all.is_empty() => EMPTY,
            Some(Ok(_)) => "",
        };
        for (place, line) in list.rows().zip(wrap(words, list.width.into())) {
            Row::new().left(Role::Dim, line).draw(theme, place, buf);
        }
        let is_marked = |moment: &Moment| self.marked == Some(key(moment));
        snapshots((self.moments(), self.at), &is_marked, model, theme, list, buf);
    }
}
