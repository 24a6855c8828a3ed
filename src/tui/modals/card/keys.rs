//! The keys that a card offers now, with their words.

use super::hint::Hint;
use super::{Card, Hurry, Page};
use crate::domain::approval::ApprovalKind;
use crate::tui::command::{Command, Scope};
use crate::tui::model::Model;
use crate::tui::theme::role::Role;

impl Card {
    /// The keys that count now, with their words and with shorter ones.
    pub(super) fn keys(&self, model: &Model) -> Vec<Hint> {
        let scope = self.scope();
        let key = |command| model.keys.key_of(scope, command);
        let hint = |command, words| Hint::new(&key(command), words, words);
        let note = |words| Hint::new("", words, words);
        match &self.page {
            Page::Call => self.keys_of_call(model),
            Page::Deny(_) => {
                vec![hint(Command::Send, "deny"), hint(Command::NewLine, "new line"), hint(Command::Close, "back")]
            }
            Page::Edit(_, None) => {
                vec![
                    hint(Command::Send, "save, then y to run"),
                    hint(Command::NewLine, "new line"),
                    hint(Command::Close, "back"),
                ]
            }
            Page::Edit(_, Some(why)) => {
                vec![Hint { role: Role::Danger, ..Hint::new("", why, why) }, hint(Command::Close, "back")]
            }
            Page::Rule(_, seen) => {
                let more = (!seen).then(|| hint(Command::PageDown, "more"));
                let save = Hint::new(&key(Command::Yes), "save it and allow this call", "save it, and run");
                let save = Hint { counts: *seen, ..save };
                more.into_iter().chain([save, hint(Command::No, "back")]).collect()
            }
            Page::Saving(_) => vec![note("saving …"), hint(Command::Close, "later")],
            Page::Passphrase(_) => {
                vec![
                    Hint { counts: self.wait_left(model.now).is_none(), ..hint(Command::Send, "check it") },
                    hint(Command::Close, "back"),
                ]
            }
            // It cannot be called back.
            Page::Checking(_) => {
                vec![Hint::new(&key(Command::Close), "close; if correct, the call still runs", "close")]
            }
            Page::Sent(_) => {
                let waits = model.tab_of(&self.ticket).is_some_and(|tab| tab.unstored.awaited.is_some());
                let words = if waits { "the answer cannot be stored yet …" } else { "sending …" };
                vec![note(words), hint(Command::Close, "close")]
            }
            Page::Judging(_) => vec![note("checking …"), hint(Command::Close, "close")],
            Page::Gone(_) => vec![hint(Command::Close, "close")],
            Page::Choices(choices) if choices.is_typing() => {
                vec![hint(Command::Send, "answer"), hint(Command::NewLine, "new line"), hint(Command::Close, "back")]
            }
            Page::Choices(choices) if choices.is_review() => {
                vec![
                    hint(Command::Choose, "send"),
                    hint(Command::QuestionPrevious, "back"),
                    hint(Command::Close, "later"),
                ]
            }
            Page::Choices(choices) => {
                let (moves, digits) = (model.keys.moves(scope, model.glyphs), format!("1-{}", choices.options()));
                let select = if choices.takes_several() {
                    let (role, words) =
                        if self.hurry.is_some() { (Role::Warning, "choose first") } else { (Role::Hint, "choose") };
                    let ticks = Hint::new(&format!("{} or {digits}", key(Command::Toggle)), words, words);
                    vec![Hint::new(&moves, "move", "move"), Hint { role, ..ticks }]
                } else {
                    vec![Hint::new(&format!("{moves} {digits}"), "choose", "choose")]
                };
                let rest = [
                    hint(Command::Choose, "answer"),
                    Hint::new(&key(Command::Deny), "deny with a reason", "deny"),
                    hint(Command::Close, "later"),
                ];
                select.into_iter().chain(rest).collect()
            }
        }
    }

    fn keys_of_call(&self, model: &Model) -> Vec<Hint> {
        // What does not count yet is there, but quiet.
        let key = |command| model.keys.key_of(Scope::Card, command);
        let yes = |command, words, brief| Hint { counts: self.end_seen, ..Hint::new(&key(command), words, brief) };
        let mut hints = Vec::new();
        let warned = |hint| Hint { role: Role::Warning, ..hint };
        match self.hurry {
            Some(Hurry::Early) => {
                let words = "just appeared: press again";
                hints.push(warned(Hint::new("", words, words)));
            }
            Some(Hurry::Anew) => hints.push(warned(Hint::new("", "asked again: review first", "asked again"))),
            Some(_) => hints.push(warned(Hint::new(&key(Command::PageDown), "read to the end first", "more first"))),
            None if !self.end_seen && self.can_allow() => {
                hints.push(Hint::new(&key(Command::PageDown), "more", "more"));
            }
            None => {}
        }
        if self.can_allow() {
            hints.push(match self.approval.kind {
                ApprovalKind::Passphrase => yes(Command::Allow, "passphrase…", "passphrase…"),
                ApprovalKind::Plan => yes(Command::Allow, "approve", "approve"),
                _ => yes(Command::Allow, "allow once", "allow once"),
            });
        }
        if self.can_reach_ticket() {
            hints.push(yes(Command::AllowTicket, "allow for this run", "this run"));
        }
        if self.kinds().is_some() {
            hints.push(yes(Command::AllowKind, "allow this kind", "this kind"));
        }
        if self.lasting().is_some() {
            hints.push(yes(Command::AllowAlways, "always…", "always…"));
        }
        hints.push(Hint::new(&key(Command::Deny), "deny with a reason", "deny"));
        if self.can_edit() {
            hints.push(Hint::new(&key(Command::EditInput), "edit", "edit"));
        }
        hints.push(Hint::new(&key(Command::Close), "later", "later"));
        hints
    }
}
