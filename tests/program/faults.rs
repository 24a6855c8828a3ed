//! What goes wrong around a run: a store that cannot be written, a ticket that is away for a moment, snapshots that
//! are gone, a folder that is worked in, leftovers of our own commands.

use crate::project::Project;
use crate::watched::{
    WAITING, at_work, ended, of_kind, ran, records, said, seen_where, signal, start_until, stop, text,
};
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader};

#[test]
fn a_folder_that_is_worked_in_is_not_restored() {
    let (project, mut child) = at_work(&["Alpha"]);
    said(&project, &["restore", "tk-1", "1"], 75);
    assert!(project.path("work/alpha.txt").exists(), "nothing was touched");
    project.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    said(&project, &["restore", "--yes", "tk-1", "1"], 0);
    assert!(!project.path("work/alpha.txt").exists());
}

#[test]
fn a_stop_is_obeyed_while_nothing_can_be_stored() {
    let (project, child) = at_work(&["Alpha"]);
    // Another program holds the store for longer than anybody waits for it.
    let store = rusqlite::Connection::open(project.path("state").join("programmator.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    stop(child);
    assert_eq!(project.processes(), Vec::<String>::new(), "nothing of the run is left");
    drop(store);
    project.write("go", "");
    said(&project, &["resume", "--json"], 0);
}

#[test]
fn a_claim_is_not_judged_by_snapshots_that_are_gone() {
    // Claude itself throws the snapshots away, in the middle of its iteration, and claims to have changed nothing.
    let project = Project::with(&["Look into it"],
        "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"changed.txt\", content: \"x\"}
      - bash: \"git for-each-ref --format='delete %(refname)' refs/programmator | git update-ref --stdin && git reflog expire --expire=now --all && git gc -q --prune=now\"
      - status: {files: []}
",
    );
    let output = project.run(&["run", "--json", "-n", "2", "tk-1"]);
    let records_of = records(&output);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let ended = of_kind(&records_of, "run_ended");
    assert!(ended[0]["detail"].as_str().unwrap().contains("no longer exists"), "{}", text(&output));
    assert!(of_kind(&records_of, "phase_done").is_empty(), "{}", text(&output));
    assert!(project.ticket_text("tk-1").contains("- [ ] Look into it"));
    // The phase's own baseline is gone for good; what the next iteration changes can be seen.
    project.write("go", "");
    project.scenario(WAITING);
    let records = ran(&project, &["resume", "--json"], 0);
    let notices = of_kind(&records, "noticed");
    let told = notices.iter().any(|notice| notice["text"].as_str().unwrap().contains("only changes of this iteration"));
    assert!(told, "{records:?}");
}

#[test]
fn what_a_validation_command_leaves_behind_is_swept() {
    let config = "validation:\n  commands: [\"setsid sleep 600 & true\"]\n";
    let project = Project::with_config(&["Alpha"], WAITING, config);
    project.write("go", "");
    let output = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&output, "validation_ran").len(), 1);
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[test]
fn what_a_validation_command_leaves_behind_does_not_reach_the_next_iteration() {
    // It has left the command's group before the command ends.
    let command = "rm -f ../left; setsid sh -c 'echo x > ../left; exec sleep 600' & \
                   until [ -s ../left ]; do sleep 0.02; done";
    let project =
        Project::with_config(&["Alpha", "Beta"], WAITING, &format!("validation:\n  commands: [\"{command}\"]\n"));
    project.write("go", "");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "validation_ran").len(), 2, "{records:?}");
    // Who had lived through the second iteration would have been swept at its end.
    let swept: Vec<_> = of_kind(&records, "agent_exited").iter().map(|exit| exit["swept"].as_u64()).collect();
    assert_eq!(swept, [Some(0), Some(0)], "{records:?}");
}

#[test]
fn a_ticket_that_is_away_for_a_moment_is_waited_for() {
    let (project, mut child) = at_work(&["Alpha"]);
    let (here, away) = (project.path("work/.tickets/tk-1.md"), project.path("away.md"));
    for _ in 0..50 {
        std::fs::rename(&here, &away).unwrap();
        std::fs::rename(&away, &here).unwrap();
    }
    project.write("go", "");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(project.ticket_text("tk-1").contains("- [x] Alpha"));
}

