//! Puts a rule that the person has read into their policy file: exactly the text that was shown, and nothing else
//! changes.
//!
//! Does not own what rules mean (`policy`) nor how one is worded (`tui::modals::card`). A file in a form that cannot
//! be added to line by line is left alone.

use crate::adapters::private_file::{self, PrivateFileError};
use crate::policy::rules::file::{Author, PolicyError, read};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A rule could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// It could not be used: it would block everything.
    #[error("{0}; nothing was saved")]
    Policy(#[from] PolicyError),
    /// It was saved, but who may read it could not be restored.
    #[error("{path}: saved, but its permissions could not be restored: {reason}")]
    Mode { path: String, reason: String },
    /// Where or how it is to be saved.
    #[error("{path}: {reason}; nothing was saved")]
    Form {
        path: String,
        /// What is in the way.
        reason: String,
    },
}

/// The policy file of the person's config folder.
pub fn path(config_folder: &Path) -> PathBuf {
    config_folder.join("policy.yaml")
}

/// Makes the file, which must not be there yet, and says where.
pub fn create(config_folder: &Path, text: &str) -> Result<PathBuf, SaveError> {
    let path = path(config_folder);
    replace(&path, None, text)?;
    Ok(path)
}

/// Puts `new` in the place of `old`, the file's text when it was read; `None` when there was no file. Who may read it
/// stays as it is, and so does a link to it. A file that says something else by now is left alone.
pub fn replace(path: &Path, old: Option<&str>, new: &str) -> Result<(), SaveError> {
    let form = |reason: &str| SaveError::Form { path: path.display().to_string(), reason: reason.to_owned() };
    let _lock = private_file::lock(&path.with_extension("lock"))?;
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let now = match fs::read_to_string(&target) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(form(&error.to_string())),
    };
    match (old, &now) {
        (None, Some(_)) => return Err(form("it already exists")),
        (old, now) if old != now.as_deref() => return Err(form("another program changed it in the meantime")),
        _ => {}
    }
    // A file that cannot be used would block everything.
    read(&path.display().to_string(), new, Author::Person)?;
    let mode = fs::metadata(&target).ok().map(|metadata| metadata.permissions());
    private_file::write(&target, new)?;
    match mode.map(|mode| fs::set_permissions(&target, mode)) {
        Some(Err(error)) => Err(SaveError::Mode { path: path.display().to_string(), reason: error.to_string() }),
        Some(Ok(())) | None => Ok(()),
    }
}

/// Saves `rules` (YAML list items, `- name: …`, not indented) before the rule called `before` when that stands in
/// the file, else at the end of its rules: what was asked about goes on to be decided by every rule above. Makes the
/// file when there is none. Returns its path.
pub fn save(config_folder: &Path, rules: &str, before: &str) -> Result<PathBuf, SaveError> {
    let path = path(config_folder);
    let form = |reason: String| SaveError::Form { path: path.display().to_string(), reason };
    // Two programs that save at one moment must not lose a rule.
    let _lock = private_file::lock(&config_folder.join("policy.lock"))?;
    let old = private_file::read(&path)?.unwrap_or_else(|| "version: 1\nrules:\n".to_owned());
    let new = inserted(&old, rules, before).map_err(form)?;
    // A file that cannot be used would block everything.
    read(&path.display().to_string(), &new, Author::Person).map_err(|error| form(error.message))?;
    private_file::write(&path, &new)?;
    Ok(path)
}

/// The text with the rules in it, checked by reading it again.
fn inserted(old: &str, rules: &str, before: &str) -> Result<String, String> {
    let known = list(old)?;
    let added = list(&format!("rules:\n{}", indented(rules, 2)))?;
    for rule in &added {
        let name = rule.get("name").and_then(Value::as_str).ok_or("a rule has no name")?;
        if known.iter().any(|known| known.get("name").and_then(Value::as_str) == Some(name)) {
            return Err(format!("a rule called {name} already exists"));
        }
    }
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let Some(head) = lines.iter().position(|line| line.trim_end() == "rules:") else {
        return Err("`rules:` is not on a separate line".into());
    };
    let place = place(&lines, head, before);
    let mut new: String = lines[..place.line].concat();
    if !new.ends_with('\n') {
        new.push('\n');
    }
    new.push_str(&indented(rules, place.indent));
    new.extend(lines[place.line..].iter().copied());
    // What it says now is what it said, and the rules.
    let mut expected = known;
    let at = place.rule.min(expected.len());
    expected.splice(at..at, added);
    if list(&new)? == expected {
        Ok(new)
    } else {
        Err("a rule cannot be added to its layout automatically; add it by hand: programmator policy edit".into())
    }
}

