//! What the terminal reports, as messages. The only reader of crossterm's events; `screen_loop` says
//! when it reads and when the terminal belongs to another program.

mod answer;

use crate::tui::msg::{Gesture, Input, Key, Mouse, Msg};
use answer::{Answer, Heard};
use crossterm::event::{Event, EventStream, KeyEventKind, MouseButton, MouseEventKind};
use futures_util::StreamExt as _;
use std::io;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Events that may wait for the loop; a paste is one.
const WAITING: usize = 256;
/// How long the end of the reader is waited for; it is longer only over a dead terminal.
const END: Duration = Duration::from_secs(1);

/// The reader of the terminal, on a thread of its own: over a terminal that was hung up crossterm
/// reads without an end, and that must not be the loop's thread.
pub struct Keys {
    received: mpsc::Receiver<io::Result<Msg>>,
    stop: DropGuard,
    ended: oneshot::Receiver<()>,
}

impl Keys {
    /// Begins to read. Must be called inside a tokio runtime.
    pub fn listen() -> Self {
        let (send, received) = mpsc::channel(WAITING);
        let (end, ended) = oneshot::channel();
        let stop = CancellationToken::new();
        let told = stop.clone();
        let runtime = tokio::runtime::Handle::current();
        std::thread::spawn(move || {
            runtime.block_on(read(send, told));
            // Nobody may wait for it any more.
            let _ = end.send(());
        });
        Self { received, stop: stop.drop_guard(), ended }
    }

    /// The next message; an error is the end of the terminal.
    pub async fn next(&mut self) -> io::Result<Msg> {
        let msg = self.received.recv().await;
        msg.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
    }

    /// Ends the reading, so that another program can read.
    pub async fn end(self) {
        drop(self.stop);
        let _ = tokio::time::timeout(END, self.ended).await;
    }
}

async fn read(send: mpsc::Sender<io::Result<Msg>>, stop: CancellationToken) {
    // `EventStream::new` panics when there is no terminal; `poll` sets the same reader up and tells.
    if let Err(error) = crossterm::event::poll(Duration::ZERO) {
        let _ = send.send(Err(error)).await;
        return;
    }
    let mut stream = EventStream::new();
    let mut answer = Answer::default();
    loop {
        let event = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            event = stream.next() => event,
        };
        let heard = match event {
            Some(Ok(event)) => match answer.hear(event) {
                Heard::Background(colour) => vec![Ok(Msg::Background(colour))],
                Heard::Events(events) => events.into_iter().filter_map(translate).map(Ok).collect(),
            },
            Some(Err(error)) => vec![Err(error)],
            None => return,
        };
        for msg in heard {
            if send.send(msg).await.is_err() {
                return;
            }
        }
    }
}

/// The message for an event; `None` for what means nothing here (releases, a mouse that only moves).
fn translate(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Release => None,
        Event::Key(key) => {
            let input = Input::from(key);
            (input.key != Key::Null).then_some(Msg::Key(input))
        }
        // In a bracketed paste terminals send the Enter key for a line's end.
        Event::Paste(text) => Some(Msg::Paste(text.replace("\r\n", "\n").replace('\r', "\n"))),
        Event::Resize(width, height) => Some(Msg::Resize(width, height)),
        Event::FocusGained => Some(Msg::Focused(true)),
        Event::FocusLost => Some(Msg::Focused(false)),
        Event::Mouse(mouse) => Some(Msg::Mouse(Mouse { gesture: gesture(mouse.kind)?, x: mouse.column, y: mouse.row })),
    }
}

fn gesture(kind: MouseEventKind) -> Option<Gesture> {
    match kind {
        MouseEventKind::ScrollUp => Some(Gesture::WheelUp),
        MouseEventKind::ScrollDown => Some(Gesture::WheelDown),
        MouseEventKind::Down(MouseButton::Left) => Some(Gesture::Press),
        MouseEventKind::Drag(MouseButton::Left) => Some(Gesture::Drag),
        _ => None,
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
    fn a_pasted_line_ends_where_it_ended() {
        let Some(Msg::Paste(text)) = translate(Event::Paste("one\rtwo\r\nthree\nfour".into())) else {
            panic!("a paste is a paste");
        };
        assert_eq!(text, "one\ntwo\nthree\nfour");
    }

    #[test]
    fn a_release_is_no_press() {
        let mut event = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        event.kind = KeyEventKind::Release;
        assert!(translate(Event::Key(event)).is_none());
    }
}
