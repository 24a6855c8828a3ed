//! The gate's engine: a call in, a decision out. A policy is a profile, the person's file before it, and a
//! project's file that can only tighten unless it is trusted. The same call, policy and place give the same
//! verdict; nothing is run, opened or changed.

use crate::base::hex::hex;
use crate::base::text::clean_line;
use crate::domain::profile::Profile;
use crate::domain::verdict::Verdict;
use crate::policy::call;
use crate::policy::floor::{Changes, Floor};
use crate::policy::glob::PathPattern;
use crate::policy::kind;
use crate::policy::place::Place;
use crate::policy::rules::file::{Author, PolicyError, RuleFile, read};
use crate::policy::rules::{Grant, Rule};
use crate::policy::tables;
use crate::policy::unit::{Class, Program, Unit};
use crate::policy::verdict::{Decision, Ruled};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Longest reason in a decision, in columns.
const REASON: usize = 500;
/// What stands for the rule where none is about a unit.
const DEFAULT: &str = "default";

impl Profile {
    /// Its file.
    pub fn text(self) -> &'static str {
        match self {
            Self::Strict => include_str!("profiles/strict.yaml"),
            Self::Guarded => include_str!("profiles/guarded.yaml"),
            Self::Trusted => include_str!("profiles/trusted.yaml"),
            Self::ReadOnly => include_str!("profiles/read_only.yaml"),
        }
    }
}

/// Whether the person trusts a project's policy as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Trusted,
    /// It may only make verdicts stricter.
    Untrusted,
}

/// A file of a policy, not yet read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub path: String,
    pub text: String,
}

/// What decides.
#[derive(Clone, Debug)]
pub struct Policy {
    /// In order of precedence; the last is the profile.
    layers: Vec<RuleFile>,
    /// Only makes verdicts stricter.
    tightening: Option<RuleFile>,
    /// What the profile does not allow is blocked, whatever other rules say.
    is_bound: bool,
    floor: Floor,
    broken: Option<PolicyError>,
    fingerprint: String,
}

impl Policy {
    pub fn of(profile: Profile) -> Self {
        Self::layered(profile, None, None)
    }

    /// A profile under the person's file and a project's. A file that cannot be read blocks everything, and
    /// `broken` says where it is wrong.
    pub fn layered(profile: Profile, user: Option<&Source>, project: Option<(&Source, Standing)>) -> Self {
        let mut policy = Self {
            layers: Vec::new(),
            tightening: None,
            is_bound: profile == Profile::ReadOnly,
            floor: Floor::built_in(),
            broken: table_fault(),
            fingerprint: fingerprint(profile, user, project),
        };
        let user = user.and_then(|source| policy.read(source, Author::Person));
        if let Some(user) = user {
            policy.floor.raise(&user.floor);
            policy.floor.lower(&user.floor);
            policy.layers.push(user);
        }
        if let Some((source, standing)) = project
            && let Some(file) = policy.read(source, Author::Person)
        {
            policy.floor.raise(&file.floor);
            match standing {
                Standing::Trusted => policy.layers.push(file),
                Standing::Untrusted => policy.tightening = Some(file),
            }
        }
        let built_in = Source { path: built_in_path(profile), text: profile.text().to_owned() };
        if let Some(file) = policy.read(&built_in, Author::Program) {
            policy.layers.push(file);
        }
        policy
    }

    /// One file alone, in the place of a profile: `policy check --policy`. Its default is block.
    pub fn alone(source: &Source) -> Self {
        let mut policy = Self {
            layers: Vec::new(),
            tightening: None,
            is_bound: false,
            floor: Floor::built_in(),
            broken: table_fault(),
            fingerprint: hex(&Sha256::digest(source.text.as_bytes())),
        };
        if let Some(file) = policy.read(source, Author::Person) {
            policy.floor.raise(&file.floor);
            policy.floor.lower(&file.floor);
            policy.layers.push(file);
        }
        policy
    }

