//! Makes a new ticket file, as `tk` does (wedow/ticket): the same id and front matter, so that both can be used.

use super::load::shown;
use crate::base::id::TicketId;
use crate::base::text::{Clean, clean_line};
use crate::base::time::Timestamp;
use crate::domain::ticket::Ticket;
use crate::domain::ticket::card::{Card, stamped, written, written_item};
use crate::domain::ticket::draft::Draft;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Ids that are tried.
const TRIES: u32 = 1_000;

/// What a new ticket is made of.
#[derive(Clone, Debug)]
pub struct NewTicket<'a> {
    pub draft: &'a Draft,
    /// The project's folder; the id begins with the initials of its name.
    pub project: &'a Path,
    /// Who it is for, if it is known.
    pub assignee: Option<&'a str>,
    pub now: Timestamp,
    /// Where it was imported from.
    pub origin: Option<Origin<'a>>,
    /// The ticket that it is a part of.
    pub parent: Option<&'a TicketId>,
    /// What it waits for.
    pub deps: &'a [&'a TicketId],
}

/// What a ticket that was imported says of that.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub reference: &'a str,
    /// Changes with what the task says.
    pub digest: &'a str,
}

/// Keys of the front matter that say it: the first is that of `tk`.
pub const REFERENCE: &str = "external-ref";
pub const DIGEST: &str = "imported-digest";
/// The key for the ticket that one is a part of.
const PARENT: &str = "parent";

/// The issue or task that the ticket was made of, as its file names it.
pub fn reference(ticket: &Ticket) -> Option<&str> {
    let named = ticket.extra.iter().find(|(name, _)| name == REFERENCE).map(|(_, value)| value.as_str());
    named.filter(|reference| !reference.is_empty())
}

/// Why no ticket was made.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    #[error("a ticket needs a title: programmator ticket new \"Title\"")]
    NoTitle,
    #[error("the ticket {} cannot be written: {source}", shown(.path))]
    Unwritable { path: PathBuf, source: io::Error },
}

/// Writes a new ticket into `dir`, which is made if it is not there. The path of the file.
pub fn create(new: &NewTicket<'_>, dir: &Path) -> Result<PathBuf, CreateError> {
    if new.draft.title().is_empty() {
        return Err(CreateError::NoTitle);
    }
    place(new.project, dir, |id| text(id, new))
}

/// A ticket as `tk create` writes it.
#[derive(Clone, Debug, Default)]
pub struct NewCard {
    pub title: String,
    pub description: String,
    /// Text below `## Design`; empty: no such heading.
    pub design: String,
    /// Text below `## Acceptance Criteria`.
    pub acceptance: String,
    /// One word.
    pub kind: String,
    /// From 0 to 4.
    pub priority: u8,
    pub assignee: String,
    pub external_ref: String,
    /// A ticket's id.
    pub parent: String,
    pub tags: Vec<String>,
}

/// The same for a ticket with the keys and sections of `tk create`. The path of the file.
pub fn create_card(new: &NewCard, project: &Path, dir: &Path, now: Timestamp) -> Result<PathBuf, CreateError> {
    place(project, dir, |id| card_text(id, new, now))
}

