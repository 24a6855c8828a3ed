//! The commands of `tk` that read: lists, one ticket with its relations, the tree, JSON. Each prints the form that `tk` prints.

use super::command::{ListArgs, Who};
use super::named::{Fault, folder, found};
use super::read::TicketRow;
use crate::adapters::jq;
use crate::adapters::tickets::{self, Carded, Places};
use crate::base::json;
use crate::base::text::{Clean, clean_line};
use crate::cli::error::CliError;
use crate::cli::nothing;
use crate::domain::ticket::TicketStatus;
use crate::domain::ticket::board::{Board, Filter, closed_line, ready_line};
use crate::domain::ticket::card::{Card, Field};
use crate::domain::ticket::tree::{self, Show};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

/// The tickets of the folder. A file that cannot be read is named and keeps no other one from being listed.
fn all(err: &mut dyn Write, places: &Places) -> Result<Vec<Carded>, Fault> {
    let dir = folder(places)?;
    let (cards, unread) = tickets::cards(&dir).map_err(|error| CliError::tickets_folder(&dir, &error))?;
    for error in unread {
        writeln!(err, "programmator: {}", Clean::new(&error.to_string()))?;
    }
    Ok(cards)
}

fn board(err: &mut dyn Write, places: &Places) -> Result<Board, Fault> {
    Ok(Board::new(all(err, places)?.into_iter().map(|carded| carded.card).collect()))
}

fn print(out: &mut dyn Write, lines: impl IntoIterator<Item = String>) -> Result<(), Fault> {
    let mut is_empty = true;
    for line in lines {
        writeln!(out, "{}", Clean::new(&line))?;
        is_empty = false;
    }
    if is_empty {
        nothing::found();
    }
    Ok(())
}

impl Who {
    fn filter(self, status: Option<String>) -> Filter {
        Filter { status, assignee: self.assignee, tag: self.tag }
    }
}

pub(super) fn list(out: &mut dyn Write, err: &mut dyn Write, places: &Places, args: ListArgs) -> Result<(), Fault> {
    let board = board(err, places)?;
    if let Some(status) = &args.status
        && TicketStatus::from_word(status).is_none()
        // The words of other versions of `tk`.
        && !board.cards().iter().any(|card| card.status() == *status)
    {
        let (known, status) = (TicketStatus::WORDS.join(" "), clean_line(status, 80));
        return Err(Fault::Words(format!("invalid status '{status}'. Must be one of: {known}")));
    }
    print(out, board.listed(&args.who.filter(args.status)))
}

pub(super) fn ready(out: &mut dyn Write, err: &mut dyn Write, places: &Places, who: Who) -> Result<(), Fault> {
    print(out, board(err, places)?.ready(&who.filter(None)).into_iter().map(ready_line))
}

pub(super) fn blocked(out: &mut dyn Write, err: &mut dyn Write, places: &Places, who: Who) -> Result<(), Fault> {
    let board = board(err, places)?;
    let blocked = board.blocked(&who.filter(None)).into_iter();
    print(out, blocked.map(|(card, by)| format!("{} <- [{}]", ready_line(card), by.join(", "))))
}

