//! Tells a person who does not look at the screen: by the desktop, or by a program of theirs. Waits for neither.

use crate::base::text::clean_line;
use crate::domain::notification::Notification;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// A program that tells is given up after this time.
const LONGEST: Duration = Duration::from_secs(20);

/// Tells the desktop.
pub fn desktop(notification: &Notification) {
    begin(for_desktop(notification));
}

/// Runs a program of the person's, with title and text as its last arguments; no effect without one.
pub fn command(argv: &[String], notification: &Notification) {
    if !argv.is_empty() {
        begin(for_command(argv, notification));
    }
}

/// The program that tells the desktop, and its arguments.
pub fn for_desktop(notification: &Notification) -> Vec<String> {
    let (title, text) = words(notification);
    if cfg!(target_os = "macos") {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let script = format!("display notification {} with title {}", quoted(&text), quoted(&title));
        vec!["osascript".to_owned(), "-e".to_owned(), script]
    } else {
        vec!["notify-send".to_owned(), "--app-name=programmator".to_owned(), "--".to_owned(), title, text]
    }
}

/// The person's program with all its arguments.
pub fn for_command(argv: &[String], notification: &Notification) -> Vec<String> {
    let (title, text) = words(notification);
    [argv, &[title, text]].concat()
}

fn words(notification: &Notification) -> (String, String) {
    (clean_line(&notification.title, 200), clean_line(&notification.text, 400))
}

fn begin(argv: Vec<String>) {
    tokio::spawn(async move {
        if let Err(error) = run(&argv).await {
            tracing::warn!(%error, "a notification could not be sent");
        }
    });
}

/// Runs it to its end. The error names the program and what is wrong with it.
pub async fn run(argv: &[String]) -> Result<(), String> {
    let [program, arguments @ ..] = argv else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(arguments).kill_on_drop(true);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("{program} cannot be started: {error}"))?;
    match tokio::time::timeout(LONGEST, child.wait()).await {
        Ok(Ok(status)) if status.success() => Ok(()),
        Ok(Ok(status)) => Err(format!("{program} ended with {status}")),
        Ok(Err(error)) => Err(format!("{program}: {error}")),
        Err(_) => Err(format!("{program} did not finish within {} s", LONGEST.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::notification::Level;

    #[tokio::test]
    async fn a_program_of_the_persons_hears_title_and_text_as_its_last_arguments_and_no_control_characters() {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        assert!(std::process::Command::new("mkfifo").arg(&heard).status().unwrap().success());
        let script = format!("printf '%s|' \"$@\" > '{}'", heard.display());
        let argv = ["sh", "-c", &script, "sh", "-u"].map(str::to_owned);
        let (title, text) = ("tk-1 needs you".to_owned(), "Bash \u{1b}[31m; $(id)".to_owned());
        let (level, ticket) = (Level::NeedsYou, "tk-1".to_owned());
        command(&argv, &Notification { level, ticket, phase: None, title, text });
        let heard = tokio::task::spawn_blocking(move || std::fs::read_to_string(heard)).await.unwrap().unwrap();
        assert_eq!(heard, "-u|tk-1 needs you|Bash ; $(id)|");
    }
}
