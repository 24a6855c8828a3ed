//! Clanker's `policy.json` as a policy of ours. Its regexes keep their meaning where they block; where they allow,
//! they can only narrow what is proven. Its passphrase is only found here; `adapters::passphrase` keeps it.

use crate::domain::verdict::Verdict;
use crate::policy::rules;
use serde_json::Value;
use std::fmt::Write as _;

/// A policy file, and what the person should know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub yaml: String,
    pub remarks: Vec<String>,
    /// The SHA-256 of its passphrase, as it stands there.
    pub sha256: Option<String>,
}

/// The SHA-256 of a passphrase: the one text of 64 hex digits under a name that speaks of a secret. In no rule, or in
/// all that have one the same.
fn passphrase(value: &Value) -> Result<Option<String>, String> {
    let mut found: Option<String> = None;
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        let Value::Object(fields) = value else {
            left.extend(value.as_array().into_iter().flatten());
            continue;
        };
        for (name, value) in fields {
            let name = name.to_lowercase();
            let speaks = ["hash", "sha256", "secret", "passphrase", "password"].iter().any(|word| name.contains(word));
            match value.as_str() {
                Some(text) if speaks && is_sha256(text) => {
                    let text = text.to_ascii_lowercase();
                    if found.as_ref().is_some_and(|found| *found != text) {
                        return Err("it has several passphrases; only one is supported".to_owned());
                    }
                    found = Some(text);
                }
                _ => left.push(value),
            }
        }
    }
    Ok(found)
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads Clanker's rules: a list, or an object with `rules` and `default`. Each rule has a name, a kind and a regex.
pub fn clanker(text: &str) -> Result<Imported, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    let rules = value.get("rules").unwrap_or(&value).as_array().ok_or("it has no list of rules")?;
    let mut yaml = String::from("version: 1\ndefault: block\nrules:\n");
    let mut remarks = Vec::new();
    if value.get("default").and_then(Value::as_str).is_some_and(|default| default != "block") {
        remarks.push("its default was not `block`; the imported policy blocks by default".to_owned());
    }
    for (at, rule) in rules.iter().enumerate() {
        let field = |names: &[&str]| names.iter().find_map(|name| rule.get(*name)?.as_str());
        let name = field(&["name", "id"]).map_or_else(|| format!("rule-{}", at + 1), str::to_owned);
        let kind = field(&["kind", "action", "verdict", "type"]).ok_or_else(|| format!("{name} has no kind"))?;
        let action = match kind {
            "allow" => Verdict::Allow,
            "block" | "deny" => Verdict::Block,
            "require-secret" | "require_secret" | "secret" | "require-passphrase" => Verdict::Passphrase,
            other => return Err(format!("{name} has the unknown kind {other}")),
        };
        let pattern = field(&["pattern", "regex", "match"]).ok_or_else(|| format!("{name} has no pattern"))?;
        regex::Regex::new(pattern).map_err(|error| format!("{name}: {error}"))?;
        let word = if action == Verdict::Passphrase { "require-passphrase" } else { action.word() };
        // JSON strings are YAML strings.
        let quote = |text: &str| Value::from(text).to_string();
        let _ = write!(yaml, "  - name: {}\n    action: {word}\n    tools: [Bash]\n", quote(&name));
        match action {
            Verdict::Allow => {
                let _ = writeln!(
                    yaml,
                    "    effects: [read, internal]\n    regex: {}",
                    quote(&format!(".*(?:{pattern}).*"))
                );
                remarks.push(format!("{name}: allows reads that match its pattern"));
            }
            Verdict::Ask | Verdict::Passphrase | Verdict::Block => {
                let _ = writeln!(yaml, "    regex: {}", quote(pattern));
            }
        }
        if let Some(reason) = field(&["reason", "description"]) {
            let _ = writeln!(yaml, "    reason: {}", quote(reason));
        }
    }
    // What could not be used would block everything.
    rules::file::read("the imported rules", &yaml, rules::file::Author::Person).map_err(|error| error.message)?;
    remarks.push("with `policy.profile: strict` in config.yaml, only these rules allow anything".to_owned());
    Ok(Imported { yaml, remarks, sha256: passphrase(&value)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::rules::file::{Author, read};

    #[test]
    fn clankers_rules_become_ours() {
        let json = r#"{"default": "block", "rules": [
            {"name": "allow-reads", "kind": "allow", "pattern": "^(ls|cat|grep)\\b"},
            {"name": "block-network", "kind": "block", "pattern": "\\b(curl|wget)\\b", "reason": "no: \"net\""},
            {"name": "secret-for-write", "kind": "require-secret", "pattern": ">|\\btee\\b"}]}"#;
        let imported = clanker(json).unwrap();
        let file = read("imported", &imported.yaml, Author::Person).unwrap();
        let rules: Vec<(&str, Verdict)> = file.rules.iter().map(|rule| (rule.name.as_str(), rule.action)).collect();
        let expected = [
            ("allow-reads", Verdict::Allow),
            ("block-network", Verdict::Block),
            ("secret-for-write", Verdict::Passphrase),
        ];
        assert_eq!(rules, expected);
        for wrong in [
            "[",
            "{}",
            r#"[{"name": "a", "kind": "odd", "pattern": "x"}]"#,
            r#"[{"kind": "allow", "pattern": "("}]"#,
            r#"[{"name": "a", "kind": "block", "pattern": "x"}, {"name": "a", "kind": "block", "pattern": "y"}]"#,
        ] {
            assert!(clanker(wrong).is_err(), "{wrong}");
        }
    }
    #[test]
    fn its_passphrase_is_found_wherever_it_stands() {
        let hash = "AB".repeat(32);
        let rule = r#"{"name": "w", "kind": "require-secret", "pattern": "x""#;
        for json in [
            format!(r#"{{"secretHash": "{hash}", "rules": [{rule}}}]}}"#),
            format!(r#"{{"auth": {{"sha256": "{hash}"}}, "rules": [{rule}}}]}}"#),
            format!(r#"[{rule}, "secret_hash": "{hash}"}}]"#),
        ] {
            assert_eq!(clanker(&json).unwrap().sha256, Some(hash.to_lowercase()), "{json}");
        }
        assert_eq!(clanker(&format!(r#"{{"id": "{hash}", "rules": [{rule}}}]}}"#)).unwrap().sha256, None);
        let two = format!(r#"{{"hash": "{hash}", "secret": "{}", "rules": [{rule}}}]}}"#, "cd".repeat(32));
        assert!(clanker(&two).unwrap_err().contains("several"));
    }
}
