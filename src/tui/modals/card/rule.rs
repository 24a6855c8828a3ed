//! A lasting yes as a rule: YAML that names exactly what was asked about, and nothing that could be more.
//!
//! What the words of a rule mean is the policy's. Where the call cannot be named word for word there is no rule.

use crate::domain::approval::{Approval, UnitView};
use serde_json::Value;
use std::fmt::Write as _;

/// Characters of a command that the shell does not take as they are.
const SPECIAL: &[char] = &[
    '$', '`', '*', '?', '[', ']', '{', '}', '~', '<', '>', '|', '&', ';', '(', ')', '\\', '!', '#', '\n', '\r', '\t',
    '=', '^',
];

/// The rules, as YAML list items; `None` when the call cannot be named.
pub(super) fn of(approval: &Approval) -> Option<String> {
    let input: Value = serde_json::from_str(&approval.input).ok()?;
    let rules = if approval.tool == "Bash" {
        let mut rules: Vec<String> = Vec::new();
        for unit in approval.units.iter().filter(|unit| unit.verdict == "ask") {
            let rule = command(unit)?;
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        rules
    } else {
        vec![tool(&approval.tool, &input)?]
    };
    (!rules.is_empty()).then(|| rules.concat())
}

/// A rule for one simple command with all its words.
fn command(unit: &UnitView) -> Option<String> {
    let words = words(&unit.text)?;
    let (program, args) = words.split_first()?;
    // A program by its path is another one tomorrow.
    if program.contains('/') || unit.text != unit.text.trim() {
        return None;
    }
    let verb = args.first().filter(|word| word.bytes().all(|b| b.is_ascii_lowercase()));
    let name = match verb {
        Some(verb) => format!("always-{program}-{verb}"),
        None => format!("always-{program}"),
    };
    let args: Vec<String> = args.iter().map(|word| quoted(word)).collect();
    let mut rule = head(&name, &unit.text);
    let _ = writeln!(rule, "  tools: [Bash]\n  command: {}", quoted(program));
    if !args.is_empty() {
        let _ = writeln!(rule, "  args: {{prefix: [[{}]]}}", args.join(", "));
    }
    // Without it words that follow would be allowed too.
    let _ = writeln!(rule, "  regex: {}", quoted(&literal(&unit.text)));
    let _ = writeln!(rule, "  examples: {{match: [{}]}}", quoted(&unit.text));
    Some(rule)
}

/// A rule for another tool: this file, this host, else this tool.
fn tool(tool: &str, input: &Value) -> Option<String> {
    let field = |name: &str| input.get(name).and_then(Value::as_str);
    let path = field("file_path").or_else(|| field("notebook_path"));
    let (about, matcher) = match (tool, path) {
        ("Edit" | "MultiEdit" | "Write" | "NotebookEdit", Some(path)) => {
            (path, format!("  paths: {{write: [{}]}}\n", exact(path)?))
        }
        ("Read", Some(path)) => (path, format!("  paths: {{read: [{}]}}\n", exact(path)?)),
        ("WebFetch", _) => {
            let host = host(field("url")?)?;
            (host, format!("  domains: [{}]\n", quoted(host)))
        }
        _ if tool.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)) => ("", String::new()),
        _ => return None,
    };
    let mut rule = head(&format!("always-{}", tool.to_lowercase()), &format!("{tool} {about}"));
    let _ = write!(rule, "  tools: [{tool}]\n{matcher}");
    Some(rule)
}

/// The beginning of every rule. The name tells rules for different things apart.
fn head(name: &str, about: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '-' }).collect();
    // FNV-1a: a mark to tell names apart, no protection.
    let mark = about.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("- name: {plain}-{mark:08x}\n  action: allow\n")
}

/// A path that is no pattern.
fn exact(path: &str) -> Option<String> {
    let plain = path.starts_with('/') && !path.contains(['*', '?', '[', '{', '$', '\\', '!']);
    (plain && !path.split('/').any(|part| part == ".." || part == ".")).then(|| quoted(path))
}

