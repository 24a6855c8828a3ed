//! Deciding what is no question of Claude's, from a terminal or the phone: said to the program that works on the run, and
//! told once its records show it.

use super::{Decided, Decision};
use crate::adapters::store::Store;
use crate::cli::error::CliError;
use crate::domain::answerer::Answerer;
use crate::domain::summary::RunSummary;
use crate::orchestrator::apply::folded;
use crate::runtime::heard::say;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// How long an answer may take to be recorded, and how often is looked.
pub(in crate::cli) const PATIENCE: Duration = Duration::from_secs(5);
pub(in crate::cli) const LOOK: Duration = Duration::from_millis(20);
/// How long a run that tries again may take to be let through.
const LIMIT: Duration = Duration::from_secs(3);

/// What is decided about.
#[derive(Clone, Copy)]
pub(in crate::cli) struct About<'a> {
    pub(in crate::cli) run: &'a RunSummary,
    /// As the person has seen it.
    pub(in crate::cli) decision: &'a Decision,
}

impl About<'_> {
    /// Decides by these words. `accept`: takes the phase with this text for done, for this reason. Gives what became of it;
    /// the error says for the person why nothing did.
    pub(in crate::cli) async fn decide(
        self,
        store: &Store,
        words: &[String],
        by: Answerer,
        accept: impl AsyncFnOnce(String, String) -> Result<(), CliError>,
    ) -> Result<&'static str, CliError> {
        let since = store.load(self.run.run)?.records.last().map_or(0, |stored| stored.seq);
        match self.decision.decide(words).map_err(CliError::usage)? {
            Decided::Say(command) => {
                let said = say(store, self.run, command, by).await;
                said.map_err(|why| CliError::failure(format!("not decided: {}", why.words())))?;
            }
            Decided::Accept(phase, reason) => accept(phase, reason).await?,
        }
        self.settled(store, words, since).await
    }

    /// What came of it, once that has taken its moment. `since`: the last record before it was said.
    async fn settled(self, store: &Store, words: &[String], since: u64) -> Result<&'static str, CliError> {
        let begun = Instant::now();
        loop {
            let records = store.load(self.run.run)?.records;
            let mut new = records.iter().filter(|stored| stored.seq > since);
            match new.find_map(|stored| self.decision.decided_so(&stored.record, words)) {
                Some(true) => return Ok(self.decision.told(words)),
                Some(false) => return Err(CliError::failure("too late: already decided elsewhere")),
                None => {}
            }
            let now = Decision::all(self.run.run, &folded(records.clone()), &records);
            if !now.iter().any(|one| one.name == self.decision.name) {
                return Err(CliError::failure(
                    "not decided: it has changed since you looked; see `programmator queue`",
                ));
            }
            if self.decision.is_parked() && begun.elapsed() > LIMIT {
                return Err(CliError::failure("retried, but still limited (`programmator queue` shows until when)"));
            }
            if begun.elapsed() > PATIENCE {
                return Err(CliError::failure(
                    "sent, but not applied yet: `programmator queue` shows whether it is still waiting",
                ));
            }
            sleep(LOOK).await;
        }
    }
}
