//! How many bytes files take. Links are counted as links, and never followed.

use std::fs;
use std::path::Path;

/// The length in bytes of a file, or of all files in a folder, however deep. What is gone or cannot be read counts for nothing.
pub fn bytes_of(path: &Path) -> u64 {
    let Ok(data) = fs::symlink_metadata(path) else { return 0 };
    if !data.is_dir() {
        return data.len();
    }
    let mut bytes = 0_u64;
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(data) if data.is_dir() => folders.push(entry.path()),
                Ok(data) => bytes = bytes.saturating_add(data.len()),
                Err(_) => {}
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_however_deep_they_are_and_what_a_link_names_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("far")).unwrap();
        fs::write(at("far/large"), [0; 5_000]).unwrap();
        fs::create_dir_all(at("state/a/b")).unwrap();
        fs::write(at("state/a/b/file"), [0; 300]).unwrap();
        fs::write(at("state/file"), [0; 20]).unwrap();
        std::os::unix::fs::symlink(at("far"), at("state/far")).unwrap();
        std::os::unix::fs::symlink("..", at("state/a/up")).unwrap();
        let links = fs::symlink_metadata(at("state/far")).unwrap().len() + 2;
        assert_eq!(bytes_of(&at("state")), 320 + links);
        assert_eq!((bytes_of(&at("state/file")), bytes_of(&at("none"))), (20, 0));
    }
}
