//! The snapshots of a ticket, newest first, and the files that differ between two of them, or between one and now.

mod files;

use self::files::{Files, LEAST, below};
use crate::base::amount;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::changes::{Changes, Since};
use crate::domain::messages::outcome_words;
use crate::domain::request::Request;
use crate::domain::restore::{Plan, WantedFiles};
use crate::domain::ticket::TicketKey;
use crate::domain::timeline::{Moment, Origin};
use crate::tui::changes::Compared;
use crate::tui::command::{Command, Scope};
use crate::tui::modals::diff::Diff;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::panes::changes::counted;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const EMPTY: &str =
    "No snapshot yet. One is taken before each iteration of a run: of all files but those that git ignores.";

/// Columns for lines that came and went.
const LINES: usize = 12;
/// Inside so many columns there is room for what became of a phase in words.
const WIDE: usize = 90;

/// The dialog.
pub struct Timeline {
    pub run: RunId,
    ticket: TicketKey,
    /// Newest first, or why there are none; `None`: not yet told.
    told: Option<Result<Vec<Moment>, String>>,
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
}

/// What a key wants besides.
#[allow(clippy::large_enum_variant, reason = "it lives for one key")]
pub enum Outcome {
    Stays,
    Closes,
    Asks(Ask),
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
            (Restoring::Asked(..), _) => Scope::Confirm,
            (_, Some(_)) => Scope::TimelineFiles,
            (_, None) => Scope::Timeline,
        }
    }

    /// The snapshots, oldest first, or why there are none.
    pub fn tell(&mut self, told: Result<Vec<Moment>, String>) {
        let chosen = self.chosen().map(key);
        self.told = Some(told.map(|moments| moments.into_iter().rev().collect()));
        let at = self.moments().iter().position(|moment| Some(key(moment)) == chosen);
        self.at = at.unwrap_or(0);
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

    pub fn key(&mut self, command: Option<Command>, lines: i32) -> Outcome {
        self.notice.clear();
        if let Restoring::Asked(..) = self.restoring {
            return self.answer(command);
        }
        if command == Some(Command::Own("restore")) {
            return self.restore();
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
                "This is the first snapshot: nothing is before it.".clone_into(&mut self.notice);
            }
            Some(Command::Own("start")) => return self.against_start(),
            Some(Command::Own("now")) => return self.compare(self.at, None),
            Some(Command::Own("mark")) => return self.mark(),
            _ => self.at = self.at.saturating_add_signed(lines as isize).min(last),
        }
        Outcome::Stays
    }

    /// Asks what restoring would do: of the files that are ticked, else of all.
    fn restore(&mut self) -> Outcome {
        let named = self.chosen().map(|moment| (moment.id.clone(), moment.pick.clone()));
        let Some((snapshot, pick)) = named else { return Outcome::Stays };
        if !matches!(self.restoring, Restoring::No) {
            "Another restore is under way.".clone_into(&mut self.notice);
            return Outcome::Stays;
        }
        let only = self.files.as_ref().map(|files| files.ticked.clone()).unwrap_or_default();
        let wanted = WantedFiles { snapshot, only };
        self.restoring = Restoring::Planned(wanted.clone(), pick);
        Outcome::Asks(Ask::Request(Request::PlanRestore(self.run, wanted)))
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
                    Some(kept) => format!("Nothing to restore: {} stays ({})", kept.path, kept.why),
                    None => "Nothing to restore: the files are like that already.".to_owned(),
                };
            }
            Ok(plan) => self.restoring = Restoring::Asked(wanted, plan, pick),
        }
    }

    fn answer(&mut self, command: Option<Command>) -> Outcome {
        match (command, std::mem::replace(&mut self.restoring, Restoring::No)) {
            (Some(Command::Yes), Restoring::Asked(wanted, plan, _)) => {
                self.restoring = Restoring::Sent;
                return Outcome::Asks(Ask::Request(Request::Restore(self.run, wanted, plan.tree)));
            }
            (Some(Command::No), _) => {}
            (_, asked) => self.restoring = asked,
        }
        Outcome::Stays
    }

    /// What was restored, or why nothing, in words; what there is now is asked for.
    pub fn restored(&mut self, words: String) -> Ask {
        (self.restoring, self.files, self.notice) = (Restoring::No, None, words);
        Ask::Request(Request::Timeline(self.run))
    }

    /// What stands above the keys.
    fn words(&self) -> String {
        match (&self.restoring, &self.marked) {
            (Restoring::Planned(..), _) => "Comparing with the files now …".to_owned(),
            (Restoring::Sent, _) => "Restoring …".to_owned(),
            (Restoring::Asked(_, plan, pick), _) => format!(
                "Restore snapshot {pick}: {} written, {} removed? Other tickets' work too. Saved first: the files now.",
                plan.writes.len(),
                plan.removes.len(),
            ),
            (Restoring::No, Some(marked)) if self.notice.is_empty() && self.files.is_none() => {
                let known = self.moments().iter().find(|moment| key(moment) == *marked);
                let words =
                    |moment: &Moment| format!("Snapshot {} is marked: x on another one compares the two.", moment.pick);
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
                "This is how the run began.".clone_into(&mut self.notice);
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
        Outcome::Asks(ask)
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
        let height = (self.moments().len().max(LEAST) + 4) as u16;
        let inside = Frame::dialog(&title, &status, model.glyphs).draw(theme, centred(room, room.width, height), buf);
        let list = Rect { height: inside.height.saturating_sub(2), ..inside };
        let words = match &self.told {
            None => "Reading the snapshots …",
            Some(Err(why)) => why,
            Some(Ok(all)) if all.is_empty() => EMPTY,
            Some(Ok(_)) => "",
        };
        for (place, line) in list.rows().zip(wrap(words, list.width.into())) {
            Row::new().left(Role::Dim, line).draw(theme, place, buf);
        }
        let rows = self.moments().iter().map(|moment| self.row(moment, inside.width.into(), model));
        let scrolled = Scrolled::default().showing(self.at, self.at, list.height.into());
        scrolled.list(rows, self.chosen().map(|_| self.at), theme, list, buf);
        let keys: &[Command] = match self.moments().len() {
            0 => &[Command::Close],
            _ => &[
                Command::Choose,
                Command::Own("start"),
                Command::Own("now"),
                Command::Own("mark"),
                Command::Own("restore"),
                Command::Close,
            ],
        };
        below(&self.words(), (self.scope(), keys), model, theme, inside, buf);
    }

    fn row(&self, moment: &Moment, columns: usize, model: &Model) -> Row {
        let mark = if self.marked == Some(key(moment)) { model.glyphs.pick("◆ ", "* ") } else { "  " };
        let longest = self.moments().iter().map(|moment| moment.pick.len()).max().unwrap_or(0).min(24);
        let pick = format!("{:<longest$}  ", clean_line(&moment.pick, longest));
        let row = Row::new().left(Role::Accent, mark).left(Role::Text, pick);
        let row = match &moment.origin {
            Origin::Start => row.left(Role::Dim, "start of the run"),
            Origin::Unknown => row.left(Role::Dim, "its journal is not known here"),
            Origin::Saved(before) => row.left(Role::Warning, before.words()),
            Origin::Iteration { n, step, phase, .. } => row
                .left(Role::Dim, format!("{n:<3} {:<8} ", clean_line(step.word(), 8)))
                .left(Role::Text, clean_line(phase.as_deref().unwrap_or("the whole ticket"), 400)),
        };
        let (role, glyph, words) = match &moment.origin {
            Origin::Iteration { mark: Some(mark), .. } => {
                let sign = model.glyphs.phase(*mark);
                (sign.role, sign.glyph, sign.word)
            }
            Origin::Iteration { outcome: Some(outcome), .. } => (Role::Dim, "-", outcome_words(*outcome)),
            _ => (Role::Dim, "", ""),
        };
        let became = if columns < WIDE {
            format!("  {glyph:<1}")
        } else {
            format!("  {glyph:<1} {:<14}", clean_line(words, 14))
        };
        let is_recent = model.now.is_within_a_day_of(moment.time);
        let time = if is_recent { moment.time.minute(&model.zone) } else { moment.time.day(&model.zone) };
        let row = match moment.changed {
            Some(changed) => {
                let lines = counted(Row::new(), changed.added, changed.removed).right_width();
                let gap = " ".repeat(LINES.saturating_sub(lines));
                let word = if changed.files == 1 { "file" } else { "files" };
                let files = format!("{:>4} {word:<5} {gap}", changed.files);
                counted(row.right(Role::Dim, files), changed.added, changed.removed)
            }
            None => row.right(Role::Dim, " ".repeat(LINES + 11)),
        };
        row.right(role, became).right(Role::Dim, format!("  {time:>6}"))
    }
}
