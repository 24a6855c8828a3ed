//! A ticket as `tk` (wedow/ticket) reads it: the keys of its front matter line by line, and its title. What `ticket list`
//! and its kin print, and how a key's line is changed: only that line, everything else stays as it is, byte for byte.

use super::TicketStatus;
use super::edit::{self, Unchanged};
use super::{front, lines};
use crate::base::time::Timestamp;
use std::ops::Range;

/// What the front matter says of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// One value, without quotes and comment.
    Text(String),
    /// `[a, b]`, or lines of `- a`.
    List(Vec<String>),
}

/// One ticket of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// Front matter `id`.
    pub id: String,
    /// The first `# ` heading; empty without one.
    pub title: String,
    /// All keys of the front matter, in file order.
    pub fields: Vec<(String, Field)>,
}

impl Card {
    /// `None`: it has no id in a front matter, so `tk` does not count it as a ticket.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let split = front::split(bytes);
        let yaml = String::from_utf8_lossy(&bytes[split.yaml?]).into_owned();
        let mut fields: Vec<(String, Field)> = Vec::new();
        for line in yaml.lines() {
            if let Some((key, value)) = key_of(line) {
                fields.push((key.to_owned(), Field::of(value)));
            } else if let (Some(item), Some((_, field))) = (item_of(line), fields.last_mut()) {
                field.push(item);
            }
        }
        let body = String::from_utf8_lossy(&bytes[split.body..]);
        let title = body.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default().trim().to_owned();
        let id = fields.iter().find(|(key, _)| key == "id").map(|(_, field)| field.text())?;
        (!id.is_empty()).then_some(Self { id, title, fields })
    }

    /// The value of a key; empty when there is none.
    pub fn text(&self, key: &str) -> String {
        self.field(key).map(Field::text).unwrap_or_default()
    }

    /// The values of a key.
    pub fn list(&self, key: &str) -> Vec<String> {
        self.field(key).map(Field::list).unwrap_or_default()
    }

    /// Front matter `status`, any word.
    pub fn status(&self) -> String {
        self.text("status")
    }

    pub fn is_closed(&self) -> bool {
        self.status() == TicketStatus::Closed.word()
    }

    /// Open or in progress.
    pub fn is_active(&self) -> bool {
        [TicketStatus::Open, TicketStatus::InProgress].iter().any(|status| self.status() == status.word())
    }

    /// 2 where the ticket has none.
    pub fn priority(&self) -> String {
        Some(self.text("priority")).filter(|priority| !priority.is_empty()).unwrap_or_else(|| "2".to_owned())
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|(name, _)| name == key).map(|(_, field)| field)
    }
}

impl Field {
    fn of(value: &str) -> Self {
        match bracketed(value) {
            Some(inner) => Self::List(items(&value[inner])),
            None => Self::Text(scalar(value)),
        }
    }

    fn push(&mut self, item: String) {
        match self {
            Self::Text(text) if text.is_empty() => *self = Self::List(vec![item]),
            Self::List(list) => list.push(item),
            Self::Text(_) => {}
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::List(list) => list.join(", "),
        }
    }

    fn list(&self) -> Vec<String> {
        match self {
            Self::Text(text) if text.is_empty() => Vec::new(),
            Self::Text(text) => vec![text.clone()],
            Self::List(list) => list.clone(),
        }
    }
}

/// `key: value` that begins at the line's start.
pub(super) fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic()) && !key.contains(char::is_whitespace);
    (is_key && (value.is_empty() || value.starts_with([' ', '\t', '\r']))).then(|| (key, value.trim()))
}

/// What a line `- item` of a list holds.
fn item_of(line: &str) -> Option<String> {
    line.trim().strip_prefix("- ").map(scalar)
}

/// Where the inside of `[…]` is, when the value is a list in one line.
fn bracketed(value: &str) -> Option<Range<usize>> {
    let end = outside(value.strip_prefix('[')?, ']').next()? + 1;
    Some(1..end)
}

fn items(inner: &str) -> Vec<String> {
    let ends = outside(inner, ',').chain([inner.len()]);
    let mut begin = 0;
    let items = ends.map(|end| scalar(&inner[std::mem::replace(&mut begin, end + 1)..end]));
    items.filter(|item| !item.is_empty()).collect()
}

/// Where this ASCII letter stands outside of quotes. A quote opens only where an item begins.
fn outside(text: &str, letter: char) -> impl Iterator<Item = usize> {
    let mut quote = None;
    let mut begins = true;
    text.char_indices().filter_map(move |(at, c)| {
        let is_free = quote.is_none();
        match quote {
            Some(open) if open == c => quote = None,
            // Two in a row are one within.
            None if (begins || text[..at].ends_with(c)) && (c == '\'' || c == '"') && closes(&text[at + 1..], c) => {
                quote = Some(c);
            }
            _ => {}
        }
        if is_free {
            begins = c == ',' || (begins && c == ' ');
        }
        (is_free && c == letter).then_some(at)
    })
}

fn closes(rest: &str, quote: char) -> bool {
    rest.contains(quote)
}

