//! The calls of a run as they were recorded: what each asked for, what was decided, and what the person said to it.

use super::super::error::CliError;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::approval::{Answer, AnsweredBy, Approval, ApprovalKind};
use crate::domain::profile::Profile;
use crate::domain::record::Record;
use crate::domain::scrollback::{Entry, EntryKind, Scrollback};
use crate::domain::search::{LONGEST, STRETCH};
use crate::domain::settings::Settings;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::RunSummary;
use crate::domain::verdict::Verdict;
use crate::orchestrator::steps::STEPS;
use crate::runtime::policy_engine::{NEEDS_PASSPHRASE, UNLOCKED};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// One call.
pub struct Recorded {
    pub run: RunId,
    /// Claude's id of it.
    pub id: String,
    pub n: u32,
    pub tool: String,
    pub target: String,
    /// What it was called with; `None`: that is not kept any more.
    pub input: Option<Value>,
    /// The folder that it was called from, where that is known.
    pub cwd: Option<PathBuf>,
    /// The profile that its step asks for; `None`: the run's.
    pub profile: Option<Profile>,
    /// What the rules said, whether or not a passphrase had been typed; `None`: it was decided without them.
    pub verdict: Option<Verdict>,
    pub ran: bool,
    /// What a person said yes to: this call, as Claude made it and as the rules asked about it then.
    pub approved: Option<Approval>,
}

/// The calls of a run in their order: decisions from its journal, inputs from what Claude printed.
pub fn calls(store: &Store, run: &RunSummary) -> Result<Vec<Recorded>, CliError> {
    let mut calls: Vec<Recorded> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut profiles: BTreeMap<u32, Option<Profile>> = BTreeMap::new();
    let mut run_settings = Settings::default();
    let mut asked: HashMap<String, Approval> = HashMap::new();
    for stored in store.load(run.run)?.records {
        match &stored.record {
            Record::RunStarted { settings, .. } => run_settings.clone_from(settings),
            Record::IterationStarted { n, role, .. } => {
                let row = STEPS.iter().find(|step| step.name == role.step);
                profiles.insert(*n, row.and_then(|step| (step.profile)(&run_settings)));
            }
            Record::ToolJudged { n, tool_use_id, tool, target, verdict, reason, units, cwd }
                if !known.contains_key(tool_use_id) =>
            {
                known.insert(tool_use_id.clone(), calls.len());
                let mut reasons = units.iter().map(|unit| unit.reason.as_str()).chain([reason.as_str()]);
                calls.push(Recorded {
                    run: run.run,
                    id: tool_use_id.clone(),
                    n: *n,
                    tool: tool.clone(),
                    target: target.clone(),
                    input: None,
                    cwd: cwd.as_ref().map(PathBuf::from),
                    profile: profiles.get(n).copied().flatten(),
                    verdict: match verdict {
                        _ if reason.starts_with("programmator: ") => None,
                        _ if reasons.any(|reason| reason.contains(UNLOCKED) || reason.contains(NEEDS_PASSPHRASE)) => {
                            Some(Verdict::Passphrase)
                        }
                        verdict => Some(*verdict),
                    },
                    ran: *verdict == Verdict::Allow,
                    approved: None,
                });
            }
            Record::ApprovalAsked(approval) => {
                if let Some(call) = known.get(&approval.id.call).and_then(|at| calls.get_mut(*at)) {
                    let claudes = approval.edited_from.as_ref().unwrap_or(&approval.input);
                    call.input = serde_json::from_str(claudes).ok();
                    call.cwd = approval.cwd.as_ref().map(PathBuf::from);
                    asked.insert(approval.id.call.clone(), approval.clone());
                }
            }
            Record::ApprovalAnswered(answered) => {
                let question = asked.get(&answered.id.call).filter(|asked| asked.id == answered.id);
                let call = known.get(&answered.id.call).and_then(|at| calls.get_mut(*at));
                if let (Some(call), Some(question), Answer::Allow { .. }) = (call, question, &answered.answer) {
                    // What the person has edited ran in the place of what Claude asked for.
                    call.ran = question.edited_from.is_none();
                    let is_persons = matches!(answered.by, AnsweredBy::Person(_));
                    if call.ran && is_persons && question.kind == ApprovalKind::Call {
                        call.approved = Some(question.clone());
                    }
                }
            }
            _ => {}
        }
    }
    if let Ok(scrollback) = store.scrollback(run.run, classify) {
        inputs(&scrollback, |id, input| {
            if let Some(call) = known.get(id).and_then(|at| calls.get_mut(*at)) {
                call.input.get_or_insert(input);
            }
        });
    }
    Ok(calls)
}

/// Hands over the input of every call that Claude has printed, a record at a time.
fn inputs(scrollback: &dyn Scrollback, mut each: impl FnMut(&str, Value)) {
    let mut entries: Vec<Entry> = Vec::new();
    for n in scrollback.iterations() {
        for from in (0..scrollback.len(n)).step_by(STRETCH) {
            entries.clear();
            scrollback.entries(n, from..from + STRETCH, &mut entries);
            for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Assistant) {
                let Ok(line) = scrollback.read(n, *entry, LONGEST) else { continue };
                let Ok(record) = serde_json::from_slice::<Value>(&line) else { continue };
                let blocks = record.pointer("/message/content").and_then(Value::as_array);
                for block in blocks.into_iter().flatten() {
                    if let (Some(id), Some(input)) = (block.get("id").and_then(Value::as_str), block.get("input")) {
                        each(id, input.clone());
                    }
                }
            }
        }
    }
}
