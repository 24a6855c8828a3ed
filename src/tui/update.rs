//! What happens to the screen, message by message. Pure: answers with what the edge should do.
//!
//! News of runs is folded in `update::news`; what a key does, in `update::keys`.

mod arrange;
mod attention;
mod certain;
mod chat;
mod commits;
mod created;
mod decided;
mod dialogs;
mod find;
mod importing;
mod keys;
mod listing;
mod mouse;
mod news;
mod own;
mod phases;
mod planning;
mod replay;
mod spending;
mod told;
mod unavailable;
pub mod unsent;
mod wheel;

use crate::domain::request::Request;
use crate::tui::changes;
use crate::tui::modals::Modal;
use crate::tui::msg::{Ask, Msg};
use crate::tui::ui::Ui;
use zeroize::Zeroize as _;

/// Folds a message into the screen; what the edge should do now, in order.
pub fn update(ui: &mut Ui, msg: Msg) -> Vec<Ask> {
    let focus = ui.focus;
    ui.told += u64::from(matches!(msg, Msg::News(_) | Msg::Replied(_) | Msg::NotAsked(_)));
    let mut asks = take(ui, msg);
    if ui.focus == changes::NAME && focus != changes::NAME {
        ui.changes.outdated();
    }
    if !asks.contains(&Ask::Leave) {
        asks.extend(ui.ask_for_changes());
    }
    commits::sent(ui, &asks);
    for ask in &asks {
        if let Ask::Request(Request::Command(ticket, command)) = ask
            && let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.id == *ticket)
        {
            tab.unstored.hand(&tab.state, command);
        }
    }
    asks
}

fn take(ui: &mut Ui, msg: Msg) -> Vec<Ask> {
    match msg {
        Msg::Key(input) => {
            ui.dirty = true;
            ui.toast = None;
            ui.touched = ui.now;
            keys::key(ui, &input)
        }
        Msg::Paste(mut text) => {
            ui.dirty = true;
            let asks = dialogs::pasted(ui, &text);
            // It may have been the passphrase.
            text.zeroize();
            asks
        }
        Msg::Mouse(mouse) => {
            (ui.dirty, ui.touched) = (true, ui.now);
            mouse::run(ui, mouse)
        }
        Msg::Resize(width, height) => {
            ui.size = (width, height);
            ui.dirty = true;
            Vec::new()
        }
        Msg::Scrollback(run, scrollback) => {
            replay::printed(ui, scrollback.clone());
            let landing = ui.landing.take_if(|landing| landing.run == run);
            if let Some(tab) = ui.tabs.iter_mut().find(|tab| tab.run == Some(run)) {
                tab.stream.attach(scrollback);
                if let Some(to) = landing.and_then(|landing| landing.to) {
                    tab.stream.update(to);
                }
            }
            Vec::new()
        }
        Msg::Replied(reply) => {
            ui.dirty = true;
            let mut asks = news::replied(ui, reply);
            asks.extend(leave_if_quiet(ui));
            asks
        }
        Msg::NotAsked(request) => {
            ui.dirty = true;
            news::not_asked(ui, *request)
        }
        Msg::News(news) => {
            ui.dirty = true;
            replay::opened(ui, &news);
            let mut asks = news::fold(ui, news);
            asks.extend(leave_if_quiet(ui));
            asks
        }
        Msg::Connection(lost) => {
            ui.dirty = true;
            ui.lost = lost;
            Vec::new()
        }
        Msg::Tick(now) => {
            tick(ui, now);
            Vec::new()
        }
        Msg::Background(colour) => {
            ui.dirty = true;
            ui.looks.on(colour);
            Vec::new()
        }
        Msg::Themes(own) => {
            ui.dirty = true;
            if let Some(problem) = ui.looks.reload(own).first() {
                ui.tell(problem.to_string());
            }
            if let Some(Modal::Themes(themes)) = ui.modals.last_mut() {
                themes.refresh(&ui.looks);
            }
            Vec::new()
        }
        Msg::Focused(focused) => listing::focused(ui, focused),
        Msg::Coloured(snippet, spans) => {
            ui.dirty |= ui.model.syntax.tell(snippet, spans);
            Vec::new()
        }
        Msg::Edited(text) => {
            ui.dirty = true;
            planning::edited(ui, &text).unwrap_or_else(|| {
                commits::edited(ui, &text);
                Vec::new()
            })
        }
        Msg::Told(words) => {
            ui.dirty = true;
            ui.tell(crate::base::text::clean_line(&words, 400));
            Vec::new()
        }
    }
}

fn tick(ui: &mut Ui, now: crate::base::time::Timestamp) {
    replay::tick(ui, now);
    let due = ui.wake_at().is_some_and(|at| at <= now);
    ui.now = now;
    if due {
        ui.dirty = true;
    }
    if ui.toast.as_ref().is_some_and(|(_, until)| *until <= now) {
        ui.toast = None;
    }
}

/// The person asked to leave, and nothing runs any more.
fn leave_if_quiet(ui: &Ui) -> Vec<Ask> {
    let is_quiet = !ui.anything_active() && ui.committing.is_empty();
    if ui.quitting.is_some() && is_quiet { vec![Ask::Leave] } else { Vec::new() }
}

#[cfg(test)]
mod tests;