/// A value without its quotes, or without the comment behind it.
fn scalar(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        let inner = value.strip_prefix(quote).and_then(|rest| rest.rsplit_once(quote));
        if let Some((inner, rest)) = inner
            && (rest.trim().is_empty() || rest.trim_start().starts_with('#'))
        {
            return if quote == '\'' { inner.replace("''", "'") } else { inner.replace("\\\"", "\"") };
        }
    }
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}

/// A value as it stands behind `key: `, in quotes only where YAML would read something else.
pub fn written(value: &str) -> String {
    let starts_plain = value.starts_with(|c: char| c.is_alphanumeric() || "_/.+(".contains(c));
    let is_plain = starts_plain && !value.contains(": ") && !value.contains(" #") && !value.ends_with([':', ' ']);
    if is_plain { value.to_owned() } else { format!("'{}'", value.replace('\'', "''")) }
}

/// The same for an item of a list `[a, b]`: one with a comma, bracket or brace is quoted, too, for it would end the item or the list.
pub fn written_item(value: &str) -> String {
    let written = written(value);
    let is_odd = value.contains([',', '[', ']', '{', '}']) && !written.starts_with('\'');
    if is_odd { format!("'{}'", value.replace('\'', "''")) } else { written }
}

/// Sets the status; a front matter without one gets it.
pub fn set_status(bytes: &[u8], to: TicketStatus) -> Result<Vec<u8>, Unchanged> {
    match edit::set_status(bytes, to) {
        Err(Unchanged::NotThere) if Card::read(bytes).is_some_and(|card| card.field("status").is_none()) => {
            insert(bytes, &format!("status: {}", to.word()))
        }
        done => done,
    }
}

/// Puts these ids behind the others of the list `key`, `deps` or `links`; those that are there already are left out.
pub fn add(bytes: &[u8], key: &str, ids: &[String]) -> Result<Vec<u8>, Unchanged> {
    change(bytes, key, |list| {
        for id in ids {
            if !list.contains(id) {
                list.push(id.clone());
            }
        }
    })
}

/// Takes an id out of the list `key`.
pub fn remove(bytes: &[u8], key: &str, id: &str) -> Result<Vec<u8>, Unchanged> {
    change(bytes, key, |list| list.retain(|one| one != id))
}

/// Sets a value of one line that is there already.
pub fn set(bytes: &[u8], key: &str, value: &str) -> Result<Vec<u8>, Unchanged> {
    let place = value_of(bytes, key).ok_or(Unchanged::NotThere)?;
    let edited = [&bytes[..place.start], written(value).as_bytes(), &bytes[place.end..]].concat();
    let reads = Card::read(&edited).is_some_and(|now| now.text(key) == value);
    reads.then_some(edited).ok_or(Unchanged::NotThere)
}

/// Writes the list of a key anew: what is in its brackets, or the lines of its items, which become `[a, b]`.
fn change(bytes: &[u8], key: &str, edit: impl FnOnce(&mut Vec<String>)) -> Result<Vec<u8>, Unchanged> {
    let card = Card::read(bytes).ok_or(Unchanged::NotThere)?;
    let before = card.list(key);
    let mut list = before.clone();
    edit(&mut list);
    if list == before {
        return Err(Unchanged::AlreadySo);
    }
    let meant = list.clone();
    let list = format!("[{}]", list.iter().map(|item| written_item(item)).collect::<Vec<_>>().join(", "));
    if card.field(key).is_none() {
        return insert(bytes, &format!("{key}: {list}"));
    }
    let place = value_of(bytes, key).ok_or(Unchanged::NotThere)?;
    let list = if bytes[..place.start].ends_with(b":") { format!(" {list}") } else { list };
    let edited = [&bytes[..place.start], list.as_bytes(), &bytes[place.end..]].concat();
    // An unusual spelling may read differently once changed; then it is left to the person.
    let reads = Card::read(&edited).is_some_and(|now| now.list(key) == meant);
    reads.then_some(edited).ok_or(Unchanged::NotThere)
}

/// The bytes that the value of `key` is written in; `None` where a comment would be lost with them.
fn value_of(bytes: &[u8], key: &str) -> Option<Range<usize>> {
    let yaml = front::split(bytes).yaml?;
    let mut found: Option<Range<usize>> = None;
    for (_, at, line) in lines::raw(&bytes[..yaml.end], yaml.start, 2) {
        let text = std::str::from_utf8(line).ok()?;
        match (&mut found, key_of(text)) {
            (None, Some((name, value))) if name == key => {
                let start = at + text.len() - text[key.len() + 1..].trim_start().len();
                if let Some(inner) = bracketed(value) {
                    return Some(start..start + inner.end + 1);
                }
                if value.contains('#') {
                    return None;
                }
                found = Some(start..at + text.trim_end().len().max(key.len() + 1));
            }
            (None, _) => {}
            (Some(range), None) if item_of(text).is_some() && !text.contains('#') => {
                range.end = at + text.trim_end().len();
            }
            (Some(_), None) if !text.trim().is_empty() => return None,
            (Some(_), _) => break,
        }
    }
    found
}

