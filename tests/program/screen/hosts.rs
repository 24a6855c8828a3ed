//! Runs on another machine, which is a home, a configuration and a store of its own here: a command leads there.

// Who is at work for a connection is seen in /proc.
#[cfg(target_os = "linux")]
mod ssh;

use super::approvals::settle;
use super::stage::{ROOMY, start};
use crate::away::{Away, PUSH, WRITE, asked, away, begun, ended, is_pushed, name, project};
use crate::project::{PROGRAM, Project};
use crate::terminal::Terminal;
use crate::watched::{json, of_kind, said};
use programmator::adapters::store::Store;
use programmator::domain::wire::Copied;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Longest wait for what the program does.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a shell on this machine runs to serve it; what `first` says is done before.
fn serving(far: &Project, first: &str) -> String {
    let env = far.env().into_iter().map(|(name, value)| format!("{name}='{value}'")).collect::<Vec<_>>().join(" ");
    let home = far.path("home").display().to_string();
    format!("cd '{home}' && {first} exec env -i {env} '{PROGRAM}' serve --stdio")
}

/// The words of the command that leads to this machine; what `first` says is done before.
fn way_to(far: &Project, first: &str) -> Vec<String> {
    ["/bin/sh".to_owned(), "-c".to_owned(), serving(far, first)].into()
}

/// A machine that knows the other one as `build`.
fn near(command: &[String], more: &str) -> Project {
    let near = Project::without_git();
    let command = serde_json::to_string(command).expect("a list");
    near.write("config/config.yaml", &format!("hosts:\n  build:\n    command: {command}\n{more}"));
    near
}

fn near_to(far: &Project) -> Project {
    near(&way_to(far, ""), &format!("    directory: '{}'\n", far.work().display()))
}

/// Leaves the screen; nothing of it is left.
fn left(mut terminal: Terminal, near: &Project) -> String {
    terminal.keys("q");
    let code = terminal.wait_end().exit_code();
    assert_eq!(code, 0, "{}", terminal.screen());
    assert_eq!(copies(near), Vec::<PathBuf>::new());
    assert_eq!(near.processes(), Vec::<String>::new());
    terminal.screen()
}

/// Waits until nothing is at work for this machine: what was killed may take a moment on a machine with much to do.
fn wait_gone(near: &Project) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !near.processes().is_empty() {
        assert!(Instant::now() < deadline, "{:?}", near.processes());
        std::thread::yield_now();
    }
}

/// The copies of runs that are kept.
fn copies(near: &Project) -> Vec<PathBuf> {
    let Ok(hosts) = std::fs::read_dir(near.path("state/hosts")) else { return Vec::new() };
    hosts.map(|entry| entry.expect("an entry").path()).filter(|path| path.is_dir()).collect()
}

/// Everything of the only run of this store: its records, and what Claude printed.
fn whole(state: &std::path::Path) -> (Vec<Copied>, BTreeMap<u32, Vec<u8>>) {
    let store = Store::open(state).expect("the store opens");
    let run = store.runs().expect("the runs").first().expect("a run").run;
    let records = store.records_to_copy(run, 0, u32::MAX).expect("the records");
    let printed = store.printed(run).expect("the files").into_keys();
    let read = |n| (n, std::fs::read(store.run_folder(run).join(format!("{n}.ndjson"))).expect("a file"));
    (records, printed.map(read).collect())
}

/// Waits until the copy is the same as the original, to the byte.
fn wait_same(near: &Project, far: &Project) {
    let original = whole(&far.path("state"));
    assert!(original.0.len() > 10 && original.1.values().map(Vec::len).sum::<usize>() > 100);
    let deadline = Instant::now() + PATIENCE;
    let copies = copies(near);
    let [copy] = &copies[..] else { panic!("one copy: {copies:?}") };
    loop {
        let now = whole(copy);
        if now == original {
            return;
        }
        assert!(Instant::now() < deadline, "{} of {} records", now.0.len(), original.0.len());
        std::thread::yield_now();
    }
}

