//! `programmator run --ready`: which tickets it takes up, and why it leaves others.

use super::error::CliError;
use crate::adapters::tickets::{self, Places};
use crate::config::Config;
use crate::config::key::Key;
use crate::domain::ticket::tree::{self, Circle};
use crate::domain::ticket::{Ticket, TicketStatus};
use crate::domain::worktree::WorktreeFor;
use clap::Args;
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;

/// Longest circle that is told whole.
const LONGEST: usize = 12;

/// Working through all tickets that are ready.
#[derive(Debug, Clone, Args)]
pub struct ReadyArgs {
    /// Run all ready tickets, by priority, then age; tickets that become ready are included.
    #[arg(long, conflicts_with_all = ["tickets", "resolve", "detach", "on"])]
    pub ready: bool,
    /// With --ready: only tickets with this tag.
    #[arg(long, value_name = "TAG", requires = "ready", conflicts_with = "tickets")]
    pub tag: Option<String>,
    /// With --ready: start no more tickets once one has failed.
    #[arg(long, requires = "ready", conflicts_with = "tickets")]
    pub halt_on_failure: bool,
    /// Maximum number of tickets to run at once [default: from your settings]; only one runs at a time in a directory.
    #[arg(long, value_name = "N")]
    pub max_parallel: Option<String>,
}

impl ReadyArgs {
    /// `None`: the tickets are named.
    pub fn work(&self) -> Option<Ready> {
        self.ready.then(|| Ready { tag: self.tag.clone(), halts: self.halt_on_failure })
    }

    /// The options that are config keys.
    pub fn flags(&self) -> Option<(Key, &'static str, String)> {
        Some((Key::MaxParallel, "--max-parallel", self.max_parallel.clone()?))
    }
}

/// How all ready tickets are worked through.
#[derive(Clone, Debug, Default)]
pub struct Ready {
    /// Only tickets with this tag.
    pub tag: Option<String>,
    /// Nothing more is started once one has failed.
    pub halts: bool,
}

/// How many of them are worked on at the same time; `None`: any number. In one directory one ticket works at a time.
pub fn parallel(config: &Config) -> Option<usize> {
    if config.settings.git.worktree == WorktreeFor::Ticket { config.max_parallel } else { Some(1) }
}

/// The tickets that a run works through, and what is to be said of the others.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Their files.
    pub files: Vec<PathBuf>,
    /// The title of each.
    pub titles: Vec<String>,
    pub left: Vec<String>,
}

/// All tickets of the folder that are open or in progress and wait for no other, and those whose deps are among them.
/// `tag`: only tickets with it.
pub fn choose(places: &Places, tag: Option<&str>) -> Result<Chosen, CliError> {
    let dir = places.dir();
    let listed = tickets::list(&dir).map_err(|error| CliError::tickets_folder(&dir, &error))?;
    let mut left = Vec::new();
    let mut read = Vec::new();
    for one in listed {
        match one.ticket {
            Ok(ticket) => read.push((one.path, ticket)),
            Err(error) => left.push(error.to_string()),
        }
    }
    let (taken, mut others) = of(&read.iter().map(|(_, ticket)| ticket).collect::<Vec<_>>(), tag);
    left.append(&mut others);
    let (files, titles) = taken.into_iter().map(|at| (read[at].0.clone(), read[at].1.title.clone())).unzip();
    Ok(Chosen { files, titles, left })
}

/// The places of those that can be worked on, and of the others why not.
fn of(all: &[&Ticket], tag: Option<&str>) -> (Vec<usize>, Vec<String>) {
    let by_id: HashMap<&str, usize> = all.iter().enumerate().map(|(at, ticket)| (ticket.id.as_str(), at)).collect();
    let circles = Circles::of(all, &by_id);
    let has_tag = |ticket: &Ticket| {
        let tags = ticket.extra.iter().find(|(key, _)| key == "tags").map(|(_, tags)| tags.as_str());
        tag.is_none_or(|tag| tags.unwrap_or_default().split(',').any(|one| one.trim() == tag))
    };
    // Of one whose front matter cannot be read nothing is known but that.
    let is_active = |ticket: &Ticket| match ticket.status {
        Some(status) => matches!(status, TicketStatus::Open | TicketStatus::InProgress),
        None => ticket.is_broken(),
    };
    let wanted = (0..all.len()).filter(|at| is_active(all[*at]) && has_tag(all[*at]));
    let (mut left, mut taken): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
    for at in wanted {
        let ticket = all[at];
        if let Some(problem) = ticket.problems.iter().find(|_| ticket.is_broken()) {
            left.push(format!("{} is not started: line {}: {}", ticket.id, problem.line, problem.message));
        } else if let Some(way) = circles.way(all, at) {
            left.push(format!("{} is not started: dependency cycle ({way}): remove one of the deps", ticket.id));
        } else {
            taken.push(at);
        }
    }
    // What waits for a ticket that is not taken is not taken either, and so on.
    let mut comes: Vec<bool> = all.iter().map(|ticket| ticket.is_closed()).collect();
    for at in &taken {
        comes[*at] = true;
    }
    let mut waiting: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut open: VecDeque<(usize, &str)> = VecDeque::new();
    for at in &taken {
        for dep in &all[*at].deps {
            match by_id.get(dep.as_str()) {
                Some(on) if comes[*on] => waiting.entry(*on).or_default().push(*at),
                _ => open.push_back((*at, dep.as_str())),
            }
        }
    }
    while let Some((at, dep)) = open.pop_front() {
        // Another of its deps has said so already.
        if std::mem::take(&mut comes[at]) {
            left.push(format!("{} is not started: it waits for {dep}", all[at].id));
            let behind = waiting.remove(&at).unwrap_or_default();
            open.extend(behind.into_iter().map(|behind| (behind, all[at].id.as_str())));
        }
    }
    taken.retain(|at| comes[*at]);
    (taken, left)
}

