//! The house stands as planned: who may know whom, what is banned where, how long a file may be.
//!
//! `architecture/rules.rs` has the rules, `architecture/planted.rs` proves that each can fail.

mod circles;
mod planted;
mod rules;
mod source;

use source::{Source, read};
use std::collections::BTreeSet;

fn report(found: &[rules::Violation]) -> String {
    let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    lines.concat()
}

#[test]
fn the_sources_keep_the_rules() {
    let sources = read("src", &[".rs"]);
    assert!(sources.len() > 40, "only {} files were found", sources.len());
    let found = rules::violations(&sources);
    assert!(found.is_empty(), "{}", report(&found));
}

#[test]
fn no_file_needs_another_that_needs_it() {
    let arrows = circles::arrows(&read("src", &[".rs"]));
    let found = circles::circles(&arrows);
    let told: String = found.iter().map(|circle| circles::told(circle, &arrows)).collect();
    assert!(found.is_empty(), "{told}\nmove what both need into a file of its own");
}

#[test]
fn a_circle_is_found_and_what_only_looks_like_one_is_not() {
    let circles = |files: &[(&str, &str)]| {
        let sources: Vec<Source> = files.iter().map(|(path, code)| Source::new(path, code)).collect();
        circles::circles(&circles::arrows(&sources))
            .iter()
            .map(|circle| circle.iter().cloned().collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    let a = "src/base/a.rs";
    let b = "src/base/a/b.rs";
    let c = "src/base/c.rs";
    let both = format!("{a} {b}");
    // A parent that calls its child, and a child that takes the parent's type.
    assert_eq!(circles(&[(a, "mod b;\nfn f() { b::g(); }"), (b, "use super::Noun;")]), std::slice::from_ref(&both));
    assert_eq!(circles(&[(a, "mod b;\nuse b::{g as h};"), (b, "fn g(_: super::Noun) {}")]), [both]);
    // Around three files, by the name of an imported module and by a name that is only passed on.
    assert_eq!(
        circles(&[
            (a, "pub mod b;\npub use b::Noun;\nuse crate::base::c as see;\nfn f() { see::h(); }"),
            (b, "use crate::base::a::f;"),
            (c, "use super::a::Noun;"),
        ]),
        [format!("{a} {b} {c}")]
    );
    // Declared, passed on, imported as a module, or needed by tests only.
    let none: [String; 0] = [];
    assert_eq!(circles(&[(a, "pub mod b;\npub use b::Noun;"), (b, "use super::super::a;\nfn f(_: a::Noun) {}")]), none);
    let tests = "#[cfg(test)]\nmod tests {\n    use crate::base::c::g;\n}";
    assert_eq!(circles(&[(a, tests), (c, "use super::a::Noun;")]), none);
}

/// The map of the crate names every room and, of the rooms that do things, every module.
#[test]
fn the_map_names_every_module() {
    let map: String = include_str!("../../src/lib.rs").lines().filter(|line| line.starts_with("//!")).collect();
    for source in read("src", &[".rs"]) {
        let parts: Vec<&str> = source.path.trim_start_matches("src/").trim_end_matches(".rs").split('/').collect();
        let link = match parts[..] {
            ["lib" | "main"] => continue,
            [room] => format!("**[`{room}`]**"),
            [room @ ("adapters" | "runtime"), module] => format!("[`{module}`]({room}::{module})"),
            _ => continue,
        };
        assert!(map.contains(&link), "{} is not on the map in src/lib.rs: {link}", source.path);
    }
}

#[test]
fn every_rule_catches_what_is_planted_and_nothing_else() {
    let mut proven = BTreeSet::new();
    for (rule, path, text) in planted::CAUGHT {
        let found = rules::violations(&[Source::new(path, text)]);
        let hit: BTreeSet<&str> = found.iter().map(|violation| violation.rule).collect();
        assert_eq!(hit, BTreeSet::from([*rule]), "{path}: {text}{}", report(&found));
        proven.insert(*rule);
    }
    let long = format!("//! A file.\n{}", "fn f() {}\n".repeat(400));
    let found = rules::violations(&[Source::new("src/base/x.rs", &long)]);
    assert_eq!(found.iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["length"]);
    proven.insert("length");
    assert_eq!(proven, rules::rules().collect(), "a rule without a planted violation");
}

#[test]
fn what_only_looks_like_a_violation_passes() {
    for (path, text) in planted::LET_PASS {
        let found = rules::violations(&[Source::new(path, text)]);
        assert!(found.is_empty(), "{path}: {text}{}", report(&found));
    }
    let tested = format!("//! A file.\n#[cfg(test)]\nmod tests {{\n{}}}\n", "    fn f() {}\n".repeat(900));
    assert_eq!(report(&rules::violations(&[Source::new("src/base/x.rs", &tested)])), "");
}

#[test]
fn every_dependency_is_used() {
    let manifest = include_str!("../../Cargo.toml");
    let sources: Vec<Source> = ["src", "tests", "benches"].iter().flat_map(|folder| read(folder, &[".rs"])).collect();
    let unused = rules::unused_dependencies(manifest, &sources);
    assert!(unused.is_empty(), "remove from Cargo.toml what nothing uses: {unused:?}");
}

#[test]
fn an_unused_dependency_is_caught() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\nused = \"1\"\nnot-used = { version = \"1\" }\n\
                    [target.'cfg(unix)'.dependencies]\nalso_not = \"1\"\n[lints.rust]\nwarn = \"x\"\n";
    let sources = [Source::new("src/x.rs", "//! not_used::x\nuse used::Thing;\n")];
    assert_eq!(rules::unused_dependencies(manifest, &sources), ["not_used", "also_not"]);
}

#[test]
fn no_path_of_a_machine_is_in_the_project() {
    let mut sources = read("src", &[]);
    for folder in ["benches", "tests", "themes", "tickets", ".ci", ".config", ".github"] {
        sources.extend(read(folder, &[]));
    }
    // What was recorded stays as it was.
    sources.retain(|source| !source.path.starts_with("tests/fixtures/"));
    for name in ["README.md", "CHANGELOG.md", "Cargo.toml"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        sources.extend(std::fs::read_to_string(path).ok().map(|text| Source::new(name, &text)));
    }
    let found = rules::machine_paths(&sources);
    assert!(found.is_empty(), "{}", report(&found));
}

#[test]
fn a_path_of_a_machine_is_caught() {
    let caught = [concat!("let x = \"/ro", "ot/x\";"), concat!("cp /wo", "rk/a b"), concat!("/ho", "me/someone/x")];
    for text in caught {
        assert_eq!(rules::machine_paths(&[Source::new("x", text)]).len(), 1, "{text}");
    }
    let clean =
        [concat!("src/ro", "ot/x"), concat!("team/wo", "rk/x"), concat!("/ho", "me/dev/x"), concat!("~/wo", "rk/x")];
    for text in clean {
        assert!(rules::machine_paths(&[Source::new("x", text)]).is_empty(), "{text}");
    }
}
