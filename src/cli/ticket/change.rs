//! The commands of `tk` that change a ticket: only the line that is meant, under the lock that all programs of ours share, and
//! never over what a person has written meanwhile.

use super::command::CreateArgs;
use super::named::{Fault, found};
use crate::adapters::git::person;
use crate::adapters::tickets::{self, NewCard, Places};
use crate::base::text::{Clean, clean_line};
use crate::cli::session::Session;
use crate::domain::record::WriteOutcome;
use crate::domain::ticket::TicketStatus;
use crate::domain::ticket::card::{self, Card};
use crate::domain::ticket::edit::Unchanged;
use crate::domain::ticket::revise::{NotRevised, TicketEdit, revise};
use std::cell::RefCell;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

/// Most of a note that is read, in bytes; longer ones are refused.
const LONGEST_INPUT: u64 = 1024 * 1024;

/// What the changes need.
pub(super) struct Change<'a> {
    pub session: &'a Session,
    pub places: &'a Places,
}

/// A ticket that is to be changed.
struct Target {
    path: PathBuf,
    /// What it is called: its file's name without the ending.
    name: String,
}

/// What becomes of a file's bytes.
type Edit<'a> = dyn Fn(&[u8]) -> Result<Vec<u8>, Unchanged> + 'a;

impl Change<'_> {
    fn target(&self, ticket: &str) -> Result<Target, Fault> {
        let path = found(ticket, self.places)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Target { name: clean_line(&name, 200), path })
    }

    /// Whether it was changed; it may be so already.
    fn write(&self, target: &Target, edit: &Edit<'_>) -> Result<bool, Fault> {
        let why = match tickets::change(&target.path, &self.session.state.join("locks"), edit) {
            WriteOutcome::Written => return Ok(true),
            WriteOutcome::AlreadySo => return Ok(false),
            WriteOutcome::NotThere => {
                "its front matter has no such line, or one that cannot be changed safely: edit the file".to_owned()
            }
            WriteOutcome::FileGone => "its file is gone".to_owned(),
            WriteOutcome::Failed(why) => why,
        };
        Err(Fault::Words(format!("{} was not changed: {why}", target.name)))
    }

    pub(super) async fn create(&self, out: &mut dyn Write, args: CreateArgs) -> Result<(), Fault> {
        let parent = match &args.parent {
            Some(parent) => self.target(parent)?.name,
            None => String::new(),
        };
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
        if !is_word(&args.kind) {
            let kind = clean_line(&args.kind, 80);
            return Err(Fault::Words(format!("the type '{kind}' is not one word")));
        }
        let project = &self.session.folder;
        let assignee = match args.assignee {
            Some(assignee) => assignee,
            None => person::user_name(project).await.unwrap_or_default(),
        };
        let new = NewCard {
            assignee,
            title: args.title,
            description: args.description,
            design: args.design,
            acceptance: args.acceptance,
            kind: args.kind,
            priority: args.priority,
            external_ref: args.external_ref,
            parent,
            tags: args.tags.iter().map(|tag| tag.trim().to_owned()).collect(),
        };
        let path = tickets::create_card(&new, project, &self.places.dir(), self.session.clock().now())
            .map_err(|error| Fault::Words(error.to_string()))?;
        // The ticket is there, whether or not anybody reads that.
        let _ = writeln!(out, "{}", Clean::new(&path.file_stem().unwrap_or_default().to_string_lossy()));
        Ok(())
    }

    pub(super) fn status(&self, out: &mut dyn Write, ticket: &str, status: &str) -> Result<(), Fault> {
        let Some(to) = TicketStatus::from_word(status) else {
            let known = TicketStatus::WORDS.join(" ");
            let status = clean_line(status, 80);
            return Err(Fault::Words(format!("invalid status '{status}'. Must be one of: {known}")));
        };
        let target = self.target(ticket)?;
        self.write(&target, &|bytes| card::set_status(bytes, to))?;
        Ok(writeln!(out, "Updated {} -> {status}", target.name)?)
    }

    pub(super) fn dep(&self, out: &mut dyn Write, ticket: &str, dep: &str) -> Result<(), Fault> {
        let (target, on) = (self.target(ticket)?, self.target(dep)?);
        if target.path == on.path {
            return Err(Fault::Words(format!("{} cannot depend on itself", target.name)));
        }
        if target.path.parent() != on.path.parent() {
            let (one, other) = (target.name, on.name);
            return Err(Fault::Words(format!(
                "{other} is in a different folder than {one}: move one next to the other"
            )));
        }
        let dep = on.name;
        if self.write(&target, &|bytes| card::add(bytes, "deps", std::slice::from_ref(&dep)))? {
            writeln!(out, "Added dependency: {} -> {dep}", target.name)?;
        } else {
            writeln!(out, "Dependency already exists")?;
        }
        Ok(())
    }

    /// Gives the exit code: 1 when there is nothing to remove.
    pub(super) fn undep(&self, out: &mut dyn Write, ticket: &str, dep: &str) -> Result<u8, Fault> {
        let target = self.target(ticket)?;
        // What it waits for need not be a ticket any more.
        let dep = match listed(&target.path, "deps").into_iter().find(|one| one == dep) {
            Some(dep) => clean_line(&dep, 200),
            None => self.target(dep)?.name,
        };
        if self.write(&target, &|bytes| card::remove(bytes, "deps", &dep))? {
            writeln!(out, "Removed dependency: {} -/-> {dep}", target.name)?;
            return Ok(0);
        }
        writeln!(out, "Dependency not found")?;
        Ok(1)
    }

    pub(super) fn link(&self, out: &mut dyn Write, names: &[String]) -> Result<(), Fault> {
        let targets = names.iter().map(|name| self.target(name)).collect::<Result<Vec<_>, _>>()?;
        let mut added = 0;
        for target in &targets {
            let others = targets.iter().map(|other| &other.name).filter(|other| **other != target.name);
            let mut others: Vec<String> = others.cloned().collect();
            others.retain(|other| !listed(&target.path, "links").contains(other));
            if self.write(target, &|bytes| card::add(bytes, "links", &others))? {
                added += others.len();
            }
        }
        match added {
            0 => writeln!(out, "All links already exist")?,
            added => writeln!(out, "Added {added} link(s) between {} tickets", targets.len())?,
        }
        Ok(())
    }

    /// Gives the exit code: 1 when there is nothing to remove.
    pub(super) fn unlink(&self, out: &mut dyn Write, ticket: &str, other: &str) -> Result<u8, Fault> {
        let (one, other) = (self.target(ticket)?, self.target(other)?);
        // Both are looked at: a program that was killed may have removed only one side.
        let here = self.write(&one, &|bytes| card::remove(bytes, "links", &other.name))?;
        let there = self.write(&other, &|bytes| card::remove(bytes, "links", &one.name))?;
        if here || there {
            writeln!(out, "Removed link: {} <-> {}", one.name, other.name)?;
            return Ok(0);
        }
        writeln!(out, "Link not found")?;
        Ok(1)
    }

    /// Adds a note: these words, else what standard input says. Words that are empty on purpose leave a time.
    pub(super) fn note(&self, out: &mut dyn Write, ticket: &str, words: &[String]) -> Result<(), Fault> {
        let target = self.target(ticket)?;
        let text = if !words.is_empty() {
            words.join(" ")
        } else if io::stdin().is_terminal() {
            return Err(Fault::Words("no note provided".to_owned()));
        } else {
            let mut text = String::new();
            io::stdin().take(LONGEST_INPUT).read_to_string(&mut text)?;
            text
        };
        if words.is_empty() && text.trim().is_empty() {
            return Err(Fault::Words("the note is empty: give its words, or pipe them in".to_owned()));
        }
        let now = self.session.clock().now();
        let file = target.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let why: RefCell<Option<NotRevised>> = RefCell::default();
        let edit = |bytes: &[u8]| {
            let revised = revise(bytes, &file, &TicketEdit::Note { text: text.clone() }, now);
            match revised {
                Ok(revised) => revised.revision.apply(bytes),
                Err(error) => {
                    why.replace(Some(error));
                    Err(Unchanged::NotThere)
                }
            }
        };
        let written = self.write(&target, &edit);
        if let Some(why) = why.into_inner().filter(|_| written.is_err()) {
            return Err(Fault::Words(format!("{} was not changed: {why}", target.name)));
        }
        written?;
        Ok(writeln!(out, "Note added to {}", target.name)?)
    }
}

/// What stands in a list of a ticket's front matter.
fn listed(path: &Path, key: &str) -> Vec<String> {
    let card = tickets::read(path).ok().and_then(|bytes| Card::read(&bytes));
    card.map(|card| card.list(key)).unwrap_or_default()
}
