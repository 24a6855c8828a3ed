//! `programmator policy replay`: what would be decided about the calls of a run by the rules as they are now, or by another
//! file. Nothing is run.

use super::super::error::CliError;
use super::super::in_force::{in_force_by, profile};
use super::super::session::Session;
use super::recorded::{Recorded, calls};
use crate::adapters::path_view::RealPaths;
use crate::adapters::scratch_folder;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::profile::Profile;
use crate::domain::verdict::Verdict;
use crate::policy::engine::Policy;
use crate::policy::place::Place;
use crate::policy::remembered::Remembered;
use crate::policy::rules::file::Author;
use crate::policy::verdict::Decision;
use crate::runtime::policy_engine::{Person, claudes_paths};
use crate::runtime::supervisor::Typed;
use clap::Args;
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Whose calls are judged again, and by what.
#[derive(Debug, Args)]
pub struct Replay {
    /// A run id or its last characters, or a ticket.
    pub run: String,
    /// Use this file instead of your policy.yaml.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// The profile: strict, guarded, trusted or `read_only` [default: the configured one].
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Print one JSON object per changed verdict.
    #[arg(long)]
    pub json: bool,
}

/// Judges calls in a folder, each by the profile that it was made under.
#[derive(Clone)]
pub struct Bench {
    folder: PathBuf,
    person: Person,
    paths: RealPaths,
    policies: HashMap<Profile, Policy>,
    usual: Profile,
}

impl Bench {
    /// `load` gives the rules for a profile; `usual` is the run's.
    pub fn new(session: &Session, folder: &Path, usual: Profile, load: impl Fn(Profile) -> Policy) -> Self {
        let env = session.resolve(folder).map(|resolved| resolved.config.agent.variables()).unwrap_or_default();
        // A step has the run's profile or this one.
        let policies = [usual, Profile::ReadOnly].map(|profile| (profile, load(profile))).into();
        Self { folder: folder.to_owned(), person: session.person(), paths: claudes_paths(env), policies, usual }
    }

    /// The same with more rules of the person's before all others: YAML list items.
    pub fn with_first(&self, rules: &str) -> Self {
        let first =
            |(profile, policy): (&Profile, &Policy)| (*profile, policy.clone().with_first(rules, Author::Person));
        Self { policies: self.policies.iter().map(first).collect(), ..self.clone() }
    }

    /// What is wrong with the rules: then everything is blocked.
    pub fn trouble(&self) -> Option<String> {
        self.policies.get(&self.usual).and_then(Policy::broken).map(ToString::to_string)
    }

    /// `None`: what it was called with is not kept any more.
    pub fn decide(&self, call: &Recorded) -> Option<Decision> {
        let policy = self.policies.get(&call.profile.unwrap_or(self.usual))?;
        let Person { home, user, .. } = &self.person;
        let cwd = call.cwd.as_deref().unwrap_or(&self.folder);
        // What is in it now says nothing of then, but that it was the run's own.
        let scratch = scratch_folder::path(call.run).ok();
        let view = Remembered::new(&self.paths).with_scratch(scratch.as_deref());
        let place = Place { workspace: &self.folder, cwd, home, user, view: &view };
        Some(policy.decide(&call.tool, call.input.as_ref()?, &place))
    }
}

/// Prints the calls whose verdict would change. Exit code 1 when there are some.
pub fn run(out: &mut dyn Write, session: &Session, wanted: &Replay) -> Result<u8, CliError> {
    let store = session.store_to_read()?;
    let run = session.find_run(&store, &wanted.run, Typed::Part)?;
    let workspace = run.workspace();
    let folder = workspace.directory();
    let named = wanted.profile.as_deref().map(profile).transpose()?;
    let file = wanted.policy.as_ref().map(|file| session.folder.join(file));
    if let Some(file) = file.as_ref().filter(|file| !file.exists()) {
        return Err(CliError::bad_input(format!("--policy {}: no such file", file.display())));
    }
    let resolved = session.resolve(folder).map_err(|error| CliError::bad_input(error.message))?;
    let ticket = [PathBuf::from(&run.ticket_path)];
    let load = |profile| in_force_by(session, folder, &resolved, profile, file.as_deref()).protecting(&ticket);
    let bench = Bench::new(session, folder, named.unwrap_or(resolved.config.profile), load);
    if let Some(why) = bench.trouble() {
        return Err(CliError::bad_input(clean_line(&why, 400)));
    }
    let (mut total, mut changed, mut lost) = (0, 0, 0);
    for call in calls(&store, &run)? {
        // What the program itself decides, such as Claude's own questions, is not the rules'.
        let Some(was) = call.verdict else { continue };
        total += 1;
        let Some(decision) = bench.decide(&call) else {
            lost += 1;
            continue;
        };
        if decision.verdict != was {
            changed += 1;
            print(out, &call, was, &decision, wanted.json)?;
        }
    }
    if !wanted.json {
        let (id, ticket) = (run.run.short(), &run.ticket);
        let lost = if lost == 0 { String::new() } else { format!(", {lost} no longer stored in full") };
        writeln!(out, "run {id} of {ticket}: {}, {changed} with a different verdict{lost}", counted(total, "call"))?;
    }
    Ok(u8::from(changed > 0))
}

fn print(
    out: &mut dyn Write,
    call: &Recorded,
    was: Verdict,
    decision: &Decision,
    as_json: bool,
) -> Result<(), CliError> {
    let (was, now) = (was.word(), decision.verdict.word());
    if as_json {
        let Recorded { id, n, tool, target, .. } = call;
        let rule = decision.deciding().map(|ruled| ruled.rule.as_str());
        let told = decision.told();
        let line = json!({
            "tool_use_id": id, "n": n, "tool": tool, "target": target, "was": was, "now": now, "rule": rule,
            "reason": told,
        });
        writeln!(out, "{}", crate::base::json::line(&line)?)?;
    } else {
        let (tool, target) = (clean_line(&call.tool, 60), clean_line(&call.target, 200));
        writeln!(out, "{was:10} → {now:10}  {tool} {target}")?;
        writeln!(out, "{:25}{}", "", clean_line(&decision.told(), 200))?;
    }
    Ok(())
}
