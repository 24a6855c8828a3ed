//! `programmator passphrase set` in a terminal and at a pipe: nothing typed is ever shown, the echo comes back.

use crate::terminal::{Start, Terminal};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_programmator");
const WORDS: &str = "correct horse battery";

fn places(folder: &Path) -> [(&'static str, String); 2] {
    let of = |name: &str| folder.join(name).display().to_string();
    [("PROGRAMMATOR_CONFIG_DIR", of("config")), ("PROGRAMMATOR_STATE_DIR", of("state"))]
}

fn file(folder: &Path) -> PathBuf {
    folder.join("config/passphrase.phc")
}

fn typed(folder: &Path, keys: &[&str]) -> (String, u32) {
    let env = places(folder).map(|(key, value)| (key.to_owned(), value));
    let start = Start { program: Path::new(PROGRAM), args: &["passphrase", "set"], env: &env, folder, size: (100, 20) };
    let mut terminal = Terminal::start(&start);
    let asks = ["New passphrase", "Repeat the passphrase"];
    for (words, keys) in asks.iter().zip(keys) {
        terminal.wait_for(words);
        terminal.keys(keys);
    }
    let status = terminal.wait_end();
    assert!(terminal.has_its_modes_back(), "the echo is back");
    (String::from_utf8_lossy(&terminal.raw()).into_owned(), status.exit_code())
}

fn piped(folder: &Path, arguments: &[&str], env: &[(&str, &str)], input: &str) -> Output {
    let mut child = Command::new(PROGRAM)
        .args(["passphrase", "set"])
        .args(arguments)
        .current_dir(folder)
        .envs(places(folder))
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
    child.wait_with_output().unwrap()
}

#[test]
fn is_typed_twice_and_never_shown() {
    let folder = tempfile::tempdir().unwrap();
    // A slip is taken back: two bytes of one letter.
    let slip = format!("nonsense\x15{WORDS}é\x7f\r");
    let (shown, code) = typed(folder.path(), &[&slip, &format!("{WORDS}\r")]);
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("horse") && !shown.contains("nonsense"), "{shown}");
    let stored = std::fs::read_to_string(file(folder.path())).unwrap();
    assert!(stored.starts_with("$argon2id$") && !stored.contains("horse"), "{stored}");
    assert_eq!(std::fs::metadata(file(folder.path())).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn two_that_differ_or_a_ctrl_c_change_nothing() {
    for keys in [&["correct horse battery\r", "correct horse batterx\r"][..], &["correct\x03"], &["\x04"]] {
        let folder = tempfile::tempdir().unwrap();
        let (shown, code) = typed(folder.path(), keys);
        assert_eq!(code, 2, "{keys:?}: {shown}");
        assert!(shown.contains("nothing was changed") && !file(folder.path()).exists(), "{keys:?}: {shown}");
    }
}

/// Arguments, environment, input; the exit code and what is said.
type Case<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], &'a str, i32, &'a str);

#[test]
fn a_pipe_is_read_only_when_that_is_asked_for_and_never_inside_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let words = format!("{WORDS}\n");
    let cases: [Case<'_>; 5] = [
        (&[], &[], &words, 2, "--stdin"),
        (&["--stdin"], &[], "too short\n", 2, "at least 12"),
        (&["--stdin"], &[], "", 2, "nothing was changed"),
        (&["--stdin"], &[("PROGRAMMATOR_RUN_ID", "x")], &words, 77, "shell of your own"),
        (&["--stdin"], &[], &words, 0, ""),
    ];
    for (arguments, env, input, code, message) in cases {
        let output = piped(folder.path(), arguments, env, input);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(message) && !said.contains("horse"), "{said}");
        assert_eq!(file(folder.path()).exists(), code == 0, "{said}");
    }
}
