//! The floor: what no rule, no passphrase and no approval lifts. Protected files, secrets, and programs that
//! drive programmator or another agent. The lists are data (`floor.yaml`); the person's own policy adds to them.

use crate::policy::glob::{Parts, PathPattern, name_matches};
use crate::policy::place::Place;
use crate::policy::unit::{Doubt, Program, Target, Unit};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The lists of the floor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    #[serde(deserialize_with = "patterns")]
    protect: Vec<PathPattern>,
    #[serde(deserialize_with = "patterns")]
    secrets: Vec<PathPattern>,
    #[serde(deserialize_with = "patterns")]
    samples: Vec<PathPattern>,
    programs: Vec<String>,
}

fn patterns<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<PathPattern>, D::Error> {
    let texts: Vec<String> = Vec::deserialize(deserializer)?;
    Ok(texts.iter().map(|text| PathPattern::new(text)).collect())
}

/// What a policy adds to the floor, and what the person's own policy takes from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Changes {
    /// More patterns of paths that are not written to.
    pub protect: Vec<String>,
    /// More patterns of paths whose content is not read.
    pub secrets: Vec<String>,
    /// Patterns that are no longer protected, as they stand in the list.
    pub unprotect: Vec<String>,
}

static BUILT_IN: LazyLock<Floor> =
    LazyLock::new(|| serde_yaml::from_str(include_str!("floor.yaml")).unwrap_or_default());

/// How far a tree is looked through for secrets, in names. Beyond it is unknown what is there.
const MAX_NAMES: usize = 4000;
/// Folders of what others made: large, and no place for the person's secrets.
const MADE: [&str; 4] = [".git", "node_modules", "target", ".venv"];

impl Floor {
    /// The floor that is built in.
    pub fn built_in() -> Self {
        BUILT_IN.clone()
    }

    /// Whether the built-in list could be read; without it nothing may run.
    pub fn is_whole(&self) -> bool {
        !self.protect.is_empty() && !self.secrets.is_empty() && !self.programs.is_empty()
    }

    /// Adds what a policy adds.
    pub fn raise(&mut self, changes: &Changes) {
        self.protect.extend(changes.protect.iter().map(|text| PathPattern::new(text)));
        self.secrets.extend(changes.secrets.iter().map(|text| PathPattern::new(text)));
    }

    /// Takes away what the person's own policy takes away.
    pub fn lower(&mut self, changes: &Changes) {
        self.protect.retain(|pattern| !changes.unprotect.contains(&pattern.text));
    }

    /// Puts on a unit what the floor has against it, or what it cannot know.
    pub fn judge(&self, unit: &mut Unit, place: &Place<'_>) {
        if unit.floor.is_some() {
            return;
        }
        if let Program::Named(name) | Program::Path(name) = &unit.program
            && let Some(driver) = self.drives(name).or_else(|| self.driven_by(name, unit))
        {
            let why = format!("{driver} drives programmator, another agent or another terminal");
            unit.floor = Some(why);
            return;
        }
        unit.floor = unit.writes.iter().find_map(|target| self.write_refused(target, unit.tree, place));
        for target in &unit.reads {
            let Target::Path(path) = target else { continue };
            if self.is_secret(path, place) {
                unit.floor.get_or_insert(format!("reads {}, which is secret", path.display()));
            } else if unit.tree {
                match self.look_below(path, &unit.only, place) {
                    Below::Clean => {}
                    Below::Secret(secret) => {
                        let (tree, secret) = (path.display(), secret.display());
                        let why = format!("reads all of {tree}, and {secret} is secret: name a smaller folder");
                        unit.floor.get_or_insert(why);
                    }
                    Below::TooMuch => unit.doubts.push(Doubt::Words(format!(
                        "{} holds too many files to know that none is secret: name a smaller folder",
                        path.display()
                    ))),
                }
            }
        }
    }

