//! The rule that a lasting yes would be: it names what was asked about and nothing more.

use crate::sample;
use programmator::domain::approval::Approval;
use programmator::domain::verdict::Verdict;
use programmator::policy::proposal::of;
use proptest::prelude::*;
use serde_json::Value;

#[test]
fn names_every_word_of_the_command() {
    let rule = of(&sample::push("x")).unwrap();
    let expected = r#"  action: allow
  tools: [Bash]
  command: "git"
  args: {prefix: [["push", "origin", "main", "--follow-tags"]]}
  regex: "git push origin main --follow-tags"
  cwd: ["/home/ann/shop/**"]
"#;
    assert!(rule.starts_with("- name: always-git-push-") && rule.ends_with(expected), "{rule}");
    let elsewhere = of(&Approval { cwd: Some("/home/ann/other".into()), ..sample::push("x") }).unwrap();
    assert_ne!(rule.lines().next(), elsewhere.lines().next(), "names tell folders apart");
    let anywhere = of(&Approval { cwd: None, ..sample::push("x") }).unwrap();
    assert!(anywhere.ends_with("  note: applies to every project\n"), "{anywhere}");
    assert_eq!(of(&Approval { cwd: Some("/home/*".into()), ..sample::push("x") }), None);
}

#[test]
fn a_tool_whose_input_no_rule_can_name_says_so() {
    let rule = of(&sample::asks("x", "mcp__db__run", r#"{"sql":"select 1"}"#, 1)).unwrap();
    assert!(rule.contains("  tools: [mcp__db__run]\n  reason: any call of it, whatever its input\n  cwd: ["), "{rule}");
}

#[test]
fn what_may_be_fed_has_no_rule() {
    for (whole, offered) in [
        ("python3 -", true),
        ("python3 - | tail -3", true),
        ("true || python3 -", true),
        ("cd src && python3 -; ls", true),
        ("python3 - <<'E'\nprint(1)\nE", false),
        ("python3 - < x.py", false),
        ("python3 - <<< x", false),
        ("cat x.py | python3 -", false),
        ("cat x.py |& python3 -", false),
        ("cat x.py | while true; do python3 -; done", false),
        ("f() { python3 -; }; cat x.py | f", false),
        ("python3 '-'", false),
    ] {
        let input = serde_json::json!({ "command": whole }).to_string();
        let unit = sample::unit("python3 -", Verdict::Ask, "r", "w");
        let approval = Approval { units: vec![unit], ..sample::asks("x", "Bash", &input, 1) };
        assert_eq!(of(&approval).is_some(), offered, "{whole}");
    }
}

#[test]
fn what_the_shell_would_change_has_no_rule() {
    for text in [
        "git push $X", "git push `x`", "rm *.rs", "A=1 git push", "./run.sh", "/bin/ls", "a > b", "echo \"$X\"",
        "echo 'a", "echo a\u{202e}b", "", "echo ~", "a\\ b",
    ] {
        let mut approval = sample::push("x");
        approval.units[0].text = text.into();
        approval.input = serde_json::json!({ "command": text }).to_string();
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
        approval.input = serde_json::json!({ "command": approval.units[0].text }).to_string();
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
