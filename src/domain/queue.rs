//! Tickets that wait to be started: for others that must be closed before them (`deps`), or for their turn where only so
//! many runs may be open at once. What waits holds nothing: no lock, no record. Plain data, and what comes next.

use crate::domain::ticket::{Ticket, TicketKey};
use std::collections::HashSet;
use std::hash::Hash;

/// A ticket that waits to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub ticket: TicketKey,
    pub rank: Rank,
    pub deps: Vec<(TicketKey, Dep)>,
    /// What else keeps it.
    pub hold: Option<Hold>,
}

/// What keeps a ticket that depends on nothing open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hold {
    /// What its last run left behind is still being cleared away.
    Ending,
    /// Its file could not be read just now, for this reason: somebody may be writing it.
    Unread(String),
    /// It has been so for a while.
    Unreadable(String),
}

/// How a ticket stands that must be closed before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dep {
    Closed,
    /// Its run is open, in this program or another.
    AtWork,
    /// Nobody works on it.
    Open,
    /// Its file could not be read just now: somebody may be writing it.
    Unread,
    /// It cannot be found; what it is instead of a ticket.
    Missing(String),
    /// Its file is there, and nobody can work on it before it is edited; why.
    Unfinished(String),
}

/// How many runs are open here, and may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Those that work or are about to. One that the person has paused holds no slot, nor does one that is parked.
    pub at_work: usize,
    /// Those that wait for a limit. Limits are everybody's: what is started meanwhile would be parked as well, and all of
    /// them would go on at the same time.
    pub parked: usize,
    pub most: Option<usize>,
}

impl Slots {
    fn are_free(self) -> bool {
        self.most.is_none_or(|most| self.parked == 0 && self.at_work < most)
    }
}

/// After every date.
const UNKNOWN: &str = "~";

/// The place of a ticket among those that may start: by priority, then by age, then as given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    priority: u32,
    created: String,
    given: u64,
}

impl Rank {
    /// 0 is the highest priority; a ticket without one comes after all others.
    pub fn of(ticket: &Ticket, given: u64) -> Self {
        let extra = |key: &str| ticket.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value.trim());
        let priority = extra("priority").and_then(|text| text.trim_start_matches(['p', 'P']).parse().ok());
        Self { priority: priority.unwrap_or(u32::MAX), created: extra("created").unwrap_or(UNKNOWN).to_owned(), given }
    }

    /// Of a ticket that cannot be read.
    pub fn last(given: u64) -> Self {
        Self { priority: u32::MAX, created: UNKNOWN.to_owned(), given }
    }
}

/// What is to be done about the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Start(TicketKey),
    /// They would wait in vain, each for this reason.
    Leave(Vec<(TicketKey, String)>),
}

pub fn next(queue: &[Queued], slots: Slots) -> Option<Next> {
    let vain = queue.iter().filter_map(|queued| Some((queued.ticket.clone(), in_vain(queue, queued)?)));
    let vain: Vec<_> = vain.collect();
    if !vain.is_empty() {
        return Some(Next::Leave(vain));
    }
    let free = queue.iter().filter(|queued| slots.are_free() && blocking(queued).is_none() && queued.hold.is_none());
    free.min_by_key(|queued| &queued.rank).map(|queued| Next::Start(queued.ticket.clone()))
}

/// Why a ticket waits, in a few words.
pub fn reason(queued: &Queued, slots: Slots) -> String {
    let runs = |many: usize| if many == 1 { "1 run".to_owned() } else { format!("{many} runs") };
    match (&queued.hold, blocking(queued)) {
        (Some(Hold::Unread(why) | Hold::Unreadable(why)), _) => why.clone(),
        (_, Some(dep)) => format!("after {dep}"),
        (Some(Hold::Ending), None) => "its last run is ending".to_owned(),
        (None, None) if slots.parked > 0 => format!("queued behind {}, parked at a limit", runs(slots.parked)),
        (None, None) => format!("queued behind {} (run.max_parallel)", runs(slots.at_work)),
    }
}

fn blocking(queued: &Queued) -> Option<&TicketKey> {
    queued.deps.iter().find(|(_, dep)| *dep != Dep::Closed).map(|(ticket, _)| ticket)
}