/// The latest first, by when their files were changed.
pub(super) fn closed(
    out: &mut dyn Write,
    err: &mut dyn Write,
    places: &Places,
    who: Who,
    limit: usize,
) -> Result<(), Fault> {
    let filter = who.filter(None);
    // `done` is what older versions of `tk` wrote.
    let is_closed = |card: &Card| card.is_closed() || card.status() == "done";
    let changed = |path: &Path| path.metadata().and_then(|file| file.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut closed: Vec<(SystemTime, Card)> = all(err, places)?
        .into_iter()
        .filter(|carded| is_closed(&carded.card) && filter.takes(&carded.card))
        .map(|carded| (changed(&carded.path), carded.card))
        .collect();
    closed.sort_by_key(|(changed, _)| std::cmp::Reverse(*changed));
    print(out, closed.iter().take(limit).map(|(_, card)| closed_line(card)))
}

/// The file as it is, with its parent's title, and below it the tickets it hangs together with.
pub(super) fn show(out: &mut dyn Write, places: &Places, path: &Path) -> Result<(), Fault> {
    let bytes = tickets::read(path).map_err(|error| CliError::failure(error.to_string()))?;
    let board = board(&mut io::sink(), places).unwrap_or_default();
    let card = Card::read(&bytes);
    let parent = card.as_ref().map(|card| card.text("parent")).filter(|parent| !parent.is_empty());
    let mut parent = parent.and_then(|parent| board.get(&parent));
    for line in String::from_utf8_lossy(&bytes).lines() {
        match parent.take_if(|_| line.starts_with("parent:")) {
            Some(parent) => writeln!(out, "{}  # {}", Clean::new(line), clean_line(&parent.title, 1_000))?,
            None => writeln!(out, "{}", Clean::new(line))?,
        }
    }
    for (heading, lines) in card.map(|card| board.relations(&card)).unwrap_or_default() {
        writeln!(out, "\n## {heading}\n")?;
        print(out, lines.into_iter().map(|line| format!("- {line}")))?;
    }
    Ok(())
}

/// The tree of one ticket, or of all that no other one waits for.
pub(super) fn tree(
    out: &mut dyn Write,
    err: &mut dyn Write,
    places: &Places,
    name: Option<&str>,
    full: bool,
) -> Result<(), Fault> {
    let board = board(err, places)?;
    let show = if full { Show::Everywhere } else { Show::Once };
    let Some(name) = name else {
        return print(out, tree::forest(&board, show));
    };
    let path = found(name, places)?;
    let card = tickets::read(&path).ok().and_then(|bytes| Card::read(&bytes));
    let card = card.filter(|card| board.get(&card.id).is_some());
    let card = card.ok_or_else(|| Fault::Words(format!("'{name}' has no id, so nothing can depend on it")))?;
    print(out, tree::tree(&board, &card.id, show))
}

pub(super) fn circles(out: &mut dyn Write, err: &mut dyn Write, places: &Places) -> Result<(), Fault> {
    print(out, tree::circle_lines(&board(err, places)?))
}

/// The front matter of all tickets, one JSON object a line; with a filter those that jq finds. Gives jq's exit code.
pub(super) fn query(
    out: &mut dyn Write,
    err: &mut dyn Write,
    places: &Places,
    filter: Option<&str>,
) -> Result<u8, Fault> {
    let mut lines = String::new();
    for carded in all(err, places)? {
        lines += &json::line(&Fields(&carded.card))?;
        lines.push('\n');
    }
    let Some(filter) = filter else {
        write!(out, "{lines}")?;
        return Ok(0);
    };
    let chosen = jq::select(&lines, filter).map_err(|error| Fault::Words(error.to_string()))?;
    write!(out, "{}", Clean::new(&String::from_utf8_lossy(&chosen.stdout)))?;
    write!(err, "{}", Clean::new(&String::from_utf8_lossy(&chosen.stderr)))?;
    Ok(chosen.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// The keys of a front matter in their order, as text or lists.
struct Fields<'a>(&'a Card);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.fields.len()))?;
        for (key, field) in &self.0.fields {
            match field {
                Field::Text(text) => map.serialize_entry(key, text)?,
                Field::List(list) => map.serialize_entry(key, list)?,
            }
        }
        map.end()
    }
}

/// What programmator reads of all tickets, as one JSON array.
pub(super) fn query_read(out: &mut dyn Write, err: &mut dyn Write, places: &Places) -> Result<(), Fault> {
    let dir = folder(places)?;
    let listed = tickets::list(&dir)?;
    for error in listed.iter().filter_map(|listed| listed.ticket.as_ref().err()) {
        writeln!(err, "programmator: {}", Clean::new(&error.to_string()))?;
    }
    let rows: Vec<TicketRow> =
        listed.iter().filter_map(|listed| listed.ticket.as_ref().ok()).map(TicketRow::of).collect();
    Ok(writeln!(out, "{}", json::pretty(&rows)?)?)
}
