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
    let (title, text) = words(notification);
    let command = if cfg!(target_os = "macos") {
        let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
        let script = format!("display notification {} with title {}", quoted(&text), quoted(&title));
        vec!["osascript".to_owned(), "-e".to_owned(), script]
    } else {
        vec!["notify-send".to_owned(), "--app-name=programmator".to_owned(), "--".to_owned(), title, text]
    };
    run(&command);
}

/// Runs a program of the person's, with title and text as its last arguments.
pub fn command(argv: &[String], notification: &Notification) {
    if argv.is_empty() {
        return;
    }
    let (title, text) = words(notification);
    run(&[argv, &[title, text]].concat());
}

fn words(notification: &Notification) -> (String, String) {
    (clean_line(&notification.title, 200), clean_line(&notification.text, 400))
}

fn run(argv: &[String]) {
    let [program, arguments @ ..] = argv else { return };
    let child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    match child {
        Ok(mut child) => {
            let program = program.clone();
            tokio::spawn(async move {
                match tokio::time::timeout(LONGEST, child.wait()).await {
                    Ok(Ok(status)) if status.success() => {}
                    ended => tracing::warn!(program, ?ended, "a notification was not told"),
                }
            });
        }
        Err(error) => tracing::warn!(program, %error, "a notification cannot be told"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::notification::Urgency;

    #[tokio::test]
    async fn a_program_of_the_persons_hears_title_and_text_as_its_last_arguments_and_no_control_characters() {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        assert!(std::process::Command::new("mkfifo").arg(&heard).status().unwrap().success());
        let script = format!("printf '%s|' \"$@\" > '{}'", heard.display());
        let argv = ["sh", "-c", &script, "sh", "-u"].map(str::to_owned);
        let (urgency, title) = (Urgency::NeedsYou, "tk-1 needs you".to_owned());
        command(&argv, &Notification { urgency, title, text: "Bash \u{1b}[31m; $(id)".to_owned() });
        let heard = tokio::task::spawn_blocking(move || std::fs::read_to_string(heard)).await.unwrap().unwrap();
        assert_eq!(heard, "-u|tk-1 needs you|Bash ; $(id)|");
    }
}
