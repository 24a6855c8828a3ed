//! A type of project that the person names, where files show several or none.

use super::part::{Finding, Kind, Part};
use super::table;
use std::collections::BTreeSet;

/// What a person may call a language, and how it is called here.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("node", "JavaScript"),
    ("js", "JavaScript"),
    ("ts", "TypeScript"),
    ("golang", "Go"),
    ("csharp", "C#"),
    ("c", "C/C++"),
    ("c++", "C/C++"),
    ("cpp", "C/C++"),
];
/// What languages are checked with that the table of manifests does not have.
const WITHOUT_A_ROW: [(&str, &str); 3] = [("Python", "pytest"), ("JavaScript", "npm test"), ("TypeScript", "npm test")];
/// Where a finding comes from that no file shows.
const SAID: &str = "--project-type";

/// What of the parts is of the type: a language, a framework or a package manager, in whatever case. Where none is, what is
/// usual in such a project. An error gives the names that are known.
pub fn only(parts: Vec<Part>, name: &str) -> Result<Vec<Part>, Vec<&'static str>> {
    let alias = OTHER_NAMES.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
    let name = alias.map_or(name, |(_, name)| name);
    let kept: Vec<Part> = parts.into_iter().filter_map(|part| of_type(part, name)).collect();
    if !kept.is_empty() {
        return Ok(kept);
    }
    let findings = usual(name);
    if findings.is_empty() { Err(known()) } else { Ok(vec![Part { folder: String::new(), findings }]) }
}

/// The part without what another language's manifest shows; `None` where it is not of the type.
fn of_type(mut part: Part, name: &str) -> Option<Part> {
    let is_meant = |one: &Finding| one.kind != Kind::Check && one.name.eq_ignore_ascii_case(name);
    let manifests: BTreeSet<String> =
        part.findings.iter().filter(|one| is_meant(one)).map(|one| one.evidence.clone()).collect();
    if manifests.is_empty() {
        return None;
    }
    let languages = part.findings.iter().filter(|one| one.kind == Kind::Language);
    let others: BTreeSet<String> =
        languages.map(|one| one.evidence.clone()).filter(|file| !manifests.contains(file)).collect();
    part.findings.retain(|one| !others.contains(&one.evidence));
    Some(part)
}

/// What is usual in a project of this type.
fn usual(name: &str) -> Vec<Finding> {
    let mut found = table::usual(name);
    if let Some((language, command)) = WITHOUT_A_ROW.iter().find(|(one, _)| one.eq_ignore_ascii_case(name)) {
        found = vec![(Kind::Language, *language), (Kind::Check, *command)];
    }
    found.into_iter().map(|(kind, name)| Finding::new(kind, name, SAID)).collect()
}

fn known() -> Vec<&'static str> {
    let mut names: Vec<&str> = table::languages().chain(WITHOUT_A_ROW.iter().map(|(name, _)| *name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(findings: &[(Kind, &'static str, &str)]) -> Part {
        let findings = findings.iter().map(|(kind, name, file)| Finding::new(*kind, *name, *file)).collect();
        Part { folder: String::new(), findings }
    }

    fn names(parts: &[Part]) -> Vec<String> {
        parts.iter().flat_map(|part| part.findings.iter().map(|one| one.name.clone())).collect()
    }

    #[test]
    fn what_other_languages_show_is_left_out_and_what_is_nobodys_stays() {
        let all = [
            (Kind::Language, "Rust", "Cargo.toml"),
            (Kind::Check, "cargo test", "Cargo.toml"),
            (Kind::Language, "Go", "go.mod"),
            (Kind::Check, "go test ./...", "go.mod"),
            (Kind::Check, "make test", "Makefile"),
        ];
        let kept = only(vec![part(&all)], "golang").unwrap();
        assert_eq!(names(&kept), ["Go", "go test ./...", "make test"]);
    }

    #[test]
    fn a_type_that_no_file_shows_has_its_usual_checks() {
        let rust = [(Kind::Language, "Rust", "Cargo.toml")];
        assert_eq!(names(&only(vec![part(&rust)], "PYTHON").unwrap()), ["Python", "pytest"]);
        assert_eq!(names(&only(Vec::new(), "ts").unwrap()), ["TypeScript", "npm test"]);
        assert!(
            only(Vec::new(), "Maven")
                .unwrap()
                .iter()
                .any(|part| part.findings.iter().any(|one| one.kind == Kind::Check))
        );
        let known = only(vec![part(&rust)], "cobol").unwrap_err();
        assert!(known.contains(&"Rust") && known.is_sorted(), "{known:?}");
    }
}
