//! A policy file read: strictly, because a rule that is not understood is a rule that does not hold. What is
//! wrong with it has a line and a column.

use super::{About, FlagsAbout, Grant, PathsAbout, Rule};
use crate::domain::verdict::Verdict;
use crate::policy::call;
use crate::policy::floor::{Changes, Floor};
use crate::policy::place::{MadeUp, Place};
use crate::policy::unit::Class;
use regex::RegexBuilder;
use serde::Deserialize;
use serde_json::json;
use serde_yaml::Spanned;
use std::path::Path;

pub const MAX_FILE: usize = 256 << 10;

/// The rules of one file.
#[derive(Clone, Debug)]
pub struct RuleFile {
    pub path: String,
    /// What is decided when no rule is about a unit; `None` leaves that to the profile.
    pub default: Option<Verdict>,
    /// What it adds to the floor, and takes away.
    pub floor: Changes,
    pub rules: Vec<Rule>,
}

/// A policy file that cannot be used. Everything is blocked until it is fixed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {message}")]
pub struct PolicyError {
    pub path: String,
    pub line: u64,
    pub column: u64,
    pub message: String,
}

/// Who wrote a file decides what it may say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Built in: may allow by default.
    Program,
    Person,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WholeFile {
    version: Spanned<u32>,
    #[serde(default)]
    default: Option<Spanned<Verdict>>,
    #[serde(default)]
    floor: Changes,
    #[serde(default)]
    rules: Vec<Spanned<RuleText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    name: String,
    action: Verdict,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    args: ArgsText,
    #[serde(default)]
    flags: FlagsAbout,
    #[serde(default)]
    effects: Vec<Class>,
    #[serde(default)]
    paths: PathsAbout,
    #[serde(default)]
    domains: Vec<String>,
    #[serde(default)]
    mcp: Vec<String>,
    #[serde(default)]
    cwd: Vec<String>,
    #[serde(default)]
    unknown: bool,
    /// Which program runs is not known.
    #[serde(default)]
    opaque: bool,
    #[serde(default)]
    regex: Option<String>,
    #[serde(default)]
    grant: Option<Grant>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "for the person who reads the file")]
    note: Option<String>,
    #[serde(default)]
    examples: Examples,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ArgsText {
    prefix: Vec<Vec<String>>,
}

/// Commands of Bash that the rule is about, and commands that it is not about.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Examples {
    #[serde(rename = "match")]
    matching: Vec<String>,
    not_match: Vec<String>,
}

pub fn read(path: &str, text: &str, author: Author) -> Result<RuleFile, PolicyError> {
    let at = |line: u64, column: u64, message: String| PolicyError { path: path.to_owned(), line, column, message };
    if text.len() > MAX_FILE {
        return Err(at(1, 1, format!("larger than {MAX_FILE} bytes")));
    }
    let whole: WholeFile = serde_yaml::from_str_with_options(text, options()).map_err(|error| {
        let place = error.location();
        let message = error.without_snippet().to_string();
        at(place.map_or(1, |place| place.line()), place.map_or(1, |place| place.column()), message)
    })?;
    let here = |spanned: &serde_yaml::Location, message: String| at(spanned.line(), spanned.column(), message);
    if whole.version.value != 1 {
        return Err(here(&whole.version.referenced, "`version` must be 1".to_owned()));
    }
    if let Some(default) = &whole.default
        && (default.value == Verdict::Passphrase || (default.value == Verdict::Allow && author == Author::Person))
    {
        return Err(here(&default.referenced, "`default` must be `block` or `ask`".to_owned()));
    }
    let mut rules: Vec<Rule> = Vec::new();
    for spanned in whole.rules {
        let line = spanned.referenced.line();
        let column = spanned.referenced.column();
        let (rule, examples) = rule(spanned.value, line).map_err(|message| at(line, column, message))?;
        if rules.iter().any(|other| other.name == rule.name) {
            return Err(at(line, column, format!("two rules are called {}", rule.name)));
        }
        check_examples(&rule, &examples).map_err(|message| at(line, column, message))?;
        rules.push(rule);
    }
    let default = whole.default.map(|default| default.value);
    Ok(RuleFile { path: path.to_owned(), default, floor: whole.floor, rules })
}

fn options() -> serde_yaml::Options {
    serde_yaml::options! {
        budget: serde_yaml::budget! { max_depth: 12, max_nodes: 40_000, max_aliases: 0, max_anchors: 0 },
        strict_booleans: true,
    }
}

fn rule(text: RuleText, line: u64) -> Result<(Rule, Examples), String> {
    let mut commands = text.commands;
    commands.extend(text.command);
    let regex = match text.regex {
        None => None,
        Some(pattern) => {
            // An allow rule must be about all of a unit, not about a part of it.
            let pattern = if text.action == Verdict::Allow { format!("\\A(?:{pattern})\\z") } else { pattern };
            let built = RegexBuilder::new(&pattern).size_limit(1 << 20).build();
            Some(built.map_err(|error| format!("regex: {error}"))?)
        }
    };
    let about = About {
        tools: text.tools,
        commands,
        prefixes: text.args.prefix,
        flags: text.flags,
        effects: text.effects,
        paths: text.paths,
        domains: text.domains,
        mcp: text.mcp,
        cwd: text.cwd,
        unknown: text.unknown,
        opaque: text.opaque,
        regex,
    };
    if text.name.trim().is_empty() {
        return Err("a rule has no name".to_owned());
    }
    if about.says_nothing() {
        return Err(format!("{} matches everything: add a condition", text.name));
    }
    if (about.unknown || about.opaque) && text.action == Verdict::Allow {
        return Err(format!("{} allows unknown calls: use ask or block", text.name));
    }
    if text.grant.as_ref().is_some_and(|grant| grant.seconds().is_none()) {
        return Err(format!("{}: `ttl` must be from 1s to 15m", text.name));
    }
    let (name, action, reason, grant) = (text.name, text.action, text.reason, text.grant);
    Ok((Rule { name, action, line, reason, grant, about }, text.examples))
}

/// A rule that fails its own examples does not say what its author means.
fn check_examples(rule: &Rule, examples: &Examples) -> Result<(), String> {
    let root = Path::new("/home/dev/proj");
    let view = MadeUp::new(root, [], []);
    let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
    let floor = Floor::built_in();
    let is_about = |command: &String| {
        let mut units = call::units("Bash", &json!({ "command": command }), &place);
        for unit in &mut units {
            floor.judge(unit, &place, Verdict::Block);
        }
        let mut about = units.iter().map(|unit| rule.is_about(unit, &place));
        if rule.action == Verdict::Allow { about.all(|about| about) } else { about.any(|about| about) }
    };
    if let Some(command) = examples.matching.iter().find(|command| !is_about(command)) {
        return Err(format!("{} does not match its own example `{command}`", rule.name));
    }
    match examples.not_match.iter().find(|command| is_about(command)) {
        Some(command) => Err(format!("{} matches `{command}`, which it should not", rule.name)),
        None => Ok(()),
    }
}
