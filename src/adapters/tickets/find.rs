//! Finds the file a person means by an id, a part of an id, or a path.
//!
//! By id only files of the tickets folder are found, and links in it may not lead out of it; a path may lead
//! anywhere, since the person wrote it.

use super::folder::{files_in, list, real, stays_in};
use super::load::{LoadError, open_text, shown};
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use std::io;
use std::path::{Path, PathBuf};

/// Where tickets are looked for.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Absolute path of the folder that relative paths count from.
    pub folder: PathBuf,
    pub tickets_dir: Option<PathBuf>,
    pub home: Option<PathBuf>,
}

impl Places {
    /// The tickets folder: `$TICKETS_DIR`, else the nearest parent's `.tickets`, else `~/.tickets` if there is one, else
    /// `.tickets` at the top of the repository, else `.tickets` in the folder. The last two need not exist.
    pub fn dir(&self) -> PathBuf {
        if let Some(dir) = self.tickets_dir.as_ref().filter(|dir| !dir.as_os_str().is_empty()) {
            return self.folder.join(dir);
        }
        let own = self.home.as_deref();
        let known = self.folder.ancestors().chain(own).map(|parent| parent.join(".tickets")).find(|dir| dir.is_dir());
        known.unwrap_or_else(|| {
            let top = self.folder.ancestors().find(|parent| parent.join(".git").exists());
            top.unwrap_or(&self.folder).join(".tickets")
        })
    }
}

/// Why no file was found. Messages list what could have been meant.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("`{}` matches {}: type more of the id", clean_line(.name, 80), candidates.join(", "))]
    Ambiguous { name: String, candidates: Vec<String> },
    #[error("no ticket `{}` in {}{}", clean_line(.name, 80), shown(.dir), there_are(.candidates))]
    Missing { name: String, dir: PathBuf, candidates: Vec<String> },
    #[error(transparent)]
    Refused(#[from] LoadError),
    #[error("the tickets folder {} cannot be read: {source}", shown(.dir))]
    Unreadable { dir: PathBuf, source: io::Error },
}

/// Most ids that a message lists.
const MAX_LISTED: usize = 10;

fn there_are(ids: &[String]) -> String {
    match ids.len() {
        0 => ", which has no tickets: create one with `programmator ticket new \"title\"`".to_owned(),
        1..=MAX_LISTED => format!("; tickets there: {}", ids.join(", ")),
        more => format!("; tickets there: {}, and {} more", ids[..MAX_LISTED].join(", "), more - MAX_LISTED),
    }
}

/// The absolute path, without links, of the ticket file that `name` means.
///
/// A path contains `/` or names an existing file; everything else is an id or a part of one. Whatever it leads to is
/// written to, so it must be markdown: nothing else is taken for a ticket.
pub fn find(name: &str, places: &Places) -> Result<PathBuf, FindError> {
    let name = name.trim();
    let path = places.folder.join(name);
    let is_nested = name.contains(std::path::MAIN_SEPARATOR) || name.contains('/');
    let is_file = !name.is_empty() && path.symlink_metadata().is_ok() && !path.is_dir();
    if is_nested || is_file && is_markdown(&path) {
        return Ok(markdown(real(&path)?)?);
    }
    match find_id(name, places) {
        Err(FindError::Missing { .. }) if is_file => Err(LoadError::NotMarkdown { path }.into()),
        found => found,
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// `path`, if there is a markdown file.
fn markdown(path: PathBuf) -> Result<PathBuf, LoadError> {
    if !is_markdown(&path) && !path.is_dir() {
        return Err(LoadError::NotMarkdown { path });
    }
    open_text(&path)?;
    Ok(path)
}

fn find_id(name: &str, places: &Places) -> Result<PathBuf, FindError> {
    let dir = places.dir();
    let files = files_in(&dir).map_err(|source| FindError::Unreadable { dir: dir.clone(), source })?;
    let wanted = name.strip_suffix(".md").unwrap_or(name);
    let exact = files.iter().find(|path| stem(path) == wanted);
    // What cannot be an id cannot be a part of one either.
    let is_part = TicketId::parse(wanted).is_ok() || TicketId::parse(&format!("a{wanted}")).is_ok();
    let mut fitting: Vec<&PathBuf> = match exact {
        Some(path) => vec![path],
        None if !wanted.is_empty() && is_part => files.iter().filter(|path| stem(path).contains(wanted)).collect(),
        None => Vec::new(),
    };
    // A file of another name is found by the whole id in its front matter.
    let by_front_matter = if fitting.is_empty() { with_id(wanted, &dir) } else { Vec::new() };
    fitting.extend(&by_front_matter);
    let ids = |paths: &[&PathBuf]| paths.iter().map(|path| clean_line(&stem(path), 80)).collect();
    match fitting.len() {
        1 => Ok(markdown(stays_in(&dir, fitting.remove(0))?)?),
        0 => Err(FindError::Missing { name: name.to_owned(), candidates: ids(&files.iter().collect::<Vec<_>>()), dir }),
        _ => Err(FindError::Ambiguous { name: name.to_owned(), candidates: ids(&fitting) }),
    }
}

/// The files whose front matter says this id.
fn with_id(id: &str, dir: &Path) -> Vec<PathBuf> {
    let listed = list(dir).unwrap_or_default().into_iter();
    let named = listed.filter(|listed| listed.ticket.as_ref().is_ok_and(|ticket| ticket.id.as_str() == id));
    named.map(|listed| listed.path).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
