//! The floor: what no rule, no passphrase and no approval lifts. Protected files, secrets, and programs that
//! drive programmator or another agent. The lists are data (`floor.yaml`); the person's own policy adds to them.

use crate::domain::verdict::Verdict;
use crate::policy::built_in::BuiltIn;
use crate::policy::credentials;
use crate::policy::glob::{Parts, PathPattern, is_of_kind, name_matches};
use crate::policy::place::{Place, Reading, Step, Walked};
use crate::policy::unit::{Class, Doubt, Program, Target, Unit};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The lists of the floor.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    #[serde(deserialize_with = "patterns")]
    protect: Vec<PathPattern>,
    #[serde(deserialize_with = "patterns")]
    orders: Vec<PathPattern>,
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

static BUILT_IN: LazyLock<BuiltIn<Floor>> = LazyLock::new(|| BuiltIn::read("floor.yaml", include_str!("floor.yaml")));

/// Why the lists cannot be used.
pub fn fault() -> Option<&'static str> {
    BUILT_IN.fault.as_deref()
}

/// How far a tree is looked through for secrets, in names. Beyond it is unknown what is there.
const MAX_NAMES: usize = 4000;
/// Folders of what others made: large, and no place for the person's secrets.
const MADE: [&str; 4] = [".git", "node_modules", "target", ".venv"];

impl Floor {
    pub fn built_in() -> Self {
        Self::of_built_in().clone()
    }

