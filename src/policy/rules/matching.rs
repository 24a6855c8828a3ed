//! Whether a rule is about a unit. An allow rule is about what is proven; any other rule is about what might be.

use super::built::BUILT;
use super::{About, Rule};
use crate::domain::verdict::Verdict;
use crate::policy::call::host_matches;
use crate::policy::glob::{Case, path_matches};
use crate::policy::place::Place;
use crate::policy::unit::{Class, Doubt, Field, Program, Target, Unit, Value};

/// How sure a rule must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Must {
    Be,
    Perhaps,
}

impl Rule {
    pub fn is_about(&self, unit: &Unit, place: &Place<'_>) -> bool {
        if self.action == Verdict::Allow {
            unit.floor.is_none() && self.about.is_proven_of(unit) && self.about.holds(unit, place, Must::Be)
        } else {
            self.about.holds(unit, place, Must::Perhaps)
        }
    }
}

impl About {
    pub fn says_nothing(&self) -> bool {
        let flags = &self.flags;
        self.tools.is_empty()
            && self.commands.is_empty()
            && self.effects.is_empty()
            && self.domains.is_empty()
            && self.mcp.is_empty()
            && self.paths.read.is_empty()
            && self.paths.write.is_empty()
            && flags.all.is_empty()
            && flags.any.is_empty()
            && flags.none.is_empty()
            && self.regex.is_none()
            && !self.unknown
            && !self.opaque
    }

    /// Whether the unit is understood, or what is not understood of it is what the rule names.
    fn is_proven_of(&self, unit: &Unit) -> bool {
        let by_name = match &unit.program {
            Program::Named(_) => true,
            // A program of the project's own, by the very path that the rule gives.
            Program::Path(path) => self.commands.contains(path),
            _ => false,
        };
        let named = !self.commands.is_empty() && self.effects.is_empty() && by_name
            || unit.program == Program::Tool && (!self.mcp.is_empty() || self.tools.contains(&unit.tool));
        unit.doubts.iter().all(|doubt| match doubt {
            Doubt::Meaning(_) => named,
            Doubt::Words(_) => false,
        }) && (!named || unit.args.iter().all(|arg| arg.texts().is_some()))
    }

    fn holds(&self, unit: &Unit, place: &Place<'_>, must: Must) -> bool {
        self.tools_hold(unit)
            && self.commands_hold(unit, must)
            && self.prefixes_hold(unit, must)
            && self.flags_hold(unit, must)
            && self.effects_hold(unit, must)
            && paths_hold(&self.paths.read, &unit.reads, place, must)
            && paths_hold(&self.paths.write, &unit.writes, place, must)
            && self.domains_hold(unit, must)
            && self.mcp_holds(unit)
            && (self.cwd.is_empty() || matches_any(&self.cwd, place.cwd, place, must))
            && (!self.unknown || !unit.doubts.is_empty())
            && (!self.opaque || unit.program == Program::Opaque)
            && self.regex.as_ref().is_none_or(|regex| {
                // What a regex blocks it may see in the whole alone: a pipe, a quote that hides a name.
                regex.is_match(&unit.text) || (must == Must::Perhaps && regex.is_match(&unit.whole))
            })
    }

