//! What is in effect in a folder: the policy, the files that say so, the rules for the calls of runs.

use super::error::CliError;
use super::session::Session;
use crate::adapters::config_files::{self, PROJECT_FOLDER};
use crate::adapters::policy_files;
use crate::adapters::store::{Store, StoreError};
use crate::adapters::tickets::{Listed, Places, list};
use crate::adapters::trust::TrustStore;
use crate::config::{Resolved, Trust};
use crate::domain::profile::Profile;
use crate::domain::workspace::Workspace;
use crate::policy::engine::Policy;
use crate::runtime::app::Parts;
use crate::runtime::export::stored::Secrets;
use crate::runtime::policy_engine::{Origin, PolicyEngines};
use crate::runtime::source_replies::Replier;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What holds the tickets of a project: their folder, or the files themselves where the whole project is in it.
pub fn tickets(session: &Session, folder: &Path, resolved: &Resolved) -> Vec<PathBuf> {
    let dir = real(&Places { folder: folder.to_owned(), ..session.places(resolved) }.dir());
    if !folder.starts_with(&dir) {
        return vec![dir];
    }
    // A readme beside them is no ticket; in a folder further up nothing is written anyway.
    let is_ticket = |listed: &Listed| listed.ticket.as_ref().is_ok_and(|ticket| ticket.status.is_some());
    let listed = if folder == dir { list(&dir).unwrap_or_default() } else { Vec::new() };
    listed.into_iter().filter(is_ticket).map(|listed| listed.path).collect()
}

/// The policy that holds in a folder: the person's file, the project's, and a profile.
pub fn in_force(session: &Session, folder: &Path, profile: Profile, tickets: &[PathBuf]) -> Policy {
    let own = config_files::user_folder(&session.environment).map(|folder| folder.join(policy_files::NAME));
    with_rules(session, folder, profile, tickets, own.as_deref())
}

/// The person's rules and a profile alone.
pub fn without_project(session: &Session, profile: Profile) -> Policy {
    let user = config_files::user_folder(&session.environment);
    let rules = user.as_ref().map(|folder| folder.join(policy_files::NAME));
    let own: Vec<PathBuf> = user.iter().chain([&session.state]).map(|own| real(own)).collect();
    policy_files::of_person(profile, rules.as_deref()).guarding(&own)
}

/// The same with another file in the place of the person's.
fn with_rules(session: &Session, folder: &Path, profile: Profile, tickets: &[PathBuf], rules: Option<&Path>) -> Policy {
    let user = config_files::user_folder(&session.environment);
    let project = folder.join(PROJECT_FOLDER);
    // What cannot be read is not trusted; the policy itself says what is wrong with it.
    let trust = match config_files::read(&project) {
        Ok(files) => TrustStore::new(&session.state).trust_of(folder, &files).unwrap_or(Trust::Unknown),
        Err(_) => Trust::Unknown,
    };
    let own: Vec<PathBuf> = user.iter().chain([&session.state]).map(|own| real(own)).collect();
    policy_files::load(profile, rules, &project, trust).guarding(&own).protecting(tickets)
}

/// The policy that would hold in a folder under another profile, and with another file in the place of the person's.
pub fn in_force_by(
    session: &Session,
    folder: &Path,
    resolved: &Resolved,
    profile: Profile,
    file: Option<&Path>,
) -> Policy {
    let tickets = tickets(session, folder, resolved);
    match file {
        Some(file) => with_rules(session, folder, profile, &tickets, Some(file)),
        None => in_force(session, folder, profile, &tickets),
    }
}

/// The files that decide about the policy in a folder: rules, the profile, and whether the project is trusted.
pub fn files(session: &Session, folder: &Path) -> Vec<PathBuf> {
    let folders = config_files::user_folder(&session.environment).into_iter().chain([folder.join(PROJECT_FOLDER)]);
    let named = folders.flat_map(|folder| [policy_files::NAME, "config.yaml"].map(|name| folder.join(name)));
    named.chain([session.state.join("trust.json")]).collect()
}

/// The profile with this name.
pub fn profile(name: &str) -> Result<Profile, CliError> {
    Profile::from_word(name).ok_or_else(|| {
        CliError::bad_input(format!("unknown profile {name}: use strict, guarded, trusted or read_only"))
    })
}

/// The path with its links resolved, as far as it is there.
pub(super) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Values that no export shows.
pub fn secrets(session: &Session, resolved: &Resolved) -> Secrets {
    Secrets::of(session.environment.iter().chain(&resolved.config.agent.env))
}

/// What replies to the issues of tickets are made with.
pub fn replier(parts: &Parts, resolved: &Resolved) -> Replier {
    let (store, clock, secrets) = (parts.store.clone(), parts.clock.clone(), parts.secrets.clone());
    Replier { store, clock, secrets, wanted: resolved.config.source }
}

/// What the service behind the front ends works with.
pub fn parts(session: &Session, resolved: &Resolved) -> Result<Parts, StoreError> {
    Ok(Parts {
        store: Store::open(&session.state)?,
        clock: session.clock(),
        rules: session.rules(),
        policy_engines: policy_engines(session),
        places: session.places(resolved),
        config_folder: session.config_folder(),
        passphrases: session.passphrases(),
        user: session.environment.get("USER").cloned(),
        person_folder: session.environment.get("HOME").map(PathBuf::from),
        secrets: secrets(session, resolved),
        max_parallel: resolved.config.max_parallel,
        halts: false,
    })
}

/// The rules for the calls of runs.
pub fn policy_engines(session: &Session) -> PolicyEngines {
    let (reads, looks) = (session.clone(), session.clone());
    let known = Mutex::new(BTreeMap::<PathBuf, Vec<PathBuf>>::new());
    let load = move |workspace: &Workspace, opened, own: Option<Profile>| {
        let folder = workspace.home();
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let tickets = known.entry(folder.to_owned()).or_default();
        // A configuration that is just being written says nothing of the profile, nor where the tickets are.
        let profile = reads.resolve(folder).map_or(opened, |resolved| {
            *tickets = self::tickets(&reads, folder, &resolved);
            resolved.config.profile
        });
        // What a worktree has of them is a copy that nobody reads.
        let copies = tickets.iter().filter_map(|tickets| workspace.copy_of(tickets));
        let tickets: Vec<PathBuf> = tickets.iter().cloned().chain(copies).collect();
        in_force(&reads, folder, own.map_or(profile, |own| own.stricter(profile)), &tickets)
    };
    let files = move |workspace: &Workspace| self::files(&looks, workspace.home());
    PolicyEngines::new(session.person(), Origin { load: Box::new(load), files: Box::new(files) })
}