/// A machine with a run in the background whose Claude may do all that it does.
fn trusted(steps: &[&str]) -> Away {
    let far = project(steps);
    far.write("config/config.yaml", &far.read("config/config.yaml").replace("guarded", "trusted"));
    said(&far, &["run", "--detach", "tk-1"], 0);
    away(far)
}

#[test]
fn a_run_there_is_seen_and_answered_here() {
    let far = begun(&[WRITE, PUSH]);
    asked(&far);
    let near = near_to(&far);
    seen_and_answered(&far, &near);
}

/// The run there is looked at here, and what it asks is answered.
fn seen_and_answered(far: &Away, near: &Project) {
    let mut terminal = start(near, &["attach", "--on", "build"], ROOMY);
    terminal.wait_for("Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete: 1/1 phases");
    assert_eq!(of_kind(&ended(far), "run_ended")[0]["reason"], "complete");
    assert!(is_pushed(far));
    wait_same(near, far);
    assert!(left(terminal, near).contains("tk-1  complete on build"));
}

#[test]
fn home_lists_what_is_at_work_there_and_shows_it_on_a_screen_of_its_own() {
    let far = begun(&[WRITE, PUSH]);
    asked(&far);
    let near = near_to(&far);
    let config = near.read("config/config.yaml");
    near.write(
        "config/config.yaml",
        &format!("{config}  gone:\n    command: [sh, -c, 'echo no such machine >&2; exit 1']\n"),
    );
    near.ticket("tk-9", &["Near"]);
    let mut terminal = start(&near, &[], ROOMY);
    terminal.wait_for("tk-9");
    let screen = terminal.keys_until("@", "1 of them needs you");
    assert!(screen.contains("gone   unreachable: ") && screen.contains("tk-1"), "{screen}");
    // The cursor is on the run that needs the person.
    terminal.keys_until("\r", "Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete: 1/1 phases");
    let screen = terminal.keys_until("q", "Other machines");
    assert!(screen.contains("Enter show"), "{screen}");
    let screen = terminal.keys_until("r", "none active, 1 run");
    assert!(!screen.contains("Enter show"), "{screen}");
    terminal.keys("\x1b");
    terminal.wait_until("no dialog", |screen| !screen.contains("Other machines"));
    left(terminal, &near);
}

#[test]
fn a_run_is_started_there_seen_by_name_paused_and_stopped() {
    let far = away(project(&[WRITE, PUSH]));
    let near = near_to(&far);
    let told = said(&near, &["run", "--on", "build", "tk-1"], 0);
    assert!(told.contains("tk-1 is running in the background (pid "), "{told}");
    assert!(
        told.starts_with("On build:\ntk-1 is running")
            && told.contains("From here: watch, answer or stop it with `programmator attach --on build`"),
        "{told}"
    );
    let id = name(&asked(&far));
    assert!(said(&near, &["queue", "--on", "build"], 0).contains(&id));
    assert_eq!(json(&near, &["status", "--on", "build", "--json"])[0]["ticket"], "tk-1");
    assert!(said(&near, &["attach", "--on", "build", "tk-9"], 1).contains("build: no run `tk-9`"));

    let mut terminal = start(&near, &["attach", "--on", "build", "tk-1"], ROOMY);
    terminal.wait_for("Press !");
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 0);
    assert!(terminal.screen().contains("`programmator attach --on build tk-1` shows it"), "{}", terminal.screen());
    assert_eq!(name(&asked(&far)), id, "nothing was withdrawn");

    let mut terminal = start(&near, &["attach", "--on", "build", "tk-1"], ROOMY);
    terminal.wait_for("Press !");
    terminal.keys_until("p", "cancel pause");
    terminal.keys_until("x", "Stop");
    terminal.keys_until("y", "stopped by you");
    assert_eq!(of_kind(&ended(&far), "run_ended")[0]["reason"], "user_stopped");
    left(terminal, &near);
}

#[test]
fn a_connection_that_is_cut_again_and_again_loses_and_doubles_nothing() {
    let far = trusted(&TALKING);
    let pid = far.path("pid");
    let near = near(&way_to(&far, &format!("echo $$ > '{}';", pid.display())), "");
    cut_while_it_works(&far, &near, 5, || drop(cut(&far)));
}

