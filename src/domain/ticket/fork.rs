//! The text of a ticket that is forked from another one: what that one says, under an id and a title of its own, with the
//! boxes of later phases open.

use super::edit::{Unchanged, complete_phase, reopen_phase};
use super::front::{self, Front};
use super::outline::Outline;
use super::parse::parse;
use super::{Ticket, TicketStatus};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;

/// Keys of the front matter that are the new ticket's own.
const OWN: [&str; 5] = ["id", "status", "title", "links", "created"];

/// Phases whose boxes were ticked when a snapshot was taken, and those that were open, unlike now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    pub ticked: Vec<String>,
    pub opened: Vec<String>,
}

/// What a fork is.
#[derive(Clone, Debug)]
pub struct Fork<'a> {
    pub id: &'a TicketId,
    /// The ticket that it comes from, and what a person calls the snapshot.
    pub of: &'a TicketId,
    pub pick: &'a str,
    /// The boxes as they were then, where that differs; `None`: they are as they are now.
    pub boxes: Option<&'a Ticks>,
    pub now: Timestamp,
}

impl Fork<'_> {
    /// The new file. `bytes`: the file that it comes from, of this name. Words for the person where it cannot be copied.
    pub fn text(&self, bytes: &[u8], name: &str) -> Result<Vec<u8>, String> {
        let old = parse(bytes, name);
        if old.is_broken() {
            return Err(format!("the front matter of {} cannot be read: fix it first", self.of));
        }
        let bytes = &self.boxes.map_or_else(|| bytes.to_vec(), |boxes| ticked(bytes, boxes));
        let split = front::split(bytes);
        let yaml = split.yaml.clone().map_or("", |yaml| std::str::from_utf8(&bytes[yaml]).unwrap_or_default());
        let suffix = format!("(fork of {} at snapshot {})", self.of, clean_line(self.pick, 60));
        let head = self.front(yaml, &suffix);
        let body = titled(bytes, split.body, split.body_line, (&old.title, &suffix), yaml);
        let text = [head.into_bytes(), body].concat();
        self.check(&old, &parse(&text, &format!("{}.md", self.id)))?;
        Ok(text)
    }

    /// The front matter: in the order that `tk` has, then what the other one has besides.
    fn front(&self, yaml: &str, suffix: &str) -> String {
        let read = Front::read(yaml);
        let links = read.extra.iter().find(|(key, _)| key == "links").map_or("", |(_, value)| value.as_str());
        let links: Vec<&str> = [self.of.as_str()]
            .into_iter()
            .chain(links.split(',').map(str::trim).filter(|link| is_plain(link)))
            .collect();
        let now = self.now.to_string();
        let created = now.split('.').next().unwrap_or(&now);
        let title = read.title.filter(|title| !title.value.trim().is_empty()).map_or_else(String::new, |title| {
            format!("title: '{} {suffix}'\n", clean_line(&title.value, 400).replace('\'', "''"))
        });
        let (id, links) = (self.id, links.join(", "));
        let others = others(yaml);
        format!("---\nid: {id}\nstatus: open\nlinks: [{links}]\ncreated: {created}Z\n{title}{others}---\n")
    }

    fn check(&self, old: &Ticket, new: &Ticket) -> Result<(), String> {
        let phases = |ticket: &Ticket| ticket.phases.iter().map(|phase| phase.text.clone()).collect::<Vec<_>>();
        let is_same = new.id == *self.id
            && new.status == Some(TicketStatus::Open)
            && new.deps == old.deps
            && new.validation == old.validation
            && phases(new) == phases(old);
        if is_same {
            Ok(())
        } else {
            Err(format!("{} would read differently as {}: copy it by hand", self.of, self.id))
        }
    }
}

/// Ticks or opens the phase with this text, of several the nth.
type Set = fn(&[u8], &str, usize) -> Result<Vec<u8>, Unchanged>;

/// The boxes set so; of several phases with one text, all.
fn ticked(bytes: &[u8], boxes: &Ticks) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let mut all = |phase: &str, set: Set| {
        for nth in 0.. {
            match set(&bytes, phase, nth) {
                Ok(edited) => bytes = edited,
                Err(Unchanged::AlreadySo) => {}
                Err(Unchanged::NotThere) => break,
            }
        }
    };
    boxes.opened.iter().for_each(|phase| all(phase, reopen_phase));
    boxes.ticked.iter().for_each(|phase| all(phase, complete_phase));
    bytes
}

