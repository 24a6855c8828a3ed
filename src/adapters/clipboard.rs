//! The clipboard: through the terminal (OSC 52), which works over SSH and needs no window system, and the system's own where
//! we run beside the person's desktop. Text is clean, without a final newline: pasted into a shell it must not run by itself.

use crate::base::amount::counted;
use crate::base::text::Clean;
use crate::domain::stream::show::size;
use crossterm::clipboard::CopyToClipboard;
use crossterm::execute;
use std::io::stdout;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Most bytes that terminals are known to take.
const MAX: usize = 74_000;
/// A program that does not take the text is given up after this time.
const LONGEST: Duration = Duration::from_secs(20);

/// The programs of a desktop that take a clipboard's text from standard input; the first one that is there does it.
const WAYLAND: &[&[&str]] = &[&["wl-copy"]];
const X11: &[&[&str]] = &[&["xclip", "-selection", "clipboard"], &["xsel", "--clipboard", "--input"]];
const MACOS: &[&[&str]] = &[&["pbcopy"]];

/// Puts text on the clipboard. Gives how much that was, or why it could not be, in words for the person. Must be called
/// inside a tokio runtime.
pub fn copy(text: &str) -> Result<String, String> {
    let clean = Clean::new(text).into_string();
    let clean = clean.trim_end_matches('\n');
    let much = amount(clean);
    if clean.is_empty() {
        return Err("nothing to copy".into());
    }
    let to_system = system(clean, programs(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())));
    if clean.len() > MAX {
        let most = size(MAX as u64);
        return if to_system {
            Ok(format!("copied {much}; too long for the terminal, it is on the system clipboard only"))
        } else {
            Err(format!(
                "{much} are too long for the terminal's clipboard (at most {most}); select less, or export with E"
            ))
        };
    }
    match execute!(stdout(), CopyToClipboard::to_clipboard_from(clean)) {
        Err(error) if !to_system => Err(format!("cannot be copied: {error}")),
        _ => Ok(format!("copied {much}")),
    }
}

fn amount(text: &str) -> String {
    format!("{}, {}", counted(text.lines().count(), "line"), size(text.len() as u64))
}

/// The programs for the desktop that we run on; none over SSH, where the clipboard would be another machine's.
fn programs(is_set: impl Fn(&str) -> bool) -> &'static [&'static [&'static str]] {
    match () {
        () if is_set("SSH_CONNECTION") || is_set("SSH_TTY") => &[],
        () if cfg!(target_os = "macos") => MACOS,
        () if is_set("WAYLAND_DISPLAY") => WAYLAND,
        () if is_set("DISPLAY") => X11,
        () => &[],
    }
}

/// Hands the text to the first program that can be started. `false`: there is none.
fn system(text: &str, programs: &[&[&str]]) -> bool {
    let start = |argv: &&[&str]| {
        let (program, arguments) = argv.split_first()?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        command.spawn().ok()
    };
    let Some(mut child) = programs.iter().find_map(start) else { return false };
    let text = text.to_owned();
    tokio::spawn(async move {
        let given = async {
            if let Some(mut input) = child.stdin.take() {
                input.write_all(text.as_bytes()).await?;
            }
            child.wait().await
        };
        match tokio::time::timeout(LONGEST, given).await {
            Ok(Ok(status)) if status.success() => {}
            ended => tracing::warn!(?ended, "the system clipboard did not accept the text"),
        }
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_program_that_is_there_gets_the_text() {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        assert!(std::process::Command::new("mkfifo").arg(&heard).status().unwrap().success());
        let script = format!("cat > '{}'", heard.display());
        assert!(system("two\nlines", &[&["no such program"], &["sh", "-c", &script]]));
        let heard = tokio::task::spawn_blocking(move || std::fs::read_to_string(heard)).await.unwrap().unwrap();
        assert_eq!(heard, "two\nlines");
        assert!(!system("x", &[&["no such program"]]));
    }

    #[test]
    fn over_ssh_the_clipboard_is_the_terminals() {
        assert!(programs(|name| ["SSH_TTY", "DISPLAY"].contains(&name)).is_empty());
        assert!(!programs(|name| name == "DISPLAY").is_empty());
    }

    #[tokio::test]
    async fn what_is_too_long_or_empty_is_refused_with_a_reason() {
        assert_eq!(amount("one\ntwo"), "2 lines, 7 B");
        assert!(copy("\n").unwrap_err().contains("nothing"));
    }
}
