//! What comes from elsewhere and means harm, or is broken: each row of the table is tried on a run whose question waits, which goes
//! on waiting for the person, and is answered by them in the end.

use crate::away::{Away, PUSH, WRITE, asked, away, ended, name, project};
use crate::bot_api::{BotApi, PERSON, Sent, now};
use crate::pairing::paired;
use crate::project::{PROGRAM, Project};
use crate::watched::{json, of_kind, said, text};
use programmator::adapters::store::Store;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Answer, Scope};
use programmator::domain::command::UserCommand;
use serde_json::json as value;
use std::fs::{Permissions, set_permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
/// Far above what anything here may be long.
const FRAME: usize = 64 << 20;
/// More than any pipe holds: who does not read it is behind.
const PRINTED: usize = 400_000;
/// How many at once are heard.
const PLACES: usize = 64;
/// Says what it is given to the socket, and prints what it hears.
const SPEAK: &str = "use Socket; $SIG{PIPE} = q(IGNORE); socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die; \
    connect($s, pack_sockaddr_un($ARGV[0])) or die qq(no way in\\n); local $/; my $q = <STDIN>; \
    syswrite($s, $q); shutdown($s, 1); my $a = <$s>; print qq(heard: ), $a // q()";

/// A run with a question, on the phone and in the queue; one before it is answered.
struct Scene {
    api: BotApi,
    project: Away,
    first: Sent,
    question: Sent,
    name: String,
    /// Where its program hears the person.
    socket: PathBuf,
    /// An answer as it hears them.
    answer: Vec<u8>,
    /// Who has come and not gone.
    held: Vec<UnixStream>,
    behind: Vec<Child>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        for behind in &mut self.behind {
            let _ = behind.kill();
            let _ = behind.wait();
        }
        let _ = self.project.run(&["away", "off"]);
    }
}

fn scene() -> Scene {
    let huge = format!("huge: {PRINTED}");
    let (api, project) = (BotApi::start(), project(&[WRITE, &huge, PUSH, "bash: \"git push -q origin HEAD:second\""]));
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let told = said(&project, &["run", "--detach", "tk-1"], 0);
    let project = away(project);
    let pid: u32 = told.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()?.parse().ok()).expect("a number");
    let on_phone = |words: &str| api.wait_for(words, |sent| sent.text.contains(words) && !sent.buttons.is_empty());
    let first = on_phone("HEAD:work");
    api.press(PERSON, first.id, "allow");
    let question = on_phone("HEAD:second");
    let waiting = asked(&project);
    let store = Store::open(&project.path("state")).expect("a store");
    let run = store.runs().expect("runs").pop().expect("a run");
    let id = serde_json::from_value(waiting.clone()).expect("a question");
    let input = waiting["input"].as_str().expect("text").to_owned();
    let command = UserCommand::AnswerApproval { id, answer: Answer::Allow { input, scope: Scope::Once } };
    let answer = value!({"ticket": run.key(), "run": run.run, "by": Answerer::COMMAND_LINE, "command": command});
    let (answer, socket) = (answer.to_string().into_bytes(), project.path("state/sockets").join(pid.to_string()));
    let name = name(&waiting);
    Scene { api, project, first, question, name, socket, answer, held: Vec::new(), behind: Vec::new() }
}

/// A process that says this to the socket.
fn speak(change: impl FnOnce(&mut Command), socket: &Path, said: &[u8]) -> Output {
    let mut command = Command::new("perl");
    command.args(["-e", SPEAK]).arg(socket).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    change(&mut command);
    let mut child = command.spawn().expect("it starts");
    // It need not be read to its end.
    let _ = child.stdin.take().expect("a pipe").write_all(said);
    child.wait_with_output().expect("it ends")
}

fn heard_nothing(output: &Output) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), "heard: ", "{}", text(output));
}

/// The program with this on its stdin.
fn fed(project: &Project, args: &[&str], change: impl FnOnce(&mut Command), said: &[u8]) -> Output {
    let mut command = project.command(args);
    change(&mut command);
    spoken_to(&mut command, said)
}

fn spoken_to(command: &mut Command, said: &[u8]) -> Output {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("it starts");
    let _ = child.stdin.take().expect("a pipe").write_all(said);
    child.wait_with_output().expect("it ends")
}

