//! The table of tickets: its lines, its columns, and how a row is drawn. Made once a frame; only what is seen is put into
//! words.

use super::filter::entries;
use super::rows::{Entry, Group, entry};
use crate::base::text::{clean_line, cut, cut_words};
use crate::base::time::{age, short};
use crate::domain::phase::Mark;
use crate::domain::ticket::TicketKey;
use crate::tui::home::{Ages, Shows};
use crate::tui::model::Model;
use crate::tui::tab::TabStatus;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::{Row, highlight};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Columns of the mark, the widest id, the most marks of phases, the widest directory, and at most of cost and age.
const MARK: usize = 3;
const ID: usize = 16;
const MARKS: usize = 10;
const PLACE: usize = 18;
const COST: usize = 8;
const AGE: usize = 8;
/// Columns that the words of what goes on have, where the title leaves them.
const WORDS: usize = 30;

/// A line of the table: headings and rows, and air between groups where there is room for it.
pub enum Line {
    Gap,
    Heading(Group, usize),
    /// What cannot be read, and how many that are.
    Unread(usize),
    UnreadFile(String),
    Ticket(TicketKey),
}

impl Line {
    pub fn ticket(&self) -> Option<&TicketKey> {
        match self {
            Self::Ticket(id) => Some(id),
            Self::Gap | Self::Heading(..) | Self::Unread(_) | Self::UnreadFile(_) => None,
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
    let unread = &model.home.unread;
    if !unread.is_empty() && model.home.filter.is_empty() && model.home.shows == Shows::Table {
        out.extend(airy.then_some(Line::Gap));
        out.push(Line::Unread(unread.len()));
        out.extend(unread.keys().cloned().map(Line::UnreadFile));
    }
    out
}

/// Whether some of these rows say how old something is.
pub fn ages<'a>(model: &Model, seen: impl Iterator<Item = &'a Line>) -> Ages {
    let has = |id: &TicketKey| {
        let entry = entry(model, id);
        entry.group != Group::Ready && entry.since().is_some()
    };
    if seen.filter_map(Line::ticket).any(has) { Ages::Told } else { Ages::None }
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
    let seen: Vec<(&Line, Option<Told<'_>>)> =
        seen.map(|line| (line, line.ticket().map(|id| Told::of(model, id)))).collect();
    let columns = Columns::of(model, seen.iter().filter_map(|(_, told)| told.as_ref()), area.width.into());
    for (place, (line, told)) in area.rows().zip(&seen) {
        match (line, told) {
            (Line::Unread(count), _) => {
                Row::new().left(Role::Dim, format!(" UNREADABLE  {count}")).draw(theme, place, buf);
            }
            (Line::UnreadFile(file), _) => unread(model, file).draw(theme, place, buf),
            (Line::Heading(group, count), _) => heading(*group, *count).draw(theme, place, buf),
            (_, Some(told)) => {
                let selected = Some(told.entry.id) == model.home.cursor.as_ref();
                ticket(model, told, &columns, selected).draw(theme, place, buf);
                if selected {
                    highlight(theme.style(Role::Selection), place, buf);
                }
            }
            (_, None) => {}
        }
    }
}

fn unread(model: &Model, file: &str) -> Row {
    let name = file.rsplit('/').next().unwrap_or_default();
    let why = model.home.unread.get(file).map(String::as_str).unwrap_or_default();
    let why = why.strip_prefix(file).unwrap_or(why).trim_start_matches([':', ' ']);
    let mark = format!(" {} ", model.glyphs.pick("✗", "x"));
    Row::new()
        .left(Role::Danger, mark)
        .left(Role::Text, format!("{}  ", clean_line(name, 60)))
        .left(Role::Dim, clean_line(why, 300))
}

fn heading(group: Group, count: usize) -> Row {
    let role = if group == Group::NeedsYou { Role::TabAttention } else { Role::Dim };
    Row::new().left(role, format!(" {}", group.words().to_uppercase())).left(Role::Dim, format!("  {count}"))
}

/// A ticket, and what its row says in words and numbers.
struct Told<'a> {
    entry: Entry<'a>,
    words: String,
    cost: String,
    age: String,
}

impl<'a> Told<'a> {
    fn of(model: &'a Model, id: &'a TicketKey) -> Self {
        let entry = entry(model, id);
        // What is at work is drawn each second; the others at most once a minute.
        let told = |since| if entry.group == Group::Running { short(since) } else { age(since) };
        let aged = entry.since().filter(|_| entry.group != Group::Ready);
        Self {
            words: clean_line(&entry.words(model), 400),
            cost: entry.cost().filter(|cost| *cost > 0.0).map_or_else(String::new, |cost| format!("${cost:.2}")),
            age: aged.map_or_else(String::new, |since| told(model.now.since(since))),
            entry,
        }
    }

