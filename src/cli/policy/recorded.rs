//! The calls of a run as they were recorded: what each asked for, what was decided, and what the person said to it.

use super::super::error::CliError;
use crate::adapters::store::Store;
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
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

/// One call.
pub struct Recorded {
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
    pub verdict: Verdict,
    /// The question, where it was asked about, as it was asked first.
    pub asked: Option<Approval>,
    /// What a person said: `true` is a yes. `None`: nobody has.
    pub allowed: Option<bool>,
}

/// The calls of a run in their order: decisions from its journal, inputs from what Claude printed.
pub fn calls(store: &Store, run: &RunSummary) -> Result<Vec<Recorded>, CliError> {
    let mut calls: Vec<Recorded> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut profiles: BTreeMap<u32, Option<Profile>> = BTreeMap::new();
    let mut run_settings = Settings::default();
    for stored in store.load(run.run)?.records {
        match &stored.record {
            Record::RunStarted { settings, .. } => run_settings.clone_from(settings),
            Record::IterationStarted { n, role, .. } => {
                let row = STEPS.iter().find(|step| step.name == role.step);
                profiles.insert(*n, row.and_then(|step| (step.profile)(&run_settings)));
            }
            Record::ToolJudged { n, tool_use_id, tool, target, verdict, .. } if !known.contains_key(tool_use_id) => {
                known.insert(tool_use_id.clone(), calls.len());
                calls.push(Recorded {
                    id: tool_use_id.clone(),
                    n: *n,
                    tool: tool.clone(),
                    target: target.clone(),
                    input: None,
                    cwd: None,
                    profile: profiles.get(n).copied().flatten(),
                    verdict: *verdict,
                    asked: None,
                    allowed: None,
                });
            }
            Record::ApprovalAsked(approval) if approval.kind == ApprovalKind::Call => {
                if let Some(call) = known.get(&approval.id.call).and_then(|at| calls.get_mut(*at)) {
                    call.asked.get_or_insert_with(|| approval.clone());
                }
            }
            Record::ApprovalAnswered(answered) if matches!(answered.by, AnsweredBy::Person(_)) => {
                if let Some(call) = known.get(&answered.id.call).and_then(|at| calls.get_mut(*at)) {
                    call.allowed = Some(matches!(answered.answer, Answer::Allow { .. }));
                }
            }
            _ => {}
        }
    }
    for call in &mut calls {
        if let Some(asked) = &call.asked {
            call.input = serde_json::from_str(asked.edited_from.as_ref().unwrap_or(&asked.input)).ok();
            call.cwd = asked.cwd.as_ref().map(PathBuf::from);
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