    /// The same with more rules of the person's, before all others: YAML list items.
    #[must_use]
    pub fn with_first(mut self, rules: &str, author: Author) -> Self {
        let source = Source { path: "proposed".to_owned(), text: format!("version: 1\nrules:\n{rules}") };
        if let Some(file) = self.read(&source, author) {
            self.layers.insert(0, file);
        }
        self
    }

    /// A policy that blocks everything, and says why.
    pub fn unusable(error: PolicyError) -> Self {
        Self {
            layers: Vec::new(),
            tightening: None,
            is_bound: false,
            floor: Floor::built_in(),
            fingerprint: hex(&Sha256::digest(error.to_string().as_bytes())),
            broken: Some(error),
        }
    }

    fn read(&mut self, source: &Source, author: Author) -> Option<RuleFile> {
        let file = read(&source.path, &source.text, author);
        file.map_err(|error| self.broken.get_or_insert(error).clone()).ok()
    }

    /// What is wrong with it: then everything is blocked.
    pub fn broken(&self) -> Option<&PolicyError> {
        self.broken.as_ref()
    }

    /// SHA-256 of all its files, in hex. What a person grants is bound to it.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The same, bound to the folder that calls are judged for.
    pub fn fingerprint_in(&self, folder: &Path) -> String {
        let folder = folder.as_os_str().as_encoded_bytes();
        // Another version may mean more by the same words.
        let version = env!("CARGO_PKG_VERSION");
        let parts = Sha256::new().chain_update(&self.fingerprint).chain_update([0]).chain_update(folder);
        hex(&parts.chain_update([0]).chain_update(version).finalize())
    }

    /// Its rules in the order in which they are asked, each with its file.
    pub fn rules(&self) -> impl Iterator<Item = (&RuleFile, &Rule)> {
        self.tightening.iter().chain(&self.layers).flat_map(|file| file.rules.iter().map(move |rule| (file, rule)))
    }

    /// Its files in the order in which they are asked.
    pub fn files(&self) -> impl Iterator<Item = &RuleFile> {
        self.tightening.iter().chain(&self.layers)
    }

    /// Whether a file of it can only make verdicts stricter: a project's that is not trusted.
    pub fn only_tightens(&self, file: &RuleFile) -> bool {
        self.tightening.as_ref().is_some_and(|tightening| std::ptr::eq(tightening, file))
    }

    pub fn is_profile(&self, file: &RuleFile) -> bool {
        Profile::ALL.iter().copied().any(|profile| file.path == built_in_path(profile))
    }

    /// What is decided where no rule is about a unit, and the file that says so.
    pub fn default(&self) -> (Verdict, Option<&RuleFile>) {
        let said = self.layers.iter().find_map(|file| Some((file.default?, Some(file))));
        let said = said.unwrap_or((Verdict::Block, None));
        let tighter = self.tightening.as_ref().and_then(|file| Some((file.default?, Some(file))));
        tighter.filter(|(default, _)| *default > said.0).unwrap_or(said)
    }

    /// Keeps these folders from being read and written to: where programmator keeps its own.
    #[must_use]
    pub fn guarding(mut self, folders: &[PathBuf]) -> Self {
        let secrets = folders.iter().map(|folder| PathPattern::all_of(folder)).collect();
        self.floor.raise(&Changes { secrets, ..Changes::default() });
        self.protecting(folders)
    }

