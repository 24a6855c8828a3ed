//! What a run would begin with, found out without beginning it: the run's own decisions, with a look in the place of each
//! effect. Nothing is written, and Claude is asked for its version and its login alone.

use crate::adapters::agent::launch::arguments;
use crate::adapters::agent::probe;
use crate::adapters::clock::zone;
use crate::adapters::git::{branching, merging, worktree};
use crate::adapters::{scratch_folder, tickets};
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::approval::Presence;
use crate::domain::finding::Mark;
use crate::domain::limits::admission::{Admission, Ask, Ledger, Parking, Verdict, Why, admit};
use crate::domain::merge::MergeHow;
use crate::domain::messages::wait_words;
use crate::domain::outcome::ExitReason;
use crate::domain::profile::Profile;
use crate::domain::step::StepName;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::Worktree;
use crate::orchestrator::effect::{Effect, Spawn};
use crate::orchestrator::input::Input;
use crate::orchestrator::preview::Preview;
use crate::orchestrator::state::State;
use crate::runtime::doctor;
use crate::runtime::effects::tree::branch_of;
use crate::runtime::launching::{self, Brought};
use crate::runtime::prompts::Source;
use crate::runtime::supervisor::{OpenError, Opener, Plan, Rehearsed};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What stands in a command line for the file that only a run writes.
const MEMORY: &str = "(a file with your CLAUDE.md files)";

/// What keeps a run from starting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// What it is, and what to do.
    pub text: String,
    /// The program's exit code if this is the first.
    pub exit_code: u8,
}

impl Refusal {
    fn of(error: &OpenError) -> Self {
        Self { text: error.to_string(), exit_code: error.exit_code() }
    }
}

/// What would happen at the start of a ticket's run.
#[derive(Default)]
pub struct Outlook {
    /// In the order in which a start comes upon them.
    pub refusals: Vec<Refusal>,
    /// What it would wait for.
    pub delays: Vec<String>,
    /// What the person should know.
    pub notes: Vec<String>,
    /// The run; `None` where it is not known which it would be.
    pub begins: Option<Begins>,
}

/// A run as it would begin.
pub struct Begins {
    pub plan: Plan,
    /// What it does before it calls Claude, in order.
    pub before: Vec<String>,
    /// The run when it calls Claude, or where it stops before that.
    pub state: Arc<State>,
    /// How the counters would be then.
    pub ledger: Option<Ledger>,
    /// `None`: Claude would not be called.
    pub call: Option<Call>,
    /// Why not; also that nothing is left to do.
    pub rest: Option<String>,
}

/// The first call of Claude.
pub struct Call {
    pub n: u32,
    pub step: StepName,
    pub phase: Option<String>,
    /// The session that goes on; `None`: a fresh one.
    pub session: Option<String>,
    pub model: Option<String>,
    pub profile: Profile,
    pub plan_mode: bool,
    /// What it may cost, in USD.
    pub max_budget_usd: Option<f64>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The whole prompt; `None` where the gate has no rules.
    pub prompt: Option<String>,
    /// How many tokens that is, estimated.
    pub tokens: usize,
}

impl Outlook {
    /// The exit code with which `run` would refuse; 0: it would start.
    pub fn exit_code(&self) -> u8 {
        self.refusals.first().map_or(0, |refusal| refusal.exit_code)
    }

    fn refuse(&mut self, text: impl Into<String>, reason: ExitReason) {
        self.refusals.push(Refusal { text: text.into(), exit_code: reason.exit_code() });
    }
}

/// What the run of the ticket at `path` would begin with in `folder`. `presence`: who could be asked.
pub async fn look(opener: &Opener, path: &Path, folder: &Path, presence: Presence) -> Outlook {
    let mut outlook = Outlook::default();
    match opener.rehearse(path, folder) {
        Ok(rehearsed) => {
            if let Err(error) = begin(opener, rehearsed, presence, &mut outlook).await {
                outlook.refusals.push(Refusal::of(&error));
            }
        }
        Err(error) => outlook.refusals.push(Refusal::of(&error)),
    }
    outlook
}