    /// Columns that the words want beside the title, and those that they take from the numbers where it has none.
    fn wanted(&self, numbers: usize) -> usize {
        // What goes on changes with each call: the columns stay where they are.
        if self.entry.group == Group::Running {
            return WORDS;
        }
        let lines = lines_words(&self.entry).map_or(0, |(added, removed)| 2 + added.width() + removed.width());
        let free = if self.cost.is_empty() && self.age.is_empty() { numbers } else { 0 };
        (self.words.width() + lines).saturating_sub(free)
    }
}

/// How wide the columns are: those that must be as wide as what they hold, and what is left for title and words.
struct Columns {
    id: usize,
    /// With the tags behind it.
    title: usize,
    marks: usize,
    /// The directory, where those of all are shown.
    place: usize,
    words: usize,
    cost: usize,
    age: usize,
}

impl Columns {
    fn of<'a>(model: &Model, rows: impl Iterator<Item = &'a Told<'a>> + Clone, width: usize) -> Self {
        let (mut id, mut marks, mut title, mut place, mut cost, mut age) = (4, 0, 8, 0, 0, 0);
        for Told { entry, cost: spent, age: since, .. } in rows.clone() {
            title = title.max(entry.title().width() + entry.tags().map(|tag| tag.width() + 3).sum::<usize>());
            id = id.max(entry.name().width());
            marks = marks.max(entry.marks().len());
            cost = cost.max(spent.len() + 2);
            // Between two rounds of a clock nothing moves.
            let least = if entry.group == Group::Running { 6 } else { 0 };
            age = age.max((since.len() + 2).max(least));
            if model.home.everywhere {
                place = place.max(folder_name(model, entry).width() + 2);
            }
        }
        let (id, marks, place) = (id.min(ID), marks.min(MARKS), place.min(PLACE));
        let (cost, age) = (if cost > 2 { cost.min(COST) } else { 0 }, if age > 2 { age.min(AGE) } else { 0 });
        let rest = width.saturating_sub(MARK + id + 2 + 2 + marks + 2 + place + cost + age + 1);
        // Words and title share what there is; where it is too little for both, the title has the larger part.
        let words = rows.map(|told| told.wanted(cost + age)).max().unwrap_or(0);
        let title = title.min((rest * 3 / 5).max(rest.saturating_sub(words)));
        Self { id, title, marks, place, words: rest.saturating_sub(title), cost, age }
    }
}

