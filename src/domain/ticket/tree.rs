//! How tickets wait for each other, drawn as a tree in the form of `tk dep tree`, and the circles in it, as `tk dep cycle`
//! tells them. Pure, and without recursion: a chain may be as long as the folder has tickets.

use super::board::Board;
use std::collections::{HashMap, HashSet, VecDeque};

/// Most lines of a whole tree: every ticket may stand in it many times; and of all trees together.
const MAX_LINES: usize = 10_000;
const MAX_OF_ALL: usize = 100_000;
/// Most bytes of what is drawn: what stands before a line grows with its depth.
const MAX_BYTES: usize = 16 << 20;
/// Most circles that are told one by one.
const MAX_CIRCLES: usize = 100;

/// Which places of a ticket are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// The deepest one.
    Once,
    /// All of them.
    Everywhere,
}

/// The graph of what waits for what.
struct Graph<'a> {
    deps: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    /// Of these tickets; deps on others are left out.
    fn new(board: &'a Board, takes: impl Fn(&str) -> bool) -> Self {
        let known = |id: &str| board.get(id).filter(|_| takes(id)).map(|card| card.id.as_str());
        let ids = board.cards().iter().filter_map(|card| known(&card.id));
        let of = |id| {
            let mut seen = HashSet::new();
            let deps = board.get(id).map(|card| card.list("deps")).unwrap_or_default();
            deps.iter().filter_map(|dep| known(dep)).filter(|dep| seen.insert(*dep)).collect()
        };
        Self { deps: ids.map(|id| (id, of(id))).collect() }
    }

    fn of(&self, id: &str) -> &[&'a str] {
        self.deps.get(id).map_or(&[], Vec::as_slice)
    }

    /// Looks at everything that `root` waits for, each ticket before those it was reached from: the tickets in that order,
    /// and which waits for which where that closes a circle.
    fn walk(&self, root: &'a str, done: &mut HashSet<&'a str>) -> (Vec<&'a str>, HashSet<(&'a str, &'a str)>) {
        let (mut order, mut closing) = (Vec::new(), HashSet::new());
        let mut way: Vec<(&str, usize)> = vec![(root, 0)];
        let mut on_way: HashSet<&str> = [root].into();
        while let Some((id, next)) = way.last_mut() {
            let (id, at) = (*id, *next);
            *next += 1;
            match self.of(id).get(at) {
                Some(dep) if on_way.contains(dep) => drop(closing.insert((id, *dep))),
                Some(dep) if done.contains(dep) => {}
                Some(dep) => {
                    on_way.insert(dep);
                    way.push((dep, 0));
                }
                None => {
                    done.insert(id);
                    on_way.remove(id);
                    order.push(id);
                    way.pop();
                }
            }
        }
        (order, closing)
    }

    /// The tickets that no other one waits for, each the root of a tree; of a circle that nobody waits for, the first.
    fn roots(&self, board: &'a Board) -> Vec<&'a str> {
        let needed: HashSet<&str> = self.deps.values().flatten().copied().collect();
        let mut done = HashSet::new();
        let mut roots = Vec::new();
        let ids = || board.cards().iter().map(|card| card.id.as_str());
        for id in ids().filter(|id| !needed.contains(id)).chain(ids()) {
            if !done.contains(id) {
                self.walk(id, &mut done);
                roots.push(id);
            }
        }
        roots
    }
}

/// A place in a tree that is still to be drawn.
struct Place<'a> {
    id: &'a str,
    level: usize,
    /// What stands before the line.
    indent: String,
    /// Another one of the same parent follows.
    more: bool,
}

/// The tree of what the ticket `root` waits for. Children stand by how deep they reach, then by id; what would close a circle
/// is left out.
pub fn tree(board: &Board, root: &str, show: Show) -> Vec<String> {
    let root = board.get(root).map(|card| card.id.as_str());
    root.map(|root| drawn(board, &Graph::new(board, |_| true), root, show, &mut 0)).unwrap_or_default()
}

