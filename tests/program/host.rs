//! The host: what goes on in the background after it was interrupted, and how the host itself is started.

use crate::away::{PUSH, WRITE, asked, name, project};
use crate::bot_api::BotApi;
use crate::pairing::paired;
use crate::project::{PROGRAM, Project};
use crate::watched::{ended, json, said, signal};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A host, and what it says.
struct Host {
    child: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Host {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut host = Self { child, said };
        host.until("The host is running.");
        host
    }

    fn of(project: &Project) -> Self {
        Self::start(&mut project.command(&["host"]))
    }

    /// Reads on until it has said this.
    fn until(&mut self, words: &str) -> String {
        let mut before = Vec::new();
        for line in self.said.by_ref().map_while(Result::ok) {
            if line.contains(words) {
                return line;
            }
            before.push(line);
        }
        panic!("the host has ended without “{words}”: {before:?}");
    }

    fn end(self) {
        signal(&self.child, Signal::TERM);
        ended(self.child, 0);
    }
}

fn background(project: &Project) -> Vec<Value> {
    json(project, &["host", "status", "--json"])["background"].as_array().unwrap().clone()
}

fn pid(process: &Value) -> Pid {
    Pid::from_raw(i32::try_from(process["pid"].as_i64().unwrap()).unwrap()).unwrap()
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::yield_now();
    }
}

/// A run in the background that asks, and a ticket behind it.
fn two(more: &[&str]) -> Project {
    let project = project(&[WRITE, PUSH]);
    project.ticket("tk-2", &["Beta"]);
    let args = [&["run", "--detach", "tk-1", "tk-2"], more].concat();
    said(&project, &args, 0);
    asked(&project);
    project
}

/// A run in the background that asks, and whose process is killed.
fn interrupted(project: &Project) {
    said(project, &["run", "--detach", "tk-1"], 0);
    asked(project);
    let [before] = background(project).try_into().unwrap();
    kill_process(pid(&before), Signal::KILL).unwrap();
    until("it has ended", || background(project)[0]["interrupted"] == true);
}

/// As if the machine had been started since the process was told to end.
fn restart_the_machine(project: &Project) {
    let folder = project.path("state/background");
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        let (first, told) = text.split_once('\n').unwrap();
        assert!(told.starts_with("told "), "it was told to end: {text}");
        let (at, boot) = told["told ".len()..].trim().split_once(' ').unwrap();
        assert!(!boot.is_empty(), "which start of the machine that was: {text}");
        fs::write(&path, format!("{first}\ntold {at} another-start\n")).unwrap();
    }
}

#[test]
fn a_killed_process_goes_on_with_its_options_and_with_what_it_had_not_begun() {
    let project = two(&["-n", "7"]);
    let [before] = background(&project).try_into().unwrap();
    let listed = said(&project, &["host", "status"], 0);
    assert!(listed.starts_with("No host is running") && listed.contains("tk-1, tk-2  pid "), "{listed}");
    let mut host = Host::of(&project);
    kill_process(pid(&before), Signal::KILL).unwrap();
    let line = host.until("Interrupted: ");
    assert!(line.contains(&format!("tk-1, tk-2 (pid {}). tk-1 is running", before["pid"])), "{line}");
    until("another process goes on", || {
        let now = background(&project);
        now.len() == 1 && now[0]["pid"] != before["pid"] && now[0]["interrupted"] == false
    });
    assert_eq!(said(&project, &["answer", &name(&asked(&project)), "allow"], 0), "allowed by you (command line)\n");
    until("the second ticket is worked on", || asked(&project)["ticket"] == "tk-2");
    let runs = json(&project, &["status", "--json"]);
    assert!(
        runs.as_array().unwrap().iter().any(|run| run["ticket"] == "tk-1" && run["reason"] == "complete"),
        "{runs}"
    );
    let started = said(&project, &["logs", "--json", "tk-2"], 0);
    assert!(started.contains("\"max_iterations\":7"), "with the options of the first: {started}");
    said(&project, &["stop", "--now", "tk-2"], 0);
    until("nothing is in the background any more", || background(&project).is_empty());
    host.end();
    assert!(said(&project, &["host", "logs"], 0).contains("The host has ended; "));
}

