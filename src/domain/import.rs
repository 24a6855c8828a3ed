//! Tasks of other programs and documents as tickets: the one shape that all sources are read into, and how it compares with the
//! tickets that are there. The text is foreign: how it becomes a ticket's is `foreign`'s.

pub mod counterparts;
pub mod foreign;
pub mod issues;
pub mod item;
pub mod lists;
mod outline;
pub mod page;
mod priority;
pub mod rc;
pub mod stories;
pub mod unread;
pub mod visible;

use crate::base::id::TicketId;
use item::{Item, Source};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A ticket that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub id: TicketId,
    pub title: String,
    pub reference: String,
    pub digest: String,
    /// Ids of the tickets that it waits for.
    pub deps: BTreeSet<String>,
    pub is_closed: bool,
}

/// How a task stands here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    New,
    /// It is done there, and was never imported.
    Done,
    Imported(TicketId),
    /// It was imported, and says something else by now.
    Changed(TicketId),
    /// It was imported, and is not there any more.
    Gone(TicketId),
}

impl Standing {
    /// For people and machines.
    pub fn word(&self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Done => "done",
            Self::Imported(_) => "imported",
            Self::Changed(_) => "changed",
            Self::Gone(_) => "gone",
        }
    }

    /// Its ticket, where it was imported.
    pub fn ticket(&self) -> Option<&TicketId> {
        match self {
            Self::New | Self::Done => None,
            Self::Imported(id) | Self::Changed(id) | Self::Gone(id) => Some(id),
        }
    }
}

/// How each of the tasks stands, in their order.
pub fn standings(source: Source, items: &[Item], known: &[Known]) -> Vec<Standing> {
    let known: BTreeMap<&str, &Known> = known.iter().map(|one| (one.reference.as_str(), one)).collect();
    let one = |item: &Item| match known.get(item.reference(source).as_str()) {
        Some(one) if one.digest == item.digest() => Standing::Imported(one.id.clone()),
        Some(one) => Standing::Changed(one.id.clone()),
        None if item.is_done => Standing::Done,
        None => Standing::New,
    };
    items.iter().map(one).collect()
}

/// Open tickets of this source, of these places (what a key begins with), that are not among the tasks any more.
pub fn gone<'a>(source: Source, places: &[String], items: &[Item], known: &'a [Known]) -> Vec<&'a Known> {
    let references: BTreeSet<String> = items.iter().map(|item| item.reference(source)).collect();
    let begins: Vec<String> =
        places.iter().map(|place| format!("{}:{}", source.word(), visible::line(place))).collect();
    let is_ours = |one: &&Known| begins.iter().any(|begin| one.reference.starts_with(begin));
    known.iter().filter(is_ours).filter(|one| !one.is_closed && !references.contains(&one.reference)).collect()
}

#[cfg(test)]
mod tests {
    use super::item::keyed;
    use super::*;

    fn item(title: &str) -> Item {
        Item { title: title.to_owned(), ..Item::default() }
    }

    #[test]
    fn what_was_imported_is_known_again() {
        let mut items = [item("Limit logins"), item("Limit Logins!"), item("Log out")];
        keyed("a.md", &mut items);
        let keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
        assert_eq!(keys, ["a.md#limit-logins", "a.md#limit-logins.2", "a.md#log-out"]);
        items[2].is_done = true;
        let id = |id: &str| TicketId::parse(id).unwrap();
        let known = |n: &str, of: &Item, digest: String| Known {
            id: id(n),
            title: of.title.clone(),
            reference: of.reference(Source::Prd),
            digest,
            deps: BTreeSet::new(),
            is_closed: false,
        };
        let other = Known { reference: "prd:a.md#gone".into(), ..known("tk-3", &items[0], String::new()) };
        let elsewhere = Known { reference: "prd:b.md#x".into(), ..other.clone() };
        let known =
            [known("tk-1", &items[0], items[0].digest()), known("tk-2", &items[1], "old".into()), other, elsewhere];
        let standing = standings(Source::Prd, &items, &known);
        assert_eq!(standing, [Standing::Imported(id("tk-1")), Standing::Changed(id("tk-2")), Standing::Done]);
        let gone = gone(Source::Prd, &["a.md#".to_owned()], &items, &known);
        assert_eq!(gone.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["tk-3"]);
    }

    #[test]
    fn long_and_many_keys_stay_apart() {
        let mut items = vec![item("same"); 2_000];
        keyed(&"deep/".repeat(100), &mut items);
        let references: BTreeSet<String> = items.iter().map(|item| item.reference(Source::Tasks)).collect();
        assert_eq!(references.len(), items.len());
    }

    #[test]
    fn a_step_that_is_done_changes_nothing_and_another_word_does() {
        let open = Item { phases: vec!["a".into(), "b".into()], ..item("T") };
        let half = Item { phases: vec!["b".into()], done_phases: vec!["a".into()], ..item("T") };
        assert_eq!(open.digest(), half.digest());
        assert_ne!(open.digest(), Item { text: "x".into(), ..open.clone() }.digest());
    }
}
