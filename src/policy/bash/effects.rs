//! What a command's words do to files, and what the units of one script do to each other.

use super::walker::Walker;
use crate::policy::commands::Lists;
use crate::policy::commands::args::Parsed;
use crate::policy::commands::grammar::Role;
use crate::policy::commands::project;
use crate::policy::place::{Step, Walked};
use crate::policy::unit::{Class, Doubt, Field, Names, Program, Target, Unit, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Walker<'_> {
    /// The file is read.
    pub(super) fn reads(&self, field: &Field, unit: &mut Unit) {
        if let Value::Names { names, .. } = &field.value {
            return reads_all(names, unit);
        }
        let Some(texts) = field.texts() else {
            unit.reads.push(Target::Unknown);
            unit.given.extend(self.given(std::slice::from_ref(field)));
            // What is in a secret folder is secret, whatever its name.
            if let Value::Opaque { prefix } = &field.value
                && let Some((folder, _)) = prefix.rsplit_once('/')
            {
                unit.reads.extend(self.targets(&format!("{folder}/")).into_iter().flatten().map(Target::Path));
            }
            return unit.doubts.push(Doubt::Words("cannot tell which file is read".to_owned()));
        };
        for text in texts {
            match device(text) {
                Device::Dash if unit.program != Program::Redirect => continue,
                Device::Stream => continue,
                Device::Network => {
                    unit.classes.insert(Class::Network);
                    continue;
                }
                Device::None | Device::Dash | Device::Other => {}
            }
            if let Some(targets) = self.targets(text) {
                if targets.iter().any(|target| target.starts_with("/dev")) {
                    unit.doubts.push(Doubt::Words(format!("{text} is a device")));
                }
                unit.reads.extend(targets.into_iter().map(Target::Path));
            } else {
                let may_be = self.shell.seen().iter().filter_map(|folder| self.place.resolve(folder, text));
                unit.reads.extend(may_be.map(Target::Path));
                unit.reads.push(Target::Unknown);
                unit.doubts.push(Doubt::Words(format!("cannot tell where {text} is read")));
            }
        }
    }

    /// The file is made, changed or deleted.
    pub(super) fn writes(&self, field: &Field, unit: &mut Unit) {
        let opens = |names: &[&str]| unit.program.name().is_some_and(|name| names.contains(&name));
        // Any other command would change or replace the device itself.
        let streams = opens(&["redirect", "tee", "dd", "sort", "shuf", "uniq", "curl", "wget"]);
        let dash = opens(&["sort", "shuf", "uniq", "curl", "wget"]);
        let mut write = |target| {
            if !unit.classes.contains(&Class::Delete) {
                unit.classes.insert(Class::Write);
            }
            unit.writes.push(target);
        };
        if let Value::Names { names, .. } = &field.value {
            names.roots.iter().cloned().for_each(&mut write);
            unit.tree = true;
            if unit.classes.contains(&Class::Delete) {
                unit.doubts.push(Doubt::Words("cannot tell which files are deleted".to_owned()));
            }
            return;
        }
        let Some(texts) = field.texts() else { return write(Target::Unknown) };
        for text in texts {
            match device(text) {
                Device::Stream if streams => {}
                Device::Dash if dash => {}
                Device::None | Device::Dash => match self.targets(text) {
                    Some(targets) => targets.into_iter().map(Target::Path).for_each(&mut write),
                    None => write(Target::Unknown),
                },
                Device::Stream | Device::Network | Device::Other => write(Target::Path(PathBuf::from(text))),
            }
        }
        if texts.iter().any(|text| device(text) == Device::Network) {
            unit.classes.insert(Class::Network);
        }
    }

    /// Files that words may name which are not understood: operands, `@file`, `--file=f`, `host:f`, and what a variable
    /// may hold.
    pub(super) fn given(&self, words: &[Field]) -> Vec<Target> {
        let texts = words.iter().flat_map(|word| word.texts().unwrap_or(&word.might));
        let local = |text: &&String| {
            !text.contains(char::is_whitespace) && (!text.contains("://") || text.starts_with("file:"))
        };
        let anywhere =
            |path: &str| self.shell.seen().iter().filter_map(|from| self.place.resolve(from, path)).collect();
        let paths = texts.filter(local).flat_map(|text| project::paths(text));
        paths.flat_map(|path| self.targets(path).unwrap_or_else(|| anywhere(path))).map(Target::Path).collect()
    }

    /// Names of files there are printed.
    pub(super) fn shows(&self, field: &Field, unit: &mut Unit) {
        if let Value::Names { names, .. } = &field.value {
            unit.names.roots.extend(names.roots.iter().cloned());
            unit.names.hidden |= names.hidden;
            return;
        }
        let targets =
            field.texts().map(|texts| texts.iter().map(|text| self.targets(text)).collect::<Option<Vec<_>>>());
        if let Some(targets) = targets.flatten() {
            unit.names.roots.extend(targets.into_iter().flatten().map(Target::Path));
        } else {
            let texts = field.texts().unwrap_or_default();
            let may_be = self.shell.seen().iter().flat_map(|from| texts.iter().map(move |text| (from, text)));
            let may_be = may_be.filter_map(|(from, text)| self.place.resolve(from, text));
            unit.names.roots.extend(may_be.map(Target::Path));
            unit.names.roots.push(Target::Unknown);
        }
    }

    /// What is put into a folder stands there under its own name.
    pub(super) fn places(&self, parsed: &Parsed, unit: &mut Unit) {
        let named = parsed.values.iter().find(|(role, field)| *role == Role::Write && !parsed.operands.contains(field));
        let (sources, into) = match (named, parsed.operands.split_last()) {
            (Some((_, folder)), _) if parsed.flags.contains("target-directory") => (&parsed.operands[..], folder),
            (_, Some((last, sources))) => (sources, last),
            (_, None) => return,
        };
        let [Some(from), Some(to)] = [sources, std::slice::from_ref(into)]
            .map(|fields| fields.iter().map(Field::texts).collect::<Option<Vec<_>>>())
        else {
            return;
        };
        let (from, to) = (from.concat(), to.concat());
        for (text, folder) in
            to.iter().flat_map(|text| self.targets(text).into_iter().flatten().map(move |to| (text, to)))
        {
            let becomes =
                from.len() == 1 && named.is_none() && !text.ends_with('/') && !self.place.view.is_folder(&folder);
            for source in &from {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or("");
                let within = self.place.resolve(&folder, name);
                if becomes || parsed.flags.contains("no-target-directory") {
                    self.brings(source, &folder, unit);
                }
                if becomes {
                    continue;
                }
                if let Some(within) = &within {
                    self.brings(source, within, unit);
                }
                unit.writes.push(within.map_or(Target::Unknown, Target::Path));
            }
        }
        if unit.classes.iter().all(|class| *class != Class::Write) || unit.reads.is_empty() {
            let moved = from.iter().filter_map(|source| self.targets(source)).flatten();
            unit.moves.extend(moved.map(Target::Path));
        }
    }

    /// What is in a folder comes along with it.
    fn brings(&self, source: &str, to: &Path, unit: &mut Unit) {
        const MOST: usize = 4000;
        if !unit.tree {
            return;
        }
        for source in self.targets(source).into_iter().flatten() {
            let mut below = Vec::new();
            let walked = self.place.walk(&source, MOST, &mut |path| {
                let Ok(inside) = path.strip_prefix(&source) else { return Step::Past };
                below.push(Target::Path(to.join(inside)));
                let is_link = self.place.view.link(path).is_some();
                if is_link && unit.follows && self.place.view.is_folder(path) {
                    below.push(Target::Unknown);
                }
                let made = path.file_name().is_some_and(|name| name == "node_modules" || name == "target");
                if is_link || made { Step::Past } else { Step::Down }
            });
            unit.below.extend(below);
            if walked == Walked::TooMuch {
                let why = format!("{} has too many files to check for protected ones", source.display());
                unit.doubts.push(Doubt::Words(why));
            }
        }
    }

    /// The file may be read, as a revision of git or as it is.
    pub(super) fn revision(&self, field: &Field, unit: &mut Unit) {
        let Some(texts) = field.texts() else {
            return unit.doubts.push(Doubt::Words("cannot tell which revision or file is shown".to_owned()));
        };
        for text in texts {
            // `HEAD:src/a.rs` is from the root of the repository, `HEAD:./a.rs` from the folder. A revision may hold
            // colons of its own, and a path signs of magic: `:0:a`, `:(top)a`, `:!a`.
            let behind = text.match_indices(':').map(|(at, _)| {
                let path = text[at + 1..].trim_start_matches(['/', '!', '^']);
                path.strip_prefix('(').and_then(|magic| magic.split_once(')')).map_or(path, |(_, path)| path)
            });
            for path in std::iter::once(text.as_str()).chain(behind).filter(|path| !path.is_empty()) {
                let Some(targets) = self.targets(path) else {
                    unit.doubts.push(Doubt::Words(format!("cannot tell where {path} is read")));
                    continue;
                };
                if targets.iter().any(|target| !target.starts_with(self.place.workspace)) {
                    unit.doubts.push(Doubt::Words(format!("git reads {path} outside the working directory")));
                }
                unit.reads.extend(targets.into_iter().map(Target::Path));
            }
        }
    }

    /// Whether a move is of files alone, which are there or which the script itself writes, to a name that no link
    /// and no folder has.
    pub(super) fn moves_plain_files(&self, parsed: &Parsed) -> bool {
        let written = |path: &PathBuf| {
            let redirects = self.units.iter().filter(|unit| unit.program == Program::Redirect);
            redirects.flat_map(|unit| &unit.writes).any(|target| *target == Target::Path(path.clone()))
        };
        let Some((to, from)) = parsed.operands.split_last() else { return false };
        !parsed.flags.contains("target-directory")
            && self.are_plain(to, |_| true)
            && from.iter().all(|from| self.are_plain(from, |path| self.place.view.exists(path) || written(path)))
    }

    /// Whether a file is there, or the script itself writes it.
    pub(super) fn is_written_or_there(&self, path: &str) -> bool {
        let written = |path: &PathBuf| {
            self.units.iter().flat_map(|unit| &unit.writes).any(|target| *target == Target::Path(path.clone()))
        };
        let targets = self.targets(path);
        targets.is_some_and(|targets| targets.iter().all(|path| self.place.view.exists(path) || written(path)))
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
    None,
    /// A stream of the command's own, or nothing.
    Stream,
    /// `-`, which many commands take for a stream.
    Dash,
    Network,
    /// A terminal, a disk, a source without an end.
    Other,
}

fn device(path: &str) -> Device {
    let Some(name) = path.strip_prefix("/dev/") else {
        // gawk opens connections by such names.
        let inet = ["/inet/", "/inet4/", "/inet6/"].iter().any(|prefix| path.starts_with(prefix));
        return match path {
            "-" => Device::Dash,
            _ if inet => Device::Network,
            _ => Device::None,
        };
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
pub fn feed(stage: &[Unit], fed: Option<Arc<Names>>) -> Option<Arc<Names>> {
    let [unit] = stage else { return None };
    match unit.lists.filter(|_| unit.proven())? {
        Lists::Operands | Lists::Anything => Some(Arc::new(Names { only: unit.only.clone(), ..unit.names.clone() })),
        Lists::Lines => fed.filter(|names| names.zero == unit.names.zero),
    }
}

/// The files of these names are read.
fn reads_all(names: &Names, unit: &mut Unit) {
    if names.roots.contains(&Target::Unknown) {
        unit.doubts.push(Doubt::Words("cannot tell which file is read".to_owned()));
    }
    // What it goes down into by itself has names of any kind.
    if !unit.tree {
        unit.only.clone_from(&names.only);
    }
    unit.reads.extend(names.roots.iter().cloned());
    unit.names.hidden |= names.hidden;
    unit.tree |= names.hidden;
    unit.follows |= names.hidden;
}

/// Whether a unit may make a file whose name means more than itself to a command that is given it: one that begins with
/// a dash, or has a blank in it. The project's own commands do what the project does.
fn names_freely(unit: &Unit) -> bool {
    let plain = |target: &Target| {
        let name = target.path().and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
        let harmless = |char: char| char.is_alphanumeric() || "._-+@,:/".contains(char);
        name.is_some_and(|name| !name.starts_with('-') && name.chars().all(harmless))
    };
    let known = |class: &Class| matches!(class, Class::Read | Class::Internal | Class::Write | Class::Delete);
    let built = unit.proven() && unit.classes.iter().all(|class| *class == Class::Build);
    let makes = unit.classes.contains(&Class::Write);
    let plainly =
        unit.proven() && unit.classes.iter().all(known) && (!makes || !unit.tree && unit.writes.iter().all(plain));
    !built && !plainly
}

/// Whether a unit may change files.
pub fn changes(unit: &Unit) -> bool {
    !unit.proven() || !unit.classes.iter().all(|class| matches!(class, Class::Read | Class::Internal))
}

fn written(units: &[Unit]) -> Vec<Target> {
    units.iter().flat_map(|unit| unit.writes.iter().cloned()).collect()
}

/// Takes back what is only proven as long as nothing changes: patterns whose matches another unit may add to, and
/// paths that another unit may have put a link into.
pub fn distrust(units: &mut [Unit], fetched: &[Target], workspace: &Path, in_order: bool) {
    let outside = |unit: &Unit| unit.reads.iter().filter_map(Target::path).any(|path| !path.starts_with(workspace));
    let brought: Vec<Target> = if units.iter().any(outside) { written(units) } else { Vec::new() };
    let brought = if fetched.contains(&Target::Unknown) { written(units) } else { brought };
    let is_inside = |target: &Target| target.path().is_some_and(|path| path.starts_with(workspace));
    let may_be_built = fetched.contains(&Target::Unknown) && written(units).iter().any(is_inside);
    if may_be_built || fetched.iter().any(is_inside) {
        // A build may read any file of the workspace, and run it.
        for unit in units.iter_mut().filter(|unit| unit.classes.contains(&Class::Build)) {
            unit.doubts.push(Doubt::Words("what is built may come from outside the working directory".to_owned()));
        }
    }
    for unit in units.iter_mut().filter(|unit| unit.classes.contains(&Class::Run)) {
        if unit.reads.iter().any(|target| brought.contains(target) || fetched.contains(target)) {
            unit.doubts.push(Doubt::Words("what runs may come from outside the working directory".to_owned()));
        }
    }

    let changing = units.iter().filter(|unit| names_freely(unit)).count();
    let carried = units.iter().enumerate().filter(|(_, unit)| unit.carries);
    let carried: Vec<(usize, Target)> =
        carried.flat_map(|(at, unit)| unit.writes.iter().map(move |target| (at, target.clone()))).collect();
    for (at, unit) in units.iter_mut().enumerate() {
        if unit.listed && changing > usize::from(names_freely(unit)) {
            let why = "another command may create a file whose name is read as an option or as several words";
            unit.doubts.push(Doubt::Words(why.to_owned()));
        }
        // Where one command ends before the next begins, what comes later changes nothing for it.
        let mut others =
            carried.iter().filter(|(other, _)| *other != at && !(in_order && at < *other)).map(|(_, target)| target);
        let used: Vec<&Target> = unit.reads.iter().chain(&unit.writes).collect();
        let through = others.any(|place| {
            used.iter().any(|target| match (place, target) {
                (Target::Path(place), Target::Path(target)) => {
                    target.starts_with(place) || (unit.tree && place.starts_with(target))
                }
                (Target::Unknown, _) | (_, Target::Unknown) => true,
            })
        });
        if through {
            unit.doubts.push(Doubt::Words("another command moves files there, perhaps links".to_owned()));
        }
    }
}
