//! A run that is a chat: each message of the person's is an iteration, and between two it is paused. A chat that was
//! closed can be resumed.
//!
//! Each turn of Claude's is an answer of its own: what it says before a background command has ended, and what it says
//! after that. Until the last of them has ended, at most until Claude has been silent for the idle timeout, its process
//! stays, and messages go to it.

use super::Draft;
use crate::domain::approval::Presence;
use crate::domain::background::has_agent;
use crate::domain::chat::{ChatAnswered, ChatAsked, kept};
use crate::domain::note::NoteStage;
use crate::domain::outcome::ExitReason;
use crate::domain::record::{Level, Record};
use crate::domain::turn::TurnResult;
use crate::orchestrator::effect::{Effect, Timer};
use crate::orchestrator::state::{Pace, Stage};

/// How a chat ends that the person closes.
pub(super) const CLOSED: &str = "closed by you; `programmator chat --resume` resumes it";
const NOBODY: &str = "the screen was closed; `programmator chat --resume` resumes the chat";

impl Draft<'_> {
    pub(super) fn chat_asked(&mut self, asked: ChatAsked) {
        if self.state.is_open() && self.state.phases.is_empty() {
            self.record(Record::ChatAsked(asked));
        }
    }

    fn has_messages(&self) -> bool {
        !self.state.notes.queued().is_empty()
    }

    /// Claude has ended a turn.
    pub(super) fn chat_turn_ended(&mut self, n: u32, result: &TurnResult) {
        self.weigh(n, result, None);
        // A message that came too late for this turn begins another one.
        let is_late = self.state.notes.at(NoteStage::Sent).next().is_some();
        let more = is_late || self.open(|open| !open.background.is_empty());
        let text = kept(result.text.trim());
        if !text.is_empty() || !more {
            self.record(Record::ChatAnswered(ChatAnswered { n, text, more }));
        }
        if is_late {
            self.arm(Timer::PostResult(n));
        } else if !more {
            self.close(n);
        }
    }

    /// Only commands work in the background, and Claude has said what it had to say.
    pub(super) fn chat_waits_for_commands(&self) -> bool {
        self.state.chat.is_some() && self.waits_for_commands()
    }

    /// Nothing more comes from this process of Claude's.
    pub(super) fn chat_is_silent(&mut self, n: u32) {
        if self.open(|open| !open.background.is_empty()) {
            let agents = self.open(|open| has_agent(&open.background));
            let what = if agents { "subagents" } else { "background commands" };
            self.notice(Level::Warn, format!("stopping Claude's {what}: no output from Claude for too long"));
        }
        self.record(Record::ChatAnswered(ChatAnswered { n, ..ChatAnswered::default() }));
        self.close(n);
    }

    /// What a chat does instead of another iteration. `false`: there is a message to send.
    pub(super) fn waits_for_message(&mut self) -> bool {
        let Some(chat) = self.state.chat.clone() else { return false };
        for id in chat.given_up() {
            self.record(Record::NoteNotSent { id });
        }
        match self.state.pace {
            Pace::StopNext => self.end(ExitReason::UserStopped, CLOSED),
            Pace::Run if self.has_messages() => return false,
            Pace::Run | Pace::PauseNext => {
                self.rest();
                if !chat.asked.plain {
                    self.effect(Effect::SeekPerson);
                }
            }
        }
        true
    }

    /// Pauses. A chat gives the directory back: nothing of it is at work there.
    pub(super) fn rest(&mut self) {
        let gives = self.state.chat.is_some() && self.state.has_tree;
        self.record(Record::Paused);
        if gives {
            self.effect(Effect::ReleaseTree);
        }
    }

    /// The person has written a message: in a chat that ends the pause, and is what comes next.
    pub(super) fn chat_message_given(&mut self) {
        if self.state.chat.is_none() {
            return;
        }
        if self.state.stage == Stage::Paused || self.state.pace == Pace::PauseNext {
            self.go_on();
        } else {
            self.advance();
        }
    }

    /// Where nobody can write a message, the chat ends.
    pub(super) fn person_sought_for_chat(&mut self, presence: Presence) {
        let waits = self.state.is_open() && self.state.stage == Stage::Paused && !self.has_messages();
        if presence == Presence::Nobody && waits && self.state.chat.as_ref().is_some_and(|chat| !chat.asked.plain) {
            self.end(ExitReason::UserStopped, NOBODY);
        }
    }
}