/// Where the rules go.
struct Place {
    /// Before this line.
    line: usize,
    rule: usize,
    /// Blanks before each `-`.
    indent: usize,
}

fn place(lines: &[&str], head: usize, before: &str) -> Place {
    let indent_of = |line: &str| line.len() - line.trim_start().len();
    let is_item = |line: &str| line.trim_start().starts_with("- ");
    let body = &lines[head + 1..];
    let indent = body.iter().find(|line| is_item(line)).map_or(2, |line| indent_of(line));
    let mut rule = 0;
    let mut end = head + 1;
    for (at, line) in (head + 1..).zip(body) {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') {
            continue;
        }
        let item = is_item(line) && indent_of(line) == indent;
        if !item && indent_of(line) <= indent.min(1) {
            break;
        }
        if item {
            if bare.strip_prefix("- name:").is_some_and(|name| name.trim().trim_matches(['"', '\'']) == before) {
                return Place { line: at, rule, indent };
            }
            rule += 1;
        }
        end = at + 1;
    }
    Place { line: end, rule, indent }
}

/// The rules in the text; a file that is empty but for `rules:` has none.
fn list(text: &str) -> Result<Vec<Value>, String> {
    let file: Value = serde_yaml::from_str(text).map_err(|error| format!("it cannot be read: {error}"))?;
    match file.get("rules") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(rules)) => Ok(rules.clone()),
        Some(_) => Err("`rules` is not a list".into()),
    }
}

fn indented(rules: &str, by: usize) -> String {
    rules.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{:by$}{line}\n", "") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str =
        "- name: always-git-push\n  action: allow\n  tools: [Bash]\n  command: git\n  args: {prefix: [[push]]}\n";

    fn insert(old: &str, before: &str) -> Result<String, String> {
        inserted(old, RULE, before)
    }

    #[test]
    fn stands_before_the_rule_that_asked_else_at_the_end() {
        let old = "# mine\nversion: 1\nrules:\n  # first\n  - name: one\n    action: block\n  - name: two\n    action: ask\nfloor: {}\n";
        let rule = indented(RULE, 4).replace("    - name", "  - name").replace("      ", "    ");
        let two = "  - name: two\n    action: ask\n";
        assert_eq!(insert(old, "two").unwrap(), old.replace(two, &format!("{rule}{two}")));
        assert_eq!(insert(old, "elsewhere").unwrap(), old.replace(two, &format!("{two}{rule}")));
        let no_newline = "rules:\n- name: one\n  action: ask";
        assert_eq!(insert(no_newline, "x").unwrap(), format!("{no_newline}\n{RULE}"));
        assert_eq!(insert("version: 1\nrules:\n", "x").unwrap(), format!("version: 1\nrules:\n{rule}"));
    }

    #[test]
    fn what_cannot_be_added_to_is_left_alone() {
        let cases = [
            ("version: 1\n", "on a separate line"),
            ("rules: []\n", "on a separate line"),
            ("{\"version\": 1, \"rules\": []}", "on a separate line"),
            ("rules:\n  - name: always-git-push\n", "already"),
            ("rules:\n\t- x", "cannot be read"),
            ("rules: 3\n", "not a list"),
            ("note: |\n  rules:\nrules: [{name: a}]\n", "on a separate line"),
        ];
        for (old, reason) in cases {
            let error = insert(old, "x").unwrap_err();
            assert!(error.contains(reason), "{old:?}: {error}");
        }
    }

    #[test]
    fn a_file_is_replaced_where_it_is_with_the_rights_that_it_has() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.yaml"), folder.path().join("policy.yaml"));
        fs::write(&real, "version: 1\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("real.yaml", &link).unwrap();
        replace(&link, Some("version: 1\n"), "version: 1\nrules: []\n").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "version: 1\nrules: []\n");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        for (old, new, why) in [
            (None, "version: 1\n", "already exists"),
            (Some("version: 1\n"), "version: 1\n", "in the meantime"),
            (Some("version: 1\nrules: []\n"), "version: 1\nruels: []\n", ":2:1"),
        ] {
            let error = replace(&link, old, new).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
            assert_eq!(fs::read_to_string(&real).unwrap(), "version: 1\nrules: []\n");
        }
    }

    #[test]
    fn is_written_for_the_owner_alone_and_only_once() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        let saved = save(&config, RULE, "asks").unwrap();
        assert_eq!(std::fs::metadata(&saved).unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&saved).unwrap();
        assert!(text.starts_with("version: 1\nrules:\n  - name: always-git-push\n"), "{text}");
        assert!(save(&config, RULE, "asks").unwrap_err().to_string().contains("already"));
        assert_eq!(std::fs::read_to_string(&saved).unwrap(), text);
    }
}
