//! `git`: its own options, then a subcommand, by the tables of `commands/git.yaml`.

use super::command::named;
use super::walk::Walker;
use crate::policy::commands::{self, args};
use crate::policy::git_programs;
use crate::policy::unit::{Class, Doubt, Field, Unit};

impl Walker<'_> {
    /// Git, which does what its command says and what the configuration of the repository says.
    pub(super) fn git_here(&mut self, args: &[Field], text: &str) -> Unit {
        let mut unit = self.git(args, text);
        let folders = self.shell.folders().unwrap_or_default();
        let programs = folders.iter().find_map(|folder| git_programs::named(self.place.view, folder));
        unit.doubts.extend(programs.map(Doubt::Words));
        unit
    }

    fn git(&mut self, args: &[Field], text: &str) -> Unit {
        let Some(entry) = commands::entry("git") else { return named("git", args, text).unknown("git") };
        let parsed = args::parse(&entry.grammar, args);
        let Some(at) = parsed.command_at else {
            let mut unit = named("git", args, text).does(Class::Read);
            unit.flags.clone_from(&parsed.flags);
            unit.doubts = parsed.doubts;
            return unit;
        };
        let rest = &args[at..];
        let mut names = rest.iter().map_while(Field::text).take(2);
        let (first, second) = (names.next().unwrap_or(""), names.next().unwrap_or(""));
        let (entry, skip) = if lists(first, &rest[1..]) {
            (commands::entry(&format!("git {first} --list")), 1)
        } else {
            match commands::entry(&format!("git {first} {second}")) {
                Some(entry) => (Some(entry), 2),
                None => (commands::entry(&format!("git {first}")), 1),
            }
        };
        let mut unit = match entry {
            Some(entry) => self.known(entry, "git", &rest[skip..], text),
            None => named("git", args, text).unknown(format!("git {first} is not known to be harmless")),
        };
        if rest.get(1).is_some_and(|word| word.text().is_none()) && commands::has_parts(first) {
            unit.doubts.push(Doubt::Words(format!("which part of git {first} runs is not known")));
        }
        if rest.iter().map(Field::beginning).any(|word| word.contains("%G") || word.contains("%(signature")) {
            unit.doubts.push(Doubt::Words("git runs gpg to look at signatures".to_owned()));
        }
        unit.args = rest.to_vec();
        unit.doubts.extend(parsed.doubts);
        unit
    }
}

/// Whether an option makes `git branch` and `git tag` list what their operands name.
fn lists(subcommand: &str, args: &[Field]) -> bool {
    const LISTING: [&str; 6] = ["list", "merged", "no-merged", "contains", "no-contains", "points-at"];
    let Some(entry) = commands::entry(&format!("git {subcommand} --list")) else { return false };
    let parsed = args::parse(&entry.grammar, args);
    LISTING.iter().any(|flag| parsed.flags.contains(*flag))
}