/// The trees of all tickets that no other one waits for.
pub fn forest(board: &Board, show: Show) -> Vec<String> {
    let graph = Graph::new(board, |_| true);
    let (mut lines, mut bytes) = (Vec::new(), 0);
    for root in graph.roots(board) {
        if lines.len() >= MAX_OF_ALL || bytes > MAX_BYTES {
            lines.push("… more trees not shown: name a ticket".to_owned());
            break;
        }
        lines.append(&mut drawn(board, &graph, root, show, &mut bytes));
    }
    lines
}

/// `bytes`: how much was drawn by now.
fn drawn<'a>(board: &'a Board, graph: &Graph<'a>, root: &'a str, show: Show, bytes: &mut usize) -> Vec<String> {
    let (order, closing) = graph.walk(root, &mut HashSet::new());
    let closing = &closing;
    let deps = |id: &'a str| graph.of(id).iter().copied().filter(move |dep| !closing.contains(&(id, *dep)));
    let mut depth: HashMap<&str, usize> = [(root, 0)].into();
    for id in order.iter().rev() {
        let below = depth[id] + 1;
        for dep in deps(id) {
            let deepest = depth.entry(dep).or_default();
            *deepest = below.max(*deepest);
        }
    }
    let mut reach: HashMap<&str, usize> = HashMap::new();
    for id in &order {
        let deepest = deps(id).map(|dep| reach[dep]).max();
        reach.insert(id, deepest.unwrap_or_default().max(depth[id]));
    }
    let mut drawn: HashSet<&str> = [root].into();
    let children = |id: &'a str, level: usize, indent: &str, drawn: &HashSet<&str>| {
        let fits = |dep: &&str| show == Show::Everywhere || (depth[dep] == level && !drawn.contains(dep));
        let mut children: Vec<&str> = deps(id).filter(fits).collect();
        children.sort_by_key(|dep| (reach[dep], *dep));
        let last = children.len().saturating_sub(1);
        let place = |(at, id)| Place { id, level, indent: indent.to_owned(), more: at < last };
        children.into_iter().enumerate().map(place).rev().collect::<Vec<_>>()
    };
    let mut lines = vec![board.named(root)];
    *bytes += lines[0].len();
    let mut waiting = children(root, 1, "", &drawn);
    while let Some(Place { id, level, indent, more }) = waiting.pop() {
        if show == Show::Once && !drawn.insert(id) {
            continue;
        }
        if lines.len() == MAX_LINES || *bytes > MAX_BYTES {
            lines.push("… the rest of the tree is not shown: it is too large".to_owned());
            break;
        }
        let line = format!("{indent}{}{}", if more { "├── " } else { "└── " }, board.named(id));
        *bytes += line.len();
        lines.push(line);
        let indent = format!("{indent}{}", if more { "│   " } else { "    " });
        waiting.extend(children(id, level + 1, &indent, &drawn));
    }
    lines
}

/// Places that all lead to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// In rising order.
    pub members: Vec<usize>,
    /// A shortest way from the first of them back to it; its end is not said again.
    pub way: Vec<usize>,
}

/// The circles of a graph, one for all places that lead to each other, by their first place. `next`: where each place leads.
pub fn circles_in(next: &[Vec<usize>]) -> Vec<Circle> {
    let groups = groups(next);
    let mut group_of = vec![usize::MAX; next.len()];
    for (group, members) in groups.iter().enumerate() {
        for at in members {
            group_of[*at] = group;
        }
    }
    let circle = |members: Vec<usize>| {
        let first = members[0];
        let mut from: HashMap<usize, usize> = HashMap::new();
        let mut open = VecDeque::from([first]);
        while let Some(at) = open.pop_front() {
            if from.contains_key(&first) {
                break;
            }
            for to in next[at].iter().filter(|to| group_of[**to] == group_of[first]) {
                if !from.contains_key(to) {
                    from.insert(*to, at);
                    open.push_back(*to);
                }
            }
        }
        let mut way = Vec::new();
        let mut at = from[&first];
        while at != first {
            way.push(at);
            at = from[&at];
        }
        way.push(first);
        way.reverse();
        Circle { members, way }
    };
    let is_circle = |members: &Vec<usize>| members.len() > 1 || next[members[0]].contains(&members[0]);
    let mut circles: Vec<Circle> = groups.iter().filter(|one| is_circle(one)).cloned().map(circle).collect();
    circles.sort_by_key(|circle| circle.members[0]);
    circles
}

