//! A chat so far.

use crate::domain::background::has_agent;
use crate::domain::chat::{ChatAsked, TOPICS, UNTITLED, topic};
use crate::domain::note::NoteStage;
use crate::domain::outcome::IterationOutcome;
use crate::domain::record::Record;
use crate::orchestrator::state::{Iteration, Stage, State};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a message is sent that Claude does not read because its turn fails.
const TRIES: u32 = 2;

/// A run that is a chat does nothing else: each message of the person's is an iteration, and between two it is paused and
/// leaves the working directory to others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chat {
    pub asked: ChatAsked,
    /// What the person's messages that Claude has read are about, oldest first.
    pub topics: Vec<String>,
    /// How often sending a message has failed, by its id.
    failed: BTreeMap<String, u32>,
}

impl Chat {
    /// The topics of the chat before and of this one: what a fresh session is told.
    pub fn told(&self) -> Vec<String> {
        let all: Vec<String> = self.asked.earlier.iter().chain(&self.topics).cloned().collect();
        all[all.len().saturating_sub(TOPICS)..].to_vec()
    }

    /// Messages that are not to be sent again.
    pub fn given_up(&self) -> Vec<String> {
        self.failed.iter().filter(|(_, tries)| **tries >= TRIES).map(|(id, _)| id.clone()).collect()
    }
}

impl State {
    /// A chat in which Claude has nothing to answer. Commands may still run in the background.
    pub fn awaits_message(&self) -> bool {
        let answered = |open: &Iteration| open.said && open.answered && !has_agent(&open.background);
        let in_turn = self.stage == Stage::Running && self.open_iteration().is_some_and(answered);
        self.chat.is_some() && (self.stage == Stage::Paused || in_turn)
    }
}

/// Folds a record into it, after the notes.
pub(in crate::orchestrator) fn fold(state: &mut State, record: &Record) {
    if let Record::ChatAsked(asked) = record {
        Arc::make_mut(state.chat.get_or_insert_default()).asked = asked.clone();
        return;
    }
    let Some(chat) = &mut state.chat else { return };
    match record {
        Record::NoteDelivered { id } => {
            let said = state.notes.all().iter().find(|note| note.id == *id);
            if let Some(said) = said {
                let chat = Arc::make_mut(chat);
                chat.failed.remove(id);
                chat.topics.push(topic(&said.text));
                let surplus = chat.topics.len().saturating_sub(TOPICS);
                chat.topics.drain(..surplus);
            }
        }
        // While it only waits, others may work in the directory.
        Record::Paused => state.has_tree = false,
        // Each message is the person's wish: none is an iteration too many.
        Record::NoteGiven { text, .. } => {
            state.aside_in_a_row = 0;
            // The first one says what it is about.
            if state.title == UNTITLED {
                state.title = topic(text);
            }
        }
        Record::NoteNotSent { id } => {
            Arc::make_mut(chat).failed.remove(id);
        }
        // A limit, the person or the end of programmator is no failure of the message's.
        Record::IterationEnded {
            outcome:
                IterationOutcome::Failed | IterationOutcome::TimedOut | IterationOutcome::Idle | IterationOutcome::NoClaim,
            ..
        } => {
            let unread: Vec<String> = state.notes.at(NoteStage::Returned).map(|note| note.id.clone()).collect();
            let failed = &mut Arc::make_mut(chat).failed;
            for id in unread {
                *failed.entry(id).or_default() += 1;
            }
        }
        Record::RunResumed { .. } if chat.asked.plain => Arc::make_mut(chat).asked.plain = false,
        _ => {}
    }
}
