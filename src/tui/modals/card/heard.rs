//! What the card hears: the call no longer waits, an answer is on its way or refused, what became of a passphrase or a rule.
//!
//! Who types on the card goes on typing there: nothing that is heard turns their keys into commands.

use super::{Card, Page};
use crate::base::time::Timestamp;
use crate::domain::approval::{Again, Answer, Approval, Scope};
use crate::domain::passphrase::Checked;
use std::time::Duration;

impl Card {
    /// The call no longer waits. `true`: the card has nothing left to say and can go.
    pub fn withdrawn(&mut self, why: &str) -> bool {
        let typing = match &self.page {
            Page::Deny(_) | Page::Edit(..) | Page::Passphrase(_) | Page::Gone(_) => true,
            Page::Checking(typed) => typed.letters() > 0,
            Page::Choices(choices) => choices.is_typing(),
            Page::Call | Page::Rule(..) | Page::Saving(_) | Page::Sent(_) | Page::Judging(_) => false,
        };
        if typing && !self.is_gone() {
            let page = std::mem::replace(&mut self.page, Page::Call);
            self.typed = matches!(page, Page::Deny(_) | Page::Edit(..)).then_some(page);
            self.turn_to(Page::Gone(why.to_owned()));
        }
        !typing
    }

    /// The call is asked about again. The card of the new question and `true`; or this one, which says so by itself, since
    /// somebody types on it: the new one follows when they leave it.
    pub fn renewed(mut self: Box<Self>, asked: &Approval, now: Timestamp) -> (Box<Self>, bool) {
        let by_hand = asked.again == Some(Again::Edited);
        let why = asked.again.map_or("the call was changed", Again::words);
        let late = matches!(self.page, Page::Sent(_) | Page::Checking(_));
        if !self.withdrawn(&format!("{why}; asking again")) {
            return (self, false);
        }
        let mut card = Self::new(self.ticket, asked, now);
        card.unseen = !by_hand;
        card.trouble = (!by_hand).then(|| {
            let late = if late { " before your answer arrived, so it was not applied" } else { "" };
            format!("Asked again: {why}{late}.")
        });
        (Box::new(card), true)
    }

    /// A reason or an edit that was being typed when the question was withdrawn: `d` or `e` brings it back.
    pub fn typed_on(&mut self, old: &mut Self) {
        self.typed = old.typed.take();
    }

    /// The answer is on its way. The lines stay as they are.
    pub fn sent(&mut self) {
        let page = std::mem::replace(&mut self.page, Page::Call);
        self.page = Page::Sent(Box::new(page));
        self.trouble = None;
    }

    /// What was sent came to nothing, and why: what was typed can be changed further.
    pub fn refused(&mut self, why: &str) {
        if let Page::Sent(page) | Page::Judging(page) = &mut self.page {
            let page = std::mem::replace(&mut **page, Page::Call);
            self.turn_to(page);
            self.trouble = Some(why.to_owned());
        }
    }

    /// How the passphrase stands, or what became of the try. The masked field closes only when the person leaves it:
    /// whoever types blind must not type commands.
    pub fn checked(&mut self, checked: Checked, now: Timestamp) {
        if let Page::Checking(typed) = &mut self.page {
            let typed = std::mem::take(typed);
            self.page = match checked {
                Checked::Right if typed.letters() == 0 => Page::Sent(Box::new(Page::Call)),
                Checked::Right => Page::Gone("Passphrase accepted.".into()),
                _ => Page::Passphrase(typed),
            };
        }
        self.checked = Some((checked, now));
        self.columns = 0;
    }

    /// Time until the next passphrase is looked at; `None`: it is now.
    pub(super) fn wait_left(&self, now: Timestamp) -> Option<Duration> {
        let (Checked::Wrong { wait, .. } | Checked::Locked { wait, .. }, since) = self.checked.as_ref()? else {
            return None;
        };
        Some(wait.saturating_sub(now.since(*since))).filter(|left| !left.is_zero())
    }

    /// What became of the rule; the answer when it was saved.
    pub fn saved(&mut self, saved: &Result<String, String>) -> Option<Answer> {
        let waited = matches!(self.page, Page::Saving(_));
        if waited {
            self.turn_back();
            self.trouble = saved.as_ref().err().map(|why| format!("The rule was not saved: {why}"));
        }
        (waited && saved.is_ok()).then(|| Answer::Allow { input: self.approval.input.clone(), scope: Scope::Always })
    }
}
