//! Leaving while something runs: finish the iteration, stop now, or stay.

use crate::base::text::cut;
use crate::domain::chat;
use crate::orchestrator::state::Pace;
use crate::tui::command::when::can_hand_over;
use crate::tui::command::{Command, Scope, row_of};
use crate::tui::model::Model;
use crate::tui::tab::Tab;
use crate::tui::theme::Theme;
use crate::tui::theme::role::Role;
use crate::tui::widgets::frame::{Frame, centred};
use crate::tui::widgets::row::Row;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub fn view(model: &Model, theme: &Theme, room: Rect, buf: &mut Buffer) {
    let active: Vec<&Tab> = model.tabs.iter().filter(|tab| tab.is_active() || is_open_chat(tab)).collect();
    let withdrawn = withdrawn(&active);
    let is_offered = can_hand_over(model);
    let running = match active.as_slice() {
        [] => None,
        [one] if one.state.chat.is_some() => Some("A chat is open.".to_owned()),
        [one] => Some(format!("{} is running.", one.id)),
        many => Some(format!("{} runs are open.", many.len())),
    };
    let mut queued = model.unfinished();
    queued.extend(model.queued.keys().filter(|ticket| chat::is_id(ticket.id())).cloned());
    queued.retain(|ticket| active.iter().all(|tab| tab.id != *ticket));
    let lost = if is_offered { "" } else { " and will not be started" };
    let is_queued = !queued.is_empty();
    let queued = match queued.as_slice() {
        [] => None,
        [one] => Some(format!("{one} is queued{lost}.")),
        many => Some(format!("{} tickets are queued{lost}.", many.len())),
    };
    let what = running.into_iter().chain(queued).collect::<Vec<_>>().join(" ");
    // The question whose process is gone is in nobody's way.
    let holds = active.iter().any(|tab| asks(tab) && !tab.state.gate.kept);
    let is_at_work = active.iter().any(|tab| tab.is_active() && !tab.state.gate.kept);
    let finish = match withdrawn {
        _ if holds => "needs your answer first",
        // Of a demo everything is lost.
        None if !model.leaves_nothing => "nothing is lost",
        _ => "",
    };
    let begins_anew = match withdrawn {
        Some(_) => "questions keep waiting",
        None if active.iter().any(|tab| tab.state.chat.is_some()) => "except the chat, which ends",
        None if active.iter().any(|tab| tab.state.pace == Pace::PauseNext) => "cancels the pause",
        None if is_at_work => "restarts Claude's turn",
        None => "",
    };
    let away = is_offered.then(|| option(model, Command::QuitAway, begins_anew));
    let now = option(model, Command::QuitNow, if is_at_work { "interrupts the iteration" } else { "" });
    // Where nothing works, nothing is finished.
    let finishes = active.iter().any(|tab| tab.is_active()).then(|| option(model, Command::QuitFinish, finish));
    let options = finishes.into_iter().chain(away);
    let options = options.chain([now, option(model, Command::Close, "")]);
    let case = if is_offered { "If stopped" } else { "Either way" };
    let resumed = match active.as_slice() {
        // Nothing is there to go on with.
        [_, ..] if model.leaves_nothing => "The demo and everything in it are deleted when it ends.".to_owned(),
        active => resumed(active, is_queued, case),
    };
    let withdrawn = withdrawn.filter(|_| !model.leaves_nothing);
    let notes = [resumed.as_str(), withdrawn.unwrap_or_default()].into_iter().filter(|note| !note.is_empty());
    let mut rows: Vec<Row> =
        [Row::new().left(Role::Text, what), Row::new()].into_iter().chain(options).chain([Row::new()]).collect();
    rows.extend(notes.map(|note| Row::new().left(Role::Dim, note)));
    let area = centred(room, 76, rows.len() as u16 + 2);
    let inside = Frame::dialog("Quit", "", model.glyphs).draw(theme, area, buf);
    for (place, row) in inside.rows().zip(rows) {
        row.draw(theme, place, buf);
    }
}

/// A chat is open while it waits for its person, too.
fn is_open_chat(tab: &Tab) -> bool {
    tab.state.chat.is_some() && tab.has_open_run()
}

fn asks(tab: &Tab) -> bool {
    tab.unstored.open_questions(&tab.state).next().is_some()
}

/// What becomes of the questions that wait, also of those whose process is gone: a run that is stopped has none.
fn withdrawn(active: &[&Tab]) -> Option<&'static str> {
    let mut asking = active.iter().filter(|tab| asks(tab));
    let first = asking.next()?;
    Some(match asking.next() {
        None if first.state.gate.kept => "Its question is withdrawn; Claude may ask again when resumed.",
        None => "Stop now withdraws its question; Claude may ask again when resumed.",
        Some(_) => "Open questions are withdrawn; Claude may ask again when resumed.",
    })
}

