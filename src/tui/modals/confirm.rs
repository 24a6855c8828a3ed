//! “Really?”, before something that costs work.

use crate::domain::command::UserCommand;
use crate::domain::phase::Mark;
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// What is asked, and what follows a yes.
pub struct Confirm {
    /// In the border.
    pub title: &'static str,
    pub words: String,
    pub asks: Vec<Ask>,
}

impl Confirm {
    /// What it asks about has come to pass, or to nothing.
    pub fn is_stale(&self, model: &Model) -> bool {
        let [Ask::Request(Request::Command(ticket, command))] = &self.asks[..] else { return false };
        let Some(state) = model.tab_of(ticket).map(|tab| &tab.state) else { return true };
        let is_settled = |phase| state.phase_by(phase).is_none_or(|phase| phase.mark.is_settled());
        match command {
            UserCommand::Stop => state.ended.is_some(),
            UserCommand::SkipPhase { phase } => state.ended.is_some() || is_settled(*phase),
            UserCommand::TickPhase { phase } => is_settled(*phase),
            _ => false,
        }
    }

    /// What has come to pass meanwhile, where it [is stale](Self::is_stale).
    pub fn passed(&self, model: &Model) -> &'static str {
        let [Ask::Request(Request::Command(ticket, command))] = &self.asks[..] else { return "" };
        let mark = |phase| model.tab_of(ticket)?.state.phase_by(phase).map(|phase| phase.mark);
        match command {
            UserCommand::SkipPhase { phase } => match mark(*phase) {
                Some(Mark::Done(_)) => "not skipped: the phase is already done",
                Some(Mark::Skipped) => "the phase is already skipped",
                Some(_) => "not skipped: the run has ended",
                None => "not skipped: the phase is no longer in the ticket",
            },
            UserCommand::TickPhase { phase } => match mark(*phase) {
                Some(Mark::Skipped) => "not ticked: the phase is already skipped",
                Some(_) => "the phase is already done",
                None => "not ticked: the phase is no longer in the ticket",
            },
            _ => "the run has already ended",
        }
    }

    /// A start is asked about, and work would be safer in a git repository.
    pub fn offers_git(&self, model: &Model) -> bool {
        model.branch.is_none() && self.tickets().is_some()
    }

    /// The tickets that would be started.
    pub fn tickets(&self) -> Option<Vec<TicketKey>> {
        let started =
            |ask: &Ask| if let Ask::Request(Request::Start(ticket)) = ask { Some(ticket.clone()) } else { None };
        self.asks.iter().map(started).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
    }

    /// What follows a yes: several starts are one, so that those wait which depend on others of them.
    pub fn agreed(self) -> Vec<Ask> {
        match self.tickets() {
            Some(tickets) if tickets.len() > 1 => {
                let files = tickets.iter().map(|ticket| ticket.file().to_owned());
                vec![Ask::Request(Request::StartAll(files.collect()))]
            }
            _ => self.asks,
        }
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let width = room.width.min(64);
        let lines = wrap(&self.words, usize::from(width).saturating_sub(4));
        let area = centred(room, width, lines.len() as u16 + 4);
        let frame = Frame::dialog(self.title, "", model.glyphs);
        let inside = frame.draw(theme, area, buf);
        for (line, place) in lines.iter().zip(inside.rows().take(usize::from(inside.height).saturating_sub(1))) {
            Row::new().left(Role::Text, line).draw(theme, place, buf);
        }
        let keys = [Command::Yes, Command::No, Command::Own("git")];
        let keys = if self.offers_git(model) { &keys[..] } else { &keys[..2] };
        Row::keys(hints(model, Scope::Confirm, keys)).draw(theme, foot(inside), buf);
    }
}
