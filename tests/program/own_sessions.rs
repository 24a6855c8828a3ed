//! Claude sessions that the person has started themselves: the program as their hook, and the hooks in Claude's settings.

use crate::away::name;
use crate::bot_api::{BotApi, PERSON};
use crate::pairing::paired;
use crate::project::{PROGRAM, Project};
use crate::watched::{json, of_kind, said, text};
use serde_json::{Value, json as value};
use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What Claude is for the program: it gives what it starts this variable, and has none itself.
pub const CLAUDE: &str = "CLAUDECODE=1 \"$0\" hook session; echo \"exit $?\"";
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn call(command: &str) -> Value {
    value!({
        "session_id": "1a2b3c4d-0000-4000-8000-000000000000", "cwd": "/w/shop", "transcript_path": "/nowhere/t.jsonl",
        "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": command},
    })
}

pub fn finished() -> Value {
    let mut told = call("");
    told["hook_event_name"] = "Stop".into();
    told["stop_hook_active"] = false.into();
    told["last_assistant_message"] = "All tests pass.".into();
    told
}

/// A Claude of this project that runs its hook.
pub fn claude(project: &Project, script: &str) -> Command {
    let mut claude = Command::new("/bin/sh");
    claude.args(["-c", script, PROGRAM]).env_clear().envs(project.env()).env("CLAUDE_CODE_ENTRYPOINT", "cli");
    claude.current_dir(project.work()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    claude
}

pub fn tell(claude: &mut Command, told: &[u8]) -> Child {
    let mut child = claude.spawn().expect("it starts");
    // It need not be read to its end.
    let _ = child.stdin.take().expect("a pipe").write_all(told);
    child
}

pub fn hook(project: &Project, told: &Value) -> Child {
    tell(&mut claude(project, CLAUDE), told.to_string().as_bytes())
}

/// What a hook has printed. It ends well, whatever has happened.
pub fn printed(mut hook: Child) -> String {
    let deadline = Instant::now() + PATIENCE;
    while hook.try_wait().expect("it can be asked about").is_none() {
        if Instant::now() > deadline {
            hook.kill().expect("it is there");
            panic!("it waits for an answer");
        }
        std::thread::yield_now();
    }
    let output = hook.wait_with_output().expect("it ends");
    let out = String::from_utf8(output.stdout.clone()).expect("text");
    out.strip_suffix("exit 0\n").unwrap_or_else(|| panic!("{}", text(&output))).to_owned()
}

pub fn decision(hook: Child) -> Value {
    let printed = printed(hook);
    let told: Value = serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
    assert_eq!(told["hookSpecificOutput"]["hookEventName"], "PermissionRequest");
    told["hookSpecificOutput"]["decision"].clone()
}

/// As long as this is there, the phone is asked.
pub fn on(project: &Project) -> File {
    let file = File::create(project.path("state/away.lock")).expect("a file");
    file.lock().expect("a lock");
    file
}

/// The journal, once it has so many records of this kind.
fn until(project: &Project, kind: &str, many: usize) -> Vec<Value> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let journal = project.journal();
        if of_kind(&journal, kind).len() >= many {
            return journal;
        }
        assert!(Instant::now() < deadline, "no {kind}: {journal:#?}");
    }
}

/// The next question that waits. Between two of them a session's run is one that has ended.
pub fn asked(project: &Project) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let waiting = json(project, &["queue", "--json"]);
        if let Some(first) = waiting.as_array().expect("a list").first() {
            return first.clone();
        }
        assert!(Instant::now() < deadline, "it asks nothing");
    }
}