/// Which tickets wait for themselves.
struct Circles {
    circles: Vec<Circle>,
    /// The circle of a ticket that is in one.
    of: HashMap<usize, usize>,
}

impl Circles {
    /// Among the tickets that are not closed.
    fn of(all: &[&Ticket], by_id: &HashMap<&str, usize>) -> Self {
        let is_open = |at: &usize| !all[*at].is_closed();
        let next = |ticket: &&Ticket| {
            let deps = ticket.deps.iter().filter_map(|dep| by_id.get(dep.as_str()).copied());
            deps.filter(is_open).collect::<Vec<usize>>()
        };
        let circles = tree::circles_in(&all.iter().map(next).collect::<Vec<_>>());
        let numbered = circles.iter().enumerate();
        let of = numbered.flat_map(|(n, circle)| circle.members.iter().map(move |at| (*at, n))).collect();
        Self { circles, of }
    }

    /// How a ticket's deps lead back to it; `None`: they do not. Of a long way only a ticket on it is named.
    fn way(&self, all: &[&Ticket], at: usize) -> Option<String> {
        let way = &self.circles[*self.of.get(&at)?].way;
        let begin = way.iter().position(|one| *one == at).filter(|_| way.len() <= LONGEST);
        Some(match begin {
            Some(begin) => {
                let ids = way.iter().cycle().skip(begin).take(way.len() + 1).map(|at| all[*at].id.as_str());
                ids.collect::<Vec<_>>().join(" → ")
            }
            None => format!("by way of {}", all[way[0]].id),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ticket::parse::parse;

    fn chosen(fronts: &[&str], tag: Option<&str>) -> (Vec<String>, Vec<String>) {
        let read = |front: &&str| parse(format!("---\n{front}\n---\n# T\n- [ ] a\n").as_bytes(), "t.md");
        let all: Vec<Ticket> = fronts.iter().map(read).collect();
        let all: Vec<&Ticket> = all.iter().collect();
        let (taken, left) = of(&all, tag);
        (taken.into_iter().map(|at| all[at].id.to_string()).collect(), left)
    }

    #[test]
    fn what_can_become_ready_is_taken_and_the_rest_is_named() {
        let fronts = [
            "id: a\nstatus: open\ntags: [web, x]",
            "id: b\nstatus: in_progress\ndeps: [a, shut]\ntags: [web]",
            "id: shut\nstatus: closed",
            "id: c\nstatus: open\ndeps: [gone]",
            "id: d\nstatus: open\ndeps: [c]",
            "id: e\nstatus: open\ndeps: [f]",
            "id: f\nstatus: open\ndeps: [e]",
            "id: g\nid: g\nstatus: open",
        ];
        let (taken, left) = chosen(&fronts, None);
        assert_eq!(taken, ["a", "b"]);
        assert_eq!(
            left,
            [
                "e is not started: dependency cycle (e → f → e): remove one of the deps",
                "f is not started: dependency cycle (f → e → f): remove one of the deps",
                "t is not started: line 3: the front matter cannot be read: the key `id` appears twice",
                "c is not started: it waits for gone",
                "d is not started: it waits for c",
            ]
        );
        assert_eq!(chosen(&fronts, Some("web")).0, ["a", "b"]);
        assert_eq!(chosen(&fronts, Some("x")), (vec!["a".to_owned()], Vec::new()));
    }

    #[test]
    fn many_that_wait_for_each_other_are_told_in_time() {
        let ids: Vec<String> = (0..1_000).map(|n| format!("t{n}")).collect();
        let ring: Vec<String> =
            (0..1_000).map(|n| format!("id: t{n}\nstatus: open\ndeps: [t{}]", (n + 1) % 1_000)).collect();
        let (taken, left) = chosen(&ring.iter().map(String::as_str).collect::<Vec<_>>(), None);
        assert!(taken.is_empty() && left.iter().all(|line| line.len() < 200), "{}", left[0]);
        assert_eq!(left[7], "t7 is not started: dependency cycle (by way of t0): remove one of the deps");
        let all = ids[..250].join(", ");
        let net: Vec<String> = ids[..250].iter().map(|id| format!("id: {id}\nstatus: open\ndeps: [{all}]")).collect();
        assert_eq!(chosen(&net.iter().map(String::as_str).collect::<Vec<_>>(), None).1.len(), 250);
    }
}
