//! A tab of a Claude session that the person has started themselves: it is only looked at, and what it asks is answered.

use super::{Tab, TabStatus};
use crate::base::text::clean_line;
use crate::domain::own_seen::{OwnSeen, Stands};
use crate::domain::own_session;

impl TabStatus {
    /// How such a session stands that asks nothing.
    pub fn of_own(own: &OwnSeen) -> Self {
        match own.stands {
            Stands::Working | Stands::Calls(_) => Self::Running,
            Stands::YourTurn | Stands::Unknown => Self::YourTurn,
            Stands::Ended => Self::Stopped,
        }
    }
}

impl Tab {
    /// It is one of such a session.
    pub fn is_own_session(&self) -> bool {
        own_session::is(self.id.id(), self.id.file())
    }

    /// How the session stands now; one that is not there any more has ended.
    pub fn see_own(&mut self, now: Option<&OwnSeen>) {
        match now {
            Some(now) => self.own = Some(now.clone()),
            None => self.own.iter_mut().for_each(|own| own.stands = Stands::Ended),
        }
        if let Some(own) = &self.own {
            self.stream.is_in(&own.folder);
        }
    }

    /// What is said below its stream while it asks nothing.
    pub fn own_words(&self) -> Option<String> {
        let Some(own) = &self.own else {
            return self.is_own_session().then(|| "your own Claude session: ended".to_owned());
        };
        let cut = if own.is_cut { " · its beginning is too long ago to be shown" } else { "" };
        Some(match own.stands {
            Stands::Ended => format!("{}; your own Claude session in {}{cut}", own.words(), own.place),
            _ => {
                format!("{} · read-only: your own Claude session in {}{cut}", clean_line(&own.words(), 200), own.place)
            }
        })
    }

    /// What stands in the place of phases, where it is no ticket.
    pub fn no_ticket(&self) -> Option<&'static str> {
        match () {
            () if self.state.chat.is_some() => Some("    a chat without a ticket"),
            () if self.is_own_session() => Some("    your own Claude session"),
            () => None,
        }
    }
}
