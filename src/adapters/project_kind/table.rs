//! What a file alone tells by its name: the table of manifests, and the targets and recipes that check something.

use super::part::{CHECKING, Finding, Kind, first, is_file, read};
use super::words::only_checks;
use serde_json::Value;
use std::path::Path;

/// A manifest and what it tells.
struct Row {
    /// Its name, or `*` and its ending.
    file: &'static str,
    language: &'static str,
    /// What the project is built with.
    tool: &'static str,
    /// Runs the tests.
    tests: &'static [&'static str],
    /// Usual in such a project, but not asked for by it.
    usual: &'static [&'static str],
}

const fn row(
    file: &'static str,
    language: &'static str,
    tool: &'static str,
    tests: &'static [&'static str],
    usual: &'static [&'static str],
) -> Row {
    Row { file, language, tool, tests, usual }
}

/// Manifests whose name says it all; `package.json` and those of Python are looked into elsewhere.
const ROWS: [Row; 17] = [
    row("Cargo.toml", "Rust", "cargo", &["cargo test"], &["cargo clippy -- -D warnings", "cargo fmt --check"]),
    row("go.mod", "Go", "go", &["go test ./...", "go vet ./..."], &[]),
    row("mix.exs", "Elixir", "mix", &["mix test"], &["mix format --check-formatted"]),
    row("Gemfile", "Ruby", "bundler", &[], &[]),
    row("pom.xml", "Java", "maven", &[], &[]),
    row("build.gradle", "Java", "gradle", &[], &[]),
    row("build.gradle.kts", "Kotlin", "gradle", &[], &[]),
    row("*.sln", "C#", "dotnet", &["dotnet test"], &[]),
    row("*.slnx", "C#", "dotnet", &["dotnet test"], &[]),
    row("*.csproj", "C#", "dotnet", &["dotnet test"], &[]),
    row("*.fsproj", "F#", "dotnet", &["dotnet test"], &[]),
    row("composer.json", "PHP", "composer", &[], &[]),
    row("CMakeLists.txt", "C/C++", "cmake", &[], &[]),
    row("meson.build", "C/C++", "meson", &[], &[]),
    row("Package.swift", "Swift", "swift", &["swift test"], &[]),
    row("deno.json", "TypeScript", "deno", &["deno test"], &[]),
    row("deno.jsonc", "TypeScript", "deno", &["deno test"], &[]),
];

/// A command, and the files of which the first that is there asks for it.
const ASKED_FOR: [(&str, &str, &[&str]); 10] = [
    ("Gemfile", "bundle exec rspec", &[".rspec", "spec/spec_helper.rb"]),
    ("Gemfile", "bundle exec rake test", &["test/test_helper.rb"]),
    ("Gemfile", "bundle exec rubocop", &[".rubocop.yml"]),
    ("composer.json", "vendor/bin/phpunit", &["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"]),
    ("composer.json", "vendor/bin/phpstan analyse", &["phpstan.neon", "phpstan.neon.dist"]),
    ("Cargo.toml", "cargo clippy -- -D warnings", &["clippy.toml", ".clippy.toml"]),
    ("Cargo.toml", "cargo fmt --check", &["rustfmt.toml", ".rustfmt.toml"]),
    ("go.mod", "golangci-lint run", &[".golangci.yml", ".golangci.yaml", ".golangci.toml"]),
    ("mix.exs", "mix format --check-formatted", &[".formatter.exs"]),
    ("mix.exs", "mix credo", &[".credo.exs"]),
];

/// What a build in a folder of its own is checked with.
const CMAKE: &str = "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure";
const MESON: &str = "if ! [ -d build ]; then meson setup build; fi && meson test -C build";

/// What is found by the names of files.
pub(super) fn findings(folder: &Path) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut checks: Vec<Finding> = Vec::new();
    for row in &ROWS {
        let Some(file) = named(folder, row.file) else { continue };
        let is_new = |kind: Kind, name: &str| !found.iter().any(|one| one.kind == kind && one.name == name);
        let (language, tool) = (is_new(Kind::Language, row.language), is_new(Kind::Tool, row.tool));
        found.extend(language.then(|| Finding::new(Kind::Language, row.language, &file)));
        found.extend(tool.then(|| Finding::new(Kind::Tool, row.tool, &file)));
        let mut check = |command: &str, evidence: &str, is_own: bool| {
            if !checks.iter().any(|one| one.name == command) {
                checks.push(Finding { is_own, ..Finding::new(Kind::Check, command, evidence) });
            }
        };
        row.tests.iter().for_each(|command| check(command, &file, true));
        if let Some((command, evidence)) = by_wrapper(folder, row.file) {
            check(command, evidence, true);
        }
        for (_, command, asking) in ASKED_FOR.iter().filter(|(of, ..)| *of == row.file) {
            if let Some(evidence) = first(folder, asking) {
                check(command, evidence, true);
            }
        }
        row.usual.iter().for_each(|command| check(command, &file, false));
    }
    found.extend(checks);
    found
}

