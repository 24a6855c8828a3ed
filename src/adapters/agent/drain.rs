//! Reading what Claude prints, on threads of its own: Claude drops the end of its stream when nobody
//! reads in time, so nothing here waits for anybody but the disk.

use super::event::AgentEvent;
use super::flow::{BEAT, Flow, more_within};
use super::handle::Pulse;
use super::messages;
use crate::base::lines::Lines;
use crate::base::time::Clock;
use crate::domain::scrollback::{EntryKind, LiveChange, Sink};
use crate::domain::stream::background::Background;
use crate::domain::stream::control::{self, Asked};
use crate::domain::stream::envelope::{Envelope, Kind, Line, decode, read};
use crate::domain::stream::raw::{Raw, json, object, some_string, string, word};
use crate::domain::stream::turn::{TurnReader, tool_ends};
use crate::domain::stream::{live, system};
use crate::domain::tool_call::{ControlRequest, Via};
use crate::domain::turn::Origin;
use serde::Deserialize;
use std::collections::{HashSet, VecDeque};
use std::io::{ErrorKind, PipeReader, Read};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};

const READ_SIZE: usize = 256 << 10;

/// A burst ends at the latest after so many bytes: readers see a flood while it lasts.
const BURST: usize = 1 << 20;

/// Longer lines are made short before they are read: none that matters is so long, but memory must not depend on it.
const LONGEST: usize = 16 << 20;

/// Bytes of stderr that are kept.
const STDERR_TAIL: usize = 8 << 10;

/// What the drain gives away. Unbounded: the drain never waits.
#[derive(Debug)]
pub(super) enum Out {
    Event(AgentEvent),
    Reply(String),
}

/// `response` of a `control_response`.
#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    subtype: Raw<'a>,
    request_id: Raw<'a>,
    error: Raw<'a>,
    #[serde(borrow, rename = "response")]
    answer: Raw<'a>,
}

impl<'a> Response<'a> {
    fn of(envelope: &Envelope<'a>) -> Option<Self> {
        object(envelope.response)
    }
}

/// The reader of one process's stdout.
pub(super) struct Drain {
    pub sink: Box<dyn Sink>,
    /// What one read brought goes out at once and together: each sending wakes a thread.
    pub out: mpsc::UnboundedSender<Vec<Out>>,
    pub clock: Arc<dyn Clock>,
    pub pulse: Arc<Pulse>,
    pub turns: watch::Sender<u64>,
    pub turn: TurnReader,
    pub background: Background,
    /// Somebody else has had a say since the last `result`.
    pub foreign: bool,
    /// Calls of this process that have not come back.
    pub called: HashSet<String>,
    pub sink_failed: bool,
    /// Bytes that are missing in the line at hand.
    pub left_out: u64,
    /// What goes out next.
    pub given: Vec<Out>,
}

impl Drain {
    /// Reads to the end of the stream.
    pub(super) fn run(mut self, mut stdout: PipeReader) {
        let mut buffer = vec![0; READ_SIZE];
        let mut lines = Lines::up_to(LONGEST);
        let mut burst = 0;
        let mut shown: Option<Instant> = None;
        let mut flow = Flow::new();
        loop {
            let read = match stdout.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            self.pulse.last_byte.store(self.clock.now().millis(), Ordering::Relaxed);
            let mut count = 0;
            lines.feed(&buffer[..read], |line, left_out| {
                self.left_out = left_out;
                self.line(line);
                count += 1;
            });
            self.give();
            flow.gather(count, read);
            burst += read;
            let rest = shown.map_or(Duration::ZERO, |shown| BEAT.saturating_sub(shown.elapsed()));
            if burst >= BURST || !more_within(&stdout, rest) {
                burst = 0;
                self.end_burst();
                shown = Some(Instant::now());
            }
        }
        if let Some((cut, left_out)) = lines.finish() {
            self.left_out = left_out;
            self.line(&cut);
        }
        self.sink.live(LiveChange::Clear);
        self.end_burst();
        self.pulse.pending.over();
    }

    fn line(&mut self, line: &[u8]) {
        if self.left_out > 0 {
            self.event(AgentEvent::LineShortened { left_out: self.left_out });
        }
        let text = decode(line);
        match read(&text) {
            Line::Record(envelope) => {
                // Settings may hold the person's secrets (`env`): nobody stores them.
                if Response::of(&envelope).is_none_or(|response| word(response.request_id) != messages::SETTINGS) {
                    self.keep(line, envelope.shows());
                }
                self.record(&envelope, &text);
            }
            Line::Several(parts) => {
                for part in &parts {
                    if let Some(envelope) = Envelope::parse(part) {
                        self.keep(part.as_bytes(), envelope.shows());
                        self.record(&envelope, part);
                    } else {
                        self.keep(part.as_bytes(), Some(EntryKind::Garbage));
                    }
                }
            }
            Line::Blank => {}
            Line::Garbage => self.keep(line, Some(EntryKind::Garbage)),
        }
    }