#[test]
fn where_nobody_is_asked_a_hook_says_and_leaves_nothing() {
    let project = Project::new();
    for told in [call("ls"), finished(), value!({})] {
        assert_eq!(printed(hook(&project, &told)), "");
    }
    let left: Vec<_> = std::fs::read_dir(project.path("state")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    let _on = on(&project);
    let with = |name: &str, value: &str| {
        let told = call("ls").to_string();
        printed(tell(claude(&project, CLAUDE).env(name, value), told.as_bytes()))
    };
    assert_eq!(with("PROGRAMMATOR_RUN_ID", "r"), "", "a run has its own gate");
    assert_eq!(with("CLAUDE_CODE_ENTRYPOINT", "sdk-cli"), "", "a script waits for it");
    assert_eq!(with("PROGRAMMATOR_STATE_DIR", "/proc/nowhere"), "");
    // A Claude that was started for one answer, from a session with a terminal.
    let headless = "exec /bin/sh -c \"$1\" \"$0\" -p";
    let mut headless = claude(&project, headless);
    assert_eq!(printed(tell(headless.arg(CLAUDE), finished().to_string().as_bytes())), "");
    for told in [&b""[..], b"{\"session_id\": 7}", b"\xff\xfe\0", b"{\"hook_event_name\":\"Stop\"}"] {
        assert_eq!(printed(tell(&mut claude(&project, CLAUDE), told)), "");
    }
    let mut again = finished();
    again["stop_hook_active"] = true.into();
    for told in [again, value!({"hook_event_name": "SessionStart"})] {
        assert_eq!(printed(hook(&project, &told)), "");
    }
    let long = call(&"x".repeat(100 << 20)).to_string();
    assert_eq!(printed(tell(&mut claude(&project, CLAUDE), long.as_bytes())), "");
    assert_eq!(said(&project, &["queue"], 0), "No question is waiting for you.\n");
}

#[test]
fn a_call_is_allowed_from_elsewhere_once() {
    let project = Project::new();
    let on = on(&project);
    let hook = hook(&project, &call("git push"));
    let question = asked(&project);
    let id = name(&question);
    assert_eq!((&question["ticket"], &question["folder"]), (&"session-1a2b3c4d".into(), &"/w/shop".into()));
    assert_eq!(question["title"], "Your Claude session in shop");
    assert!(said(&project, &["queue", &id], 0).contains("| command: git push"));
    assert!(said(&project, &["status"], 0).contains("needs you"));
    assert_eq!(json(&project, &["away", "status", "--json"])["own_sessions"], 1);
    let is_not_stopped = || {
        let why = said(&project, &["stop", "session-1a2b3c4d"], 1);
        assert!(why.contains("only accepts answers"), "{why}");
    };
    is_not_stopped();
    assert_eq!(said(&project, &["answer", &id, "allow"], 0), "allowed by you (command line)\n");
    assert_eq!(decision(hook), value!({"behavior": "allow"}));
    assert!(said(&project, &["answer", &id, "deny"], 1).contains("too late: allowed by you (command line)"));
    assert_eq!(said(&project, &["queue"], 0), "No question is waiting for you.\n");
    assert_eq!(of_kind(&project.journal(), "approval_answered").len(), 1);
    is_not_stopped();
    assert!(said(&project, &["resume", "session-1a2b3c4d"], 2).contains("continue in its terminal"));
    assert!(!said(&project, &["report"], 0).contains("session-"));
    drop(on);
}

#[test]
fn a_no_ends_the_turn_and_words_do_not() {
    let project = Project::new();
    let _on = on(&project);
    for (answer, told) in [
        (&["deny"][..], value!({"behavior": "deny", "message": programmator::domain::approval::NO, "interrupt": true})),
        (&["deny", "use", "the", "fixture"][..], value!({"behavior": "deny", "message": "use the fixture"})),
    ] {
        let hook = hook(&project, &call("curl example.invalid"));
        let id = name(&asked(&project));
        said(&project, &[&["answer", &id], answer].concat(), 0);
        assert_eq!(decision(hook), told);
    }
    let journal = project.journal();
    assert_eq!(of_kind(&journal, "run_started").len(), 1, "one run a session: {journal:#?}");
}

#[test]
fn what_is_allowed_for_the_session_is_not_asked_about_again_and_nothing_else() {
    let project = Project::new();
    let _on = on(&project);
    let first = hook(&project, &call("make"));
    said(&project, &["answer", &name(&asked(&project)), "allow", "--for-run"], 0);
    assert_eq!(decision(first), value!({"behavior": "allow"}));
    for _ in 0..3 {
        assert_eq!(decision(hook(&project, &call("make"))), value!({"behavior": "allow"}));
    }
    let other = hook(&project, &call("make install"));
    said(&project, &["answer", &name(&asked(&project)), "deny"], 0);
    assert_eq!(decision(other)["behavior"], "deny");
}

#[test]
fn two_hooks_of_one_session_ask_one_after_the_other() {
    let project = Project::new();
    let _on = on(&project);
    let mut hooks: Vec<(String, Child)> =
        ["one", "two"].map(|command| (command.to_owned(), hook(&project, &call(command)))).into();
    for _ in 0..2 {
        let question = asked(&project);
        let all = json(&project, &["queue", "--json"]);
        assert_eq!(all.as_array().map(Vec::len), Some(1), "{all}");
        said(&project, &["answer", &name(&question), "deny", question["input"].as_str().unwrap()], 0);
        let words = question["input"].as_str().unwrap().to_owned();
        let at = hooks.iter().position(|(command, _)| words.contains(&format!("\"{command}\""))).expect("it is its");
        assert_eq!(decision(hooks.remove(at).1)["message"], words, "each has its own answer");
    }
}

#[test]
fn two_hooks_for_the_same_event_ask_once() {
    let project = Project::new();
    let _on = on(&project);
    // As one in Claude's settings and one in a plugin.
    let hooks = [(), ()].map(|()| hook(&project, &call("git push")));
    said(&project, &["answer", &name(&asked(&project)), "allow"], 0);
    let mut printed = hooks.map(printed);
    printed.sort();
    assert_eq!(printed[0], "", "the other one says nothing");
    assert!(printed[1].contains("allow"), "{printed:?}");
    assert_eq!(of_kind(&project.journal(), "approval_asked").len(), 1);
    // The same call at another time is another question.
    let again = hook(&project, &call("git push"));
    said(&project, &["answer", &name(&asked(&project)), "deny"], 0);
    assert_eq!(decision(again)["behavior"], "deny");
}

#[test]
fn a_session_between_its_questions_is_at_rest_and_its_end_is_in_the_log() {
    let project = Project::new();
    let mut over = call("");
    over["hook_event_name"] = "SessionEnd".into();
    over["reason"] = "prompt_input_exit".into();
    assert_eq!(printed(hook(&project, &over)), "");
    assert!(!project.path("state/programmator.db").exists(), "a session that has asked nothing leaves nothing");
    let _on = on(&project);
    let first = hook(&project, &call("ls"));
    said(&project, &["answer", &name(&asked(&project)), "allow"], 0);
    decision(first);
    let told = [said(&project, &["status"], 0), said(&project, &["logs", "session-1a2b3c4d"], 0)];
    assert!(
        told[0].contains("idle: no question") && told[1].contains("run ended: idle: no question from the session"),
        "{told:?}"
    );
    assert!(!told.concat().contains("stopped by you"), "{told:?}");
    for _ in 0..2 {
        assert_eq!(printed(hook(&project, &over)), "");
    }
    let told = said(&project, &["logs", "session-1a2b3c4d"], 0);
    assert_eq!(told.matches("the session has ended").count(), 1, "{told}");
    // Resumed, it asks again.
    let again = hook(&project, &call("pwd"));
    said(&project, &["answer", &name(&asked(&project)), "allow"], 0);
    assert_eq!(decision(again), value!({"behavior": "allow"}));
}

#[test]
fn what_hooks_do_is_logged_where_the_person_wants_that_and_no_hook_says_more() {
    let project = Project::new();
    for name in ["PROGRAMMATOR_HOOK_DEBUG", "CLAUDE_AFK_DEBUG"] {
        let told = call("curl -H 'Authorization: Bearer abcdefgh12345678'").to_string();
        assert_eq!(printed(tell(claude(&project, CLAUDE).env(name, "1"), told.as_bytes())), "");
    }
    let log = project.read("state/hooks/hook.log");
    assert_eq!(log.matches(" PermissionRequest Bash 1a2b3c4d-").count(), 2, "{log}");
    assert!(log.contains(" ms: nothing: the phone is off"), "{log}");
    for capture in std::fs::read_dir(project.path("state/hooks/captures")).unwrap().flatten() {
        let text = std::fs::read_to_string(capture.path()).unwrap();
        assert!(text.contains("[masked]") && !text.contains("abcdefgh12345678"), "{text}");
    }
}

#[test]
fn the_question_of_a_killed_hook_waits_no_more() {
    let project = Project::new();
    let _on = on(&project);
    let told = call("ls").to_string();
    // The shell is the hook's process.
    let mut killed = tell(&mut claude(&project, "CLAUDECODE=1 exec \"$0\" hook session"), told.as_bytes());
    let id = name(&asked(&project));
    killed.kill().expect("it is there");
    killed.wait().expect("it ends");
    assert_eq!(said(&project, &["queue"], 0), "No question is waiting for you.\n");
    assert!(said(&project, &["answer", &id, "allow"], 1).contains("too late: answered in its terminal"));
    let journal = project.journal();
    assert_eq!((of_kind(&journal, "approval_void").len(), of_kind(&journal, "run_ended").len()), (1, 1));
    // A later one of the session closes it, too, where nobody has looked.
    let mut killed = tell(&mut claude(&project, "CLAUDECODE=1 exec \"$0\" hook session"), told.as_bytes());
    until(&project, "approval_asked", 2);
    killed.kill().expect("it is there");
    killed.wait().expect("it ends");
    let later = hook(&project, &call("pwd"));
    let journal = until(&project, "approval_asked", 3);
    assert_eq!(of_kind(&journal, "approval_void").len(), 2, "{journal:#?}");
    said(&project, &["answer", &name(&asked(&project)), "allow"], 0);
    assert_eq!(decision(later), value!({"behavior": "allow"}));
}

#[test]
fn what_is_answered_in_its_terminal_is_asked_no_more() {
    let project = Project::new();
    let _on = on(&project);
    let path = project.path("t.jsonl").display().to_string();
    let mut told = call("ls");
    told["transcript_path"] = path.clone().into();
    let part = value!({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}});
    let used = value!({"type": "assistant", "message": {"content": [part]}}).to_string();
    project.write("t.jsonl", &format!("{used}\n"));
    let hook = hook(&project, &told);
    asked(&project);
    let part = value!({"type": "tool_result", "tool_use_id": "t1", "content": ""});
    let result = value!({"type": "user", "message": {"content": [part]}}).to_string();
    project.write("t.jsonl", &format!("{used}\n{result}\n"));
    assert_eq!(printed(hook), "");
    assert_eq!(of_kind(&project.journal(), "approval_void")[0]["why"], "answered in its terminal");
}

