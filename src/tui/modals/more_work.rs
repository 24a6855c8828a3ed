//! The card of phases that an evaluator proposes: they are added as they are, or as the person changes them, or the ticket
//! counts as done without them.
//!
//! They are Claude's words and become lines of the ticket, which Claude works on: nothing in them is hidden, and a yes
//! counts only once the end was seen.

use crate::domain::command::UserCommand;
use crate::domain::evaluation::{Proposal, ProposalAnswer};
use crate::domain::request::Request;
use crate::domain::ticket::TicketKey;
use crate::tui::command::{self, Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::field::Field;
use crate::tui::widgets::frame::{Frame, WIDEST, centred, foot};
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use crate::tui::widgets::spelt::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Lines of the card that are no text: border, keys and air.
const REST: u16 = 5;
/// Longest text that is typed, in bytes.
const LONGEST: usize = 10_000;
/// Every phase was taken out: that is no answer.
const NOTHING: ProposalAnswer = ProposalAnswer::Add { phases: Vec::new() };

/// The card of one ticket.
pub struct MoreWork {
    pub ticket: TicketKey,
    proposal: Proposal,
    page: Page,
    scrolled: Scrolled,
}

enum Page {
    Proposed,
    /// The phases, a line each, to be changed.
    Edit(Field),
    /// Why the ticket is done without them.
    Refuse(Field),
}

/// What a key leads to.
#[allow(clippy::large_enum_variant, reason = "it lives for one key")]
pub enum Outcome {
    Stays,
    Leaves,
    Asks(Ask),
}

impl MoreWork {
    pub fn new(ticket: TicketKey, proposal: &Proposal) -> Self {
        Self { ticket, proposal: proposal.clone(), page: Page::Proposed, scrolled: Scrolled::default() }
    }

    /// It is about this proposal.
    pub fn is_about(&self, proposal: &Proposal) -> bool {
        self.proposal == *proposal
    }

    /// Where its keys stand in the table.
    pub fn scope(&self) -> Scope {
        match self.page {
            Page::Proposed => Scope::MoreWork,
            Page::Edit(_) => Scope::EditInput,
            Page::Refuse(_) => Scope::Words,
        }
    }

    /// Does what a key means. `command`: its meaning in the card's scope.
    pub fn key(&mut self, command: Option<Command>, input: &Input, room: Rect) -> Outcome {
        let (rows, height) = (self.lines(room).len(), usize::from(self.height(room)));
        let (phases, n) = (self.proposal.phases.clone(), self.proposal.n);
        let field_of = |text: &str| Field::of_at_most(LONGEST, text);
        let answer = match (&mut self.page, command) {
            (Page::Proposed, Some(Command::Close)) => return Outcome::Leaves,
            (Page::Proposed, Some(Command::Yes)) if self.scrolled.below(rows, height) == 0 => {
                Some(ProposalAnswer::Add { phases })
            }
            (Page::Proposed, Some(Command::EditInput)) => {
                self.page = Page::Edit(field_of(&phases.join("\n")));
                None
            }
            (Page::Proposed, Some(Command::No)) => {
                self.page = Page::Refuse(field_of(""));
                None
            }
            (Page::Proposed, command) => {
                self.scrolled.scroll(command::lines(command, height), rows, height);
                None
            }
            (Page::Edit(field), Some(Command::Send)) => {
                let text = field.text();
                let phases = text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty());
                Some(ProposalAnswer::Add { phases: phases.collect() }).filter(|answer| *answer != NOTHING)
            }
            (Page::Refuse(field), Some(Command::Send)) => {
                Some(ProposalAnswer::Refuse { words: field.text().trim().to_owned() })
            }
            (Page::Edit(_) | Page::Refuse(_), Some(Command::Close)) => {
                self.page = Page::Proposed;
                None
            }
            (Page::Edit(field) | Page::Refuse(field), Some(Command::NewLine)) => {
                field.new_line();
                None
            }
            (Page::Edit(field) | Page::Refuse(field), _) => {
                field.typed(input);
                None
            }
        };
        let command = |answer| UserCommand::AnswerProposal { n, answer };
        let ask = |answer| Ask::Request(Request::Command(self.ticket.clone(), command(answer)));
        answer.map_or(Outcome::Stays, |answer| Outcome::Asks(ask(answer)))
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        match &mut self.page {
            Page::Proposed => true,
            Page::Edit(field) | Page::Refuse(field) => field.pasted(text),
        }
    }

    fn height(&self, room: Rect) -> u16 {
        let lines = u16::try_from(self.lines(room).len()).unwrap_or(u16::MAX);
        lines.min(room.height.saturating_sub(REST))
    }

    fn below(&self, room: Rect) -> usize {
        self.scrolled.below(self.lines(room).len(), self.height(room).into())
    }

    fn lines(&self, room: Rect) -> Vec<(Role, String)> {
        let width = usize::from(room.width.min(WIDEST)).saturating_sub(6);
        let Proposal { phases, left_out, why, .. } = &self.proposal;
        let mut out: Vec<(Role, String)> = Vec::new();
        let mut say = |role: Role, first: &str, next: &str, text: &str| {
            for (at, line) in wrap(text, width).into_iter().enumerate() {
                out.push((role, format!("{}{line}", if at == 0 { first } else { next })));
            }
        };
        if !why.is_empty() {
            say(Role::Text, "", "", &visible(why));
        }
        say(Role::Dim, "", "", "Phases to add to the ticket:");
        for phase in phases {
            say(Role::DiffAdd, "+ ", "  ", &visible(phase));
        }
        if *left_out > 0 {
            let words = format!("{left_out} more not added: `workflow.max_added_phases` reached");
            say(Role::Dim, "", "", &words);
        }
        out
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let lines = self.lines(room);
        let height = match self.page {
            Page::Proposed => self.height(room),
            Page::Edit(_) | Page::Refuse(_) => 8.min(room.height.saturating_sub(REST)),
        };
        let area = centred(room, room.width.min(WIDEST), height + REST);
        let below = if matches!(self.page, Page::Proposed) { self.below(room) } else { 0 };
        let status = if below > 0 { format!("{below} more {}", model.glyphs.pick("↓", "v")) } else { String::new() };
        let title = format!("{} · goal not reached yet", self.ticket);
        let frame = Frame { status_role: Role::Warning, ..Frame::dialog(&title, &status, model.glyphs) };
        let inside = frame.draw(theme, area, buf);
        let text = Rect { y: inside.y + 1, height, ..inside };
        let keys: &[Command] = match &self.page {
            Page::Proposed => {
                let rows = lines.iter().map(|(role, line)| Row::new().left(*role, line));
                self.scrolled.list(rows, None, theme, text, buf);
                &[Command::Yes, Command::EditInput, Command::No, Command::Close]
            }
            Page::Edit(field) => {
                field.view(("Phases to add", "one per line"), "", (theme, model.glyphs), text, buf);
                &[Command::Send, Command::NewLine, Command::Close]
            }
            Page::Refuse(field) => {
                let head = ("Done without them", "optional reason, added to the ticket's Notes");
                field.view(head, "Why is the goal reached?", (theme, model.glyphs), text, buf);
                &[Command::Send, Command::NewLine, Command::Close]
            }
        };
        let mut row = Row::new();
        for (key, hint) in hints(model, self.scope(), keys) {
            let unread = below > 0 && row.is_empty();
            let (role, seen) = if unread { (Role::Dim, "(scroll to the end first) ") } else { (Role::Key, "") };
            row = row.key(role, &key, &format!("{seen}{hint}"));
        }
        row.draw(theme, foot(inside), buf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::msg::Key;
    use crate::tui::sample;

    fn card(phases: usize) -> MoreWork {
        let phases = (0..phases).map(|n| format!("part {n}")).collect();
        MoreWork::new(sample::id("tk-1"), &Proposal { n: 4, phases, left_out: 0, why: "Not all is there.".into() })
    }

    fn answer(outcome: Outcome) -> Option<ProposalAnswer> {
        match outcome {
            Outcome::Asks(Ask::Request(Request::Command(_, UserCommand::AnswerProposal { n: 4, answer }))) => {
                Some(answer)
            }
            _ => None,
        }
    }

    const ROOM: Rect = Rect { x: 0, y: 0, width: 80, height: 20 };

    #[test]
    fn a_yes_counts_only_when_the_end_was_seen() {
        let (mut card, any) = (card(50), Input::default());
        assert_eq!(answer(card.key(Some(Command::Yes), &any, ROOM)), None);
        card.key(Some(Command::End), &any, ROOM);
        let all = card.proposal.phases.clone();
        assert_eq!(answer(card.key(Some(Command::Yes), &any, ROOM)), Some(ProposalAnswer::Add { phases: all }));
    }

    #[test]
    fn phases_are_changed_and_refused_in_words() {
        let (mut card, any) = (card(2), Input::default());
        card.key(Some(Command::EditInput), &any, ROOM);
        card.pasted("\n\n another one \n");
        let phases = ["part 0", "part 1", "another one"].map(str::to_owned).to_vec();
        assert_eq!(answer(card.key(Some(Command::Send), &any, ROOM)), Some(ProposalAnswer::Add { phases }));
        card.key(Some(Command::Close), &any, ROOM);
        card.key(Some(Command::No), &any, ROOM);
        card.key(None, &Input { key: Key::Char('x'), ..Input::default() }, ROOM);
        assert_eq!(
            answer(card.key(Some(Command::Send), &any, ROOM)),
            Some(ProposalAnswer::Refuse { words: "x".into() })
        );
    }
}
