//! `git`: its own options, then a subcommand, by the tables of `commands/git.yaml`.

use super::command::named;
use super::walker::Walker;
use crate::policy::commands::{self, args};
use crate::policy::unit::{Class, Doubt, Field, Unit};
use crate::policy::{credentials, git_programs};
use std::path::PathBuf;

impl Walker<'_> {
    /// Git, which does what its command says and what the configuration of the repository says.
    pub(super) fn git_here(&mut self, args: &[Field], text: &str) -> Unit {
        if let Some((folders, rest)) = self.elsewhere(args) {
            let before = self.shell.clone();
            self.shell.go(folders, true);
            let mut unit = self.git_here(&rest, text);
            self.shell = before;
            unit.args = args.to_vec();
            return unit;
        }
        let mut unit = self.git(args, text);
        let folders = self.shell.folders().unwrap_or_default();
        let programs = folders.iter().find_map(|folder| git_programs::named(self.place.view, folder));
        unit.doubts.extend(programs.map(Doubt::Words));
        unit
    }

    /// The folders of the workspace that `-C` names, and the words without it.
    fn elsewhere(&self, args: &[Field]) -> Option<(Vec<PathBuf>, Vec<Field>)> {
        let at =
            args.iter().take_while(|word| matches!(word.text(), Some("--no-pager" | "--no-optional-locks"))).count();
        let path = args.get(at).filter(|word| word.text() == Some("-C")).and_then(|_| args.get(at + 1)?.text())?;
        let folders = self.targets(path).filter(|_| !path.starts_with('~'))?;
        let inside = folders.iter().all(|folder| folder.starts_with(self.place.workspace));
        let rest = [&args[..at], &args[at + 2..]].concat();
        (inside && !folders.is_empty()).then_some((folders, rest))
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
                Some(entry) if !(entry.never_bare && rest.len() == 2) => (Some(entry), 2),
                Some(_) | None => (commands::entry(&format!("git {first}")), 1),
            }
        };
        let mut unit = match entry {
            Some(entry) => self.known(entry, "git", &rest[skip..], text),
            None => named("git", args, text).unknown(format!("unknown command git {first}")),
        };
        if rest.get(1).is_some_and(|word| word.text().is_none()) && commands::has_parts(first) {
            unit.doubts.push(Doubt::Words(format!("cannot tell which git {first} command runs")));
        }
        if rest.iter().map(Field::beginning).any(|word| word.contains("%G") || word.contains("%(signature")) {
            unit.doubts.push(Doubt::Words("git runs gpg to check signatures".to_owned()));
        }
        unit.args = rest.to_vec();
        unit.doubts.extend(parsed.doubts);
        if unit.classes.contains(&Class::History)
            && let (Some(doubt), Some(why)) = (unit.doubts.first_mut(), loses(first, rest))
        {
            *doubt = Doubt::Meaning(why);
        }
        unit.doubts.extend(self.tells_secrets(first, rest, &unit).map(|why| Doubt::Words(why.to_owned())));
        if first == "rm"
            && rest.iter().any(|word| word.text().is_none_or(|word| word.contains(['*', '?', '[', ':', '\\'])))
        {
            unit.doubts.push(Doubt::Words("cannot tell which files git removes".to_owned()));
        }
        unit
    }
}

impl Walker<'_> {
    /// Why settings of git that are printed may hold a token.
    fn tells_secrets(&self, first: &str, rest: &[Field], unit: &Unit) -> Option<&'static str> {
        let set = |flag: &str| unit.flags.contains(flag);
        let words: Vec<&str> = rest.iter().skip(1).filter_map(Field::text).collect();
        let mut operands = words.iter().filter(|word| !word.starts_with('-') && !matches!(**word, "get" | "list"));
        let addresses = || {
            let folders = self.shell.folders().unwrap_or_default();
            let told = folders.is_empty() || folders.iter().any(|folder| credentials::in_remotes(&self.place, folder));
            told.then_some("prints a URL with a password in it")
        };
        match first {
            "remote" if set("verbose") || words.contains(&"get-url") => addresses(),
            "config" if set("name-only") => None,
            "config" => match operands.next().map(|key| key.to_lowercase()) {
                Some(_) if set("get-regexp") || set("get-urlmatch") || set("regexp") => {
                    Some("prints settings that may hold a token: name one setting")
                }
                Some(key) if credentials::is_plain_key(&key) => None,
                Some(key) if key.starts_with("remote.") && key.ends_with("url") => addresses(),
                Some(_) => Some("prints a setting that may hold a token"),
                None => Some("prints every setting, tokens among them: name one, or use --name-only"),
            },
            _ => None,
        }
    }
}

/// What a command takes away, in words.
fn loses(first: &str, rest: &[Field]) -> Option<String> {
    let set = |name: &str| rest.iter().any(|word| word.text() == Some(name));
    let files: Vec<&str> = rest.iter().skip(1).filter_map(Field::text).filter(|word| !word.starts_with('-')).collect();
    Some(match first {
        "reset" if set("--hard") => "discards uncommitted changes".to_owned(),
        "reset" if files.iter().all(|word| *word == "HEAD") => "unstages what is staged".to_owned(),
        "reset" => "moves the branch to another commit".to_owned(),
        "checkout" if set("--") || files == ["."] => format!("discards uncommitted changes of {}", files.join(", ")),
        "checkout" | "switch" => "switches the working tree to another branch".to_owned(),
        "restore" => format!("discards uncommitted changes of {}", files.join(", ")),
        "stash" if set("drop") || set("clear") => "deletes stashed changes".to_owned(),
        "stash" => "moves uncommitted changes".to_owned(),
        "clean" => "deletes untracked files".to_owned(),
        "rebase" | "filter-branch" | "filter-repo" => "rewrites commits".to_owned(),
        "merge" | "cherry-pick" | "revert" | "am" | "apply" => "changes the working tree".to_owned(),
        _ => return None,
    })
}

/// Whether an option makes `git branch` and `git tag` list what their operands name.
fn lists(subcommand: &str, args: &[Field]) -> bool {
    const LISTING: [&str; 6] = ["list", "merged", "no-merged", "contains", "no-contains", "points-at"];
    let Some(entry) = commands::entry(&format!("git {subcommand} --list")) else { return false };
    let parsed = args::parse(&entry.grammar, args);
    LISTING.iter().any(|flag| parsed.flags.contains(*flag))
}
