//! A row of the pane, before and after what is known later (results, line numbers) is written into it.

use super::kept::Became;
use super::verdict::{BAR, Part};
use crate::base::text::cut;
use crate::domain::stream::show::ToolResult;
use crate::tui::theme::role::Role;
use crate::tui::widgets::wrap::{Piece, width};
use unicode_width::UnicodeWidthStr;

/// Which piece of a call's line says what it is about, after the mark, the name and blanks.
pub(super) const TARGET: usize = 3;

/// What stands before the rows of a subagent.
pub(super) const BRANCH: &str = "│ ";

/// Fewest columns that a result leaves to the rest of its row.
const LEAST: usize = 24;

/// One row. How many rows an entry takes never depends on what comes after it; what comes later is written into its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) left: Vec<Piece>,
    pub(super) right: Vec<Piece>,
    /// What will be written into it.
    pub(super) later: Later,
    /// How deep in subagents.
    pub(super) depth: usize,
}

/// What a row learns from records that come after its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Later {
    /// Nothing.
    #[default]
    Nothing,
    /// The line of a call: its result.
    Call { id: String },
    /// A row of an iteration's card: how it was judged.
    Verdict(Part),
    /// A line of a diff: its number in the file.
    Number {
        id: String,
        /// Lines from the first changed one.
        place: i64,
    },
}

/// How a call came back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Outcome {
    #[default]
    Fine,
    /// With an error.
    Failed,
    /// It was not let run.
    Refused,
}

/// What is known about a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// In a few words; empty while it runs.
    pub(super) summary: String,
    pub(super) outcome: Outcome,
    pub(super) waits: bool,
    /// Its question outlived Claude's process.
    pub(super) kept: Option<Became>,
    /// What it is about since the person has changed it.
    pub(super) edited: Option<String>,
    pub(super) ended: bool,
    /// Number of the first changed line.
    pub(super) first_change: Option<u32>,
}

impl From<&ToolResult> for Known {
    fn from(result: &ToolResult) -> Self {
        Self {
            summary: crate::base::text::clean_line(&result.summary, 48),
            outcome: if result.error { Outcome::Failed } else { Outcome::Fine },
            waits: false,
            kept: None,
            edited: None,
            ended: true,
            first_change: result.first_change,
        }
    }
}

impl Row {
    pub(super) fn of(text: impl Into<String>, role: Role) -> Self {
        Self::from(vec![Piece::new(text, role)])
    }

    /// Writes what is known into the row.
    pub(super) fn tell(&mut self, known: &Known) {
        match &self.later {
            Later::Nothing | Later::Verdict(_) => {}
            Later::Call { .. } => {
                if let (Some(edited), Some(target)) = (&known.edited, self.left.get_mut(TARGET)) {
                    target.text.clone_from(edited);
                }
                if let Some(became) = known.kept {
                    let role = if became == Became::Waits { Role::TabAttention } else { Role::Warning };
                    self.right = vec![Piece::new(became.words(), role)];
                    return;
                }
                if known.waits && !known.ended {
                    self.right = vec![Piece::new("! needs you", Role::TabAttention)];
                    return;
                }
                let role = match known.outcome {
                    Outcome::Refused => Role::Warning,
                    Outcome::Failed => Role::StreamError,
                    Outcome::Fine => Role::StreamResult,
                };
                if let (true, Some(mark)) = (known.outcome == Outcome::Failed, self.left.first_mut()) {
                    mark.role = Role::StreamError;
                }
                let edited = if known.edited.is_some() { "edited by you" } else { "" };
                let running = if known.ended { "" } else { "▶" };
                let words = [edited, known.summary.as_str()].into_iter().filter(|words| !words.is_empty());
                let text = format!("{} {running}", words.collect::<Vec<_>>().join(" · ")).trim().to_owned();
                self.right = vec![Piece::new(text, role)];
            }
            Later::Number { place, .. } => {
                let number = known.first_change.map(|first| i64::from(first) + place);
                // The gutter is the second piece of a diff's row.
                if let (Some(number), Some(gutter)) = (number.filter(|n| *n > 0), self.left.get_mut(1)) {
                    gutter.text = format!("{number:>4}");
                }
            }
        }
    }

    /// All that it says, in no width and without the lines that are drawn around it.
    pub(super) fn text(&self) -> String {
        let words = |piece: &Piece| match piece.role {
            _ if piece.text == BAR => String::new(),
            Role::StreamDivider => piece.text.trim_matches(['─', ' ']).to_owned() + " ",
            _ => piece.text.clone(),
        };
        let join = |pieces: &[Piece]| pieces.iter().map(words).collect::<String>();
        format!("{}  {}", join(&self.left), join(&self.right)).trim_end().to_owned()
    }

