//! What the screen leaves on the normal one: what became of each run, and how to go on with it.

use super::error::CliError;
use super::session::Session;
use crate::base::amount::counted;
use crate::base::id::RunId;
use crate::base::text::{Clean, clean_line};
use crate::domain::breaker::Circuit;
use crate::domain::messages::reason_words;
use crate::domain::news::News;
use crate::domain::outcome::ExitReason;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::reporter::Subscription;
use crate::runtime::shutdown::Signals;
use crate::runtime::source_replies::Replying;
use crate::tui::command::{Command, Scope};
use crate::tui::tab::Tab;
use crate::tui::ui::Ui;
use std::io::{Write as _, stdout};

/// What is left of the runs when the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// The store: they can be resumed.
    Kept,
    /// Nothing.
    Removed,
}

/// One line a run: how it ended, and how to resume it.
pub(super) fn farewell(session: &Session, model: &Ui, after: After) -> Result<(), CliError> {
    for ticket in model.committing.values() {
        let _ = writeln!(
            stdout(),
            "{ticket}  git is still committing (hooks, signing); until programmator is started here again, `git status` shows the committed files as changed"
        );
    }
    for (words, text) in unsent(model) {
        let _ = writeln!(stdout(), "{words}");
        if let Some(text) = text {
            let _ = writeln!(stdout(), "{text}");
        }
    }
    let is_left = |tab: &&Tab| !model.handed_over.contains(&tab.id);
    let shown: Vec<(RunId, &Tab)> = model.tabs.iter().filter(is_left).filter_map(|tab| Some((tab.run?, tab))).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let store = session.store()?;
    let is_shown = |run: &RunSummary| shown.iter().any(|(shown, _)| *shown == run.run);
    // What the person has started themselves goes on in its own terminal.
    let runs = store.runs()?.into_iter().filter(|run| is_shown(run) && !run.is_own_session());
    let runs = runs.map(|run| store.as_seen(run)).collect::<Result<Vec<_>, _>>()?;
    for (run, tab) in shown.iter().filter_map(|(shown, tab)| Some((runs.iter().find(|run| run.run == *shown)?, tab))) {
        let complete = tab.state.ended.as_ref().is_some_and(|ended| ended.reason == ExitReason::Complete);
        let caveats = if complete { tab.state.caveats() } else { String::new() };
        // Nobody may be reading any more.
        let is_broken = tab.state.breaker.state == Circuit::Open;
        let _ = writeln!(stdout(), "{}", last_line(run, &caveats, is_broken, after));
    }
    Ok(())
}

/// What is said of each message to Claude that was typed and not sent, and its text where it could not be kept.
fn unsent(model: &Ui) -> Vec<(String, Option<Clean>)> {
    let key = model.keys.key_of(Scope::Global, Command::Steer);
    let line = |tab: &Tab| {
        let (text, is_kept) =
            model.unsent.messages().find(|(of, ..)| *of == tab.id.file()).map(|(_, text, is)| (text, is))?;
        let words = if is_kept {
            format!("{}  your message was not sent; {key} continues it when the ticket is open again", tab.id)
        } else {
            format!("{}  your message was not sent, and could not be kept:", tab.id)
        };
        Some((words, (!is_kept).then(|| Clean::new(text))))
    };
    model.tabs.iter().filter_map(line).collect()
}

/// Waits for what issues are told still; a signal leaves that. What came of it, and was `told` when the screen was gone, is said.
pub(super) async fn last_replies(replying: Replying, told: &mut Subscription) {
    if replying.is_at_work() {
        let _ = writeln!(stdout(), "Updating the ticket's issue … Ctrl-C skips it.");
    }
    let signal = async {
        match Signals::listen() {
            Ok(mut signals) => _ = signals.next().await,
            Err(_) => std::future::pending().await,
        }
    };
    let open = replying.finish(signal).await;
    while let Some(news) = told.try_next() {
        if let News::SourceReplied { ticket, message } | News::Trouble { ticket, message } = news {
            let _ = writeln!(stdout(), "{}  {}", ticket.id(), clean_line(&message, 1_000));
        }
    }
    for words in open {
        let _ = writeln!(stdout(), "{words}");
    }
}

/// `is_broken`: its circuit breaker is open, so that nothing is begun before it is reset.
fn last_line(run: &RunSummary, caveats: &str, is_broken: bool, after: After) -> String {
    let resume = if run.is_chat() {
        "`programmator chat --resume` continues".to_owned()
    } else {
        format!("`programmator resume {}` continues", run.ticket)
    };
    let (how, next) = match run.reason.as_deref().and_then(ExitReason::from_word) {
        Some(ExitReason::Complete) if run.is_chat() => ("complete", None),
        Some(ExitReason::Complete) => {
            ("complete", Some(format!("`programmator report {}` shows what was done", run.ticket)))
        }
        Some(ExitReason::UserStopped) => ("stopped", Some(resume)),
        Some(reason) if is_broken || reason == ExitReason::CircuitOpen => {
            (reason_words(reason), Some(format!("`programmator circuit reset {}` allows a new run", run.ticket)))
        }
        Some(ExitReason::Drafted) => {
            ("draft ready", Some(format!("`programmator plan {}` shows the draft", run.ticket)))
        }
        Some(reason) if reason.is_resumable() => (reason_words(reason), Some(resume)),
        Some(reason) => (reason_words(reason), Some(format!("`programmator {}` starts a new run", run.ticket))),
        // Another program works on it.
        None if run.owner() == Owner::Another => {
            let does = match run.state {
                RunState::Waiting => "waiting for you in the background",
                _ => "still running in the background",
            };
            (does, Some(format!("`programmator attach {}` shows it", run.ticket)))
        }
        None => (run.state.word(), Some(resume)),
    };
    let phases = if run.phases == 0 { String::new() } else { format!(" · {}/{} phases", run.phases_done, run.phases) };
    let iterations = counted(run.iterations as usize, "iteration");
    let next = next.filter(|_| after == After::Kept).map_or_else(String::new, |next| format!("; {next}"));
    format!("{}  {how}{caveats}{phases} · {iterations} · ${:.2}{next}", run.ticket, run.cost_usd)
}
