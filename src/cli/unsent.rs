//! The files of what the person typed on the screen and has not sent: one for each ticket, or directory, in `unsent/`.
//!
//! A file is replaced as a whole, so that one that is killed leaves the old text or the new one.

use crate::adapters::private_file;
use crate::base::hex::hex;
use crate::tui::unsent::Texts;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a file holds.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The ticket's file, or the directory.
    of: String,
    #[serde(flatten)]
    texts: Texts,
}

/// Everything that is kept in this folder. What cannot be read is left as it is, and the log says so.
pub fn read(folder: &Path) -> BTreeMap<String, Texts> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let files =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|is| is == "json"));
    let one = |path: PathBuf| {
        let text = private_file::read(&path).map_err(|error| error.to_string());
        let kept =
            text.and_then(|text| serde_json::from_str::<Kept>(&text.unwrap_or_default()).map_err(|e| e.to_string()));
        kept.inspect_err(|why| tracing::warn!(path = %path.display(), why, "an unsent text cannot be read")).ok()
    };
    files.filter_map(one).map(|kept| (kept.of, kept.texts)).collect()
}

/// Keeps the texts of one; without any its file is removed. The error is words for the person.
pub fn keep(folder: &Path, of: &str, texts: &Texts) -> Result<(), String> {
    let digest = Sha256::digest(of.as_bytes());
    let file = folder.join(format!("{}.json", hex(&digest[..8])));
    if texts.is_empty() {
        return match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{}: {error}", file.display())),
            _ => Ok(()),
        };
    }
    let kept = Kept { of: of.to_owned(), texts: texts.clone() };
    let text = serde_json::to_string(&kept).map_err(|error| error.to_string())?;
    private_file::write(&file, &text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ticket::draft::Draft;

    #[test]
    fn what_is_kept_is_read_again_until_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let unsent = folder.path().join("unsent");
        assert!(read(&unsent).is_empty());
        let message = Texts { message: "a \u{1b}[2J\nb".into(), ..Texts::default() };
        let ticket = Texts { ticket: Draft { title: "T".into(), ..Draft::default() }, ..Texts::default() };
        keep(&unsent, "/t/tk-1.md", &message).unwrap();
        keep(&unsent, "/t", &ticket).unwrap();
        fs::write(unsent.join("half.json"), "{").unwrap();
        let read_again = [("/t".to_owned(), ticket), ("/t/tk-1.md".to_owned(), message)];
        assert_eq!(read(&unsent), BTreeMap::from(read_again.clone()));
        keep(&unsent, "/t/tk-1.md", &Texts::default()).unwrap();
        keep(&unsent, "/t/tk-1.md", &Texts::default()).unwrap();
        assert_eq!(read(&unsent), read_again.into_iter().take(1).collect());
    }
}
