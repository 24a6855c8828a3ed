//! One changed file, line by line, over the whole screen; what differs inside a line is marked.

mod lines;

use self::lines::{Line, lines, row};
use crate::base::id::RunId;
use crate::base::text::{Clean, clean_line};
use crate::domain::changes::{self, Change, ChangedFile, Lines, Side, Since};
use crate::domain::request::Request;
use crate::domain::syntax::{Code, of_path};
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, foot};
use crate::tui::widgets::row::{Row, highlight};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;
use std::path::PathBuf;

/// The file that is shown, among all of them.
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Diff {
    run: RunId,
    since: Since,
    top: PathBuf,
    files: Vec<ChangedFile>,
    at: usize,
    /// `None`: not yet told.
    told: Option<Result<Vec<Line>, String>>,
    cut: bool,
    /// What came of the last key.
    notice: String,
    /// As they were told.
    hunks: Vec<changes::Hunk>,
    scroll: Scrolled,
    /// The last key looked for another hunk, of which there is none.
    is_only: bool,
    /// Lines are selected, from the first of these places to the second.
    selected: Option<(usize, usize)>,
    /// The files are shown as the run left them, whatever became of them since.
    is_past: bool,
    /// It is of the timeline, where files are restored; and this one is to be.
    is_of_timeline: bool,
    wanted: Option<String>,
    /// What is to be reverted when the person says yes, and which lines that is.
    reverting: Option<(Ask, Range<usize>)>,
}

impl Diff {
    /// The changed file under the cursor, and the request for it.
    pub fn open(model: &Model) -> Option<(Self, Ask)> {
        let told = model.told_changes()?.as_ref().ok()?;
        let (mut diff, ask) = Self::of(model.compared()?, told.top.clone(), told.files.clone(), model.chosen_change())?;
        diff.is_past = told.at_end;
        Some((diff, ask))
    }

    /// One of these files, and the request for it.
    pub fn of((run, since): (RunId, Since), top: PathBuf, files: Vec<ChangedFile>, at: usize) -> Option<(Self, Ask)> {
        files.get(at)?;
        let scroll = Scrolled::default();
        let mut diff = Self {
            run,
            since,
            top,
            files,
            at,
            told: None,
            cut: false,
            hunks: Vec::new(),
            notice: String::new(),
            scroll,
            is_only: false,
            selected: None,
            is_past: false,
            is_of_timeline: false,
            wanted: None,
            reverting: None,
        };
        let ask = diff.show(at);
        Some((diff, ask))
    }

    /// Of the timeline: there a file is restored, and no hunk reverted.
    #[must_use]
    pub fn of_timeline(self) -> Self {
        Self { is_of_timeline: true, ..self }
    }

    /// The file that the person wants restored.
    pub fn wants_restored(&self) -> Option<String> {
        self.wanted.clone()
    }

    fn show(&mut self, at: usize) -> Ask {
        (self.at, self.told, self.scroll, self.is_only) = (at, None, Scrolled::default(), false);
        (self.selected, self.reverting) = (None, None);
        Ask::Request(Request::Diff(self.run, self.since.clone(), self.files[at].path.clone()))
    }

    /// What the service says; of another file than this one it is too late.
    pub fn tell(&mut self, run: RunId, since: &Since, path: &str, diff: Result<changes::Diff, String>) {
        if self.run == run && self.since == *since && self.files[self.at].path == path {
            self.cut = diff.as_ref().is_ok_and(|diff| diff.cut);
            self.hunks = diff.as_ref().map_or_else(|_| Vec::new(), |diff| diff.hunks.clone());
            self.told = Some(diff.map(|diff| lines(diff, of_path(path))));
            // It may be shorter than it was.
            self.scroll.scroll(0, self.lines().len(), 1);
        }
    }

    fn lines(&self) -> &[Line] {
        self.told.as_ref().and_then(|told| told.as_ref().ok()).map_or(&[], Vec::as_slice)
    }

    /// Lines are selected.
    pub fn selects(&self) -> bool {
        self.selected.is_some()
    }

    /// A key while lines are selected.
    fn select(&mut self, command: Option<Command>, by: i32, page: usize) -> Option<Ask> {
        let (from, to) = self.selected?;
        match command {
            Some(Command::Own("copy")) => {
                self.selected = None;
                return Some(self.copied(from.min(to)..from.max(to) + 1));
            }
            Some(Command::Close) => self.selected = None,
            _ => {
                let to = to.saturating_add_signed(by as isize).min(self.lines().len().saturating_sub(1));
                self.selected = Some((from, to));
                self.scroll = self.scroll.showing(to, to, page);
            }
        }
        None
    }

    /// Where the keys stand in the table.
    pub fn scope(&self) -> Scope {
        match (&self.selected, &self.reverting) {
            (Some(_), _) => Scope::Visual,
            (_, Some(_)) => Scope::Confirm,
            _ => Scope::Diff,
        }
    }