/// Why a ticket would wait for ever.
fn in_vain(queue: &[Queued], queued: &Queued) -> Option<String> {
    if let Some(Hold::Unreadable(why)) = &queued.hold {
        return Some(why.clone());
    }
    let open = |ticket: &TicketKey| {
        let deps = find(queue, ticket).into_iter().flat_map(|queued| &queued.deps);
        deps.filter(|(_, dep)| *dep == Dep::Open).map(|(dep, _)| dep.clone()).collect()
    };
    if let Some(way) = circle(&queued.ticket, open) {
        return Some(circle_words(&way));
    }
    queued.deps.iter().find_map(|(dep, how)| match how {
        Dep::Missing(what) => Some(format!("it depends on {dep}, which is {what}: fix its deps")),
        Dep::Unfinished(why) => Some(format!("it depends on {dep}, which nobody can work on yet: {why}")),
        Dep::Open if find(queue, dep).is_none() => {
            Some(format!("it depends on {dep}, which is open and not running: start both, or close {dep}"))
        }
        _ => None,
    })
}

/// That the way by which a ticket depends on itself has to be cut.
pub fn circle_words(way: &[TicketKey]) -> String {
    let names: Vec<&str> = way.iter().map(TicketKey::as_str).collect();
    format!("dependency cycle ({}): remove one of the deps", names.join(" → "))
}

/// The way that leads from here back to here, both ends named; `None`: there is none. `next`: where it leads from each.
pub fn circle<K: Clone + Eq + Hash>(from: &K, next: impl Fn(&K) -> Vec<K>) -> Option<Vec<K>> {
    let mut seen = HashSet::new();
    // Each with what is still to be entered from it; a list, for a way may be longer than the stack.
    let mut way = vec![(from.clone(), next(from).into_iter())];
    while let Some((_, open)) = way.last_mut() {
        match open.next() {
            None => drop(way.pop()),
            Some(dep) if dep == *from => {
                return Some(way.into_iter().map(|(at, _)| at).chain([dep]).collect());
            }
            Some(dep) if seen.insert(dep.clone()) => {
                let open = next(&dep).into_iter();
                way.push((dep, open));
            }
            Some(_) => {}
        }
    }
    None
}

