//! What is no call of Claude's but waits all the same: a claim that did not hold, a ticket file that does not follow.

use crate::base::text::clean_line;
use crate::domain::command::UserCommand;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::tui::attention::{Conflict, What};
use crate::tui::command::when::{is_in_conflict, is_unmerged};
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::panes::notice::banner;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// The dialog of one such thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matter {
    pub ticket: TicketKey,
    pub what: What,
}

impl Matter {
    /// What a key wants done; `None` when it means nothing here.
    pub fn act(&self, model: &Model, command: Option<Command>) -> Option<Ask> {
        let command = match (command?, &self.what) {
            (Command::Shell, What::Ended) => {
                let tab = model.tab_of(&self.ticket).filter(|tab| is_unmerged(model, tab))?;
                return Some(Ask::Shell(tab.state.workspace.worktree()?.directory.clone()));
            }
            (Command::Edit, _) => return Some(Ask::Edit(self.ticket.clone())),
            (Command::Pause, What::Ended) => return Some(Ask::Request(Request::Start(self.ticket.clone()))),
            (Command::ResetBreaker, What::Ended) => UserCommand::ResetBreaker,
            (Command::Retry, What::Dispute(phase)) => UserCommand::RetryPhase { phase: *phase },
            (Command::Skip, What::Dispute(phase)) => UserCommand::SkipPhase { phase: *phase },
            _ => return None,
        };
        Some(Ask::Request(Request::Command(self.ticket.clone(), command)))
    }

    fn words(&self, model: &Model) -> (&'static str, String) {
        let tab = model.tab_of(&self.ticket);
        match &self.what {
            What::Dispute(phase) => {
                let phase = tab.and_then(|tab| tab.state.phase_by(*phase));
                let why = phase.and_then(|phase| phase.dispute.as_deref()).unwrap_or("claim not confirmed");
                let text = phase.map_or("a phase", |phase| phase.text.as_str());
                ("Disputed", format!("Claude says that “{text}” is done.\nThe check failed: {why}"))
            }
            What::Conflict(Conflict::Box(phase)) => (
                "Conflict in the ticket",
                format!("“{phase}” is done, but its box could not be ticked: the line was changed or removed, or the file is not writable. Tick it by hand, or leave it."),
            ),
            What::Conflict(Conflict::Status) => (
                "Conflict in the ticket",
                "The status in the front matter could not be set: it was changed, or the file is not writable. Set it by hand, or leave it.".into(),
            ),
            What::Conflict(Conflict::Lost(why)) => ("Conflict in the ticket", format!("The ticket's file cannot be used: {why}")),
            What::Ended => ("Run stopped", tab.and_then(|tab| banner(model, tab)).map_or_else(String::new, |(_, words)| words)),
            What::Call(_) | What::Validation | What::MoreWork | What::Draft | What::Interrupted | What::Elsewhere => ("", String::new()),
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let (title, words) = self.words(model);
        let width = room.width.min(WIDEST - 16);
        let lines: Vec<String> =
            words.lines().flat_map(|line| wrap(line, usize::from(width).saturating_sub(4))).collect();
        let area = centred(room, width, lines.len() as u16 + 5);
        let title = format!("{title} · {}", clean_line(self.ticket.as_str(), 40));
        let frame = Frame::dialog(&title, "", model.glyphs);
        let inside = frame.draw(theme, area, buf);
        for (place, line) in inside.rows().skip(1).zip(&lines) {
            Row::new().left(Role::Text, line).draw(theme, place, buf);
        }
        let tab = model.tab_of(&self.ticket);
        let keys: &[Command] = match &self.what {
            What::Ended if tab.is_some_and(|tab| is_in_conflict(model, tab)) => {
                &[Command::Resolve, Command::Shell, Command::Pause, Command::Close]
            }
            What::Ended if tab.is_some_and(|tab| is_unmerged(model, tab)) => {
                &[Command::Shell, Command::Pause, Command::Close]
            }
            What::Dispute(_) => &[Command::Retry, Command::Own("accept"), Command::Skip, Command::Edit, Command::Close],
            What::Ended => match tab.and_then(|tab| model.breaker_left(tab)) {
                None => &[Command::Pause, Command::Edit, Command::Close],
                Some(Duration::ZERO) => &[Command::Pause, Command::ResetBreaker, Command::Edit, Command::Close],
                Some(_) => &[Command::ResetBreaker, Command::Edit, Command::Close],
            },
            _ => &[Command::Edit, Command::Seen, Command::Close],
        };
        Row::keys(hints(model, Scope::Matter, keys)).draw(theme, foot(inside), buf);
    }
}
