//! What a command's words do to files, and what the units of one script do to each other.

use super::walk::{Feed, Walker};
use crate::policy::commands::Lists;
use crate::policy::unit::{Class, Doubt, Field, Program, Target, Unit};
use std::path::{Path, PathBuf};

impl Walker<'_> {
    /// The file is read.
    pub(super) fn reads(&self, field: &Field, unit: &mut Unit) {
        let Some(texts) = field.texts() else {
            unit.reads.push(Target::Unknown);
            return unit.doubts.push(Doubt::Words("which file is read is not known".to_owned()));
        };
        for text in texts {
            match device(text) {
                Device::None => {}
                Device::Stream => continue,
                Device::Network => {
                    unit.classes.insert(Class::Network);
                    continue;
                }
                Device::Other => {
                    unit.doubts.push(Doubt::Words(format!("{text} is a device")));
                    continue;
                }
            }
            if let Some(targets) = self.targets(text) {
                unit.reads.extend(targets.into_iter().map(Target::Path));
            } else {
                let may_be = self.shell.seen().iter().filter_map(|folder| self.place.resolve(folder, text));
                unit.reads.extend(may_be.map(Target::Path));
                unit.reads.push(Target::Unknown);
                unit.doubts.push(Doubt::Words(format!("where {text} is read is not known")));
            }
        }
    }

    /// The file is made, changed or deleted.
    pub(super) fn writes(&self, field: &Field, unit: &mut Unit) {
        let mut write = |target| {
            if !unit.classes.contains(&Class::Delete) {
                unit.classes.insert(Class::Write);
            }
            unit.writes.push(target);
        };
        let Some(texts) = field.texts() else { return write(Target::Unknown) };
        for text in texts {
            match device(text) {
                Device::None => match self.targets(text) {
                    Some(targets) => targets.into_iter().map(Target::Path).for_each(&mut write),
                    None => write(Target::Unknown),
                },
                Device::Stream => {}
                Device::Network | Device::Other => write(Target::Path(PathBuf::from(text))),
            }
        }
        if texts.iter().any(|text| device(text) == Device::Network) {
            unit.classes.insert(Class::Network);
        }
    }

    /// The file may be read, as a revision of git or as it is.
    pub(super) fn revision(&self, field: &Field, unit: &mut Unit) {
        let Some(texts) = field.texts() else {
            return unit.doubts.push(Doubt::Words("which revision or file is shown is not known".to_owned()));
        };
        for text in texts {
            // `HEAD:src/a.rs` is from the root of the repository, `HEAD:./a.rs` from the folder.
            let inside = text.split_once(':').map_or("", |(_, path)| path);
            for path in [text.as_str(), inside].into_iter().filter(|path| !path.is_empty()) {
                let Some(targets) = self.targets(path) else {
                    unit.doubts.push(Doubt::Words(format!("where {path} is read is not known")));
                    continue;
                };
                if targets.iter().any(|target| !target.starts_with(self.place.workspace)) {
                    unit.doubts.push(Doubt::Words(format!("git reads {path} outside of the workspace")));
                }
                unit.reads.extend(targets.into_iter().map(Target::Path));
            }
        }
    }

    /// Whether a move is of files alone, which are there or which the script itself writes, to a name that no link
    /// and no folder has.
    pub(super) fn moves_plain_files(&self, operands: &[Field]) -> bool {
        let written = |path: &PathBuf| {
            let redirects = self.units.iter().filter(|unit| unit.program == Program::Redirect);
            redirects.flat_map(|unit| &unit.writes).any(|target| *target == Target::Path(path.clone()))
        };
        let Some((to, from)) = operands.split_last() else { return false };
        self.are_plain(to, |_| true)
            && from.iter().all(|from| self.are_plain(from, |path| self.place.view.exists(path) || written(path)))
    }

    /// Whether a word names neither a link nor a folder, wherever the shell is.
    fn are_plain(&self, field: &Field, also: impl Fn(&PathBuf) -> bool) -> bool {
        let plain = |text: &String| {
            let (folder, name) = text.rsplit_once('/').unwrap_or((".", text));
            let folder = if folder.is_empty() { "/" } else { folder };
            let named = !matches!(name, "" | "." | "..");
            named
                && self.targets(folder).is_some_and(|folders| {
                    let no_link =
                        |path: &PathBuf| self.place.view.link(path).is_none() && !self.place.view.is_folder(path);
                    folders.iter().map(|folder| folder.join(name)).all(|path| no_link(&path) && also(&path))
                })
        };
        field.texts().is_some_and(|texts| texts.iter().all(plain))
    }

    /// Where a path leads from each folder that the shell may be in. `None` when that is not known.
    pub(super) fn targets(&self, path: &str) -> Option<Vec<PathBuf>> {
        if path.starts_with('/') {
            return Some(vec![self.place.resolve(Path::new("/"), path)?]);
        }
        self.shell.folders()?.iter().map(|folder| self.place.resolve(folder, path)).collect()
    }
}

/// What a path of `/dev` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Device {
    /// No device.
    None,
    /// A stream of the command's own, or nothing.
    Stream,
    /// bash opens a connection.
    Network,
    /// A terminal, a disk, a source without an end.
    Other,
}

fn device(path: &str) -> Device {
    let Some(name) = path.strip_prefix("/dev/") else {
        return if path == "-" { Device::Stream } else { Device::None };
    };
    match name {
        "null" | "stdin" | "stdout" | "stderr" => Device::Stream,
        _ if name.strip_prefix("fd/").is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit())) => {
            Device::Stream
        }
        _ if name.starts_with("tcp/") || name.starts_with("udp/") => Device::Network,
        _ => Device::Other,
    }
}

/// What the last unit of a stage hands on through a pipe.
pub fn feed(stage: &[Unit], fed: Feed) -> Feed {
    match stage {
        [only] if only.proven() => match only.lists {
            Some(Lists::Operands) => Feed::Paths,
            Some(Lists::Anything) => Feed::AnyPaths,
            Some(Lists::Lines) => fed,
            None => Feed::Unknown,
        },
        _ => Feed::Unknown,
    }
}

/// Takes back what is only proven as long as nothing changes: patterns whose matches another unit may add to, and
/// paths that another unit may have put a link into.
pub fn distrust(units: &mut [Unit]) {
    let changes = |unit: &Unit| {
        !unit.proven() || !unit.classes.iter().all(|class| matches!(class, Class::Read | Class::Internal))
    };
    let changing = units.iter().filter(|unit| changes(unit)).count();
    let carried = units.iter().enumerate().filter(|(_, unit)| unit.carries);
    let carried: Vec<(usize, Target)> =
        carried.flat_map(|(at, unit)| unit.writes.iter().map(move |target| (at, target.clone()))).collect();
    for (at, unit) in units.iter_mut().enumerate() {
        if unit.listed && changing > usize::from(changes(unit)) {
            let why = "another command may make a file whose name would be taken for an option";
            unit.doubts.push(Doubt::Words(why.to_owned()));
        }
        let mut others = carried.iter().filter(|(other, _)| *other != at).map(|(_, target)| target);
        let used: Vec<&Target> = unit.reads.iter().chain(&unit.writes).collect();
        let through = others.any(|place| {
            used.iter().any(|target| match (place, target) {
                (Target::Path(place), Target::Path(target)) => target.starts_with(place),
                (Target::Unknown, _) | (_, Target::Unknown) => true,
            })
        });
        if through {
            unit.doubts.push(Doubt::Words("another command moves files there, links among them".to_owned()));
        }
    }
}
