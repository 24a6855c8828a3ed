//! Where a call would act: the workspace, the person's home, and a view of the paths there. The view is a trait:
//! the real one lives in `adapters`, a made-up one below serves rules' examples and test cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// What a small text file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    Missing,
    Text(String),
    /// Nobody knows: it is too long, no file, or may not be read.
    Unreadable,
}

/// What the engine may know of the file system. All paths are absolute. Nothing is changed, and nothing opened but
/// git's own files.
pub trait PathView: Sync {
    /// Where the symbolic link at exactly this path points to, as written in it.
    fn link(&self, path: &Path) -> Option<PathBuf>;
    fn exists(&self, path: &Path) -> bool;
    /// Whether a folder is there, through links.
    fn is_folder(&self, path: &Path) -> bool;
    /// The names in a folder; `None` when they cannot be known.
    fn names(&self, folder: &Path) -> Option<Vec<String>>;
    /// What a small file says; only settings of git and npm are asked for.
    fn text(&self, path: &Path) -> Reading;
    /// The files at a path or below it that git tracks, there or not, from the path: a file itself has the empty name.
    /// `None` when they cannot be known.
    fn tracked(&self, path: &Path) -> Option<Vec<String>>;
    /// Whether docker asks the daemon of this machine.
    fn has_own_daemon(&self, home: &Path) -> bool;
    /// Whether a request to this machine goes there, and not to a proxy that the environment names.
    fn asks_loopback_itself(&self) -> bool {
        true
    }
    /// The run's own folder for temporary files, with links resolved. It is what `$TMPDIR` says.
    fn scratch(&self) -> Option<&Path> {
        None
    }

    /// Whether Claude may write its plans, which lie in the person's own folder.
    fn may_plan(&self) -> bool {
        true
    }
}

/// Where a call would act.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The folder that may be written to, with links resolved.
    pub workspace: &'a Path,
    /// The folder that the call starts in.
    pub cwd: &'a Path,
    pub home: &'a Path,
    pub user: &'a str,
    pub view: &'a dyn PathView,
}

/// Longest chain of links that is followed; Linux has the same limit.
const MAX_LINKS: usize = 40;

impl Place<'_> {
    /// Whether files may be made, changed and deleted there: in the workspace, and below the run's scratch folder.
    pub fn is_ours(&self, path: &Path) -> bool {
        path.starts_with(self.workspace) || self.is_scratch(path)
    }

    /// Whether a path is below the run's scratch folder. The folder itself stays as it was made.
    pub fn is_scratch(&self, path: &Path) -> bool {
        self.view.scratch().is_some_and(|scratch| path != scratch && path.starts_with(scratch))
    }

    /// Resolves a path as the kernel would: component by component, each link where it stands. `None` for loops,
    /// and for texts that are no path.
    pub fn resolve(&self, from: &Path, path: &str) -> Option<PathBuf> {
        if path.is_empty() || path.contains(['\0', '\n']) {
            return None;
        }
        let mut left: Vec<PathBuf> = parts(&from.join(path)).rev().collect();
        let mut resolved = PathBuf::from("/");
        let mut links = 0;
        while let Some(part) = left.pop() {
            if part == Path::new("..") {
                resolved.pop();
                continue;
            }
            let next = resolved.join(&part);
            let Some(target) = self.view.link(&next) else {
                resolved = next;
                continue;
            };
            links += 1;
            if links > MAX_LINKS {
                return None;
            }
            if target.is_absolute() {
                resolved = PathBuf::from("/");
            }
            left.extend(parts(&target).rev());
        }
        Some(resolved)
    }
}

/// Where a walk goes on from a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into it, when it is a folder or a link to one.
    Down,
    Past,
    /// Nowhere.
    Stop,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walked {
    Whole,
    Stopped,
    /// There is more than was to be looked at, or a folder's names are not known.
    TooMuch,
}

