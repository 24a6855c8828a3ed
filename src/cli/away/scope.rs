//! Of what the phone is asked: of everything, or of what is named; and what is left out. Kept in the state folder, where the
//! commands, the relay and the hooks of the person's own sessions read it.

use crate::adapters::known_sessions::known;
use crate::adapters::private_file::{self, PrivateFileError, failed};
use crate::adapters::store::Store;
use crate::adapters::tickets;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::cli::error::CliError;
use crate::cli::session::Session;
use crate::domain::own_session::is_id;
use crate::runtime::supervisor::Typed;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Tickets and sessions of the person's own that the phone is asked of.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    /// `None`: all.
    pub only: Option<BTreeSet<TicketId>>,
    /// Left out all the same, also when the phone is asked again.
    pub muted: BTreeSet<TicketId>,
    /// Why it could not be read: then the phone is asked of nothing.
    #[serde(skip)]
    pub unreadable: Option<String>,
}

/// What the relay's own file said of it in earlier versions.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Before {
    muted: BTreeSet<TicketId>,
}

impl Scope {
    /// What is kept in this state folder. Where that cannot be read or understood, nothing is asked on the phone: what was left
    /// out is not known.
    pub fn read(state: &Path) -> Self {
        Self::stored(state).unwrap_or_else(|error| Self {
            only: Some(BTreeSet::new()),
            unreadable: Some(error.to_string()),
            ..Self::default()
        })
    }

    fn stored(state: &Path) -> Result<Self, PrivateFileError> {
        let file = path(state);
        if let Some(text) = private_file::read(&file)? {
            let why = |error| failed(&file, &format!("invalid ({error}): remove it, and mute again"));
            return serde_json::from_str(&text).map_err(why);
        }
        // A file of the relay's that cannot be read counts for nothing there, too.
        let before = private_file::read(&state.join("away.json")).ok().flatten();
        let before: Before = before.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Ok(Self { muted: before.muted, ..Self::default() })
    }

    /// Keeps what an earlier version has left in the relay's own file, before that is written anew.
    pub fn settle(state: &Path) -> Result<(), PrivateFileError> {
        let is_due = !path(state).exists() && !Self::read(state).muted.is_empty();
        if is_due { Self::change(state, |_| ()) } else { Ok(()) }
    }

    /// Changes it, and gives what `change` does. Two at once change it one after the other. An error: it cannot be read, and stays
    /// as it is, or it cannot be written.
    pub fn change<T>(state: &Path, change: impl FnOnce(&mut Self) -> T) -> Result<T, PrivateFileError> {
        let _lock = private_file::lock(&path(state).with_extension("lock"))?;
        let mut scope = Self::stored(state)?;
        let came = change(&mut scope);
        private_file::write(&path(state), &serde_json::to_string(&scope).unwrap_or_default())?;
        Ok(came)
    }

    /// The phone is asked of this one.
    pub fn has(&self, ticket: &TicketId) -> bool {
        !self.muted.contains(ticket) && self.only.as_ref().is_none_or(|only| only.contains(ticket))
    }

    /// All of these, tickets or runs as they are typed; where none is, whatever there is.
    pub fn covers(&self, session: &Session, typed: &[String]) -> bool {
        let has = |name: &String| ticket(session, name).is_some_and(|ticket| self.has(&ticket));
        if typed.is_empty() { self.only.is_none() && self.muted.is_empty() } else { typed.iter().all(has) }
    }

    /// Has the phone asked: of all, or of these alone, or of these too where it is asked of some already.
    pub fn open(&mut self, named: Vec<TicketId>, is_asked: bool) {
        self.muted.retain(|muted| !named.contains(muted));
        self.only = match self.only.take().filter(|_| is_asked) {
            _ if named.is_empty() => None,
            // Of all, which these are among.
            None if is_asked => None,
            only => Some(only.into_iter().flatten().chain(named).collect()),
        };
    }

    /// What the phone is asked, in words.
    pub fn what(&self) -> String {
        let Some(only) = &self.only else { return "the questions of all runs".to_owned() };
        let names: Vec<&str> = only.iter().map(TicketId::as_str).collect();
        format!("only the questions of {}", names.join(", "))
    }

    /// Leaves it out. What there is to say of it.
    pub fn mute(&mut self, ticket: &TicketId) -> String {
        self.muted.insert(ticket.clone());
        let place = if is_id(ticket) { "in its terminal" } else { "on this machine" };
        format!("{ticket} is muted: it asks {place} only.")
    }

    /// Takes that back. `false`: it was not muted.
    pub fn unmute(&mut self, ticket: &TicketId) -> bool {
        self.muted.remove(ticket)
    }

    /// Those that are muted, in words.
    pub fn told(&self) -> String {
        if let Some(why) = &self.unreadable {
            return format!(
                "Nothing is sent to the phone, because the list of muted names cannot be read: {}.",
                clean_line(why, 300)
            );
        }
        let muted: Vec<&str> = self.muted.iter().map(TicketId::as_str).collect();
        if muted.is_empty() { "Nothing is muted.".to_owned() } else { format!("Muted: {}", muted.join(", ")) }
    }
}

