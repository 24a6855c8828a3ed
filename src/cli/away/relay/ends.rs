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
            } else if self.kept.since.is_some_and(|since| run.updated >= since) && !self.is_told(&run) {
                let words = ended(&self.store, &run, self.pairing.detail == Detail::Brief);
                let end = Ended::of(&self.store, run.clone()).ok().flatten();
                let buttons = go_on(end.as_ref());
                if scope.has(&run.ticket) {
                    let (text, has_buttons) = (words.clone(), !buttons.is_empty());
                    let send = move |bot: &Sender<'_>, chat| bot.send(chat, &fit(&words), &buttons, None);
                    let told = self.with_bot(Some(&run.ticket), send).await;
                    if let Ok(message) = &told {
                        self.kept.ends.push((*message, run.run));
                    }
                    if let (Ok(message), Some(end)) = (&told, end.filter(|_| has_buttons)) {
                        let (message, name, run, updated) = (*message, end.name, run.run, run.updated);
                        self.kept.end_messages.push(EndMessage { message, run, name, text, updated, is_closed: false });
                    }
                    passed(told)?;
                }
                // Muted or refused, too: it is not tried again and again.
                let name = self.name_of(&run);
                self.told.insert(run.run, (run.updated, name));
                self.kept.ended.insert(run.run);
            }
        }
        Ok(())
    }

    /// This end of the run was told, and not only an earlier one: a run may be resumed and end again between two looks.
    fn is_told(&mut self, run: &RunSummary) -> bool {
        if !self.kept.ended.contains(&run.run) {
            return false;
        }
        let told = self.told.get(&run.run);
        if told.is_some_and(|(updated, _)| *updated == run.updated) {
            return true;
        }
        let name = self.name_of(run);
        // What was told by a relay before this one is known to be told, and no more.
        let is_same = told.is_none_or(|(_, told)| *told == name);
        if is_same {
            self.told.insert(run.run, (run.updated, name));
        }
        is_same
    }

    /// What this end is called, where anything can follow it.
    fn name_of(&self, run: &RunSummary) -> Option<String> {
        Some(Ended::of(&self.store, run.clone()).ok().flatten()?.name)
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
