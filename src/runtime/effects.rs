//! Performing effects: the only place that does things for a run. Results come back as inputs.
//!
//! Anything that takes time is a task of its own; all of them end when the run ends.

mod agent;
mod answer;
mod check;
mod commit;
mod conflict;
mod lasting;
mod ledger;
mod merge;
mod plan;
mod repository;
pub mod tree;
mod worktree;

use self::lasting::Lasting;
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::{Agent, Ahead, orphans};
use crate::adapters::git::WorkTree;
use crate::adapters::scratch_folder;
use crate::adapters::store::{RunScrollback, Store, TreeLock};
use crate::adapters::tickets::{self, TicketWriter};
use crate::base::id::{RunId, TicketId};
use crate::base::time::{Clock, Timestamp};
use crate::config::Config;
use crate::domain::note::SENT_AS;
use crate::domain::record::{OfPhase, RevisionSettled, TicketRevised, WriteOutcome};
use crate::domain::ticket::revise::{TicketEdit, revise};
use crate::domain::tool_call::ToolCall;
use crate::domain::workspace::Workspace;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::input::Input;
use crate::orchestrator::prompt::Templates;
use crate::orchestrator::state::State;
use crate::runtime::gate::Gate;
use crate::runtime::reporter::Reporter;
use crate::runtime::ticket_file::TicketFile;
use std::collections::HashMap;
use std::io;
use std::mem::Discriminant;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OnceCell, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};

/// What the effects of one run work with.
pub struct Effects {
    pub run: RunId,
    pub ticket: TicketId,
    pub ticket_path: PathBuf,
    /// The same, to be read again.
    pub ticket_file: Arc<TicketFile>,
    pub workspace: Workspace,
    /// The run is neither a chat nor a plan.
    pub works: bool,
    /// The run's own folder for temporary files.
    pub scratch: PathBuf,
    pub store: Store,
    pub scrollback: RunScrollback,
    pub clock: Arc<dyn Clock>,
    pub gate: Gate,
    pub config: Arc<Config>,
    pub templates: Arc<Templates>,
    /// Front ends: what they are told, and who can be asked there.
    pub reporter: Reporter,
    pub inputs: mpsc::Sender<Input>,
    pub work: Work,
}

/// Clock and sleep may differ by this much; more is a suspended machine or a clock that was set.
const JUMP: Duration = Duration::from_secs(30);

/// What is under way for a run.
#[derive(Default)]
pub struct Work {
    claude: Arc<Mutex<Claude>>,
    /// A keeper for the next Claude.
    ahead: Arc<Mutex<Option<Ahead>>>,
    /// What was said of the repository's own files for Claude.
    announced: Option<String>,
    /// What was said of its configuration of git.
    announced_git: Option<String>,
    /// Calls whose `can_use_tool` is not answered, by Claude's ids of them.
    asked: HashMap<String, ToolCall>,
    /// Folders that calls were made from, where it is not the run's.
    places: HashMap<String, String>,
    tree: Arc<Mutex<Tree>>,
    /// What was changed since the phase began, where the next prompt shows it.
    shown: Arc<Mutex<String>>,
    evidence: Arc<OnceCell<WorkTree>>,
    /// Counts the lines that the ticket's runs have changed.
    lines: Option<JoinHandle<Option<(u64, u64)>>>,
    timers: HashMap<Discriminant<Timer>, AbortHandle>,
    /// Ends the validation commands.
    validation: Option<oneshot::Sender<()>>,
    /// Ends with the last write of a box.
    box_written: Option<oneshot::Receiver<()>>,
    tasks: Vec<AbortHandle>,
    lasting: Lasting,
}

