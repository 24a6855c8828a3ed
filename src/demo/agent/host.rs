//! The host at the other end of stdin: what it says, what it is asked, what it orders.
//!
//! Owns the one queue of events (stdin, signals, tools that ended), the host's settings and the answers to its
//! control requests. Does not decide what a verdict means ([`super::gate`]) nor what a turn does ([`super::turn`]).

use super::dialect::{Dialect, Dress};
use super::event::{Ended, Event};
use super::flags::Flags;
use super::line;
use super::settings::Settings;
use super::signals::{self, Ears};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Why a wait is over.
#[derive(Debug)]
pub enum Woke {
    Aborted,
    /// Stdin ended, now or before.
    Closed,
    /// The open question is answered: the inner `response` object.
    Answered(Value),
    ToolEnded(Ended),
    /// Something else happened; look again.
    Stirred,
    TimedOut,
}

/// How an open question ended.
#[derive(Debug)]
pub enum Reply {
    /// Answered with success: the answer.
    Said(Value),
    /// Answered with an error, or stdin ended: its text.
    Failed(String),
    /// Not answered in time; the question is withdrawn.
    Late,
    /// The turn is to stop; the question is withdrawn.
    Aborted,
}

/// Why a question has no answer.
#[derive(Clone, Copy)]
enum Rest {
    None,
    Closed,
    Aborted,
    Late,
}

/// What an interrupt meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// No turn: an interrupt has no effect.
    Idle,
    Running,
    /// The running turn is to stop.
    Aborting,
}

/// The turn is to stop.
#[derive(Clone, Copy, Debug)]
pub struct Interrupted;

/// A message of the person behind the host.
#[derive(Clone, Debug)]
pub struct UserMessage {
    pub text: String,
    /// The record as it came, for `--replay-user-messages`.
    pub record: Value,
}

/// The host.
#[derive(Debug)]
pub struct Host {
    events: Receiver<Event>,
    /// Where tools report their end.
    pub sender: Sender<Event>,
    pub inbox: VecDeque<UserMessage>,
    pub ears: Arc<Ears>,
    /// Whether an interrupt has something to stop.
    pub course: Course,
    pub model: String,
    pub mode: String,
    pub(super) settings: Settings,
    pub hooks: Value,
    /// `can_use_tool` goes to the host; otherwise nobody can grant a call.
    pub asks_host: bool,
    session: String,
    /// It was started with all permissions skipped.
    pub(super) skip_permissions: bool,
    closed: bool,
    dress: Dress,
    questions: Vec<String>,
}

impl Host {
    /// Listens to stdin and signals, each on its own thread.
    pub fn start(flags: &Flags, session: &str, dialect: Dialect, settings: Settings) -> io::Result<Self> {
        let (sender, events) = channel();
        let ears = Arc::new(Ears::default());
        signals::watch(sender.clone(), Arc::clone(&ears))?;
        let mut inbox = VecDeque::new();
        if let Some(prompt) = &flags.prompt {
            inbox.push_back(UserMessage {
                text: prompt.clone(),
                record: json!({"type": "user", "message": {"role": "user", "content": prompt}}),
            });
        } else {
            let lines = sender.clone();
            std::thread::spawn(move || read_lines(&lines));
        }
        let default_mode = if flags.skip_permissions { "bypassPermissions" } else { "default" };
        Ok(Self {
            events,
            sender,
            inbox,
            ears,
            course: Course::Idle,
            model: dialect.full_name(flags.model.as_deref().unwrap_or("default")),
            mode: flags.mode.clone().unwrap_or_else(|| default_mode.to_owned()),
            settings,
            hooks: Value::Null,
            asks_host: flags.asks_host,
            session: session.to_owned(),
            skip_permissions: flags.skip_permissions,
            closed: flags.prompt.is_some(),
            dress: Dress::new(dialect),
            questions: Vec::new(),
        })
    }

    /// Prints one record. A reader that is gone is no reason to stop: the real CLI works on.
    pub fn emit(&self, record: &Value) {
        let line = line::to_line(&self.dress.put_on(record));
        self.emit_raw(line.as_bytes());
    }