    /// The lines of the hunk at the top of the screen, and its number.
    fn here(&self) -> Option<(Range<usize>, usize)> {
        let (begins, here) = (|line: &Line| line.side.is_none(), self.scroll.above());
        let from = self.lines().get(..=here)?.iter().rposition(begins)?;
        let after = self.lines()[from + 1..].iter().position(begins);
        let number = self.lines()[..from].iter().filter(|line| begins(line)).count();
        Some((from..after.map_or(self.lines().len(), |after| from + 1 + after), number))
    }

    /// Asks whether the hunk at the top of the screen is to be reverted, or says why it cannot be.
    fn ask_to_revert(&mut self, model: &Model) {
        let file = &self.files[self.at];
        let (path, hunk) = (file.path.clone(), self.here().and_then(|(_, at)| self.hunks.get(at)).cloned());
        let why = match (&file.change, hunk) {
            (Change::Added, _) => "a new file cannot be reverted: delete it instead",
            (Change::Deleted, _) => "the file is gone: `programmator restore` restores it from a snapshot",
            _ if model.reverting.is_some() => "another hunk is still being reverted",
            (_, None) => "no hunk to revert here",
            (_, Some(hunk)) if self.is_past && model.is_reverted(self.run, &path, &hunk) => {
                "already reverted; the diff shows the file as the run left it"
            }
            (_, Some(hunk)) => {
                let lines = self.here().map(|(lines, _)| lines).unwrap_or_default();
                let ask = Ask::Request(Request::Revert(self.run, self.since.clone(), path, hunk));
                self.reverting = Some((ask, lines));
                return;
            }
        };
        self.notice = format!("Not reverted: {why}");
    }

    /// It is otherwise now, or not, as these words say: asked for anew.
    pub fn again(&mut self, path: &str, words: String) -> Option<Ask> {
        self.notice = words;
        let scroll = self.scroll;
        let ask = (self.files[self.at].path == path).then(|| self.show(self.at));
        self.scroll = scroll;
        ask
    }

    fn copied(&self, lines: Range<usize>) -> Ask {
        let text = |line: &Line| match line.side {
            None => format!("@@ {} @@", line.text),
            Some(Side::Both) => format!(" {}", line.text),
            Some(Side::Old) => format!("-{}", line.text),
            Some(Side::New) => format!("+{}", line.text),
        };
        Ask::Copy(self.lines()[lines].iter().map(text).collect::<Vec<_>>().join("\n"))
    }

