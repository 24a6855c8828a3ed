//! `programmator policy learn`: rules from what the person has allowed, with what each would have spared and let through.

use super::super::error::CliError;
use super::super::in_force::{in_force_by, real};
use super::super::session::Session;
use super::recorded::{Recorded, calls};
use super::replay::Bench;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::verdict::Verdict;
use crate::policy::proposal;
use crate::policy::rules::file::Author;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;

/// Which rules are worth being told.
#[derive(Debug, Args)]
pub struct Learn {
    /// Only rules that would have spared at least so many questions.
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub least: usize,
}

/// A rule that could be, and what it would have done.
#[derive(Default)]
struct Proposed {
    /// Questions of the past that would not have been asked.
    spared: usize,
    /// Calls that were denied or blocked and would have run.
    let_through: Vec<String>,
}

/// Calls that are named of those that a rule would have let through.
const NAMED: usize = 3;

/// Prints the rules as YAML that can stand in a policy file, most useful first.
pub fn run(out: &mut dyn Write, session: &Session, wanted: &Learn) -> Result<u8, CliError> {
    let store = session.store_to_read()?;
    let folder = &real(&session.folder);
    let resolved = session.resolve(folder).map_err(|error| CliError::bad_input(error.message))?;
    let mut all: Vec<Recorded> = Vec::new();
    for run in store.runs()?.iter().filter(|run| run.workspace().home() == folder) {
        all.extend(calls(&store, run)?);
    }
    let allowed = all.iter().filter(|call| call.allowed == Some(true));
    let asked = allowed.filter_map(|call| call.asked.as_ref()).filter(|asked| asked.provable);
    let mut proposed: BTreeMap<String, Proposed> =
        asked.filter_map(proposal::of).map(|rule| (rule, Proposed::default())).collect();
    let before = Bench::new(session, folder, resolved.config.profile, |profile| {
        in_force_by(session, folder, &resolved, profile, None)
    });
    if let Some(why) = before.trouble() {
        return Err(CliError::bad_input(clean_line(&why, 400)));
    }
    // What the rules of today allow needs no other.
    let open: Vec<(&Recorded, Verdict)> =
        all.iter().filter_map(|call| Some((call, before.decide(call)?.verdict))).collect();
    for (rule, found) in &mut proposed {
        let with = Bench::new(session, folder, resolved.config.profile, |profile| {
            in_force_by(session, folder, &resolved, profile, None).with_first(rule, Author::Person)
        });
        for (call, _) in open.iter().filter(|(_, verdict)| *verdict != Verdict::Allow) {
            if with.decide(call).is_none_or(|decision| decision.verdict != Verdict::Allow) {
                continue;
            }
            match (call.verdict, call.allowed) {
                (Verdict::Ask, Some(true)) => found.spared += 1,
                (Verdict::Allow, _) => {}
                _ => found.let_through.push(format!("{} {}", call.tool, call.target)),
            }
        }
    }
    let mut told: Vec<(String, Proposed)> =
        proposed.into_iter().filter(|(_, found)| found.spared >= wanted.least.max(1)).collect();
    told.sort_by_key(|(_, found)| std::cmp::Reverse(found.spared));
    if told.is_empty() {
        writeln!(out, "# no rule would have spared {} here", counted(wanted.least.max(1), "question"))?;
        return Ok(1);
    }
    for (rule, found) in told {
        writeln!(out, "# would have spared {}", counted(found.spared, "question"))?;
        for call in found.let_through.iter().take(NAMED) {
            writeln!(out, "# and let through, though it did not run: {}", clean_line(call, 200))?;
        }
        if let Some(more) = found.let_through.len().checked_sub(NAMED).filter(|more| *more > 0) {
            writeln!(out, "# and {more} more")?;
        }
        writeln!(out, "{}", rule.trim_end())?;
    }
    Ok(0)
}
