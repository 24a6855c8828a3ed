//! The first line over Home: where this is, what is shown of it, how many tickets stand how.

use super::rows::Group;
use crate::base::text::{clean_line, cut, cut_middle};
use crate::tui::home::{Shows, Sort};
use crate::tui::model::Model;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// What the first line begins with, where there is room.
const TITLE: &str = " programmator  ";
/// Columns of a path or a branch from which on it tells something.
const LEAST: usize = 10;

/// Draws the first line of the screen: where this is, how many tickets stand how, what was spent today, the time.
pub fn view(model: &Model, theme: &Theme, area: Rect, buf: &mut Buffer) {
    let place = Place::of(model);
    let others = [(Group::Running, "running"), (Group::Waiting, "waiting"), (Group::Ready, "ready")];
    let mut others: Vec<String> = others.into_iter().filter_map(|(group, noun)| count(model, group, noun)).collect();
    let room = |others: &[String]| {
        let right = right(model, others, area.width).right_width();
        usize::from(area.width).saturating_sub(right + 1)
    };
    // The headings tell the numbers, too.
    while room(&others) < place.least() && others.pop().is_some() {}
    let row = right(model, &others, area.width);
    place.words(room(&others)).into_iter().fold(row, |row, (role, words)| row.left(role, words)).draw(theme, area, buf);
}

fn count(model: &Model, group: Group, noun: &str) -> Option<String> {
    let many = model.home.counts[group as usize];
    let noun = if many == 1 && group == Group::NeedsYou && noun.len() > 1 { "needs you" } else { noun };
    (many > 0).then(|| format!("{many} {noun}"))
}

/// What stands at the right.
fn right(model: &Model, others: &[String], width: u16) -> Row {
    let mut row = Row::new();
    if let Some(host) = &model.host {
        row = row.right(Role::Warning, format!("on {}", cut(host, 16))).right(Role::Dim, "  ");
    }
    if let Some(needs) = count(model, Group::NeedsYou, if width < 100 { "!" } else { "need you" }) {
        row = row.right(Role::TabAttention, needs).right(Role::Dim, "  ");
    }
    if !others.is_empty() {
        row = row.right(Role::Dim, others.join(" · ") + "  ");
    }
    if let Some(spent) = model.spent_today().filter(|spent| *spent >= 0.005) {
        row = row.right(Role::Dim, format!("today ${spent:.2}  "));
    }
    if model.is_timed() {
        row = row.right(Role::Dim, format!("{} ", &model.now.clock_time(&model.zone)[..5]));
    }
    row
}

/// Where this is, and what is shown of it.
struct Place {
    role: Role,
    /// Around the path or the filter.
    around: (&'static str, &'static str),
    /// How to see all again.
    hint: &'static str,
    path: String,
    branch: String,
    /// By what it is sorted, and how many are selected.
    sort: String,
    marked: String,
}

impl Place {
    fn of(model: &Model) -> Self {
        let sort = match model.home.sort {
            Sort::Attention => String::new(),
            sort => format!(" · by {}", sort.word()),
        };
        let marked = match model.home.marked.len() {
            0 => String::new(),
            many => format!(" · {many} selected"),
        };
        let branch = model.branch.as_ref().filter(|branch| !model.home.everywhere && !branch.is_empty());
        let branch = branch.map_or_else(String::new, |branch| format!(" · {}", clean_line(branch, 200)));
        let (role, around, path, hint) = match (&model.home.filter[..], model.home.everywhere) {
            ("", _) if model.home.shows == Shows::Archive => {
                (Role::Warning, ("archived tickets", ""), String::new(), " (A shows the others)")
            }
            ("", false) => (Role::Dim, ("", ""), model.short_path(&model.folder), ""),
            ("", true) => (Role::Dim, ("all directories", ""), String::new(), ""),
            (filter, _) => (Role::Warning, ("only “", "”"), filter.to_owned(), " (Esc shows all)"),
        };
        Self { role, around, hint, path: clean_line(&path, 400), branch, sort, marked }
    }

    /// Columns of what is neither cut nor left out.
    fn fixed(&self) -> usize {
        // A blank before it, and one between it and what stands at the right.
        [self.around.0, self.around.1, &self.sort, &self.marked].map(UnicodeWidthStr::width).iter().sum::<usize>() + 2
    }

    fn least(&self) -> usize {
        self.fixed() + self.path.width().min(LEAST)
    }

    /// In so many columns: of a long path or branch the middle is left out.
    fn words(&self, room: usize) -> Vec<(Role, String)> {
        let mut room = room.saturating_sub(self.fixed());
        let all = self.path.width() + self.branch.width();
        let hint = if all + self.hint.width() <= room { self.hint } else { "" };
        room = room.saturating_sub(hint.width());
        let title = if all.min(40) + TITLE.width() - 1 <= room { TITLE } else { " " };
        room = room.saturating_sub(title.width() - 1);
        let branch = match room.saturating_sub(self.path.width()).max(room / 2) {
            _ if all <= room => self.branch.clone(),
            few if few < self.branch.width().min(LEAST) || room < 2 * LEAST => String::new(),
            room => cut_middle(&self.branch, room),
        };
        let path = cut_middle(&self.path, room.saturating_sub(branch.width()));
        let (before, after) = self.around;
        vec![
            (Role::Title, title.to_owned()),
            (self.role, format!("{before}{path}{after}{hint}")),
            (Role::Dim, branch + &self.sort),
            (Role::Accent, self.marked.clone()),
        ]
    }
}
