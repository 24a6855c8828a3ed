//! Answering the end of a run: the answer is recorded behind the end, and then done, by one program at a time.
//!
//! The first answer that is recorded counts. Where a program is killed between the two, the next one to answer, or the next
//! relay, finds the record and does what it says; what is done already is not done twice.

use super::{Ended, LATE, named, too_late};
use crate::adapters::git::worktree;
use crate::adapters::own_program;
use crate::adapters::store::{Store, SweepLock};
use crate::adapters::tickets;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Clock;
use crate::cli::error::CliError;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::end_answer::{EndAnswer, EndAnswered};
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Record, TicketRevised};
use crate::domain::request::{BoxOutcome, PhasesEdit};
use crate::domain::summary::RunSummary;
use crate::domain::ticket::revise::TicketEdit;
use crate::orchestrator::state::State;
use crate::runtime::heard::say;
use crate::runtime::offline::Offline;
use crate::runtime::supervisor::OpenError;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// Most characters of a phase that is written as an answer.
const PHASE: usize = 500;
/// How long after an answer was recorded it is still carried out, and why it is not after that.
const FRESH: Duration = Duration::from_secs(300);
const FORGOTTEN: &str = "the process that took this answer was killed more than five minutes ago: answer again";
/// How long an answer of another program is waited for, and how often is looked.
const PATIENCE: Duration = Duration::from_secs(90);
const LOOK: Duration = Duration::from_millis(50);

/// How long a program may hold a ticket whose run has ended.
const LETTING_GO: Duration = Duration::from_secs(3);

/// What answers are recorded with.
pub(in crate::cli) struct Answering {
    pub(in crate::cli) store: Store,
    pub(in crate::cli) clock: Arc<dyn Clock>,
}

impl Answering {
    /// Answers this end. Gives what came of it; the error says for the person why nothing did, or who was first.
    pub(in crate::cli) async fn answer(&self, ended: &Ended, said: EndAnswered) -> Result<String, CliError> {
        let length = said.words.chars().count();
        if said.answer == EndAnswer::Phase && length > PHASE {
            let why = format!("not answered: a phase has at most {PHASE} characters, and this has {length}");
            return Err(CliError::usage(format!("{why}; write longer text into the ticket's file")));
        }
        let (_lock, now) = self.alone(ended).await?;
        if let Some(old) = now.answered.clone().filter(|_| self.is_forgotten(&now)) {
            self.give_up(&now, old, FORGOTTEN).await;
        }
        let Some(first) = now.answered.clone().filter(|_| !self.is_forgotten(&now)) else {
            self.record(&now, said.clone()).await?;
            return self.carry_out(&now, &said).await;
        };
        if first.answer != EndAnswer::Leave {
            // Whoever took that answer is gone, and has not done it.
            let told = self.carry_out(&now, &first).await?;
            return if first == said { Ok(told) } else { Err(too_late(&format!("{}. {told}", first.told()))) };
        }
        if first == said { Ok(left(&now)) } else { Err(too_late(&first.told())) }
    }

    /// Does what was answered to ends by programs that were killed before they could, unless that is too long ago. Gives of
    /// which tickets nothing came of it, and why.
    pub(in crate::cli) async fn catch_up(&self) -> Result<Vec<(TicketId, String)>, CliError> {
        let mut failed = Vec::new();
        for ended in super::begun(&self.store)? {
            let Some(said) = ended.answered.clone() else { continue };
            let ticket = ended.run.ticket.clone();
            if !self.is_forgotten(&ended) {
                let done = self.answer(&ended, said).await;
                failed.extend(done.err().filter(|why| !why.message.starts_with(LATE)).map(|why| (ticket, why.message)));
            } else if let Ok((_lock, now)) = self.alone(&ended).await
                && self.is_forgotten(&now)
            {
                failed.push((ticket, format!("`{}`: {FORGOTTEN}{}", said.answer.word(), said.lost_words())));
                self.give_up(&now, said, FORGOTTEN).await;
            }
        }
        Ok(failed)
    }

