//! What the project says about itself is true: tables, commands, links, exit codes, the picture.
//!
//! What can be made from the sources is made here: `INSTA_UPDATE=always cargo test --test quick docs` writes the parts of
//! `docs/` between `<!-- made: … -->` marks and the picture; without it, a difference is a failure.

mod commands;
mod made;
mod picture;

use programmator::config::FileText;
use programmator::domain::ticket::Severity;
use programmator::domain::ticket::parse::parse;
use programmator::tui::command::{Flag, keys_file, table};
use programmator::tui::keys::Keymap;
use programmator::tui::theme::Theme;
use programmator::tui::theme::load::BUILT_IN;
use regex::Regex;
use std::fs;
use std::path::{Path, PathBuf};

pub fn project(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A file of the project.
pub fn read(name: &str) -> String {
    fs::read_to_string(project(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Compares a file with what it should be, or writes it.
pub fn hold(name: &str, wanted: &str) {
    let present = fs::read_to_string(project(name)).unwrap_or_default();
    if present == wanted {
        return;
    }
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        fs::write(project(name), wanted).unwrap();
        return;
    }
    let line = present.lines().zip(wanted.lines()).position(|(one, other)| one != other);
    let line = line.unwrap_or_else(|| present.lines().count().min(wanted.lines().count()));
    panic!(
        "{name} is out of date from line {}:\n  is        {}\n  should be {}\nrun: INSTA_UPDATE=always cargo test --test quick docs",
        line + 1,
        present.lines().nth(line).unwrap_or_default(),
        wanted.lines().nth(line).unwrap_or_default(),
    );
}

/// The pages for people: the README and all of `docs/`.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for entry in fs::read_dir(project("docs")).unwrap() {
        pages.push(format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()));
    }
    pages.sort();
    pages
}

/// All pages as one text.
pub fn documentation() -> String {
    pages().iter().map(|page| read(page) + "\n").collect()
}

#[test]
fn every_link_leads_somewhere() {
    let link = Regex::new(r#"\]\(([^)\s]+)\)|(?:src|href)="([^"]+)""#).unwrap();
    for file in pages().into_iter().chain(["CHANGELOG.md".to_owned()]) {
        let text = read(&file);
        for hit in link.captures_iter(&text) {
            let target = hit.get(1).or(hit.get(2)).unwrap().as_str();
            if target.starts_with("https://") {
                continue;
            }
            let (path, part) = target.split_once('#').unwrap_or((target, ""));
            let folder = Path::new(&file).parent().unwrap();
            let path = if path.is_empty() { PathBuf::from(&file) } else { folder.join(path) };
            assert!(project(path.to_str().unwrap()).exists(), "{file}: {target} is not there");
            if !part.is_empty() {
                let there = read(path.to_str().unwrap());
                let mut headings = there.lines().filter_map(|line| line.strip_prefix('#')).map(anchor);
                assert!(headings.any(|heading| heading == part), "{file}: {target} has no such heading");
            }
        }
    }
}

#[test]
fn the_readme_is_short_and_leads_to_every_page() {
    let readme = read("README.md");
    assert!(readme.lines().count() <= 250, "the README has {} lines", readme.lines().count());
    for page in pages().iter().filter(|page| *page != "README.md") {
        assert!(readme.contains(&format!("]({page})")), "the README does not lead to {page}");
    }
}

/// A heading as GitHub makes a link target of it.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect::<String>().replace(' ', "-")
}

#[test]
fn the_two_commands_open_the_readme_and_ci_runs_the_second() {
    let readme = read("README.md");
    let (first, second) = ("cargo run --release -- demo", "cargo test");
    let at = |command: &str| readme.lines().position(|line| line == command).unwrap_or(usize::MAX);
    assert!(at(first) < at(second) && at(second) < 60, "the commands do not stand in the first lines of the README");
    assert!(
        read(".ci/run").lines().any(|line| line.trim_start().starts_with(second)),
        ".ci/run does not run `{second}` as it stands there"
    );
}

#[test]
fn the_changelog_has_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    let heading = format!("## [{version}]");
    assert!(read("CHANGELOG.md").lines().any(|line| line.starts_with(&heading)), "CHANGELOG.md has no `{heading}`");
}

#[test]
fn every_theme_in_the_folder_is_built_in_and_told_about() {
    let page = read("docs/themes.md");
    let mut names = Vec::new();
    for entry in fs::read_dir(project("themes")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(path.extension().unwrap(), "yaml", "{}", path.display());
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(page.contains(&format!("[`{name}`](../themes/{name}.yaml)")), "docs/themes.md does not tell of {name}");
        assert_eq!(Theme::load(&name, &[], crate::SURFACE).1, [], "{name}");
        names.push(name);
    }
    names.sort();
    assert_eq!(names, BUILT_IN.map(|(name, _)| name));
}

#[test]
fn the_theme_that_is_shown_can_be_read() {
    let page = read("docs/themes.md");
    let block = page.split("```yaml\n").find(|block| block.starts_with("# ~/.config/programmator/themes/"));
    let text = block.and_then(|block| block.split("```").next()).unwrap().to_owned();
    let (_, problems) = Theme::load("shown", &[("shown".to_owned(), text)], crate::SURFACE);
    assert_eq!(problems, []);
}

#[test]
fn the_keys_file_that_is_shown_can_be_read() {
    let page = read("docs/keys.md");
    let block = page.split("```yaml\n").find(|block| block.starts_with("# ~/.config/programmator/keys.yaml"));
    let text = block.and_then(|block| block.split("```").next()).unwrap().to_owned();
    let keys = keys_file::read(&FileText { path: "keys.yaml".into(), text }).unwrap();
    assert!(table().filter(|row| keys.is_own(row)).count() >= 6);
}

#[test]
fn every_example_ticket_is_one() {
    let mut seen = 0;
    for entry in fs::read_dir(project("tickets")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let ticket = parse(&fs::read(&path).unwrap(), &name);
        let errors: Vec<_> = ticket.problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert!(ticket.phases.len() > 1, "{name} shows too little");
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} tickets");
}

#[test]
fn the_ticket_that_the_readme_shows_has_its_phases() {
    let readme = read("README.md");
    let block = readme.split("```markdown\n").nth(1).and_then(|block| block.split("\n```").next()).unwrap();
    let ticket = parse(block.as_bytes(), "tk-4f2a.md");
    assert_eq!(ticket.problems, []);
    assert_eq!((ticket.phases.len(), ticket.validation.len()), (3, 1), "{:?}", ticket.phases);
}

#[test]
fn the_help_screen_has_every_key() {
    let screen = picture::help_screen();
    for row in table().filter(|row| row.flag != Flag::Hidden) {
        let (keys, does) = (Keymap::default().text(row), row.doc_in_group());
        let is_there = |line: &str| line.contains(does) && line.contains(&keys);
        assert!(screen.lines().any(is_there), "{} is not in the help:\n{screen}", row.id);
        assert!(row.doc.chars().count() <= 60, "{} does not fit on 80 columns: {}", row.id, row.doc);
    }
}

#[test]
fn the_page_of_the_crate_names_every_room() {
    let page = read("src/lib.rs");
    for line in page.lines().filter_map(|line| line.strip_prefix("pub mod ")) {
        let room = line.trim_end_matches(';');
        assert!(page.contains(&format!("//! **[`{room}`]**")), "the code map leaves out {room}");
    }
}