/// The strongly connected components of a graph, each in rising order: Tarjan's way, with a list in the stack's place.
fn groups(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let (mut number, mut lowest) = (vec![UNSEEN; next.len()], vec![UNSEEN; next.len()]);
    let mut is_open = vec![false; next.len()];
    let (mut open, mut groups, mut count) = (Vec::new(), Vec::new(), 0);
    for root in 0..next.len() {
        let mut way: Vec<(usize, usize)> = if number[root] == UNSEEN { vec![(root, 0)] } else { Vec::new() };
        while let Some((at, nth)) = way.last_mut() {
            let at = *at;
            if *nth == 0 {
                (number[at], lowest[at], is_open[at]) = (count, count, true);
                count += 1;
                open.push(at);
            }
            // Behind a place that was entered from here its lowest number is looked at.
            if let Some(entered) = nth.checked_sub(1).and_then(|before| next[at].get(before))
                && is_open[*entered]
            {
                lowest[at] = lowest[at].min(lowest[*entered]);
            }
            let to = next[at].get(*nth).copied();
            *nth += 1;
            match to {
                Some(to) if number[to] == UNSEEN => way.push((to, 0)),
                Some(_) => {}
                None => {
                    way.pop();
                    if lowest[at] == number[at] {
                        let begin = open.iter().rposition(|one| *one == at).unwrap_or_default();
                        let mut group = open.split_off(begin);
                        for one in &group {
                            is_open[*one] = false;
                        }
                        group.sort_unstable();
                        groups.push(group);
                    }
                }
            }
        }
    }
    groups
}

/// Circles among the tickets that are not closed, each from its smallest id on. Of circles that share tickets one is told:
/// without any the folder has none.
pub fn circles(board: &Board) -> Vec<Vec<&str>> {
    let graph = Graph::new(board, |id| board.get(id).is_some_and(|card| !card.is_closed()));
    let mut ids: Vec<&str> = graph.deps.keys().copied().collect();
    ids.sort_unstable();
    let places: HashMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let next: Vec<Vec<usize>> = ids.iter().map(|id| graph.of(id).iter().map(|dep| places[dep]).collect()).collect();
    circles_in(&next).into_iter().map(|circle| circle.way.into_iter().map(|at| ids[at]).collect()).collect()
}

