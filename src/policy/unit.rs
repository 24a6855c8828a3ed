//! A unit: the smallest thing that is judged. One simple command, one redirection, one assignment, or one call
//! of a tool other than Bash. What it does is found by `bash` and `tools`; what may be done is said by `rules`.

use crate::policy::commands::Lists;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// What kind of thing a unit does; the words of `effects:` in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Looks at files or at the machine.
    Read,
    Write,
    Delete,
    Network,
    Internal,
    /// The project's own build, test, lint and format commands. They run what the repository says.
    Build,
    /// Adds to the repository's history, and takes nothing away.
    Commit,
    /// Runs a program of the workspace.
    Run,
    /// Talks to what runs on this machine: a server of the project's, the daemon of the containers.
    Local,
    /// Changes what the repository's history or working tree was.
    History,
}

/// What a path may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// This one, absolute, with every link resolved.
    Path(PathBuf),
    Unknown,
}

impl Target {
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Path(path) => Some(path),
            Self::Unknown => None,
        }
    }
}

/// Who acts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A tool of Claude's other than Bash.
    Tool,
    /// The shell, opening a file.
    Redirect,
    /// The shell, setting a variable.
    Assignment,
    /// A program of the system or a builtin, by its name.
    Named(String),
    /// A program outside of the system's folders.
    Path(String),
    /// It could be any, or it runs text that could be any.
    Opaque,
}

impl Program {
    /// The name that rules know it by.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Redirect => Some("redirect"),
            Self::Assignment => Some("assignment"),
            Self::Path(_) | Self::Tool | Self::Opaque => None,
        }
    }
}

/// Names of files that one command prints for another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    pub roots: Vec<Target>,
    /// There are hidden ones among them.
    pub hidden: bool,
    /// They match one of these; empty: any.
    pub only: Vec<String>,
    /// Each begins with one of these.
    pub begins: Vec<String>,
    /// A zero byte ends each, and no line.
    pub zero: bool,
}

/// One word of a command after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One of these, at least one.
    OneOf(Vec<String>),
    /// Unknown, but for how it begins.
    Opaque {
        /// How it begins; empty when that is unknown too.
        prefix: String,
    },
    /// Any number of words, all unknown.
    Many,
    /// Names of files: any number of words, or one.
    Names { names: Arc<Names>, one: bool },
}

/// A word and what must be known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub value: Value,
    /// It came from a pattern that begins with a wildcard: what files there are decides whether it is an option.
    pub listed: bool,
    /// Where it is not known, texts that it may be nevertheless, among others: what counts against it.
    pub might: Vec<String>,
}

impl Field {
    pub fn known(text: impl Into<String>) -> Self {
        Self::one_of(vec![text.into()])
    }

    /// A word that is one of these.
    pub fn one_of(texts: Vec<String>) -> Self {
        Self { value: Value::OneOf(texts), listed: false, might: Vec::new() }
    }

    /// A word of which only the beginning is known.
    pub fn opaque(prefix: impl Into<String>) -> Self {
        Self { value: Value::Opaque { prefix: prefix.into() }, listed: false, might: Vec::new() }
    }

    /// Any number of words of which nothing is known.
    pub fn many() -> Self {
        Self { value: Value::Many, listed: false, might: Vec::new() }
    }

    /// Names of files: any number of words, or one.
    pub fn names(names: Arc<Names>, one: bool) -> Self {
        Self { value: Value::Names { names, one }, listed: false, might: Vec::new() }
    }

    /// It may be several words, or none.
    pub fn is_many(&self) -> bool {
        matches!(self.value, Value::Many | Value::Names { one: false, .. })
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::OneOf(texts) if texts.len() == 1 => texts.first().map(String::as_str),
            Value::OneOf(_) | Value::Opaque { .. } | Value::Many | Value::Names { .. } => None,
        }
    }

    /// What it surely begins with.
    pub fn beginning(&self) -> &str {
        match &self.value {
            Value::Opaque { prefix } => prefix,
            Value::OneOf(_) | Value::Many | Value::Names { .. } => self.text().unwrap_or(""),
        }
    }

    /// Every text that it may be; none when that is unknown.
    pub fn texts(&self) -> Option<&[String]> {
        match &self.value {
            Value::OneOf(texts) => Some(texts),
            Value::Opaque { .. } | Value::Many | Value::Names { .. } => None,
        }
    }

    /// A program may take it for an option.
    pub fn may_be_option(&self) -> bool {
        match &self.value {
            Value::OneOf(texts) => texts.iter().any(|text| text.starts_with('-')),
            Value::Opaque { prefix } => prefix.is_empty() || prefix.starts_with('-'),
            Value::Many => true,
            Value::Names { names, .. } => names.begins.iter().any(|begin| begin.is_empty() || begin.starts_with('-')),
        }
    }
}

