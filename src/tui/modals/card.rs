//! The card of one call of Claude's that waits: what it would do, whole, and the person's answer. It lies at the bottom of
//! the screen, under Claude's last words.
//!
//! Owns its pages (the call, words of denial, an edited input, a lasting rule, the passphrase, answers to a question)
//! and what each key does on them. What stands on the pages is in `card/`; saving rules and checking passphrases is
//! the host's. A yes counts only once the end was seen, and not in the moment in which the card appears; leaving never
//! approves.

mod body;
mod call;
mod choices;
mod draw;
mod edited;
mod heard;
mod hint;
mod keys;
mod offered;

use crate::base::secret::Secret;
use crate::base::time::Timestamp;
use crate::domain::approval::{Answer, Approval, ApprovalKind, Scope as Reach, with_answers};
use crate::domain::passphrase::Checked;
use crate::domain::ticket::TicketKey;
use crate::tui::command::{self, Command, Scope};
use crate::tui::marks::Glyphs;
use crate::tui::msg::{Input, Key};
use crate::tui::widgets::field::Field;
use crate::tui::widgets::scrolled::Scrolled;
use body::Line;
use choices::Choices;
use ratatui::layout::Rect;
use std::time::Duration;

/// What is typed before the card can have been seen was meant for something else.
pub const APPEARS: Duration = Duration::from_millis(300);
/// Words to Claude when the person gives none.
const DECLINED: &str = "The user declined this call.";
/// The same for a question.
const UNANSWERED: &str = "The user declined to answer. Use your own judgement.";
/// The same for a plan.
const NO_PLAN: &str = "The user rejected the plan. Revise it and propose another.";

/// The card.
pub struct Card {
    pub ticket: TicketKey,
    pub approval: Approval,
    page: Page,
    /// How the passphrase stands, and since when; `None`: not known yet.
    checked: Option<(Checked, Timestamp)>,
    lines: Vec<Line>,
    columns: usize,
    /// Lines that the keys take.
    key_lines: u16,
    scrolled: Scrolled,
    end_seen: bool,
    /// Since when it is on the screen.
    shown: Timestamp,
    /// Why the last key was not taken.
    hurry: Option<Hurry>,
    /// It took the place of another card under the person's hands: a yes counts once they have seen that.
    unseen: bool,
    /// Why the last wish came to nothing: the rule was not saved, the changed call may not run, the question is another.
    trouble: Option<String>,
    /// What was being typed when the question was withdrawn.
    typed: Option<Page>,
    /// What was chosen of a question's options before the person went to say no, and the words of a no that they went back from.
    left: (Option<Choices>, String),
}

/// A yes that does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hurry {
    /// The card had just appeared.
    Early,
    /// The end was not seen.
    Unread,
    /// Another card took the place of this one.
    Anew,
    /// No option is chosen.
    Unchosen,
}

enum Page {
    Call,
    /// Words for Claude, with a no.
    Deny(Field),
    /// The input, to be changed; why it cannot be taken as it is.
    Edit(Field, Option<String>),
    /// A lasting rule, as it would be saved, and whether its end has been on the screen.
    Rule(String, bool),
    /// A rule on its way to the file.
    Saving(String),
    Passphrase(Secret),
    /// A passphrase on its way to be checked, and what is typed meanwhile: it stays masked, whatever becomes of it.
    Checking(Secret),
    /// An answer on its way: it counts when it is recorded. And where it was given.
    Sent(Box<Page>),
    /// A changed input on its way: it is asked about anew once it is judged. And where it was typed.
    Judging(Box<Page>),
    /// Claude's question and its options.
    Choices(Choices),
    /// The call no longer waits, and why. The card stays where the person was typing: what they type on must not become
    /// keys of the screen.
    Gone(String),
}

/// What a key on the card leads to.
pub enum Outcome {
    Stays,
    /// It goes; nothing is answered.
    Leaves,
    Answers(Answer),
    /// The call is to be judged, and asked about, with this input, JSON text.
    Edits(String),
    /// The rule is to be saved, before the rule of this name.
    Saves {
        rules: String,
        before: String,
    },
    /// This passphrase is to be checked; when it is right, the call runs.
    Tries(Secret),
}

impl Card {
    pub fn new(ticket: TicketKey, approval: &Approval, now: Timestamp) -> Self {
        let mut card = Self {
            ticket,
            approval: approval.clone(),
            page: Page::Call,
            checked: None,
            lines: Vec::new(),
            columns: 0,
            key_lines: 1,
            scrolled: Scrolled::default(),
            end_seen: false,
            shown: now,
            hurry: None,
            unseen: false,
            trouble: None,
            typed: None,
            left: (None, String::new()),
        };
        card.turn_back();
        card
    }

