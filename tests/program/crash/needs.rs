//! Many questions of several runs at once, answered from terminals and a phone while runs, relay and those who answer are killed
//! at random moments: each is answered once at most, none is lost, and the phone tells of each how it came to its end.
//!
//! `NEEDS=10000` asks more of them, `CRASH_SEED=<seed>` draws the same moments again.

use super::{Dice, PATIENCE};
use crate::bot_api::{BotApi, PERSON, Sent};
use crate::pairing::paired;
use crate::project::Project;
use crate::watched::{json, of_kind, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Processes with a run at the same time.
const RUNS: usize = 5;
/// Phases of a ticket, how often each asks, and how many questions at the same time: of many needs, and of few.
const LONG: (usize, usize, usize) = (5, 2, 20);
const SHORT: (usize, usize, usize) = (2, 1, 5);

const CONFIG: &str = "
git: {worktree: ticket}
run: {max_parallel: 9}
limits: {calls: 100000, max_iterations: 1000, stagnation: 1000}
breaker: {permission_denials: 1000, no_progress: 1000, same_error: 1000}
";
const POLICY: &str = "version: 1\nrules:\n  - {name: person, action: ask, command: echo}\n";

fn scenario(times: usize, at_once: usize) -> String {
    let call = |n: usize| format!("{{bash: \"echo {{slug}}-{n} >> effects\"}}");
    let calls = |time: usize| (0..at_once).map(|n| call(at_once * time + n)).collect::<Vec<_>>().join(", ");
    let asks: String =
        (0..times).flat_map(|time| ["      - parallel: [".to_owned(), calls(time), "]\n".to_owned()]).collect();
    format!(
        "turns:\n  - when: {{phase: \"\"}}\n    steps:\n      - write: {{path: \"{{slug}}.txt\", content: \"1\"}}\n{asks}      - status: {{summary: did}}\n"
    )
}

/// How much is asked, and by how many tickets.
struct Size {
    needs: usize,
    tickets: usize,
    phases: usize,
    times: usize,
    at_once: usize,
    /// One round in so many kills a run; as many kill the relay.
    kill: usize,
}

impl Size {
    fn of(needs: usize) -> Self {
        let ((phases, times, at_once), kill) = if needs > 500 { (LONG, 30) } else { (SHORT, 6) };
        let tickets = needs.div_ceil(phases * times * at_once).max(RUNS);
        Self { needs, tickets, phases, times, at_once, kill }
    }

    fn project(&self) -> Project {
        let names: Vec<String> = (0..self.phases).map(|n| format!("Part {n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let project = Project::with_config(&names, &scenario(self.times, self.at_once), CONFIG);
        for n in 2..=self.tickets {
            project.ticket(&format!("tk-{n}"), &names);
        }
        project.write("config/policy.yaml", POLICY);
        project.write("work/.git/info/exclude", "effects\n");
        project
    }
}

fn records(project: &Project, ticket: &str) -> Vec<Value> {
    let lines = said(project, &["logs", "--json", ticket], 0);
    lines.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

/// The program with this number is gone from one moment to the next, if it is there.
fn kill(pid: &Value) -> bool {
    let pid = pid.as_i64().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

#[derive(Default, Debug)]
struct Kills {
    runs: usize,
    relays: usize,
    clients: usize,
}

/// All that happens to the runs.
struct Life<'a> {
    size: &'a Size,
    seed: u64,
    dice: Dice,
    api: &'a BotApi,
    project: &'a Project,
    /// The process of each ticket that is at work.
    programs: BTreeMap<String, Value>,
    over: BTreeSet<String>,
    /// The messages of which a button was pressed.
    pressed: BTreeSet<i64>,
    kills: Kills,
    /// When anything was there to be answered last.
    quiet: Instant,
}

impl Life<'_> {
    /// Until all tickets are done.
    fn live(&mut self) {
        while self.over.len() < self.size.tickets {
            self.begin_runs();
            if self.dice.below(self.size.kill) == 0 {
                let at_work: Vec<&Value> = self.programs.values().collect();
                self.kills.runs += usize::from(!at_work.is_empty() && kill(at_work[self.dice.below(at_work.len())]));
            }
            if self.dice.below(self.size.kill) == 0 {
                let relay = json(self.project, &["away", "status", "--json"]);
                self.kills.relays += usize::from(kill(&relay["relay"]));
                self.project.run(&["away", "on"]);
            }
            self.answer();
        }
    }

    /// As many tickets as there may be are at work; those that were killed go on.
    fn begin_runs(&mut self) {
        let runs = json(self.project, &["status", "--json"]);
        let mut state: BTreeMap<&str, &Value> = BTreeMap::new();
        for run in runs.as_array().expect("a list") {
            // The newest is the first.
            state.entry(run["ticket"].as_str().expect("a ticket")).or_insert(run);
        }
        let mut at_work = 0;
        for ticket in (1..=self.size.tickets).map(|n| format!("tk-{n}")) {
            let run = state.get(&*ticket);
            let begin = match run.map(|run| run["state"].as_str().expect("a word")) {
                None => "run",
                Some("interrupted") => "resume",
                Some("ended") => {
                    assert_eq!(run.map(|run| &run["reason"]), Some(&"complete".into()), "seed {}: {run:?}", self.seed);
                    self.programs.remove(&ticket);
                    self.over.insert(ticket);
                    continue;
                }
                Some(_) => "",
            };
            at_work += 1;
            if at_work > RUNS {
                break;
            }
            if !begin.is_empty() {
                let told = self.project.run(&[begin, "--detach", &ticket]);
                let told = String::from_utf8_lossy(&told.stdout).into_owned();
                let pid = told.split("(pid ").nth(1).and_then(|rest| rest.split(')').next()?.parse::<i64>().ok());
                self.programs.insert(ticket, pid.map_or(Value::Null, Value::from));
            }
        }
    }

    /// Most of what waits is answered, some of it in two places at once; some who answer are killed while they do.
    fn answer(&mut self) {
        let waiting = json(self.project, &["queue", "--json"]);
        let waiting = waiting.as_array().expect("a list");
        if waiting.is_empty() {
            assert!(self.quiet.elapsed() < PATIENCE, "seed {}: nothing happens", self.seed);
            return;
        }
        self.quiet = Instant::now();
        let word = |dice: &mut Dice| if dice.below(2) == 0 { "allow" } else { "deny" };
        for sent in self.api.sent_where(|sent| !sent.buttons.is_empty() && !is_end(sent)) {
            // Some press once more, before the message says that it was heard.
            let is_new = !self.pressed.contains(&sent.id);
            if self.dice.below(if is_new { 2 } else { 10 }) == 0 {
                self.pressed.insert(sent.id);
                self.api.press(PERSON, sent.id, word(&mut self.dice));
            }
        }
        let mut clients: Vec<Child> = Vec::new();
        for one in waiting {
            if self.dice.below(4) == 0 {
                let name = one["name"].as_str().expect("a name");
                let mut command = self.project.command(&["answer", name, word(&mut self.dice)]);
                clients.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
            }
        }
        for mut client in clients {
            if self.dice.below(5) == 0 {
                let moment = Duration::from_millis(self.dice.below(60) as u64);
                let begun = Instant::now();
                while client.try_wait().expect("a child").is_none() {
                    if begun.elapsed() >= moment {
                        client.kill().expect("a child");
                        self.kills.clients += 1;
                        break;
                    }
                    std::thread::yield_now();
                }
            }
            // Others may have been faster, whatever it says.
            client.wait().expect("a child");
        }
    }
}

/// It tells of the end of a run.
fn is_end(sent: &Sent) -> bool {
    sent.buttons.first().is_some_and(|(_, data)| data.starts_with("end "))
}

/// How the question came to its end, as a message tells it.
fn end_of(end: &Value) -> String {
    if end["kind"] == "approval_void" {
        return end["why"].as_str().expect("words").to_owned();
    }
    let how = if end["answer"]["answer"] == "allow" { "allowed" } else { "denied" };
    match end["by"].as_str() {
        Some("phone") => format!("{how} by you (phone)"),
        Some("command_line") => format!("{how} by you (command line)"),
        // It was allowed before its program died, and has not run since.
        Some("ticket") => format!("{how} automatically"),
        _ => panic!("nobody else answers: {end}"),
    }
}

/// The ends of all questions, by what they are called on the phone.
struct Ends(BTreeMap<String, Vec<String>>);

impl Ends {
    /// Those of the journals, in which each question has one.
    fn read(project: &Project, tickets: usize, seed: u64) -> Self {
        let mut ends: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ticket in (1..=tickets).map(|n| format!("tk-{n}")) {
            let journal = records(project, &ticket);
            let mut of: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
            for end in ["approval_answered", "approval_void"].into_iter().flat_map(|kind| of_kind(&journal, kind)) {
                of.entry(format!("{} {}", end["id"], end["revision"])).or_default().push(end);
            }
            for question in of_kind(&journal, "approval_asked") {
                let ends_of = of.remove(&format!("{} {}", question["id"], question["revision"])).unwrap_or_default();
                assert_eq!(ends_of.len(), 1, "seed {seed}: {question} has one end: {ends_of:?}");
                let input: Value = serde_json::from_str(question["input"].as_str().expect("text")).expect("JSON");
                let head = format!("{ticket}: Bash {}", input["command"].as_str().expect("a command"));
                ends.entry(head).or_default().push(end_of(ends_of[0]));
            }
            assert!(of.is_empty(), "seed {seed}: what was not asked has ended: {of:?}");
        }
        Self(ends)
    }

    fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// The ends that are told on the phone and that no question of this name had.
    fn false_ones(&self, sent: &[Sent]) -> Vec<String> {
        let mut left = self.0.clone();
        let mut false_ones = Vec::new();
        let head = |sent: &Sent| sent.text.lines().next().unwrap_or_default().to_owned();
        for (at, one) in sent.iter().enumerate() {
            let (head, end) = (head(one), one.text.rsplit("\n\n").next().unwrap_or_default());
            let Some(ends) = left.get_mut(&head) else { continue };
            let end = end.split_once(' ').map_or(end, |(_, end)| end);
            let is_true = if end == "the run was resumed: asked again below" {
                // That message has the end, or one below that.
                sent[at + 1..].iter().any(|later| later.text.starts_with(&head))
            } else {
                // What the run withdrew the relay may tell in words of its own.
                let is_void = |one: &String| !one.contains(" by you (") && end.starts_with("withdrawn: ");
                let at = ends.iter().position(|one| *one == end || is_void(one));
                at.map(|at| ends.swap_remove(at)).is_some()
            };
            if !is_true {
                false_ones.push(format!("{head}: {end}, and there are {ends:?}"));
            }
        }
        false_ones
    }
}

#[test]
fn each_question_is_answered_once_whoever_is_killed_meanwhile() {
    let needs: usize = std::env::var("NEEDS").map_or(50, |needs| needs.parse().expect("NEEDS is a number"));
    let clock = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
    let seed = std::env::var("CRASH_SEED").map_or_else(|_| clock(), |seed| seed.parse().expect("a number"));
    let (size, begun) = (Size::of(needs), Instant::now());
    let (api, project) = (BotApi::start(), size.project());
    paired(&project, &api, &[]);
    said(&project, &["away", "on"], 0);
    let mut life = Life {
        size: &size,
        seed,
        dice: Dice(seed),
        api: &api,
        project: &project,
        programs: BTreeMap::new(),
        over: BTreeSet::new(),
        pressed: BTreeSet::new(),
        kills: Kills::default(),
        quiet: Instant::now(),
    };
    life.live();
    let (kills, lived) = (life.kills, begun.elapsed());
    let ends = Ends::read(&project, size.tickets, seed);
    assert!(ends.count() >= size.needs, "seed {seed}: {} questions of {needs}", ends.count());
    // A relay that is killed between sending and keeping sends once more, and does not know the first message.
    let is_open = |sent: &Sent| !sent.buttons.is_empty() && !is_end(sent);
    let deadline = Instant::now() + PATIENCE;
    while api.sent_where(is_open).len() > kills.relays {
        assert!(Instant::now() < deadline, "seed {seed}: messages do not tell the end: {:#?}", api.sent_where(is_open));
        std::thread::yield_now();
    }
    let told = api.sent_where(|sent| !is_open(sent));
    let false_ones = ends.false_ones(&told);
    assert!(false_ones.is_empty(), "seed {seed}: ends that are not true: {false_ones:#?}");
    // Each answer from the phone is told there, unless a killed relay did not know its message.
    for end in ["allowed by you (phone)", "denied by you (phone)"] {
        let count = ends.0.values().flatten().filter(|one| *one == end).count();
        // A list of several says it of each once more.
        let is_list = |text: &str| text.contains(" questions, each in its own message below:");
        let on_phone = told.iter().filter(|sent| sent.text.contains(end) && !is_list(&sent.text)).count();
        assert!(
            on_phone <= count && on_phone + kills.relays >= count,
            "seed {seed}: {end}: {count} records, {on_phone} messages"
        );
    }
    said(&project, &["away", "off"], 0);
    let asked = ends.count();
    let by_phone = ends.0.values().flatten().filter(|end| end.ends_with("(phone)")).count();
    eprintln!(
        "{asked} questions in {:.0} s, {by_phone} answered by phone, {kills:?} killed; seed {seed}",
        lived.as_secs_f64()
    );
}
