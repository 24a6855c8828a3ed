//! The Stream pane among the others: its keys, its border, and what is said in it when it is not Claude who speaks.

use super::{Fold, FollowStatus, NAME, SearchStatus, StreamMsg, StreamState, view, view_cursor, view_edge};
use crate::base::text::clean_line;
use crate::tui::command::{Command, Row, Scope, c, press, rows};
use crate::tui::modals::prompt::Prompt;
use crate::tui::model::Model;
use crate::tui::msg::{Ask, Key};
use crate::tui::pane::{Entry, Pane};
use crate::tui::panes::notice;
use crate::tui::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// The row of the table.
pub const PANE: Entry = Entry { name: NAME, keys: KEYS, new: || Box::new(Stream) };

const KEYS: &[Row] = rows! {
    Prompt "stream.search" Scope::Pane(NAME), "stream", [c('/')], Shown, Model::shows_run, |_| "search",
        "in Stream: search";
    Own("next") "stream.next" Scope::Pane(NAME), "stream", [c('n')], Shown, is_searching, |_| "next match",
        "in Stream: next match";
    Own("previous") "stream.previous" Scope::Pane(NAME), "stream", [c('N')], HelpOnly, is_searching, |_| "previous match",
        "in Stream: previous match";
    Own("clear") "stream.clear" Scope::Pane(NAME), "stream", [press(Key::Esc)], Shown, is_searching, |_| "clear",
        "in Stream: end the search";
    Own("fold") "stream.fold" Scope::Pane(NAME), "stream", [press(Key::Enter)], Shown, Model::shows_run, fold_word,
        "in Stream: unfold the selected card, or fold it again";
    Own("details") "stream.details" Scope::Pane(NAME), "stream", [c('Z')], HelpOnly, Model::shows_run, details_word,
        "in Stream: unfold everything, or fold it again";
    Own("card_up") "stream.card_up" Scope::Pane(NAME), "stream", [c('K')], HelpOnly, Model::shows_run, |_| "card up",
        "in Stream: select the card above";
    Own("card_down") "stream.card_down" Scope::Pane(NAME), "stream", [c('J')], HelpOnly, Model::shows_run, |_| "card down",
        "in Stream: select the card below";
};

fn is_searching(model: &Model) -> bool {
    model.tab().is_some_and(|tab| tab.stream.search().is_some())
}

fn fold_word(model: &Model) -> &'static str {
    if model.tab().is_some_and(|tab| tab.stream.is_unfolded()) { "fold" } else { "unfold" }
}

fn details_word(model: &Model) -> &'static str {
    match model.tab().map(|tab| tab.stream.fold()) {
        Some(Fold::Full) => "fold all",
        _ => "unfold all",
    }
}

/// The pane; its state is each tab's.
pub struct Stream;

impl Pane for Stream {
    fn act(&mut self, model: &mut Model, command: Command, _: usize) -> Vec<Ask> {
        let msg = match command {
            Command::Down => StreamMsg::Lines(1),
            Command::Up => StreamMsg::Lines(-1),
            Command::PageDown => StreamMsg::Page(1),
            Command::PageUp => StreamMsg::Page(-1),
            Command::Top => StreamMsg::Top,
            Command::End => StreamMsg::End,
            Command::Own("next") => StreamMsg::NextHit,
            Command::Own("previous") => StreamMsg::PrevHit,
            Command::Own("clear") => StreamMsg::ClearSearch,
            Command::Own("fold") if model.tab().is_some_and(|tab| !tab.stream.folds()) => {
                model.tell("nothing is folded here; K and J select another card");
                return Vec::new();
            }
            Command::Own("fold") => StreamMsg::Toggle,
            Command::Own("details") => StreamMsg::ToggleFold,
            Command::Own("card_up") => StreamMsg::Card(-1),
            Command::Own("card_down") => StreamMsg::Card(1),
            _ => return Vec::new(),
        };
        if let Some(tab) = model.tab_mut() {
            tab.stream.update(msg);
        }
        Vec::new()
    }

    fn prompt(&self, _: &Model) -> Option<Prompt> {
        Some(Prompt { label: "search: ", text: String::new() })
    }

    fn typed(&mut self, model: &mut Model, text: &str) {
        if let Some(tab) = model.tab_mut() {
            tab.stream.update(StreamMsg::Search(text.to_owned()));
        }
    }

    /// Lets the stream load and wrap what will be seen.
    fn prepare(&mut self, model: &mut Model, inside: Rect) {
        let inside = notice::place(model, inside).stream;
        if let Some(tab) = model.tab_mut() {
            tab.stream.prepare(inside.width, inside.height);
        }
    }

    fn border(&self, model: &Model, width: u16) -> (String, String) {
        let Some(tab) = model.tab() else { return (String::new(), String::new()) };
        let status = match tab.stream.status() {
            _ if tab.run.is_none() => String::new(),
            _ if tab.stream.search().is_some() => searching(&tab.stream),
            FollowStatus::Following if tab.is_active() => "following".into(),
            FollowStatus::Following => String::new(),
            FollowStatus::Held => "not following".into(),
            FollowStatus::Behind { new_lines: 0 } => format!("more {}", model.glyphs.pick("↓", "v")),
            FollowStatus::Behind { new_lines } => format!("{new_lines} new {}", model.glyphs.pick("↓", "v")),
        };
        (format!(" · {}", clean_line(&format!("{} {}", tab.id, tab.title()), width.into())), status)
    }

    fn view(&self, model: &Model, focused: bool, theme: &Theme, inside: Rect, buf: &mut Buffer) {
        if notice::view_empty(model, theme, inside, buf) {
            return;
        }
        let places = notice::place(model, inside);
        if let Some(tab) = model.tab() {
            view(&tab.stream, theme, places.stream, buf);
            if focused {
                view_cursor(&tab.stream, theme, places.stream, buf);
            }
            view_edge(&tab.stream, model.glyphs, theme, places.stream, buf);
        }
        notice::view_banner(model, theme, places.banner, buf);
    }
}

/// How the search goes; the words themselves are the person's.
fn searching(stream: &StreamState) -> String {
    let (Some(status), Some((at, total, more))) = (stream.search(), stream.hits()) else { return String::new() };
    let total = format!("{total}{}", if more { "+" } else { "" });
    let (query, how) = match status {
        SearchStatus::Busy(query) => (query, "searching".to_owned()),
        SearchStatus::Missing(query) => (query, "not found".to_owned()),
        SearchStatus::Found(query) => (query, at.map_or(total.clone(), |at| format!("{at}/{total}"))),
    };
    format!("“{}” · {how}", clean_line(&query, 24))
}