/// What becomes of the ticket's name while Claude works, and what the run says of it.
#[test]
fn a_ticket_that_becomes_something_else_ends_the_run_in_words() {
    type Become = fn(&std::path::Path, &std::path::Path);
    let cases: [(&str, Become, &str); 4] = [
        ("a link", |here, foreign| std::os::unix::fs::symlink(foreign, here).unwrap(), "is now a link"),
        ("a folder", |here, _| std::fs::create_dir(here).unwrap(), "is a folder, not a file"),
        (
            "a pipe",
            |here, _| {
                use rustix::fs::{CWD, FileType, Mode, mknodat};
                mknodat(CWD, here, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            },
            "is a pipe, not a file",
        ),
        (
            "far too large",
            |here, _| std::fs::File::create(here).unwrap().set_len(50 << 20).unwrap(),
            "larger than 4 MiB",
        ),
    ];
    for (name, become_it, words) in cases {
        let project = Project::with(&["Alpha", "Beta"], WAITING);
        let foreign = project.path("foreign.md");
        std::fs::write(&foreign, "# Foreign\n- [ ] Alpha\n- [ ] Beta\n- [ ] Foreign words\n").unwrap();
        let (child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_finished");
        let here = project.path("work/.tickets/tk-1.md");
        std::fs::remove_file(&here).unwrap();
        become_it(&here, &foreign);
        project.write("go", "");
        let output = child.wait_with_output().unwrap();
        let told = text(&output);
        assert!(told.contains(words), "{name}: {told}");
        assert_ne!(output.status.code(), Some(0), "{name}: {told}");
        assert!(!told.contains("Foreign words"), "{name}: {told}");
        assert_eq!(std::fs::read_to_string(&foreign).unwrap().matches("[x]").count(), 0, "{name}");
        assert!(here.symlink_metadata().is_ok(), "{name}: it stays as it is");
    }
}

/// Starts a process without our marker, in a session of its own, whose parents are gone at once.
const DAEMON: &str = "
      - bash: \"(env -i PATH=$PATH setsid sh -c 'sleep 600 & echo $! >> ../daemons' &)\"
      - bash: \"until [ -s ../daemons ]; do sleep 0.02; done\"";

#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_cleared_its_environment_does_not_outlive_its_iteration() {
    // Claude ends by itself, is stopped for its silence, dies.
    for (end, config) in [
        ("- status: {}", ""),
        ("- hang: {}", "limits: {idle_timeout: 1}\n"),
        ("- sleep_ms: 500\n      - die: KILL", ""),
    ] {
        let project = Project::with_config(
            &["Alpha"],
            &format!("\nturns:\n  - when: {{phase: \"\"}}\n    steps:{DAEMON}\n      {end}\n"),
            config,
        );
        let output = project.run(&["run", "--json", "-n", "1", "tk-1"]);
        let daemons = project.read("daemons");
        let alive = |pid: &&str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        let left: Vec<&str> = daemons.lines().filter(alive).collect();
        for pid in &left {
            let pid = rustix::process::Pid::from_raw(pid.parse().unwrap()).unwrap();
            rustix::process::kill_process(pid, Signal::KILL).unwrap();
        }
        let records = records(&output);
        let swept = of_kind(&records, "agent_exited").iter().any(|exit| exit["swept"].as_u64() > Some(0));
        assert!(left.is_empty() && swept, "{end}: {left:?} of {daemons} {}", text(&output));
        assert_eq!(project.processes(), Vec::<String>::new());
    }
}

/// A later command ends the daemon of an earlier one, and waits until its number is free.
const STOPPED: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - bash: \"setsid sleep 300 & echo $! > daemon\"
      - bash: \"read -r pid < daemon; kill $pid; for i in {1..200}; do kill -0 $pid || break; sleep 0.02; done; kill -0 $pid && echo $pid > zombie; true\"
      - status: {}
";

#[test]
fn a_daemon_that_a_later_command_ends_is_gone_and_no_zombie() {
    let project = Project::with(&["Alpha"], STOPPED);
    let output = project.run(&["run", "--json", "-n", "1", "tk-1"]);
    assert!(project.path("work/daemon").exists(), "{}", text(&output));
    assert!(!project.path("work/zombie").exists(), "{}", text(&output));
}

/// The processes of the run: a part of their command line, and their id.
#[cfg(target_os = "linux")]
fn running(project: &Project, part: &str) -> Vec<rustix::process::Pid> {
    let needle = project.path("home").display().to_string();
    let read = |pid: i32, file: &str| {
        String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default()).replace('\0', " ")
    };
    let folders = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let pids = folders.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    let wanted = pids.filter(|pid| read(*pid, "environ").contains(&needle) && read(*pid, "cmdline").contains(part));
    wanted.filter_map(rustix::process::Pid::from_raw).collect()
}

