//! Every key, by group, from the one table: the pane's in front first, in as many columns as fit.

use crate::tui::command::{Command, Flag, Row as Entry, Scope, lines, table};
use crate::tui::marks::Glyphs;
use crate::tui::modals::prompt;
use crate::tui::model::{Mode, Model};
use crate::tui::msg::Input;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::centred;
use crate::tui::widgets::row::{Row, wrap};
use crate::tui::widgets::scrolled::Scrolled;
use crate::tui::{changes, home};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Columns of a list that is not divided, with its frame.
const WIDTH: u16 = 84;
/// Columns that a part of a divided list needs, and those between two parts.
const PART: usize = 52;
const GAP: usize = 3;
/// Columns for the keys.
const KEYS: usize = 13;

/// The list of keys.
#[derive(Clone, Debug, Default)]
pub struct Help {
    scrolled: Scrolled,
    filter: String,
    typing: bool,
}

impl Help {
    /// Keys are letters of the filter.
    pub fn is_typing(&self) -> bool {
        self.typing
    }

    /// Takes a key, and what it means; whether the list stays open.
    pub fn key(&mut self, model: &Model, command: Option<Command>, input: &Input, room: Rect) -> bool {
        match command {
            Some(Command::Choose) if self.typing => self.typing = false,
            Some(Command::Close) if self.typing || !self.filter.is_empty() => {
                self.filter.clear();
                self.typing = false;
            }
            _ if self.typing => {
                prompt::edit(&mut self.filter, input);
                self.scrolled = Scrolled::default();
            }
            Some(Command::Prompt) => self.typing = true,
            Some(Command::Close) => return false,
            command => {
                let page = Scrolled::page(room);
                self.scrolled.scroll(lines(command, page), self.rows(model, room).len(), page);
            }
        }
        true
    }

    /// Takes pasted text into the filter; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        !self.typing || prompt::insert(&mut self.filter, text)
    }

    pub fn view(&self, model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
        let width = if columns(room) == 1 { WIDTH } else { room.width };
        let place = centred(room, width, room.height);
        let cursor = if self.typing { model.glyphs.pick("█", "_") } else { "" };
        let title = match (self.typing, self.filter.as_str()) {
            (false, "") => "Keys · / filters".to_owned(),
            (_, filter) => format!("Keys · /{filter}{cursor}"),
        };
        self.scrolled.view(&title, &self.rows(model, room), model.glyphs, theme, place, buf);
    }

    /// The list where the dialogs have this room.
    fn rows(&self, model: &Model, room: Rect) -> Vec<Row> {
        let parts = columns(room);
        let width = match parts {
            1 => usize::from(room.width.min(WIDTH)).saturating_sub(4),
            parts => (usize::from(room.width).saturating_sub(4) - GAP * (parts - 1)) / parts,
        };
        let mut stacks: Vec<Vec<Row>> = vec![Vec::new(); parts];
        for block in self.blocks(model, width) {
            let shortest = stacks.iter_mut().min_by_key(|stack| stack.len());
            let Some(stack) = shortest else { break };
            if !stack.is_empty() {
                stack.push(Row::new());
            }
            stack.extend(block);
        }
        let height = stacks.iter().map(Vec::len).max().unwrap_or(0);
        let line = |at: usize| {
            let parts = stacks.iter().map(|stack| stack.get(at).cloned().unwrap_or_default());
            parts.enumerate().fold(Row::new(), |row, (n, part)| row.beside(n * (width + GAP), part))
        };
        let rows: Vec<Row> = (0..height).map(line).collect();
        if rows.is_empty() { vec![Row::new().left(Role::Dim, "No key matches.")] } else { rows }
    }

    /// The groups with their keys, that of the pane in front first, and the marks.
    fn blocks(&self, model: &Model, width: usize) -> Vec<Vec<Row>> {
        let words = self.filter.to_lowercase();
        let words: Vec<&str> = words.split_whitespace().collect();
        let fits = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let mut groups: Vec<(&str, Vec<&Entry>)> = Vec::new();
        let shown = |row: &&'static Entry| {
            let text = format!("{} {} {} {}", row.group, row.id, model.keys.text(row), row.doc);
            row.flag != Flag::Hidden && fits(&text) && (model.mode == Mode::Live || acts_in_replay(model, row))
        };
        let own = table().filter(|row| row.scope == Scope::Pane(model.focus)).map(|row| row.group);
        let groups_in_order = own.chain(table().map(|row| row.group));
        for group in groups_in_order {
            if groups.iter().all(|(known, _)| *known != group) {
                groups.push((group, table().filter(|row| row.group == group).filter(shown).collect()));
            }
        }
        let blocks = groups.into_iter().filter(|(_, rows)| !rows.is_empty()).map(|(group, rows)| {
            let heading = Row::new().left(Role::Title, group);
            std::iter::once(heading).chain(rows.into_iter().flat_map(|row| key_rows(model, row, width))).collect()
        });
        let marks: Vec<Row> = marks(width).filter(|(text, _)| fits(text)).flat_map(|(_, rows)| rows).collect();
        let marks = (!marks.is_empty())
            .then(|| std::iter::once(Row::new().left(Role::Title, "marks")).chain(marks).collect::<Vec<_>>());
        blocks.chain(marks).collect()
    }
}