/// What is usual where a manifest of this language or tool is, in whatever case: the language, the tool, the tests.
pub(super) fn usual(name: &str) -> Vec<(Kind, &'static str)> {
    let is_meant = |row: &&Row| row.language.eq_ignore_ascii_case(name) || row.tool.eq_ignore_ascii_case(name);
    let Some(row) = ROWS.iter().find(is_meant) else { return Vec::new() };
    let checks = row.tests.iter().map(|command| (Kind::Check, *command));
    let built = by_wrapper(Path::new(""), row.file).map(|(command, _)| (Kind::Check, command));
    [(Kind::Language, row.language), (Kind::Tool, row.tool)].into_iter().chain(checks).chain(built).collect()
}

/// The languages of the table, a name as often as it has manifests.
pub(super) fn languages() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.language)
}

/// The name of the file, or of the first with this ending.
fn named(folder: &Path, name: &str) -> Option<String> {
    let Some(ending) = name.strip_prefix('*') else {
        return is_file(&folder.join(name)).then(|| name.to_owned());
    };
    let names = std::fs::read_dir(folder).ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.filter(|name| name.ends_with(ending) && is_file(&folder.join(name))).min()
}

/// Commands that depend on what lies beside the manifest, and the file that says so.
fn by_wrapper(folder: &Path, manifest: &'static str) -> Option<(&'static str, &'static str)> {
    let own = |file: &str| is_file(&folder.join(file));
    Some(match manifest {
        "pom.xml" if own("mvnw") => ("./mvnw -q test", "mvnw"),
        "pom.xml" => ("mvn -q test", manifest),
        "build.gradle" | "build.gradle.kts" if own("gradlew") => ("./gradlew test", "gradlew"),
        "build.gradle" | "build.gradle.kts" => ("gradle test", manifest),
        "CMakeLists.txt" => (CMAKE, manifest),
        "meson.build" => (MESON, manifest),
        _ => return None,
    })
}

/// Targets and recipes that check something, and scripts of `composer.json`.
pub(super) fn add_named(folder: &Path, found: &mut Vec<Finding>) {
    let runners: [(&[&str], &str); 2] =
        [(&["GNUmakefile", "makefile", "Makefile"], "make"), (&["justfile", "Justfile", ".justfile"], "just")];
    for (files, runner) in runners {
        let Some(file) = first(folder, files) else { continue };
        let text = read(&folder.join(file)).unwrap_or_default();
        let rule = |name: &str| rule(&text, name);
        let commands: Vec<String> = CHECKING
            .iter()
            .filter(|name| rule(name).is_some() && only_checks(name, rule))
            .map(|name| format!("{runner} {name}"))
            .collect();
        found.push(Finding::new(Kind::Tool, runner, file));
        found.extend(commands.into_iter().map(|command| Finding::new(Kind::Check, command, file)));
    }
    let composer = read(&folder.join("composer.json")).unwrap_or_default();
    let composer: Value = serde_json::from_str(&composer).unwrap_or_default();
    let script = |name: &str| match composer.pointer(&format!("/scripts/{name}"))? {
        Value::String(one) => Some(one.clone()),
        Value::Array(all) => Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n")),
        _ => None,
    };
    // `@name` in a script runs another one.
    let text = |name: &str| Some(script(name)?.replace('@', "run "));
    let named = CHECKING.iter().filter(|name| script(name).is_some() && only_checks(name, text));
    found.extend(named.map(|name| Finding::new(Kind::Check, format!("composer run {name}"), "composer.json")));
}

/// The words of conditions in a makefile.
const CONDITIONS: [&str; 6] = ["ifdef ", "ifndef ", "ifeq ", "ifneq ", "else", "endif"];

/// What the rule of this name runs, a command a line: what it needs first, then its recipe. `None`: there is none.
fn rule(text: &str, name: &str) -> Option<String> {
    let whole = text.replace("\\\n", " ").replace("$(MAKE)", "make").replace("${MAKE}", "make");
    let mut runs: Option<String> = None;
    let mut is_in = false;
    for line in whole.lines() {
        let is_recipe = line.starts_with([' ', '\t']) || line.trim().is_empty();
        // Neither ends a recipe.
        if !is_recipe && (line.starts_with('#') || CONDITIONS.iter().any(|word| line.starts_with(word))) {
            continue;
        }
        if !is_recipe {
            is_in = is_rule(line, name);
        }
        if is_in {
            let runs = runs.get_or_insert_default();
            match line.split_once(':').filter(|_| !is_recipe) {
                // Of `make` a recipe may begin in the same line.
                Some((_, needed)) => runs.extend(["make ", needed, "\n"]),
                None => runs.extend([line.trim().trim_start_matches(['@', '-', '+']), "\n"]),
            }
        }
    }
    runs
}

/// The line begins a rule of this name: no assignment, no recipe.
fn is_rule(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix('@').unwrap_or(line).strip_prefix(name);
    rest.is_some_and(|rest| {
        let rule = rest.trim_start();
        // A recipe of `just` may have parameters before its colon.
        let begins = rest.starts_with([' ', ':']) && rule.contains(':') && !rule.contains('=');
        begins && !rule.starts_with(":=") && !rule.starts_with("::=")
    })
}