fn path(state: &Path) -> PathBuf {
    state.join("away-scope.json")
}

/// The ids that can be meant here: of runs, of sessions that are there, and of tickets in this directory.
pub fn named(session: &Session, names: &[String]) -> Result<Vec<TicketId>, CliError> {
    let mut all = of_runs(&session.store_to_read()?, &session.state)?;
    if let Ok(resolved) = session.resolve(&session.folder) {
        let listed = tickets::list(&session.places(&resolved).dir()).unwrap_or_default();
        all.extend(listed.into_iter().filter_map(|one| Some(one.ticket.ok()?.id)));
    }
    names
        .iter()
        .map(|name| {
            meant(&all, name).cloned().ok_or_else(|| {
                let name = clean_line(name, 40);
                CliError::usage(format!("no ticket or Claude session named `{name}`"))
            })
        })
        .collect()
}

/// The ticket that a command for runs means by this.
fn ticket(session: &Session, name: &str) -> Option<TicketId> {
    let places = session.places(&session.resolve(&session.folder).ok()?);
    let ticket = tickets::find(name, &places).ok().and_then(|path| tickets::load(&path).ok());
    let run = || session.find_run(&session.store_to_read().ok()?, name, Typed::Part).ok();
    ticket.map(|ticket| ticket.id).or_else(|| Some(run()?.ticket))
}

/// Those of runs, and of sessions that are there.
pub fn of_runs(store: &Store, state: &Path) -> Result<BTreeSet<TicketId>, CliError> {
    let runs = store.runs()?.into_iter().map(|run| run.ticket);
    Ok(runs.chain(known(state).into_iter().map(|known| known.session)).collect())
}

/// The one that is meant. A phone begins a word with a capital letter where it likes.
pub fn meant<'a>(all: &'a BTreeSet<TicketId>, name: &str) -> Option<&'a TicketId> {
    all.iter().find(|id| id.as_str() == name).or_else(|| all.iter().find(|id| id.as_str().eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> TicketId {
        TicketId::parse(name).unwrap()
    }

    #[test]
    fn who_is_named_is_asked_of_unless_muted() {
        let folder = tempfile::tempdir().unwrap();
        let has = |name: &str| Scope::read(folder.path()).has(&id(name));
        assert!(has("tk-1") && has("session-11111111"));
        Scope::change(folder.path(), |scope| scope.mute(&id("tk-1"))).unwrap();
        assert!(!has("tk-1") && has("tk-2"));
        Scope::change(folder.path(), |scope| scope.only = Some([id("tk-1"), id("tk-3")].into())).unwrap();
        assert!(!has("tk-1") && !has("tk-2") && has("tk-3"));
        Scope::change(folder.path(), |scope| (scope.only.take(), scope.unmute(&id("tk-1")))).unwrap();
        assert!(has("tk-1") && has("tk-2"));
        Scope::change(folder.path(), |scope| scope.mute(&id("tk-1"))).unwrap();
        for (named, is_asked, only) in [
            (&["tk-1"][..], false, Some(&["tk-1"][..])),
            (&["tk-2"], true, Some(&["tk-1", "tk-2"])),
            (&["tk-3"], false, Some(&["tk-3"])),
            (&[], true, None),
            (&["tk-1"], true, None),
        ] {
            let named = named.iter().map(|name| id(name)).collect();
            Scope::change(folder.path(), |scope| scope.open(named, is_asked)).unwrap();
            let expected = only.map(|only| only.iter().map(|name| id(name)).collect());
            assert_eq!(Scope::read(folder.path()), Scope { only: expected, ..Scope::default() });
        }
    }

    #[test]
    fn what_cannot_be_read_has_nothing_asked_and_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        Scope::change(folder.path(), |scope| scope.mute(&id("tk-1"))).unwrap();
        std::fs::write(path(folder.path()), "{").unwrap();
        let scope = Scope::read(folder.path());
        assert!(!scope.has(&id("tk-1")) && !scope.has(&id("tk-2")) && scope.told().contains("cannot be read"));
        assert!(Scope::change(folder.path(), |scope| scope.mute(&id("tk-2"))).is_err());
        assert_eq!(std::fs::read_to_string(path(folder.path())).unwrap(), "{");
    }

    #[test]
    fn what_an_earlier_version_has_muted_stays_muted() {
        let folder = tempfile::tempdir().unwrap();
        let before = |text: &str| private_file::write(&folder.path().join("away.json"), text).unwrap();
        before(r#"{"muted":["tk-1"],"offset":7}"#);
        assert!(!Scope::read(folder.path()).has(&id("tk-1")));
        Scope::settle(folder.path()).unwrap();
        before(r#"{"offset":7}"#);
        assert!(!Scope::read(folder.path()).has(&id("tk-1")));
        Scope::change(folder.path(), |scope| scope.unmute(&id("tk-1"))).unwrap();
        before(r#"{"muted":["tk-1"]}"#);
        assert!(Scope::read(folder.path()).has(&id("tk-1")), "read once");
    }
}