/// Writes a file under an id that is free.
fn place(project: &Path, dir: &Path, text: impl Fn(&str) -> String) -> Result<PathBuf, CreateError> {
    let unwritable = |path: &Path| {
        let path = path.to_owned();
        move |source| CreateError::Unwritable { path, source }
    };
    std::fs::create_dir_all(dir).map_err(unwritable(dir))?;
    let prefix = prefix(project);
    loop {
        let id = format!("{prefix}-{}", suffix(uuid::Uuid::new_v4().as_u128()));
        let path = dir.join(format!("{id}.md"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => {
                let written = file.write_all(text(&id).as_bytes()).and_then(|()| file.sync_all());
                if written.is_err() {
                    // Half a ticket helps nobody.
                    let _ = std::fs::remove_file(&path);
                }
                return written.map(|()| path.clone()).map_err(unwritable(&path));
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(&path)(error)),
        }
    }
}

/// Initials of the parts of the folder's name (`my-web-app` → `mwa`); of a name in one part the first three letters.
fn prefix(project: &Path) -> String {
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    let parts: Vec<String> = name
        .split(['-', '_', ' ', '.'])
        .map(|part| part.chars().filter(char::is_ascii_alphanumeric).collect::<String>())
        .filter(|part| !part.is_empty())
        .collect();
    let prefix: String = match parts.as_slice() {
        [one] => one.chars().take(3).collect(),
        parts => parts.iter().filter_map(|part| part.chars().next()).collect(),
    };
    let prefix: String = prefix.to_ascii_lowercase().chars().take(16).collect();
    // Such a name is no file on some systems.
    if prefix.is_empty() || TicketId::parse(&prefix).is_err() { "tk".to_owned() } else { prefix }
}

/// The id of a ticket that is made of something else, and which `dir` has no ticket of: the same as before as long as there is
/// none, so that a program which was killed is followed by one that goes on.
pub fn id_for(what: &str, project: &Path, dir: &Path) -> Option<TicketId> {
    id_of(what, &prefix(project), |id| dir.join(format!("{id}.md")).symlink_metadata().is_err())
}

/// The same for a part of a ticket: that of its file, where a program that was killed has written it already.
pub fn id_of_part(what: &str, parent: &TicketId, dir: &Path, taken: &[&TicketId]) -> Option<TicketId> {
    let prefix = parent.as_str().rsplit_once('-').map_or("tk", |(prefix, _)| prefix);
    let is_free = |id: &str| match std::fs::read(dir.join(format!("{id}.md"))) {
        Ok(bytes) => Card::read(&bytes).is_some_and(|card| card.text(PARENT) == parent.as_str()),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    id_of(what, prefix, |id| is_free(id) && taken.iter().all(|taken| taken.as_str() != id))
}

fn id_of(what: &str, prefix: &str, is_ours: impl Fn(&str) -> bool) -> Option<TicketId> {
    (0..TRIES).find_map(|n| {
        let digest = Sha256::digest(format!("{what}\0{n}"));
        let number = digest.iter().take(16).fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
        let id = format!("{prefix}-{}", suffix(number));
        is_ours(&id).then(|| TicketId::parse(&id).ok()).flatten()
    })
}

/// Writes a ticket that is not there yet, whole or not at all.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let builder = &mut tempfile::Builder::new();
    placed(builder.permissions(permissions), path, bytes, None)
}

/// The same for a copy of a file, which who may not read the file cannot read at any moment.
pub fn write_copy(path: &Path, bytes: &[u8], of: &Path) -> io::Result<()> {
    // A temporary file is the person's alone.
    placed(&mut tempfile::Builder::new(), path, bytes, Some(std::fs::metadata(of)?.permissions()))
}

fn placed(
    builder: &mut tempfile::Builder<'_, '_>,
    path: &Path,
    bytes: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = builder.prefix(".new-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}

/// Four of `[a-z0-9]`.
fn suffix(mut number: u128) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..4)
        .map(|_| {
            let letter = LETTERS[(number % 36) as usize];
            number /= 36;
            char::from(letter)
        })
        .collect()
}

/// The file of a new ticket with this id.
pub fn text(id: &str, new: &NewTicket<'_>) -> String {
    let created = stamped(new.now);
    let assignee = new
        .assignee
        .map(|name| clean_line(name, 100))
        .filter(|name| !name.is_empty())
        .map(|name| format!("assignee: {}\n", written(&name)))
        .unwrap_or_default();
    // What is no plain word would be something else in YAML.
    let word = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let or = |own: &str, usual: &str| if word(own) { own.to_owned() } else { usual.to_owned() };
    let (kind, priority) = (or(&new.draft.kind, "task"), or(&new.draft.priority, "2"));
    let tags: Vec<&str> = new.draft.tags.iter().map(String::as_str).filter(|tag| word(tag)).collect();
    let tags = if tags.is_empty() { String::new() } else { format!("tags: [{}]\n", tags.join(", ")) };
    let deps = new.deps.iter().map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
    let parent = new.parent.map(|id| format!("{PARENT}: {id}\n")).unwrap_or_default();
    let value = |text: &str| written(&clean_line(text, 400));
    let origin =
        new.origin.map(|one| format!("{REFERENCE}: {}\n{DIGEST}: {}\n", value(one.reference), value(one.digest)));
    let origin = origin.unwrap_or_default();
    format!(
        "---\n\
         id: {id}\n\
         status: open\n\
         deps: [{deps}]\n\
         links: []\n\
         created: {created}\n\
         type: {kind}\n\
         priority: {priority}\n\
         {parent}\
         {tags}\
         {assignee}\
         {origin}\
         ---\n\
         {}",
        new.draft.markdown()
    )
}

fn card_text(id: &str, new: &NewCard, now: Timestamp) -> String {
    let mut text = format!(
        "---\nid: {id}\nstatus: open\ndeps: []\nlinks: []\ncreated: {}\ntype: {}\npriority: {}\n",
        stamped(now),
        new.kind,
        new.priority
    );
    for (key, value) in [("assignee", &new.assignee), ("external-ref", &new.external_ref), ("parent", &new.parent)] {
        let value = clean_line(value, 200);
        if !value.is_empty() {
            let _ = writeln!(text, "{key}: {}", written(&value));
        }
    }
    let tags = new.tags.iter().map(|tag| clean_line(tag, 100)).filter(|tag| !tag.is_empty());
    let tags: Vec<String> = tags.map(|tag| written_item(&tag)).collect();
    if !tags.is_empty() {
        let _ = writeln!(text, "tags: [{}]", tags.join(", "));
    }
    let _ = write!(text, "---\n# {}\n\n", clean_line(&new.title, 1_000));
    for (heading, below) in
        [("", &new.description), ("## Design\n\n", &new.design), ("## Acceptance Criteria\n\n", &new.acceptance)]
    {
        if !below.is_empty() {
            let _ = write!(text, "{heading}{}\n\n", Clean::new(below));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_begin_like_those_of_tk() {
        let cases = [
            ("/x/my-web-app", "mwa"),
            ("/x/programmator", "pro"),
            ("/x/Go", "go"),
            ("/x/a_b c", "abc"),
            ("/x/日本", "tk"),
            ("/", "tk"),
            ("/x/con", "tk"),
        ];
        for (folder, expected) in cases {
            assert_eq!(prefix(Path::new(folder)), expected, "{folder}");
        }
        assert!(suffix(u128::MAX).bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
}