/// The lines of the keys that are kept as they are.
fn others(yaml: &str) -> String {
    let mut is_own = false;
    let mut kept = String::new();
    for line in yaml.lines() {
        let begins = line.starts_with(|first: char| !first.is_whitespace() && !"-#]}".contains(first));
        if begins {
            is_own = line.split_once(':').is_some_and(|(key, _)| OWN.contains(&key.trim_end()));
        }
        if !is_own {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The body with the title that says what it is: that of the front matter, else the first heading, else one more.
fn titled(bytes: &[u8], start: usize, line: usize, (title, suffix): (&str, &str), yaml: &str) -> Vec<u8> {
    let body = &bytes[start..];
    if Front::read(yaml).title.is_some_and(|title| !title.value.trim().is_empty()) {
        return body.to_vec();
    }
    let outline = Outline::read(bytes, start, line);
    match outline.headings.iter().find(|heading| heading.level == 1 && !heading.text.is_empty()) {
        Some(heading) => {
            let at = heading.end - start;
            [&body[..at], b" ", suffix.as_bytes(), &body[at..]].concat()
        }
        None => [format!("# {} {suffix}\n\n", clean_line(title, 400)).as_bytes(), body].concat(),
    }
}

/// It may stand in a list of YAML as it is.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forked(origin: &str, reopened: &[&str]) -> Result<String, String> {
        let (id, of) = (TicketId::parse("tk-new1").unwrap(), TicketId::parse("tk-1").unwrap());
        let opened = reopened.iter().map(ToString::to_string).collect();
        let (boxes, now) = (Ticks { ticked: vec!["Three".into()], opened }, Timestamp::from_millis(0));
        let fork = Fork { id: &id, of: &of, pick: "3", boxes: Some(&boxes), now };
        fork.text(origin.as_bytes(), "tk-1.md").map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn the_new_ticket_says_what_the_other_one_says_and_where_it_comes_from() {
        let origin = "---\nid: tk-1\nstatus: closed\ndeps: [tk-0]\nlinks:\n  - tk-7\n- tk-8\ncreated: 2026-01-01T00:00:00Z\ntype: bug\npriority: 1\ntags: [a, b]\nassignee: Ann\n---\n# Mend it\n\nWhy.\n\n## Design\n\n- [x] One\n- [x] Two\n- [x] Two\n- [ ] Three\n\n## Validation Commands\n\n- `make`\n";
        let text = forked(&origin.replace("- tk-8\n", ""), &["Two"]).unwrap();
        assert!(
            text.starts_with(
                "---\nid: tk-new1\nstatus: open\nlinks: [tk-1, tk-7]\ncreated: 1970-01-01T00:00:00Z\ndeps: [tk-0]\ntype: bug\npriority: 1\ntags: [a, b]\nassignee: Ann\n---\n# Mend it (fork of tk-1 at snapshot 3)\n\nWhy.\n"
            ),
            "{text}"
        );
        let ticket = parse(text.as_bytes(), "tk-new1.md");
        assert_eq!(ticket.title, "Mend it (fork of tk-1 at snapshot 3)");
        let done: Vec<bool> = ticket.phases.iter().map(|phase| phase.done).collect();
        assert_eq!((done, ticket.validation), (vec![true, false, false, true], vec!["make".to_owned()]));
    }

    #[test]
    fn a_plan_without_front_matter_or_title_becomes_a_ticket_too() {
        let text = forked("- [x] One\n", &["One"]).unwrap();
        assert!(text.ends_with("---\n# tk-1.md (fork of tk-1 at snapshot 3)\n\n- [ ] One\n"), "{text}");
        assert!(forked("# T", &[]).unwrap().ends_with("---\n# T (fork of tk-1 at snapshot 3)"));
        let text = forked("---\nid: tk-1\ntitle: \"It's: so\"\n---\n- [ ] One\n", &[]).unwrap();
        let ticket = parse(text.as_bytes(), "tk-new1.md");
        assert_eq!(ticket.title, "It's: so (fork of tk-1 at snapshot 3)");
        assert!(text.ends_with("---\n- [ ] One\n"), "{text}");
    }

    #[test]
    fn what_would_read_differently_is_refused() {
        assert!(forked("---\nid: tk-1\ndeps: [tk-0\n---\n- [ ] One\n", &[]).is_err());
    }
}
