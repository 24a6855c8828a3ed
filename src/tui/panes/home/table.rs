//! The table of tickets: its lines, its columns, and how a row is drawn. Made once a frame; only what is seen is put into
//! words.

use super::rows::{Entry, Group, entries, entry};
use crate::base::id::TicketId;
use crate::base::text::{clean_line, cut};
use crate::base::time::short;
use crate::domain::phase::Mark;
use crate::tui::model::Model;
use crate::tui::tab::TabStatus;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, highlight};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Columns of the mark, the widest id, the most marks of phases, cost and age.
const MARK: usize = 3;
const ID: usize = 16;
const MARKS: usize = 10;
const COST: usize = 8;
const AGE: usize = 8;

/// A line of the table: headings and rows, and air between groups where there is room for it.
pub enum Line {
    Gap,
    Heading(Group, usize),
    Ticket(TicketId),
}

impl Line {
    pub fn ticket(&self) -> Option<&TicketId> {
        match self {
            Self::Ticket(id) => Some(id),
            Self::Gap | Self::Heading(..) => None,
        }
    }
}

/// All lines, for a place of this height.
pub fn lines(model: &Model, height: usize) -> Vec<Line> {
    let entries = entries(model);
    let groups: Vec<&[Entry<'_>]> = entries.chunk_by(|one, next| one.group == next.group).collect();
    let airy = entries.len() + 2 * groups.len() <= height;
    let mut out = Vec::with_capacity(entries.len() + 2 * groups.len());
    for group in groups {
        out.extend(airy.then_some(Line::Gap));
        out.push(Line::Heading(group[0].group, group.len()));
        out.extend(group.iter().map(|entry| Line::Ticket(entry.id.clone())));
    }
    out
}

/// How many tickets each group has.
pub fn counts(lines: &[Line]) -> [usize; 5] {
    let mut counts = [0; 5];
    for line in lines {
        if let Line::Heading(group, count) = line {
            counts[*group as usize] = *count;
        }
    }
    counts
}

/// Draws the lines that are seen.
pub fn view<'a>(model: &'a Model, seen: impl Iterator<Item = &'a Line>, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let seen: Vec<(&Line, Option<Entry<'_>>)> =
        seen.map(|line| (line, line.ticket().map(|id| entry(model, id)))).collect();
    let columns = Columns::of(seen.iter().filter_map(|(_, entry)| entry.as_ref()), area.width.into());
    for (place, (line, entry)) in area.rows().zip(&seen) {
        match (line, entry) {
            (Line::Heading(group, count), _) => heading(*group, *count).draw(theme, place, buf),
            (_, Some(entry)) => {
                let selected = Some(entry.id) == model.home.cursor.as_ref();
                ticket(model, entry, &columns, selected).draw(theme, place, buf);
                if selected {
                    highlight(theme.style(Role::Selection), place, buf);
                }
            }
            (_, None) => {}
        }
    }
}

fn heading(group: Group, count: usize) -> Row {
    let role = if group == Group::NeedsYou { Role::TabAttention } else { Role::Dim };
    Row::new().left(role, format!(" {}", group.words().to_uppercase())).left(Role::Dim, format!("  {count}"))
}

/// How wide the columns are: those that must be as wide as what they hold, and what is left for title and words.
struct Columns {
    id: usize,
    title: usize,
    marks: usize,
    words: usize,
}

impl Columns {
    fn of<'a>(entries: impl Iterator<Item = &'a Entry<'a>>, width: usize) -> Self {
        let (mut id, mut marks, mut title) = (4, 0, 8);
        for entry in entries {
            title = title.max(entry.title().width());
            id = id.max(entry.id.as_str().width());
            marks = marks.max(entry.marks().len());
        }
        let (id, marks) = (id.min(ID), marks.min(MARKS));
        let rest = width.saturating_sub(MARK + id + 2 + 2 + marks + 2 + COST + AGE + 1);
        let title = title.min(rest * 3 / 5).min(60);
        Self { id, title, marks, words: rest.saturating_sub(title) }
    }
}

/// One row: mark, id, title, phases, what it does, cost and age.
fn ticket(model: &Model, entry: &Entry<'_>, columns: &Columns, selected: bool) -> Row {
    let sign = entry.sign(model);
    // A block of colour would be lost on that of the selection.
    let mark = if selected && sign.role == Role::TabAttention { Role::Warning } else { sign.role };
    let text = if entry.group == Group::Done { Role::Dim } else { Role::Text };
    let words = match entry.standing {
        TabStatus::NeedsYou | TabStatus::Halted | TabStatus::Unverified => Role::Warning,
        _ => Role::Dim,
    };
    let row = Row::new()
        .left(mark, format!(" {} ", sign.glyph))
        .left(text, cell(entry.id.as_str(), columns.id) + "  ")
        .left(text, cell(entry.title(), columns.title) + "  ");
    let cost = entry.cost().filter(|cost| *cost > 0.0).map_or_else(String::new, |cost| format!("${cost:.2}"));
    let age = entry.since().filter(|_| entry.group != Group::Ready);
    let age = age.map_or_else(String::new, |since| short(model.now.since(since)));
    phases(model, &entry.marks(), columns.marks, row)
        .left(words, format!(" {}", cell(&entry.words(model), columns.words)))
        .left(Role::Dim, format!("{cost:>COST$}{age:>AGE$}"))
}

/// The text in exactly so many columns.
fn cell(text: &str, columns: usize) -> String {
    let text = cut(&clean_line(text, 400), columns);
    let blanks = " ".repeat(columns - text.width());
    text + &blanks
}

/// The phases as small marks, padded; of many the first and how many follow.
fn phases(model: &Model, marks: &[Mark], columns: usize, mut row: Row) -> Row {
    let shown = if marks.len() > columns { columns.saturating_sub(3) } else { marks.len() };
    for mark in &marks[..shown] {
        let sign = model.glyphs.phase(*mark);
        row = row.left(sign.role, sign.glyph);
    }
    let more = if shown < marks.len() { format!("+{}", marks.len() - shown) } else { String::new() };
    let blanks = columns.saturating_sub(shown + more.len());
    row.left(Role::Dim, more).left(Role::Dim, " ".repeat(blanks) + " ")
}