/// The right to work in the folder, as far as the run has come to it.
#[derive(Default)]
enum Tree {
    #[default]
    Free,
    /// It is waited for; who had it, in words.
    Awaited(String),
    Held(#[allow(dead_code, reason = "held by being there")] TreeLock),
}

/// Claude's process, as far as it has come.
#[derive(Default)]
enum Claude {
    #[default]
    None,
    /// It is being started, by this task: ending the task ends what there is of it.
    Starting(AbortHandle),
    Started(Arc<Agent>),
}

impl Effects {
    /// Performs one effect. Waits for nothing that takes longer than a queue's place. A verdict is given back: nothing
    /// that would change it may come before it.
    pub async fn perform(&mut self, effect: Effect, state: &State) -> Option<Input> {
        match effect {
            Effect::MakeWorktree(worktree) => {
                self.make_worktree(*worktree, state.settings.git.merge, state.settings.validation_timeout);
            }
            Effect::AcquireTree => self.acquire_tree(state),
            Effect::SwitchBranch(switch) => self.switch_branch(*switch),
            Effect::ReleaseTree => *lock(&self.work.tree) = Tree::Free,
            Effect::Admit(ask) => self.admit(*ask),
            Effect::TakeSnapshot { n, shown_since } => self.take_snapshot(n, shown_since),
            Effect::Spawn(spawn) => self.spawn_agent(&spawn),
            Effect::SendFollowUp { n, prompt } => self.send_follow_up(n, &prompt).await,
            Effect::SendNote { id, text } => {
                // Said by itself, a note that begins with `/` would be a command of Claude's.
                let said = format!("{SENT_AS}{text}");
                self.say(&id, &said).await;
            }
            Effect::Judge { n, call } => return self.judge(n, call),
            Effect::JudgeEdit { asked, by, input } => return Some(self.judge_edit(&asked, by, input)),
            Effect::Rejudge { id, input } => return self.rejudge(id, input),
            Effect::ResolveApproval { id, answer } => self.settle(&id, answer).await,
            Effect::Unlock { rules } => return self.gate.unlock(&rules).map(|words| Input::RulesOpened { words }),
            Effect::KillAgent { n } => self.end_agent(n, Ladder::KILL),
            Effect::Answer { request, verdict, reason } => self.answer(request, verdict, reason).await,
            Effect::Interrupt { .. } => self.interrupt().await,
            Effect::CloseInput { .. } => {
                self.close_input().await;
                self.look_ahead();
            }
            Effect::StopAgent { n } => self.end_agent(n, Ladder::DEFAULT),
            Effect::Arm { timer, at } => self.arm(timer, at),
            Effect::GatherEvidence { n, iteration_base, phase_base } => {
                self.gather_evidence(n, iteration_base, phase_base);
            }
            Effect::RunValidation { n, commands } => self.run_validation(n, commands, state),
            Effect::StopValidation => {
                if let Some(stop) = self.work.validation.take() {
                    // They may have finished by now.
                    let _: Result<(), ()> = stop.send(());
                }
            }
            Effect::SetBox { phase, done } => self.set_box(state, phase, done),
            Effect::PlanEdit { id, edit } => self.plan_edit(id, *edit),
            Effect::Revise(revised) => self.revise(*revised),
            Effect::PlaceDraft { plan } => self.place_draft(&plan),
            Effect::TryCommands { commands } => self.try_commands(&commands, state),
            Effect::SetStatus { to } => {
                let file = self.ticket_file.clone();
                self.answer_with(async move {
                    let outcome = file.write_aside(move |ticket| ticket.set_status(to)).await;
                    Input::StatusSettled { to, outcome }
                });
            }
            Effect::PlanCommit(own) => self.plan_commit(*own),
            Effect::MakeCommit { id, agreed } => self.make_commit(id, *agreed),
            Effect::RecoverCommit(open) => self.recover_commit(*open),
            Effect::MergeWork { how, commands, title } => {
                self.merge_work(how, commands, &title, state.settings.validation_timeout);
            }
            Effect::Conflict { work, made, title } => self.conflict(work, made, &title),
            Effect::SeekPerson => return Some(Input::PersonSought { presence: self.reporter.presence() }),
            Effect::Finish => self.finish().await,
        }
        None
    }

    /// Ticks the box of a phase in the file or unticks it: one write after the other, in the order they were decided in.
    fn set_box(&mut self, state: &State, phase: OfPhase, done: bool) {
        let place = phase.id.and_then(|id| state.place(id)).map(|(text, nth)| (text.to_owned(), nth));
        let change = if done { TicketWriter::tick } else { TicketWriter::reopen };
        let (on_disk, stored) = oneshot::channel();
        let synced = self.store.synced();
        tokio::spawn(async move { on_disk.send(synced.await) });
        let write = move |ticket: &mut TicketWriter| {
            ticket.after(move || match stored.blocking_recv() {
                Ok(synced) => synced.map_err(io::Error::other),
                Err(ended) => Err(io::Error::other(ended)),
            });
            place.map_or(WriteOutcome::NotThere, |(text, nth)| change(ticket, text, nth))
        };
        let (before, ended) = (self.work.box_written.take(), oneshot::channel());
        self.work.box_written = Some(ended.1);
        let file = self.ticket_file.clone();
        self.answer_unless_fine(async move {
            if let Some(before) = before {
                // It is dropped when the write before has ended.
                let _: Result<(), _> = before.await;
            }
            file.write(write, |outcome, reading| Input::BoxSettled { phase, done, outcome, reading }).await;
            drop(ended.0);
            None
        });
    }

