//! The terminal's answer to the question for its background, which comes as keys: picked out from among them. What only
//! begins like it are keys, and none is lost; it may be late or never come.

use crate::tui::theme::colour::Rgb;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};

/// How it begins: `rgb:` or `rgba:` follow.
const START: &str = "\x1b]11;rgb";
/// Longest behind that: `a:`, four numbers of four digits, the end.
const LONGEST: usize = 24;

/// What an event turns out to be.
pub enum Heard {
    Background(Rgb),
    /// In their order; none: more must come.
    Events(Vec<Event>),
}

/// As much of an answer as there is.
#[derive(Default)]
pub struct Answer {
    held: Vec<Event>,
    text: String,
}

impl Answer {
    /// Takes the next event; what is known to have happened by now.
    pub fn hear(&mut self, event: Event) -> Heard {
        match bytes(&event) {
            Some(bytes) => self.text.push_str(&bytes),
            None => self.text.clear(),
        }
        self.held.push(event);
        if let Some(rest) = self.text.strip_prefix(START) {
            if let Some(spec) = rest.strip_suffix('\x07').or_else(|| rest.strip_suffix("\x1b\\")) {
                let colour = colour(spec.trim_start_matches('a').trim_start_matches(':'));
                self.text.clear();
                self.held.clear();
                return colour.map_or(Heard::Events(Vec::new()), Heard::Background);
            }
            let goes_on = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '/' | '\x1b');
            if rest.len() <= LONGEST && rest.chars().all(goes_on) {
                return Heard::Events(Vec::new());
            }
        } else if !self.text.is_empty() && START.starts_with(&self.text) {
            return Heard::Events(Vec::new());
        }
        self.text.clear();
        Heard::Events(std::mem::take(&mut self.held))
    }
}

/// What the terminal sent for the event to be read, as far as it may be in an answer.
fn bytes(event: &Event) -> Option<String> {
    let Event::Key(key) = event else { return None };
    match key.code {
        _ if key.kind != KeyEventKind::Press => None,
        KeyCode::Char('g') if key.modifiers == KeyModifiers::CONTROL => Some("\x07".to_owned()),
        KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::ALT) => Some(format!("\x1b{c}")),
        KeyCode::Char(c) => Some(c.to_string()),
        _ => None,
    }
}

/// Three numbers of one to four hexadecimal digits.
fn colour(spec: &str) -> Option<Rgb> {
    let mut channels = spec.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        u8::try_from(u32::from_str_radix(digits, 16).ok()? * 255 / most).ok()
    });
    Some([channels.next()??, channels.next()??, channels.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    /// What is heard of the events that crossterm makes of these bytes: characters, `^` for one with Alt, `#` for an
    /// answer, which comes alone too.
    fn heard(bytes: &str) -> (String, Option<Rgb>) {
        let mut answer = Answer::default();
        let mut modifiers = KeyModifiers::NONE;
        let (mut told, mut background) = (String::new(), None);
        for c in bytes.chars() {
            if c == '\x1b' {
                modifiers = KeyModifiers::ALT;
                continue;
            }
            let key = match c {
                '\x07' => KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL),
                _ => KeyEvent::new(KeyCode::Char(c), modifiers),
            };
            match answer.hear(Event::Key(key)) {
                Heard::Background(colour) => {
                    told.push('#');
                    background = Some(colour);
                }
                Heard::Events(events) => told.extend(events.iter().filter_map(super::bytes)),
            }
            modifiers = KeyModifiers::NONE;
        }
        (told.replace('\x1b', "^"), background)
    }

    #[test]
    fn the_answer_is_heard_and_the_keys_around_it_stay() {
        for (answer, colour) in [
            ("\x1b]11;rgb:1e1e/2020/2e2e\x07", [0x1e, 0x20, 0x2e]),
            ("\x1b]11;rgb:FFFF/ffff/8080\x1b\\", [0xff, 0xff, 0x80]),
            ("\x1b]11;rgba:00/80/ff/ff\x07", [0, 0x80, 0xff]),
        ] {
            assert_eq!(heard(&format!("jq{answer}kk")), ("jq#kk".to_owned(), Some(colour)), "{answer:?}");
        }
    }

    #[test]
    fn what_only_begins_like_an_answer_are_keys() {
        for (keys, told) in [("\x1b]x", "^]x"), ("\x1b]11;rs", "^]11;rs"), ("\x1b]11;rgb:1p", "^]11;rgb:1p")] {
            assert_eq!(heard(keys), (told.to_owned(), None), "{keys:?}");
        }
        assert_eq!(heard("\x1b]11;rgb:/\x07s"), ("s".to_owned(), None), "nonsense says nothing");
    }

    #[test]
    fn what_interrupts_an_answer_loses_no_key() {
        let mut answer = Answer::default();
        let key = |c, modifiers| Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers));
        assert!(matches!(answer.hear(key(']', KeyModifiers::ALT)), Heard::Events(events) if events.is_empty()));
        assert!(matches!(answer.hear(Event::FocusGained), Heard::Events(events) if events.len() == 2));
    }
}
