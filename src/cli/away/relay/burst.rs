//! Several questions at once: one message with a sound lists them, and each follows in a message of its own without one, which
//! is answered like any other. At the end the list says of each what became of it.

use super::asking::Words;
use super::words::fit;
use super::{Relay, is, passed};
use crate::adapters::telegram::BotError;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::cli::away::kept::{Asked, Burst};
use crate::cli::away::message::Message;
use crate::cli::away::scope::Scope;
use crate::cli::away::sent::Sender;
use crate::cli::queue::Waiting;
use std::collections::BTreeSet;
use std::time::Duration;

/// What is asked so soon after another question makes no sound.
const SOON: Duration = Duration::from_secs(10);
/// Columns of a question in the list.
const LINE: usize = 160;

impl Relay {
    /// What is new goes first. What Telegram refuses holds up nothing else.
    pub(super) async fn ask_all(&mut self, waits: &[Waiting], scope: &Scope) -> Result<(), BotError> {
        let (mut new, mut old) = (Vec::new(), Vec::new());
        for one in waits.iter().filter(|one| scope.has(&one.ticket)) {
            match self.kept.asked.iter().position(|asked| asked.is_open() && is(asked, one)) {
                None if one.interrupted => {}
                None => new.push(one),
                Some(at) => old.push((at, one)),
            }
        }
        self.ask_new(&new).await?;
        for (at, one) in old {
            passed(if one.interrupted { self.orphaned(at).await } else { self.repeat(at, one).await })?;
        }
        Ok(())
    }

    async fn ask_new(&mut self, new: &[&Waiting]) -> Result<(), BotError> {
        // Where there is no list, each of them has its sound.
        let (mut is_listed, mut words) = (false, Words::new());
        let messages: Vec<Message> = new.iter().map(|one| self.message_of(one, &mut words)).collect();
        if new.len() > 1 {
            let heads: Vec<String> = messages.iter().map(|message| head(&message.text)).collect();
            let text = listed(heads.iter().map(|head| (head.as_str(), None)));
            let shown = text.clone();
            let sent = self.with_bot(None, move |bot, chat| bot.send(chat, &fit(&text), &[], None)).await;
            if let Ok(message) = &sent {
                self.kept.bursts.push(Burst { message: *message, parts: Vec::new(), shown });
                is_listed = true;
            }
            passed(sent)?;
            self.keep();
        }
        for (one, message) in new.iter().zip(messages) {
            let now = self.clock.now();
            let before = self.kept.asked.last().map_or(Timestamp::default(), |asked| asked.sent);
            self.is_hushed = is_listed || now.since(before) < SOON;
            let asked = self.ask(one, message).await;
            self.is_hushed = false;
            if let (Ok(()), true) = (&asked, is_listed)
                && let (Some(burst), Some(asked)) = (self.kept.bursts.last_mut(), self.kept.asked.last())
            {
                burst.parts.push(asked.message);
            }
            passed(asked)?;
        }
        Ok(())
    }

    /// Lists say what has become of their questions; one of which all have ended is left so.
    pub(super) async fn close_bursts(&mut self) -> Result<(), BotError> {
        for at in 0..self.kept.bursts.len() {
            let burst = &self.kept.bursts[at];
            let known = |message: &i64| self.kept.asked.iter().find(|asked| asked.message == *message);
            let parts: Vec<&Asked> = burst.parts.iter().filter_map(known).collect();
            let heads: Vec<String> = parts.iter().map(|asked| head(&asked.text)).collect();
            let ends = parts.iter().map(|asked| asked.end.as_ref().map(|end| end.words.as_str()));
            let text = listed(heads.iter().map(String::as_str).zip(ends));
            // Some are forgotten, or were never asked: what it says of them stays.
            if text != burst.shown && parts.len() == many(&burst.shown) {
                let (message, shown) = (burst.message, text.clone());
                let edit = move |bot: &Sender<'_>, chat| bot.edit(chat, message, &fit(&text), false);
                passed(self.with_bot(None, edit).await)?;
                self.kept.bursts[at].shown = shown;
            }
        }
        let open: BTreeSet<i64> = self.kept.open().map(|asked| asked.message).collect();
        self.kept.bursts.retain(|burst| burst.parts.iter().any(|part| open.contains(part)));
        Ok(())
    }
}

/// What a question is about: the first line of its message.
fn head(text: &str) -> String {
    clean_line(text.lines().next().unwrap_or_default(), LINE)
}

fn listed<'a>(questions: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let lines: Vec<String> = questions
        .enumerate()
        .map(|(at, (head, end))| match end {
            None => format!("{}. {head}", at + 1),
            Some(end) => format!("▪ {head}: {}", clean_line(end, LINE)),
        })
        .collect();
    format!("{}, each in its own message below:\n{}", counted(lines.len(), "question"), lines.join("\n"))
}

/// How many questions a list names.
fn many(list: &str) -> usize {
    list.lines().count().saturating_sub(1)
}
