//! What a pane is, for the rest of the screen: nothing else there knows one by its name.

use crate::tui::command::{Command, Row};
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::Ask;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A row of the table of panes.
pub struct Entry {
    /// Its name in small letters, for its keys, its place and its border.
    pub name: &'static str,
    /// The keys that count while it has the focus, before those of the whole screen.
    pub keys: &'static [Row],
    pub new: fn() -> Box<dyn Pane>,
}

/// A pane with a state of its own. What it does not say is empty.
pub trait Pane: Send {
    /// What follows its name in the border, and what stands at the right of it.
    fn border(&self, _model: &Model, _width: u16) -> (String, String) {
        (String::new(), String::new())
    }

    /// Does what a key means: one of its own, or a movement. `height`: lines inside.
    fn act(&mut self, _model: &mut Model, _command: Command, _height: usize) -> Vec<Ask> {
        Vec::new()
    }

    /// Why a key of its own does nothing now, where that needs words.
    fn refusal(&self, _model: &Model, _command: Command) -> Option<String> {
        None
    }

    /// Lines are selected: the keys of [`Scope::Visual`](crate::tui::command::Scope::Visual) count.
    fn selects(&self, _model: &Model) -> bool {
        false
    }

    /// The line of text that [`Command::Prompt`] opens at the bottom.
    fn prompt(&self, _model: &Model) -> Option<Prompt> {
        None
    }

    /// The text of that line, at every change.
    fn typed(&mut self, _model: &mut Model, _text: &str) {}

    /// It has a border with its name.
    fn is_framed(&self) -> bool {
        true
    }

    /// Gets ready to be drawn inside its border.
    fn prepare(&mut self, _model: &mut Model, _inside: Rect) {}

    /// Draws its inside. `focused`: keys go here.
    fn view(&self, model: &Model, focused: bool, theme: &Theme, inside: Rect, buf: &mut Buffer);

    /// Draws it as one line, where the layout has no more for it.
    fn view_line(&self, _model: &Model, _theme: &Theme, _line: Rect, _buf: &mut Buffer) {}
}
