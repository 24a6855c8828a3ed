//! What the terminal reports, as messages. The only reader of crossterm's events.

use crate::tui::msg::{Input, Key, Msg};
use crossterm::event::{Event, KeyEventKind};

/// The message for an event; `None` for what means nothing here (releases, mouse, focus lost).
pub fn translate(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) => {
            let input = Input::from(key);
            (input.key != Key::Null).then_some(Msg::Key(input))
        }
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(width, height) => Some(Msg::Resize(width, height)),
        Event::FocusGained => Some(Msg::FocusGained),
        Event::FocusLost | Event::Mouse(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Option<Input> {
        match translate(Event::Key(KeyEvent::new(code, modifiers))) {
            Some(Msg::Key(input)) => Some(input),
            _ => None,
        }
    }

    #[test]
    fn keys_arrive_with_what_was_held_down() {
        let back = key(KeyCode::BackTab, KeyModifiers::SHIFT).unwrap();
        assert!(back.key == Key::Tab && back.shift);
        let interrupt = key(KeyCode::Char('c'), KeyModifiers::CONTROL).unwrap();
        assert!(interrupt.key == Key::Char('c') && interrupt.ctrl);
        assert_eq!(key(KeyCode::CapsLock, KeyModifiers::NONE), None);
    }

    #[test]
    fn a_release_is_no_press() {
        let mut event = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        event.kind = KeyEventKind::Release;
        assert!(translate(Event::Key(event)).is_none());
    }
}