    fn record(&mut self, envelope: &Envelope<'_>, line: &str) {
        if answers(envelope, line) {
            self.pulse.last_answer.store(self.pulse.last_byte.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        match envelope.kind() {
            Kind::StreamEvent => self.delta(envelope),
            Kind::Assistant => {
                if envelope.is_main() {
                    self.sink.live(LiveChange::Clear);
                }
                self.called.extend(self.turn.assistant(envelope));
            }
            Kind::User => self.user(envelope),
            Kind::Result => {
                self.sink.live(LiveChange::Clear);
                let mut result = self.turn.finish(envelope, line);
                if std::mem::take(&mut self.foreign) {
                    result.origin = Origin::Foreign;
                }
                self.pulse.in_turn.store(false, Ordering::Relaxed);
                // What the turn said is kept before anything is made of it.
                self.end_burst();
                self.event(AgentEvent::TurnFinished(Box::new(result)));
                self.give();
                self.turns.send_modify(|turns| *turns += 1);
            }
            Kind::System => self.system(envelope, line),
            Kind::RateLimit => {
                if let Some(info) = envelope.rate_limit_info {
                    self.event(AgentEvent::RateLimit { info: info.get().to_owned() });
                }
            }
            Kind::ControlRequest => self.asked(envelope),
            Kind::ControlResponse => self.answered(envelope),
            Kind::ControlCancel => {
                if let Some(request_id) = some_string(envelope.request_id) {
                    self.event(AgentEvent::AskCancelled { request_id });
                }
            }
            Kind::Lifecycle => self.lifecycle(line),
            Kind::Other => {}
        }
    }

    /// Claude tells of every message that begins a turn or is taken into one. One that we never sent is somebody
    /// else's: another session's, or a wake-up that Claude had set. That a task of its own has ended is not told so.
    fn lifecycle(&mut self, line: &str) {
        let told = system::lifecycle(line);
        match told.state.as_str() {
            "started" if self.pulse.pending.taken(&told.uuid) => self.pulse.in_turn.store(true, Ordering::Relaxed),
            "started" => {
                self.foreign = true;
                self.event(AgentEvent::ForeignTurn { wakes: told.wakes });
            }
            // Taken back before it began.
            "cancelled" | "completed" => {
                self.pulse.pending.taken(&told.uuid);
            }
            _ => {}
        }
    }

    fn delta(&mut self, envelope: &Envelope<'_>) {
        if envelope.is_main() {
            if envelope.takes_back() {
                self.sink.live(LiveChange::Clear);
            }
            let usage = live::change(&envelope.event.0, |change| self.sink.live(change));
            self.turn.delta_usage(usage);
        }
    }

    fn user(&mut self, envelope: &Envelope<'_>) {
        if envelope.is_replay() {
            let uuid = string(envelope.uuid);
            self.pulse.pending.taken(&uuid);
            return self.event(AgentEvent::Echoed { uuid });
        }
        if self.background.came_back(envelope.tool_use_result) {
            self.tell_background();
        }
        for end in tool_ends(envelope) {
            // A resumed session may repeat what others did.
            if self.called.remove(&end.tool_use_id) && !end.refused {
                self.event(AgentEvent::ToolRan { tool_use_id: end.tool_use_id.clone(), unasked: end.unasked });
            }
            self.event(AgentEvent::ToolFinished { tool_use_id: end.tool_use_id, is_error: end.is_error });
        }
    }

    fn system(&mut self, envelope: &Envelope<'_>, line: &str) {
        match envelope.subtype() {
            "init" => {
                let init = system::init(line);
                self.pulse.in_turn.store(true, Ordering::Relaxed);
                self.turn.begin(&init.model);
                self.event(AgentEvent::Ready { session: init.session, model: init.model, version: init.version });
            }
            "api_retry" => {
                self.sink.live(LiveChange::Clear);
                self.event(AgentEvent::ApiRetried(system::api_retry(line)));
            }
            subtype => {
                if self.background.system(subtype, line) {
                    self.tell_background();
                }
            }
        }
    }

    fn tell_background(&mut self) {
        self.event(AgentEvent::BackgroundChanged { tasks: self.background.tasks().to_vec() });
    }

    fn asked(&mut self, envelope: &Envelope<'_>) {
        const UNREADABLE: &str = "programmator could not read this tool call, so it was denied";
        let asked = match control::asked(envelope) {
            // What would run is not what was read.
            Some(Asked::Tool(call)) if self.left_out > 0 => Some(Asked::Unreadable(call.request)),
            asked => asked,
        };
        match asked {
            Some(Asked::Tool(call)) => {
                // Who is asked about it reads first what Claude has said.
                if call.request.via == Via::CanUseTool {
                    self.end_burst();
                }
                self.event(AgentEvent::ToolAsked(Box::new(call)));
            }
            Some(Asked::Unreadable(ControlRequest { id, via })) => self.reply(match via {
                Via::Callback => {
                    messages::callback_answer(&id, &super::CallbackAnswer::Deny { reason: UNREADABLE.into() })
                }
                Via::CanUseTool => messages::tool_answer(&id, &super::ToolAnswer::Deny { message: UNREADABLE.into() }),
            }),
            Some(Asked::Unsupported { request_id, subtype }) => {
                self.reply(messages::unsupported(&request_id, &subtype));
            }
            None => {}
        }
    }

    fn answered(&mut self, envelope: &Envelope<'_>) {
        let Some(response) = Response::of(envelope) else { return };
        let answer = match word(response.subtype) {
            "success" => Ok(response.answer.map_or_else(String::new, json)),
            _ => Err(string(response.error)),
        };
        self.pulse.pending.answered(&string(response.request_id), answer);
    }

    fn keep(&mut self, line: &[u8], kind: Option<EntryKind>) {
        let kept = self.sink.line(line, kind);
        self.check(kept);
    }

    fn end_burst(&mut self) {
        let ended = self.sink.burst_ended();
        self.check(ended);
        self.give();
    }

    /// Says once that the sink fails. What Claude does matters more than keeping what it prints.
    fn check(&mut self, done: std::io::Result<()>) {
        if let Err(error) = done
            && !self.sink_failed
        {
            self.sink_failed = true;
            self.event(AgentEvent::SinkFailed { message: error.to_string() });
        }
    }

    fn event(&mut self, event: AgentEvent) {
        self.given.push(Out::Event(event));
    }

    fn reply(&mut self, line: String) {
        self.given.push(Out::Reply(line));
    }

    fn give(&mut self) {
        if !self.given.is_empty() {
            self.out.send(std::mem::take(&mut self.given)).ok();
        }
    }
}

/// The record belongs to an answer, and is not only what Claude says of itself while the service is silent.
fn answers(envelope: &Envelope<'_>, line: &str) -> bool {
    match envelope.kind() {
        Kind::System => match envelope.subtype() {
            "init" | "hook_started" | "hook_response" => false,
            "status" => system::is_compacting(line),
            _ => true,
        },
        Kind::User => !envelope.is_replay(),
        Kind::ControlResponse | Kind::ControlCancel | Kind::Lifecycle | Kind::Other => false,
        Kind::StreamEvent | Kind::Assistant | Kind::Result | Kind::RateLimit | Kind::ControlRequest => true,
    }
}

/// The last bytes of stderr.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<u8>>>);

impl Tail {
    /// Reads to the end of the stream.
    pub(super) fn run(&self, mut stderr: impl Read) {
        let mut buffer = [0; 4096];
        loop {
            match stderr.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => self.push(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    }

    pub(super) fn text(&self) -> String {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(bytes);
        let too_many = kept.len().saturating_sub(STDERR_TAIL);
        kept.drain(..too_many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::agent::pending::Pending;
    use crate::base::time::Timestamp;
    use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize};

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1)
        }
    }

    /// Counts what readers can see.
    #[derive(Default)]
    struct Counted {
        lines: usize,
        shown: Arc<AtomicUsize>,
    }

    impl Sink for Counted {
        fn line(&mut self, _: &[u8], _: Option<EntryKind>) -> std::io::Result<()> {
            self.lines += 1;
            Ok(())
        }

        fn live(&mut self, _: LiveChange<'_>) {}

        fn burst_ended(&mut self) -> std::io::Result<()> {
            self.shown.store(self.lines, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn what_was_said_before_a_question_is_there_when_somebody_is_asked() {
        let shown = Arc::<AtomicUsize>::default();
        let (in_turn, pending) = (AtomicBool::new(true), Pending::default());
        let mut drain = Drain {
            sink: Box::new(Counted { lines: 0, shown: shown.clone() }),
            out: mpsc::unbounded_channel().0,
            clock: Arc::new(Still),
            pulse: Arc::new(Pulse { last_byte: AtomicI64::new(0), last_answer: AtomicI64::new(0), in_turn, pending }),
            turns: watch::channel(0).0,
            turn: TurnReader::default(),
            background: Background::default(),
            foreign: false,
            called: HashSet::new(),
            sink_failed: false,
            left_out: 0,
            given: Vec::new(),
        };
        let ask = |kind: &str| {
            format!(
                r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"{kind}","tool_name":"Bash","input":{{}},"tool_use_id":"t"}}}}"#
            )
        };
        drain.line(br#"{"type":"assistant","message":{"content":[{"type":"text","text":"First this."}]}}"#);
        assert_eq!(shown.load(Ordering::Relaxed), 0);
        drain.line(ask("can_use_tool").as_bytes());
        assert!(shown.load(Ordering::Relaxed) > 0, "{:?}", drain.given);
        assert!(matches!(&drain.given[..], [Out::Event(AgentEvent::ToolAsked(_))]), "{:?}", drain.given);
    }

    #[test]
    fn the_tail_is_bounded_and_keeps_the_end() {
        let tail = Tail::default();
        tail.run(std::io::Cursor::new([vec![b'x'; 100_000], b"the end".to_vec()].concat()));
        let text = tail.text();
        assert_eq!(text.len(), STDERR_TAIL);
        assert!(text.ends_with("xthe end"));
    }
}
