//! The ends of runs on the phone: told once each, and what was answered to them.

use super::words::{ended, fit, go_on};
use super::{Relay, passed};
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::Detail;
use crate::cli::away::kept::EndMessage;
use crate::cli::away::scope::Scope;
use crate::cli::away::sent::Sender;
use crate::cli::ended::{self, Ended};
use crate::domain::summary::{RunState, RunSummary};

impl Relay {
    /// Runs that have ended since the phone was turned on; one that was resumed ends again.
    pub(super) async fn tell_ends(&mut self, scope: &Scope) -> Result<(), BotError> {
        let Ok(runs) = self.store.runs() else { return Ok(()) };
        self.close_ends(&runs).await?;
        for run in runs.into_iter().filter(|run| !run.is_chat() && !run.is_own_session()) {
            if run.state != RunState::Ended {
                self.kept.ended.remove(&run.run);
            } else if let Some(count) = self.new_end(&run) {
                // What cannot be read now is told at the next look.
                let Ok(end) = Ended::of(&self.store, run.clone()) else { continue };
                if scope.has(&run.ticket) {
                    self.tell_end(&run, end).await?;
                }
                // Muted or refused, too: it is not tried again and again.
                self.kept.told_ends.insert(run.run, count);
                self.told.insert(run.run, run.updated);
                // A relay that is killed here tells nothing twice.
                self.keep();
            }
        }
        Ok(())
    }

    async fn tell_end(&mut self, run: &RunSummary, end: Option<Ended>) -> Result<(), BotError> {
        let text = ended(&self.store, run, self.pairing.detail == Detail::Brief);
        let buttons = go_on(end.as_ref());
        let (words, is_closed) = (fit(&text), buttons.is_empty());
        let told = self.with_bot(Some(&run.ticket), move |bot, chat| bot.send(chat, &words, &buttons, None)).await;
        if let Ok(message) = &told {
            self.kept.ends.push((*message, run.run));
            // Also one without buttons: a reply to it is for this end and no later one.
            if let Some(end) = end {
                let (message, name, run, updated) = (*message, end.name, run.run, run.updated);
                self.kept.end_messages.push(EndMessage { message, run, name, text, updated, is_closed });
            }
        }
        passed(told)
    }

    /// How many ends this run has had, where the last of them is to be told: a run may be resumed and end again between two
    /// looks or two relays, and what is recorded behind an end makes no new one of it.
    fn new_end(&mut self, run: &RunSummary) -> Option<u32> {
        let since = self.kept.since.filter(|since| run.updated >= *since)?;
        if self.told.get(&run.run) == Some(&run.updated) {
            return None;
        }
        let times = ended::times(&self.store, run.run).ok()?;
        let count = u32::try_from(times.len()).unwrap_or(u32::MAX);
        if self.kept.ended.remove(&run.run) {
            self.kept.told_ends.insert(run.run, count);
        }
        let is_new = times.last().is_some_and(|at| *at >= since)
            && self.kept.told_ends.get(&run.run).is_none_or(|told| *told < count);
        if !is_new {
            self.told.insert(run.run, run.updated);
        }
        is_new.then_some(count)
    }

    /// Messages whose buttons are of no use any more say what was answered, or that a run has begun since.
    async fn close_ends(&mut self, runs: &[RunSummary]) -> Result<(), BotError> {
        for at in 0..self.kept.end_messages.len() {
            let message = &self.kept.end_messages[at];
            let Some(run) = runs.iter().find(|run| run.run == message.run).filter(|_| !message.is_closed) else {
                continue;
            };
            // Runs are the newest first.
            let last = runs.iter().find(|last| last.ticket_path == run.ticket_path);
            let is_last = last.is_some_and(|last| last.run == run.run);
            if is_last && run.updated == message.updated {
                continue;
            }
            let Some(over) = ended::over(&self.store, &message.name) else {
                self.kept.end_messages[at].updated = run.updated;
                continue;
            };
            let (number, text) = (message.message, format!("{}\n\n▪ {over}", message.text));
            let edit = move |bot: &Sender<'_>, chat| bot.edit(chat, number, &fit(&text), false);
            passed(self.with_bot(Some(&run.ticket), edit).await)?;
            self.kept.end_messages[at].is_closed = true;
        }
        Ok(())
    }
}