    pub fn emit_raw(&self, bytes: &[u8]) {
        let mut out = io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush());
    }

    /// The way that is spoken.
    pub fn dialect(&self) -> Dialect {
        self.dress.dialect()
    }

    pub fn session(&self) -> &str {
        &self.session
    }

    /// Ends as if stdin had, and the turn with it.
    pub(super) fn close(&mut self) -> Woke {
        self.closed = true;
        self.inbox.clear();
        if self.course == Course::Idle { Woke::Closed } else { self.abort() }
    }

    /// Begins a turn: an interrupt from before has no effect on it.
    pub fn begin_turn(&mut self) {
        self.course = Course::Running;
    }

    pub fn end_turn(&mut self) {
        self.course = Course::Idle;
    }

    /// Stdin has ended and was heard to.
    pub fn is_closed(&self) -> bool {
        self.closed && !self.ears.are_deaf()
    }

    /// Waits for one event, until `deadline` at most.
    pub fn wait(&mut self, deadline: Option<Instant>) -> Woke {
        if self.course == Course::Aborting {
            return Woke::Aborted;
        }
        let event = match deadline {
            Some(deadline) => self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(Event::Line(line)) => self.hear(&line),
            Ok(Event::Closed) => {
                self.closed = true;
                Woke::Closed
            }
            Ok(Event::Interrupted) => self.abort(),
            Ok(Event::ToolEnded(ended)) => Woke::ToolEnded(ended),
            Err(_) => Woke::TimedOut,
        }
    }

    /// Lets `pause` go by; an error when the turn is to stop.
    pub fn rest(&mut self, pause: Duration) -> Result<(), Interrupted> {
        let until = Instant::now() + pause;
        loop {
            match self.wait(Some(until)) {
                Woke::Aborted => return Err(Interrupted),
                Woke::TimedOut => return Ok(()),
                _ => {}
            }
        }
    }

    /// Puts a question to the host and waits for the answer, for `patience` at most.
    pub fn ask(&mut self, request: &Value, patience: Option<Duration>) -> Reply {
        self.ask_all(std::slice::from_ref(request), patience).pop().unwrap_or(Reply::Aborted)
    }

    /// Puts several questions at once and waits until all are answered, in whatever order; the answers in the order of
    /// the questions.
    pub fn ask_all(&mut self, requests: &[Value], patience: Option<Duration>) -> Vec<Reply> {
        if self.is_closed() {
            return requests.iter().map(|_| Reply::Failed("Stream closed".to_owned())).collect();
        }
        let ids: Vec<String> = requests.iter().map(|_| line::uuid()).collect();
        for (id, request) in ids.iter().zip(requests) {
            self.emit(&json!({"type": "control_request", "request_id": id, "request": request}));
        }
        let until = patience.map(|patience| Instant::now() + patience);
        self.questions.clone_from(&ids);
        let mut replies = HashMap::new();
        let rest = loop {
            if replies.len() == ids.len() {
                break Rest::None;
            }
            if self.is_closed() {
                break Rest::Closed;
            }
            match self.wait(until) {
                Woke::Answered(answer) => {
                    let id = answer["request_id"].as_str().unwrap_or_default().to_owned();
                    let reply = if answer["subtype"] == "success" {
                        Reply::Said(answer["response"].clone())
                    } else {
                        Reply::Failed(answer["error"].as_str().unwrap_or_default().to_owned())
                    };
                    replies.insert(id, reply);
                }
                Woke::Aborted => break Rest::Aborted,
                Woke::TimedOut => break Rest::Late,
                _ => {}
            }
        };
        if matches!(rest, Rest::Aborted | Rest::Late) {
            self.withdraw();
        }
        self.questions.clear();
        let unanswered = || match rest {
            Rest::Closed => Reply::Failed("Tool permission stream closed before response received".to_owned()),
            Rest::Late => Reply::Late,
            Rest::None | Rest::Aborted => Reply::Aborted,
        };
        ids.iter().map(|id| replies.remove(id).unwrap_or_else(unanswered)).collect()
    }

    pub(super) fn withdraw(&mut self) {
        for id in std::mem::take(&mut self.questions) {
            self.emit(&json!({"type": "control_cancel_request", "request_id": id}));
        }
    }

    pub(super) fn abort(&mut self) -> Woke {
        if self.course == Course::Idle {
            return Woke::Stirred;
        }
        self.course = Course::Aborting;
        Woke::Aborted
    }

    fn hear(&mut self, line: &[u8]) -> Woke {
        if line.trim_ascii().is_empty() {
            return Woke::Stirred;
        }
        let Ok(said) = serde_json::from_slice::<Value>(line) else {
            let text = String::from_utf8_lossy(line);
            let _ = writeln!(io::stderr(), "Error parsing streaming input line: {text}: SyntaxError: JSON Parse error");
            std::process::exit(1);
        };
        match said["type"].as_str() {
            Some("user") => {
                self.follow(&said["uuid"], "queued");
                self.inbox.push_back(UserMessage { text: text_of(&said["message"]["content"]), record: said });
                Woke::Stirred
            }
            Some("control_request") if !self.ears.are_deaf() => self.obey(&said),
            Some("control_response") => {
                let answer = &said["response"];
                let open = self.questions.iter().position(|id| answer["request_id"] == id.as_str());
                if let Some(at) = open {
                    self.questions.swap_remove(at);
                    return Woke::Answered(answer.clone());
                }
                Woke::Stirred
            }
            _ => Woke::Stirred,
        }
    }
}

fn read_lines(events: &Sender<Event>) {
    let mut input = BufReader::new(io::stdin());
    loop {
        let mut line = Vec::new();
        let event = match input.read_until(b'\n', &mut line) {
            Ok(n) if n > 0 => Event::Line(line),
            _ => Event::Closed,
        };
        let last = matches!(event, Event::Closed);
        if events.send(event).is_err() || last {
            return;
        }
    }
}

/// The text of a message's `content`: a string, or an array of blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