/// Claude's steps; it prints a lot once the files `go1` and `go2` are there.
const TALKING: [&str; 6] = [
    "say: \"One.\"",
    WRITE,
    "bash: \"until [ -e ../go1 ]; do sleep 0.02; done; seq 20000\"",
    "say: \"Two.\"",
    "bash: \"until [ -e ../go2 ]; do sleep 0.02; done; seq 20000\"",
    "say: \"Three.\"",
];

/// Looks at a run of [`TALKING`] while its connection is cut so often; what has come here is the same in the end.
fn cut_while_it_works(far: &Away, near: &Project, times: u32, mut cut: impl FnMut()) {
    let terminal = start(near, &["attach", "--on", "build"], ROOMY);
    terminal.wait_for("One.");
    for time in 1..=times {
        cut();
        terminal.wait_for("connection to build lost");
        if time == times / 3 + 1 || time == times {
            far.write(if time == times { "go2" } else { "go1" }, "");
        }
        // The next one stands once the words are gone.
        terminal.wait_until("the connection stands again", |screen| !screen.contains("connection to build"));
    }
    terminal.wait_for("Three.");
    terminal.wait_for("complete: 1/1 phases");
    ended(far);
    wait_same(near, far);
    left(terminal, near);
}

#[test]
fn what_is_said_without_a_connection_is_not_sent_and_what_is_asked_beside_it_is_done_there() {
    let far = begun(&[WRITE, PUSH]);
    let id = name(&asked(&far));
    let (pid, down) = (far.path("pid"), far.path("down"));
    let near =
        near(&way_to(&far, &format!("[ ! -e '{}' ] || exit 9; echo $$ > '{}';", down.display(), pid.display())), "");
    let mut terminal = start(&near, &["attach", "--on", "build"], ROOMY);
    terminal.wait_for("Press !");
    terminal.keys_until("e", "not available here: do it on build");
    far.write("down", "");
    cut(&far);
    terminal.wait_for("connection to build lost (its command exited with code 9): again in ");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "not connected to build: nothing was sent");
    assert_eq!(name(&asked(&far)), id, "it still waits");
    std::fs::remove_file(down).expect("it is there");
    terminal.keys_until("\u{1b}", "Press !");
    terminal.keys_until("!", "waiting for you ━");
    settle();
    terminal.keys_until("y", "complete: 1/1 phases");
    ended(&far);
    wait_same(&near, &far);
    left(terminal, &near);
}

/// Kills what serves the other machine's runs. What it wrote of itself.
fn cut(far: &Project) -> String {
    let pid = far.read("pid");
    let process = pid.trim().parse().ok().and_then(Pid::from_raw).expect("a number");
    kill_process(process, Signal::KILL).expect("it is there");
    pid
}

#[test]
fn all_machines_are_asked_at_once_and_told_of_by_name() {
    let far = begun(&[WRITE, PUSH]);
    asked(&far);
    let command = |words: &[String]| serde_json::to_string(words).expect("a list");
    let bad = r#"printf '%s\n' '{"programmator":"0","wire":1}'; read x; printf '%s\n' '{"id":1,"tell":{"line":{"text":"[{\"ticket\":\"a\\u001b[2Jb\"}]","is_error":false}}}' '{"id":1,"tell":{"ended":0}}'; cat"#;
    let ended = ["/bin/sh", "-c", "echo 'Permission denied' >&2; exit 255"].map(str::to_owned);
    let lies = ["/bin/sh", "-c", bad].map(str::to_owned);
    let near = near(
        &way_to(&far, ""),
        &format!("  asleep:\n    command: {}\n  lies:\n    command: {}\n", command(&ended), command(&lies)),
    );
    let told = said(&near, &["hosts"], 1);
    for words in [
        "asleep  unreachable: Permission denied", "build   1 active, 1 of them needs you",
        "tk-1              needs you     0/1", "here    no runs", "lies    unreachable: invalid list of runs",
        "`programmator attach --on HOST TICKET`",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains('\u{1b}'), "{told}");
    let output = near.run(&["hosts", "--json"]);
    let seen: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(seen[2]["host"], "build");
    assert_eq!(seen[2]["runs"][0]["ticket"], "tk-1");
    assert_eq!(seen[0]["host"], serde_json::Value::Null);
    assert_eq!(near.processes(), Vec::<String>::new());
    // A folder of that machine need not be here.
    let far_folder = far.work().display().to_string();
    assert!(said(&near, &["status", "--on", "build", "-C", &far_folder], 0).contains("needs you"));
    let inside = near.command(&["hosts"]).env("PROGRAMMATOR_RUN_ID", "r").output().expect("it starts");
    assert_eq!(inside.status.code(), Some(77));
}