    /// The floor that is built in, without a copy.
    pub fn of_built_in() -> &'static Self {
        &BUILT_IN
    }

    pub fn raise(&mut self, changes: &Changes) {
        self.protect.extend(changes.protect.iter().map(|text| PathPattern::new(text)));
        self.secrets.extend(changes.secrets.iter().map(|text| PathPattern::new(text)));
    }

    /// Takes away what the person's own policy takes away.
    pub fn lower(&mut self, changes: &Changes) {
        self.protect.retain(|pattern| !changes.unprotect.contains(&pattern.text));
    }

    /// Puts on a unit what the floor has against it, or what it cannot know. Where the policy asks by default, so does a
    /// write to the system's temporary folders.
    pub fn judge(&self, unit: &mut Unit, place: &Place<'_>, default: Verdict) {
        if unit.floor.is_some() {
            return;
        }
        if let Program::Named(name) | Program::Path(name) = &unit.program
            && let Some(driver) = self.drives(name).or_else(|| self.driven_by(name, unit))
        {
            let why = format!("{driver} controls programmator, another agent or another terminal");
            unit.floor = Some(why);
            return;
        }
        unit.floor = unit.writes.iter().find_map(|target| self.write_refused(target, unit.tree, place, default));
        let mut below = unit.below.iter();
        unit.floor =
            unit.floor.take().or_else(|| below.find_map(|target| self.write_refused(target, false, place, default)));
        let mut written = unit.writes.iter().chain(&unit.below).filter_map(Target::path);
        if let Some(path) = written.find(|path| !place.is_ours(path)) {
            let why =
                format!("writes {}, outside the working directory: temporary files belong in $TMPDIR", path.display());
            unit.doubts.push(Doubt::Words(why));
        }
        if let Some(path) =
            unit.writes.iter().chain(&unit.below).filter_map(Target::path).find(|path| self.orders(path, place))
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            unit.doubts.push(Doubt::Words(format!("{name} contains instructions for Claude")));
        }
        if let Some(path) = unit.moves.iter().filter_map(Target::path).find(|path| self.is_secret(path, place)) {
            unit.floor.get_or_insert(format!("renames {}, which is secret", path.display()));
        }
        let mut given = unit.given.iter().filter_map(Target::path);
        // What changes the history alone hands nothing on; what it is given it may write.
        let (network, history) = (unit.classes.contains(&Class::Network), unit.classes.contains(&Class::History));
        let refused = given.find_map(|path| {
            let inside = path.starts_with(place.workspace);
            if (network || !history) && self.is_secret(path, place) {
                Some(if path.ends_with("fd/63") && unit.text.contains("<(") {
                    "is given the output of another command, which cannot be checked: save it to a file first"
                        .to_owned()
                } else {
                    format!("may read {}, which is secret", path.display())
                })
            } else if (network || history) && inside && self.protects(path, place).is_some() {
                Some(format!("may write {}, which is protected", path.display()))
            } else {
                None
            }
        });
        if let Some(why) = refused {
            unit.floor.get_or_insert(why);
        }
        let paths: BTreeSet<&PathBuf> = unit.reads.iter().filter_map(Target::path).collect();
        for path in paths {
            if self.is_secret(path, place) {
                unit.floor.get_or_insert(format!("reads {}, which is secret", path.display()));
            } else if unit.tree {
                match self.look_below(path, unit, place) {
                    Below::Clean => {}
                    Below::Secret(secret) => {
                        let (tree, secret) = (path.display(), secret.display());
                        let why = format!(
                            "reads all of {tree}, which contains {secret}, a secret: name a smaller folder, or leave the \
                             file out (grep --exclude=NAME)"
                        );
                        unit.floor.get_or_insert(why);
                    }
                    Below::TooMuch => unit.doubts.push(Doubt::Words(format!(
                        "{} has too many files to check for secrets: name a smaller folder",
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
        const STARTERS: [&str; 19] = [
            "npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx", "pipx", "pkill", "killall", "nohup", "setsid", "node",
            "nodejs", "bun", "deno", "tsx", "python", "python3",
        ];
        let starts = STARTERS.contains(&name);
        let words = unit.args.iter().filter(|_| starts).filter_map(|field| field.text());
        words
            .filter(|word| !word.starts_with('-'))
            .find(|word| self.drives(word).is_some() || word.contains("claude-code") || word.contains("@openai/codex"))
    }

    fn write_refused(&self, target: &Target, tree: bool, place: &Place<'_>, default: Verdict) -> Option<String> {
        let Target::Path(path) = target else {
            return Some("cannot tell which file is written, and it may be protected: name it".to_owned());
        };
        let asks = default == Verdict::Ask && is_temporary(path, place);
        if !place.is_ours(path) && !asks {
            return Some(format!("writes {}, outside the working directory", path.display()));
        }
        if self.protects(path, place).is_some() {
            return Some(format!("writes {}, which is protected", path.display()));
        }
        if tree && self.holds_protected(path, place) {
            return Some(format!("changes {}, which contains protected files", path.display()));
        }
        None
    }

    /// The pattern that protects a file of the workspace: of its path from there, or of its whole path.
    pub fn protects(&self, path: &Path, place: &Place<'_>) -> Option<&str> {
        let home = Parts::of(place.home);
        let inside = path.strip_prefix(place.workspace).unwrap_or(path);
        let (inside, whole) = (Parts::of(inside), Parts::of(path));
        let mut patterns = self.protect.iter();
        let found = patterns.find(|pattern| pattern.matches(&home, &inside) || pattern.matches(&home, &whole));
        let found = found.or_else(|| self.kept().find(|pattern| pattern.matches(&home, &whole)));
        found.map(|pattern| pattern.text.as_str())
    }

    /// Secrets that have a place of their own, which is not the project's to write to. One that is known by its name
    /// alone (`.env`) may be the project's own.
    fn kept(&self) -> impl Iterator<Item = &PathPattern> {
        self.secrets.iter().filter(|pattern| pattern.name_anywhere().is_none())
    }

    /// Whether something protected stands in a folder that is changed as a whole: at its place, however deep, or directly
    /// in it by its name.
    fn holds_protected(&self, path: &Path, place: &Place<'_>) -> bool {
        let home = Parts::of(place.home);
        let inside = path.strip_prefix(place.workspace).unwrap_or(path);
        let (inside, whole) = (Parts::of(inside), Parts::of(path));
        let below = |pattern: &PathPattern| match pattern.name_anywhere() {
            Some(name) => place.view.exists(&path.join(name)),
            None => pattern.may_be_below(&home, &inside) || pattern.may_be_below(&home, &whole),
        };
        path == place.workspace
            || self.protect.iter().any(below)
            || self.kept().any(|pattern| pattern.may_be_below(&home, &whole))
    }

    /// Whether a file tells an agent what to do.
    pub fn orders(&self, path: &Path, place: &Place<'_>) -> bool {
        let (home, path) = (Parts::of(place.home), Parts::of(path));
        self.orders.iter().any(|pattern| pattern.matches(&home, &path))
    }

    /// Whether the content of a file is secret.
    pub fn is_secret(&self, path: &Path, place: &Place<'_>) -> bool {
        if let Some(told) = Self::tells(path, place) {
            return told;
        }
        let (home, path) = (Parts::of(place.home), Parts::of(path));
        let matches = |pattern: &PathPattern| pattern.matches(&home, &path);
        self.secrets.iter().any(matches) && !self.samples.iter().any(matches)
    }

    /// Whether what a file says now makes a secret of it, or none: settings of npm, which mostly hold none, and of git.
    fn tells(path: &Path, place: &Place<'_>) -> Option<bool> {
        let inside = path.starts_with(place.workspace);
        let named = path.file_name().is_some_and(|name| name == "config" || name == "config.worktree");
        let is_persons = [".gitconfig", ".config/git/config"].iter().any(|name| path == place.home.join(name));
        let is_gits = named && path.iter().any(|part| part == ".git") || is_persons;
        if inside && path.ends_with(".npmrc") {
            return credentials::is_plain_npmrc(path, place).then_some(false);
        }
        match place.view.text(path) {
            Reading::Text(text) if is_gits => credentials::are_in(&text).then_some(true),
            _ => None,
        }
    }

    /// Whether a pattern of git's is after files that are secret by their names.
    pub fn is_sought(&self, pattern: &str) -> bool {
        const ENDS: [&str; 4] = ["x", "local", "production", "development"];
        let name = pattern.rsplit('/').next().unwrap_or(pattern).to_lowercase();
        let head = |name: &str| name.split(['*', '?', '[', '\\']).next().unwrap_or("").to_owned();
        let begins = head(&name);
        if name.chars().all(|char| char == '*') {
            return false;
        }
        self.secrets.iter().filter_map(PathPattern::name_anywhere).any(|secret| {
            let hidden = begins.starts_with('.') && begins.len() > 1 && begins.len() < name.len();
            let overlaps = head(secret).starts_with(&begins) || begins.starts_with(&format!("{}.", head(secret)));
            (hidden && overlaps) || ENDS.iter().any(|end| name_matches(&name, &secret.replace('*', end)))
        })
    }

    fn look_below(&self, folder: &Path, unit: &Unit, place: &Place<'_>) -> Below {
        let home = Parts::of(place.home);
        let elsewhere = |folder: &Path| {
            let folder = Parts::of(folder);
            let mut patterns = self.secrets.iter().filter(|pattern| pattern.name_anywhere().is_none());
            patterns.find(|pattern| pattern.may_be_below(&home, &folder)).map(|pattern| PathBuf::from(&pattern.text))
        };
        if let Some(secret) = elsewhere(folder) {
            return Below::Secret(secret);
        }
        let names: Vec<&str> = self.secrets.iter().filter_map(PathPattern::name_anywhere).collect();
        let mut found = None;
        let mut visit = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let target = place.view.link(path).map(|_| place.resolve(path, "."));
            let is_folder = place.view.is_folder(target.iter().flatten().next().map_or(path, PathBuf::as_path));
            // Folders are gone through whatever their names.
            let spelled = path.file_name().unwrap_or_default().to_string_lossy();
            let is_left_out = |patterns: &[String]| patterns.iter().any(|pattern| name_matches(pattern, &spelled));
            if is_left_out(if is_folder { &unit.past } else { &unit.except }) {
                return Step::Past;
            }
            if !is_folder && !is_of_kind(path, &unit.only) {
                return Step::Past;
            }
            let known = name == "config" || names.iter().any(|pattern| name_matches(pattern, &name));
            if known && self.is_secret(path, place) {
                found = Some(path.to_owned());
            } else if name == ".git" && Self::tells(&path.join("config"), place) == Some(true) {
                found = Some(path.join("config"));
            } else if let Some(target) = target.as_ref().and_then(Option::as_ref).filter(|_| unit.follows) {
                found = if self.is_secret(target, place) { Some(target.clone()) } else { elsewhere(target) };
            }
            match path {
                _ if found.is_some() => Step::Stop,
                _ if MADE.contains(&&*name) || (!unit.follows && target.is_some()) => Step::Past,
                _ => Step::Down,
            }
        };
        let walked = place.walk(folder, MAX_NAMES, &mut visit);
        match (found, walked) {
            (Some(secret), _) => Below::Secret(secret),
            (None, Walked::TooMuch) => Below::TooMuch,
            (None, Walked::Whole | Walked::Stopped) => Below::Clean,
        }
    }
}

/// Whether a path is one of the system's folders for temporary files: writing there asks. No folder around the workspace
/// or the scratch folder is.
fn is_temporary(path: &Path, place: &Place<'_>) -> bool {
    const FOLDERS: [&str; 4] = ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp"];
    let around = |inner: &Path| inner.starts_with(path);
    FOLDERS.iter().any(|folder| path.starts_with(folder) && path != Path::new(folder))
        && !around(place.workspace)
        && !around(place.home)
        && !place.view.scratch().is_some_and(around)
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
    use crate::domain::profile::Profile;
    use crate::policy::engine::Policy;
    use crate::policy::place::MadeUp;
    use serde_json::json;

    #[test]
    fn what_is_programmators_own_and_the_persons_keys_are_not_written_to_in_a_workspace_that_holds_them() {
        let home = Path::new("/home/d[e]v");
        let files =
            [".config/programmator/policy.yaml", ".config/other", ".ssh/id_rsa", "src/deep/down/own/x", "src/a.rs"];
        let view = MadeUp::new(home, [], files);
        let place = Place { workspace: home, cwd: home, home, user: "dev", view: &view };
        let own = home.join("src/deep/down/own");
        let policy = Policy::of(Profile::Trusted).guarding(&[home.join("state/programmator"), own]);
        let verdict = |command: &str| policy.decide("Bash", &json!({ "command": command }), &place).verdict;
        for command in [
            "echo x > .config/programmator/policy.yaml",
            "echo x > .config/programmator/config.yaml",
            "rm -f .config/programmator/policy.yaml",
            "touch .local/state/programmator/programmator.db",
            "touch state/programmator/x",
            "mv .config .c2",
            "rm -r src",
            "mv src/deep elsewhere",
            "touch src/deep/down/own/x",
            "touch .ssh/authorized_keys",
            "touch .aws/config",
        ] {
            assert_eq!(verdict(command), Verdict::Block, "{command}");
        }
        for command in ["touch .config/other", "mv src/a.rs src/b.rs", "touch .env", "touch src/key.pem"] {
            assert_eq!(verdict(command), Verdict::Allow, "{command}");
        }
    }
}
