//! What a build tool is told to do, by its name: whether that is a build, a test or a check, or reaches further.

/// Whether a name says that it builds, tests, lints, formats or checks, and nothing that reaches further.
pub fn checks(name: &str) -> bool {
    const CHECKS: [&str; 86] = [
        "all",
        "analyse",
        "analyze",
        "arch",
        "assemble",
        "bench",
        "benchmark",
        "benchmarks",
        "black",
        "build",
        "bundle",
        "check",
        "checks",
        "checkstyle",
        "ci",
        "classes",
        "clean",
        "clippy",
        "codegen",
        "compile",
        "coverage",
        "cov",
        "credo",
        "debug",
        "detekt",
        "doc",
        "docs",
        "e2e",
        "eslint",
        "examples",
        "flake8",
        "fmt",
        "format",
        "gen",
        "generate",
        "help",
        "html",
        "integration",
        "isort",
        "jacoco",
        "jar",
        "javadoc",
        "jest",
        "ktlint",
        "lint",
        "linter",
        "linters",
        "lints",
        "mock",
        "mocks",
        "mypy",
        "phpstan",
        "phpunit",
        "playwright",
        "pmd",
        "precommit",
        "precompile",
        "prettier",
        "proto",
        "protobuf",
        "protos",
        "pylint",
        "pyright",
        "pytest",
        "rebuild",
        "rspec",
        "rubocop",
        "ruff",
        "rustfmt",
        "smoke",
        "spec",
        "specs",
        "spotbugs",
        "spotless",
        "style",
        "stylelint",
        "test",
        "testing",
        "tests",
        "tidy",
        "tsc",
        "typecheck",
        "types",
        "typescript",
        "unit",
        "verify",
    ];
    let words = words_of(name);
    let more = ["vet", "vitest", "zeitwerk", "typedoc", "typing", "validate", "war", "debugger", "cargo"];
    let says = |word: &String| CHECKS.contains(&word.as_str()) || more.contains(&word.as_str());
    words.iter().any(says) && !reaches_further(name)
}

/// Whether a name says that it changes what stands elsewhere: a server, a registry, a database.
pub fn reaches_further(name: &str) -> bool {
    const STEMS: [&str; 22] = [
        "deploy",
        "publish",
        "releas",
        "push",
        "migrat",
        "seed",
        "drop",
        "purg",
        "upload",
        "install",
        "uninstall",
        "destroy",
        "delet",
        "wip",
        "rollback",
        "rollout",
        "promot",
        "teardown",
        "provision",
        "undeploy",
        "ship",
        "unpublish",
    ];
    const AGAIN: [&str; 7] = ["re", "un", "auto", "pre", "npm", "db", "git"];
    const ENDS: [&str; 15] =
        ["", "s", "e", "es", "d", "ed", "er", "ers", "ing", "ion", "ions", "ment", "ments", "ate", "db"];
    words_of(name).iter().any(|word| {
        let ends =
            |word: &str| STEMS.iter().any(|stem| word.strip_prefix(*stem).is_some_and(|end| ENDS.contains(&end)));
        ends(word) || AGAIN.iter().any(|before| word.strip_prefix(before).is_some_and(ends))
    })
}

/// The words of a name like `test:unit`, `test_unit` or `testUnit`, in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for char in name.chars() {
        let new = !char.is_ascii_alphanumeric() || (char.is_ascii_uppercase() && !before.is_ascii_uppercase());
        if new && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| char.is_ascii_alphanumeric()) {
            word.push(char.to_ascii_lowercase());
        }
        before = char;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_check_by_its_words() {
        for name in ["test", "test:unit", "unit-tests", "compileTestJava", ":app:testDebug", "lint_fix", "build/html"] {
            assert!(checks(name), "{name}");
        }
        for name in ["deploy", "test:deploy", "buildAndPublish", "release", "db:migrate", "seeds", "latest", "start"] {
            assert!(!checks(name), "{name}");
        }
        for name in ["publishToMavenLocal", "db:seed", "dropdb", "releases", "npm-publish", "purge", "pushes"] {
            assert!(reaches_further(name), "{name}");
        }
        for name in ["dropdown", "pushpin", "relearn", "seedling", "migraine"] {
            assert!(!reaches_further(name), "{name}");
        }
    }
}