#[test]
fn who_waits_no_more_and_whom_nobody_asks_any_more_are_let_go() {
    let project = Project::new();
    let held = on(&project);
    let mut closed = hook(&project, &finished());
    asked(&project);
    drop(closed.stdout.take());
    until(&project, "approval_void", 1);
    closed.wait().expect("it ends");
    let off = hook(&project, &finished());
    asked(&project);
    drop(held);
    assert_eq!(printed(off), "");
    let journal = project.journal();
    let why: Vec<&Value> = of_kind(&journal, "approval_void").iter().map(|void| &void["why"]).collect();
    assert_eq!(why, ["the session has ended, or is no longer waiting", "withdrawn here: Claude asks in its terminal"]);
}

#[test]
fn what_the_session_itself_has_started_cannot_answer() {
    let project = Project::new();
    let _on = on(&project);
    let script = "exec 3<&0; (CLAUDECODE=1 exec \"$0\" hook session <&3) & \
                  until [ -e ../go ]; do sleep 0.02; done; \
                  CLAUDECODE=1 \"$0\" answer $(cat ../go) allow >../said 2>&1; echo $? >>../said; wait; echo exit $?";
    let claude = tell(&mut claude(&project, script), call("ls").to_string().as_bytes());
    let id = name(&asked(&project));
    project.write("go.part", &id);
    std::fs::rename(project.path("go.part"), project.path("go")).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !project.path("said").exists() || !project.read("said").ends_with("1\n") {
        assert!(Instant::now() < deadline, "it is not refused");
    }
    assert!(of_kind(&project.journal(), "approval_answered").is_empty());
    said(&project, &["answer", &id, "deny"], 0);
    assert_eq!(decision(claude)["behavior"], "deny");
}

