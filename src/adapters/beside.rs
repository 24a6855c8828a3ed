//! A new file beside another one, whose place it takes once it is whole. Errors name the folder: nobody has typed the name of
//! the new one.

use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// Makes it, readable by its owner alone; it is removed again unless it is persisted.
pub fn file(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    tempfile::Builder::new().prefix(".programmator-").tempfile_in(folder).map_err(|error| {
        let (kind, folder) = (error.kind(), folder.display());
        let words = match kind {
            io::ErrorKind::NotFound => format!("the folder {folder} does not exist"),
            io::ErrorKind::NotADirectory => format!("{folder} is not a folder"),
            io::ErrorKind::PermissionDenied => format!("you may not write in the folder {folder}"),
            _ => format!("no file can be made in the folder {folder}: {kind}"),
        };
        io::Error::new(kind, words)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_said_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let words = |path: &str| file(&folder.path().join(path)).unwrap_err().to_string();
        std::fs::write(folder.path().join("plain"), "").unwrap();
        let at = folder.path().display();
        assert_eq!(words("no/such.md"), format!("the folder {at}/no does not exist"));
        assert_eq!(words("plain/x.md"), format!("{at}/plain is not a folder"));
        assert!(file(Path::new("x.md")).is_ok(), "here");
    }
}
