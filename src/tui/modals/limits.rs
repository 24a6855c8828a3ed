//! The limits of the run in front, each with what counts against it; they can be changed while it works.

use crate::domain::command::UserCommand;
use crate::domain::request::Request;
use crate::domain::settings::{Adjustable, Change, exact};
use crate::domain::ticket::TicketKey;
use crate::tui::command::{Command, Scope, hints};
use crate::tui::modals::prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Input, Key};
use crate::tui::tab::{Step, Tab};
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::{Row, highlight};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of the names.
const NAME: usize = 30;

/// The list, and the value that is typed.
pub struct Limits {
    ticket: TicketKey,
    at: usize,
    typed: Option<String>,
    /// It is the value of before, which what is typed replaces.
    untouched: bool,
    /// Why the last change cannot be.
    trouble: String,
}

impl Limits {
    pub fn of(tab: &Tab) -> Self {
        Self { ticket: tab.id.clone(), at: 0, typed: None, untouched: false, trouble: String::new() }
    }

    pub fn scope(&self) -> Scope {
        if self.typed.is_some() { Scope::LimitValue } else { Scope::Limits }
    }

    /// Does what a key means. `None`: it closes.
    pub fn key(mut self, model: &Model, command: Option<Command>, input: &Input) -> (Option<Self>, Option<Ask>) {
        self.trouble.clear();
        let Some(tab) = model.tab_of(&self.ticket) else { return (None, None) };
        let what = Adjustable::ALL[self.at];
        let change = match (command, self.typed.take()) {
            (Some(Command::Choose), Some(text)) => Some(Change::Set(what, text)),
            (Some(Command::Close), Some(_)) => None,
            (_, Some(mut text)) => {
                if self.untouched && matches!(input.key, Key::Char(_)) && !input.ctrl && !input.alt {
                    text.clear();
                }
                self.untouched &= !prompt::edit(&mut text, input);
                self.typed = Some(text);
                None
            }
            (Some(Command::Close), None) => return (None, None),
            (Some(Command::Choose), None) => {
                self.typed = Some(what.text(&tab.state.settings));
                self.untouched = true;
                None
            }
            (Some(Command::Own("more")), None) => Some(Change::Step(what, 1)),
            (Some(Command::Own("less")), None) => Some(Change::Step(what, -1)),
            (Some(Command::Down), None) => {
                self.at = (self.at + 1).min(Adjustable::ALL.len() - 1);
                None
            }
            (Some(Command::Up), None) => {
                self.at = self.at.saturating_sub(1);
                None
            }
            (Some(Command::Undo), None) => {
                let step = tab.undo.last().filter(|step| matches!(step, Step::Setting(..)));
                if step.is_none() {
                    "nothing to undo here".clone_into(&mut self.trouble);
                }
                let command = step.and_then(Step::command);
                let ask = command.map(|command| Ask::Request(Request::Command(self.ticket.clone(), command)));
                return (Some(self), ask);
            }
            _ => None,
        };
        let asked = change.map(|change| match tab.state.settings.with(&change) {
            Ok(_) => Ok(change),
            Err(why) => Err((why, change)),
        });
        let ask = match asked {
            Some(Ok(change)) => {
                Some(Ask::Request(Request::Command(self.ticket.clone(), UserCommand::ChangeSetting(change))))
            }
            Some(Err((why, change))) => {
                // What was typed can be corrected.
                if let Change::Set(_, text) = change {
                    self.typed = Some(text);
                }
                self.trouble = why;
                None
            }
            None => None,
        };
        (Some(self), ask)
    }

    /// Takes pasted text; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        let Some(typed) = &mut self.typed else { return true };
        if std::mem::take(&mut self.untouched) {
            typed.clear();
        }
        prompt::insert(typed, text)
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let rows = Adjustable::ALL.len() as u16;
        let area = centred(room, 72, rows + 6);
        let title = format!("Limits · {}", self.ticket);
        let inside = Frame::dialog(&title, "from the next iteration on", model.glyphs).draw(theme, area, buf);
        let Some(tab) = model.tab_of(&self.ticket) else { return };
        for (place, (at, what)) in inside.rows().skip(1).zip(Adjustable::ALL.into_iter().enumerate()) {
            let chosen = at == self.at;
            let row = Row::new().left(Role::Text, format!(" {:<NAME$}", what.word()));
            let row = match self.typed.as_ref().filter(|_| chosen) {
                Some(text) => row
                    .left(if self.untouched { Role::Dim } else { Role::Input }, text)
                    .left(Role::Accent, model.glyphs.pick("█", "_")),
                None => row.left(Role::Text, shown(tab, what)).right(Role::Dim, format!("{} ", counted(tab, what))),
            };
            row.draw(theme, place, buf);
            if chosen && self.typed.is_none() {
                highlight(theme.style(Role::Selection), place, buf);
            }
        }
        if let Some(place) = inside.rows().nth(usize::from(rows) + 1) {
            Row::new().left(Role::Danger, format!(" {}", self.trouble)).draw(theme, place, buf);
        }
        let keys = [Command::Own("more"), Command::Own("less"), Command::Choose, Command::Undo, Command::Close];
        Row::keys(hints(model, self.scope(), &keys)).draw(theme, foot(inside), buf);
    }
}

fn shown(tab: &Tab, what: Adjustable) -> String {
    match (what, what.text(&tab.state.settings)) {
        (Adjustable::Model, text) if text.is_empty() => "Claude's default".to_owned(),
        (_, text) if text.is_empty() => "none".to_owned(),
        (_, text) => text,
    }
}