/// Puts a line at the top of the front matter.
fn insert(bytes: &[u8], line: &str) -> Result<Vec<u8>, Unchanged> {
    let at = front::split(bytes).yaml.ok_or(Unchanged::NotThere)?.start;
    let end = if bytes[..at].ends_with(b"\r\n") { "\r\n" } else { "\n" };
    Ok([&bytes[..at], line.as_bytes(), end.as_bytes(), &bytes[at..]].concat())
}

/// A time as `tk` writes it: `2026-01-02T03:04:05Z`.
pub fn stamped(now: Timestamp) -> String {
    format!("{}Z", now.second().replace(' ', "T"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(front: &str) -> Card {
        Card::read(format!("---\n{front}\n---\n\n# A title \n# Another\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_card_has_the_keys_as_they_stand() {
        let card =
            card("id: tk-1\nstatus: \"open\" # why\ndeps: [a, 'b' , \"c\"] # d\ntags:\n  - x\n  - y # z\nn: a: b");
        assert_eq!((card.id.as_str(), card.title.as_str(), card.status().as_str()), ("tk-1", "A title", "open"));
        assert_eq!(card.list("deps"), ["a", "b", "c"]);
        assert_eq!(card.list("tags"), ["x", "y"]);
        assert_eq!((card.text("n"), card.priority(), card.text("gone")), ("a: b".into(), "2".into(), String::new()));
        for none in ["# Plan\n- [ ] a\n", "---\nstatus: open\n---\n", "---\nid: a\n", "---\nid:\n---\n", ""] {
            assert_eq!(Card::read(none.as_bytes()), None, "{none:?}");
        }
    }

    #[test]
    fn only_the_list_changes() {
        let ids = ["new".to_owned()];
        for (before, after) in [
            ("id: a\ndeps: []", "id: a\ndeps: [new]"),
            ("id: a\ndeps:   [x,y]  # why\nz: 1", "id: a\ndeps:   [x, y, new]  # why\nz: 1"),
            ("id: a\r\ndeps: [x]\r\nz: 1\r", "id: a\r\ndeps: [x, new]\r\nz: 1\r"),
            ("id: a\ndeps: x\nz: 1", "id: a\ndeps: [x, new]\nz: 1"),
            ("id: a\ndeps:\nz: 1", "id: a\ndeps: [new]\nz: 1"),
            ("id: a\ndeps:\n  - x\n  - y\nz: 1", "id: a\ndeps: [x, y, new]\nz: 1"),
            ("id: a", "deps: [new]\nid: a"),
        ] {
            let file = |front: &str| format!("---\n{front}\n---\n# T\ndeps: [body]\n");
            let edited = add(file(before).as_bytes(), "deps", &ids).unwrap();
            assert_eq!(String::from_utf8(edited.clone()).unwrap(), file(after));
            assert_eq!(add(&edited, "deps", &ids), Err(Unchanged::AlreadySo));
            let back = Card::read(&remove(&edited, "deps", "new").unwrap()).unwrap();
            assert_eq!(back.list("deps"), Card::read(file(before).as_bytes()).unwrap().list("deps"));
        }
        for kept in ["id: a\ndeps: # why\n  - x", "id: a\ndeps:\n  - x # why", "id: a\ndeps:\n  x:\n    y"] {
            let file = format!("---\n{kept}\n---\n");
            assert_eq!(add(file.as_bytes(), "deps", &ids), Err(Unchanged::NotThere), "{kept}");
        }
        assert_eq!(add(b"# Plan\n", "deps", &ids), Err(Unchanged::NotThere));
    }

    #[test]
    fn odd_items_are_read_back_as_they_were_meant() {
        for odd in ["a]b", "z]q", "a,b", "[x", "{y}", "it's", "a, 'b", "'q', r"] {
            let added = add(b"---\nid: a\ntags: [one]\n---\n# T\n", "tags", &[odd.to_owned(), "end".into()]).unwrap();
            assert_eq!(Card::read(&added).unwrap().list("tags"), ["one", odd, "end"], "{odd}");
        }
        assert_eq!(card("id: a\ntags: [it's, that's]").list("tags"), ["it's", "that's"]);
    }

    #[test]
    fn a_value_is_quoted_only_where_it_would_be_read_as_something_else() {
        for plain in ["JIRA-123", "John Doe", "Jo <jo@x.de>", "1", "日本"] {
            assert_eq!(written(plain), plain);
        }
        for odd in ["", "- a", "a: b", "a #b", "[x]", "'q'", "@me", "a:", "*x", "O'Neil: x"] {
            let written = written(odd);
            assert!(written.starts_with('\''), "{odd:?}");
            assert_eq!(scalar(&written), odd);
        }
    }

    #[test]
    fn a_ticket_without_a_status_gets_one() {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let edited = set_status(b"---\nid: a\n---\n# T\n", TicketStatus::Closed).unwrap();
        assert_eq!(text(edited), "---\nstatus: closed\nid: a\n---\n# T\n");
        assert_eq!(set_status(b"# Plan\n", TicketStatus::Closed), Err(Unchanged::NotThere));
    }
}
