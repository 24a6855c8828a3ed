//! Whether a repository's own configuration has git run programs: then not even looking at it is harmless.
//!
//! What the environment of Claude's git neutralises (`adapters::agent::launch`) does not count here: monitors, pagers
//! and editors. Nor do hooks of what changes something (`git commit`). The files are not parsed but searched, so that a
//! spelling that git understands and we do not is at worst a question too many.

use crate::policy::place::{PathView, Reading};
use std::path::{Path, PathBuf};

/// Keys whose value is a program that looking, adding or committing runs, whatever section they are in: of differs,
/// filters, signatures, trailers and help.
const PROGRAMS: [&str; 11] = [
    "external", "command", "textconv", "clean", "process", "program", "cmd", "defaultkeycommand",
    // Of help: `man.<tool>.path`, `man.viewer`, `help.browser`.
    "path", "viewer", "browser",
];

/// What makes git fetch what it lacks when it is looked at, and the programs that it then runs.
const LAZY: [&str; 2] = ["partialclone", "promisor"];
const TRANSPORTS: [&str; 7] = ["sshcommand", "gitproxy", "uploadpack", "vcs", "helper", "askpass", "allow"];

/// What `git lfs install --local` writes: its filter is as well known as git.
const LFS: [(&str, &str); 2] = [("clean", "git-lfs clean -- %f"), ("process", "git-lfs filter-process")];

/// Most repositories of submodules that are looked at.
const MODULES: usize = 500;
/// Deepest name of a submodule.
const DEPTH: usize = 6;

/// The hook that looking calls when it writes down what it saw. Other hooks are called by what changes something.
const HOOK: &str = "post-index-change";

/// A repository's configuration, and the top of its working tree where that is known.
struct Place {
    git: PathBuf,
    top: Option<PathBuf>,
}

/// Why git in `folder` may run programs that the repository names, or one around it; `None` when it does not.
pub fn named(view: &dyn PathView, folder: &Path) -> Option<String> {
    folder.ancestors().find_map(|top| in_repository(view, &repository(view, top)?, top))
}

/// The files that have the settings of the repository that `folder` is in, of its other working trees too.
pub fn settings(view: &dyn PathView, folder: &Path) -> Vec<PathBuf> {
    let Some(git) = folder.ancestors().find_map(|top| repository(view, top)) else { return Vec::new() };
    let common = pointed(view, &git.join("commondir"), &git).unwrap_or_else(|| git.clone());
    vec![common.join("config"), git.join("config"), git.join("config.worktree")]
}

/// The git folder of the repository whose top is `place`.
fn repository(view: &dyn PathView, place: &Path) -> Option<PathBuf> {
    let git = place.join(".git");
    if !view.exists(&git) || view.is_folder(&git) {
        return view.exists(&git).then_some(git);
    }
    Some(pointed(view, &git, place).unwrap_or(git))
}

/// Where a file of git's points to: `gitdir: ../x` or just a path.
fn pointed(view: &dyn PathView, file: &Path, from: &Path) -> Option<PathBuf> {
    let Reading::Text(text) = view.text(file) else { return None };
    let text = text.trim_end_matches(['\n', '\r']);
    Some(from.join(text.strip_prefix("gitdir:").unwrap_or(text).trim_start()))
}

fn in_repository(view: &dyn PathView, git: &Path, top: &Path) -> Option<String> {
    let common = pointed(view, &git.join("commondir"), git).unwrap_or_else(|| git.to_owned());
    let mut places = vec![Place { git: git.to_owned(), top: Some(top.to_owned()) }];
    if let Err(why) = submodules(view, &common.join("modules"), DEPTH, &mut places) {
        return Some(why.to_owned());
    }
    places.push(Place { git: common, top: Some(top.to_owned()) });
    places.iter().find_map(|place| in_place(view, place))
}

fn in_place(view: &dyn PathView, place: &Place) -> Option<String> {
    let hook = place.git.join("hooks").join(HOOK);
    if view.exists(&hook) {
        return Some(format!("git runs {} when it checks files", hook.display()));
    }
    ["config", "config.worktree"].map(|name| place.git.join(name)).iter().find_map(|file| match view.text(file) {
        Reading::Missing => None,
        Reading::Text(text) => {
            let what = in_text(&text).or_else(|| hooks_elsewhere(view, &text, place.top.as_deref()))?;
            Some(format!("{what}, says {}", file.display()))
        }
        Reading::Unreadable => Some(format!("cannot tell which programs git runs: {} is unreadable", file.display())),
    })
}

/// Whether the hook is in a folder that the configuration names, or may be.
fn hooks_elsewhere(view: &dyn PathView, text: &str, top: Option<&Path>) -> Option<String> {
    let named = text.lines().flat_map(keys).filter(|(key, _)| key == "hookspath");
    named.map(|(_, value)| value.trim().trim_matches('"')).find_map(|value| {
        let plain = !value.contains(['\\', '"', '~', '%', '#', ';', '$']);
        let folder = match (Path::new(value), top) {
            (path, _) if path.is_absolute() => Some(path.to_owned()),
            (path, top) => top.map(|top| top.join(path)),
        };
        let calls = !plain || folder.is_none_or(|folder| view.exists(&folder.join(HOOK)));
        calls.then(|| format!("git may call {HOOK} of `{value}` when it checks files"))
    })
}

