//! Tickets that wait to be started: for others that must be closed before them (`deps`), or for their turn where only so
//! many runs may be open at once. What waits holds nothing: no lock, no record. Plain data, and what comes next.

use crate::domain::ticket::{Ticket, TicketKey};
use std::collections::HashSet;

/// A ticket that waits to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    pub ticket: TicketKey,
    pub rank: Rank,
    pub deps: Vec<(TicketKey, Dep)>,
    /// What its last run left behind is still being cleared away.
    pub is_ending: bool,
}

/// How a ticket stands that must be closed before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dep {
    Closed,
    /// Its run is open, in this program or another.
    AtWork,
    /// Nobody works on it.
    Open,
    /// It cannot be found; what it is instead of a ticket.
    Missing(String),
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
    /// It would wait in vain, for this reason.
    Leave(TicketKey, String),
}

/// `at_work`: runs that are open here; `most`: how many may be.
pub fn next(queue: &[Queued], at_work: usize, most: Option<usize>) -> Option<Next> {
    if let Some((queued, why)) = queue.iter().find_map(|queued| Some((queued, in_vain(queue, queued)?))) {
        return Some(Next::Leave(queued.ticket.clone(), why));
    }
    if most.is_some_and(|most| at_work >= most) {
        return None;
    }
    let free = queue.iter().filter(|queued| blocking(queued).is_none() && !queued.is_ending);
    free.min_by_key(|queued| &queued.rank).map(|queued| Next::Start(queued.ticket.clone()))
}

/// Why a ticket waits, in a few words.
pub fn reason(queued: &Queued, at_work: usize) -> String {
    match blocking(queued) {
        Some(dep) => format!("after {dep}"),
        None if queued.is_ending => "its last run is just ending".to_owned(),
        None if at_work == 1 => "queued behind 1 run (run.max_parallel)".to_owned(),
        None => format!("queued behind {at_work} runs (run.max_parallel)"),
    }
}

fn blocking(queued: &Queued) -> Option<&TicketKey> {
    queued.deps.iter().find(|(_, dep)| *dep != Dep::Closed).map(|(ticket, _)| ticket)
}

/// Why a ticket would wait for ever.
pub fn in_vain(queue: &[Queued], queued: &Queued) -> Option<String> {
    let mut way = vec![&queued.ticket];
    if is_circle(queue, queued, &mut way, &mut HashSet::new()) {
        let names: Vec<&str> = way.iter().map(|ticket| ticket.as_str()).collect();
        return Some(format!("its deps lead back to it ({}): take one of them out", names.join(" → ")));
    }
    queued.deps.iter().find_map(|(dep, how)| match how {
        Dep::Missing(what) => Some(format!("it depends on {dep}, which is {what}: correct its deps")),
        Dep::Open if find(queue, dep).is_none() => Some(format!(
            "it depends on {dep}, which is not closed and which nobody works on: start both, or close {dep}"
        )),
        _ => None,
    })
}

/// Whether the way leads back to where it begins. `seen`: tickets that need not be entered again.
fn is_circle<'a>(
    queue: &'a [Queued],
    at: &'a Queued,
    way: &mut Vec<&'a TicketKey>,
    seen: &mut HashSet<&'a TicketKey>,
) -> bool {
    for (dep, _) in at.deps.iter().filter(|(_, dep)| *dep == Dep::Open) {
        if dep == way[0] {
            way.push(dep);
            return true;
        }
        if let Some(next) = find(queue, dep).filter(|_| seen.insert(dep)) {
            way.push(dep);
            if is_circle(queue, next, way, seen) {
                return true;
            }
            way.pop();
        }
    }
    false
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
            is_ending: false,
        }
    }

    fn start(ticket: &str) -> Next {
        Next::Start(TicketKey::unknown(ticket))
    }

    #[test]
    fn the_highest_priority_of_those_that_may_start_is_next() {
        let all = [queued("a", 2, &[]), queued("b", 0, &[("a", Dep::Open)]), queued("c", 1, &[("x", Dep::Closed)])];
        assert_eq!(next(&all, 0, None), Some(start("c")));
        assert_eq!((next(&all, 2, Some(2)), next(&all, 1, Some(2))), (None, Some(start("c"))));
        assert_eq!(next(&[queued("b", 0, &[("a", Dep::AtWork)])], 1, None), None);
        assert_eq!(
            (reason(&all[0], 2), reason(&all[1], 2)),
            ("queued behind 2 runs (run.max_parallel)".into(), "after a".into())
        );
        assert_eq!(next(&[], 0, None), None);
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
        let left = |all: &[Queued]| match next(all, 0, None) {
            Some(Next::Leave(ticket, why)) => (ticket.to_string(), why),
            other => panic!("{other:?}"),
        };
        let (ticket, why) = left(&[queued("b", 0, &[("a", Dep::Open)])]);
        assert!(ticket == "b" && why.contains("depends on a, which is not closed"), "{why}");
        let circle = [
            queued("d", 0, &[("a", Dep::Open)]),
            queued("a", 0, &[("b", Dep::Open)]),
            queued("b", 0, &[("c", Dep::Open)]),
            queued("c", 0, &[("a", Dep::Open)]),
        ];
        let (ticket, why) = left(&circle);
        assert!(ticket == "a" && why.contains("(a → b → c → a)"), "{ticket}: {why}");
        assert!(left(&[queued("a", 0, &[("a", Dep::Open)])]).1.contains("(a → a)"));
        let (_, why) = left(&[queued("a", 0, &[("b", Dep::Missing("no ticket in /w".into()))])]);
        assert_eq!(why, "it depends on b, which is no ticket in /w: correct its deps");
    }

    #[test]
    fn a_ticket_whose_last_run_is_just_ending_is_not_started_yet() {
        let ending = Queued { is_ending: true, ..queued("a", 0, &[]) };
        assert_eq!(next(std::slice::from_ref(&ending), 1, None), None);
        assert_eq!(reason(&ending, 1), "its last run is just ending");
        assert_eq!(next(&[ending, queued("b", 1, &[])], 1, None), Some(start("b")));
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
        assert_eq!(next(&all, 0, None), Some(start("t0")));
        all[0].deps.push((TicketKey::unknown("t59"), Dep::Open));
        assert!(in_vain(&all, &all[30]).is_some_and(|why| why.contains("lead back to it (t30 → t0 → t59 → ")));
    }
}