    /// Where its keys stand in the table.
    pub fn scope(&self) -> Scope {
        match &self.page {
            Page::Call | Page::Saving(_) => Scope::Card,
            Page::Deny(_) | Page::Sent(_) | Page::Judging(_) | Page::Gone(_) => Scope::Words,
            Page::Edit(..) => Scope::EditInput,
            Page::Rule(..) => Scope::Rule,
            Page::Passphrase(_) | Page::Checking(_) => Scope::Passphrase,
            Page::Choices(choices) if choices.is_typing() => Scope::Words,
            Page::Choices(_) => Scope::Choices,
        }
    }

    /// It only says that its question no longer waits.
    pub fn is_gone(&self) -> bool {
        matches!(self.page, Page::Gone(_))
    }

    fn yes(&self, scope: Reach) -> Outcome {
        Outcome::Answers(Answer::Allow { input: self.approval.input.clone(), scope })
    }

    fn no(&self, words: &str) -> Outcome {
        let plain = match self.approval.kind {
            ApprovalKind::Question => UNANSWERED,
            ApprovalKind::Plan => NO_PLAN,
            ApprovalKind::Call | ApprovalKind::Passphrase => DECLINED,
        };
        let words = if words.trim().is_empty() { plain } else { words.trim() };
        Outcome::Answers(Answer::Deny { words: words.to_owned() })
    }

    fn turn_to(&mut self, page: Page) {
        self.page = page;
        self.scrolled = Scrolled::default();
        self.columns = 0;
    }

    /// Back to what the card shows first.
    fn turn_back(&mut self) {
        let page = match self.approval.kind {
            ApprovalKind::Question => {
                let choices = self.left.0.take().or_else(|| Choices::read(&self.approval.input));
                choices.map_or(Page::Call, Page::Choices)
            }
            _ => Page::Call,
        };
        self.turn_to(page);
    }

    /// To the words of a no, as they were when the person went back from them.
    fn turn_to_no(&mut self) {
        let page = self.typed.take_if(|typed| matches!(typed, Page::Deny(_)));
        let page = page.unwrap_or_else(|| Page::Deny(Field::new(&self.left.1)));
        if let Page::Choices(choices) = std::mem::replace(&mut self.page, page) {
            self.left.0 = Some(choices);
        }
        (self.scrolled, self.columns) = (Scrolled::default(), 0);
    }

    /// Does what a key means. `command`: its meaning in the card's scope.
    pub fn key(
        &mut self,
        command: Option<Command>,
        input: &Input,
        now: Timestamp,
        room: Rect,
        glyphs: Glyphs,
    ) -> Outcome {
        let outcome = self.act(command, input, now, room);
        self.lay_out(room, glyphs);
        outcome
    }

    fn act(&mut self, command: Option<Command>, input: &Input, now: Timestamp, room: Rect) -> Outcome {
        let lines = command::lines(command, self.body_height(room));
        let locked = self.wait_left(now).is_some();
        self.hurry = None;
        match &mut self.page {
            Page::Call => {
                self.scroll(lines, room);
                return self.on_call(command, now);
            }
            Page::Deny(field) => match command {
                Some(Command::Send) => {
                    let words = field.text();
                    return self.no(&words);
                }
                Some(Command::Close) => {
                    self.left.1 = field.text();
                    self.turn_back();
                }
                Some(Command::NewLine) => field.new_line(),
                _ => field.typed(input),
            },
            Page::Edit(field, trouble) => match command {
                Some(Command::Send) => match edited::read(&self.approval, &field.text()) {
                    Ok(same) if same == self.approval.input => self.turn_back(),
                    Ok(changed) => {
                        self.trouble = None;
                        let page = std::mem::replace(&mut self.page, Page::Call);
                        self.turn_to(Page::Judging(Box::new(page)));
                        return Outcome::Edits(changed);
                    }
                    Err(why) => *trouble = Some(why),
                },
                Some(Command::Close) => self.turn_back(),
                Some(Command::NewLine) => field.new_line(),
                _ => {
                    *trouble = None;
                    field.typed(input);
                }
            },
            Page::Rule(rules, seen) => match command {
                Some(Command::Yes) if *seen => {
                    let rules = std::mem::take(rules);
                    self.turn_to(Page::Saving(rules.clone()));
                    return Outcome::Saves { rules, before: self.approval.rule.clone() };
                }
                Some(Command::No) => self.turn_back(),
                _ => self.scroll(lines, room),
            },
            Page::Passphrase(secret) => match command {
                Some(Command::Send) if locked || secret.letters() == 0 => {}
                Some(Command::Send) => {
                    let secret = std::mem::take(secret);
                    self.page = Page::Checking(Secret::new());
                    return Outcome::Tries(secret);
                }
                Some(Command::Close) => self.turn_back(),
                _ => typed_blind(secret, input),
            },
            // It cannot be called back, only left: a right one lets the call run.
            Page::Checking(_) if command == Some(Command::Close) => return Outcome::Leaves,
            Page::Checking(typed) => typed_blind(typed, input),
            Page::Saving(_) | Page::Sent(_) | Page::Judging(_) | Page::Gone(_) => {
                if command == Some(Command::Close) {
                    return Outcome::Leaves;
                }
            }
            Page::Choices(choices) => {
                let unchosen = command == Some(Command::Choose) && choices.lacks_choice();
                self.hurry = unchosen.then_some(Hurry::Unchosen);
                if let Some(answers) = choices.key(command, input) {
                    let input = with_answers(&self.approval.input, &answers);
                    return Outcome::Answers(Answer::Allow { input, scope: Reach::Once });
                }
                match command {
                    Some(Command::Close) if !choices.is_typing() => return Outcome::Leaves,
                    Some(Command::Close) => choices.typing = None,
                    Some(Command::Deny) => self.turn_to_no(),
                    _ => {}
                }
                self.columns = 0;
            }
        }
        Outcome::Stays
    }

