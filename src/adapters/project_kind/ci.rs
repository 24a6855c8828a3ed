//! Checks that the repository's continuous integration runs. They are quoted from its files, so only simple commands of
//! known programs are taken, and a person sees them before they are run.

use super::part::{CHECKING, Finding, Kind, Part, is_file, read};
use super::words::{does_more, is_at};
use std::path::Path;

/// Files of one service each; GitHub's are in a folder.
const FILES: [&str; 6] = [
    ".gitlab-ci.yml", ".circleci/config.yml", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml",
    "Jenkinsfile",
];
const GITHUB: &str = ".github/workflows";

/// Most files that are read, and most checks that are taken.
const MOST: usize = 16;

/// How commands that check something begin.
const CHECKS: [&str; 34] = [
    "cargo test", "cargo nextest run", "cargo clippy", "cargo fmt", "go test", "go vet", "golangci-lint run", "pytest",
    "python -m pytest", "uv run pytest", "uv run ruff check", "uv run mypy", "poetry run pytest", "tox", "nox",
    "ruff check", "mypy", "flake8", "npm test", "npx tsc", "npx eslint", "mvn", "./mvnw", "gradle", "./gradlew",
    "dotnet test", "bundle exec rspec", "bundle exec rake test", "bundle exec rubocop", "vendor/bin/phpunit",
    "mix test", "mix format --check-formatted", "ctest", "bun test",
];
/// Programs that run what the next word names.
const RUNNERS: [&str; 10] =
    ["npm run", "pnpm run", "pnpm", "yarn run", "yarn", "bun run", "make", "just", "composer run", "composer"];
/// What such a program must be asked for: others also release and deploy.
const PHASES: [(&str, &[&str]); 4] = [
    ("mvn", &["test", "verify"]),
    ("./mvnw", &["test", "verify"]),
    ("gradle", &["test", "check"]),
    ("./gradlew", &["test", "check"]),
];

/// Short options that make a known program check nothing or something that cannot be told from its line. Elsewhere they may mean
/// other things.
const SHORT: [&str; 10] = ["-V", "-h", "-x", "-e", "-s", "-w", "-l", "-n", "-N", "-c"];
/// Options of Go's tests that leave some out.
const OF_GO: [&str; 2] = ["-run", "-bench"];
/// What is named like a script, but installs packages.
const INSTALLS: [&str; 1] = ["pnpm ci"];

/// Other words for the same check: what a command may begin with, and what that is called here.
const BEGINS: [(&str, &str); 12] = [
    ("uv run ", ""),
    ("poetry run ", ""),
    ("pdm run ", ""),
    ("pipenv run ", ""),
    ("python -m ", ""),
    ("./", ""),
    ("npm run ", "npm "),
    ("pnpm run ", "pnpm "),
    ("yarn run ", "yarn "),
    ("bun run ", "bun "),
    ("composer run ", "composer "),
    ("cargo nextest run", "cargo test"),
];
/// The same of programs that a project has a copy of.
const WRAPPERS: [(&str, &str); 2] = [("mvnw", "mvn"), ("gradlew", "gradle")];

/// Looks at what CI runs: a check that it confirms, in the same words or others, says so, and others are added to the top part. The
/// project's own checks stay as they are: CI may run less than they do. What only CI says is offered, not taken. Where steps have folders of their own nothing is added: it cannot be told which.
pub fn confirm(top: &Path, parts: &mut Vec<Part>) {
    for (file, text) in files(top) {
        let has_folders = text.contains("working-directory") || text.contains("workingDirectory");
        let commands: Vec<String> = text.lines().filter_map(command).collect();
        for command in commands.into_iter().take(MOST) {
            let known = parts.iter_mut().flat_map(|part| &mut part.findings);
            let mut known = known.filter(|one| one.kind == Kind::Check);
            if let Some(check) = known.find(|one| normal(&one.name) == normal(&command)) {
                check.is_own = true;
                if !check.evidence.contains(&file) {
                    check.evidence = format!("{}, {file}", check.evidence);
                }
            } else if !has_folders {
                add(parts, &file, command);
            }
        }
    }
}