#[test]
fn words_at_the_end_of_a_turn_begin_the_next() {
    let project = Project::new();
    let _on = on(&project);
    let waits = hook(&project, &finished());
    let id = name(&asked(&project));
    assert!(said(&project, &["queue", &id], 0).contains("All tests pass."));
    said(&project, &["answer", &id, "now", "commit", "it"], 0);
    assert_eq!(
        serde_json::from_str::<Value>(&printed(waits)).unwrap(),
        value!({"decision": "block", "reason": "now commit it"})
    );
    let waits = hook(&project, &finished());
    said(&project, &["answer", &name(&asked(&project)), "deny"], 0);
    assert_eq!(printed(waits), "{}\n");
}

#[test]
fn the_phone_answers_and_tells_the_end() {
    let (api, project) = (BotApi::start(), Project::new());
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let allowed = hook(&project, &call("git push"));
    let question = api.wait_for("the call", |sent| sent.text.contains("git push") && !sent.buttons.is_empty());
    assert!(
        question.text.starts_with("session-1a2b3c4d: Bash git push\nYour Claude session in shop"),
        "{}",
        question.text
    );
    api.press(PERSON, question.id, "allow");
    assert_eq!(decision(allowed), value!({"behavior": "allow"}));
    api.wait_for("its end", |sent| sent.id == question.id && sent.text.contains("✅ allowed by you (phone)"));
    let shop = project.path("shop");
    std::fs::create_dir(&shop).expect("it can be made");
    let edit = |name: &str| {
        let (mut told, path) = (call(""), shop.join(name));
        told["cwd"] = shop.display().to_string().into();
        (told["tool_name"], told["tool_input"]) = ("Write".into(), value!({"file_path": path, "content": "x"}));
        hook(&project, &told)
    };
    let all = edit("a.txt");
    let question = api.wait_for("the edit", |sent| sent.text.contains("/shop/a.txt") && !sent.buttons.is_empty());
    api.press(PERSON, question.id, "all");
    assert_eq!(decision(all), value!({"behavior": "allow"}));
    assert_eq!(decision(edit("b.txt")), value!({"behavior": "allow"}), "all like it are allowed");
    let other = edit(".git/config");
    let question = api.wait_for("the other edit", |sent| sent.text.contains(".git/config") && !sent.buttons.is_empty());
    api.reply(question.id, "no");
    assert_eq!(decision(other)["interrupt"], true);
    let waits = hook(&project, &finished());
    let question = api.wait_for("the end of the turn", |sent| sent.text.contains("All tests pass."));
    api.reply(question.id, "now commit it");
    assert_eq!(serde_json::from_str::<Value>(&printed(waits)).unwrap()["reason"], "now commit it");
    // Killed, and closed by the relay.
    let told = call("ls -l").to_string();
    let mut killed = tell(&mut claude(&project, "CLAUDECODE=1 exec \"$0\" hook session"), told.as_bytes());
    let question = api.wait_for("the other call", |sent| sent.text.contains("ls -l"));
    killed.kill().expect("it is there");
    killed.wait().expect("it ends");
    api.wait_for("that it waits no more", |sent| {
        sent.id == question.id && sent.text.contains("answered in its terminal")
    });
    assert!(api.sent().iter().all(|sent| !sent.text.contains("esume with")), "a session has no end");
    said(&project, &["away", "off"], 0);
}

