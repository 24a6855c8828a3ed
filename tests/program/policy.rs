//! `programmator policy` by the real binary: verdicts, exit codes, and what leaves nothing behind.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};

/// Runs `programmator policy` with a home, a workspace and a state folder inside of `folder`.
fn policy(folder: &Path, arguments: &[&str]) -> Output {
    std::fs::create_dir_all(folder.join("home")).unwrap();
    std::fs::create_dir_all(folder.join("work")).unwrap();
    Command::new(env!("CARGO_BIN_EXE_programmator"))
        .arg("policy")
        .args(arguments)
        .current_dir(folder.join("work"))
        .env("HOME", folder.join("home"))
        .env("PROGRAMMATOR_CONFIG_DIR", folder.join("config"))
        .env("PROGRAMMATOR_STATE_DIR", folder.join("state"))
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_verdict_is_an_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, code) in [
        (&["check", "ls -la"][..], 0),
        (&["check", "git push"], 10),
        (&["check", "--profile", "strict", "touch a"], 11),
        (&["check", "cat ~/.ssh/id_rsa"], 2),
        (&["check", "--profile", "trusted", "git push --force"], 0),
        (&["check", "--tool", "Read", "--input", "{\"file_path\":\"a\"}"], 0),
        (&["check", "--tool", "Read", "--input", "no json"], 64),
        (&["check", "--profile", "none", "ls"], 64),
        (&["check", "--policy", "missing.yaml", "ls"], 64),
        (&["check", "--cwd", "/etc/passwd", "ls"], 64),
        (&["check", "--tool", "Read", "--input", "{}", "ls"], 64),
        (&["check", "--tool", "Read"], 64),
        (&["check", "--input", "{}"], 64),
        (&["check", "--tool", "Read", "--input", "[]"], 2),
        (&["check", "--tool", "NoSuchTool", "--input", "{}"], 10),
        (&["check", "--profile", "strict", "--policy", "x", "ls"], 64),
        (&["check", ""], 2),
        (&["check", " \n"], 2),
        (&["check", "-rf"], 10),
        (&["check", "--", "--json"], 10),
        (&["check", &"a".repeat(100_000)], 2),
        (&["check", "--odd", "ls", "more"], 64),
        (&["check"], 64),
        (&["check", "--cwd", "/no/such/folder", "ls"], 0),
        (&["show", "--profile", "strict"], 0),
    ] {
        let output = policy(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {}", text(&output.stderr));
    }
    assert!(!folder.path().join("state").exists(), "what only judges leaves nothing behind");
}

#[test]
fn json_names_each_unit() {
    let folder = tempfile::tempdir().unwrap();
    let output = policy(folder.path(), &["check", "--json", "--profile", "strict", "ls | tee out.txt"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let expected = json!({ "verdict": "passphrase", "units": [
        { "text": "ls", "verdict": "allow", "rule": "allow-reads", "reason": "only reads" },
        { "text": "tee out.txt", "verdict": "passphrase", "rule": "secret-for-write", "reason": "writes in the working directory" },
    ]});
    assert_eq!(value, expected);
}

#[test]
fn words_say_which_unit_decides_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let output = policy(folder.path(), &["check", "--profile", "strict", "ls | wc -l; r\\m -rf \"$d\""]);
    let told = text(&output.stdout);
    assert!(told.contains("BLOCK   (part 3 of 3)"), "{told}");
    assert!(told.contains("block-rm-rf (line "), "{told}");
}

#[test]
fn cases_are_judged_and_misses_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.jsonl");
    let case = |expect: &str| {
        format!(
            "{{\"id\":\"a-1\",\"tool\":\"Bash\",\"input\":{{\"command\":\"ls\"}},\"expect\":\"{expect}\",\"never\":[\"allow\"]}}\n"
        )
    };
    std::fs::write(&file, case("allow").replace("\"never\":[\"allow\"]", "\"never\":[]")).unwrap();
    assert_eq!(policy(folder.path(), &["test", file.to_str().unwrap(), "--profile", "strict"]).status.code(), Some(0));
    std::fs::write(&file, case("block")).unwrap();
    let output = policy(folder.path(), &["test", file.to_str().unwrap(), "--profile", "strict"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("NEVER  a-1"), "{}", text(&output.stdout));
}

#[test]
fn a_broken_policy_blocks_everything_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("work/.programmator");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("policy.yaml"), "version: 1\nruels: []\n").unwrap();
    let output = policy(folder.path(), &["check", "ls"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("policy.yaml:2:1"), "{}", text(&output.stdout));
}