/// The key does something now, where nothing is run.
fn acts_in_replay(model: &Model, row: &Entry) -> bool {
    let has_place = match row.scope {
        Scope::Pane(name) => ![home::NAME, changes::NAME].contains(&name),
        Scope::Global | Scope::Zoomed | Scope::Scroll | Scope::Help | Scope::Palette | Scope::Themes => true,
        _ => false,
    };
    has_place && (row.enabled)(model)
}

/// Parts of the list that stand beside each other.
fn columns(room: Rect) -> usize {
    ((usize::from(room.width).saturating_sub(4) + GAP) / (PART + GAP)).clamp(1, 3)
}

/// The keys of a row, and behind them what it does.
fn key_rows(model: &Model, row: &Entry, width: usize) -> Vec<Row> {
    let keys = match model.keys.text(row) {
        keys if keys.is_empty() => "–".to_owned(),
        keys => keys,
    };
    let gap = " ".repeat(KEYS.saturating_sub(keys.width()).max(1));
    explained(Row::new().left(Role::Key, format!("  {keys}{gap}")), row.doc_in_group(), width)
}

/// What stands behind the first pieces of a line, under each other.
fn explained(first: Row, text: &str, width: usize) -> Vec<Row> {
    let columns = width.saturating_sub(first.left_width());
    let indent = " ".repeat(first.left_width());
    let starts = [first].into_iter().chain(std::iter::repeat_with(|| Row::new().left(Role::Key, &indent)));
    starts.zip(wrap(text, columns)).map(|(start, line)| start.left(Role::Text, line)).collect()
}

/// The marks of phases: their words, and how they are drawn.
fn marks(width: usize) -> impl Iterator<Item = (String, Vec<Row>)> {
    use crate::domain::outcome::DoneHow::{ClaimedUnchecked, Verified};
    use crate::domain::phase::Mark;
    let marks = [
        (Mark::Pending, "not started"),
        (Mark::Running, "Claude is working on it"),
        (Mark::Claimed, "claimed done; being checked"),
        (Mark::Checked(Verified), "checked; a critic reviews it"),
        (Mark::Rejected, "the critic found issues; Claude fixes them"),
        (Mark::Done(Verified), "done; the validation commands passed"),
        (Mark::Done(ClaimedUnchecked), "done; no command checked it"),
        (Mark::Disputed, "claimed, but the check failed"),
        (Mark::Skipped, "skipped by you"),
        (Mark::Blocked, "Claude reported BLOCKED"),
    ];
    marks.into_iter().map(move |(mark, doc)| {
        let sign = Glyphs::Unicode.phase(mark);
        let ascii = Glyphs::Ascii.phase(mark).glyph;
        let first = Row::new()
            .left(sign.role, format!("  {} {ascii} ", sign.glyph))
            .left(sign.role, format!("{:<14}", sign.word));
        (format!("marks {} {doc}", sign.word), explained(first, doc, width))
    })
}

#[cfg(test)]
mod tests {
    use crate::tui::msg::{Ask, Msg};
    use crate::tui::sample;
    use crate::tui::ui::Ui;
    use crate::tui::update::update;

    fn press(ui: &mut Ui, keys: &str) -> Vec<Ask> {
        keys.split(' ').flat_map(|key| update(ui, Msg::Key(sample::key(key)))).collect()
    }

    /// The first line of the list.
    fn first(focus: &'static str, size: (u16, u16)) -> String {
        let mut ui = sample::busy();
        ui.focus = focus;
        press(&mut ui, "?");
        let screen = sample::draw(&mut ui, size);
        let lines: Vec<&str> = screen.lines().collect();
        let top = lines.iter().position(|line| line.contains("Keys")).unwrap();
        lines[top + 1].split('┃').nth(1).unwrap().trim().to_owned()
    }

    #[test]
    fn the_keys_of_the_pane_in_front_come_first() {
        for pane in ["home", "stream", "log", "changes", "gauges"] {
            assert_eq!(first(pane, (80, 24)), pane);
        }
        let words = |size| first("home", size).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words((120, 40)), ["home", "run"]);
        assert_eq!(words((200, 50)), ["home", "run", "move"]);
    }

    #[test]
    fn a_replay_lists_no_key_that_cannot_act_there() {
        let mut ui = sample::busy();
        ui.mode = crate::tui::model::Mode::Replay;
        press(&mut ui, "?");
        let screen = sample::draw(&mut ui, (200, 70));
        for words in ["show the diff of the selected file", "at Home", "pause now", "new ticket:", "the changed files"]
        {
            assert!(!screen.contains(words), "{words}: {screen}");
        }
        assert!(screen.contains("select lines, to copy them") && screen.contains("choose a theme"), "{screen}");
        press(&mut ui, "Esc Tab Tab");
        assert_eq!(ui.focus, "log", "of tickets, stream, gauges, log: Changes is left out");
    }

    #[test]
    fn a_filter_leaves_what_it_names_and_is_left_before_the_list() {
        let mut ui = sample::busy();
        press(&mut ui, "? / t h e m e");
        let screen = sample::draw(&mut ui, (120, 40));
        assert!(screen.contains("choose a theme") && !screen.contains("pause now"), "{screen}");
        press(&mut ui, "Enter");
        assert!(sample::draw(&mut ui, (120, 40)).contains("/theme"));
        press(&mut ui, "Esc");
        assert!(sample::draw(&mut ui, (120, 40)).contains("pause now"));
        press(&mut ui, "/ z z z z");
        assert!(sample::draw(&mut ui, (120, 40)).contains("No key matches"));
        press(&mut ui, "Esc Esc");
        assert!(ui.modals.is_empty());
    }
}
