//! Which keys the commands have: those of the table, or the person's own. What was pressed becomes a row here.

use super::table::{in_scope, row_of, table};
use super::{Command, Flag, Row, Scope, press};
use crate::tui::keys::{Chord, Keymap};
use crate::tui::marks::Glyphs;
use crate::tui::model::Model;
use crate::tui::msg::{Input, Key};
use std::fmt::Write as _;

/// What the keys that were pressed mean.
#[derive(Clone, Copy)]
pub enum Found {
    Row(&'static Row),
    /// The first key of two.
    Begun,
}

impl Keymap {
    /// The keys of a row; none: it is unbound.
    pub fn keys(&self, row: &Row) -> Vec<Chord> {
        let built_in = || row.keys.iter().map(|keys| Chord(keys.to_vec())).collect();
        self.0.get(row.id).cloned().unwrap_or_else(built_in)
    }

    /// They are not those of the table.
    pub fn is_own(&self, row: &Row) -> bool {
        self.0.contains_key(row.id)
    }

    /// What was pressed means this in a scope, whether it can act now or not.
    pub fn find(&self, scope: Scope, pressed: &[Input]) -> Option<Found> {
        let mut begun = None;
        for row in in_scope(scope) {
            for chord in self.keys(row) {
                if chord.begins_with(pressed) {
                    if chord.0.len() == pressed.len() {
                        return Some(Found::Row(row));
                    }
                    begun = Some(Found::Begun);
                }
            }
        }
        begun
    }

    /// All keys of a row as people read them: `p`, `⇧Tab`, `q ^C`, `1–9`; empty: unbound.
    pub fn text(&self, row: &Row) -> String {
        let keys: Vec<String> = self.keys(row).iter().map(Chord::text).collect();
        let (mut out, mut at) = (Vec::new(), 0);
        while let Some(key) = keys.get(at) {
            let ninth = key.strip_suffix('1').map(|before| format!("{before}9"));
            let all_digits = ninth.is_some() && keys.get(at + 8) == ninth.as_ref();
            out.push(if all_digits { format!("{key}–9") } else { key.clone() });
            at += if all_digits { 9 } else { 1 };
        }
        out.join(" ")
    }

    /// The first key of a row, which the footer shows; empty: unbound.
    pub fn first(&self, row: &Row) -> String {
        self.keys(row).first().map_or_else(String::new, Chord::text)
    }

    /// The first key of a command in a scope.
    pub fn key_of(&self, scope: Scope, command: Command) -> String {
        row_of(scope, command).map_or_else(String::new, |row| self.first(row))
    }

    /// The keys that move a cursor up and down in a scope.
    pub fn moves(&self, scope: Scope, glyphs: Glyphs) -> String {
        let arrows = [(Command::Up, Key::Up), (Command::Down, Key::Down)].iter().all(|(command, arrow)| {
            let arrow = press(*arrow);
            row_of(scope, *command).is_some_and(|row| self.keys(row).iter().any(|chord| chord.0 == [arrow.clone()]))
        });
        match glyphs {
            Glyphs::Unicode if arrows => "↑ ↓".into(),
            _ => format!("{} {}", self.key_of(scope, Command::Down), self.key_of(scope, Command::Up)),
        }
    }
}

/// Keys of a scope with their words, of those that can act now.
pub fn hints_that_act(model: &Model, scope: Scope, commands: &[Command]) -> Vec<(String, &'static str)> {
    let acts = |command: &Command| row_of(scope, *command).is_some_and(|row| (row.enabled)(model));
    hints(model, scope, &commands.iter().copied().filter(acts).collect::<Vec<_>>())
}

/// Keys of a scope with their words, in this order; [`Command::Down`] stands for both ways.
pub fn hints(model: &Model, scope: Scope, commands: &[Command]) -> Vec<(String, &'static str)> {
    let rows = commands.iter().filter_map(|command| row_of(scope, *command));
    rows.map(|row| {
        let key = match row.command {
            Command::Down => model.keys.moves(scope, model.glyphs),
            _ => model.keys.first(row),
        };
        (key, (row.hint)(model))
    })
    .collect()
}

/// How often a command is carried out that was given a count. Only movements repeat.
pub fn times(command: Command, count: Option<u32>) -> u32 {
    let repeats = matches!(
        command,
        Command::Down
            | Command::Up
            | Command::PageDown
            | Command::PageUp
            | Command::TabNext
            | Command::TabPrevious
            | Command::FocusNext
            | Command::FocusPrevious
            | Command::Larger
            | Command::Smaller
            | Command::Own("next" | "previous" | "hunk_next" | "hunk_previous" | "file_next" | "file_previous")
    );
    if repeats { count.unwrap_or(1).max(1) } else { 1 }
}

/// The keys as a Markdown table, for the documentation.
pub fn markdown_table() -> String {
    let mut out = String::from("| where | key | what |\n|---|---|---|\n");
    for row in table().filter(|row| row.flag != Flag::Hidden) {
        let keys = Keymap::default().text(row).replace('|', "\\|");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} | `{keys}` | {} |", row.group, row.doc);
    }
    out
}