    /// The keys as they are called here.
    fn named(&self, keys: Vec<(String, &'static str)>) -> Vec<(String, &'static str)> {
        let word = |word| if self.is_of_timeline && word == "revert hunk" { "restore file" } else { word };
        keys.into_iter().map(|(key, hint)| (key, word(hint))).collect()
    }

    /// Does what a key means.
    pub fn key(&mut self, model: &Model, command: Option<Command>, lines: i32, room: Rect) -> Option<Ask> {
        self.notice.clear();
        let page = Self::page(room);
        if let Some((ask, lines)) = self.reverting.take() {
            return match command {
                Some(Command::Yes) => Some(ask),
                Some(Command::No) => None,
                _ => {
                    self.reverting = Some((ask, lines));
                    None
                }
            };
        }
        if self.selects() {
            return self.select(command, lines, page);
        }
        let begins = |line: &Line| line.side.is_none();
        let here = self.scroll.above();
        let hunk = match command {
            Some(Command::Own("hunk_next")) => {
                self.lines().iter().skip(here + 1).position(begins).map(|after| here + 1 + after)
            }
            Some(Command::Own("hunk_previous")) => self.lines().iter().take(here).rposition(begins),
            Some(Command::Own("file_next")) => return Some(self.show((self.at + 1) % self.files.len())),
            Some(Command::Own("file_previous")) => {
                return Some(self.show((self.at + self.files.len() - 1) % self.files.len()));
            }
            Some(Command::Own("copy_path")) => {
                return Some(Ask::Copy(Clean::new(&self.files[self.at].path).into_string()));
            }
            Some(Command::Own("select" | "copy_hunk")) if self.lines().is_empty() => return None,
            Some(Command::Own("select")) => {
                self.selected = Some((here, here));
                return None;
            }
            Some(Command::Own("copy_hunk")) => return self.here().map(|(lines, _)| self.copied(lines)),
            Some(Command::Own("revert")) if self.is_of_timeline => {
                self.wanted = Some(self.files[self.at].path.clone());
                return None;
            }
            Some(Command::Own("revert")) => {
                self.ask_to_revert(model);
                return None;
            }
            Some(Command::Edit) if self.files[self.at].change != Change::Deleted => {
                let new = |line: &&Line| line.side == Some(Side::New);
                let now = |line: &&Line| line.side.is_some_and(|side| side != Side::Old);
                let hunk = || self.lines().iter().skip(here);
                let changed = hunk().enumerate().take_while(|(at, line)| *at == 0 || !begins(line));
                let line =
                    changed.map(|(_, line)| line).find(new).or_else(|| hunk().find(now)).map_or(1, |line| line.n);
                return Some(Ask::EditFile(self.top.join(&self.files[self.at].path), line));
            }
            _ => None,
        };
        let wanted = matches!(command, Some(Command::Own("hunk_next" | "hunk_previous")));
        self.is_only = wanted && self.lines().iter().filter(|line| begins(line)).count() == 1;
        let by = hunk.map_or(lines, |to| to as i32 - here as i32);
        // A hunk near the end comes to the top all the same.
        let page = if hunk.is_some() { 1 } else { page };
        self.scroll.scroll(by, self.lines().len(), page);
        None
    }

    /// The code that is in the window.
    pub fn code(&self, room: Rect) -> impl Iterator<Item = &Code> {
        self.lines().iter().skip(self.scroll.above()).take(Self::page(room)).filter_map(|line| line.code.as_ref())
    }

    /// Lines of text.
    fn page(room: Rect) -> usize {
        room.height.saturating_sub(4).into()
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let file = &self.files[self.at];
        let before = if let Change::Renamed(from) = &file.change { format!(" ← {from}") } else { String::new() };
        let title = format!("Diff · {} {}{before}", file.change.letter(), file.path);
        let hunks = |lines: &[Line]| lines.iter().filter(|line| line.side.is_none()).count();
        let (here, all) = (self.scroll.above(), self.lines());
        let of = hunks(all);
        let at = hunks(&all[..(here + 1).min(all.len())]);
        let hunk = if self.is_only {
            "no other hunk · ".to_owned()
        } else if of > 0 {
            format!("hunk {at}/{of} · ")
        } else {
            String::new()
        };
        let status = format!("{hunk}file {}/{}", self.at + 1, self.files.len());
        let inside = Frame::dialog(&title, &status, model.glyphs).draw(theme, room, buf);
        let words = match &self.told {
            None => "Comparing …",
            Some(Err(why)) => why,
            Some(Ok(lines)) if !lines.is_empty() => "",
            Some(Ok(_)) => match file.lines {
                Lines::Binary => "Not text, or too large to compare.",
                Lines::Submodule => "A nested repository: another commit is checked out.",
                Lines::Unknown => "Not a git repository: nothing to compare with.",
                Lines::Counted { .. } => "No lines differ: its mode or name changed, or nothing any more.",
            },
        };
        Row::new().left(Role::Dim, words).draw(theme, inside, buf);
        let text = Rect { height: inside.height.saturating_sub(2), ..inside };
        let marked = match (&self.selected, &self.reverting) {
            (Some((from, to)), _) => *from.min(to)..from.max(to) + 1,
            (_, Some((_, lines))) => lines.clone(),
            _ => 0..0,
        };
        let mut number = hunks(&all[..here.min(all.len())]);
        for (place, (at, line)) in text.rows().zip(all.iter().enumerate().skip(here)) {
            let other = line.other.and_then(|other| all.get(other));
            let mut drawn = row(&model.syntax, line, other);
            if line.side.is_none() {
                let hunk = self.hunks.get(number).filter(|_| self.is_past);
                if hunk.is_some_and(|hunk| model.is_reverted(self.run, &file.path, hunk)) {
                    drawn = drawn.left(Role::Warning, " reverted");
                }
                number += 1;
            }
            drawn.draw(theme, place, buf);
            if marked.contains(&at) {
                highlight(theme.style(Role::Selection), place, buf);
            }
        }
        let keys = [
            Command::Own("hunk_next"),
            Command::Own("hunk_previous"),
            Command::Own("file_next"),
            Command::Edit,
            Command::Own("revert"),
            Command::Close,
        ];
        let scope = self.scope();
        let mut keys = Row::keys(match scope {
            Scope::Visual => hints(model, scope, &[Command::Own("copy"), Command::Down, Command::Close]),
            Scope::Confirm => hints(model, scope, &[Command::Yes, Command::No]),
            _ => self.named(hints(model, scope, &keys)),
        });
        let notice = match (&self.reverting, &model.reverting) {
            (Some(_), _) => format!("Revert hunk {at} of {of}? A snapshot is saved first."),
            (None, Some(path)) if self.notice.is_empty() => format!("reverting a hunk of {path} …"),
            _ => self.notice.clone(),
        };
        let notice = clean_line(&notice, 600);
        if !notice.is_empty() {
            let place = Rect { y: text.bottom(), height: 1.min(inside.height), ..inside };
            Row::new().left(Role::Toast, notice).draw(theme, place, buf);
        }
        if self.cut {
            keys = keys.right(Role::Warning, "diff truncated");
        }
        keys.draw(theme, foot(inside), buf);
    }
}