/// How what was running is resumed, in which case.
fn resumed(active: &[&Tab], is_queued: bool, case: &str) -> String {
    match active {
        [] if is_queued => "Tickets not started yet stay on Home.".to_owned(),
        [] => String::new(),
        [one] if one.state.chat.is_some() => format!("{case}, resume with `programmator chat --resume`."),
        [one] => format!("{case}, resume with `programmator {}`.", cut(one.id.as_str(), 30)),
        _ => format!("{case}, resume them from Home with `programmator`."),
    }
}

fn option(model: &Model, command: Command, price: &str) -> Row {
    let row = row_of(Scope::Quit, command);
    let (key, words) = row.map_or((String::new(), ""), |row| (model.keys.first(row), row.doc));
    Row::new().left(Role::Key, format!("{key:<5}")).left(Role::Text, words).right(Role::Dim, price)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    #[test]
    fn what_resumes_it_is_named() {
        let [mut chat, ticket] = ["chat-7f3e01ab", "tk-1"].map(sample::running);
        chat.state.chat = Some(std::sync::Arc::default());
        assert!(resumed(&[&ticket], false, "Either way").contains("resume with `programmator tk-1`"));
        assert!(resumed(&[&chat], false, "Either way").contains("`programmator chat --resume`"));
        assert!(resumed(&[&chat, &ticket], false, "Either way").contains("from Home"));
        assert!(resumed(&[], true, "Either way").contains("not started yet"));
    }

    #[test]
    fn what_can_go_on_without_the_screen_is_handed_over() {
        use crate::domain::request::Request;
        use crate::orchestrator::state::Stage;
        use crate::tui::msg::Ask;
        use crate::tui::msg::Msg;
        let press = |ui: &mut crate::tui::ui::Ui, name| crate::tui::update::update(ui, Msg::Key(sample::key(name)));
        let mut ui = sample::model();
        ui.tabs.push(sample::running("tk-1"));
        ui.queued.insert(sample::id("tk-2"), "it depends on tk-1".into());
        let offers = |ui: &mut crate::tui::ui::Ui| {
            ui.modals = vec![crate::tui::modals::Modal::Quit];
            sample::draw(ui, (80, 24)).contains("keep working in the background")
        };
        assert!(!offers(&mut ui) && press(&mut ui, "b").is_empty(), "what is thrown away cannot go on");
        ui.outlives_screen = true;
        assert!(offers(&mut ui));
        assert_eq!(press(&mut ui, "b"), [Ask::Request(Request::LeaveCommits), Ask::Leave]);
        assert_eq!(ui.handed_over, ["tk-1", "tk-2"].map(sample::id));
        // At once, too.
        (ui.modals, ui.handed_over) = (Vec::new(), Vec::new());
        assert_eq!(press(&mut ui, "B"), [Ask::Request(Request::LeaveCommits), Ask::Leave]);
        assert_eq!(ui.handed_over, ["tk-1", "tk-2"].map(sample::id));
        // One that waits for its working directory goes along, one that was paused does not.
        ui.tabs.extend(["tk-3", "tk-4"].map(sample::running));
        ui.tabs[1].state.stage = Stage::AwaitingTree { holder: None };
        ui.tabs[2].state.stage = Stage::Paused;
        assert_eq!(ui.unfinished(), ["tk-1", "tk-3", "tk-2"].map(sample::id));
        // A chat is nothing without its person.
        ui.tabs[0].state.chat = Some(std::sync::Arc::default());
        assert!(offers(&mut ui));
        assert_eq!(ui.unfinished(), ["tk-3", "tk-2"].map(sample::id));
        ui.queued = std::iter::once((sample::id("chat-7f3e01ab"), "it is the second".into())).collect();
        ui.tabs.truncate(1);
        assert!(!offers(&mut ui));
    }

    #[test]
    fn what_becomes_of_a_question_that_waits_is_said() {
        let mut ui = sample::model();
        ui.tabs.push(sample::running("tk-1"));
        let dialog = |ui: &mut crate::tui::ui::Ui| {
            ui.modals = vec![crate::tui::modals::Modal::Quit];
            sample::draw(ui, (80, 24))
        };
        assert!(!dialog(&mut ui).contains("withdraw"));
        ui.tabs[0].state.approvals.push(sample::push("c").into());
        let screen = dialog(&mut ui);
        assert!(screen.contains("needs your answer first"), "{screen}");
        assert!(screen.contains("Stop now withdraws its question; Claude may ask again when resumed."), "{screen}");
        // No process waits for it: nothing is to be answered first, and both ways withdraw it.
        ui.tabs[0].state.gate.kept = true;
        let screen = dialog(&mut ui);
        assert!(
            !screen.contains("needs your answer first") && !screen.contains("interrupts the iteration"),
            "{screen}"
        );
        assert!(screen.contains("Its question is withdrawn; Claude may ask again when resumed."), "{screen}");
        // Of the demo nothing can be resumed.
        ui.leaves_nothing = true;
        let screen = dialog(&mut ui);
        assert!(screen.contains("The demo and everything in it") && !screen.contains("resume"), "{screen}");
        ui.tabs[0].state.approvals.clear();
        let screen = dialog(&mut ui);
        assert!(screen.contains("finish the iteration") && !screen.contains("nothing is lost"), "{screen}");
    }
}
