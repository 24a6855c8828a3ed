//! Choosing a theme: each is shown while the cursor is on it.

use crate::tui::command::{Command, Scope, hints};
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::looks::Looks;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred, foot};
use crate::tui::widgets::row::Row;
use crate::tui::widgets::scrolled::Scrolled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of the dialog: most of the screen stays to be looked at.
const WIDTH: u16 = 44;
/// Lines around the list: border, air, keys.
const AROUND: u16 = 5;

/// What there is, and what was shown before.
pub struct Themes {
    pub before: String,
    names: Vec<String>,
    cursor: usize,
}

impl Themes {
    pub fn new(looks: &Looks) -> Self {
        let names = looks.names();
        let cursor = names.iter().position(|name| name == looks.name()).unwrap_or(0);
        Self { before: looks.name().to_owned(), names, cursor }
    }

    /// There may be others now.
    pub fn refresh(&mut self, looks: &Looks) {
        *self = Self { before: std::mem::take(&mut self.before), ..Self::new(looks) };
    }

    /// Moves the cursor by lines; the theme that it is on then.
    pub fn step(&mut self, by: i32) -> &str {
        self.cursor = self.cursor.saturating_add_signed(by as isize).min(self.names.len().saturating_sub(1));
        self.names.get(self.cursor).map_or("", String::as_str)
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let height = (self.names.len() as u16).min(room.height.saturating_sub(AROUND));
        let area = centred(room, WIDTH, height + AROUND);
        let scrolled = Scrolled::default().showing(self.cursor, self.cursor, height.into());
        let status = match scrolled.below(self.names.len(), height.into()) {
            0 => String::new(),
            below => format!("{below} more {}", model.glyphs.pick("↓", "v")),
        };
        let inside = Frame::dialog("Theme", &status, model.glyphs).draw(theme, area, buf);
        let list = Rect { y: inside.y + 1, height, ..inside };
        let rows = self.names.iter().map(|name| {
            let row = Row::new().left(Role::Text, format!(" {name}"));
            if *name == self.before { row.right(Role::Dim, "current ") } else { row }
        });
        scrolled.list(rows, Some(self.cursor), theme, list, buf);
        let keys = [Command::Choose, Command::Down, Command::Close];
        Row::keys(hints(model, Scope::Themes, &keys)).draw(theme, foot(inside), buf);
    }
}

#[cfg(test)]
mod tests {
    use crate::tui::modals::Modal;
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::theme::looks::Looks;
    use crate::tui::theme::role::Role;
    use crate::tui::theme::surface::{Depth, Surface};
    use crate::tui::ui::Ui;
    use crate::tui::update::update;
    use ratatui::style::{Color, Style};

    fn ui(theme: &str) -> Ui {
        let mut ui = sample::model();
        let surface = Surface { depth: Depth::True, background: Some([0; 3]), answers: false };
        ui.looks = Looks::new(theme, vec![("dusk".into(), "styles:\n  text: red\n".into())], surface).0;
        ui
    }

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    #[test]
    fn each_theme_is_shown_on_the_way_and_one_is_kept_or_none() {
        let mut ui = ui("nord");
        let before = ui.looks.theme.style(Role::Text);
        assert_eq!(press(&mut ui, "T"), [Ask::ReadThemes]);
        assert_eq!(press(&mut ui, "j"), []);
        assert_eq!(ui.looks.name(), "solarized-dark");
        assert_ne!(ui.looks.theme.style(Role::Text), before);
        let screen = sample::draw(&mut ui, (80, 24));
        assert!(screen.contains("nord") && screen.contains(" more ↓"), "{screen}");
        assert_eq!(press(&mut ui, "Esc"), []);
        assert_eq!((ui.looks.name(), ui.looks.theme.style(Role::Text)), ("nord", before));
        assert_eq!(press(&mut ui, "T k Enter"), [Ask::ReadThemes, Ask::KeepTheme("mono".into())]);
        assert!(ui.modals.is_empty() && ui.looks.name() == "mono");
    }

    #[test]
    fn a_saved_theme_is_shown_at_once_and_a_broken_one_only_told() {
        let mut ui = ui("dusk");
        press(&mut ui, "T");
        let mut save = |text: &str| {
            update(&mut ui, Msg::Themes(vec![("dusk".into(), text.into()), ("new".into(), String::new())]));
            (ui.looks.theme.style(Role::Text), ui.toast.take().map(|(words, _)| words))
        };
        let green = Style::new().fg(Color::Green);
        assert_eq!(save("styles:\n  text: green\n"), (green, None));
        let (kept, told) = save("styles:\n  text: gren\n");
        let told = told.unwrap();
        assert!(told.starts_with("theme `dusk`, line 2: `gren`"), "{told}");
        assert_eq!(kept, green);
        let Some(Modal::Themes(themes)) = ui.modals.last() else { panic!("the dialog is closed") };
        assert!(themes.names.contains(&"new".to_owned()));
    }
}