async fn begin(
    opener: &Opener,
    Rehearsed { plan, gate, refusals }: Rehearsed,
    presence: Presence,
    outlook: &mut Outlook,
) -> Result<(), OpenError> {
    let has_agent = !refusals.iter().any(|error| matches!(error, OpenError::NoAgent(..)));
    outlook.refusals.extend(refusals.iter().map(Refusal::of));
    let mut file = tickets::load::read(&plan.path)?;
    let now = opener.clock.now();
    let (works, state, first) = (plan.works(), plan.state.clone(), plan.first.clone());
    let mut preview = Preview::new(plan.run, state, first, now);
    let (mut before, mut spawn, mut ledger) = (Vec::new(), None, None);
    while let Some(effect) = preview.effect() {
        before.extend(words(&effect));
        match effect {
            Effect::Spawn(next) => {
                spawn = Some(next);
                break;
            }
            Effect::MakeWorktree(own) => {
                if let Err(why) = may_make(&own, preview.state.settings.git.merge).await {
                    preview.answer(Input::WorktreeFailed { why });
                } else {
                    outlook.notes.extend(left_behind(&own, &plan.path).await);
                    preview.succeed(Effect::MakeWorktree(own), &mut file);
                }
            }
            Effect::AcquireTree => {
                let busy = opener.store.tree_busy(&plan.workspace)?;
                outlook.delays.extend(busy.map(|holder| {
                    format!("{holder} is running in the same directory: the run would wait, or use --worktree")
                }));
                let branch = branch_of(&plan.ticket.id, &plan.workspace, &preview.state, works);
                let base = preview.state.settings.git.base.clone();
                let due = match branch {
                    Some(branch) => branching::due(plan.workspace.directory(), &branch, base.as_deref()).await,
                    None => Ok(None),
                };
                preview.answer(match due {
                    Ok(None) => Input::TreeGranted,
                    Ok(Some(switch)) => Input::SwitchDue(switch),
                    Err(why) => Input::WorktreeFailed { why },
                });
            }
            Effect::Admit(ask) => {
                let Admission { verdict, ledger: counted } = admission(opener, &plan, &ask)?;
                let verdict = match verdict {
                    Verdict::Park(parking) => {
                        let until = wait_words(&parking, now);
                        outlook.delays.push(format!("{}; {until}{}", parking.about, sooner(&parking)));
                        Verdict::Go { probes: Vec::new() }
                    }
                    verdict => verdict,
                };
                ledger = Some(counted.clone());
                let admission = Box::new(Admission { verdict, ledger: counted });
                preview.answer(Input::Admitted { n: ask.n, purpose: ask.purpose, admission });
            }
            effect => preview.succeed(effect, &mut file),
        }
    }
    let state = Arc::clone(&preview.state);
    let ended = state.ended.as_ref().filter(|_| spawn.is_none());
    if let Some(ended) = ended.filter(|ended| ended.reason.exit_code() != 0) {
        outlook.refuse(&ended.detail, ended.reason);
    }
    if plan.workspace.worktree().is_none() {
        outlook.notes.extend(uncommitted(plan.workspace.directory(), &plan.path).await);
    }
    check_claude(&plan, has_agent, outlook).await;
    let call = match &spawn {
        Some(spawn) => {
            let brought = Brought::look(&seen(&plan), opener.store.folder(), presence);
            let mut call = call(&plan, spawn, &brought, presence).await?;
            if let Some(gate) = &gate {
                let source = Source {
                    templates: &plan.templates,
                    gate: &**gate,
                    run: plan.run,
                    workspace: &plan.workspace,
                    ticket: &plan.path,
                    presence,
                    diff: String::new(),
                    config: &plan.config,
                };
                match source.prompt(spawn, &file) {
                    Ok(made) => (call.tokens, call.prompt) = (made.tokens(), Some(made.text)),
                    Err(why) => outlook.refuse(why, ExitReason::Error),
                }
            }
            call.step = state.open_iteration().map_or(StepName::CODE, |open| open.role.step.clone());
            Some(call)
        }
        None => None,
    };
    let rest = call.is_none().then(|| preview.rest());
    outlook.begins = Some(Begins { plan, before, state, ledger, call, rest });
    Ok(())
}

/// What the ledger says to the call. A run that was never stored belongs to no ticket there: it is asked for the last one.
fn admission(opener: &Opener, plan: &Plan, ask: &Ask) -> Result<Admission, OpenError> {
    let latest = opener.store.latest_for(&plan.path.display().to_string())?;
    let known = latest.map_or(plan.run, |latest| latest.run);
    let now = opener.clock.now();
    let facts = opener.store.limit_facts(known, &ask.limits, now)?;
    Ok(admit(&facts, ask, plan.run, now, &zone()))
}

/// How the person need not wait for it.
fn sooner(parking: &Parking) -> &'static str {
    match parking.why {
        Why::Calls => "  (raise limits.calls, or pass --calls)",
        Why::Tokens => "  (raise limits.tokens)",
        Why::Warning => "  (or set limits.on_warning: go_on)",
        Why::Budget | Why::Provider => "",
    }
}