    /// The row in exactly `columns`: the left part cut with `…` where the right part needs the room.
    pub(super) fn fit(&self, columns: usize) -> Vec<Piece> {
        let right = width(&self.right);
        let keep_right = right > 0 && columns >= right + LEAST.min(columns / 3) + 2;
        let room = if keep_right { columns - right - 2 } else { columns };
        let mut out = Vec::new();
        let mut used = 0;
        let branches = vec![Piece::new(BRANCH, Role::Dim); self.depth];
        for piece in branches.iter().chain(&self.left) {
            let text = cut(&piece.text, room - used);
            used += text.width();
            let shortened = text.len() != piece.text.len();
            out.push(Piece { text, ..piece.clone() });
            if shortened || used >= room {
                break;
            }
        }
        if keep_right {
            out.push(Piece::new(" ".repeat(columns - right - used), Role::StreamText));
            out.extend(self.right.iter().cloned());
        }
        out
    }
}

impl From<Vec<Piece>> for Row {
    fn from(left: Vec<Piece>) -> Self {
        Self { left, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[Piece]) -> String {
        pieces.iter().map(|p| p.text.as_str()).collect()
    }

    #[test]
    fn the_left_gives_way_to_the_right() {
        let mut row = Row::of("● Read   a/very/long/path/that/needs/room.rs", Role::StreamTool);
        row.right = vec![Piece::new("214 lines", Role::StreamResult)];
        assert_eq!(text(&row.fit(40)), "● Read   a/very/long/path/th…  214 lines");
        assert_eq!(text(&row.fit(12)), "● Read   a/…");
        assert_eq!(text(&Row::of("日本語", Role::Text).fit(5)), "日本…");
        assert_eq!(text(&Row::of("x", Role::Text).fit(0)), "");
    }

    #[test]
    fn a_call_that_waits_for_the_person_does_not_run() {
        let mut row = Row { later: Later::Call { id: "t".into() }, ..Row::default() };
        row.tell(&Known { waits: true, ..Known::default() });
        assert_eq!(text(&row.right), "! needs you");
        row.tell(&Known::default());
        assert_eq!(text(&row.right), "▶");
        row.tell(&Known { waits: true, ended: true, summary: "3 lines".into(), ..Known::default() });
        assert_eq!(text(&row.right), "3 lines");
    }

    #[test]
    fn a_call_whose_question_outlived_its_process_says_what_became_of_it() {
        let mut row = Row { later: Later::Call { id: "t".into() }, ..Row::default() };
        let cut_off = Known { outcome: Outcome::Failed, summary: "rejected".into(), ended: true, ..Known::default() };
        for (became, words) in [
            (Became::Waits, "! waits for your answer"),
            (Became::Allowed, "allowed; Claude repeats the call"),
            (Became::Denied, "denied by you"),
            (Became::Withdrawn, "question withdrawn"),
        ] {
            row.tell(&Known { kept: Some(became), ..cut_off.clone() });
            assert_eq!(text(&row.right), words);
        }
    }

    #[test]
    fn a_call_that_the_person_has_changed_is_shown_as_it_ran() {
        let left = ["● ", "Bash", "   ", "git fetch origin main"].map(|part| Piece::new(part, Role::StreamTool));
        let mut row = Row { left: left.to_vec(), later: Later::Call { id: "t".into() }, ..Row::default() };
        let edited = Some("git status".to_owned());
        row.tell(&Known { edited: edited.clone(), ..Known::default() });
        assert_eq!((text(&row.left).as_str(), text(&row.right).as_str()), ("● Bash   git status", "edited by you ▶"));
        row.tell(&Known { edited, ended: true, summary: "exit 0".into(), ..Known::default() });
        assert_eq!(text(&row.right), "edited by you · exit 0");
    }

    #[test]
    fn what_comes_later_changes_no_row_but_its_words() {
        let mut row = Row {
            left: vec![Piece::new("   + ", Role::DiffAdd), Piece::new("    ", Role::Dim)],
            later: Later::Number { id: "t".into(), place: 2 },
            ..Row::default()
        };
        row.tell(&Known { first_change: Some(40), ..Known::default() });
        assert_eq!(text(&row.left), "   +   42");
    }
}