    /// Keeps these folders and files from being written to: where the tickets are.
    #[must_use]
    pub fn protecting(mut self, paths: &[PathBuf]) -> Self {
        let protect = paths.iter().map(|path| PathPattern::all_of(path)).collect();
        self.floor.raise(&Changes { protect, ..Changes::default() });
        self
    }

    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.rules().map(|(_, rule)| rule).find(|rule| rule.name == name)
    }

    /// What a right passphrase buys where this rule asks for it. A project that is not trusted sells nothing, and
    /// nothing under a name that it uses, too.
    pub fn grant_of(&self, name: &str) -> Option<&Grant> {
        let named = |file: &&RuleFile| file.rules.iter().any(|rule| rule.name == name);
        if self.tightening.iter().any(|file| named(&file)) {
            return None;
        }
        self.rule(name)?.grant.as_ref()
    }

    /// Judges a call of `tool` with `input`. Total: whatever it is, there is a decision.
    pub fn decide(&self, tool: &str, input: &Value, place: &Place<'_>) -> Decision {
        let mut units = call::units(tool, input, place);
        let (default, _) = self.default();
        for unit in &mut units {
            self.floor.judge(unit, place, default);
        }
        let moved = units.iter().any(|unit| matches!(&unit.program, Program::Named(name) if name == "cd"));
        let ruled: Vec<Ruled> = units.iter().map(|unit| self.rule_with_kind(unit, moved, place)).collect();
        Decision {
            verdict: ruled.iter().map(|ruled| ruled.verdict).max().unwrap_or(Verdict::Block),
            units: ruled,
            proven: units.iter().all(Unit::proven),
        }
    }

    fn rule_with_kind(&self, unit: &Unit, moved: bool, place: &Place<'_>) -> Ruled {
        let ruled = self.rule_on(unit, place);
        let kind = (ruled.verdict == Verdict::Ask).then(|| kind::of(unit, moved, place)).flatten();
        Ruled { kind, ..ruled }
    }

    fn rule_on(&self, unit: &Unit, place: &Place<'_>) -> Ruled {
        if let Some(error) = &self.broken {
            return ruled(unit, Verdict::Block, "policy", None, &format!("the policy cannot be used: {error}"));
        }
        if let Some(why) = &unit.floor {
            // A rule that blocks it anyway says more.
            let mut rules = self.layers.iter().flat_map(|file| &file.rules).filter(|_| unit.program != Program::Opaque);
            if let Some(rule) = rules.find(|rule| rule.action == Verdict::Block && rule.is_about(unit, place)) {
                return by_rule(unit, rule);
            }
            return ruled(unit, Verdict::Block, "floor", None, why);
        }
        let base = self.layered_verdict(unit, place);
        let tighter = self.tightening.iter().flat_map(|file| &file.rules).find(|rule| rule.is_about(unit, place));
        let ruling = match tighter {
            Some(rule) if rule.action > base.verdict => by_rule(unit, rule),
            _ => base,
        };
        let is_by_rule = ruling.verdict == Verdict::Block && ruling.rule != DEFAULT;
        if self.is_bound && !is_by_rule && !self.profile_allows(unit, place) {
            return ruled(unit, Verdict::Block, DEFAULT, None, doubt(unit).unwrap_or("only reads are allowed here"));
        }
        ruling
    }

    fn profile_allows(&self, unit: &Unit, place: &Place<'_>) -> bool {
        let mut rules = self.layers.last().into_iter().flat_map(|profile| &profile.rules);
        rules.find(|rule| rule.is_about(unit, place)).is_some_and(|rule| rule.action == Verdict::Allow)
    }

    fn layered_verdict(&self, unit: &Unit, place: &Place<'_>) -> Ruled {
        let mut rules = self.layers.iter().flat_map(|file| &file.rules);
        if let Some(rule) = rules.find(|rule| rule.is_about(unit, place)) {
            return by_rule(unit, rule);
        }
        let (default, _) = self.default();
        let reason = doubt(unit).unwrap_or("no rule matches");
        ruled(unit, default, DEFAULT, None, reason)
    }
}

/// Without one of the built-in tables nothing is decided.
fn table_fault() -> Option<PolicyError> {
    let message = tables::fault()?.to_owned();
    Some(PolicyError { path: "built-in table".to_owned(), line: 1, column: 1, message })
}

/// What stands for the path of a profile.
fn built_in_path(profile: Profile) -> String {
    format!("profile {}", profile.word())
}

fn by_rule(unit: &Unit, rule: &Rule) -> Ruled {
    let mut reason = rule.reason.clone().unwrap_or_default();
    if let Some(doubt) = doubt(unit).filter(|_| rule.action != Verdict::Allow) {
        let join = if reason.is_empty() { "" } else { ": " };
        let _ = write!(reason, "{join}{doubt}");
    }
    ruled(unit, rule.action, &rule.name, Some(rule.line), &reason)
}