fn add(parts: &mut Vec<Part>, file: &str, command: String) {
    if parts.first().is_none_or(|part| !part.folder.is_empty()) {
        parts.insert(0, Part { folder: String::new(), findings: Vec::new() });
    }
    let top = &mut parts[0].findings;
    let check = Finding { is_own: false, ..Finding::new(Kind::Check, command, file) };
    let is_of_ci = |one: &Finding| one.evidence.contains(GITHUB) || FILES.iter().any(|file| one.evidence == *file);
    let alike = |one: &&mut Finding| one.kind == Kind::Check && begins_alike(&one.name, &check.name);
    let mut has_words = false;
    for known in top.iter_mut().filter(alike) {
        if !known.is_own && !is_of_ci(known) {
            // It was only usual; CI knows better.
            *known = check;
            return;
        }
        has_words |= is_of_ci(known);
    }
    // Another job's words change nothing.
    if !has_words {
        top.push(check);
    }
}

/// The same check in the words that all ways of running it share.
fn normal(command: &str) -> String {
    let mut command = command.to_owned();
    for (begin, plain) in BEGINS {
        if let Some(rest) = command.strip_prefix(begin) {
            command = format!("{plain}{rest}");
        }
    }
    for (own, plain) in WRAPPERS {
        if is_at(&command, own) {
            command.replace_range(..own.len(), plain);
        }
    }
    command
}

/// A script or target whose name says that it checks something.
fn is_named(command: &str) -> bool {
    RUNNERS.iter().any(|runner| {
        let named = command.strip_prefix(runner).and_then(|rest| rest.strip_prefix(' '));
        named.is_some_and(|named| CHECKING.contains(&named))
    })
}

/// They run the same program for the same thing.
fn begins_alike(one: &str, other: &str) -> bool {
    let begins = |command: &str| {
        let command = normal(command);
        CHECKS.iter().filter(|begin| is_at(&command, begin)).max_by_key(|begin| begin.len())
    };
    begins(one).is_some() && begins(one) == begins(other)
}

fn files(top: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(top.join(GITHUB)).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let ending = |name: &String| [".yml", ".yaml"].iter().any(|ending| name.ends_with(ending));
    let plain = |name: &String| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let mut found: Vec<String> = names.filter(ending).filter(plain).map(|name| format!("{GITHUB}/{name}")).collect();
    found.sort();
    found.extend(FILES.iter().filter(|file| is_file(&top.join(file))).map(|file| (*file).to_owned()));
    found.truncate(MOST);
    found.into_iter().filter_map(|file| Some((file.clone(), read(&top.join(&file))?))).collect()
}

/// The check that a line of such a file runs, if it is a simple command.
fn command(line: &str) -> Option<String> {
    let mut text = line.trim();
    // An item of any list may be called like a program.
    let is_bare = text.strip_prefix("- ").is_some_and(|item| !item.trim().contains([' ', ':']));
    if is_bare {
        return None;
    }
    for mark in ["- ", "run:", "script:", "- ", "sh "] {
        text = text.strip_prefix(mark).unwrap_or(text).trim();
    }
    let text = text.trim_matches(['"', '\'']);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b" ._-/=:,@+".contains(&byte);
    (text.len() <= 120 && text.bytes().all(plain) && is_check(text)).then(|| text.to_owned())
}

fn is_check(command: &str) -> bool {
    let asks = |wanted: &[&str]| command.split(' ').any(|word| wanted.contains(&word));
    if !may_check(command) {
        return false;
    }
    if let Some((_, phases)) = PHASES.iter().find(|(program, _)| is_at(command, program)) {
        return asks(phases);
    }
    is_named(command) || CHECKS.iter().any(|begin| is_at(command, begin))
}

/// None of its words says that it checks nothing, or does something else.
fn may_check(command: &str) -> bool {
    let is_wrong = |word: &str| {
        let name = word.split('=').next().unwrap_or(word);
        // `tox -epublish` is the same as `tox -e publish`.
        let joined = ["-e", "-s"].iter().any(|short| name.starts_with(short));
        SHORT.contains(&name) || OF_GO.contains(&name) || name == "--skip" || joined
    };
    let installs = INSTALLS.iter().any(|install| is_at(command, install));
    !does_more(command) && !installs && !command.split(' ').any(is_wrong)
}
