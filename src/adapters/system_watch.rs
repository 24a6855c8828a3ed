//! What the system reports of changed files. Where it reports nothing more, because other programs have used up its limit
//! (on Linux 128 for each user, by default), a look each second finds what has changed.

use notify::{Config, Event, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};
use std::path::Path;
use std::time::Duration;

/// From one look to the next, where the system reports nothing.
const PACE: Duration = Duration::from_secs(1);

/// Hears of changes until it is dropped.
#[derive(Debug)]
pub enum SystemWatch {
    Reported(RecommendedWatcher),
    Polled(PollWatcher),
}

impl SystemWatch {
    /// Watches nothing yet; `hear` is called on a thread of the watch.
    pub fn new(hear: impl FnMut(notify::Result<Event>) + Clone + Send + 'static) -> notify::Result<Self> {
        match recommended_watcher(hear.clone()) {
            Ok(watcher) => Ok(Self::Reported(watcher)),
            Err(error) => {
                tracing::warn!(%error, "the system reports no changes of files: they are looked for each second");
                Self::polled(hear)
            }
        }
    }

    /// Watches this file; looked at each second where the system does not take it.
    pub fn of_file(
        path: &Path,
        hear: impl FnMut(notify::Result<Event>) + Clone + Send + 'static,
    ) -> notify::Result<Self> {
        let mut watch = Self::new(hear.clone())?;
        if let Err(error) = watch.watch(path) {
            tracing::warn!(%error, "the system does not report changes of this file: it is looked at each second");
            watch = Self::polled(hear)?;
            watch.watch(path)?;
        }
        Ok(watch)
    }

    fn polled(hear: impl FnMut(notify::Result<Event>) + Send + 'static) -> notify::Result<Self> {
        PollWatcher::new(hear, Config::default().with_poll_interval(PACE)).map(Self::Polled)
    }

    /// Watches a file, or what is in a folder but not below the folders in it.
    pub fn watch(&mut self, path: &Path) -> notify::Result<()> {
        match self {
            Self::Reported(watcher) => watcher.watch(path, RecursiveMode::NonRecursive),
            Self::Polled(watcher) => watcher.watch(path, RecursiveMode::NonRecursive),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::mpsc::channel;

    #[test]
    fn without_reports_of_the_system_a_changed_file_is_heard_of_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bell");
        fs::write(&file, ".").unwrap();
        let (tell, told) = channel();
        let mut watch = SystemWatch::polled(move |event: notify::Result<Event>| drop(tell.send(event))).unwrap();
        watch.watch(&file).unwrap();
        // Written in the very moment of a look it has the same time as before: the next change is heard of.
        let heard = (0..20).find_map(|n| {
            fs::write(&file, n.to_string()).unwrap();
            told.recv_timeout(2 * PACE).ok().and_then(Result::ok)
        });
        assert!(heard.is_some_and(|event| event.paths.contains(&file)));
    }
}
