//! What is odd about tickets beyond what keeps one from being read: boxes outside the phases, keys nobody knows, names that two
//! tickets have, ids that lead nowhere, circles. Pure.

use super::board::Board;
use super::card::Card;
use super::outline::{Checkbox, Outline};
use super::parse::parse;
use super::section::Section;
use super::{Problem, Severity, front, lines, tree};
use std::collections::{HashMap, HashSet};

/// The keys of a front matter that `tk` or programmator reads.
const KEYS: [&str; 13] = [
    "id", "title", "status", "deps", "links", "created", "type", "priority", "assignee", "external-ref", "parent",
    "tags", "imported-digest",
];

/// What is odd about one ticket's text, what [`parse`] says of it first. In line order.
pub fn file(bytes: &[u8], name: &str) -> Vec<Problem> {
    let ticket = parse(bytes, name);
    let split = front::split(bytes);
    let outline = Outline::read(bytes, split.body, split.body_line);
    let mut problems = ticket.problems.clone();
    let phases: HashSet<usize> = ticket.phases.iter().map(|phase| phase.line).collect();
    if !phases.is_empty() {
        let outside = outline.boxes.iter().filter(|one| !is_of_a_phase(&outline, one, &phases));
        let outside = outside.filter(|one| outline.section(one.heading) != Section::Validation);
        problems.extend(outside.map(|one| {
            odd(
                one.line,
                "this checkbox is outside the phases and ignored: move it into or below the phases".to_owned(),
            )
        }));
    }
    for (line, key) in keys(bytes) {
        if !KEYS.contains(&key.as_str()) {
            let like = KEYS.into_iter().find(|known| strsim::damerau_levenshtein(known, &key) <= 2);
            let meant = like.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
            problems.push(odd(line, format!("unknown key `{key}`{meant}")));
        }
    }
    problems.sort_by_key(|problem| (problem.line, problem.column));
    problems
}

/// The keys of the front matter, each with its line.
fn keys(bytes: &[u8]) -> Vec<(usize, String)> {
    let Some(yaml) = front::split(bytes).yaml else { return Vec::new() };
    let lines = lines::raw(&bytes[..yaml.end], yaml.start, 2);
    let key = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).into_owned();
        super::card::key_of(&text).map(|(key, _)| key.to_owned())
    };
    lines.filter_map(|(number, _, line)| Some((number, key(line)?))).collect()
}

/// It is a phase, or nested in one, or below the heading of one.
fn is_of_a_phase(outline: &Outline, one: &Checkbox, phases: &HashSet<usize>) -> bool {
    let mut at = Some(one);
    while let Some(this) = at {
        if phases.contains(&this.line) {
            return true;
        }
        at = this.parent.and_then(|parent| outline.boxes.get(parent));
    }
    let mut heading = one.heading;
    while let Some(this) = heading.and_then(|at| outline.headings.get(at)) {
        if phases.contains(&this.line) {
            return true;
        }
        heading = this.parent;
    }
    false
}

/// What is odd about tickets together: each with the place of the ticket among `cards`. `names`: what their files are called,
/// without the ending.
pub fn folder(cards: &[Card], names: &[String]) -> Vec<(usize, Problem)> {
    let mut found = Vec::new();
    let mut first: HashMap<String, usize> = HashMap::new();
    for (at, card) in cards.iter().enumerate() {
        if let Some(other) = first.get(&card.id.to_lowercase()) {
            let file = &names[*other];
            found.push((
                at,
                odd(1, format!("duplicate id {}, also in {file}.md: give each ticket its own", cards[*other].id)),
            ));
        } else {
            first.insert(card.id.to_lowercase(), at);
        }
        if names[at] != card.id {
            let name = &names[at];
            found.push((at, odd(1, format!("the file is {name}.md, but the id is {}: rename one of them", card.id))));
        }
    }
    let ids: HashSet<&str> = cards.iter().map(|card| card.id.as_str()).collect();
    for (at, card) in cards.iter().enumerate() {
        let parent = Some(card.text("parent")).filter(|parent| !parent.is_empty());
        let others =
            [("deps", card.list("deps")), ("links", card.list("links")), ("parent", parent.into_iter().collect())];
        for (key, tickets) in others {
            for id in tickets.iter().filter(|id| !ids.contains(id.as_str())) {
                found.push((at, odd(1, format!("`{key}` refers to {id}, which does not exist"))));
            }
        }
    }
    let places: HashMap<&str, usize> =
        cards.iter().enumerate().rev().map(|(at, card)| (card.id.as_str(), at)).collect();
    for circle in tree::circles(&Board::new(cards.to_vec())) {
        let at = places.get(circle[0]).copied().unwrap_or_default();
        let way = format!("{} -> {}", circle.join(" -> "), circle[0]);
        found.push((at, odd(1, format!("dependency cycle {way}: remove one of the deps"))));
    }
    found
}

fn odd(line: usize, message: String) -> Problem {
    Problem { line, column: 1, message, severity: Severity::Warning }
}

/// The program that a command starts with; `None` where that cannot be said without reading it as a shell does.
pub fn program(command: &str) -> Option<&str> {
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c));
    let mut words = command.split_ascii_whitespace();
    // `A=b make` starts `make`.
    words.find(|word| !is_assignment(word)).filter(is_plain)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_outside_the_phases_and_unknown_keys_are_named() {
        let text = "---\nid: a\nimported-digest: x\nprioritty: 1\nown: x\n---\n# T\n- [ ] loose\n## Design\n- [ ] one\n  - [ ] task\n## Validation Commands\n- `make`\n";
        let told: Vec<String> =
            file(text.as_bytes(), "a.md").iter().map(|one| format!("{} {}", one.line, one.message)).collect();
        assert_eq!(told.len(), 3, "{told:#?}");
        assert_eq!(told[0], "4 unknown key `prioritty`; did you mean `priority`?");
        assert_eq!(told[1], "5 unknown key `own`");
        assert!(told[2].starts_with("8 this checkbox is outside the phases"), "{told:#?}");
        let tidy = "# T\n## Phase 1: a\n- [ ] task\n### More\n- [ ] another\n## Phase 2: b\n";
        assert_eq!(file(tidy.as_bytes(), "a.md"), []);
    }

    #[test]
    fn names_that_lead_elsewhere_or_nowhere_are_named() {
        let card = |front: &str| Card::read(format!("---\n{front}\n---\n# T\n").as_bytes()).unwrap();
        let cards =
            [card("id: a\ndeps: [b]\nparent: gone"), card("id: b\ndeps: [a]\nlinks: [a]"), card("id: A\nstatus: open")];
        let names = ["a", "other", "A"].map(str::to_owned);
        let told: Vec<String> =
            folder(&cards, &names).iter().map(|(at, one)| format!("{at} {}", one.message)).collect();
        assert_eq!(
            told,
            [
                "1 the file is other.md, but the id is b: rename one of them",
                "2 duplicate id a, also in a.md: give each ticket its own",
                "0 `parent` refers to gone, which does not exist",
                "0 dependency cycle a -> b -> a: remove one of the deps",
            ]
        );
    }

    #[test]
    fn the_program_of_a_command_is_its_first_word() {
        for (command, name) in [
            ("cargo test", Some("cargo")),
            ("A=1 B= ./x.sh -v", Some("./x.sh")),
            ("(cd a; make)", None),
            ("$RUN test", None),
            ("", None),
        ] {
            assert_eq!(program(command), name, "{command}");
        }
    }
}
