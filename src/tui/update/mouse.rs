//! The mouse: the wheel scrolls what is under it, a click goes where it points, a drag selects lines in the Stream.
//!
//! What is pointed at is found in what is drawn: a click on a key's words presses the key, one on a row moves the cursor
//! there as keys would. So nothing can be clicked that is not seen, and nothing done that no key does. Keys are marked as
//! they are drawn here: what Claude, a ticket or a file says may look like one and is none.

use crate::tui::command::{Command, Found, Scope, row_of};
use crate::tui::keys::key_text;
use crate::tui::layout::solve;
use crate::tui::modals::Modal;
use crate::tui::msg::{Ask, Gesture, Input, Mouse};
use crate::tui::panes::stream::StreamMsg;
use crate::tui::panes::{PANES, stream};
use crate::tui::theme::role::Role;
use crate::tui::ui::Ui;
use crate::tui::update::{dialogs, keys};
use crate::tui::view;
use crate::tui::widgets::frame::inside;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

/// Lines that the wheel scrolls.
const WHEEL: usize = 3;
/// Blank columns that end what belongs to a key.
const GAP: u16 = 3;
/// What keys are drawn with to be found; no theme has it.
const MARK: Modifier = Modifier::HIDDEN;

pub(super) fn run(ui: &mut Ui, mouse: Mouse) -> Vec<Ask> {
    let layout = solve(ui.size, ui);
    if layout.too_small {
        return Vec::new();
    }
    let at = Position::new(mouse.x, mouse.y);
    let over = PANES.iter().map(|pane| pane.name).find(|name| layout.of(name).is_some_and(|place| place.contains(at)));
    match mouse.gesture {
        Gesture::WheelUp => wheel(ui, over, Command::Up),
        Gesture::WheelDown => wheel(ui, over, Command::Down),
        Gesture::Press => {
            ui.dragged = None;
            press(ui, over, at)
        }
        Gesture::Drag if ui.modals.is_empty() => {
            drag(ui, at);
            Vec::new()
        }
        Gesture::Drag => Vec::new(),
    }
}

/// Scrolls the dialog, or the pane that is pointed at; the focus stays.
fn wheel(ui: &mut Ui, over: Option<&'static str>, command: Command) -> Vec<Ask> {
    if let Some(scope) = ui.modals.last().map(Modal::scope) {
        let moves = row_of(scope, command).is_some();
        let times = if moves { WHEEL } else { 0 };
        return (0..times).flat_map(|_| dialogs::key(ui, Some(command), &Input::default())).collect();
    }
    let Some(over) = over else { return Vec::new() };
    let focus = std::mem::replace(&mut ui.focus, over);
    let asks = (0..WHEEL).flat_map(|_| ui.act(command)).collect();
    ui.focus = focus;
    asks
}

fn press(ui: &mut Ui, over: Option<&'static str>, at: Position) -> Vec<Ask> {
    let drawn = drawn(ui);
    if let Some(chord) = pointed_key(ui, &drawn, at) {
        return chord.iter().flat_map(|key| keys::key(ui, key)).collect();
    }
    if !ui.modals.is_empty() {
        if let Some(place) = dialog_at(&drawn, at) {
            walk(ui, at, place);
        }
        return Vec::new();
    }
    if at.y == 0 && !ui.is_home() {
        if let Some(tab) = pointed_tab(ui, &drawn, at) {
            ui.show_tab(tab);
        }
        return Vec::new();
    }
    let Some(over) = over else { return Vec::new() };
    ui.focus = over;
    let place = solve(ui.size, ui).of(over).unwrap_or_default();
    if over == stream::NAME {
        let row = at.y.saturating_sub(inside(place).y);
        ui.dragged = Some(row);
        if let Some(tab) = ui.tab_mut() {
            tab.stream.update(StreamMsg::Leave);
            tab.stream.update(StreamMsg::Point(row));
        }
    } else {
        walk(ui, at, place);
    }
    Vec::new()
}

/// Selects from the row where the button went down to the one that is pointed at; beyond the pane, further on.
fn drag(ui: &mut Ui, at: Position) {
    let Some(from) = ui.dragged else { return };
    let Some(place) = solve(ui.size, ui).of(stream::NAME).map(inside) else { return };
    let Some(tab) = ui.tab_mut() else { return };
    let row = at.y.clamp(place.top(), place.bottom().saturating_sub(1)).saturating_sub(place.top());
    tab.stream.update(StreamMsg::Drag(from, row));
    let beyond = i32::from(at.y >= place.bottom()) - i32::from(at.y < place.top());
    if beyond != 0 {
        tab.stream.update(StreamMsg::Lines(beyond));
    }
}

fn drawn(ui: &mut Ui) -> Buffer {
    let layout = ui.prepare();
    let mut buf = Buffer::empty(layout.screen);
    view::draw(ui, &layout, &ui.looks.theme.marked(Role::Key, MARK), &mut buf);
    buf
}

fn is_of(cell: &Cell, style: Style) -> bool {
    let drawn = cell.style();
    style.fg.is_none_or(|fg| drawn.fg == Some(fg))
        && style.bg.is_none_or(|bg| drawn.bg == Some(bg))
        && drawn.add_modifier.contains(style.add_modifier)
}