/// What counts against it now.
fn counted(tab: &Tab, what: Adjustable) -> String {
    let (state, breaker) = (&tab.state, &tab.state.breaker);
    match what {
        Adjustable::Iterations => format!("now {}", state.counted_iterations()),
        Adjustable::NoProgress => format!("now {}", breaker.no_progress),
        Adjustable::SameError => format!("now {}", breaker.same_error),
        Adjustable::Denials => format!("now {}", breaker.permission_denials),
        Adjustable::Budget => format!("spent ${}", exact((state.cost_usd * 1e6).round() as u64)),
        Adjustable::Model => state.model.as_ref().map_or_else(String::new, |name| format!("now {name}")),
        Adjustable::Stagnation | Adjustable::RepeatedError => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::command::UserCommand;
    use crate::domain::phase::PhaseId;
    use crate::domain::record::{OfPhase, Record};
    use crate::domain::request::Request;
    use crate::domain::settings::{Adjustable, Change, SettingsChanged};
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::panes::gauges;
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Option<Change> {
        let asks: Vec<Ask> = keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect();
        asks.into_iter().find_map(|ask| match ask {
            Ask::Request(Request::Command(_, UserCommand::ChangeSetting(change))) => Some(change),
            _ => None,
        })
    }

    /// The run has obeyed.
    fn obeyed(ui: &mut Ui, seq: u64, change: &Change) {
        let settings = ui.tabs[0].state.settings.with(change).unwrap();
        let what = ui.tabs[0].state.settings.differences(&settings);
        let record = Record::SettingsChanged(SettingsChanged { settings, what });
        let stored = sample::stored(ui.tabs[0].id.as_str(), seq, record);
        update(ui, Msg::News(crate::domain::news::News::Recorded(std::sync::Arc::new(stored))));
    }

    #[test]
    fn limits_are_raised_typed_and_taken_back() {
        let mut ui = sample::busy();
        ui.focus = gauges::NAME;
        assert_eq!(press(&mut ui, "+"), None, "the first key shows them");
        let more = press(&mut ui, "+").unwrap();
        assert_eq!(more, Change::Step(Adjustable::Iterations, 1));
        obeyed(&mut ui, 900, &more);
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(
            screen.contains("iterations                    51") && screen.contains("from the next iteration"),
            "{screen}"
        );
        let back = press(&mut ui, "u").unwrap();
        assert_eq!(back, Change::Set(Adjustable::Iterations, "50".into()));
        obeyed(&mut ui, 901, &back);
        assert_eq!(press(&mut ui, "-"), Some(Change::Step(Adjustable::Iterations, -1)));
        assert_eq!(press(&mut ui, "u"), None);
        // Words that are no value stay here, with the reason.
        assert_eq!(press(&mut ui, "j j j j j j Enter x Enter"), None);
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("expected USD such as 2.50"), "{screen}");
        assert_eq!(press(&mut ui, "Ctrl-u 4 Enter"), Some(Change::Set(Adjustable::Budget, "4".into())));
        assert_eq!(press(&mut ui, "Esc"), None);
        assert!(ui.modals.is_empty());
    }

    #[test]
    fn what_is_typed_or_pasted_replaces_the_old_value() {
        let mut ui = sample::busy();
        ui.focus = gauges::NAME;
        assert_eq!(press(&mut ui, "+ Enter 2 0 Enter"), Some(Change::Set(Adjustable::Iterations, "20".into())));
        assert_eq!(press(&mut ui, "Enter Backspace Enter"), Some(Change::Set(Adjustable::Iterations, "5".into())));
        press(&mut ui, "Enter");
        update(&mut ui, Msg::Paste("7".into()));
        assert_eq!(press(&mut ui, "Enter"), Some(Change::Set(Adjustable::Iterations, "7".into())));
    }

    #[test]
    fn a_phase_is_not_taken_back_among_the_limits() {
        let mut ui = sample::busy();
        ui.focus = gauges::NAME;
        press(&mut ui, "+");
        let more = press(&mut ui, "+").unwrap();
        obeyed(&mut ui, 900, &more);
        let of = OfPhase { phase: "One".into(), id: Some(PhaseId(1)) };
        let stored = sample::stored(ui.tabs[0].id.as_str(), 901, Record::PhaseSkipped(of));
        update(&mut ui, Msg::News(crate::domain::news::News::Recorded(std::sync::Arc::new(stored))));
        assert_eq!(update(&mut ui, Msg::Key(sample::key("u"))), []);
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("nothing to undo here"), "{screen}");
    }

    #[test]
    fn a_value_that_is_refused_can_be_corrected() {
        let mut ui = sample::busy();
        ui.focus = gauges::NAME;
        assert_eq!(press(&mut ui, "+ Enter 2 x 0 Enter"), None);
        assert_eq!(
            press(&mut ui, "Backspace Backspace 5 Enter"),
            Some(Change::Set(Adjustable::Iterations, "25".into())),
            "what was typed is still there"
        );
        // And it can be left.
        press(&mut ui, "Enter x Enter Esc");
        assert_eq!(press(&mut ui, "+"), Some(Change::Step(Adjustable::Iterations, 1)));
    }

    #[test]
    fn what_is_spent_is_as_exact_as_the_budget() {
        let mut ui = sample::busy();
        ui.focus = gauges::NAME;
        ui.tabs[0].state.cost_usd = 0.0042;
        press(&mut ui, "+");
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("spent $0.0042"), "{screen}");
    }

    #[test]
    fn a_run_that_has_ended_has_no_limits_to_change() {
        let mut ui = sample::model();
        ui.tabs.push(sample::finished("tk-1"));
        ui.focus = gauges::NAME;
        assert_eq!(press(&mut ui, "+"), None);
        assert!(ui.modals.is_empty() && ui.toast.is_some());
    }
}