    /// It was answered so long ago that the person does not expect any more that something comes of it.
    fn is_forgotten(&self, ended: &Ended) -> bool {
        ended.is_begun() && self.clock.now().since(ended.run.updated) > FRESH
    }

    /// The end as it is once nobody else answers it.
    async fn alone(&self, ended: &Ended) -> Result<(SweepLock, Ended), CliError> {
        let (path, begun) = (Path::new(&ended.run.ticket_path), Instant::now());
        loop {
            let lock = self.store.lock_answer(path)?;
            // Who comes too late is told so at once.
            let now = named(&self.store, &ended.name)?.ok_or_else(|| too_late("the run no longer exists"))?;
            match (lock, &now.answered) {
                (Some(lock), _) => return Ok((lock, now)),
                (None, Some(first)) => return Err(too_late(&first.told())),
                (None, None) if begun.elapsed() > PATIENCE => {
                    return Err(CliError::failure(
                        "not answered: another process is answering it and has not finished",
                    ));
                }
                (None, None) => sleep(LOOK).await,
            }
        }
    }

    /// Behind the run's end, where it is still the ticket's last.
    async fn record(&self, ended: &Ended, said: EndAnswered) -> Result<(), CliError> {
        let (run, begun) = (ended.run.run, Instant::now());
        loop {
            let said = said.clone();
            let records = move |state: &State| {
                let is_last = state.run == Some(run) && state.ended.is_some();
                is_last.then_some(Record::EndAnswered(said)).into_iter().collect()
            };
            match self.offline().append(Path::new(&ended.run.ticket_path), records).await {
                // The program whose run has ended lets go of the ticket a moment later.
                Err(OpenError::Held { .. }) if begun.elapsed() < LETTING_GO => sleep(LOOK).await,
                Ok(false) => return Err(too_late("a new run has started since")),
                appended => return Ok(appended.map(drop)?),
            }
        }
    }

    async fn carry_out(&self, ended: &Ended, said: &EndAnswered) -> Result<String, CliError> {
        match self.act(&ended.run, said).await {
            Ok(told) => Ok(told),
            Err(why) => {
                self.give_up(ended, said.clone(), &why).await;
                Err(CliError::failure(format!("{why}{}", said.lost_words())))
            }
        }
    }

    /// Nothing came of this answer: the end waits again.
    async fn give_up(&self, ended: &Ended, said: EndAnswered, why: &str) {
        if let Err(error) = self.record(ended, EndAnswered { failed: Some(why.to_owned()), ..said }).await {
            tracing::warn!(error = %error.message, "a failed answer could not be recorded");
        }
    }

    /// Does what is not done yet.
    async fn act(&self, run: &RunSummary, said: &EndAnswered) -> Result<String, String> {
        let (ticket, file, words) = (&run.ticket, run.ticket_path.as_str(), said.words.as_str());
        let id = run.run.to_string();
        if matches!(said.answer, EndAnswer::Merge | EndAnswer::Resolve)
            && let Some(why) = merged_since(run).await
        {
            return Err(why);
        }
        match said.answer {
            EndAnswer::Leave => Ok(format!("{ticket} is left as it is")),
            EndAnswer::Resolve => told(typed(&run.folder, &["run", "--resolve", "--detach", "--", file]).await),
            EndAnswer::Merge => told(typed(&run.folder, &["resume", "--detach", "--", &id]).await),
            EndAnswer::Resume => {
                // Whichever run begins finds the words behind this end.
                let args = if is_resumable(run) { ["resume", id.as_str()] } else { ["run", file] };
                let begun = told(typed(&run.folder, &[args[0], "--detach", "--", args[1]]).await)?;
                Ok(if words.is_empty() { begun } else { format!("{begun}\nYour message goes into its first prompt.") })
            }
            EndAnswer::Phase => {
                let phase = clean_line(words, PHASE);
                let added = if has_phase(file, &phase) { None } else { self.add(run, phase, said.by.clone()).await? };
                match told(typed(&run.folder, &["run", "--detach", "--", file]).await) {
                    Ok(begun) => Ok(format!("Your words are the next phase of {ticket}. {begun}")),
                    Err(why) => Err(format!("{why}{}", self.take_back(run, added, said.by.clone()).await)),
                }
            }
        }
    }