impl Place<'_> {
    /// Walks over what is below a folder, at most so many names.
    pub fn walk(&self, folder: &Path, most: usize, visit: &mut dyn FnMut(&Path) -> Step) -> Walked {
        let mut left = vec![folder.to_owned()];
        let mut been = BTreeSet::new();
        let mut seen = 0;
        while let Some(folder) = left.pop() {
            if !been.insert(folder.clone()) {
                continue;
            }
            let Some(names) = self.view.names(&folder) else {
                if self.view.is_folder(&folder) {
                    return Walked::TooMuch;
                }
                continue;
            };
            for name in names {
                seen += 1;
                if seen > most {
                    return Walked::TooMuch;
                }
                match visit(&folder.join(&name)) {
                    Step::Stop => return Walked::Stopped,
                    Step::Past => {}
                    Step::Down => left.extend(self.resolve(&folder, &name).filter(|path| self.view.is_folder(path))),
                }
            }
        }
        Walked::Whole
    }
}

/// The names of a path; `.` and the root are none.
fn parts(path: &Path) -> impl DoubleEndedIterator<Item = PathBuf> {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(PathBuf::from(name)),
        Component::ParentDir => Some(PathBuf::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    })
}

/// A file system made of words.
#[derive(Clone, Debug, Default)]
pub struct MadeUp {
    links: BTreeMap<PathBuf, PathBuf>,
    files: BTreeSet<PathBuf>,
    texts: BTreeMap<PathBuf, String>,
    tracked: BTreeSet<PathBuf>,
    daemon_elsewhere: bool,
    behind_proxy: bool,
    root: PathBuf,
}

impl MadeUp {
    /// A workspace with these links (path → target) and files, absolute or from the root of the workspace.
    pub fn new<'a>(
        root: &Path,
        links: impl IntoIterator<Item = (&'a str, &'a str)>,
        files: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self {
            links: links.into_iter().map(|(path, target)| (root.join(path), PathBuf::from(target))).collect(),
            files: files.into_iter().map(|path| root.join(path)).collect(),
            root: root.to_owned(),
            ..Self::default()
        }
    }

    /// Where git tracks these files, there or not.
    #[must_use]
    pub fn with_tracked<'a>(mut self, files: impl IntoIterator<Item = &'a str>) -> Self {
        self.tracked = files.into_iter().map(|path| self.root.join(path)).collect();
        self
    }

    /// Where docker asks the daemon of another machine.
    #[must_use]
    pub fn with_daemon_elsewhere(self) -> Self {
        Self { daemon_elsewhere: true, ..self }
    }

    /// Where a proxy is asked for what is on this machine, too.
    #[must_use]
    pub fn with_proxy(self) -> Self {
        Self { behind_proxy: true, ..self }
    }

    /// With these files, too, and what they say.
    #[must_use]
    pub fn with_texts<'a>(mut self, texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        for (path, text) in texts {
            let path = self.root.join(path);
            self.files.insert(path.clone());
            self.texts.insert(path, text.to_owned());
        }
        self
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(self.links.keys())
    }
}

impl PathView for MadeUp {
    fn link(&self, path: &Path) -> Option<PathBuf> {
        self.links.get(path).cloned()
    }

    fn exists(&self, path: &Path) -> bool {
        self.all().any(|known| known.starts_with(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        path == self.root || self.all().any(|known| known != path && known.starts_with(path))
    }

    /// Everything in the workspace is known; nothing elsewhere.
    fn names(&self, folder: &Path) -> Option<Vec<String>> {
        if !folder.starts_with(&self.root) {
            return None;
        }
        let name = |path: &PathBuf| {
            let first = path.strip_prefix(folder).ok()?.components().next()?;
            Some(first.as_os_str().to_string_lossy().into_owned())
        };
        let names: BTreeSet<String> = self.all().filter_map(name).collect();
        Some(names.into_iter().collect())
    }

    /// A file without words is empty.
    fn text(&self, path: &Path) -> Reading {
        match self.texts.get(path) {
            Some(text) => Reading::Text(text.clone()),
            None if self.files.contains(path) => Reading::Text(String::new()),
            None => Reading::Missing,
        }
    }

    fn tracked(&self, path: &Path) -> Option<Vec<String>> {
        let below = self.tracked.iter().filter_map(|file| file.strip_prefix(path).ok());
        Some(below.map(|file| file.to_string_lossy().into_owned()).collect())
    }

    fn has_own_daemon(&self, _: &Path) -> bool {
        !self.daemon_elsewhere
    }

    fn asks_loopback_itself(&self) -> bool {
        !self.behind_proxy
    }
}