/// Everything that the socket says to this, until it has no more to say.
fn told(socket: &Path, said: &[u8]) -> String {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    let mut heard = Vec::new();
    // It may have hung up meanwhile.
    let _ = stream.write_all(said);
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read_to_end(&mut heard);
    String::from_utf8(heard).expect("text")
}

fn another_user(scene: &mut Scene) {
    if !rustix::process::geteuid().is_root() {
        println!("not tried: only root can be another user");
        return;
    }
    let nobody = |command: &mut Command| {
        command.uid(65_534).gid(65_534);
    };
    let closed = speak(nobody, &scene.socket, &scene.answer);
    assert!(String::from_utf8_lossy(&closed.stderr).contains("no way in"), "{}", text(&closed));
    // Also where somebody has opened every door.
    let folders = scene.socket.ancestors().skip(1).take_while(|folder| *folder != std::env::temp_dir());
    let doors: Vec<(&Path, u32)> = folders.map(|folder| (folder, 0o711)).chain([(&*scene.socket, 0o666)]).collect();
    let modes = doors.iter().map(|(path, _)| std::fs::metadata(path).expect("it is there").permissions());
    let modes: Vec<Permissions> = modes.collect();
    for (path, mode) in &doors {
        set_permissions(path, Permissions::from_mode(*mode)).expect("it is ours");
    }
    heard_nothing(&speak(nobody, &scene.socket, &scene.answer));
    for ((path, _), mode) in doors.iter().zip(modes) {
        set_permissions(path, mode).expect("it is ours");
    }
}

fn another_chat(scene: &mut Scene) {
    let (api, question) = (&scene.api, scene.question.id);
    api.press(PERSON + 1, question, "allow");
    api.write(PERSON + 1, "yes");
    api.write_at(PERSON + 1, "yes", Some(question), now());
    api.write(PERSON + 1, "/stop tk-1");
    // The person's account, in a group that others read.
    let (group, from) = (value!({"id": -100, "type": "group"}), value!({"id": PERSON, "first_name": "Ada"}));
    api.update("message", value!({"date": now(), "chat": group, "from": from, "text": "yes"}));
    let message = value!({"message_id": question, "chat": group});
    api.update("callback_query", value!({"id": "p2", "from": from, "data": "allow", "message": message}));
    api.wait_heard();
    assert!(api.sent().iter().all(|sent| sent.chat == PERSON), "nobody else is answered");
}

fn a_press_once_more(scene: &mut Scene) {
    scene.api.press(PERSON, scene.first.id, "allow");
    scene.api.press(PERSON, scene.first.id, "allow");
    scene.api.wait_told_times("Too late: allowed by you (phone)", 2);
}

fn a_hook_that_claude_did_not_start(scene: &mut Scene) {
    let call = |session: &str| {
        value!({"session_id": session, "cwd": "/", "transcript_path": "/nowhere", "hook_event_name": "PermissionRequest",
                "tool_name": "Bash", "tool_input": {"command": "git push"}})
    };
    let told = call("1a2b3c4d-0000-4000-8000-000000000000").to_string();
    let cli = |command: &mut Command| {
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli").env("CLAUDECODE", "1");
    };
    // No Claude is above it, or one that says it is a run's.
    let of_run = |command: &mut Command| {
        command.env("PROGRAMMATOR_RUN_ID", "r");
    };
    // And one that was started for one answer, where nobody sits.
    let mut for_one_answer = Command::new("bash");
    for_one_answer.args(["-c", "\"$0\" hook session; exit $?", PROGRAM, "-p"]).env_clear().envs(scene.project.env());
    cli(&mut for_one_answer);
    let broken = [&b"{"[..], b"[]", b"\xff\xfe", b"{\"hook_event_name\": {}}"];
    let hooks = [fed(&scene.project, &["hook", "session"], of_run, told.as_bytes())]
        .into_iter()
        .chain([spoken_to(&mut for_one_answer, told.as_bytes())])
        .chain(broken.map(|told| fed(&scene.project, &["hook", "session"], cli, told)));
    for output in hooks {
        assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b""[..]), "{}", text(&output));
    }
    // The socket is for the person, not for what a run's Claude has started.
    heard_nothing(&speak(of_run, &scene.socket, &scene.answer));
    let output = fed(&scene.project, &["answer", &scene.name, "allow"], of_run, b"");
    assert_eq!(output.status.code(), Some(77), "{}", text(&output));
}

