//! Settings that hold a token or a password: of git, whose addresses and headers may, and of npm, whose file mostly has none.

use crate::policy::git_programs;
use crate::policy::place::{Place, Reading};
use std::path::{Path, PathBuf};

/// Most files of git's settings that are looked at.
const MAX_FILES: usize = 20;
/// Longest name of a person in an address that is no token.
const MAX_USER: usize = 20;

/// Whether what git says of its remotes may have a token in it: by the repository's settings, the person's, and those
/// that they include.
pub fn in_remotes(place: &Place<'_>, folder: &Path) -> bool {
    let own = git_programs::settings(place.view, folder);
    let home = [".gitconfig", ".config/git/config"].map(|name| place.home.join(name));
    let mut left: Vec<PathBuf> = own.into_iter().chain(home).collect();
    let mut looked = 0;
    while let Some(file) = left.pop() {
        looked += 1;
        match place.view.text(&file) {
            Reading::Missing => {}
            Reading::Text(text) if looked <= MAX_FILES && !are_in(&text) => left.extend(included(&text, &file, place)),
            Reading::Text(_) | Reading::Unreadable => return true,
        }
    }
    false
}

/// The files that a file of git's settings includes.
fn included(text: &str, file: &Path, place: &Place<'_>) -> Vec<PathBuf> {
    let lines = text.lines().filter(|_| text.to_lowercase().contains("[include"));
    let paths =
        lines.filter_map(|line| line.split_once('=')).filter(|(key, _)| key.trim().eq_ignore_ascii_case("path"));
    let from = file.parent().unwrap_or(file);
    let resolved = paths.map(|(_, path)| path.trim().trim_matches('"')).map(|path| match path.strip_prefix("~/") {
        Some(path) => place.home.join(path),
        None => from.join(path),
    });
    resolved.collect()
}

/// Whether settings of git have a token in them: a header, or an address with a password.
pub fn are_in(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.contains("extraheader") || lower.match_indices("://").any(|(at, _)| has_password(&lower[at + 3..]))
}

fn has_password(behind: &str) -> bool {
    let end = behind.find(|char: char| char == '/' || char == '"' || char.is_whitespace()).unwrap_or(behind.len());
    behind[..end].rsplit_once('@').is_some_and(|(user, _)| user.contains(':') || user.len() > MAX_USER)
}

/// Whether a setting of git is one that holds no token, by its name.
pub fn is_plain_key(key: &str) -> bool {
    const PLAIN: [&str; 30] = [
        "user.name", "user.email", "user.signingkey", "gpg.format", "gc.*", "core.*", "init.*", "branch.*", "pull.*",
        "push.*", "fetch.*", "merge.*", "rebase.*", "rerere.*", "commit.*", "diff.*", "color.*", "column.*", "tag.*",
        "log.*", "status.*", "format.*", "advice.*", "safe.*", "feature.*", "index.*", "extensions.*", "i18n.*",
        "remote.pushdefault", "remote.*.fetch",
    ];
    let key = key.to_lowercase();
    PLAIN.iter().any(|plain| crate::policy::glob::name_matches(plain, &key))
}

/// Whether the settings of npm are there and name no token, no password and no variable.
pub fn is_plain_npmrc(path: &Path, place: &Place<'_>) -> bool {
    const TOLD: [&str; 7] = ["auth", "password", "token", "secret", "key", "cert", "${"];
    let Reading::Text(text) = place.view.text(path) else { return false };
    let lower = text.to_lowercase();
    !text.trim().is_empty() && !TOLD.iter().any(|word| lower.contains(word)) && !are_in(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::place::MadeUp;

    #[test]
    fn an_address_with_a_password_is_known() {
        for (text, expected) in [
            ("url = https://github.com/x/y.git", false),
            ("url = git@github.com:x/y.git", false),
            ("url = ssh://git@github.com/x/y", false),
            ("url = https://dev@dev.azure.com/x", false),
            ("url = https://x:ghp_abc@github.com/x/y.git", true),
            ("url = https://ghp_0123456789abcdef0123@github.com/x", true),
            ("[http \"https://x.test/\"]\n\textraheader = AUTHORIZATION: basic abc", true),
            ("[url \"https://oauth2:abc@x.test/\"]\n insteadOf = https://x.test/", true),
        ] {
            assert_eq!(are_in(text), expected, "{text}");
        }
    }

    #[test]
    fn settings_of_the_person_count_and_what_they_include() {
        let root = Path::new("/home/dev/proj");
        let of = |texts: &[(&str, &str)]| {
            let view = MadeUp::new(root, [], [".git/HEAD"]).with_texts(texts.iter().copied());
            let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
            in_remotes(&place, &root.join("src"))
        };
        let token = "[url \"https://x:y@z/\"]";
        assert!(!of(&[(".git/config", "[remote \"origin\"]\nurl = https://x.test/a")]));
        assert!(of(&[
            ("src/.git", "gitdir: /m/.git/worktrees/x"),
            ("/m/.git/worktrees/x/commondir", "/m/.git"),
            ("/m/.git/config", token)
        ]));
        assert!(of(&[(".git/config", token)]) && of(&[("/home/dev/.gitconfig", token)]));
        assert!(of(&[("/home/dev/.gitconfig", "[include]\n path = ~/more"), ("/home/dev/more", token)]));
        assert!(of(&[("/home/dev/.gitconfig", "[include]\n path = .gitconfig")]), "it never ends");
    }

    #[test]
    fn plain_keys_are_plain() {
        for key in ["user.name", "user.email", "core.autocrlf", "remote.origin.fetch", "init.defaultBranch"] {
            assert!(is_plain_key(key), "{key}");
        }
        for key in ["http.extraheader", "http.https://x/.extraheader", "remote.origin.url", "sendemail.smtppass", "x"] {
            assert!(!is_plain_key(key), "{key}");
        }
    }
}