/// What the run does before it calls Claude, where a person would want to know.
fn words(effect: &Effect) -> Option<String> {
    Some(match effect {
        Effect::MakeWorktree(own) => {
            let Worktree { top, branch, base, .. } = &**own;
            let does = if top.is_dir() { "use" } else { "make" };
            format!("{does} the worktree {} on the branch {branch}, from {base}", top.display())
        }
        Effect::SwitchBranch(switch) => format!("switch the directory from {} to {}", switch.from, switch.to),
        Effect::RecoverCommit(_) => "finish the pending commit".to_owned(),
        Effect::TakeSnapshot { .. } => "take a snapshot of the files".to_owned(),
        Effect::GatherEvidence { .. } => "compare the files with the last snapshot".to_owned(),
        Effect::RunValidation { commands, .. } => {
            format!("run {}, assumed to pass here", counted(commands.len(), "validation command"))
        }
        Effect::SetBox { phase, done: true } => format!("tick \"{}\"", phase.phase),
        Effect::SetBox { phase, done: false } => format!("untick \"{}\"", phase.phase),
        Effect::SetStatus { to } => format!("set `status: {}` in the ticket", to.word()),
        Effect::PlanCommit(_) => "commit the work".to_owned(),
        Effect::MergeWork { how, .. } => format!("merge the work into its base (git.merge: {})", how.word()),
        _ => return None,
    })
}

/// What keeps git from making the worktree, as far as that can be seen before.
async fn may_make(own: &Worktree, merge: MergeHow) -> Result<(), String> {
    if merge != MergeHow::Off {
        merging::base_of(own).await?;
    }
    Ok(())
}

/// Changes of the person's that a worktree does not have.
async fn left_behind(own: &Worktree, ticket: &Path) -> Option<String> {
    let files = changes(&own.home_top, ticket).await?;
    let (home, base) = (own.home_top.display(), &own.base);
    Some(format!("{files} in {home}: the worktree starts at {base} without them; commit what the work needs"))
}

/// Changes of the person's where the run works.
async fn uncommitted(folder: &Path, ticket: &Path) -> Option<String> {
    let top = folder.ancestors().find(|folder| folder.join(".git").exists())?;
    let files = changes(top, ticket).await?;
    Some(format!("{files} here: they count as yours, and are saved in the first snapshot"))
}

/// Files that are not committed; tickets beside this one are no work.
async fn changes(top: &Path, ticket: &Path) -> Option<String> {
    let (changed, untracked) = worktree::changed(top).await.ok()?;
    let is_ticket = |name: &&String| {
        let path = top.join(name);
        path == ticket || (path.parent() == ticket.parent() && ticket.parent() != Some(top))
    };
    let all = changed.iter().chain(&untracked).filter(|name| !is_ticket(name)).count();
    (all > 0).then(|| format!("{} not committed", counted(all, "file")))
}

/// Whether there is a Claude that can be used. `is_there`: its program was found.
async fn check_claude(plan: &Plan, is_there: bool, outlook: &mut Outlook) {
    for finding in doctor::troubles(&plan.config, there(plan)).await {
        match finding.mark {
            Mark::Fail if finding.name == "git" => outlook.notes.push(finding.text),
            // That is said already.
            Mark::Fail if !is_there => {}
            Mark::Fail => outlook.refuse(finding.text, ExitReason::Error),
            _ => outlook.notes.push(finding.text),
        }
    }
}

/// Where programs can be started: a worktree need not be there yet.
fn there(plan: &Plan) -> &Path {
    let directory = plan.workspace.directory();
    if directory.is_dir() { directory } else { plan.workspace.home() }
}

/// What a worktree that is still to be made will have is what it begins with.
fn seen(plan: &Plan) -> Workspace {
    if plan.workspace.directory().is_dir() { plan.workspace.clone() } else { Workspace::shared(there(plan)) }
}

async fn call(plan: &Plan, spawn: &Spawn, brought: &Brought, presence: Presence) -> Result<Call, OpenError> {
    let mut options = brought.options(&plan.config, spawn, presence);
    let memory = brought.memory(&plan.config, &seen(plan));
    options.system_prompt_file = memory.map(|_| PathBuf::from(MEMORY));
    let scratch = scratch_folder::path(plan.run).unwrap_or_else(|_| there(plan).to_owned());
    let launch =
        launching::launch(&plan.config.agent, plan.workspace.directory(), options, plan.run.to_string(), Some(scratch));
    let mut launch = launch.map_err(|none| OpenError::Config(none.to_string()))?;
    let folder = std::mem::replace(&mut launch.folder, there(plan).to_owned());
    if let Ok(found) = probe::ask(&launch).await {
        launch.options.features = found.features;
    }
    launch.folder = folder;
    let command = launch.command.iter().cloned().chain(arguments(&launch)).collect();
    Ok(Call {
        n: spawn.n,
        step: StepName::CODE,
        phase: spawn.prompt.context.phase.as_deref().map(|phase| clean_line(phase, 300)),
        session: spawn.session.clone(),
        model: spawn.model.clone(),
        profile: spawn.profile.map_or(plan.config.profile, |own| own.stricter(plan.config.profile)),
        plan_mode: spawn.plan_mode,
        max_budget_usd: spawn.max_budget_usd,
        command,
        prompt: None,
        tokens: 0,
    })
}
