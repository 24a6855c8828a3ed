//! A session's life: messages are taken one by one, each becomes a turn with `init` and `result`, until stdin ends.
//!
//! Owns the order of a turn. Steps are performed in [`super::steps`], text in [`super::speech`], tools in
//! [`super::calls`].

use super::flags::Flags;
use super::gate;
use super::host::{Host, UserMessage};
use super::line;
use super::prompt::{self, Asked};
use super::records::Book;
use super::scenario::{Drafted, Goal, Message, Scenario, Status, Step, Turn, Verdict};
use super::session::{LastCall, Session};
use super::sessions::Memory;
use super::tally::End;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::process::ExitCode;
use std::time::Duration;

impl Session {
    pub fn new(host: Host, book: Book, memory: Memory, scenario: Scenario, flags: &Flags) -> Self {
        let default_pace = if scenario.source.is_some() { 0.0 } else { 1.0 };
        Self {
            host,
            book,
            memory,
            partial: flags.partial,
            replay: flags.replay,
            pace: flags.pace.unwrap_or(default_pace),
            scenario,
            served: 0,
            asked: Asked::default(),
            prompt: String::new(),
            prompt_id: line::uuid(),
            open: None,
            last_block: None,
            answer: String::new(),
            last_call: LastCall::Allowed,
            files: Vec::new(),
            noted: Vec::new(),
            without_result: false,
            end: End::Completed,
            origin: None,
            scripts: HashMap::new(),
            background: VecDeque::new(),
            taken: Vec::new(),
        }
    }

    pub fn serve(mut self) -> ExitCode {
        for step in self.scenario.start.clone() {
            let _ = self.perform(&step);
        }
        loop {
            if let Some(message) = self.host.inbox.pop_front() {
                self.take(&message);
            } else if self.host.is_closed() {
                return ExitCode::from(u8::from(self.end.is_failure()));
            } else {
                self.host.wait(None);
            }
        }
    }

    fn take(&mut self, message: &UserMessage) {
        let asked = prompt::read(&message.text);
        let is_work = asked.phase.is_some() && !asked.only_looks();
        let follow_up = self.served > 0 && !is_work && message.text.contains("PROGRAMMATOR_STATUS");
        let turn = {
            let asked =
                if asked.phase.is_none() && !asked.only_looks() && self.served > 0 { &self.asked } else { &asked };
            let choice = Message { text: &message.text, asked, follow_up };
            self.scenario.choose(choice, self.book.cwd(), &self.memory)
        };
        let turn = turn.unwrap_or_else(|| self.unscripted(message, &asked, follow_up));
        if asked.phase.is_some() || self.served == 0 {
            self.asked = asked;
        }
        if !follow_up {
            self.files.clear();
        }
        self.served += 1;
        self.prompt.clone_from(&message.text);
        self.prompt_id = line::uuid();
        self.memory.note(self.book.session(), &message.text);
        self.without_result = false;

        self.host.begin_turn();
        for step in &turn.before {
            let _ = self.perform(step);
        }
        self.host.follow(&message.record["uuid"], "started");
        let fields = json!({"prompt": message.text});
        gate::tell(&mut self.host, &self.book, &self.prompt_id, "UserPromptSubmit", "", &fields);
        let init = self.book.init(&self.host);
        self.host.emit(&init);
        if self.replay {
            self.host.emit(&self.book.replay(message));
        }
        self.conclude(&turn.steps, None);
        let state = if self.end.is_interrupted() { "cancelled" } else { "completed" };
        self.host.follow(&message.record["uuid"], state);
        for step in &turn.after {
            let _ = self.perform(step);
        }
        self.serve_background();
        self.open = None;
    }

    /// A turn that no message of the host's began.
    pub(super) fn turn(&mut self, steps: &[Step], origin: Option<Value>) {
        self.host.begin_turn();
        let init = self.book.init(&self.host);
        self.host.emit(&init);
        self.conclude(steps, origin);
    }

    /// The turn from its first step to its result.
    fn conclude(&mut self, steps: &[Step], origin: Option<Value>) {
        self.origin = origin;
        self.end = self.run(steps);
        self.open = None;
        if self.end.is_interrupted() {
            self.host.emit(&self.book.interrupted(&self.end));
        }
        if self.end == End::Completed {
            let fields = json!({"stop_hook_active": false, "last_assistant_message": self.book.tally().last_text,
                                "background_tasks": [], "session_crons": []});
            gate::tell(&mut self.host, &self.book, &self.prompt_id, "Stop", "", &fields);
        }
        for uuid in std::mem::take(&mut self.taken) {
            self.host.follow(&uuid, "completed");
        }
        if !self.without_result {
            self.emit_result();
        }
        self.host.end_turn();
    }

    pub(super) fn emit_result(&self) {
        let mut result = self.book.result(&self.end, &self.host.model);
        if let Some(origin) = &self.origin {
            result["origin"] = origin.clone();
        }
        self.host.emit(&result);
    }

    fn run(&mut self, steps: &[Step]) -> End {
        for step in steps {
            if let Err(end) = self.acknowledge().and_then(|()| self.perform(step)) {
                return end;
            }
        }
        if let Err(end) = self.acknowledge() {
            return end;
        }
        self.close_message("end_turn");
        End::Completed
    }

    /// Answers a message that no turn of the scenario fits.
    fn unscripted(&self, message: &UserMessage, asked: &Asked, follow_up: bool) -> Turn {
        let steps = if asked.critic {
            vec![Step::Verdict(Verdict::default())]
        } else if asked.evaluator {
            vec![Step::Goal(Goal::default())]
        } else if asked.planner {
            let phases = ["Write it", "Test it"].map(str::to_owned).to_vec();
            vec![Step::Draft(Drafted { phases, ..Drafted::default() })]
        } else if follow_up {
            vec![Step::Status(Status::default())]
        } else if self.served > 0 {
            let noted = Step::Say(format!("Noted: {}\n", message.text.trim()));
            std::iter::once(noted).chain(self.last_block.clone().map(Step::Say)).collect()
        } else {
            vec![Step::Say("No turn of the scenario fits this prompt.".to_owned())]
        };
        Turn { steps, ..Turn::default() }
    }

    /// Takes in what the person said while a tool ran; an urgent message ends the turn instead.
    pub(super) fn take_in(&mut self) -> Result<(), End> {
        while let Some(message) = self.host.inbox.pop_front() {
            if message.record["priority"] == "now" {
                self.host.inbox.push_front(message);
                return Err(End::Displaced);
            }
            if self.replay {
                self.host.emit(&self.book.replay(&message));
            }
            self.host.follow(&message.record["uuid"], "started");
            self.taken.push(message.record["uuid"].clone());
            self.noted.push(message.text);
        }
        Ok(())
    }

    fn acknowledge(&mut self) -> Result<(), End> {
        for text in std::mem::take(&mut self.noted) {
            self.say(&format!("You wrote: “{}” I will keep to that.\n", text.trim()))?;
        }
        Ok(())
    }

    /// A pause of the script: `millis` at pace 1.
    pub(super) fn pause(&mut self, millis: u32) -> Result<(), End> {
        let pause = Duration::try_from_secs_f64(f64::from(millis) / 1000.0 * self.pace).unwrap_or_default();
        self.host.rest(pause).map_err(|_| End::AbortedStreaming)
    }
}
