//! A message in a chat: it goes to Claude, whose words are the answer. Nothing is claimed, so nothing is judged.

use super::context;
use crate::domain::chat::summary;
use crate::domain::step::{Counts, StepName};
use crate::orchestrator::prompt::{Kind, Prompt, PromptContext};
use crate::orchestrator::state::State;
use crate::orchestrator::step::{Answer, Judged, Next, SessionUse, Step};

/// The person's messages; in a fresh session with what it needs to know.
pub const CHAT: Kind = Kind { file: "chat.md", builtin: include_str!("../prompt/chat.md") };

pub const STEP: Step = Step {
    name: StepName::CHAT,
    counts: Counts::Nothing,
    takes_messages: true,
    session: SessionUse::Always,
    next: |state| {
        let has_words = state.chat.is_some() && !state.notes.queued().is_empty();
        if has_words { Next::Ticket } else { Next::Nothing }
    },
    stands: |state| state.chat.is_some(),
    model: |settings| settings.workflow.of(&StepName::CHAT).model,
    effort: |settings| settings.workflow.of(&StepName::CHAT).effort,
    profile: |settings| settings.workflow.of(&StepName::CHAT).profile,
    plan_mode: false,
    shows_changes: false,
    prompts: &[CHAT],
    prompt,
    // Never sent: whatever Claude says is an answer.
    follow_up: |state| prompt(state, Vec::new()),
    read: |_, _| Answer::Unreadable("missing"),
    judge: |_, _| Judged::Facts(Vec::new()),
};

fn prompt(state: &State, notes: Vec<String>) -> Prompt {
    let topics = state.chat.as_ref().map(|chat| summary(&chat.told())).unwrap_or_default();
    Prompt { kind: CHAT, context: PromptContext { topics, ..context::context(state, notes) } }
}