    fn on_call(&mut self, command: Option<Command>, now: Timestamp) -> Outcome {
        match command {
            Some(Command::Close) => return Outcome::Leaves,
            Some(Command::Deny) => self.turn_to_no(),
            Some(Command::Allow | Command::AllowTicket | Command::AllowKind | Command::AllowAlways)
                if !self.is_barred() && self.too_soon(now).is_some() =>
            {
                self.hurry = self.too_soon(now);
                self.unseen = false;
            }
            Some(Command::EditInput) if self.can_edit() => {
                let page = self.typed.take_if(|typed| matches!(typed, Page::Edit(..)));
                let shown = || Field::new(&edited::shown(&self.approval, &self.approval.input));
                let page = page.unwrap_or_else(|| Page::Edit(shown(), None));
                self.turn_to(page);
            }
            // Only what was read to its end comes here.
            Some(Command::Allow) if self.can_allow() => {
                if self.approval.kind == ApprovalKind::Passphrase {
                    self.page = Page::Passphrase(Secret::new());
                } else {
                    return self.yes(Reach::Once);
                }
            }
            Some(Command::AllowTicket) if self.can_reach_ticket() => return self.yes(Reach::Ticket),
            Some(Command::AllowKind) if self.kinds().is_some() => return self.yes(Reach::Kind),
            Some(Command::AllowKind) => {
                self.trouble = Some("No kind is known for this call: allow it once, or for this run.".into());
            }
            Some(Command::AllowAlways) => {
                self.trouble = None;
                match self.lasting() {
                    Some(rules) => self.turn_to(Page::Rule(rules, false)),
                    None => self.trouble = Some("“Always” is unavailable for this call.".into()),
                }
            }
            _ => {}
        }
        Outcome::Stays
    }

    /// Why a yes does not count now.
    fn too_soon(&self, now: Timestamp) -> Option<Hurry> {
        match () {
            () if !self.end_seen => Some(Hurry::Unread),
            () if self.unseen => Some(Hurry::Anew),
            () if now.since(self.shown) < APPEARS => Some(Hurry::Early),
            () => None,
        }
    }

    /// Takes pasted text into the field that is open; `false` when there is no room for it.
    pub fn pasted(&mut self, text: &str) -> bool {
        self.columns = 0;
        match &mut self.page {
            Page::Deny(field) => field.pasted(text),
            Page::Edit(field, trouble) => {
                *trouble = None;
                field.pasted(text)
            }
            Page::Passphrase(secret) | Page::Checking(secret) => secret.push(text),
            Page::Choices(choices) => choices.pasted(text),
            Page::Call | Page::Rule(..) | Page::Saving(_) | Page::Sent(_) | Page::Judging(_) | Page::Gone(_) => true,
        }
    }
}

/// One key for a text that nobody sees.
fn typed_blind(secret: &mut Secret, input: &Input) {
    match (input.key, input.ctrl, input.alt) {
        (Key::Char('u'), true, _) => secret.clear(),
        (Key::Backspace, ..) => secret.pop(),
        (Key::Char(c), false, false) => {
            secret.push(c.encode_utf8(&mut [0; 4]));
        }
        _ => {}
    }
}