#[test]
fn a_folder_that_is_only_there_is_named_from_here() {
    let far = Project::new();
    let near = near(&way_to(&far, ""), "");
    assert!(said(&near, &["status", "--on", "build", "-C", "/no/such/folder"], 2).contains("/no/such/folder"));
    assert!(said(&near, &["attach", "--on", "build", "-C", "/tmp"], 2).contains("-C"));
}

#[test]
fn what_a_project_says_of_machines_is_not_obeyed() {
    let project = Project::new();
    project.write("work/.programmator/config.yaml", "hosts:\n  build:\n    command: [touch, ran]\n");
    said(&project, &["trust"], 0);
    let told = said(&project, &["status", "--on", "build"], 2);
    assert!(told.contains("no machine is configured: add `hosts: {build:"), "{told}");
    let shown = said(&project, &["config", "show"], 0);
    assert!(shown.contains("sets hosts: ignored, because only your own configuration can set it"), "{shown}");
    assert!(!project.path("work/ran").exists());
}

#[test]
fn a_machine_that_does_not_answer_is_told_with_its_reason() {
    let sh = |line: &str| near(&["/bin/sh".into(), "-c".into(), line.into()], "");
    let hello = r#"printf '%s\n' '{"programmator":"9.9\u001b[2J","wire":99}'; cat"#;
    for (line, words) in [
        ("echo 'Welcome to build'; echo 'Permission \u{1b}[31mdenied' >&2; exit 255", "build: Permission denied"),
        ("exit 127", "build: its command exited with code 127"),
        ("yes", "build: `/bin/sh -c yes` printed unexpected output"),
        ("head -c 64000000 /dev/zero; cat", "build: a line is longer than 1024 KiB"),
        ("printf half", "build: the connection ended in the middle of a line"),
        (hello, "with different protocols: install the same version on both"),
    ] {
        let near = sh(line);
        let told = said(&near, &["status", "--on", "build"], 1);
        assert!(told.contains(words) && !told.contains('\u{1b}'), "{line}: {told}");
        wait_gone(&near);
    }
    let nothing = near(&["no-such-program".into()], "");
    assert!(said(&nothing, &["attach", "--on", "build"], 1).contains("check hosts.build.command"));
    assert!(said(&nothing, &["status", "--on", "other"], 2).contains("no machine `other` is configured; known: build"));
}

#[test]
fn a_greeting_before_the_program_is_passed_over_and_what_it_prints_is_clean() {
    let far = Project::new();
    let near = near(&way_to(&far, "printf 'Welcome \\033[2J\\n\\n'; cat /dev/null;"), "");
    let told = said(&near, &["status", "--on", "build"], 0);
    let lines: Vec<&str> = told.lines().collect();
    let none = "No runs yet. `programmator <ticket>` starts one; `programmator demo` shows what it looks like.";
    assert_eq!(lines[..2], ["On build:", none]);
}

#[test]
fn claude_reaches_no_other_machine() {
    let far = Project::new();
    let near = near_to(&far);
    for args in [
        &["attach", "--on", "build"][..],
        &["run", "--on", "build", "tk-1"],
        &["status", "--on", "build"],
        &["queue", "--on", "build"],
        &["serve", "--stdio"],
    ] {
        let inside = near.command(args).env("PROGRAMMATOR_RUN_ID", "r").output().expect("it starts");
        assert_eq!(inside.status.code(), Some(77), "{args:?}");
    }
}
