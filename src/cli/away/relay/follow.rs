//! What is continued by a word from the phone: a run that has ended or was stopped, with the person's words or without.

use super::resuming::resume;
use super::steering::runs;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::base::time::Clock;
use crate::cli::away::kept::EndMessage;
use crate::cli::ended::settle::{Answering, note};
use crate::cli::ended::{Ended, is_answer, over};
use crate::cli::error::CliError;
use crate::domain::answerer::Answerer;
use crate::domain::approval::is_no;
use crate::domain::end_answer::{EndAnswer, EndAnswered};
use crate::domain::summary::{Owner, RunState};
use std::sync::Arc;

/// Behind what came of resuming it.
const UNSAID: &str = "\nYour message was not delivered: send it once the run is active.";

/// What an end is answered with.
pub(super) struct Following {
    pub(super) store: Store,
    pub(super) clock: Arc<dyn Clock>,
    /// The end that the person answers, as they have seen it.
    pub(super) seen: Option<EndMessage>,
}

impl Following {
    /// Answers the end of this run, and gives what the person is told. `pressed`: with a button; else `words` are one of the
    /// answers, or for Claude: as one more phase of what is complete, else with its next prompt.
    pub(super) async fn follow(&self, run: RunId, pressed: Option<EndAnswer>, words: &str) -> Result<String, CliError> {
        let runs = runs(&self.store)?;
        let Some(ended) = self.store.runs()?.into_iter().find(|known| known.run == run) else {
            return Ok("That run no longer exists.".to_owned());
        };
        let last = runs.iter().find(|last| last.ticket_path == ended.ticket_path).unwrap_or(&ended);
        // An answer is for the end that the person has seen, as it stands now.
        let seen = self.seen.as_ref();
        let too_late = || {
            let became = seen.and_then(|seen| over(&self.store, &seen.name));
            format!("Too late: {}", became.unwrap_or_else(|| "a run has begun since".to_owned()))
        };
        let Some(end) = Ended::of(&self.store, last.clone())? else {
            let word = words.trim().trim_end_matches(['.', '!']).to_lowercase();
            let meant = pressed.or_else(|| EndAnswer::from_word(&word)).or(is_no(words).then_some(EndAnswer::Leave));
            let is_answer = meant.is_some() || is_answer(words);
            return Ok(match last.owner() {
                _ if last.state == RunState::Ended => format!("The end of {} does not take an answer.", last.ticket),
                _ if meant.is_some_and(|meant| meant != EndAnswer::Resume) => too_late(),
                Owner::Nobody => {
                    let unsaid = if is_answer { "" } else { UNSAID };
                    format!("{}{unsaid}", resume(last).await)
                }
                _ if is_answer => format!("Too late: {} is already running.", last.ticket),
                _ => note(&self.store, last, words, Answerer::PHONE).await,
            });
        };
        let (answer, given) = match pressed.map_or_else(|| end.reply(words), |pressed| Ok((pressed, String::new()))) {
            Ok(meant) => meant,
            Err(why) => return Ok(why),
        };
        // Of a message that is not remembered any more only words are taken, where they can mean no other end.
        let is_only = run == end.run.run && !end.is_again;
        if !seen.map_or(pressed.is_none() && is_only, |seen| seen.name == end.name) {
            let unsaid = if given.is_empty() {
                ""
            } else {
                "\nYour message was not delivered: reply to the ticket's latest end."
            };
            return Ok(format!("{}{unsaid}", too_late()));
        }
        let said = EndAnswered { answer, words: given, by: Answerer::PHONE, failed: None };
        Answering { store: self.store.clone(), clock: Arc::clone(&self.clock) }.answer(&end, said).await
    }
}
