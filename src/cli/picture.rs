//! `programmator picture <run>`: a screen of a stored run as an SVG or PNG.

use super::error::CliError;
use super::session::Session;
use super::start;
use crate::adapters::{png, syntax};
use crate::tui::command::keys_file;
use crate::tui::keys::key_text;
use crate::tui::layout::SMALLEST;
use crate::tui::msg::{Input, Msg};
use crate::tui::picture::svg;
use crate::tui::replay::IN_REPLAY;
use crate::tui::screen_loop;
use crate::tui::theme::surface::{Depth, Surface};
use crate::tui::update::update;
use crate::tui::view::view;
use clap::Args;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A picture has all colours.
const SURFACE: Surface = Surface { depth: Depth::True, background: Some([0x14, 0x18, 0x1d]), answers: false };

/// Most columns and rows of a picture.
const LARGEST: u16 = 500;

/// What is drawn, and where to.
#[derive(Debug, Clone, Args)]
pub struct PictureOptions {
    /// A run id or its last characters, or a ticket.
    pub run: String,
    /// Write here, as PNG or SVG by the file's extension; without it, an SVG goes to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Size of the screen.
    #[arg(long, value_name = "COLUMNSxROWS", default_value = "120x40", value_parser = size)]
    pub size: (u16, u16),
    /// Press these keys first, such as `L` or `Tab g Enter`.
    #[arg(long, value_name = "KEYS", default_value = "", value_parser = keys)]
    pub press: Keys,
}

/// Keys in their order.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Input>);

fn size(text: &str) -> Result<(u16, u16), String> {
    let (columns, rows) = text.split_once('x').ok_or("expected columns and rows, such as 120x40")?;
    let number = |text: &str| text.parse::<u16>().map_err(|error| format!("“{text}”: {error}"));
    let size = (number(columns)?, number(rows)?);
    if size.0 < SMALLEST.0 || size.1 < SMALLEST.1 || size.0.max(size.1) > LARGEST {
        return Err(format!("expected from {}x{} to {LARGEST}x{LARGEST}", SMALLEST.0, SMALLEST.1));
    }
    Ok(size)
}

fn keys(text: &str) -> Result<Keys, String> {
    text.split_whitespace().map(keys_file::key).collect::<Result<_, _>>().map(Keys)
}

/// Draws the run as the screen shows it in a replay.
pub fn write(out: &mut impl Write, session: &Session, options: &PictureOptions) -> Result<(), CliError> {
    // Before there is anything to lose.
    let is_png = match options.output.as_ref().map(|path| (path, path.extension().and_then(OsStr::to_str))) {
        None | Some((_, Some("svg"))) => false,
        Some((_, Some("png"))) => true,
        Some((path, _)) => {
            return Err(CliError::usage(format!("{}: expected a name that ends in .png or .svg", path.display())));
        }
    };
    let exists = |path: &Path| format!("{} exists; name another file, remove it, or add --force", path.display());
    if let Some(path) = options.output.as_ref().filter(|path| !options.force && path.symlink_metadata().is_ok()) {
        return Err(CliError::usage(exists(path)));
    }
    let (mut ui, mut host) = start::stored(session, &options.run, SURFACE)?;
    ui.size = options.size;
    screen_loop::hear(&mut ui, &mut host);
    // Placed before keys act on it, as on the screen.
    ui.prepare();
    for key in &options.press.0 {
        // What the screen wants done outside of it is not for a picture.
        update(&mut ui, Msg::Key(key.clone()));
        if ui.toast.as_ref().is_some_and(|(words, _)| words == IN_REPLAY) {
            return Err(CliError::usage(format!("--press {}: {IN_REPLAY}, which a picture shows", key_text(key))));
        }
        ui.prepare();
    }
    let mut terminal =
        Terminal::new(TestBackend::new(options.size.0, options.size.1)).map_err(std::io::Error::other)?;
    let layout = ui.prepare_whole(syntax::read);
    terminal.draw(|frame| view(&ui, &layout, &ui.looks.theme, frame)).map_err(std::io::Error::other)?;
    let drawn = svg(terminal.backend().buffer(), &ui.looks.theme, "programmator");
    let Some(path) = &options.output else { return Ok(out.write_all(drawn.as_bytes())?) };
    let bytes = if is_png { png::drawn(&drawn).map_err(CliError::failure)? } else { drawn.into_bytes() };
    let mut file = OpenOptions::new();
    file.write(true).truncate(options.force).create(options.force).create_new(!options.force);
    file.open(path).and_then(|mut file| file.write_all(&bytes)).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => CliError::usage(exists(path)),
        _ => CliError::cannot_write(path, &error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_one_that_can_be_drawn() {
        assert_eq!(size("80x24"), Ok((80, 24)));
        for wrong in ["80", "80x", "10x10", "9999x50", "70000x50", "-80x24"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