fn find<'a>(queue: &'a [Queued], ticket: &TicketKey) -> Option<&'a Queued> {
    queue.iter().find(|queued| queued.ticket == *ticket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(ticket: &str, priority: u32, deps: &[(&str, Dep)]) -> Queued {
        Queued {
            ticket: TicketKey::unknown(ticket),
            rank: Rank { priority, created: String::new(), given: 0 },
            deps: deps.iter().map(|(dep, how)| (TicketKey::unknown(dep), how.clone())).collect(),
            hold: None,
        }
    }

    fn slots(at_work: usize, most: Option<usize>) -> Slots {
        Slots { at_work, parked: 0, most }
    }

    fn start(ticket: &str) -> Next {
        Next::Start(TicketKey::unknown(ticket))
    }

    #[test]
    fn the_highest_priority_of_those_that_may_start_is_next() {
        let all = [queued("a", 2, &[]), queued("b", 0, &[("a", Dep::Open)]), queued("c", 1, &[("x", Dep::Closed)])];
        assert_eq!(next(&all, slots(0, None)), Some(start("c")));
        assert_eq!((next(&all, slots(2, Some(2))), next(&all, slots(1, Some(2)))), (None, Some(start("c"))));
        assert_eq!(next(&[queued("b", 0, &[("a", Dep::AtWork)])], slots(1, None)), None);
        assert_eq!(
            (reason(&all[0], slots(2, Some(2))), reason(&all[1], slots(2, Some(2)))),
            ("queued behind 2 runs (run.max_parallel)".into(), "after a".into())
        );
        assert_eq!(next(&[], slots(0, None)), None);
    }

    #[test]
    fn of_one_priority_the_older_is_next_then_as_given() {
        let ticket = |text: &str, given| Rank::of(&crate::domain::ticket::parse::parse(text.as_bytes(), "t.md"), given);
        let front = |lines: &str| format!("---\n{lines}---\n# T\n");
        let urgent = ticket(&front("id: t\npriority: P0\ncreated: 2026-02-01T10:00:00Z\n"), 3);
        let old = ticket(&front("id: t\npriority: 2\ncreated: 2026-01-01T10:00:00Z\n"), 2);
        let new = ticket(&front("id: t\npriority: 2\ncreated: 2026-02-01T10:00:00Z\n"), 1);
        let dateless = ticket(&front("id: t\npriority: 2\n"), 0);
        let [none, later] = [4, 5].map(|given| ticket("# T\n", given));
        let mut all = [&later, &none, &dateless, &new, &urgent, &old];
        all.sort();
        assert_eq!(all, [&urgent, &old, &new, &dateless, &none, &later]);
    }

    #[test]
    fn who_would_wait_in_vain_is_left_with_the_reason_and_circles_are_named() {
        let left = |all: &[Queued]| match next(all, slots(0, None)) {
            Some(Next::Leave(left)) => {
                left.into_iter().map(|(ticket, why)| (ticket.to_string(), why)).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        let alone = left(&[queued("b", 0, &[("a", Dep::Open)])]);
        assert!(alone[0].0 == "b" && alone[0].1.contains("depends on a, which is open"), "{alone:?}");
        let all = left(&[
            queued("d", 0, &[("a", Dep::Open)]),
            queued("a", 0, &[("b", Dep::Open)]),
            queued("b", 0, &[("c", Dep::Open)]),
            queued("c", 0, &[("a", Dep::Open)]),
        ]);
        // One that only leads into it is no part of it, and each of the others is told the circle.
        let circles: Vec<_> = all.iter().map(|(ticket, why)| (ticket.as_str(), why.split(['(', ')']).nth(1))).collect();
        let named = [("a", "a → b → c → a"), ("b", "b → c → a → b"), ("c", "c → a → b → c")];
        assert_eq!(circles, named.map(|(ticket, way)| (ticket, Some(way))));
        assert!(left(&[queued("a", 0, &[("a", Dep::Open)])])[0].1.contains("(a → a)"));
        let missing = left(&[queued("a", 0, &[("b", Dep::Missing("no ticket in /w".into()))])]);
        assert_eq!(missing[0].1, "it depends on b, which is no ticket in /w: fix its deps");
        let template =
            left(&[queued("a", 0, &[("b", Dep::Unfinished("/w/b.md has an error in line 14: fill it in".into()))])]);
        let words = "it depends on b, which nobody can work on yet: /w/b.md has an error in line 14: fill it in";
        assert_eq!(template[0].1, words, "its deps are right");
    }

    #[test]
    fn what_is_parked_or_paused_holds_no_slot_but_nothing_is_started_into_a_limit() {
        let all = [queued("a", 0, &[])];
        let parked = Slots { at_work: 0, parked: 2, most: Some(3) };
        assert_eq!(next(&all, parked), None);
        assert_eq!(reason(&all[0], parked), "queued behind 2 runs, parked at a limit");
        assert_eq!(next(&all, Slots { most: None, ..parked }), Some(start("a")));
        assert_eq!(next(&all, slots(0, Some(1))), Some(start("a")), "the one that was before is paused");
    }

    #[test]
    fn what_cannot_be_read_just_now_waits_and_later_is_left() {
        let hold = |hold| Queued { hold: Some(hold), ..queued("a", 0, &[]) };
        let unread = hold(Hold::Unread("its file cannot be read".into()));
        assert_eq!(next(std::slice::from_ref(&unread), slots(0, None)), None);
        assert_eq!(reason(&unread, slots(0, None)), "its file cannot be read");
        let left = next(&[hold(Hold::Unreadable("gone".into()))], slots(0, None));
        assert_eq!(left, Some(Next::Leave(vec![(TicketKey::unknown("a"), "gone".into())])));
        assert_eq!(next(&[queued("b", 0, &[("a", Dep::Unread)])], slots(0, None)), None);
    }

    #[test]
    fn a_ticket_whose_last_run_is_just_ending_is_not_started_yet() {
        let ending = Queued { hold: Some(Hold::Ending), ..queued("a", 0, &[]) };
        assert_eq!(next(std::slice::from_ref(&ending), slots(1, None)), None);
        assert_eq!(reason(&ending, slots(1, None)), "its last run is ending");
        assert_eq!(next(&[ending, queued("b", 1, &[])], slots(1, None)), Some(start("b")));
    }

    /// Paths through them are countless: each ticket is entered once.
    #[test]
    fn many_tickets_that_all_depend_on_each_other_are_looked_at_in_no_time() {
        let names: Vec<String> = (0..60).map(|at| format!("t{at}")).collect();
        let all = names.iter().enumerate().map(|(at, name)| {
            let deps: Vec<_> = names[..at].iter().map(|dep| (dep.as_str(), Dep::Open)).collect();
            queued(name, 0, &deps)
        });
        let mut all: Vec<Queued> = all.collect();
        assert_eq!(next(&all, slots(0, None)), Some(start("t0")));
        all[0].deps.push((TicketKey::unknown("t59"), Dep::Open));
        assert!(in_vain(&all, &all[30]).is_some_and(|why| why.contains("dependency cycle (t30 → t0 → t59 → ")));
    }
}
