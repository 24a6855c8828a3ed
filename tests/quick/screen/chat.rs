//! A chat in its tab.

use super::{modal, pressed, sample, whole};
use programmator::domain::chat::ChatAsked;
use programmator::domain::request::Request;
use programmator::domain::ticket::TicketKey;
use programmator::orchestrator::state::{Chat, Stage, State};
use programmator::tui::msg::Ask;
use programmator::tui::ui::Ui;
use std::path::Path;
use std::sync::Arc;

/// One that waits for a message.
fn chat(said: bool) -> Ui {
    let mut model = sample::model();
    let mut tab = sample::paused("chat-7f3e01ab");
    let mut file = sample::ticket("chat-7f3e01ab", "Chat", &[]).as_ref().clone();
    file.validation.clear();
    tab.id = TicketKey::new(file.id.clone(), Path::new("/home/ann/.local/state/programmator/chats/chat-7f3e01ab.md"));
    let mut chat = Chat::default();
    chat.topics = if said { vec!["keep the static assets out of it".into()] } else { Vec::new() };
    let earlier = ["Which tests are slow?", "Make the slowest one faster, without a sleep in it", "Why is CI red?"];
    chat.asked = ChatAsked { earlier: earlier.map(str::to_owned).to_vec(), ..ChatAsked::default() };
    tab.state = State {
        title: "Chat".into(),
        phases: Vec::new(),
        validation: Vec::new(),
        iterations: u32::from(said),
        iteration: tab.state.iteration.clone().filter(|_| said),
        stage: Stage::Paused,
        chat: Some(Arc::new(chat)),
        stagnation: 0,
        ..tab.state
    };
    if said {
        sample::notes(&mut tab);
    }
    tab.ticket = Some(Arc::new(file));
    model.tabs.push(tab);
    model
}

#[test]
fn the_tab_of_a_chat() {
    whole("chat", || chat(true));
}

#[test]
fn the_first_message_stands_below_the_topics_of_the_chat_before_and_later_ones_below_those_sent() {
    modal("chat_first_message", || pressed(chat(false), "i"));
    modal("chat_message", || pressed(chat(true), "i"));
}

#[test]
fn c_asks_for_a_chat() {
    let mut model = sample::busy();
    let asks = super::press(&mut model, "C");
    assert!(matches!(&asks[..], [Ask::Request(Request::Chat(_))]), "{asks:?}");
}

#[test]
fn what_is_written_and_closed_is_told_of_as_a_chat_and_as_it_is() {
    let mut model = chat(true);
    assert!(sample::draw(&mut pressed(chat(true), "i"), (120, 40)).contains("sent at once"));
    model.tabs[0].state.stage = Stage::AwaitingTree { holder: None };
    let screen = sample::draw(&mut pressed(model, "i"), (120, 40));
    assert!(screen.contains("queued until the chat continues") && !screen.contains("sent at once"), "{screen}");
    let screen = sample::draw(&mut pressed(chat(true), "x"), (120, 40));
    assert!(screen.contains("Close the chat") && !screen.contains("Stop"), "{screen}");
    assert!(sample::draw(&mut chat(true), (120, 40)).contains("x close chat"));
}