fn a_frame_of_64_mb(scene: &mut Scene) {
    let frame = vec![b'x'; FRAME];
    assert_eq!(told(&scene.socket, &frame), "");
    let served = fed(&scene.project, &["serve", "--stdio"], |_| {}, &frame);
    assert_eq!(served.status.code(), Some(1), "{}", text(&served));
    assert!(String::from_utf8_lossy(&served.stderr).contains("a line is longer than 1024 KiB"), "{}", text(&served));
    let hook = fed(&scene.project, &["hook", "session"], |_| {}, &frame);
    assert_eq!((hook.status.code(), &*hook.stdout), (Some(0), &b""[..]), "{}", text(&hook));
}

fn half_a_frame(scene: &mut Scene) {
    let half = &scene.answer[..scene.answer.len() / 2];
    let heard = told(&scene.socket, half);
    assert!(heard.contains("different version"), "{heard}");
    // And one whose other half never comes.
    let mut stream = UnixStream::connect(&scene.socket).expect("it listens");
    stream.write_all(half).expect("it is there");
    scene.held.push(stream);
    let served = fed(&scene.project, &["serve", "--stdio"], |_| {}, b"{\"id\": 1, \"ask\"");
    assert_eq!(served.status.code(), Some(1), "{}", text(&served));
}

fn a_slow_reader(scene: &mut Scene) {
    // One that asks and does not read what it is answered; and one for each place there is that says nothing.
    let mut asks = UnixStream::connect(&scene.socket).expect("it listens");
    asks.write_all(b"{}").expect("it is there");
    asks.shutdown(std::net::Shutdown::Write).expect("it is there");
    scene.held.push(asks);
    for _ in 0..PLACES {
        scene.held.push(UnixStream::connect(&scene.socket).expect("it listens"));
    }
    // One on another machine that follows the run and reads nothing of it.
    let mut command = scene.project.command(&["serve", "--stdio"]);
    let mut served = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let run = json(&scene.project, &["status", "--json"])[0]["run"].clone();
    let follow = value!({"id": 1, "ask": {"follow": {"run": run, "after": 0, "printed": {}}}});
    writeln!(served.stdin.as_mut().expect("a pipe"), "{follow}").expect("it is there");
    scene.behind.push(served);
}

/// What is tried.
type Row = fn(&mut Scene);

/// What is tried, and how.
const TABLE: [(&str, Row); 7] = [
    ("another user of the machine", another_user),
    ("another chat, another account, a group", another_chat),
    ("a press of a button that was obeyed before", a_press_once_more),
    ("a hook that Claude did not start, or with broken input", a_hook_that_claude_did_not_start),
    ("a frame of 64 MB", a_frame_of_64_mb),
    ("half a frame", half_a_frame),
    ("one who does not read, and many who say nothing", a_slow_reader),
];

#[test]
fn what_is_hostile_or_broken_is_refused_or_survived_and_the_question_waits_for_the_person() {
    let mut scene = scene();
    for (what, try_it) in TABLE {
        println!("{what}");
        try_it(&mut scene);
        let waiting = json(&scene.project, &["queue", "--json"]);
        let names: Vec<String> = waiting.as_array().expect("a list").iter().map(name).collect();
        assert_eq!(names, [scene.name.clone()], "{what}");
        let answered = of_kind(&scene.project.journal(), "approval_answered").len();
        assert_eq!(answered, 1, "{what}: only the first question was answered");
    }
    // Whoever says nothing has no place for long. What the others were not heard with is an answer when the person says it.
    let begun = Instant::now();
    let heard = loop {
        let heard = told(&scene.socket, &scene.answer);
        if !heard.is_empty() {
            break heard;
        }
        assert!(begun.elapsed() < PATIENCE, "the person is not heard");
    };
    assert_eq!(heard, "{\"Ok\":null}");
    let journal = ended(&scene.project);
    assert_eq!(of_kind(&journal, "approval_answered").len(), 2);
    assert_eq!(journal.last().map(|record| &record["reason"]), Some(&"complete".into()), "{:?}", journal.last());
    scene.api.wait_for("its end", |sent| {
        sent.id == scene.question.id && sent.text.contains("✅ allowed by you (command line)")
    });
}