/// Whether this process, started with an empty environment, has ended; if not it is ended here.
#[cfg(target_os = "linux")]
fn is_gone(pid: &str) -> bool {
    let pid = rustix::process::Pid::from_raw(pid.trim().parse().unwrap()).unwrap();
    let stat = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let begun = std::time::Instant::now();
    while begun.elapsed() < std::time::Duration::from_secs(20) {
        if stat().is_empty() || stat().contains(") Z ") {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    rustix::process::kill_process(pid, Signal::KILL).unwrap();
    false
}

/// Starts such a daemon, and does not end.
#[cfg(target_os = "linux")]
fn at_work_with_a_daemon() -> (Project, std::process::Child) {
    let project = Project::with(
        &["Alpha"],
        &format!("\nturns:\n  - when: {{phase: \"\"}}\n    steps:{DAEMON}\n      - hang: {{}}\n"),
    );
    let (child, _) = start_until(&project, &["run", "--json", "-n", "1", "tk-1"], "tool_finished");
    let known = || project.path("daemons").metadata().is_ok_and(|file| file.len() > 0);
    while !known() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    (project, child)
}

#[cfg(target_os = "linux")]
#[test]
fn a_keeper_ends_all_of_claude_when_programmator_is_killed() {
    let (project, mut child) = at_work_with_a_daemon();
    let keepers = running(&project, "keep-claude");
    assert_eq!(keepers.len(), 1);
    let name = std::fs::read_to_string(format!("/proc/{}/comm", keepers[0])).unwrap();
    assert_eq!(name, "keep-claude\n", "who looks for programmator by its name finds only that");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_gone(&project.read("daemons")));
    assert!(is_gone(&keepers[0].to_string()));
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[cfg(target_os = "linux")]
#[test]
fn an_iteration_whose_keeper_is_killed_ends_with_all_that_carries_its_mark() {
    let (project, child) = at_work_with_a_daemon();
    rustix::process::kill_process(running(&project, "keep-claude")[0], Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(of_kind(&records(&output), "agent_exited").len(), 1, "{}", text(&output));
    assert_eq!(project.processes(), Vec::<String>::new());
    // Only a control group would know of this one.
    let daemon = rustix::process::Pid::from_raw(project.read("daemons").trim().parse().unwrap()).unwrap();
    rustix::process::kill_process(daemon, Signal::KILL).ok();
}

#[cfg(target_os = "linux")]
#[test]
fn a_halted_keeper_does_not_keep_claude_from_being_ended() {
    let (project, child) = at_work_with_a_daemon();
    rustix::process::kill_process(running(&project, "keep-claude")[0], Signal::STOP).unwrap();
    signal(&child, Signal::TERM);
    ended(child, 143);
    assert_eq!(project.processes(), Vec::<String>::new());
    assert!(is_gone(&project.read("daemons")));
}

/// One Claude has ended, the next has not begun: the keeper for it waits as long as a validation command runs.
#[cfg(target_os = "linux")]
#[test]
fn a_keeper_for_the_next_claude_ends_with_programmator() {
    let config = "validation:\n  commands: [\"touch checking; sleep 600\"]\n";
    for how in [Signal::TERM, Signal::KILL] {
        let project = Project::with_config(&["Alpha", "Beta"], WAITING, config);
        project.write("go", "");
        let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "evidence_gathered");
        let begun = std::time::Instant::now();
        while !project.path("work/checking").exists() {
            assert!(begun.elapsed() < std::time::Duration::from_secs(20), "nothing is checked");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let keepers = running(&project, "keep-claude");
        assert_eq!(keepers.len(), 1, "that of the first Claude has ended");
        signal(&child, how);
        child.wait().unwrap();
        assert!(is_gone(&keepers[0].to_string()), "{how:?}");
        if how == Signal::TERM {
            assert_eq!(project.processes(), Vec::<String>::new());
        }
    }
}

/// A run in its first iteration, which waits for the file `go`; it is patient for a second.
fn at_work_with_little_patience() -> (Project, std::process::Child) {
    let project = Project::with_config(&["Alpha", "Beta"], WAITING, "storage: {patience: 1}\n");
    // What is stored before the gate is stored: with a record on its way the run would leave by itself.
    let is_at_gate = |record: &serde_json::Value| record["kind"] == "tool_judged" && record["tool"] == "Bash";
    let (child, _) = seen_where(&mut project.command(&["run", "--json", "tk-1"]), "the gate", is_at_gate);
    (project, child)
}

#[test]
fn a_state_folder_that_is_gone_ends_the_run_before_another_iteration() {
    let (project, child) = at_work_with_little_patience();
    std::fs::remove_dir_all(project.path("state")).unwrap();
    // The locks are gone with it, and still nobody else may work on the ticket.
    let second = project.run(&["run", "--json", "tk-1"]);
    assert_eq!(second.status.code(), Some(75), "{}", text(&second));
    assert!(text(&second).contains("a different or deleted state folder"), "{}", text(&second));
    project.write("go", "");
    let output = ended(child, 1);
    let seen = records(&output);
    let waits = of_kind(&seen, "storage_awaited");
    assert_eq!(waits.len(), 1, "told once: {}", text(&output));
    assert!(waits[0]["why"].as_str().unwrap().contains("was deleted or moved"), "{}", waits[0]);
    assert!(waits[0]["since"].as_str() < waits[0]["until"].as_str(), "{}", waits[0]);
    let left = of_kind(&seen, "run_left");
    assert_eq!(left[0]["reason"], "storage_failed", "{}", text(&output));
    assert!(of_kind(&seen, "iteration_started").is_empty(), "no second iteration: {}", text(&output));
    assert!(!project.ticket_text("tk-1").contains("- [x]"), "nothing is ticked that is not stored");
    assert_eq!(project.processes(), Vec::<String>::new());
}

#[test]
fn a_state_folder_that_comes_back_in_time_is_waited_for() {
    let (project, mut child) = at_work(&["Alpha", "Beta"]);
    std::fs::rename(project.path("state"), project.path("elsewhere")).unwrap();
    project.write("go", "");
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    std::io::BufRead::read_line(&mut errors, &mut said).unwrap();
    assert!(said.contains("retrying until") && said.contains("was deleted or moved"), "{said}");
    std::fs::rename(project.path("elsewhere"), project.path("state")).unwrap();
    ended(child, 0);
    let ended = project.journal().iter().filter(|record| record["kind"] == "phase_done").count();
    assert_eq!(ended, 2, "each phase once");
}

/// What the run waited for storage is no time of the phase, for its receipt and its end.
#[test]
fn waiting_for_storage_is_no_work() {
    let (project, mut child) = at_work(&["Alpha"]);
    std::fs::rename(project.path("state"), project.path("elsewhere")).unwrap();
    project.write("go", "");
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("retrying until")), "nobody is told");
    // Two tries fail.
    let since = std::time::Instant::now();
    while since.elapsed() < std::time::Duration::from_secs(5) {
        std::thread::yield_now();
    }
    std::fs::rename(project.path("elsewhere"), project.path("state")).unwrap();
    ended(child, 0);
    let journal = project.journal();
    let waited = of_kind(&journal, "storage_waited")[0]["ms"].as_u64().unwrap();
    let time = |kind: &str| {
        let text = of_kind(&journal, kind)[0]["time"].as_str().unwrap();
        text.parse::<jiff::Timestamp>().unwrap().as_millisecond()
    };
    let all = u64::try_from(time("iteration_ended") - time("iteration_started")).unwrap();
    let booked = of_kind(&journal, "iteration_ended")[0]["ms"].as_u64().unwrap();
    assert!(waited >= 5_000 && booked + waited <= all + 1, "{booked} of {all} ms, and waited {waited}");
}

/// Who only looks needs to write nothing.
#[test]
fn a_state_folder_that_cannot_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let project = Project::with(&["Alpha"], WAITING);
    project.write("go", "");
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    // Nothing is forbidden to root, so that somebody else must look.
    let nobody = rustix::process::geteuid().is_root().then_some(65_534);
    let mut all = vec![project.path("")];
    while let Some(path) = all.pop() {
        let metadata = path.symlink_metadata().unwrap();
        if metadata.is_dir() {
            all.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        if let Some(nobody) = nobody {
            std::os::unix::fs::lchown(&path, Some(nobody), Some(nobody)).unwrap();
        }
        if path.starts_with(project.path("state")) && !metadata.is_symlink() {
            let mode = if metadata.is_dir() { 0o500 } else { 0o400 };
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
    }
    for args in [
        &["status"][..],
        &["status", "tk-1"],
        &["logs", "tk-1"],
        &["session", "show"],
        &["circuit", "status"],
        &["snapshots", "tk-1"],
    ] {
        let mut command = project.command(args);
        if let Some(nobody) = nobody {
            command.uid(nobody).gid(nobody);
        }
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
        assert!(text(&output).contains("tk-1"), "{args:?}: {}", text(&output));
    }
    std::fs::set_permissions(project.path("state"), PermissionsExt::from_mode(0o700)).unwrap();
}

#[test]
fn a_stop_that_cannot_be_stored_is_told_and_ends_the_run() {
    for (number, code, reason) in [(Signal::TERM, 143, "user_stopped"), (Signal::HUP, 129, "terminal_closed")] {
        let (project, child) = at_work_with_little_patience();
        std::fs::remove_dir_all(project.path("state")).unwrap();
        signal(&child, number);
        let output = ended(child, code);
        let seen = records(&output);
        assert_eq!(of_kind(&seen, "run_left")[0]["reason"], reason, "{}", text(&output));
        assert_eq!(project.processes(), Vec::<String>::new());
    }
}

/// A run whose first record cannot be stored has nothing to end by, and ends.
#[test]
fn a_run_that_cannot_be_begun_ends() {
    for (patience, code, reason) in [(1, 1, "storage_failed"), (600, 143, "user_stopped")] {
        let project = Project::with_config(&["Alpha"], WAITING, &format!("storage: {{patience: {patience}}}\n"));
        assert_eq!(project.run(&["status"]).status.code(), Some(0));
        // It can be opened and read, as a full one can.
        let store = rusqlite::Connection::open(project.path("state").join("programmator.db")).unwrap();
        let full = "CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'it is full'); END";
        store.execute_batch(full).unwrap();
        let (child, _) = start_until(&project, &["run", "--json", "tk-1"], "storage_awaited");
        if reason == "user_stopped" {
            signal(&child, Signal::TERM);
        }
        let output = ended(child, code);
        assert_eq!(of_kind(&records(&output), "run_left")[0]["reason"], reason, "{}", text(&output));
        store.execute_batch("DROP TRIGGER full").unwrap();
        project.write("go", "");
        said(&project, &["run", "--json", "tk-1"], 0);
    }
}

/// With rules that cannot be used every call is blocked: Claude is not paid for finding that out.
#[test]
fn a_policy_that_cannot_be_used_lets_the_iteration_end_and_no_other_begin() {
    let (project, child) = at_work(&["Alpha", "Beta"]);
    // The call that waits is judged by the rules of before: else it would be blocked, and the iteration be over at once.
    project.wait_for_records("tool_judged", 2);
    project.write("config/policy.yaml", "version: 1\nrulse: []\n");
    project.wait_for_records("rules_read", 1);
    project.write("go", "");
    let output = ended(child, 1);
    let seen = records(&output);
    let ended = of_kind(&seen, "run_ended")[0];
    assert_eq!((&ended["reason"], &ended["iterations"]), (&"error".into(), &1.into()), "{}", text(&output));
    let detail = ended["detail"].as_str().unwrap();
    assert!(detail.contains("policy.yaml:2:1") && detail.contains("programmator policy edit"), "{detail}");
    assert!(project.ticket_text("tk-1").contains("- [ ] Beta"));
    said(&project, &["resume", "--json"], 2);
    project.write("config/policy.yaml", "version: 1\nrules: []\n");
    said(&project, &["resume", "--json"], 0);
}

#[test]
fn what_claude_prints_gives_way_to_records() {
    // More than any disk has.
    let project = Project::with_config(&["Alpha"], WAITING, "storage: {reserve: 1000000000000}\n");
    project.write("go", "");
    let seen = ran(&project, &["run", "--json", "tk-1"], 0);
    let notices = of_kind(&seen, "noticed");
    let told = notices.iter().filter(|notice| notice["text"].as_str().unwrap().contains("storage.reserve")).count();
    assert_eq!(told, 1, "{seen:?}");
    let doctor = project.run(&["doctor"]);
    assert!(text(&doctor).contains("kept for records (storage.reserve)"), "{}", text(&doctor));
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_processes_that_is_reached_is_said_in_words() {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    // No limit holds for the superuser: somebody else is asked, who has to reach the program.
    let root = project.path("");
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
    // By a process of its own: what another test starts meanwhile would keep the copy open for writing, and busy.
    let copied =
        std::process::Command::new("cp").args([crate::project::PROGRAM, "program"]).current_dir(&root).status();
    assert!(copied.unwrap().success());
    let mut command = if rustix::process::getuid().is_root() {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "bash"]);
        command
    } else {
        std::process::Command::new("bash")
    };
    let script = "ulimit -u 3; exec \"$0\" doctor";
    let output = command.args(["-c", script]).arg(root.join("program")).envs(project.env()).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("cannot create ") && told.contains("ulimit -u"), "{told}");
    assert_eq!(told.lines().count(), 1, "words, no panic: {told}");
}