/// Git looks into submodules by itself.
fn submodules(view: &dyn PathView, folder: &Path, depth: usize, found: &mut Vec<Place>) -> Result<(), &'static str> {
    const UNKNOWN: &str = "cannot tell which programs git runs: the submodules cannot be checked";
    if !view.exists(folder) {
        return Ok(());
    }
    if depth == 0 || found.len() > MODULES {
        return Err(UNKNOWN);
    }
    for name in view.names(folder).ok_or(UNKNOWN)? {
        let inner = folder.join(name);
        if view.exists(&inner.join("HEAD")) {
            found.push(Place { git: inner.clone(), top: None });
            submodules(view, &inner.join("modules"), depth - 1, found)?;
        } else if view.is_folder(&inner) {
            submodules(view, &inner, depth - 1, found)?;
        }
    }
    Ok(())
}

/// What a configuration names.
fn in_text(text: &str) -> Option<String> {
    if text.to_ascii_lowercase().contains("[include") {
        return Some("git reads more configuration, which may name programs".to_owned());
    }
    let keys: Vec<(String, &str)> = text.lines().flat_map(keys).collect();
    let has = |known: &[&str]| keys.iter().find(|(key, _)| known.contains(&key.as_str()));
    let program = keys
        .iter()
        .find(|(key, value)| PROGRAMS.contains(&key.as_str()) && !LFS.contains(&(key.as_str(), value.trim())));
    let program = program.or_else(|| has(&LAZY).and_then(|_| has(&TRANSPORTS)));
    program.map(|(key, _)| format!("git runs a program that this repository names (`{key}`)"))
}

/// What may be a key on a line, with its value: how it begins, and what follows each `]`, since a section and its first
/// key may share a line.
fn keys(line: &str) -> impl Iterator<Item = (String, &str)> {
    let line = line.trim_start_matches('\u{feff}').trim_start();
    let comment = line.starts_with(['#', ';']);
    line.split(']').filter(move |_| !comment).filter_map(|part| {
        let part = part.trim_start();
        let end = part.find(|char: char| !char.is_ascii_alphanumeric() && char != '-').unwrap_or(part.len());
        let (key, rest) = part.split_at(end);
        let value = rest.trim_start().strip_prefix('=').unwrap_or("");
        (!key.is_empty()).then(|| (key.to_ascii_lowercase(), value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::MadeUp;

    fn named_in(files: &[(&str, &str)], folder: &str) -> Option<String> {
        let view = MadeUp::new(Path::new("/w"), [], []).with_texts(files.iter().copied());
        named(&view, Path::new(folder))
    }

    #[test]
    fn programs_are_found_however_they_are_spelled() {
        for text in [
            "[diff]\n\texternal = x",
            "[DIFF]\r\nEXTERNAL=x\r\n",
            "[diff] external = x",
            "[a \"]\"] # c\n[diff] textconv=x",
            "\u{feff}[diff]\n external",
            "[a]\n b = c\\\n[d]\n external = x",
            "[a][diff \"d\"]command=x",
            "[filter \"lfs\"]\n clean = git-lfs clean -- %f; touch x",
            "[filter \"lfs\"]\n process = evil",
            "[gpg \"ssh\"]\n program = x",
            "[trailer \"x\"]\n cmd = x",
            "[man \"x\"]\n path = x",
            "[help]\n browser = x",
            "[include]\n path = x",
            "[IncludeIf \"gitdir:/\"]\n path = x",
            "[extensions]\n partialClone = o\n[core]\n sshCommand = x",
        ] {
            assert!(named_in(&[(".git/config", text)], "/w/src").is_some(), "{text}");
        }
    }

    #[test]
    fn what_git_and_people_write_names_none() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = .husky\n\tsshCommand = ssh -i k\n\
            [remote \"origin\"]\n\turl = git@host:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"main\"]\n\tremote = origin\n# external = x\n; textconv\n\
            [filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n\trequired = true\n";
        assert_eq!(named_in(&[(".git/config", text)], "/w"), None);
        assert_eq!(named_in(&[], "/w"), None);
    }

    #[test]
    fn every_configuration_that_git_reads_is_looked_at() {
        const EVIL: &str = "[diff]\nexternal=x";
        for files in [
            &[(".git/config", ""), (".git/config.worktree", EVIL)][..],
            &[(".git/HEAD", ""), (".git/modules/a/b/HEAD", ""), (".git/modules/a/b/config", EVIL)],
            &[("src/.git", "gitdir: elsewhere/git\n"), ("src/elsewhere/git/config", EVIL)],
            &[(".git", "gitdir: /m/worktrees/w"), ("/m/worktrees/w/commondir", "/m\n"), ("/m/config", EVIL)],
            &[(".git/hooks/post-index-change", "")],
            &[(".git/config", "[core]\nhooksPath = \".hooks\"\n"), (".hooks/post-index-change", "")],
            &[(".git/config", "[core]\nhooksPath = /h # c\n")],
            &[(".git/modules/a/HEAD", ""), (".git/modules/a/config", "[core]\nhooksPath=x")],
            // An empty `.git` is none: git goes on above.
            &[("src/.git/x", ""), (".git/config", EVIL)],
        ] {
            assert!(named_in(files, "/w/src").is_some(), "{files:?}");
        }
        assert_eq!(named_in(&[("src/.git/config", EVIL)], "/w"), None, "another repository");
    }
}
