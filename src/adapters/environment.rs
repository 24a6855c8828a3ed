//! Which of the person's variables a build needs: one list for Claude and for the validation commands, so that a
//! command that passes in one does not fail in the other for want of a variable. No secret is on it.
//!
//! Does not own what only Claude gets (`agent::launch`), nor what is set on top.

use crate::adapters::scratch_folder::VARIABLES;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Names with their values.
pub type Variables = Vec<(OsString, OsString)>;

const LIST: &str = include_str!("build_variables.txt");

/// Parts of names that tell of a secret.
const SECRET: [&str; 10] = [
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY", "ACCESS_KEY",
    "PRIVATE_KEY",
];

/// Beginnings of variables that only Claude gets: how it is configured and how it logs in.
const CLAUDE: [&str; 3] = ["ANTHROPIC_", "CLAUDE_", "DISABLE_"];

/// The same for the clouds that it may log in at, with the switch that says so.
const CLOUDS: [(&str, &str); 2] = [("CLAUDE_CODE_USE_BEDROCK", "AWS_"), ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_")];

/// Variables that tell that a Claude session has started this program, and beginnings of those that it gives or was given.
const IN_SESSION: [&str; 3] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PROJECT_DIR"];
const OF_SESSION: [&str; 2] = ["CLAUDE", "ANTHROPIC_"];

/// The names of Claude's variables, where this program was started from inside a Claude session: which of them are the person's and
/// which that session's (its settings may be a repository's) cannot be told. Elsewhere none: they are the person's.
pub fn of_claude_session(parent: &Variables) -> Vec<OsString> {
    let is_inside = parent.iter().any(|(name, value)| IN_SESSION.iter().any(|sign| name == sign) && !value.is_empty());
    let names = parent.iter().filter(|(name, _)| is_inside && begins(name, &OF_SESSION));
    names.map(|(name, _)| name.clone()).collect()
}

/// What of `parent` passes to Claude and to the validation commands alike.
pub fn of_builds(parent: impl IntoIterator<Item = (OsString, OsString)>) -> Variables {
    parent.into_iter().filter(|(name, value)| passes(name, value)).collect()
}

/// The environment of a validation command: what a build needs, and what the person gives to Claude in `agent.env`
/// but for Claude's own.
pub fn of_commands(parent: &Variables, own: &Variables) -> Variables {
    let claudes = claudes(parent, own);
    let mut all = of_builds(parent.iter().cloned());
    for (name, value) in own.iter().filter(|(name, _)| !begins(name, &claudes)) {
        all.retain(|(present, _)| present != name);
        all.push((name.clone(), value.clone()));
    }
    all
}

/// Beginnings of variables that are Claude's own, as the person's variables and `agent.env` set it up.
pub fn claudes(parent: &Variables, own: &Variables) -> Vec<&'static str> {
    let on = |switch: &str| {
        let mut all = parent.iter().chain(own);
        all.any(|(name, value)| name == switch && !value.is_empty() && value != "0" && value != "false")
    };
    let clouds = CLOUDS.iter().filter(|(switch, _)| on(switch)).map(|(_, prefix)| *prefix);
    CLAUDE.into_iter().chain(clouds).collect()
}

/// Says where temporary files go, in the place of all that said it before.
pub fn set_scratch(env: &mut Variables, scratch: &Path) {
    env.retain(|(name, _)| !VARIABLES.iter().any(|variable| name == *variable));
    env.extend(VARIABLES.map(|name| (name.into(), scratch.into())));
}

/// Whether a name begins like one of these.
pub fn begins(name: &OsStr, prefixes: &[&str]) -> bool {
    name.to_str().is_some_and(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
}

fn passes(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    // The address of a proxy is needed as it is.
    if name.to_ascii_uppercase().ends_with("_PROXY") {
        return true;
    }
    let on_list = listed().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix) && !named_secret(name),
        None => name == entry,
    });
    on_list && !holds_login(&value.to_string_lossy())
}

fn listed() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