    /// Looks what an edit would change in the file as it is now.
    fn plan_edit(&mut self, id: String, edit: TicketEdit) {
        let (path, now) = (self.ticket_path.clone(), self.clock.now());
        self.answer_with(async move {
            let plan = move || {
                let bytes = tickets::read(&path).map_err(|error| error.to_string())?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let revised = revise(&bytes, &name, &edit, now).map_err(|why| why.to_string())?;
                // The run itself renames no phase.
                Ok(revised.revision)
            };
            let planned = tokio::task::spawn_blocking(plan).await.unwrap_or_else(|error| Err(error.to_string()));
            Input::EditPlanned { id, planned }
        });
    }

    /// Changes the ticket's text, and reads it: the run goes by the phases that it has then.
    fn revise(&mut self, revised: TicketRevised) {
        let (file, revision) = (self.ticket_file.clone(), revised.revision.clone());
        self.answer_with(async move {
            let outcome = file.write_aside(move |ticket| ticket.revise(revision)).await;
            file.read().await;
            Input::RevisionSettled(RevisionSettled { revised, outcome })
        });
    }

    /// Ends everything that is under way: Claude by the ladder, commands by dropping, locks by release.
    pub async fn finish(&mut self) {
        self.work.lasting.ended().await;
        for task in self.work.tasks.drain(..).chain(self.work.timers.drain().map(|(_, task)| task)) {
            task.abort();
        }
        drop(lock(&self.work.ahead).take());
        let claude = std::mem::take(&mut *lock(&self.work.claude));
        if let Claude::Started(agent) = claude {
            agent.stop(&Ladder::DEFAULT).await;
        }
        if let Err(error) = Self::settle_tree(&self.work.evidence).await {
            tracing::warn!(%error, "the last state of the files is not kept");
        }
        self.ticket_file.finish().await;
        // What Claude or a validation command put into the background does not outlive the run.
        let run = self.run;
        let clear = move || {
            orphans::sweep(&[run.to_string()]);
            scratch_folder::remove(run);
        };
        let _ = tokio::task::spawn_blocking(clear).await;
        *lock(&self.work.tree) = Tree::Free;
    }

    fn arm(&mut self, timer: Timer, at: Timestamp) {
        let wait = at.since(self.clock.now());
        let (claude, reporter) = (self.work.claude.clone(), self.reporter.clone());
        let (inputs, clock, began) = (self.inputs.clone(), self.clock.clone(), self.clock.now());
        let task = tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            // When far more time has passed than was slept, the machine was: that is no silence of Claude's.
            let now = clock.now();
            let jumped = now < began || now.since(began) > wait + JUMP;
            let last_byte = match &*lock(&claude) {
                _ if jumped => now,
                _ if matches!(timer, Timer::Approval(_)) => reporter.last_touched(),
                Claude::Started(agent) if matches!(timer, Timer::FirstByte(_)) => agent.last_answer(),
                Claude::Started(agent) => agent.last_byte(),
                _ => began,
            };
            let _ = inputs.send(Input::TimerFired { timer, last_byte }).await;
        });
        let earlier = self.work.timers.insert(std::mem::discriminant(&timer), task.abort_handle());
        if let Some(earlier) = earlier {
            earlier.abort();
        }
    }

    /// Does `work` in a task of its own; its input goes to the core unless the run ends before.
    fn answer_with(&mut self, work: impl Future<Output = Input> + Send + 'static) {
        let inputs = self.inputs.clone();
        let task = tokio::spawn(async move {
            let input = work.await;
            let _ = inputs.send(input).await;
        });
        self.work.tasks.retain(|task| !task.is_finished());
        self.work.tasks.push(task.abort_handle());
    }

    /// The same for work of git's that a run which ends gives its time.
    fn answer_at_last(&mut self, work: impl Future<Output = Input> + Send + 'static) {
        let lasting = self.work.lasting.clone();
        let begun = lasting.begin();
        self.answer_with(async move {
            let input = work.await;
            drop(begun);
            input
        });
    }

    /// Tells the core at once, so that it hears of things in their order; waits for room in a task only where it must.
    fn answer_now(&mut self, input: Input) {
        if let Err(TrySendError::Full(input)) = self.inputs.try_send(input) {
            self.answer_with(async move { input });
        }
    }

    /// The same for work that has something to say only when it fails.
    fn answer_unless_fine(&mut self, work: impl Future<Output = Option<Input>> + Send + 'static) -> AbortHandle {
        let inputs = self.inputs.clone();
        let task = tokio::spawn(async move {
            if let Some(input) = work.await {
                let _ = inputs.send(input).await;
            }
        });
        self.work.tasks.push(task.abort_handle());
        task.abort_handle()
    }

    /// Our own folder for the run: scrollback, outputs of commands, manifests.
    fn run_dir(&self) -> PathBuf {
        self.store.folder().join("runs").join(self.run.to_string())
    }
}

/// A poisoned lock holds what it held: its owners only put and take.
fn lock<T>(place: &Mutex<T>) -> MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