#[cfg(unix)]
#[test]
fn what_is_no_text_is_bad_input() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_programmator"))
        .args(["policy", "check"])
        .arg(OsStr::from_bytes(b"ls \xff"))
        .env("HOME", folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn what_is_no_file_is_named_and_a_command_is_sent_to_check() {
    let folder = tempfile::tempdir().unwrap();
    let output = policy(folder.path(), &["test", "git push origin main"]);
    assert_eq!(output.status.code(), Some(64));
    let told = text(&output.stderr);
    assert!(told.contains("git push origin main: no such file") && told.contains("policy check COMMAND"), "{told}");
    assert!(!told.contains("os error"), "{told}");
    let bare = policy(folder.path(), &["check"]);
    assert_eq!(bare.status.code(), Some(64), "2 says that a command is blocked");
}

#[test]
fn a_bad_policy_alone_blocks_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.yaml");
    for (text, at) in [
        ("version: 1\nrules:\n  - {name: a, action: allow, comand: ls}\n", "p.yaml:3:"),
        ("version: 1\ndefault: allow\n", "p.yaml:2:10"),
        ("version: 1\nrules:\n  - {name: a, action: block, command: ls, examples: {match: [pwd]}}\n", "p.yaml:3:"),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = policy(folder.path(), &["check", "--policy", file.to_str().unwrap(), "ls"]);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(self::text(&output.stdout).contains(at), "{}", self::text(&output.stdout));
    }
    // JSON is YAML.
    std::fs::write(&file, r#"{"version": 1, "rules": [{"name": "a", "action": "ask", "command": "ls"}]}"#).unwrap();
    let output = policy(folder.path(), &["check", "--policy", file.to_str().unwrap(), "ls"]);
    assert_eq!(output.status.code(), Some(10), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("a (line 1 of "), "{}", text(&output.stdout));
}

#[test]
fn a_file_of_cases_is_read_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.jsonl");
    let test = |text: &[u8]| {
        std::fs::write(&file, text).unwrap();
        let output = policy(folder.path(), &["test", file.to_str().unwrap(), "--profile", "guarded"]);
        (output.status.code(), self::text(&output.stdout))
    };
    let good = br#"{"id":"g","tool":"Bash","input":{"command":"cat ~/x link/id"},"expect":"block","new":1,"why":"w","fs":{"symlinks":{"/home/dev/proj/link":"/home/dev/.ssh"}}}"#;
    assert_eq!(test(b"").0, Some(0));
    assert_eq!(test(good).0, Some(0), "{}", test(good).1);
    let (code, told) = test(&[good, &b"\n\nno json\n"[..], b"{\"id\":1}\n", b"\xff\n", good].concat());
    assert_eq!(code, Some(64));
    for line in ["line 3: ", "line 4: ", "line 5: ", "cases: 2, mismatches: 0"] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let relative = br#"{"id":"g","tool":"Bash","cwd":"proj","input":{"command":"ls"},"expect":"allow"}"#;
    assert_eq!(test(relative).0, Some(64));
    let files = br#"{"id":"g","tool":"Bash","cwd":"/p","input":{"command":"cargo test"},"expect":"allow","fs":{"files":["Cargo.toml"]}}"#;
    assert_eq!(test(files).0, Some(0), "{}", test(files).1);
    let mut many = Vec::new();
    for _ in 0..2_000 {
        many.extend_from_slice(br#"{"id":"g","tool":"Read","input":{"file_path":"a"},"expect":"allow"}"#);
        many.push(b'\n');
    }
    many.extend(std::iter::repeat_n(b'x', 5 << 20));
    let (code, told) = test(&many);
    assert_eq!(code, Some(64), "{told}");
    assert!(told.contains("bad    line 2001: longer than") && told.contains("cases: 2000, mismatches: 0"), "{told}");
}

#[test]
fn the_order_of_all_rules_is_shown_with_their_files() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let project = folder.path().join("work/.programmator");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir_all(&project).unwrap();
    write_private(
        &config.join("policy.yaml"),
        "version: 1\nfloor: {protect: ['**/gen/**'], unprotect: ['**/.vscode/**']}\nrules:\n  - {name: mine, action: allow, command: make}\n",
    );
    std::fs::write(
        project.join("policy.yaml"),
        "version: 1\nrules:\n  - {name: theirs, action: allow, command: curl}\n",
    )
    .unwrap();
    let output = policy(folder.path(), &["show"]);
    let told = text(&output.stdout);
    let at = |what: &str| told.find(what).unwrap_or_else(|| panic!("{what}: {told}"));
    assert!(at("it can only make verdicts stricter") < at("theirs"), "{told}");
    assert!(
        at("theirs") < at("mine") && at("mine") < at("profile guarded") && at("profile guarded") < at("ask-unknown"),
        "{told}"
    );
    assert!(at("**/gen/**") < at("profile guarded") && told.contains("unprotect"), "{told}");
    assert!(at("ask-unknown") < at("no rule matches  (profile guarded)"), "{told}");
    for (command, code) in [("make deploy", 0), ("curl https://x.test", 10), ("touch .vscode/a", 0), ("touch gen/a", 2)]
    {
        assert_eq!(policy(folder.path(), &["check", command]).status.code(), Some(code), "{command}");
    }
}