pub const SETTINGS: &str = "home/.claude/settings.json";

pub fn installed(project: &Project) -> Value {
    serde_json::from_str(&project.read(SETTINGS)).expect("JSON")
}

#[test]
fn hooks_are_installed_and_removed_to_the_byte() {
    let project = Project::new();
    let before = "{\n    \"zebra\": 1.50,\n    \"hooks\": { \"Stop\": [ ] },\n    \"apple\": {\"b\": 2}\n}\n";
    project.write(SETTINGS, before);
    assert!(said(&project, &["hooks", "install"], 2).contains("no terminal to ask on"));
    assert_eq!(project.read(SETTINGS), before);
    let shown = said(&project, &["hooks", "install", "--yes"], 0);
    assert!(shown.contains("@@") && shown.contains("hook session || true"), "{shown}");
    let settings = installed(&project);
    for event in ["PermissionRequest", "Stop", "SessionEnd"] {
        let hook = &settings["hooks"][event][0]["hooks"][0];
        assert_eq!(
            (hook["command"].as_str(), &hook["timeout"]),
            (Some(&*format!("'{PROGRAM}' hook session || true")), &value!(3_600))
        );
    }
    assert_eq!(project.read(&format!("{SETTINGS}.before-programmator")), before);
    assert!(said(&project, &["hooks", "install", "--yes"], 0).contains("already"));
    assert!(said(&project, &["hooks", "status"], 0).contains("settings.json  installed: '"));
    let doctor = project.run(&["doctor"]);
    assert!(
        String::from_utf8_lossy(&doctor.stdout).contains("your own Claude sessions can ask on the phone"),
        "{}",
        text(&doctor)
    );
    said(&project, &["hooks", "remove", "--yes"], 0);
    assert_eq!(project.read(SETTINGS), before);
    assert!(!project.path(&format!("{SETTINGS}.before-programmator")).exists());
    // Something else was changed meanwhile, which stays.
    said(&project, &["hooks", "install", "--yes"], 0);
    project.write(SETTINGS, &project.read(SETTINGS).replace("1.50", "7"));
    said(&project, &["hooks", "remove", "--yes"], 0);
    assert!(project.read(SETTINGS).starts_with("{\n    \"zebra\": 7,\n") && installed(&project)["apple"]["b"] == 2);
    assert!(!project.read(SETTINGS).contains("programmator"));
    // Where there was no file there is none again.
    std::fs::remove_file(project.path(SETTINGS)).unwrap();
    said(&project, &["hooks", "install", "--yes"], 0);
    said(&project, &["hooks", "remove", "--yes"], 0);
    assert!(!project.path(SETTINGS).exists());
    assert!(said(&project, &["hooks", "remove"], 0).contains("has no programmator hooks"));
    said(&project, &["hooks", "install", "--project", "--yes"], 0);
    assert!(project.path("work/.claude/settings.local.json").exists() && !project.path(SETTINGS).exists());
    said(&project, &["hooks", "remove", "--project", "--yes"], 0);
    let left = std::fs::read_dir(project.path("work/.claude")).unwrap().count();
    assert_eq!(left, 0, "the folder stays: it may be the person's");
    project.write("work/.claude/CLAUDE.md", "mine");
    said(&project, &["hooks", "install", "--project", "--yes"], 0);
    said(&project, &["hooks", "remove", "--project", "--yes"], 0);
    assert_eq!(project.read("work/.claude/CLAUDE.md"), "mine");
    let inside = project.command(&["hooks", "install", "--yes"]).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    assert_eq!(inside.status.code(), Some(77));
}