    /// In this process: whoever finds the answer after it was killed finds the phase as well, or nobody adds it any more. Gives
    /// what was changed.
    async fn add(&self, run: &RunSummary, phase: String, by: Answerer) -> Result<Option<TicketRevised>, String> {
        let add = PhasesEdit::Text(TicketEdit::Add { texts: vec![phase], after: None });
        let done = self.offline().edit(&run.key(), Path::new(&run.ticket_path), &add, by).await;
        let (outcome, revised) = done.map_err(|error| error.to_string())?;
        match outcome {
            BoxOutcome::Done | BoxOutcome::Already | BoxOutcome::Handed { .. } | BoxOutcome::Noted { .. } => {
                Ok(revised)
            }
            BoxOutcome::NotTaken { holder } | BoxOutcome::Unknown { holder } => {
                Err(format!("{holder} is running {} and did not respond", run.ticket))
            }
            BoxOutcome::NotWritten(why) => Err(why),
        }
    }

    /// Nothing came of the answer: the phase that was added for it goes again. Gives what is said of one that stays.
    async fn take_back(&self, run: &RunSummary, added: Option<TicketRevised>, by: Answerer) -> &'static str {
        let Some(added) = added else { return "" };
        let undo = PhasesEdit::Undo(Box::new(added));
        match self.offline().edit(&run.key(), Path::new(&run.ticket_path), &undo, by).await {
            Ok((BoxOutcome::Done | BoxOutcome::Already, _)) => "",
            _ => "\nThe phase stays in the ticket.",
        }
    }

    fn offline(&self) -> Offline {
        Offline::of(self.store.clone(), Arc::clone(&self.clock))
    }
}

/// Why there is nothing to be merged any more: somebody has brought the work into its base, or taken it away, since the run ended.
async fn merged_since(run: &RunSummary) -> Option<String> {
    let own = run.worktree.as_ref()?;
    // What git cannot tell is found out by the run.
    let held = worktree::held(own).await.ok()?;
    let (ticket, branch, base) = (&run.ticket, clean_line(&own.branch, 100), clean_line(&own.base, 100));
    held.is_nothing().then(|| {
        format!(
            "the branch {branch} has no commits that {base} lacks: it was merged or removed since the run ended. `programmator resume {ticket}` records that; `leave` removes it from the queue"
        )
    })
}

fn left(ended: &Ended) -> String {
    format!("{} is left as it is", ended.run.ticket)
}

fn is_resumable(run: &RunSummary) -> bool {
    run.reason.as_deref().and_then(ExitReason::from_word).is_none_or(ExitReason::is_resumable)
}

/// It was added by a program that was killed before it could begin the run.
fn has_phase(file: &str, text: &str) -> bool {
    tickets::load(Path::new(file))
        .is_ok_and(|ticket| ticket.phases.iter().any(|phase| !phase.done && clean_line(&phase.text, PHASE) == text))
}

/// Words for the Claude of this run.
pub(in crate::cli) async fn note(store: &Store, run: &RunSummary, words: &str, by: Answerer) -> String {
    match say(store, run, UserCommand::Steer { text: words.to_owned() }, by).await {
        Ok(()) => format!("{} gets your message.", run.ticket),
        Err(why) => why.words(),
    }
}

/// What came of it; what is to be typed next is nothing for an answer.
pub(in crate::cli) fn told(came: Result<String, String>) -> Result<String, String> {
    came.map(|words| words.lines().next().unwrap_or_default().to_owned())
}

/// What is typed in a terminal in this folder; what the program prints, or why it did nothing.
pub(in crate::cli) async fn typed(folder: &str, args: &[&str]) -> Result<String, String> {
    let program = own_program::to_start().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(args).current_dir(folder).stdin(Stdio::null());
    let done = spawn_blocking(move || command.output()).await.map_err(|error| error.to_string())?;
    let done = done.map_err(|error| error.to_string())?;
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if done.status.success() { Ok(words(&done.stdout)) } else { Err(words(&done.stderr)) }
}
