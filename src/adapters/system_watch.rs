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

/// What a look compares.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// Times, in whole seconds: of two changes in one second the later may go unheard.
    Times,
    /// The bytes, too.
    Contents,
}

impl SystemWatch {
    /// Watches nothing yet; `hear` is called on a thread of the watch.
    pub fn new(hear: impl FnMut(notify::Result<Event>) + Clone + Send + 'static) -> notify::Result<Self> {
        match recommended_watcher(hear.clone()) {
            Ok(watcher) => Ok(Self::Reported(watcher)),
            Err(error) => {
                tracing::warn!(%error, "the system reports no changes of files: they are looked for each second");
                Self::polled(hear, Look::Times)
            }
        }
    }

    /// Watches this small file; read each second where the system does not take it.
    pub fn of_file(
        path: &Path,
        hear: impl FnMut(notify::Result<Event>) + Clone + Send + 'static,
    ) -> notify::Result<Self> {
        let taken = recommended_watcher(hear.clone()).map(Self::Reported);
        let taken = taken.and_then(|mut watch| watch.watch(path).map(|()| watch));
        taken.or_else(|error| {
            tracing::warn!(%error, "the system does not report changes of this file: it is read each second");
            let mut watch = Self::polled(hear, Look::Contents)?;
            watch.watch(path)?;
            Ok(watch)
        })
    }

    fn polled(hear: impl FnMut(notify::Result<Event>) + Send + 'static, look: Look) -> notify::Result<Self> {
        let config = Config::default().with_poll_interval(PACE).with_compare_contents(look == Look::Contents);
        PollWatcher::new(hear, config).map(Self::Polled)
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
    fn without_reports_of_the_system_each_change_is_heard_of_however_fast_it_follows() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bell");
        fs::write(&file, ".").unwrap();
        let time = fs::metadata(&file).unwrap().modified().unwrap();
        let (tell, told) = channel();
        let hear = move |event: notify::Result<Event>| drop(tell.send(event));
        let mut watch = SystemWatch::polled(hear, Look::Contents).unwrap();
        watch.watch(&file).unwrap();
        for text in ["1", "2"] {
            fs::write(&file, text).unwrap();
            fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
            let event = told.recv_timeout(20 * PACE).unwrap().unwrap();
            assert!(event.paths.contains(&file), "{event:?}");
        }
    }
}
