//! The screen: a reader of the journal and of Claude's words, and a giver of commands.
//!
//! Elm all the way: [`update`](update::update) folds a [`Msg`](msg::Msg) into the [`Ui`](ui::Ui)
//! and answers with [`Ask`](msg::Ask)s, [`view`](view::view) draws it. Both are pure. It never
//! holds state that a run needs, never blocks a run, and can be missing. The edge is three files:
//! [`terminal`], [`input`] and [`screen_loop`].

pub mod arrangement;
pub mod attention;
pub mod call_words;
pub mod changes;
pub mod command;
pub mod forecast;
pub mod home;
pub mod input;
pub mod keys;
pub mod layout;
pub mod listed;
pub mod log_lines;
pub mod marks;
pub mod modals;
pub mod model;
pub mod msg;
pub mod notifications;
pub mod pane;
pub mod panes;
pub mod picture;
pub mod replay;
#[cfg(test)]
pub mod sample;
pub mod screen_loop;
pub mod selection;
pub mod syntax;
pub mod tab;
pub mod terminal;
pub mod theme;
pub mod ui;
pub mod unsent;
pub mod update;
pub mod view;
pub mod widgets;