fn named_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|part| name.contains(part)) || name.ends_with("_KEY") || name.ends_with("_AUTH")
}

/// An address with a login in it: `https://name:word@host`.
fn holds_login(value: &str) -> bool {
    value.split("://").skip(1).any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ', ',', ';', '|']).next().unwrap_or(rest);
        authority.rsplit_once('@').is_some_and(|(login, _)| login != "git")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(list: &[(&str, &str)]) -> Variables {
        list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    fn names(variables: &Variables) -> Vec<&str> {
        variables.iter().map(|(name, _)| name.to_str().unwrap()).collect()
    }

    #[test]
    fn what_a_claude_session_gives_is_known_and_elsewhere_it_is_the_persons() {
        let own = [("ANTHROPIC_API_KEY", "k"), ("CLAUDE_CONFIG_DIR", "/c"), ("HOME", "/h")];
        assert_eq!(of_claude_session(&variables(&own)), Vec::<OsString>::new());
        for sign in IN_SESSION {
            let inside = [variables(&own), variables(&[(sign, "1"), ("MY_CLAUDE", "x")])].concat();
            assert_eq!(of_claude_session(&inside), ["ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", sign]);
        }
    }

    #[test]
    fn what_a_build_needs_passes_and_no_secret_does() {
        let needed = [
            ("CARGO_HOME", "/c"),
            ("RUSTUP_HOME", "/r"),
            ("VIRTUAL_ENV", "/v"),
            ("NVM_DIR", "/n"),
            ("JAVA_HOME", "/j"),
            ("GOPATH", "/g"),
            ("GOPROXY", "https://proxy.example,direct"),
            ("NIX_CFLAGS_COMPILE", "-I/x"),
            ("DIRENV_DIR", "-/w"),
            ("PIP_INDEX_URL", "https://mirror.example/simple"),
            ("https_proxy", "http://me:word@proxy:3128"),
            ("SSH_AUTH_SOCK", "/s"),
            ("GOFLAGS", "-insecure=ssh://git@host/x"),
        ];
        let kept_back = [
            ("CARGO_REGISTRY_TOKEN", "t"),
            ("UV_PUBLISH_PASSWORD", "p"),
            ("HOMEBREW_GITHUB_API_TOKEN", "t"),
            ("MISE_GITHUB_TOKEN", "t"),
            ("PIP_EXTRA_INDEX_URL", "https://me:word@mirror.example/simple"),
            ("GOPROXY", "https://direct,https://word@proxy.example"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/g"),
            ("NIX_CONFIG", "access-tokens = host=word"),
            ("DIRENV_DIFF", "eJw"),
            ("DATABASE_URL", "postgres://localhost/x"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("GITHUB_TOKEN", "t"),
            ("LD_PRELOAD", "x.so"),
            ("NODE_OPTIONS", "--require x"),
            ("BASH_ENV", "x"),
            ("ANTHROPIC_API_KEY", "k"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "t"),
            ("PROGRAMMATOR_RUN_ID", "outer"),
        ];
        let parent = variables(&[&needed[..], &kept_back].concat());
        assert_eq!(of_builds(parent), variables(&needed));
    }

    #[test]
    fn what_the_person_gives_to_claude_reaches_the_commands_but_for_its_login() {
        let own = variables(&[("DATABASE_URL", "x"), ("ANTHROPIC_API_KEY", "k"), ("PATH", "/mine")]);
        let own = [own, variables(&[("AWS_PROFILE", "a"), ("CLAUDE_CODE_USE_BEDROCK", "1")])].concat();
        let parent = variables(&[("PATH", "/bin"), ("HOME", "/h")]);
        let all = of_commands(&parent, &own);
        assert_eq!(names(&all), ["HOME", "DATABASE_URL", "PATH"]);
        assert_eq!(all[2].1, "/mine");
        let without_its_cloud = of_commands(&parent, &variables(&[("AWS_PROFILE", "a")]));
        assert_eq!(names(&without_its_cloud), ["PATH", "HOME", "AWS_PROFILE"]);
    }
}
