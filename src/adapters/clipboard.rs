//! The clipboard, through the terminal (OSC 52): works over SSH, needs no window system.

use crate::base::text::Clean;
use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;
use std::io::{self, stdout};

/// Most bytes that terminals are known to take.
const MAX: usize = 74_000;

/// Puts clean text on the clipboard, without a final newline: pasted into a shell it must not run by itself.
/// Fails when the terminal is gone or the text is too long for one.
pub fn copy(text: &str) -> io::Result<()> {
    let clean = Clean::new(text).into_string();
    let clean = clean.trim_end_matches('\n');
    if clean.len() > MAX {
        return Err(io::Error::other(format!("too long for the terminal's clipboard: {} bytes", clean.len())));
    }
    execute!(stdout(), CopyToClipboard::to_clipboard_from(clean))
}
