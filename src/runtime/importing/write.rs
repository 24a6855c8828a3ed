//! Writes the tickets of imported tasks, each whole or not at all. A program that is killed in between is followed by one that goes on.

use super::importer::{ImportError, Importer};
use crate::adapters::tickets::create::{DIGEST, Origin, text};
use crate::adapters::tickets::{self, NewTicket};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::import::foreign::{self, Taken};
use crate::domain::import::item::{Item, Source};
use crate::domain::import::visible::line;
use crate::domain::import::{Known, Standing};
use crate::domain::record::WriteOutcome;
use crate::domain::ticket::card::{self, Card};
use crate::domain::ticket::edit::Unchanged;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Which tasks were written and where, and what is to be said of them.
type Written = (Vec<(usize, PathBuf)>, Vec<String>);

/// The tickets that there will be.
pub(super) struct Names {
    /// By their references, those that are there among them.
    ids: BTreeMap<String, TicketId>,
    /// Those of the chosen tasks.
    own: BTreeMap<usize, TicketId>,
}

/// What waits for another has to know its id before that is written.
pub(super) fn names(
    importer: &Importer,
    dir: &Path,
    (source, items): (Source, &[Item]),
    chosen: &[usize],
    known: &[Known],
) -> Result<Names, ImportError> {
    let mut ids: BTreeMap<String, TicketId> = known.iter().map(|one| (one.reference.clone(), one.id.clone())).collect();
    let mut own: BTreeMap<usize, TicketId> = BTreeMap::new();
    for n in chosen {
        let reference = items[*n].reference(source);
        let free = (0..16).find_map(|again| {
            let what = format!("{reference}{}", "\0".repeat(again));
            tickets::id_for(&what, &importer.folder, dir).filter(|id| !own.values().any(|taken| taken == id))
        });
        let id = free.ok_or_else(|| ImportError::Failed("no free id for a ticket".to_owned()))?;
        ids.insert(reference, id.clone());
        own.insert(*n, id);
    }
    Ok(Names { ids, own })
}

/// Writes the chosen ones of all tasks that the source has.
pub(super) fn tickets(
    importer: &Importer,
    dir: &Path,
    (source, taken): (Source, Taken),
    items: &[Item],
    Names { ids, own }: &Names,
) -> Result<Written, ImportError> {
    let done: BTreeSet<&str> = items.iter().filter(|item| item.is_done).map(|item| item.key.as_str()).collect();
    let assignee = importer.user.as_deref();
    let (mut written, mut lost) = (Vec::new(), Vec::new());
    for (place, (n, id)) in (0_u64..).zip(own) {
        let item = &items[*n];
        let draft = foreign::draft(source, item, taken);
        let (reference, digest) = (item.reference(source), item.digest());
        let named = |key: &String| Item { key: key.clone(), ..Item::default() }.reference(source);
        let deps: Vec<&TicketId> = item.deps.iter().filter_map(|key| ids.get(&named(key))).collect();
        let origin = Some(Origin { reference: &reference, digest: &digest });
        // Of tickets of one priority the older is worked on first: they stay in the order of the document.
        let now = importer.clock.now().minus(Duration::from_secs((own.len() as u64 - 1).saturating_sub(place)));
        let new =
            NewTicket { draft: &draft, project: &importer.folder, assignee, now, origin, parent: None, deps: &deps };
        let path = dir.join(format!("{id}.md"));
        let made =
            std::fs::create_dir_all(dir).and_then(|()| tickets::write_new(&path, text(id.as_str(), &new).as_bytes()));
        match made {
            Ok(()) => {
                let is_lost = |key: &&String| !ids.contains_key(&named(key)) && !done.contains(key.as_str());
                lost.extend(item.deps.iter().filter(is_lost).map(|key| {
                    let cure = "once it is a ticket, add it with `programmator ticket dep`";
                    format!(
                        "{id} depends on {}, which has no ticket here; the dependency was not added: {cure}",
                        line(key)
                    )
                }));
                written.push((*n, path));
            }
            // Another program imports the same at this moment.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                let shown = clean_line(&path.display().to_string(), 300);
                let done = written.len();
                return Err(ImportError::Failed(format!(
                    "{shown} cannot be written: {error}; {done} were written; run the command again to continue"
                )));
            }
        }
    }
    Ok((written, lost))
}

