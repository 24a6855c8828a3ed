//! The tickets of a folder that were imported, also those that a person has broken since.

use super::importer::ImportError;
use crate::adapters::tickets;
use crate::adapters::tickets::LoadError;
use crate::adapters::tickets::create::{DIGEST, REFERENCE};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::import::Known;
use crate::domain::ticket::Ticket;
use crate::domain::ticket::card::Card;
use std::path::Path;

/// The tickets of the folder that were imported.
pub(super) fn known(dir: &Path) -> Result<Vec<Known>, ImportError> {
    let mut known = Vec::new();
    for one in tickets::list(dir).map_err(|error| {
        ImportError::Failed(format!(
            "the tickets folder {} cannot be read: {error}",
            clean_line(&dir.to_string_lossy(), 300)
        ))
    })? {
        let whole = one.ticket.ok().filter(|ticket| !ticket.is_broken()).and_then(of_ticket);
        // A person may have broken it since; it is an imported one all the same.
        known.extend(match whole {
            Some(one) => Some(one),
            None => match tickets::read(&one.path) {
                Ok(bytes) => of_lines(&one.path, &bytes),
                Err(error @ (LoadError::Unreadable { .. } | LoadError::TooLarge { .. })) => {
                    let why = "nothing was imported, because that file may belong to a task";
                    return Err(ImportError::Failed(format!("{error}; {why}")));
                }
                // No ticket of ours is a link or a pipe.
                Err(_) => None,
            },
        });
    }
    Ok(known)
}

fn of_ticket(ticket: Ticket) -> Option<Known> {
    let extra = |key: &str| ticket.extra.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let reference = extra(REFERENCE).filter(|reference| !reference.is_empty())?;
    let digest = extra(DIGEST).unwrap_or_default();
    let deps = ticket.deps.iter().cloned().collect();
    Some(Known { is_closed: ticket.is_closed(), reference, digest, deps, id: ticket.id, title: ticket.title })
}

/// What the lines before the title say, whatever else is wrong with the file.
fn of_lines(path: &Path, bytes: &[u8]) -> Option<Known> {
    let text = String::from_utf8_lossy(bytes);
    let is_key = |line: &&str| ["status:", "deps:", REFERENCE, DIGEST].iter().any(|key| line.starts_with(key));
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with("# ")).filter(is_key).collect();
    let title = text.lines().find(|line| line.starts_with("# ")).unwrap_or_default();
    let id = TicketId::parse(&path.file_stem().unwrap_or_default().to_string_lossy()).ok()?;
    let card = Card::read(format!("---\nid: {id}\n{}\n---\n{title}\n", lines.join("\n")).as_bytes())?;
    let reference = Some(card.text(REFERENCE)).filter(|reference| !reference.is_empty())?;
    let (digest, deps) = (card.text(DIGEST), card.list("deps").into_iter().collect());
    Some(Known { id, is_closed: card.is_closed(), reference, digest, deps, title: card.title })
}