fn ruled(unit: &Unit, verdict: Verdict, rule: &str, line: Option<u64>, reason: &str) -> Ruled {
    Ruled {
        text: unit.text.clone(),
        verdict,
        rule: rule.to_owned(),
        line,
        reason: clean_line(reason, REASON),
        reach: unit.classes.iter().map(|class| reach(*class)).max().unwrap_or(0),
        kind: None,
    }
}

/// How far a class reaches, beside the others.
fn reach(class: Class) -> u8 {
    match class {
        Class::Internal => 0,
        Class::Read => 1,
        Class::Write => 2,
        Class::Delete => 3,
        Class::Build => 4,
        Class::Run => 5,
        Class::Local => 6,
        Class::Commit => 7,
        Class::History => 8,
        Class::Network => 9,
    }
}

fn doubt(unit: &Unit) -> Option<&str> {
    unit.doubts.first().map(crate::policy::unit::Doubt::why)
}

fn fingerprint(profile: Profile, user: Option<&Source>, project: Option<(&Source, Standing)>) -> String {
    let mut hash = Sha256::new();
    let standing = match project {
        Some((_, Standing::Trusted)) => "trusted",
        Some((_, Standing::Untrusted)) => "untrusted",
        None => "none",
    };
    let texts =
        [profile.text(), user.map_or("", |user| &user.text), project.map_or("", |(file, _)| &file.text), standing];
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::MadeUp;
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn no_rule_of_anybodys_lets_more_than_reads_pass_where_only_reads_are_allowed() {
        let root = Path::new("/home/dev/proj");
        let view = MadeUp::new(root, [], []);
        let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
        let mine = Source {
            path: "p".into(),
            text: "version: 1\nrules:\n  - {name: mine, action: allow, effects: [read, write, delete, build, run]}\n"
                .into(),
        };
        let policy = Policy::layered(Profile::ReadOnly, Some(&mine), None);
        let free = Policy::layered(Profile::Trusted, Some(&mine), None);
        let of = |policy: &Policy, command: &str| {
            let decision = policy.decide("Bash", &json!({ "command": command }), &place);
            (decision.verdict, decision.units[0].reason.clone())
        };
        assert_eq!((policy.broken(), free.broken()), (None, None));
        for command in ["touch a", "cp a b", "rm a"] {
            assert_eq!(of(&policy, command).0, Verdict::Block, "{command}");
            assert_eq!(of(&free, command).0, Verdict::Allow, "{command}: the person's rules allow it elsewhere");
        }
        assert!(of(&policy, "touch a").1.contains("only reads"), "{}", of(&policy, "touch a").1);
        assert_eq!(of(&policy, "grep -rn x src | head").0, Verdict::Allow);
    }

    #[test]
    fn the_default_of_a_project_that_is_not_trusted_counts_where_it_is_stricter() {
        let root = Path::new("/home/dev/proj");
        let view = MadeUp::new(root, [], []);
        let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
        let file = |default: &str| Source { path: default.into(), text: format!("version: 1\ndefault: {default}\n") };
        let rules = "rules:\n  - {name: reads, action: allow, effects: [read]}\n";
        for (person, project, expected) in
            [("ask", "block", Verdict::Block), ("block", "ask", Verdict::Block), ("ask", "ask", Verdict::Ask)]
        {
            let person = Source { text: file(person).text + rules, ..file(person) };
            let project = file(project);
            let policy = Policy::layered(Profile::Strict, Some(&person), Some((&project, Standing::Untrusted)));
            let decide = |command: &str| policy.decide("Bash", &json!({ "command": command }), &place).verdict;
            assert_eq!((policy.default().0, decide("frobnicate")), (expected, expected), "{person:?} {project:?}");
            assert_eq!(decide("ls"), Verdict::Allow, "a rule is about it");
        }
    }
}