    fn tools_hold(&self, unit: &Unit) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|pattern| wild(pattern, &unit.tool))
    }

    fn commands_hold(&self, unit: &Unit, must: Must) -> bool {
        if self.commands.is_empty() {
            return true;
        }
        match &unit.program {
            // The rule's tools say whether it is about them.
            Program::Tool => !self.tools.is_empty(),
            Program::Opaque => must == Must::Perhaps,
            Program::Path(path) => {
                let base = path.rsplit('/').next().unwrap_or(path);
                must == Must::Perhaps && self.commands.iter().any(|command| command == base)
                    || self.commands.contains(path)
            }
            program => program.name().is_some_and(|name| self.commands.iter().any(|command| command == name)),
        }
    }

    fn prefixes_hold(&self, unit: &Unit, must: Must) -> bool {
        let same = |arg: Option<&Field>, word: &String| match arg.map(|arg| &arg.value) {
            Some(Value::OneOf(texts)) if must == Must::Be => texts.iter().all(|text| text == word),
            Some(Value::OneOf(texts)) => texts.contains(word),
            Some(Value::Opaque { prefix }) => must == Must::Perhaps && word.starts_with(prefix),
            Some(Value::Many | Value::Names { .. }) => must == Must::Perhaps,
            None => false,
        };
        // Behind a word that may be several, any word may stand.
        let many = must == Must::Perhaps && (unit.args.iter().any(Field::is_many) || unit.program == Program::Opaque);
        let begins = |prefix: &Vec<String>| prefix.iter().enumerate().all(|(at, word)| same(unit.args.get(at), word));
        self.prefixes.is_empty() || many || self.prefixes.iter().any(begins)
    }

    fn flags_hold(&self, unit: &Unit, must: Must) -> bool {
        let flags = &self.flags;
        let perhaps = must == Must::Perhaps && (unit.more_flags || unit.program == Program::Opaque);
        let set = |flag: &String| perhaps || unit.flags.contains(flag);
        let surely = |flag: &String| unit.flags.contains(flag) || (must == Must::Be && unit.more_flags);
        flags.all.iter().all(set)
            && (flags.any.is_empty() || flags.any.iter().any(set))
            && !flags.none.iter().any(surely)
    }

    fn effects_hold(&self, unit: &Unit, must: Must) -> bool {
        if self.effects.is_empty() {
            return true;
        }
        let listed = |class: &Class| self.effects.contains(class);
        match must {
            Must::Be => !unit.classes.is_empty() && unit.classes.iter().all(listed),
            Must::Perhaps => unit.program == Program::Opaque || unit.classes.iter().any(listed),
        }
    }

    fn domains_hold(&self, unit: &Unit, must: Must) -> bool {
        self.domains.is_empty()
            || match &unit.host {
                Some(host) => self.domains.iter().any(|domain| host_matches(domain, host)),
                None => must == Must::Perhaps && unit.classes.contains(&Class::Network),
            }
    }

    fn mcp_holds(&self, unit: &Unit) -> bool {
        if self.mcp.is_empty() {
            return true;
        }
        let Some((server, tool)) = unit.tool.strip_prefix("mcp__").and_then(|name| name.split_once("__")) else {
            return false;
        };
        self.mcp.iter().any(|pattern| match pattern.split_once('/') {
            Some((of_server, of_tool)) => wild(of_server, server) && wild(of_tool, tool),
            None => wild(pattern, server),
        })
    }
}

fn paths_hold(patterns: &[String], targets: &[Target], place: &Place<'_>, must: Must) -> bool {
    if patterns.is_empty() {
        return true;
    }
    let inside = |target: &Target| match target {
        Target::Path(path) => matches_any(patterns, path, place, must),
        Target::Unknown => must == Must::Perhaps,
    };
    match must {
        Must::Be => !targets.is_empty() && targets.iter().all(inside),
        Must::Perhaps => targets.iter().any(inside),
    }
}

fn matches_any(patterns: &[String], path: &std::path::Path, place: &Place<'_>, must: Must) -> bool {
    let case = if must == Must::Be { Case::Counts } else { Case::Ignored };
    patterns.iter().any(|pattern| {
        if pattern == "${built}" {
            let below = path.strip_prefix(place.workspace);
            return below.is_ok_and(|path| BUILT.iter().any(|built| path_matches(built, path, case)));
        }
        // The folder itself is not meant: it belongs to the run.
        if let Some(rest) = pattern.strip_prefix("${scratch}/") {
            let scratch = place.view.scratch().filter(|_| place.is_scratch(path));
            return scratch.is_some_and(|scratch| path_matches(&format!("{}/{rest}", scratch.display()), path, case));
        }
        let pattern = pattern.replace("${workspace}", &place.workspace.display().to_string());
        let pattern = match pattern.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", place.home.display()),
            None => pattern,
        };
        path_matches(&pattern, path, case)
    })
}

/// A name, or the beginning of one before `*`.
fn wild(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(head) => name.starts_with(head),
        None => pattern == name,
    }
}
