//! What a build tool is told to do, by its name: whether that is a build, a test or a check, or reaches further.

use crate::policy::commands::programs::reaching_target;

/// Whether a name says that it builds, tests, lints, formats or checks, and nothing that reaches further.
pub fn checks(name: &str) -> bool {
    const CHECKS: [&str; 86] = [
        "all", "analyse", "analyze", "arch", "assemble", "bench", "benchmark", "benchmarks", "black", "build",
        "bundle", "check", "checks", "checkstyle", "ci", "classes", "clean", "clippy", "codegen", "compile",
        "coverage", "cov", "credo", "debug", "detekt", "doc", "docs", "e2e", "eslint", "examples", "flake8", "fmt",
        "format", "gen", "generate", "help", "html", "integration", "isort", "jacoco", "jar", "javadoc", "jest",
        "ktlint", "lint", "linter", "linters", "lints", "mock", "mocks", "mypy", "phpstan", "phpunit", "playwright",
        "pmd", "precommit", "precompile", "prettier", "proto", "protobuf", "protos", "pylint", "pyright", "pytest",
        "rebuild", "rspec", "rubocop", "ruff", "rustfmt", "smoke", "spec", "specs", "spotbugs", "spotless", "style",
        "stylelint", "test", "testing", "tests", "tidy", "tsc", "typecheck", "types", "typescript", "unit", "verify",
    ];
    let words = words_of(name);
    let more = ["vet", "vitest", "zeitwerk", "typedoc", "typing", "validate", "war", "debugger", "cargo"];
    let says = |word: &String| CHECKS.contains(&word.as_str()) || more.contains(&word.as_str());
    words.iter().any(says) && reaching_target(name).is_none()
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
            assert!(reaching_target(name).is_some(), "{name}");
        }
        for name in ["dropdown", "pushpin", "relearn", "seedling", "migraine"] {
            assert_eq!(reaching_target(name), None, "{name}");
        }
    }
}
