//! The Stream pane among the others: its keys, its border, and what is said in it when it is not Claude who speaks.

use super::{Fold, FollowStatus, NAME, SearchStatus, StreamMsg, view};
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
    Own("details") "stream.details" Scope::Pane(NAME), "stream", [press(Key::Enter)], Shown, Model::shows_run, details_word,
        "in Stream: show everything in full, or in brief again";
};

fn is_searching(model: &Model) -> bool {
    model.tab().is_some_and(|tab| tab.stream.search().is_some())
}

fn details_word(model: &Model) -> &'static str {
    match model.tab().map(|tab| tab.stream.fold()) {
        Some(Fold::Full) => "brief",
        _ => "details",
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
            Command::Own("details") => StreamMsg::ToggleFold,
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
            _ if tab.stream.search().is_some() => searching(tab.stream.search()),
            FollowStatus::Following if tab.is_active() => "following".into(),
            FollowStatus::Following => String::new(),
            FollowStatus::Behind { new_lines: 0 } => format!("more {}", model.glyphs.pick("↓", "v")),
            FollowStatus::Behind { new_lines } => format!("{new_lines} new {}", model.glyphs.pick("↓", "v")),
        };
        (format!(" · {}", clean_line(&format!("{} {}", tab.id, tab.title()), width.into())), status)
    }

    fn view(&self, model: &Model, _: bool, theme: &Theme, inside: Rect, buf: &mut Buffer) {
        if notice::view_empty(model, theme, inside, buf) {
            return;
        }
        let places = notice::place(model, inside);
        if let Some(tab) = model.tab() {
            view(&tab.stream, theme, places.stream, buf);
        }
        notice::view_banner(model, theme, places.banner, buf);
    }
}

/// How the search goes; the words themselves are the person's.
fn searching(search: Option<SearchStatus>) -> String {
    let (query, how) = match search {
        Some(SearchStatus::Busy(query)) => (query, " · searching"),
        Some(SearchStatus::Missing(query)) => (query, " · not found"),
        Some(SearchStatus::Found(query)) => (query, ""),
        None => return String::new(),
    };
    format!("“{}”{how}", clean_line(&query, 24))
}
