//! What the commit dialog lists: what goes in, changed hooks and settings, what stays out.

use crate::base::text::clean_line;
use crate::domain::changes::{ChangedFile, Lines};
use crate::domain::commit::{CommitPlan, LeftOut, Program};
use crate::tui::model::Model;
use crate::tui::panes::changes::{counted, line};
use crate::tui::theme::role::Role;
use crate::tui::widgets::row::Row;
use std::collections::BTreeSet;

/// The heading of what git runs or reads.
pub(super) const PROGRAMS: &str = "Changed hooks and settings";

/// What the cursor can stand on.
pub(super) enum Item<'a> {
    File(&'a ChangedFile),
    Program(&'a Program),
    /// A line of what a program says.
    Text(&'a str),
    LeftOut(&'a LeftOut),
}

/// A plan, and what the person has done with it.
pub(super) struct List<'a> {
    pub(super) plan: &'a CommitPlan,
    pub(super) taken_out: &'a BTreeSet<String>,
    pub(super) unfolded: &'a BTreeSet<String>,
}

impl<'a> List<'a> {
    pub(super) fn items(&self) -> Vec<Item<'a>> {
        let plan = self.plan;
        let mut items: Vec<Item<'a>> = plan.files.iter().map(Item::File).collect();
        for program in &plan.programs {
            items.push(Item::Program(program));
            if self.unfolded.contains(&program.name) {
                items.extend(program.text.lines().map(Item::Text));
            }
        }
        items.extend(plan.left_out.iter().map(Item::LeftOut));
        items
    }

    /// Files that go in.
    pub(super) fn chosen(&self) -> usize {
        self.plan.files.iter().filter(|file| !self.taken_out.contains(&file.path)).count()
    }

    /// The list with its headings, the first as `head` draws it, and the row of the item under the cursor, `at`.
    pub(super) fn rows(
        &self,
        at: usize,
        head: impl Fn(Row, &str) -> Row,
        model: &Model,
        width: usize,
    ) -> (Vec<Row>, usize) {
        let (mut out, mut cursor) = (vec![self.sum(head)], 0);
        let heading = |words: &str, out: &mut Vec<Row>| {
            out.extend([Row::new(), Row::new().left(Role::Warning, format!("  {words}"))]);
        };
        let (mut programs, mut left_out) = (false, false);
        for (nth, item) in self.items().iter().enumerate() {
            match item {
                Item::Program(_) if !std::mem::replace(&mut programs, true) => {
                    heading(PROGRAMS, &mut out);
                }
                Item::LeftOut(_) if !std::mem::replace(&mut left_out, true) => heading("Excluded", &mut out),
                _ => {}
            }
            if nth == at {
                cursor = out.len();
            }
            out.push(self.row(item, model, width));
        }
        (out, cursor)
    }

    /// What goes in, counted.
    fn sum(&self, head: impl Fn(Row, &str) -> Row) -> Row {
        let plan = self.plan;
        let out = plan.files.iter().filter(|file| self.taken_out.contains(&file.path));
        let (mut added, mut removed) = (plan.added, plan.removed);
        for file in out {
            if let Lines::Counted { added: more, removed: less } = file.lines {
                (added, removed) = (added.saturating_sub(more), removed.saturating_sub(less));
            }
        }
        let files = match (plan.files.len(), self.chosen()) {
            (0, _) if plan.left_out.is_empty() => {
                "Nothing to commit: no file changed by the runs differs from the last commit".to_owned()
            }
            (0, _) => "Nothing to commit: all changes of the runs are excluded".to_owned(),
            (1, 1) => "1 file".to_owned(),
            (all, some) if some < all => format!("{some} of {all} files included"),
            (all, _) => format!("{all} files"),
        };
        head(counted(Row::new(), added, removed), &files)
    }

    fn row(&self, item: &Item<'_>, model: &Model, width: usize) -> Row {
        match item {
            Item::File(file) if self.taken_out.contains(&file.path) => Row::new()
                .left(Role::Dim, format!("  {} {}", model.glyphs.pick("○", "-"), clean_line(&file.path, 1_000)))
                .left(Role::Dim, "    excluded by you"),
            Item::File(file) => line(Row::new().left(Role::Text, "  "), file, width),
            Item::Program(program) => {
                let mark = if self.unfolded.contains(&program.name) { "▾ " } else { "▸ " };
                let mark = model.glyphs.pick(mark, "> ");
                Row::new().left(Role::Warning, format!("  {mark}{}", clean_line(&program.name, 400)))
            }
            Item::Text(text) => Row::new().left(Role::Dim, format!("    │ {}", clean_line(text, 400))),
            Item::LeftOut(file) => Row::new()
                .left(Role::Text, format!("  {}", clean_line(&file.path, 1_000)))
                .left(Role::Dim, format!("  {}", file.why.words())),
        }
    }
}
