//! A view of the file system that asks for each path once. One verdict resolves the same folders dozens of times, and
//! what it has seen of a path must not change in the middle of it.

use crate::policy::place::{PathView, Reading};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Another view, its answers kept for as long as this lives: one verdict.
pub struct Remembered<'a> {
    view: &'a dyn PathView,
    scratch: Option<&'a Path>,
    may_plan: bool,
    links: Answers<Option<PathBuf>>,
    exists: Answers<bool>,
    folders: Answers<bool>,
    texts: Answers<Reading>,
}

impl<'a> Remembered<'a> {
    /// Nothing is known yet.
    pub fn new(view: &'a dyn PathView) -> Self {
        Self {
            view,
            scratch: None,
            may_plan: true,
            links: Answers::default(),
            exists: Answers::default(),
            folders: Answers::default(),
            texts: Answers::default(),
        }
    }
}

impl<'a> Remembered<'a> {
    /// For a run that has this scratch folder.
    #[must_use]
    pub fn with_scratch(self, scratch: Option<&'a Path>) -> Self {
        Self { scratch, ..self }
    }

    /// For a step that may write plans, or may not.
    #[must_use]
    pub fn with_plans(self, may_plan: bool) -> Self {
        Self { may_plan, ..self }
    }
}

impl PathView for Remembered<'_> {
    fn scratch(&self) -> Option<&Path> {
        self.scratch.or_else(|| self.view.scratch())
    }

    fn may_plan(&self) -> bool {
        self.may_plan && self.view.may_plan()
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.links.of(path, |path| self.view.link(path))
    }

    fn exists(&self, path: &Path) -> bool {
        self.exists.of(path, |path| self.view.exists(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.folders.of(path, |path| self.view.is_folder(path))
    }

    /// Not kept: a walk asks once for each folder, and there may be thousands of names.
    fn names(&self, folder: &Path) -> Option<Vec<String>> {
        self.view.names(folder)
    }

    fn tracked(&self, path: &Path) -> Option<Vec<String>> {
        self.view.tracked(path)
    }

    fn has_own_daemon(&self, home: &Path) -> bool {
        self.view.has_own_daemon(home)
    }

    fn asks_loopback_itself(&self) -> bool {
        self.view.asks_loopback_itself()
    }

    fn text(&self, path: &Path) -> Reading {
        self.texts.of(path, |path| self.view.text(path))
    }
}

struct Answers<T>(Mutex<HashMap<PathBuf, T>>);

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Answers<T> {
    fn of(&self, path: &Path, ask: impl FnOnce(&Path) -> T) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known.get(path) {
            return answer.clone();
        }
        let answer = ask(path);
        known.insert(path.to_owned(), answer.clone());
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::MadeUp;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Counting(MadeUp, AtomicU32);

    impl Counting {
        fn count(&self) -> &MadeUp {
            self.1.fetch_add(1, Ordering::Relaxed);
            &self.0
        }
    }

    impl PathView for Counting {
        fn link(&self, path: &Path) -> Option<PathBuf> {
            self.count().link(path)
        }
        fn exists(&self, path: &Path) -> bool {
            self.count().exists(path)
        }
        fn is_folder(&self, path: &Path) -> bool {
            self.count().is_folder(path)
        }
        fn names(&self, folder: &Path) -> Option<Vec<String>> {
            self.count().names(folder)
        }
        fn text(&self, path: &Path) -> Reading {
            self.count().text(path)
        }
        fn tracked(&self, folder: &Path) -> Option<Vec<String>> {
            self.count().tracked(folder)
        }
        fn has_own_daemon(&self, home: &Path) -> bool {
            self.count().has_own_daemon(home)
        }
    }

    #[test]
    fn each_path_is_asked_for_once_and_answered_alike() {
        let root = Path::new("/w");
        let made_up = MadeUp::new(root, [("l", "a")], ["a/b"]).with_texts([("c", "text")]);
        let view = Counting(made_up.clone(), AtomicU32::new(0));
        let kept = Remembered::new(&view);
        for path in ["l", "a", "a/b", "c", "none"].map(|path| root.join(path)) {
            for _ in 0..3 {
                assert_eq!(kept.link(&path), made_up.link(&path));
                assert_eq!(kept.exists(&path), made_up.exists(&path));
                assert_eq!(kept.is_folder(&path), made_up.is_folder(&path));
                assert_eq!(kept.text(&path), made_up.text(&path));
            }
        }
        assert_eq!(view.1.load(Ordering::Relaxed), 5 * 4);
    }
}
