//! Asking on the phone: what waits for the first time, once more, and of whom nobody hears the answer.

use super::Relay;
use super::words::{fit, gone};
use crate::adapters::known_sessions;
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::Detail;
use crate::adapters::transcript::last_said as last_said_there;
use crate::base::id::RunId;
use crate::base::time::{Timestamp, human};
use crate::cli::away::kept::{Asked, Over};
use crate::cli::away::message::{self, Beside, Message, denials};
use crate::cli::away::sent::Sender;
use crate::cli::queue::Waiting;
use crate::domain::approval::ApprovalKind;
use crate::domain::stream::transcript::Speaker;
use crate::domain::summary::RunState;
use crate::runtime::last_said::last_said;
use std::collections::BTreeMap;

/// What was said last in each run, read once for all that it asks at the same time.
pub(super) type Words = BTreeMap<RunId, Option<(Speaker, String)>>;

impl Relay {
    /// What is sent about something that waits.
    pub(super) fn message_of(&self, one: &Waiting, words: &mut Words) -> Message {
        let known = known_sessions::find(self.store.folder(), &one.ticket).filter(|_| one.summary.is_own_session());
        let transcript = known.as_ref().and_then(|known| known.transcript.clone());
        // At the end of a turn they are what is asked about.
        let is_call = one.question().is_some_and(|asked| asked.kind == ApprovalKind::Call);
        let own = || transcript.filter(|_| is_call).and_then(|path| last_said_there(&path));
        let said = words.entry(one.run).or_insert_with(|| match last_said(&self.store, one.run) {
            Some(said) => Some((Speaker::Claude, said)),
            None => own(),
        });
        let said = said.as_ref().filter(|_| self.pairing.detail == Detail::Full);
        let terminal = known.filter(|known| known.terminal.doubt().is_none()).map(|known| known.terminal.place());
        let beside = Beside { said: said.map(|(who, said)| (*who, said.as_str())), terminal: terminal.as_deref() };
        message::of(one, self.pairing.detail, &self.settings.bulk_tools, beside)
    }

    pub(super) async fn ask(&mut self, one: &Waiting, message: Message) -> Result<(), BotError> {
        let Message { text, hint, file, buttons, can_allow } = message;
        let (is_file, whole) = (file.is_some(), format!("{text}{hint}"));
        let name = format!("{}.txt", one.ticket);
        let head =
            format!("{} is waiting for you. Its question cannot be shown here; open it on the screen.", one.ticket);
        let refused = head.clone();
        let (message, is_shown) = self
            .with_bot(Some(&one.ticket), move |bot, chat| {
                let sent = match &file {
                    None => bot.send(chat, &fit(&whole), &buttons, None),
                    Some(file) => bot.send_file(chat, (&name, file), &fit(&whole), &buttons),
                };
                match sent {
                    // It would be refused for ever, and the others would wait behind it.
                    Err(BotError::Refused { code: 400 | 413, .. }) => {
                        bot.send(chat, &head, &[denials()], None).map(|sent| (sent, false))
                    }
                    sent => sent.map(|sent| (sent, true)),
                }
            })
            .await?;
        self.kept.asked.push(Asked {
            message,
            is_file: is_file && is_shown,
            run: one.run,
            ticket: one.ticket.clone(),
            question: one.question().map(|approval| approval.id.clone()),
            decision: if one.question().is_none() { one.name.clone() } else { String::new() },
            kind: one.question().map(|approval| approval.kind),
            text: if is_shown { text } else { refused },
            orphaned: None,
            can_allow: can_allow && is_shown,
            repeated: Vec::new(),
            prompts: Vec::new(),
            repeats: 0,
            told: self.clock.now(),
            sent: self.clock.now(),
            end: None,
            ended: Timestamp::default(),
            is_edited: false,
        });
        self.keep();
        Ok(())
    }

    /// No program works on the run of this question.
    pub(super) async fn orphaned(&mut self, at: usize) -> Result<(), BotError> {
        let asked = &self.kept.asked[at];
        if asked.orphaned.is_some() {
            return Ok(());
        }
        let (words, message) = (gone(&asked.ticket), asked.message);
        self.with_bot(Some(&asked.ticket), move |bot, chat| bot.send(chat, &words, &[], Some(message))).await?;
        self.kept.asked[at].orphaned = Some(self.clock.now());
        Ok(())
    }

    pub(super) async fn repeat(&mut self, at: usize, one: &Waiting) -> Result<(), BotError> {
        let now = self.clock.now();
        if self.kept.asked[at].orphaned.is_some() {
            // It is asked again, under the same name: once more on the phone, too.
            self.kept.asked[at].end = Some(Over::without("the run was resumed: asked again below"));
            let message = self.message_of(one, &mut Words::new());
            return self.ask(one, message).await;
        }
        if one.summary.state == RunState::Parked && one.question().is_none() {
            return Ok(());
        }
        let asked = &self.kept.asked[at];
        if (asked.repeats >= self.settings.repeats && asked.told != Timestamp::default())
            || now.since(asked.told) < self.settings.repeat_after
        {
            return Ok(());
        }
        let about = asked.text.lines().next().unwrap_or_default();
        let words = format!("{about}\nStill waiting for you, for {} now.", human(now.since(one.since())));
        let message = asked.message;
        let send = move |bot: &Sender<'_>, chat| bot.send(chat, &words, &[], Some(message));
        let repeated = self.with_bot(Some(&asked.ticket), send).await?;
        let asked = &mut self.kept.asked[at];
        asked.repeated.push(repeated);
        asked.repeats += 1;
        asked.told = now;
        Ok(())
    }
}