/// What `tk dep cycle` says of them.
pub fn circle_lines(board: &Board) -> Vec<String> {
    let found = circles(board);
    if found.is_empty() {
        return vec!["No dependency cycles found".to_owned()];
    }
    let mut lines = Vec::new();
    for (at, circle) in found.iter().enumerate() {
        if at > 0 {
            lines.push(String::new());
        }
        if at == MAX_CIRCLES {
            lines.push(format!("… and {} more", found.len() - at));
            break;
        }
        lines.push(format!("Cycle {}: {} -> {}", at + 1, circle.join(" -> "), circle[0]));
        let member = |id: &&str| {
            let (status, title) = board.get(id).map(|card| (card.status(), card.title.clone())).unwrap_or_default();
            format!("  {id:<8} [{status}] {title}")
        };
        lines.extend(circle.iter().map(member));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::card::Card;
    use super::*;

    fn board(deps: &[(&str, &str)]) -> Board {
        let card = |(id, deps): &(&str, &str)| {
            Card::read(format!("---\nid: {id}\nstatus: open\ndeps: [{deps}]\n---\n# T\n").as_bytes()).unwrap()
        };
        Board::new(deps.iter().map(card).collect())
    }

    #[test]
    fn a_ticket_stands_where_it_is_deepest_or_everywhere() {
        let board = board(&[("a", "b, c, d, gone"), ("b", "c"), ("c", "e"), ("d", ""), ("e", "")]);
        assert_eq!(
            tree(&board, "a", Show::Once),
            ["a [open] T", "├── d [open] T", "└── b [open] T", "    └── c [open] T", "        └── e [open] T"]
        );
        let all = tree(&board, "a", Show::Everywhere);
        assert_eq!(all.iter().filter(|line| line.contains("c [open]")).count(), 2, "{all:#?}");
        assert_eq!(forest(&board, Show::Once), tree(&board, "a", Show::Once));
    }

    #[test]
    fn circles_are_drawn_once_and_named() {
        let board = board(&[("b", "c"), ("c", "a"), ("a", "b, x"), ("x", "x"), ("y", "")]);
        assert_eq!(tree(&board, "a", Show::Everywhere).len(), 4);
        assert_eq!(tree(&board, "a", Show::Once).len(), 4);
        assert_eq!(circles(&board), [vec!["a", "b", "c"], vec!["x"]]);
        assert_eq!(circle_lines(&board)[0], "Cycle 1: a -> b -> c -> a");
        assert_eq!(circle_lines(&board)[5], "Cycle 2: x -> x");
        let roots = forest(&board, Show::Once).into_iter().filter(|line| !line.contains("──")).collect::<Vec<_>>();
        assert_eq!(roots, ["y [open] T", "b [open] T"]);
    }

    #[test]
    fn many_that_all_name_each_other_are_one_circle() {
        let ids: Vec<String> = (0..250).map(|n| format!("t{n:03}")).collect();
        let all = ids.join(", ");
        let net: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), all.as_str())).collect();
        let net = board(&net);
        assert_eq!(circles(&net), [vec!["t000"]]);
        assert_eq!(circle_lines(&net).len(), 2);
        assert!(forest(&net, Show::Once).len() <= 250);
        // A ring with a short cut, and one that only leads into it.
        let ring = [vec![1], vec![2], vec![3, 0], vec![1], vec![0]];
        assert_eq!(circles_in(&ring), [Circle { members: vec![0, 1, 2, 3], way: vec![0, 1, 2] }]);
        let long: Vec<Vec<usize>> = (0..50_000).map(|n| vec![(n + 1) % 50_000]).collect();
        assert_eq!(circles_in(&long)[0].way.len(), 50_000);
    }

    #[test]
    fn all_trees_together_are_not_too_large() {
        let chain = (0..1_500).map(|n| (format!("t{n}"), format!("t{}", n + 1)));
        let roots = (0..20).map(|n| (format!("r{n:02}"), "t0".to_owned()));
        let deps: Vec<(String, String)> = chain.chain(roots).collect();
        let deps: Vec<(&str, &str)> = deps.iter().map(|(id, deps)| (id.as_str(), deps.as_str())).collect();
        let lines = forest(&board(&deps), Show::Once);
        assert!(lines.iter().map(String::len).sum::<usize>() < MAX_BYTES + (1 << 20));
        assert!(lines.last().unwrap().contains("name a ticket"), "{:?}", lines.last());
    }

    #[test]
    fn a_long_chain_and_a_thick_net_end() {
        let chain: Vec<(String, String)> = (0..20_000).map(|n| (format!("t{n}"), format!("t{}", n + 1))).collect();
        let chain: Vec<(&str, &str)> = chain.iter().map(|(id, dep)| (id.as_str(), dep.as_str())).collect();
        assert!(circles(&board(&chain)).is_empty());
        // Each waits for both of the next pair: the ways double with every pair.
        let net: Vec<(String, String)> =
            (0..80).map(|n| (format!("n{n}"), format!("n{}, n{}", n / 2 * 2 + 2, n / 2 * 2 + 3))).collect();
        let net: Vec<(&str, &str)> = net.iter().map(|(id, deps)| (id.as_str(), deps.as_str())).collect();
        let net = board(&net);
        assert_eq!(tree(&net, "n0", Show::Everywhere).len(), MAX_LINES + 1);
        assert_eq!(tree(&net, "n0", Show::Once).len(), 79);
    }
}