/// The keys whose words are pointed at, where they mean something now.
fn pointed_key(ui: &Ui, drawn: &Buffer, at: Position) -> Option<Vec<Input>> {
    // Keys behind a dialog are not the dialog's.
    let left = match dialog_at(drawn, at) {
        _ if ui.modals.is_empty() || at.y + 1 == drawn.area.bottom() => 0,
        place => place?.left(),
    };
    let cell = |x: u16| drawn.cell((x, at.y)).filter(|_| x >= left);
    let is_key = |x: u16| cell(x).is_some_and(|cell| cell.symbol() != " " && cell.modifier.contains(MARK));
    let mut x = at.x;
    let mut blanks = 0;
    while !is_key(x) {
        blanks = if cell(x).is_none_or(|cell| cell.symbol() == " ") { blanks + 1 } else { 0 };
        x = x.checked_sub(1).filter(|_| blanks < GAP)?;
    }
    let first = (0..=x).rev().take_while(|x| is_key(*x)).last()?;
    let text: String =
        (first..drawn.area.right()).take_while(|x| is_key(*x)).filter_map(cell).map(Cell::symbol).collect();
    let scopes = match ui.modals.last().map(Modal::scope) {
        Some(scope) => vec![scope],
        None if ui.selects() => vec![Scope::Visual, Scope::Global],
        None => vec![Scope::Replay, Scope::Zoomed, Scope::Pane(ui.focus), Scope::Global],
    };
    // Of two keys, the space between them is not drawn as one.
    let begins = |input: &Input| key_text(input) == text;
    let chords = scopes.iter().flat_map(|scope| crate::tui::command::table().filter(move |row| row.scope == *scope));
    let chord = chords
        .filter(|row| (row.enabled)(ui))
        .flat_map(|row| ui.keys.keys(row))
        .find(|chord| chord.0.len() == 1 && chord.0.first().is_some_and(begins))?;
    let found = scopes.iter().any(|scope| matches!(ui.keys.find(*scope, &chord.0), Some(Found::Row(_))));
    found.then_some(chord.0)
}

/// The tab whose words are pointed at.
fn pointed_tab(ui: &Ui, drawn: &Buffer, at: Position) -> Option<usize> {
    let line: Vec<&str> = (0..drawn.area.width).filter_map(|x| drawn.cell((x, 0))).map(Cell::symbol).collect();
    let begins = |tab: usize| {
        let id: String = ui.tabs[tab].id.as_str().chars().take(12).collect();
        let words: Vec<String> =
            if tab < 9 { format!("{} {id}", tab + 1) } else { id }.chars().map(String::from).collect();
        line.windows(words.len()).position(|cells| cells.iter().zip(&words).all(|(cell, word)| cell == word))
    };
    let starts = (0..ui.tabs.len()).filter_map(|tab| Some((begins(tab)?, tab)));
    starts.filter(|(start, _)| *start <= usize::from(at.x) + 1).max().map(|(_, tab)| tab)
}

/// The dialog that is pointed at: no other frame is heavy while one is open.
fn dialog_at(drawn: &Buffer, at: Position) -> Option<Rect> {
    let is_wall = |x: u16, y: u16| drawn.cell((x, y)).is_some_and(|cell| matches!(cell.symbol(), "┃" | "#"));
    let left = (0..at.x).rev().find(|x| is_wall(*x, at.y))?;
    let right = (at.x..drawn.area.right()).find(|x| is_wall(*x, at.y))?;
    let is_row = |y: &u16| is_wall(left, *y) && is_wall(right, *y);
    let top = (0..=at.y).rev().take_while(is_row).last()?;
    let bottom = (at.y..drawn.area.bottom()).take_while(is_row).last()?;
    Some(Rect::new(left, top, right - left + 1, bottom - top + 1))
}

/// Moves the cursor of a list to the row that is pointed at, as far as it comes: to the row before where there is no
/// stop.
fn walk(ui: &mut Ui, at: Position, place: Rect) {
    let is_open = !ui.modals.is_empty();
    let mut before = None;
    for _ in 0..place.height {
        // A dialog may change the theme on the way.
        let (drawn, style) = (drawn(ui), ui.looks.theme.style(Role::Selection));
        let is = |x: u16, y: u16| drawn.cell((x, y)).is_some_and(|cell| is_of(cell, style));
        // Behind a dialog nothing is chosen; in a pane a row is, from one side to the other.
        let across = if is_open { at.x..at.x + 1 } else { place.left() + 2..place.right().saturating_sub(2) };
        let chosen = |y: &u16| is(at.x, *y) && across.clone().all(|x| is(x, *y));
        let Some(y) = (place.top()..place.bottom()).find(chosen) else { return };
        let command = if y < at.y { Command::Down } else { Command::Up };
        if chosen(&at.y) || before.is_some_and(|(seen, moved)| seen == y || moved != command) {
            return;
        }
        before = Some((y, command));
        if is_open {
            dialogs::key(ui, Some(command), &Input::default());
        } else {
            ui.act(command);
        }
    }
}