#[test]
fn a_git_folder_that_is_gone_is_blamed_and_not_our_own() {
    let (project, child) = at_work(&["Alpha"]);
    std::fs::rename(project.path("work/.git"), project.path("git")).unwrap();
    project.write("go", "");
    let output = child.wait_with_output().unwrap();
    let told = text(&output);
    assert!(told.contains("the git directory") && told.contains("was deleted or moved"), "{told}");
    assert!(!told.contains("making a folder"), "{told}");
    assert_ne!(output.status.code(), Some(0), "{told}");
}

/// However long it takes to store a record: what was decided was decided then.
#[test]
fn a_record_has_the_time_of_its_decision_also_when_it_is_stored_late() {
    let project = Project::with(
        &["Alpha"],
        "
turns:
  - when: {phase: \"\"}
    steps:
      - bash: \"until [ -e ../go ]; do sleep 0.02; done\"
      - status: {files: []}
",
    );
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_judged");
    let store = rusqlite::Connection::open(project.path("state").join("programmator.db")).unwrap();
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let held = jiff::Timestamp::now();
    project.write("go", "");
    // The first try fails when the wait for the other program is over, and is told.
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("locked by another program")), "nobody is told");
    let late = jiff::Timestamp::now();
    drop(store);
    // Its output is read on, so that it can go on printing.
    let rest = std::thread::spawn(move || told.count());
    let output = child.wait_with_output().unwrap();
    rest.join().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let journal = project.journal();
    let text = of_kind(&journal, "tool_finished")[0]["time"].as_str().unwrap();
    let decided: jiff::Timestamp = text.parse().unwrap();
    let (waited, until_decided) = (late.duration_since(held), decided.duration_since(held));
    assert!(until_decided < waited / 2, "decided after {until_decided}, and told after {waited} that it is not stored");
}
