//! `programmator policy learn`: rules from what the person has allowed, with what each would have spared and let through.

use super::super::error::CliError;
use super::super::in_force::{in_force_by, real};
use super::super::options::whole;
use super::super::session::Session;
use super::recorded::{Recorded, calls};
use super::replay::Bench;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::summary::RunSummary;
use crate::domain::verdict::Verdict;
use crate::policy::proposal::{self, Proposal};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Which rules are worth proposing.
#[derive(Debug, Args)]
pub struct Learn {
    /// Only rules that would have saved at least this many questions.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = whole)]
    pub least: usize,
}

/// What rules would have done.
#[derive(Default)]
struct Effect {
    /// Questions of the past that would not have been asked.
    spared: usize,
    /// Calls that did not run and would have.
    let_through: Vec<String>,
}

/// Calls that are named of those that a rule would have let through.
const NAMED: usize = 3;

/// Prints the rules as YAML that can be pasted into a policy file, most useful first.
pub fn run(out: &mut dyn Write, session: &Session, wanted: &Learn) -> Result<u8, CliError> {
    let store = session.store_to_read()?;
    let here = real(&session.folder);
    let runs = store.runs()?;
    // From a folder of the project, too.
    let workspace = runs.iter().map(RunSummary::workspace).find(|workspace| workspace.contains(&here));
    let folder = workspace.as_ref().map_or(here.as_path(), |workspace| workspace.directory());
    let resolved = session.resolve(folder).map_err(|error| CliError::bad_input(error.message))?;
    let mut all: Vec<Recorded> = Vec::new();
    for run in runs.iter().filter(|run| run.workspace().home() == folder) {
        all.extend(calls(&store, run)?);
    }
    let bench = Bench::new(session, folder, resolved.config.profile, |profile| {
        in_force_by(session, folder, &resolved, profile, None)
    });
    if let Some(why) = bench.trouble() {
        return Err(CliError::bad_input(clean_line(&why, 400)));
    }
    // What today's rules allow needs no other.
    let allowed = |call: &Recorded| bench.decide(call).is_none_or(|decision| decision.verdict == Verdict::Allow);
    all.retain(|call| call.verdict.is_some() && !allowed(call));
    let approved = all.iter().filter_map(|call| call.approved.as_ref()).filter(|approval| approval.provable);
    let mut proposed: BTreeMap<(String, Vec<Proposal>), Effect> = approved
        .filter_map(|approval| Some(((approval.tool.clone(), proposal::rules(approval)?), Effect::default())))
        .collect();
    for ((tool, rules), effect) in &mut proposed {
        let yaml: String = rules.iter().map(|rule| rule.yaml.as_str()).collect();
        let with = bench.with_first(&yaml);
        for call in all.iter().filter(|call| call.tool == *tool) {
            if with.decide(call).is_none_or(|decision| decision.verdict != Verdict::Allow) {
                continue;
            }
            if call.approved.is_some() {
                effect.spared += 1;
            } else if !call.ran {
                effect.let_through.push(format!("{} {}", call.tool, call.target));
            }
        }
    }
    let mut told: Vec<(Vec<Proposal>, Effect)> = proposed
        .into_iter()
        .filter(|(_, effect)| effect.spared >= wanted.least.max(1))
        .map(|((_, rules), effect)| (rules, effect))
        .collect();
    told.sort_by_key(|(_, effect)| std::cmp::Reverse(effect.spared));
    if told.is_empty() {
        writeln!(out, "# no rule would have saved {} here", counted(wanted.least.max(1), "question"))?;
        return Ok(1);
    }
    writeln!(out, "# Paste the ones you want before your other rules: the first matching rule decides.")?;
    let mut printed: BTreeSet<Proposal> = BTreeSet::new();
    for (rules, effect) in told {
        writeln!(out, "# would have saved {}", counted(effect.spared, "question"))?;
        for call in effect.let_through.iter().take(NAMED) {
            writeln!(out, "# and allowed, although it did not run: {}", clean_line(call, 200))?;
        }
        if let Some(more) = effect.let_through.len().checked_sub(NAMED).filter(|more| *more > 0) {
            writeln!(out, "# and {more} more")?;
        }
        for rule in rules {
            // A file with two rules of one name is refused.
            if printed.contains(&rule) {
                let name = rule.yaml.lines().next().unwrap_or_default().trim_start_matches("- name: ");
                writeln!(out, "# together with {name}, above")?;
                continue;
            }
            writeln!(out, "# allows {}", clean_line(&rule.reach, 300))?;
            writeln!(out, "{}", rule.yaml.trim_end())?;
            printed.insert(rule);
        }
    }
    Ok(0)
}