/// The host of a plain URL: no name before it, no port, no trick.
fn host(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
    (plain && host.contains('.')).then_some(host)
}

/// A regex for this text and no other; a policy takes it as the whole of a command.
fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A YAML text in double quotes: JSON is one.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// The words of a command in which nothing is left for the shell to do but taking quotes off.
fn words(text: &str) -> Option<Vec<String>> {
    if crate::tui::widgets::spelt::hides(text) {
        return None;
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for c in text.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\' | '!') => return None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            // An assignment before the command is another command; after it a plain word.
            (None, '=') if !words.is_empty() => word.get_or_insert_default().push(c),
            (None, _) if SPECIAL.contains(&c) => return None,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;
    use proptest::prelude::*;

    #[test]
    fn names_every_word_of_the_command() {
        let rule = of(&sample::push("x")).unwrap();
        let expected = r#"  action: allow
  tools: [Bash]
  command: "git"
  args: {prefix: [["push", "origin", "main", "--follow-tags"]]}
  regex: "git push origin main --follow-tags"
  examples: {match: ["git push origin main --follow-tags"]}
"#;
        assert!(rule.starts_with("- name: always-git-push-") && rule.ends_with(expected), "{rule}");
    }

    #[test]
    fn what_the_shell_would_change_has_no_rule() {
        for text in [
            "git push $X",
            "git push `x`",
            "rm *.rs",
            "A=1 git push",
            "./run.sh",
            "/bin/ls",
            "a > b",
            "echo \"$X\"",
            "echo 'a",
            "echo a\u{202e}b",
            "",
            "echo ~",
            "a\\ b",
        ] {
            let mut approval = sample::push("x");
            approval.units[0].text = text.into();
            assert_eq!(of(&approval), None, "{text:?}");
        }
    }

    #[test]
    fn a_file_or_a_host_is_named_and_no_pattern() {
        let of = |tool: &str, input: &str| of(&sample::asks("x", tool, input, 1));
        assert!(of("Edit", r#"{"file_path":"/p/a b.rs"}"#).unwrap().contains("paths: {write: [\"/p/a b.rs\"]}"));
        assert!(of("WebFetch", r#"{"url":"https://docs.rs/x?y"}"#).unwrap().contains("domains: [\"docs.rs\"]"));
        for (tool, input) in [
            ("Edit", r#"{"file_path":"/p/**"}"#),
            ("Edit", r#"{"file_path":"/p/../q"}"#),
            ("Write", r#"{"file_path":"a"}"#),
            ("WebFetch", r#"{"url":"https://docs.rs@evil.com/"}"#),
            ("WebFetch", r#"{"url":"http://docs.rs/"}"#),
            ("we\nird", "{}"),
        ] {
            assert_eq!(of(tool, input), None, "{tool} {input}");
        }
    }

    proptest! {
        #[test]
        fn is_yaml_that_says_what_was_asked(args in prop::collection::vec("[a-zA-Z0-9/.:@,%+_-]{1,12}|'[^'\\x00-\\x1f]{0,8}'", 0..5)) {
            let mut approval = sample::push("x");
            approval.units[0].text = std::iter::once("prog".to_owned()).chain(args.iter().cloned()).collect::<Vec<_>>().join(" ");
            if let Some(rule) = of(&approval) {
                let read: Value = serde_yaml::from_str(&rule).unwrap();
                let said = read.pointer("/0/args/prefix/0").cloned().unwrap_or_default();
                let meant: Vec<String> = args.iter().map(|arg| arg.trim_matches('\'').to_owned()).collect();
                let said: Vec<String> = serde_json::from_value(said).unwrap_or_default();
                prop_assert_eq!(said, meant);
                let regex = read.pointer("/0/regex").and_then(Value::as_str).unwrap();
                let regex = regex::Regex::new(&format!("\\A(?:{regex})\\z")).unwrap();
                let text = &approval.units[0].text;
                let more = format!("{text} --force");
                prop_assert!(regex.is_match(text) && !regex.is_match(&more));
                prop_assert_eq!(read.pointer("/0/action"), Some(&Value::from("allow")));
            }
        }
    }
}