/// An earlier ticket whose task waits for more than the ticket says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Link {
    ticket: TicketId,
    /// What it waited for when it was imported: where its `deps` are others by now, they are the person's.
    old: BTreeSet<String>,
    /// What it is to wait for, too.
    new: Vec<String>,
    /// What the ticket's digest is then: it says all that its task does.
    #[serde(default)]
    digest: Option<String>,
}

/// The open tickets that are to wait for those that will be written, or for others that their task waits for by now.
pub(super) fn links(
    (source, items): (Source, &[Item]),
    standing: &[Standing],
    names: &Names,
    known: &[Known],
) -> Vec<Link> {
    let reference = |key: &String| Item { key: key.clone(), ..Item::default() }.reference(source);
    let before: BTreeMap<&str, &Known> = known.iter().map(|one| (one.reference.as_str(), one)).collect();
    let now: BTreeMap<&str, &TicketId> = names.own.iter().map(|(n, id)| (items[*n].key.as_str(), id)).collect();
    let keys: BTreeMap<&str, &String> = items
        .iter()
        .filter_map(|item| Some((before.get(item.reference(source).as_str())?.id.as_str(), &item.key)))
        .collect();
    // Only the deps have changed there, and those of the ticket are as they were imported.
    let is_untouched = |item: &Item, ticket: &Known| {
        let deps: Option<Vec<String>> = ticket.deps.iter().map(|id| Some((*keys.get(id.as_str())?).clone())).collect();
        deps.is_some_and(|deps| Item { deps, ..item.clone() }.digest() == ticket.digest)
    };
    let of = |(item, standing): (&Item, &Standing)| {
        let ticket = *before.get(item.reference(source).as_str()).filter(|ticket| !ticket.is_closed)?;
        let earlier = item.deps.iter().filter_map(|key| Some(before.get(reference(key).as_str())?.id.to_string()));
        let earlier: BTreeSet<String> = earlier.collect();
        let mut new: Vec<String> =
            item.deps.iter().filter_map(|key| Some(now.get(key.as_str())?.to_string())).collect();
        let (mut old, mut digest) = (earlier.clone(), None);
        if matches!(standing, Standing::Changed(_)) {
            new.extend(earlier.into_iter().filter(|id| !ticket.deps.contains(id)));
            if is_untouched(item, ticket) {
                old.clone_from(&ticket.deps);
                // Else a dependency that the person takes out would come back.
                digest = Some(item.digest());
            }
        }
        (!new.is_empty()).then(|| Link { ticket: ticket.id.clone(), old, new, digest })
    };
    items.iter().zip(standing).filter_map(of).collect()
}

/// Has earlier tickets wait for those that have been written, where their deps are as they were imported. What is to be said of it.
pub(super) fn link(importer: &Importer, dir: &Path, links: &[Link]) -> Vec<String> {
    let mut notes = Vec::new();
    for Link { ticket, old, new, digest } in links {
        let new: Vec<String> = new.iter().filter(|id| dir.join(format!("{id}.md")).is_file()).cloned().collect();
        if new.is_empty() {
            continue;
        }
        let edit = |bytes: &[u8]| {
            let deps = Card::read(bytes).map(|card| card.list("deps")).unwrap_or_default();
            let (deps, both) = (deps.into_iter().collect::<BTreeSet<_>>(), new.iter().cloned().chain(old.clone()));
            if both.collect::<BTreeSet<_>>() == deps {
                // It was killed behind this.
                return Err(Unchanged::AlreadySo);
            }
            if deps != *old {
                return Err(Unchanged::NotThere);
            }
            let linked = card::add(bytes, "deps", &new)?;
            match digest {
                Some(digest) => card::set(&linked, DIGEST, digest),
                None => Ok(linked),
            }
        };
        let others = new.join(", ");
        match tickets::change(&dir.join(format!("{ticket}.md")), &importer.state.join("locks"), &edit) {
            WriteOutcome::Written => notes.push(format!("{ticket} depends on {others} now, as at the source")),
            WriteOutcome::AlreadySo => {}
            _ => notes.push(format!(
                "{ticket} depends on {others} at the source, but not here: add it with `programmator ticket dep`"
            )),
        }
    }
    notes
}
