//! What Claude has told in sessions of the person's own, left in the state folder by its hooks for the relay, which takes it
//! to the phone.

use super::private_file::{self, PrivateFileError};
use crate::domain::own_notice::Notice;
use crate::domain::own_session::is_id;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Most that wait there: the oldest goes for the next one.
const MOST: usize = 100;

/// Leaves it.
pub fn leave(state: &Path, notice: &Notice) -> Result<(), PrivateFileError> {
    let path = folder(state).join(format!("{:013}-{}.json", notice.at.millis(), std::process::id()));
    let waiting = files(state);
    waiting.iter().take((waiting.len() + 1).saturating_sub(MOST)).for_each(|oldest| done(oldest));
    private_file::write_for_now(&path, &serde_json::to_string(notice).unwrap_or_default())
}

/// What was left, the oldest first, and its file; `None`: it cannot be read.
pub fn left(state: &Path) -> Vec<(PathBuf, Option<Notice>)> {
    let read = |path: &Path| serde_json::from_str(&private_file::read(path).ok()??).ok();
    let read = |path: &Path| read(path).filter(|notice: &Notice| is_id(&notice.session));
    files(state).into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// It is told, or is not to be.
pub fn done(path: &Path) {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != ErrorKind::NotFound
    {
        tracing::warn!(%error, "a notice cannot be removed");
    }
}

fn folder(state: &Path) -> PathBuf {
    state.join("hooks").join("notices")
}

/// By their names the oldest are first. What is still being written has another name.
fn files(state: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder(state)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = listed.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::TicketId;
    use crate::base::time::Timestamp;
    use crate::domain::own_notice::About;

    #[test]
    fn they_wait_in_their_order_and_not_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let notice = |n: i64| Notice {
            session: TicketId::parse("session-11111111").unwrap(),
            folder: "/w".into(),
            about: About::Idle,
            words: "waits".into(),
            at: Timestamp::from_millis(n),
        };
        for n in (0..100).rev() {
            leave(folder.path(), &notice(n)).unwrap();
        }
        leave(folder.path(), &notice(100)).unwrap();
        let all = left(folder.path());
        assert!(all.iter().map(|(_, left)| left.clone().unwrap()).eq((1..=100).map(notice)), "the newest are kept");
        fs::write(&all[0].0, "{").unwrap();
        assert_eq!(left(folder.path())[0].1, None);
        for (path, _) in &all {
            done(path);
        }
        assert!(left(folder.path()).is_empty());
    }
}