/// One row: mark, id, title, phases, what it does, cost and age.
fn ticket(model: &Model, told: &Told<'_>, columns: &Columns, selected: bool) -> Row {
    let entry = &told.entry;
    let sign = entry.sign(model);
    // A block of colour would be lost on that of the selection.
    let mark = if selected && sign.role == Role::TabAttention { Role::Warning } else { sign.role };
    let text = if entry.group == Group::Done { Role::Dim } else { Role::Text };
    let words = match entry.standing {
        TabStatus::NeedsYou | TabStatus::Halted | TabStatus::Unverified => Role::Warning,
        _ => Role::Dim,
    };
    let is_marked = model.home.marked.contains(entry.id);
    let row = Row::new()
        .left(Role::Accent, if is_marked { model.glyphs.pick("●", "*") } else { " " })
        .left(mark, sign.glyph)
        .left(text, format!(" {}  ", cell(entry.name(), columns.id)));
    let row = titled(entry, columns.title, text, row);
    let [cost, age] = [columns.cost, columns.age];
    // What has neither leaves the room to the words.
    let numbers = match (told.cost.is_empty(), told.age.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("{:>age$}", told.age),
        (false, _) => format!("{:>cost$}{:>age$}", told.cost, told.age),
    };
    let room = columns.words + (cost + age).saturating_sub(numbers.len());
    let row = phases(model, (&entry.marks(), &entry.taken_back()), columns.marks, row);
    let place = if columns.place > 0 {
        format!(" {} ", cell(folder_name(model, entry), columns.place - 2))
    } else {
        String::new()
    };
    said(entry, &told.words, (words, room), row.left(Role::Dim, place)).left(Role::Dim, numbers)
}

/// The words, and where they leave the room for it the lines that came and went, in exactly so many columns.
fn said(entry: &Entry<'_>, words: &str, (role, room): (Role, usize), row: Row) -> Row {
    let row = row.left(role, " ");
    let Some((added, removed)) = lines_words(entry) else { return row.left(role, prose(words, room)) };
    let columns = added.width() + removed.width();
    if words.width() + 2 + columns > room {
        return row.left(role, prose(words, room));
    }
    row.left(role, prose(words, room - columns)).left(Role::DiffAdd, added).left(Role::DiffDel, removed)
}

/// The lines that came and went.
fn lines_words(entry: &Entry<'_>) -> Option<(String, String)> {
    entry.lines().map(|(added, removed)| (format!("+{added}"), format!(" −{removed}")))
}

/// The title, its tags behind it where there is room, in exactly so many columns.
fn titled(entry: &Entry<'_>, columns: usize, role: Role, row: Row) -> Row {
    let title = cut_words(&clean_line(entry.title(), 400), columns);
    let room = columns - title.width();
    let tags: Vec<String> = entry.tags().map(|tag| format!("#{tag}")).collect();
    let tags = if room > 3 { format!("  {}", cell(&tags.join(" "), room - 2)) } else { " ".repeat(room) };
    row.left(role, title).left(Role::Dim, tags + "  ")
}

/// The last part of its directory's path.
fn folder_name<'a>(model: &'a Model, entry: &Entry<'a>) -> &'a str {
    entry.directory(model).rsplit('/').next().unwrap_or_default()
}

/// The words in exactly so many columns.
fn prose(text: &str, columns: usize) -> String {
    cell(&cut_words(text, columns), columns)
}

/// The text in exactly so many columns.
fn cell(text: &str, columns: usize) -> String {
    let text = cut(&clean_line(text, 400), columns);
    let blanks = " ".repeat(columns - text.width());
    text + &blanks
}

/// The phases as small marks, padded; of many the first and how many follow.
fn phases(model: &Model, (marks, back): (&[Mark], &[usize]), columns: usize, mut row: Row) -> Row {
    let shown = if marks.len() > columns { columns.saturating_sub(3) } else { marks.len() };
    for (at, mark) in marks[..shown].iter().enumerate() {
        let sign = if back.contains(&at) { model.glyphs.taken_back() } else { model.glyphs.phase(*mark) };
        row = row.left(sign.role, sign.glyph);
    }
    let more = if shown < marks.len() { format!("+{}", marks.len() - shown) } else { String::new() };
    let blanks = columns.saturating_sub(shown + more.len());
    row.left(Role::Dim, more).left(Role::Dim, " ".repeat(blanks) + " ")
}
