//! Rules: what a policy file says, read strictly, and which units a rule is about. What the units do is found
//! elsewhere; how layers of files make one decision is `engine`'s.

mod built;
pub mod file;
pub mod matching;

use crate::domain::verdict::Verdict;
use crate::policy::unit::Class;
use regex::Regex;
use serde::Deserialize;

/// A rule of a policy.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique in its file.
    pub name: String,
    pub action: Verdict,
    /// Where it stands in its file.
    pub line: u64,
    /// Why, for the person and for Claude.
    pub reason: Option<String>,
    /// How long a passphrase is good for.
    pub grant: Option<Grant>,
    /// What it is about. All of these must hold.
    pub about: About,
}

/// What a rule is about. An empty list says nothing.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Tools by name; `*` at the end stands for anything.
    pub tools: Vec<String>,
    pub commands: Vec<String>,
    /// The words behind the command begin with one of these.
    pub prefixes: Vec<Vec<String>>,
    pub flags: FlagsAbout,
    pub effects: Vec<Class>,
    pub paths: PathsAbout,
    /// Hosts; `*.example.com` for those below.
    pub domains: Vec<String>,
    /// MCP tools: `server`, `server/tool`, with `*`.
    pub mcp: Vec<String>,
    /// Patterns of the folder that the call starts in.
    pub cwd: Vec<String>,
    /// What is not understood.
    pub unknown: bool,
    /// Which program runs is not known, or it runs text that is not.
    pub opaque: bool,
    /// Imported rules only: a regex of the unit's text.
    pub regex: Option<Regex>,
}

/// What a rule says of options, by their canonical names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FlagsAbout {
    pub all: Vec<String>,
    /// At least one of these is set.
    pub any: Vec<String>,
    pub none: Vec<String>,
}

/// What a rule says of files. `${workspace}` and `~` stand for their folders.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PathsAbout {
    pub read: Vec<String>,
    pub write: Vec<String>,
}

/// What a passphrase buys.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// For what: once, this rule, or the run.
    #[serde(default)]
    pub scope: Scope,
    /// For how long: `15m`, `90s`; at most 15 minutes.
    #[serde(default = "fifteen_minutes")]
    pub ttl: String,
}

fn fifteen_minutes() -> String {
    "15m".to_owned()
}

/// What a grant is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    #[default]
    Once,
    /// Every call that the rule is about.
    Rule,
    /// Every call of the run.
    Run,
}

impl Grant {
    /// How long it lasts, in seconds: at most 900.
    pub fn seconds(&self) -> Option<u64> {
        let (number, unit) = self.ttl.split_at(self.ttl.len().checked_sub(1)?);
        let number: u64 = number.parse().ok()?;
        let seconds = match unit {
            "s" => number,
            "m" => number.checked_mul(60)?,
            _ => return None,
        };
        (1..=900).contains(&seconds).then_some(seconds)
    }
}