    fn drives<'a>(&self, name: &'a str) -> Option<&'a str> {
        let base = name.rsplit('/').next().unwrap_or(name);
        self.programs.iter().any(|program| program == base).then_some(base)
    }

    /// `npx claude`, `pkill programmator`: a program that is given one of these as its operand.
    fn driven_by<'a>(&self, name: &str, unit: &'a Unit) -> Option<&'a str> {
        const STARTERS: [&str; 12] =
            ["npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx", "pipx", "pkill", "killall", "nohup", "setsid"];
        let starts = STARTERS.contains(&name);
        let words = unit.args.iter().filter(|_| starts).filter_map(|field| field.text());
        words
            .filter(|word| !word.starts_with('-'))
            .find(|word| self.drives(word).is_some() || word.contains("claude-code") || word.contains("@openai/codex"))
    }

    fn write_refused(&self, target: &Target, tree: bool, place: &Place<'_>) -> Option<String> {
        let Target::Path(path) = target else {
            return Some("what is written to is not known, so it may be protected: name the file".to_owned());
        };
        let Ok(inside) = path.strip_prefix(place.workspace) else {
            return Some(format!("writes {}, outside of the workspace", path.display()));
        };
        let inside = Path::new("/").join(inside);
        let home = Parts::of(place.home);
        let protects = |path: &Path| {
            let path = Parts::of(path);
            self.protect.iter().any(|pattern| pattern.matches(&home, &path))
        };
        // A pattern may be of the whole path, too: `~/notes/**`.
        if protects(&inside) || protects(path) {
            return Some(format!("writes {}, which is protected", path.display()));
        }
        if tree && self.holds_protected(path, place) {
            return Some(format!("changes {} with the protected files in it", path.display()));
        }
        None
    }

    /// Whether something protected stands directly in a folder that is changed as a whole.
    fn holds_protected(&self, path: &Path, place: &Place<'_>) -> bool {
        let mut names = self.protect.iter().filter_map(PathPattern::name_anywhere);
        path == place.workspace || names.any(|name| place.view.exists(&path.join(name)))
    }

    /// Whether the content of a file is secret.
    pub fn is_secret(&self, path: &Path, place: &Place<'_>) -> bool {
        let (home, path) = (Parts::of(place.home), Parts::of(path));
        let matches = |pattern: &PathPattern| pattern.matches(&home, &path);
        self.secrets.iter().any(matches) && !self.samples.iter().any(matches)
    }

    fn look_below(&self, folder: &Path, only: &[String], place: &Place<'_>) -> Below {
        let (home, here) = (Parts::of(place.home), Parts::of(folder));
        let anywhere = |pattern: &&PathPattern| pattern.text.contains("**/");
        if let Some(secret) =
            self.secrets.iter().filter(|pattern| !anywhere(pattern)).find(|pattern| pattern.fixed(&home).is_in(&here))
        {
            return Below::Secret(PathBuf::from(&secret.text));
        }
        let names: Vec<String> =
            self.secrets.iter().filter_map(PathPattern::name_anywhere).map(str::to_owned).collect();
        let mut left = vec![folder.to_owned()];
        let mut seen = 0;
        while let Some(folder) = left.pop() {
            for name in place.view.names(&folder).unwrap_or_default() {
                seen += 1;
                if seen > MAX_NAMES {
                    return Below::TooMuch;
                }
                let lower = name.to_lowercase();
                let path = folder.join(&name);
                let read = only.is_empty() || only.iter().any(|pattern| name_matches(pattern, &lower));
                // A folder of secrets is none of a kind of files.
                let read = read || place.view.is_folder(&path);
                if read && names.iter().any(|pattern| name_matches(pattern, &lower)) && self.is_secret(&path, place) {
                    return Below::Secret(path);
                }
                if !MADE.contains(&name.as_str()) && place.view.link(&path).is_none() && place.view.is_folder(&path) {
                    left.push(path);
                }
            }
        }
        Below::Clean
    }
}

/// What a folder holds.
enum Below {
    Clean,
    Secret(PathBuf),
    /// More than is looked at.
    TooMuch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_read() {
        assert!(Floor::built_in().is_whole());
    }
}
