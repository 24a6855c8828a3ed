//! How a command's line is read: which options there are, which take values, and what the operands are.
//!
//! In the tables an option is a word: `-a|--all` takes no value, `-n|--lines=` takes one, `--color=?` may have
//! one attached, `-o|--output=write` takes the path of a file that is written, `-p=(no:*|x)` one of these texts.
//! `-NUM` stands for `-20`. The options may be given as a list of texts.

use crate::policy::glob::name_matches;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// What a value is to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Data,
    /// A path of which only the name or the properties are shown.
    Name,
    /// A path whose content is read.
    Read,
    /// A path that is made, changed or deleted.
    Write,
    /// A git revision, or a path, or both (`HEAD:src/a.rs`).
    Rev,
    /// A pathspec of git, whose files' content can be shown later.
    Spec,
    /// A program in a small language.
    Program,
    /// The beginning of another command.
    Command,
    /// What a build tool is to do: `test`, `lint`, not `deploy`.
    Target,
    /// A module of the workspace, and what is in it: `app.main:app`.
    Module,
    /// Which warnings of python count. A category with a dot in its name is a module that is loaded.
    Warning,
}

impl Role {
    fn named(word: &str) -> Option<Self> {
        Some(match word {
            "data" | "" => Self::Data,
            "name" => Self::Name,
            "read" => Self::Read,
            "write" => Self::Write,
            "rev" => Self::Rev,
            "spec" => Self::Spec,
            "program" => Self::Program,
            "command" => Self::Command,
            "target" => Self::Target,
            "warning" => Self::Warning,
            "module" => Self::Module,
            _ => return None,
        })
    }
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// Only attached: `--color=always`.
    Attached,
    /// Attached or the next word.
    Value(Role),
}

/// An option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its canonical name: the last of its spellings, without dashes.
    pub name: String,
    pub takes: Takes,
    /// Patterns of the only values that are known; empty: any.
    pub among: Box<[String]>,
}

impl Flag {
    pub fn knows(&self, value: Option<&str>) -> bool {
        let fits = |pattern: &str, value: &str| match (pattern.split_once('='), value.split_once('=')) {
            // A pattern of a name does not reach over the first `=`.
            (Some((name, text)), Some((own, value))) => name_matches(name, own) && name_matches(text, value),
            _ => name_matches(pattern, value),
        };
        self.among.is_empty() || value.is_some_and(|value| self.among.iter().any(|pattern| fits(pattern, value)))
    }
}

/// The options of a command.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// By their spellings, in order: there are thousands of tables, and most are short.
    known: Box<[(Box<str>, Flag)]>,
    /// `-20` is an option.
    pub numbers: bool,
}

impl<'de> Deserialize<'de> for Flags {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Texts::deserialize(deserializer)?.joined();
        let (mut flags, mut known) = (Self::default(), BTreeMap::new());
        for word in text.split_whitespace() {
            if word == "-NUM" {
                flags.numbers = true;
                continue;
            }
            let value = word.split_once('=').map(|(_, value)| value);
            let (attached, value) = match value.map(|value| (value.strip_prefix('?'), value)) {
                Some((Some(rest), _)) => (true, Some(rest)),
                Some((None, value)) => (false, Some(value)),
                None => (false, None),
            };
            let listed = value.and_then(|value| value.strip_prefix('(')?.strip_suffix(')'));
            let among: Box<[String]> = listed.iter().flat_map(|list| list.split('|')).map(str::to_owned).collect();
            let takes = match value {
                None => Takes::Nothing,
                Some(_) if attached => Takes::Attached,
                Some(_) if listed.is_some() => Takes::Value(Role::Data),
                Some(role) => {
                    let unknown = || serde::de::Error::custom(format!("`{word}`: no such role"));
                    Takes::Value(Role::named(role).ok_or_else(unknown)?)
                }
            };
            let spellings: Vec<&str> = word.split('=').next().unwrap_or(word).split('|').collect();
            let name = spellings.last().map_or("", |last| last.trim_start_matches('-'));
            for spelling in spellings {
                known.insert(spelling, Flag { name: name.to_owned(), takes, among: among.clone() });
            }
        }
        flags.known = known.into_iter().map(|(spelling, flag)| (spelling.into(), flag)).collect();
        Ok(flags)
    }
}

impl Flags {
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The one that is spelt so.
    pub fn get(&self, spelling: &str) -> Option<&Flag> {
        let at = self.known.binary_search_by(|(known, _)| (**known).cmp(spelling)).ok()?;
        Some(&self.known[at].1)
    }

    /// Each by its spelling.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Flag)> {
        self.known.iter().map(|(spelling, flag)| (&**spelling, flag))
    }
}

/// Options in one text, or in several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    fn joined(self) -> String {
        match self {
            Self::One(text) => text,
            Self::Several(texts) => texts.join(" "),
        }
    }
}

/// The operands of a command: first ones, then any number of the repeated one, then last ones.
#[derive(Clone, Debug, Default)]
pub struct Operands {
    /// The first, one each.
    pub first: Vec<Role>,
    /// The rest; none means that there may be no more.
    pub rest: Option<Role>,
    /// The last, one each.
    pub last: Vec<Role>,
}

impl Operands {
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.rest.is_none() && self.last.is_empty()
    }
}

impl<'de> Deserialize<'de> for Operands {
    /// `pattern read*` or `read* write`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut operands = Self::default();
        for word in text.split_whitespace() {
            let unknown = || serde::de::Error::custom(format!("`{word}`: no such role"));
            let role = Role::named(word.trim_end_matches('*')).ok_or_else(unknown)?;
            if word.ends_with('*') {
                operands.rest = Some(role);
            } else if operands.rest.is_some() {
                operands.last.push(role);
            } else {
                operands.first.push(role);
            }
        }
        Ok(operands)
    }
}

/// How a command's line is read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Grammar {
    pub flags: Flags,
    pub operands: Operands,
    /// No option of it can do harm, so any word may be one.
    pub harmless: bool,
    /// Options end at the first operand.
    pub stops: bool,
    /// Options are words with one dash (`-name`), and never clusters.
    pub words: bool,
    /// With one of these options the first operand is none of its own (`grep -e`).
    pub instead: String,
    /// With this option the last operand is one like the others (`cp -t`).
    pub into: String,
}

impl Grammar {
    /// The option that a word spells: exactly, or as the only one that begins so (`--rec` for `--recursive`).
    pub fn flag(&self, word: &str) -> Option<&Flag> {
        if let Some(flag) = self.flags.get(word) {
            return Some(flag);
        }
        if !word.starts_with("--") || word.len() < 3 {
            return None;
        }
        let mut found = self.flags.iter().filter(|(name, _)| name.starts_with(word)).map(|(_, flag)| flag);
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}