/// Why a unit is not proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The program, option or tool is not known. A rule that names it may still allow it.
    Meaning(String),
    /// A word is not known, or something may change its meaning. No allow rule lifts this.
    Words(String),
}

impl Doubt {
    pub fn why(&self) -> &str {
        match self {
            Self::Meaning(why) | Self::Words(why) => why,
        }
    }
}

/// What is judged.
#[expect(clippy::struct_excessive_bools, reason = "what a unit does, each for itself")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    pub text: String,
    /// The whole command that it is part of; empty for other tools.
    pub whole: Arc<str>,
    /// The tool that it is part of: `Bash`, `Read`, …
    pub tool: String,
    pub program: Program,
    /// The words after the program.
    pub args: Vec<Field>,
    /// Options that are set, by their canonical names without dashes.
    pub flags: BTreeSet<String>,
    /// Some word may be an option that is not in `flags`.
    pub more_flags: bool,
    pub classes: BTreeSet<Class>,
    pub reads: Vec<Target>,
    /// Files that it makes, changes or deletes.
    pub writes: Vec<Target>,
    /// What comes to be below those when whole folders are put there.
    pub below: Vec<Target>,
    /// Files that its words may name, while what it does with them is not known.
    pub given: Vec<Target>,
    /// Files that it puts elsewhere, under other names.
    pub moves: Vec<Target>,
    /// Its reads or writes go down into folders.
    pub tree: bool,
    /// On its way down it goes through links.
    pub follows: bool,
    /// Of a tree only files whose names match one of these are read; empty: all.
    pub only: Vec<String>,
    /// Of a tree files whose names match one of these are not read.
    pub except: Vec<String>,
    /// Of a tree it does not go into folders whose names match one of these.
    pub past: Vec<String>,
    /// It puts things in place that were not checked there: links may come along.
    pub carries: bool,
    /// It prints names of files, which may feed another command.
    pub lists: Option<Lists>,
    pub names: Names,
    /// Its proof rests on what files there are now.
    pub listed: bool,
    pub host: Option<String>,
    /// Why it is not proven; empty for a proven unit.
    pub doubts: Vec<Doubt>,
    /// Why nothing may lift its block.
    pub floor: Option<String>,
}

impl Unit {
    /// A unit that does nothing yet.
    pub fn new(tool: &str, program: Program, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            whole: "".into(),
            only: Vec::new(),
            except: Vec::new(),
            past: Vec::new(),
            tool: tool.to_owned(),
            program,
            args: Vec::new(),
            flags: BTreeSet::new(),
            more_flags: false,
            classes: BTreeSet::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            below: Vec::new(),
            moves: Vec::new(),
            given: Vec::new(),
            tree: false,
            follows: false,
            carries: false,
            lists: None,
            names: Names::default(),
            listed: false,
            host: None,
            doubts: Vec::new(),
            floor: None,
        }
    }

    #[must_use]
    pub fn does(mut self, class: Class) -> Self {
        self.classes.insert(class);
        self
    }

    /// Refused, whatever a rule says.
    #[must_use]
    pub fn refused(mut self, why: impl Into<String>) -> Self {
        self.floor.get_or_insert_with(|| why.into());
        self
    }

    /// Not proven: a word of it is not known.
    #[must_use]
    pub fn unclear(mut self, why: impl Into<String>) -> Self {
        self.doubts.push(Doubt::Words(why.into()));
        self
    }

    /// Not proven: what is named is not known.
    #[must_use]
    pub fn unknown(mut self, why: impl Into<String>) -> Self {
        self.doubts.push(Doubt::Meaning(why.into()));
        self
    }

    /// Whether all of it is understood.
    pub fn proven(&self) -> bool {
        self.doubts.is_empty() && self.floor.is_none()
    }
}