#[test]
fn what_a_signal_has_ended_goes_on_once_the_machine_has_been_restarted() {
    let project = two(&[]);
    let [before] = background(&project).try_into().unwrap();
    // A session of the system's that ends sends both.
    kill_process(pid(&before), Signal::TERM).unwrap();
    let _ = kill_process(pid(&before), Signal::HUP);
    until("it has ended", || background(&project)[0]["interrupted"] == true);
    let runs = json(&project, &["status", "--json"]);
    assert_eq!(runs[0]["state"], "interrupted", "nobody has stopped it: {runs}");
    restart_the_machine(&project);
    let mut host = Host::of(&project);
    host.until(". tk-1 is running");
    said(&project, &["answer", &name(&asked(&project)), "deny"], 0);
    host.end();
    said(&project, &["stop", "--now", "tk-1"], 0);
}

#[test]
fn what_was_continued_elsewhere_is_left_alone() {
    let project = project(&[WRITE, PUSH]);
    interrupted(&project);
    let resumed = project.run(&["resume", "tk-1"]);
    assert_eq!(resumed.status.code(), Some(0), "nobody is asked, so it is denied: {resumed:?}");
    assert!(background(&project).is_empty(), "nothing of it is left to be done");
    let entries = || fs::read_dir(project.path("state/background")).unwrap().count();
    assert_eq!(entries(), 1);
    let host = Host::of(&project);
    until("it is forgotten", || entries() == 0);
    host.end();
    let log = said(&project, &["host", "logs"], 0);
    assert!(!log.contains("tk-1"), "{log}");
    assert_eq!(json(&project, &["status", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn stop_ends_the_runs_and_the_host_and_nothing_goes_on() {
    let project = two(&[]);
    let host = Host::of(&project);
    assert!(said(&project, &["host"], 1).contains("the host is already running"));
    let inside = project.command(&["host", "stop"]).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    assert_eq!(inside.status.code(), Some(77), "Claude does not stop it");
    assert!(said(&project, &["doctor"], 0).contains("running (pid "), "the doctor knows it");
    let told = said(&project, &["host", "stop", "--now"], 0);
    assert!(told.starts_with("The host has ended.\nStopping now: tk-1, tk-2.\n"), "{told}");
    ended(host.child, 0);
    until("the runs have ended", || background(&project).is_empty());
    let runs = json(&project, &["status", "--json"]);
    assert_eq!(runs[0]["reason"], "user_stopped", "{runs}");
    let host = Host::of(&project);
    host.end();
    assert!(!said(&project, &["host", "logs"], 0).contains("interrupted"));
    assert_eq!(said(&project, &["host", "stop"], 0), "No run is in the background, and no host is running.\n");
}

#[test]
fn what_the_person_has_asked_to_stop_is_not_resumed() {
    let project = project(&[WRITE, PUSH]);
    said(&project, &["run", "--detach", "tk-1"], 0);
    asked(&project);
    assert!(said(&project, &["stop", "tk-1"], 0).contains("stops after this iteration"));
    project.wait_for_records("stop_requested", 1);
    let [before] = background(&project).try_into().unwrap();
    kill_process(pid(&before), Signal::KILL).unwrap();
    let mut host = Host::of(&project);
    host.until("not resumed, because it was paused or asked to stop");
    until("it is forgotten", || background(&project).is_empty());
    host.end();
    assert_eq!(json(&project, &["status", "--json"])[0]["state"], "interrupted");
    assert!(!said(&project, &["host", "logs"], 0).contains("is running in the background"));
}

#[test]
fn what_was_resumed_three_times_in_an_hour_is_left_to_the_person_whichever_host_looks() {
    let project = project(&[WRITE, PUSH]);
    said(&project, &["run", "--detach", "tk-1"], 0);
    for _ in 0..3 {
        asked(&project);
        let [before] = background(&project).try_into().unwrap();
        kill_process(pid(&before), Signal::KILL).unwrap();
        let mut host = Host::of(&project);
        host.until("tk-1 is running in the background");
        host.end();
    }
    asked(&project);
    let [last] = background(&project).try_into().unwrap();
    assert_eq!(last["resumed"].as_array().unwrap().len(), 3, "{last}");
    kill_process(pid(&last), Signal::KILL).unwrap();
    let mut host = Host::of(&project);
    host.until("too often within an hour, so not resumed");
    host.end();
    // The person does it, and is known by that.
    said(&project, &["resume", "--detach"], 0);
    until("it is in the background", || background(&project).len() == 1);
    assert_eq!(background(&project)[0]["resumed"], serde_json::json!([]));
    said(&project, &["host", "stop", "--now"], 0);
    until("it has ended", || background(&project).is_empty());
}

#[test]
fn what_cannot_be_resumed_yet_is_told_with_its_reason_and_kept() {
    let project = project(&[WRITE, PUSH]);
    interrupted(&project);
    // As a disk that is not there yet.
    let (work, away) = (project.work(), project.path("elsewhere"));
    fs::rename(&work, &away).unwrap();
    let mut command = project.command(&["host"]);
    let mut host = Host::start(command.current_dir(project.path("home")));
    assert!(host.until("cannot be resumed yet").contains("No such file or directory"), "with its reason");
    fs::rename(&away, &work).unwrap();
    host.end();
    let mut host = Host::of(&project);
    host.until("tk-1 is running in the background");
    host.end();
    said(&project, &["stop", "--now", "tk-1"], 0);
}

#[test]
fn a_relay_that_was_interrupted_is_on_again_with_its_count_and_one_that_was_turned_off_is_not() {
    let (api, project) = (BotApi::start(), project(&[WRITE]));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let relay = || json(&project, &["away", "status", "--json"])["relay"].as_i64().filter(|pid| *pid != 0);
    let kill = |pid: i64| kill_process(Pid::from_raw(i32::try_from(pid).unwrap()).unwrap(), Signal::KILL).unwrap();
    for _ in 0..3 {
        let before = relay().unwrap();
        let mut host = Host::of(&project);
        kill(before);
        host.until(&format!("Interrupted: the phone relay (pid {before}). It is on again."));
        until("another relay is there", || relay().is_some_and(|pid| pid != before));
        host.end();
    }
    let last = relay().unwrap();
    let mut host = Host::of(&project);
    kill(last);
    let line = host.until("interrupted too often within an hour, so not resumed.");
    assert!(line.ends_with("Use `programmator away on`."), "{line}");
    host.end();
    said(&project, &["away", "on"], 0);
    said(&project, &["away", "off"], 0);
    assert!(fs::read_dir(project.path("state/background")).unwrap().next().is_none(), "nothing is left to go on with");
}

#[test]
fn a_relay_that_cannot_begin_yet_is_tried_again() {
    let (api, project) = (BotApi::start(), project(&[WRITE]));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let before = json(&project, &["away", "status", "--json"])["relay"].as_i64().unwrap();
    // As a network that is not there yet.
    api.trouble("getMe", 502, serde_json::json!({"ok": false, "error_code": 502, "description": "Bad Gateway"}));
    kill_process(Pid::from_raw(i32::try_from(before).unwrap()).unwrap(), Signal::KILL).unwrap();
    let mut host = Host::of(&project);
    let line = host.until("the phone relay (pid");
    assert!(line.contains("cannot be resumed yet: ") && line.ends_with("Retrying every minute."), "{line}");
    host.end();
    // Nor where nobody answers: it may end without a word when nobody hears it any more.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let pairing =
        project.read("config/telegram.json").replace(&api.url(), &format!("http://{}", silent.local_addr().unwrap()));
    project.write("config/telegram.json", &pairing);
    let mut host = Host::of(&project);
    let line = host.until("the phone relay (pid");
    assert!(line.contains("cannot be resumed yet: it has not answered yet."), "{line}");
    host.end();
    assert_eq!(fs::read_dir(project.path("state/background")).unwrap().count(), 1, "it is kept");
}

#[test]
fn a_soft_stop_lets_the_iteration_finish_and_begins_nothing_that_was_queued() {
    let project = two(&[]);
    let told = said(&project, &["host", "stop"], 0);
    assert!(told.starts_with("Stopping after the current iteration: tk-1, tk-2.\n"), "{told}");
    let waiting = asked(&project);
    assert_eq!(said(&project, &["answer", &name(&waiting), "allow"], 0), "allowed by you (command line)\n");
    until("it has ended", || background(&project).is_empty());
    let runs = json(&project, &["status", "--json"]);
    let came = |ticket: &str| {
        let run = runs.as_array().unwrap().iter().find(|run| run["ticket"] == ticket).unwrap();
        (run["reason"].clone(), run["iterations"].clone())
    };
    assert_eq!(came("tk-1"), ("complete".into(), 1.into()), "its iteration came to its end: {runs}");
    assert_eq!(came("tk-2"), ("user_stopped".into(), 0.into()), "it only waited for the directory: {runs}");
}

#[test]
fn a_process_that_hears_nobody_is_sent_an_interrupt() {
    let project = two(&[]);
    let [before] = background(&project).try_into().unwrap();
    // As one of a version that listens elsewhere.
    fs::remove_file(project.path("state/sockets").join(before["pid"].to_string())).unwrap();
    let told = said(&project, &["host", "stop", "--now"], 1);
    assert!(told.contains("does not accept input") && told.contains("It was sent an interrupt instead."), "{told}");
    until("it has ended", || background(&project).is_empty());
}

#[test]
fn a_newer_version_takes_the_place_of_the_host() {
    let project = project(&[WRITE]);
    let (program, newer) = (project.path("bin/programmator"), project.path("bin/newer"));
    fs::create_dir_all(project.path("bin")).unwrap();
    fs::copy(PROGRAM, &program).unwrap();
    fs::copy(PROGRAM, &newer).unwrap();
    let mut command = Command::new(&program);
    command.arg("host").env_clear().envs(project.env()).current_dir(project.work()).stdin(Stdio::null());
    let mut host = Host::start(&mut command);
    fs::rename(&newer, &program).unwrap();
    host.until("the host restarts as the new version");
    host.until("The host is running.");
    assert_eq!(json(&project, &["host", "status", "--json"])["host"], host.child.id());
    host.end();
}

/// A `systemctl` that notes what it is told, starts the host as the unit says and ends it, and fails where a file says so.
fn service_manager(project: &Project) -> PathBuf {
    let bin = project.path("manager");
    fs::create_dir_all(&bin).unwrap();
    let text = format!(
        "#!/bin/sh\n\
         root={root}\n\
         echo \"$*\" >>$root/told\n\
         [ ! -e $root/fails ] || {{ echo 'Failed to connect to bus: No medium found' >&2; exit 1; }}\n\
         unit=$root/home/.config/systemd/user/programmator-host.service\n\
         case $2 in\n\
         restart)\n\
           [ ! -e $root/broken ] || exit 0\n\
           program=$(sed -n 's/^ExecStart=\"\\(.*\\)\" host$/\\1/p' $unit)\n\
           setsid \"$program\" host >/dev/null 2>&1 </dev/null & echo $! >$root/host.pid;;\n\
         disable) [ ! -e $root/host.pid ] || kill $(cat $root/host.pid);;\n\
         esac\n",
        root = project.path("").display()
    );
    fs::write(bin.join("systemctl"), text).unwrap();
    fs::set_permissions(bin.join("systemctl"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

fn manages(project: &Project, bin: &Path, args: &[&str]) -> (Option<i32>, String) {
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let output = project.command(args).env("PATH", path).output().unwrap();
    let words = [&output.stdout[..], &output.stderr].concat();
    (output.status.code(), String::from_utf8(words).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn it_is_installed_as_it_was_shown_and_leaves_nothing_behind() {
    let project = project(&[WRITE]);
    let bin = service_manager(&project);
    let unit = project.path("home/.config/systemd/user/programmator-host.service");
    let (code, words) = manages(&project, &bin, &["host", "install"]);
    assert!(code == Some(2) && words.contains("+ExecStart=") && !unit.exists(), "nobody has agreed: {words}");
    let by_hand = Host::of(&project);
    let (code, words) = manages(&project, &bin, &["host", "install", "--yes"]);
    assert!(code == Some(0) && words.contains("The host is running, and starts whenever you log in"), "{words}");
    ended(by_hand.child, 0);
    let text = fs::read_to_string(&unit).unwrap();
    assert!(text.contains(&format!("ExecStart=\"{PROGRAM}\" host\n")), "{text}");
    assert!(text.contains(&format!("Environment=\"PATH={}:", bin.display())), "{text}");
    let state = project.path("state");
    assert!(text.contains(&format!("Environment=\"PROGRAMMATOR_STATE_DIR={}\"\n", state.display())), "{text}");
    let service = "programmator-host.service";
    let told = format!("--user daemon-reload\n--user enable {service}\n--user restart {service}\n");
    assert_eq!(project.read("told"), told);
    let (code, words) = manages(&project, &bin, &["host", "install", "--yes"]);
    assert!(code == Some(0) && words.contains("is up to date."), "{words}");
    let (code, words) = manages(&project, &bin, &["host", "uninstall", "--yes"]);
    assert!(code == Some(0) && !unit.exists() && words.contains(" The host has ended."), "{words}");
    assert_eq!(json(&project, &["host", "status", "--json"])["host"], Value::Null);
    assert!(project.read("told").ends_with(&format!("--user disable --now {service}\n")), "{}", project.read("told"));
    let (_, words) = manages(&project, &bin, &["host", "uninstall"]);
    assert!(words.starts_with("The host is not installed"), "{words}");
}

#[cfg(target_os = "linux")]
#[test]
fn why_the_service_manager_does_not_start_it_is_told_with_what_to_do() {
    let project = project(&[WRITE]);
    let bin = service_manager(&project);
    project.write("fails", "");
    let by_hand = Host::of(&project);
    let (code, words) = manages(&project, &bin, &["host", "install", "--yes"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("`systemctl --user daemon-reload`: Failed to connect to bus: No medium found"), "{words}");
    assert!(words.contains("run `programmator host`"), "{words}");
    assert_eq!(json(&project, &["host", "status", "--json"])["host"], by_hand.child.id(), "the other one goes on");
    // All of programmator is taken out: what cannot be done is told, and the file is gone.
    project.write("home/.zfunc/_programmator", "#compdef programmator\n");
    let (code, words) = manages(&project, &bin, &["uninstall", "--yes"]);
    assert!(code == Some(1) && words.contains("the service may still be registered: "), "{words}");
    assert!(words.contains("Removed the completions"), "the rest is taken out all the same: {words}");
    ended(by_hand.child, 0);
    assert!(!project.path("home/.config/systemd/user/programmator-host.service").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_service_manager_that_starts_nothing_is_not_believed() {
    let project = project(&[WRITE]);
    let bin = service_manager(&project);
    project.write("broken", "");
    let (code, words) = manages(&project, &bin, &["host", "install", "--yes"]);
    assert!(
        code == Some(1) && words.contains("no host is running: see `systemctl --user status programmator-host`"),
        "{words}"
    );
    let listed = said(&project, &["host", "status"], 0);
    assert!(listed.starts_with("No host is running, though it is installed"), "{listed}");
    assert!(said(&project, &["doctor"], 0).contains("installed, but not running"));
}
