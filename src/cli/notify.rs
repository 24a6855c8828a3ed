//! `programmator notify test`: tells each channel that needs no screen something to try it, and says what came of it.

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::adapters::{notifier, webhook};
use crate::base::text::clean_line;
use crate::config::NotifyConfig;
use crate::domain::finding::{Finding, Mark};
use crate::domain::notification::{Level, Notification, NotifyFor};
use clap::Subcommand;
use std::io::Write;
use tokio::task::spawn_blocking;

/// What can be done with the channels that tell.
#[derive(Debug, Subcommand)]
pub enum NotifyCommand {
    /// Send a test message to each configured channel.
    #[command(after_help = help::NOTIFY_TEST)]
    Test,
}

/// Tells all of them. Gives the exit code: 1 when one could not be told.
pub async fn test(out: &mut dyn Write, session: &Session) -> Result<u8, CliError> {
    let notify = session.resolve(&session.folder)?.config.notify;
    let message = Notification {
        level: Level::NeedsYou,
        ticket: "test".to_owned(),
        phase: None,
        title: "Test notification".to_owned(),
        text: "Sent by `programmator notify test`".to_owned(),
    };
    let mut tried = Vec::new();
    for (at, hook) in (1..).zip(&notify.webhooks) {
        // Of two on one server the order tells which.
        let (hook, message, name) = (hook.clone(), message.clone(), format!("webhook {at}: {hook}"));
        let sent = spawn_blocking(move || webhook::post(&hook, &message, false)).await;
        let sent = sent.map_err(|error| CliError::failure(error.to_string()))?;
        tried.push((name, sent.map_err(|error| error.to_string())));
    }
    if notify.desktop != NotifyFor::Nothing {
        tried.push(("the desktop".to_owned(), notifier::run(&notifier::for_desktop(&message)).await));
    }
    if let Some(program) = notify.command.first() {
        let sent = notifier::run(&notifier::for_command(&notify.command, &message)).await;
        tried.push((program.clone(), sent));
    }
    if tried.is_empty() {
        writeln!(
            out,
            "No channel is set up: set notify.webhooks, notify.desktop or notify.command in your config.yaml."
        )?;
    }
    for (name, sent) in &tried {
        let name = clean_line(name, 200);
        match sent {
            Ok(()) => writeln!(out, "sent      {name}")?,
            Err(error) => writeln!(out, "not sent  {name}: {}", clean_line(error, 300))?,
        }
    }
    Ok(u8::from(tried.iter().any(|(_, sent)| sent.is_err())))
}

/// What is configured, for `doctor`; `None`: nothing is that works without a screen.
pub fn check(notify: &NotifyConfig) -> Option<Finding> {
    let mut channels: Vec<String> = notify.webhooks.iter().map(ToString::to_string).collect();
    if notify.desktop != NotifyFor::Nothing {
        channels.push(format!("the desktop ({})", notify.desktop.word()));
    }
    channels.extend(notify.command.first().cloned());
    (!channels.is_empty()).then(|| {
        let text = format!("{}; test it with `programmator notify test`", channels.join("; "));
        Finding::new("notify", Mark::Ok, text)
    })
}