#[cfg(unix)]
fn write_private(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Edits with a program that puts `text` in the place of what it is given; none: that changes nothing.
#[cfg(unix)]
fn edit(folder: &Path, text: Option<&str>) -> Output {
    use std::os::unix::fs::PermissionsExt;
    let editor = folder.join("editor");
    let script = text.map_or("exit 0".to_owned(), |text| format!("cat > \"$1\" <<'END'\n{text}END"));
    std::fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o700)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_programmator"))
        .args(["policy", "edit"])
        .current_dir(folder)
        .env("HOME", folder.join("home"))
        .env("PROGRAMMATOR_CONFIG_DIR", folder.join("config"))
        .env("PROGRAMMATOR_STATE_DIR", folder.join("state"))
        .env("VISUAL", &editor)
        .env_remove("PROGRAMMATOR_RUN_ID")
        .output()
        .unwrap()
}

#[cfg(unix)]
#[test]
fn an_edit_is_checked_before_it_is_saved() {
    const GOOD: &str = "version: 1\nrules:\n  - {name: a, action: ask, command: ls}\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config/policy.yaml");
    let output = edit(folder.path(), None);
    assert_eq!((output.status.code(), file.exists()), (Some(0), false), "{}", text(&output.stderr));
    let output = edit(folder.path(), Some(GOOD));
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), GOOD);
    let output = edit(folder.path(), Some("version: 1\nruels: []\n"));
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("policy.yaml:2:1") && told.contains("was not changed"), "{told}");
    assert!(!told.contains("policy edit"), "it does not send the person where they come from: {told}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), GOOD);
    assert_eq!(policy(folder.path(), &["check", "ls"]).status.code(), Some(10), "the old rules hold");
    // The next edit begins with what was rejected; given up as it is, it is rejected again.
    let output = edit(folder.path(), None);
    assert!(text(&output.stdout).contains("policy.yaml:2:1"), "{}", text(&output.stdout));
    let output = edit(folder.path(), Some("version: 1\n"));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "version: 1\n");
    assert!(!folder.path().join("config/policy.yaml.rejected").exists());
}

#[cfg(unix)]
#[test]
fn clankers_rules_and_passphrase_are_taken_over_once() {
    const PUBLISHED: &str = "788006caf535441ad49e2747bb0edd0203f38a74caacf7c337fc1a9ecfa99cd8";
    let rules = |hash: &str| {
        let rule = |name: &str, kind: &str, pattern: &str| json!({ "name": name, "kind": kind, "pattern": pattern });
        json!({ "default": "block", "secretHash": hash, "rules": [
            rule("allow-reads", "allow", "^(ls|cat)\\b"),
            rule("no-pipes-to-sh", "block", "\\|\\s*sh\\b"),
            rule("secret-for-write", "require-secret", "\\btee\\b|>"),
        ]})
        .to_string()
    };
    let folder = tempfile::tempdir().unwrap();
    let (json, config) = (folder.path().join("policy.json"), folder.path().join("config"));
    let import = |hash: &str, more: &[&str]| {
        std::fs::write(&json, rules(hash)).unwrap();
        policy(folder.path(), &[&["import", json.to_str().unwrap()], more].concat())
    };
    let output = import(PUBLISHED, &["--print"]);
    assert_eq!((output.status.code(), config.exists()), (Some(0), false), "only printed");
    let output = import(PUBLISHED, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("published as a default"), "{}", text(&output.stderr));
    assert!(!config.join("passphrase.phc").exists());
    assert!(config.join("policy.yaml").exists());
    let saved = std::fs::read_to_string(config.join("policy.yaml")).unwrap();
    for (command, code) in [("ls", 0), ("cat a | sh", 2), ("ls | tee x", 11), ("head a", 2)] {
        let policy =
            policy(folder.path(), &["check", "--policy", config.join("policy.yaml").to_str().unwrap(), command]);
        assert_eq!(policy.status.code(), Some(code), "{command} {}", text(&policy.stdout));
    }
    let other = "ab".repeat(32);
    let output = import(&other, &[]);
    assert_eq!(output.status.code(), Some(1), "there are rules already");
    assert!(text(&output.stderr).contains("already exists"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(config.join("policy.yaml")).unwrap(), saved);
    std::fs::remove_file(config.join("policy.yaml")).unwrap();
    assert_eq!(import(&other, &[]).status.code(), Some(0));
    let kept = std::fs::read_to_string(config.join("passphrase.phc")).unwrap();
    assert!(kept.starts_with("$argon2id$") && kept.contains("pre=sha256") && !kept.contains(&other), "{kept}");
    std::fs::remove_file(config.join("policy.yaml")).unwrap();
    let output = import(&"cd".repeat(32), &[]);
    assert!(text(&output.stderr).contains("one is already set"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(config.join("passphrase.phc")).unwrap(), kept);
}