#[test]
fn calls_of_own_sessions_are_judged_where_the_person_wants_that() {
    let project = Project::new();
    let coming = |command: &str| {
        let mut told = call(command);
        told["hook_event_name"] = "PreToolUse".into();
        told["cwd"] = project.work().to_str().into();
        told
    };
    let want = |mode: &str| project.write("config/config.yaml", &format!("policy: {{own_sessions: {mode}}}\n"));
    let said_of = |command: &str| printed(hook(&project, &coming(command)));
    let log = project.path("state/hooks/policy.log");
    let (harmless, asked, blocked) =
        ("ls", "git push --force", format!("cat {}/state/programmator.db", project.path("").display()));
    assert_eq!(said_of(&blocked), "");
    assert!(!log.exists(), "the policy is not for them");
    want("observe");
    assert_eq!(["ls", asked, &blocked].map(said_of), ["", "", ""]);
    let noted = std::fs::read_to_string(&log).unwrap();
    assert!(
        noted.contains(" would ask: Bash git push --force (") && noted.contains(" would block: Bash cat "),
        "{noted}"
    );
    assert_eq!(noted.lines().count(), 2, "{noted}");
    assert!(String::from_utf8_lossy(&project.run(&["doctor"]).stdout).contains("its hook is missing"));
    want("off");
    said(&project, &["hooks", "install", "--yes"], 0);
    want("enforce");
    assert!(String::from_utf8_lossy(&project.run(&["doctor"]).stdout).contains("its hook is missing"));
    said(&project, &["hooks", "install", "--yes"], 0);
    assert_eq!(installed(&project)["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"], 30);
    assert!(said(&project, &["hooks", "status"], 0).contains("policy.log"));
    let decided = |command: &str| {
        let told: Value = serde_json::from_str(&said_of(command)).expect("JSON");
        let told = told["hookSpecificOutput"].clone();
        assert_eq!(told["hookEventName"], "PreToolUse");
        (told["permissionDecision"].as_str().unwrap().to_owned(), told["permissionDecisionReason"].to_string())
    };
    assert_eq!(said_of(harmless), "", "Claude's own rules decide");
    assert_eq!(decided(asked).0, "ask");
    let (verdict, why) = decided(&blocked);
    assert!(verdict == "deny" && why.contains("programmator: "), "{verdict} {why}");
    // Rules that cannot be used hold up no person, nor do those of a run whose gate it has itself.
    let mut of_run = claude(&project, CLAUDE);
    let of_run = tell(of_run.env("PROGRAMMATOR_RUN_ID", "r"), coming(&blocked).to_string().as_bytes());
    assert_eq!(printed(of_run), "");
    project.write("config/policy.yaml", "rules: [");
    assert_eq!(said_of(&blocked), "");
}

