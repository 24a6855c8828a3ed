//! What Claude tells in sessions of the person's own goes to the phone, too, unless it was asked there.

use super::words::fit;
use super::{Relay, passed};
use crate::adapters::telegram::BotError;
use crate::adapters::telegram::pairing::Detail;
use crate::adapters::{known_sessions, own_notices};
use crate::base::text::clean_line;
use crate::cli::away::kept::Noticed;
use crate::cli::away::scope::Scope;
use crate::cli::away::sent::Sender;
use crate::cli::queue::Waiting;
use crate::domain::credentials::masked;
use crate::domain::own_notice::{Notice, SETTLED};
use crate::domain::own_session::title;
use crate::runtime::own_session::last_question;
use std::time::Duration;

/// What was left so long ago is not told any more: Claude waits no longer, or is seen in its terminal.
const OLD: Duration = Duration::from_secs(600);

impl Relay {
    /// Tells what was left for it; without a sound where the session has a question out.
    pub(super) async fn tell_notices(&mut self, waits: &[Waiting], scope: &Scope) -> Result<(), BotError> {
        for (path, notice) in own_notices::left(self.store.folder()) {
            if let Some(notice) = notice {
                // Until its question is stored, if there is one. A clock that was set back holds up nothing.
                let now = self.clock.now();
                if notice.at <= now && now.since(notice.at) < SETTLED {
                    break;
                }
                if scope.has(&notice.session) && self.is_news(&notice) {
                    let words = fit(&self.words(&notice));
                    self.is_hushed = waits.iter().any(|one| one.ticket == notice.session);
                    let send = move |bot: &Sender<'_>, chat| bot.send(chat, &words, &[], None);
                    let told = self.with_bot(Some(&notice.session), send).await;
                    self.is_hushed = false;
                    passed(told)?;
                    self.kept.noticed.push(Noticed { session: notice.session, words: notice.words, at: notice.at });
                    // Before it is gone: of a relay that is killed here nothing is told twice.
                    self.keep();
                }
            }
            own_notices::done(&path);
        }
        Ok(())
    }

    fn is_news(&self, notice: &Notice) -> bool {
        self.clock.now().since(notice.at) <= OLD
            && self.kept.since.is_none_or(|since| notice.at >= since)
            && !self.kept.noticed.iter().any(|told| notice.is_twin(&told.session, &told.words, told.at))
            && !notice.was_asked(last_question(&self.store, &notice.session))
    }

    fn words(&self, notice: &Notice) -> String {
        let session = &notice.session;
        if self.pairing.detail == Detail::Brief {
            return format!("{session}: Claude has a notification in its terminal");
        }
        let known = known_sessions::find(self.store.folder(), session);
        let place = known.filter(|known| known.terminal.doubt().is_none()).map(|known| known.terminal.place());
        let place = place.map_or_else(String::new, |place| format!(" · {place}"));
        let words = clean_line(&notice.words, 500);
        masked(&format!("{session}: {words}\n{}{place}\n\nAnswer in its terminal.", title(&notice.folder)))
    }
}
