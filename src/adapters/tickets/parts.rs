//! The tickets that an accepted draft splits off the one it is for: their ids, and their files. They are the same however often they are
//! made, so that a program which was killed in between is followed by one that goes on.

use super::create::{NewTicket, id_of_part, text, write_new};
use crate::base::id::TicketId;
use crate::base::time::Timestamp;
use crate::domain::ticket::card::Card;
use crate::domain::ticket::draft::Draft;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// Whose parts they are.
pub struct Whole<'a> {
    pub id: &'a TicketId,
    /// Its file.
    pub path: &'a Path,
    pub bytes: &'a [u8],
    /// What the ids are made of, with the parts themselves: another draft has others.
    pub mark: &'a str,
    pub now: Timestamp,
}

/// A ticket that is to be written.
pub struct NewPart {
    pub id: TicketId,
    text: String,
}

/// What is to be written for the draft's parts.
pub fn parts(draft: &Draft, whole: &Whole<'_>) -> Option<Vec<NewPart>> {
    let dir = whole.path.parent()?;
    let card = Card::read(whole.bytes);
    let says = |key: &str| card.as_ref().map(|card| card.text(key)).unwrap_or_default();
    let tags = card.as_ref().map(|card| card.list("tags")).unwrap_or_default();
    let mut made: Vec<NewPart> = Vec::new();
    for (n, part) in (1_u64..).zip(&draft.parts) {
        let what = format!("{}\0{n}\0{}\0{}", whole.mark, part.title, part.phases.join("\0"));
        let taken: Vec<&TicketId> = made.iter().map(|part| &part.id).collect();
        let id = id_of_part(&what, whole.id, dir, &taken)?;
        let of_part = draft.of_part(part);
        let source = format!("Part of `{}`, which quotes the whole document.", whole.id);
        let body = [of_part.text.as_str(), &source].into_iter().filter(|text| !text.is_empty());
        let body = body.collect::<Vec<_>>().join("\n\n");
        let of_part = Draft { text: body, priority: says("priority"), tags: tags.clone(), ..of_part };
        let deps: Vec<&TicketId> =
            part.after.iter().filter_map(|n| made.get(n.checked_sub(1)?)).map(|one| &one.id).collect();
        let assignee = says("assignee");
        let assignee = Some(assignee.as_str()).filter(|name| !name.is_empty());
        let new = NewTicket {
            draft: &of_part,
            project: dir,
            assignee,
            // Of tickets of one priority the older is worked on first.
            now: whole.now.plus(Duration::from_secs(n)),
            origin: None,
            parent: Some(whole.id),
            deps: &deps,
        };
        let text = text(id.as_str(), &new);
        made.push(NewPart { id, text });
    }
    Some(made)
}

/// Writes them into the folder, but for those that are there already: all of them, or none.
pub fn write_parts(parts: &[NewPart], dir: &Path) -> Result<(), String> {
    let mut written = Vec::new();
    for NewPart { id, text } in parts {
        let path = dir.join(format!("{id}.md"));
        match write_new(&path, text.as_bytes()) {
            Ok(()) => written.push(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                // Nothing names these, and they would be worked on.
                for path in &written {
                    let _ = std::fs::remove_file(path);
                }
                return Err(format!("{} cannot be written: {error}", path.display()));
            }
        }
    }
    Ok(())
}