#[test]
fn the_command_in_the_settings_never_fails() {
    let project = Project::new();
    said(&project, &["hooks", "install", "--yes"], 0);
    let command = installed(&project)["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let run = |command: &str| -> Output { claude(&project, command).stdin(Stdio::null()).output().expect("it starts") };
    let gone = command.replace("programmator'", "gone'");
    // An older program that does not know the hook would say no by its exit code.
    let older = command.replace("hook session", "hook nothing");
    for command in [command, gone, older] {
        let output = run(&command);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{command}: {}", text(&output));
    }
}

#[test]
fn a_plugin_is_written_where_nothing_else_is() {
    let project = Project::new();
    for _ in 0..2 {
        assert!(said(&project, &["hooks", "plugin", "../plugin"], 0).contains("--plugin-dir"));
    }
    let manifest: Value = serde_json::from_str(&project.read("plugin/.claude-plugin/plugin.json")).unwrap();
    assert_eq!(manifest["name"], "programmator");
    let hooks: Value = serde_json::from_str(&project.read("plugin/hooks/hooks.json")).unwrap();
    assert!(hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().contains(PROGRAM));
    assert!(project.read("plugin/commands/enable.md").contains("away on"));
    assert!(said(&project, &["hooks", "plugin", "."], 2).contains("other files"));
}
