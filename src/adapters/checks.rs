//! Commands with which a repository is usually checked, told by the files that it has. Reads names and three small files; runs
//! nothing.

use std::path::Path;

/// A file of the repository's top folder, and the commands that come with it.
const BY_FILE: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["cargo test", "cargo clippy -- -D warnings", "cargo fmt --check"]),
    ("go.mod", &["go test ./...", "go vet ./..."]),
    ("pyproject.toml", &["pytest", "ruff check ."]),
    ("pytest.ini", &["pytest"]),
    ("mix.exs", &["mix test"]),
    ("Gemfile", &["bundle exec rake test"]),
    ("pom.xml", &["mvn -q test"]),
    ("build.gradle", &["./gradlew test"]),
    ("build.gradle.kts", &["./gradlew test"]),
    ("composer.json", &["composer test"]),
    ("Package.swift", &["swift test"]),
    ("deno.json", &["deno test"]),
];

/// Scripts of a `package.json`, targets of a `Makefile` and recipes of a `justfile` that check something.
const CHECKING: [&str; 6] = ["test", "check", "lint", "typecheck", "type-check", "ci"];

/// Largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The commands, likeliest first; empty where nothing tells any.
pub fn usual(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (file, commands) in BY_FILE {
        if folder.join(file).is_file() {
            found.extend(commands.iter().map(|command| (*command).to_owned()));
        }
    }
    found.extend(named(folder));
    found
}

/// Those that the repository's own files name: scripts, targets and recipes.
pub fn named(folder: &Path) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let runner = ["pnpm", "yarn"].into_iter().find(|tool| folder.join(lock_of(tool)).is_file()).unwrap_or("npm");
    let scripts =
        read(&folder.join("package.json")).and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    let has = |name: &str| scripts.as_ref().is_some_and(|json| json.pointer(&format!("/scripts/{name}")).is_some());
    found.extend(CHECKING.iter().filter(|name| has(name)).map(|name| format!("{runner} run {name}")));
    for (file, runner) in [("Makefile", "make"), ("justfile", "just")] {
        let text = read(&folder.join(file)).unwrap_or_default();
        let has =
            |name: &str| text.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
        found.extend(CHECKING.iter().filter(|name| has(name)).map(|name| format!("{runner} {name}")));
    }
    found
}

fn lock_of(tool: &str) -> &'static str {
    if tool == "pnpm" { "pnpm-lock.yaml" } else { "yarn.lock" }
}

fn read(path: &Path) -> Option<String> {
    let small = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
    small.then(|| std::fs::read_to_string(path).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_those_of_the_files_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert!(usual(folder.path()).is_empty());
        write("Makefile", "all: x\ntest: all\n\t./t\n.PHONY: check\n");
        write("package.json", r#"{"scripts":{"lint":"eslint .","start":"node ."}}"#);
        write("pnpm-lock.yaml", "");
        assert_eq!(usual(folder.path()), ["pnpm run lint", "make test"]);
        write("justfile", "ci:\n  true\nbuild:\n");
        assert_eq!(usual(folder.path()).last().map(String::as_str), Some("just ci"));
        std::fs::remove_file(folder.path().join("justfile")).unwrap();
        write("Cargo.toml", "[package]");
        assert_eq!(usual(folder.path())[0], "cargo test");
        write("package.json", "{ no json");
        assert_eq!(usual(folder.path()).last().map(String::as_str), Some("make test"));
    }
}
