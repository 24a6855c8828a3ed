//! The Stream pane among the others: its keys, its border, and what is said in it when it is not Claude who speaks.

use super::{Fold, FollowStatus, Goal, NAME, Part, SearchStatus, StreamMsg, StreamState, view, view_cursor, view_edge};
use crate::base::text::{Clean, clean_line};
use crate::domain::search::{Only, Way};
use crate::tui::command::when::can_compare;
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
    Own("select") "stream.select" Scope::Pane(NAME), "stream", [c('v')], HelpOnly, Model::shows_run, |_| "select",
        "in Stream: select lines, to copy them";
    Changes "stream.changes" Scope::Pane(NAME), "stream", [c('d')], HelpOnly, can_compare, |_| "changes",
        "in Stream: Changes: the changed files";
    Own("copy_block") "stream.copy_block" Scope::Pane(NAME), "stream", [c('y') => c('y')], HelpOnly, Model::shows_run, |_| "copy block",
        "in Stream: copy the selected card in full";
    Own("copy_command") "stream.copy_command" Scope::Pane(NAME), "stream", [c('y') => c('c')], HelpOnly, Model::shows_run, |_| "copy command",
        "in Stream: copy the command of the selected call";
    Own("copy_path") "stream.copy_path" Scope::Pane(NAME), "stream", [c('y') => c('p')], HelpOnly, Model::shows_run, |_| "copy path",
        "in Stream: copy the path of the selected call";
    Own("only_tools") "stream.only_tools" Scope::Pane(NAME), "stream", [c('f') => c('t')], HelpOnly, Model::shows_run, |_| "tools",
        "in Stream: search tool calls only";
    Own("only_errors") "stream.only_errors" Scope::Pane(NAME), "stream", [c('f') => c('e')], HelpOnly, Model::shows_run, |_| "errors",
        "in Stream: search failures only";
    Own("only_edits") "stream.only_edits" Scope::Pane(NAME), "stream", [c('f') => c('d')], HelpOnly, Model::shows_run, |_| "edits",
        "in Stream: search file changes only";
    Own("next_iteration") "stream.next_iteration" Scope::Pane(NAME), "stream", [c('}') => c('i')], HelpOnly, Model::shows_run, |_| "next iteration",
        "in Stream: the next iteration";
    Own("previous_iteration") "stream.previous_iteration" Scope::Pane(NAME), "stream", [c('{') => c('i')], HelpOnly, Model::shows_run, |_| "previous iteration",
        "in Stream: the previous iteration";
    Own("next_phase") "stream.next_phase" Scope::Pane(NAME), "stream", [c('}') => c('p')], HelpOnly, Model::shows_run, |_| "next phase",
        "in Stream: the next phase";
    Own("previous_phase") "stream.previous_phase" Scope::Pane(NAME), "stream", [c('{') => c('p')], HelpOnly, Model::shows_run, |_| "previous phase",
        "in Stream: the previous phase";
    Own("next_error") "stream.next_error" Scope::Pane(NAME), "stream", [c('}') => c('e')], HelpOnly, Model::shows_run, |_| "next error",
        "in Stream: the next error";
    Own("previous_error") "stream.previous_error" Scope::Pane(NAME), "stream", [c('{') => c('e')], HelpOnly, Model::shows_run, |_| "previous error",
        "in Stream: the previous error";
    Own("next_edit") "stream.next_edit" Scope::Pane(NAME), "stream", [c('}') => c('d')], HelpOnly, Model::shows_run, |_| "next edit",
        "in Stream: the next edit";
    Own("previous_edit") "stream.previous_edit" Scope::Pane(NAME), "stream", [c('{') => c('d')], HelpOnly, Model::shows_run, |_| "previous edit",
        "in Stream: the previous edit";
};

/// What a key searches or jumps to.
fn goal(command: Command) -> Option<StreamMsg> {
    let Command::Own(word) = command else { return None };
    let record = |name: &str| match name {
        "tools" => Some(Only::Tools),
        "errors" | "error" => Some(Only::Errors),
        "edits" | "edit" => Some(Only::Edits),
        _ => None,
    };
    if let Some(only) = word.strip_prefix("only_") {
        return record(only).map(StreamMsg::Only);
    }
    let (way, to) = match word.split_once('_')? {
        ("next", to) => (Way::Down, to),
        ("previous", to) => (Way::Up, to),
        _ => return None,
    };
    let to = match to {
        "iteration" => Goal::Iteration,
        "phase" => Goal::Phase,
        to => Goal::Record(record(to)?),
    };
    Some(StreamMsg::Jump(to, way))
}

/// What a key copies, and what is said where there is none.
fn part(command: Command) -> Option<(Part, &'static str)> {
    Some(match command {
        Command::Own("copy_block") => (Part::Block, "there is nothing to copy"),
        Command::Own("copy_command") => (Part::Command, "no Bash call is selected; K and J select another card"),
        Command::Own("copy_path") => (Part::Path, "the selected card has no path; K and J select another card"),
        _ => return None,
    })
}

/// Copies the selected lines, or a part of the selected card.
fn copy(model: &mut Model, command: Command) -> Vec<Ask> {
    let Some(tab) = model.tab_mut() else { return Vec::new() };
    let copied = match part(command) {
        Some((part, missing)) => tab.stream.part(part).ok_or_else(|| missing.to_owned()),
        None => tab.stream.take_selection(),
    };
    match copied {
        Ok(text) => vec![Ask::Copy(Clean::new(&text).into_string())],
        Err(why) => {
            model.tell(why);
            Vec::new()
        }
    }
}

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
            Command::Own("select") => StreamMsg::Select,
            Command::Close => StreamMsg::Leave,
            Command::Own("copy" | "copy_block" | "copy_command" | "copy_path") => return copy(model, command),
            Command::Own("card_up") => StreamMsg::Card(-1),
            Command::Own("card_down") => StreamMsg::Card(1),
            command => match goal(command) {
                Some(msg) => msg,
                None => return Vec::new(),
            },
        };
        if let Some(tab) = model.tab_mut() {
            tab.stream.update(msg);
        }
        Vec::new()
    }

    fn selects(&self, model: &Model) -> bool {
        model.tab().is_some_and(|tab| tab.stream.selects())
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
        model.prepare_stream(inside);
    }

    fn border(&self, model: &Model, width: u16) -> (String, String) {
        let Some(tab) = model.tab() else { return (String::new(), String::new()) };
        let status = match tab.stream.status() {
            _ if tab.run.is_none() => String::new(),
            _ if tab.stream.selects() => "selecting lines".into(),
            _ if tab.stream.search().is_some() => searching(&tab.stream),
            FollowStatus::Following if tab.is_at_work() => "following".into(),
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
            view(&tab.stream, &model.syntax, theme, places.stream, buf);
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
    // Not all is looked at: neither number is the last word.
    let total = if more { format!("{total}…") } else { total.to_string() };
    let (query, how) = match status {
        SearchStatus::Busy(query) => (query, "searching".to_owned()),
        SearchStatus::Missing(query) => (query, "not found".to_owned()),
        SearchStatus::Found(query) => (
            query,
            match at {
                Some(at) if !more => format!("{at}/{total}"),
                _ => total,
            },
        ),
    };
    format!("“{}” · {how}", clean_line(&query, 24))
}
