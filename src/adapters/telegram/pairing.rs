//! Which bot asks the person, and which account of Telegram's is the person: a file of their configuration that only they can
//! read, for the token is in it.

use super::{API, Bot, is_unfit};
use crate::adapters::private_file::{self, PrivateFileError};
use crate::base::secret::Secret;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The file, in the folder of the person's configuration.
const FILE: &str = "telegram.json";

/// What may leave the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Detail {
    /// The whole call, and what Claude said last.
    #[default]
    Full,
    /// Which ticket asks for which tool: no command, no file's content, no words of Claude's.
    Brief,
}

/// A bot and its person.
#[derive(Clone, Serialize, Deserialize)]
pub struct Pairing {
    token: String,
    /// The server; Telegram's own unless the person runs one.
    #[serde(default = "api")]
    pub api: String,
    /// The bot's name, without `@`.
    pub bot: String,
    /// The one account that is obeyed, in the one private chat.
    pub user: i64,
    pub chat: i64,
    /// What the person is called there.
    pub name: String,
    #[serde(default)]
    pub detail: Detail,
}

fn api() -> String {
    API.to_owned()
}

impl Pairing {
    /// A bot of this token and its person.
    pub fn new(token: &Secret, api: &str, bot: String, (user, chat): (i64, i64), name: String) -> Self {
        Self { token: token.expose().to_owned(), api: api.to_owned(), bot, user, chat, name, detail: Detail::Full }
    }

    /// The pairing in this folder; `None`: there is none.
    pub fn read(config: &Path) -> Result<Option<Self>, PrivateFileError> {
        let path = path(config);
        let Some(text) = private_file::read(&path)? else { return Ok(None) };
        let read = serde_json::from_str::<Self>(&text).map_err(|error| error.to_string());
        let fit = read.and_then(|pairing| match is_unfit(&pairing.api) {
            Some(why) => Err(why),
            None => Ok(pairing),
        });
        fit.map(Some).map_err(|why| {
            private_file::failed(&path, &format!("{why}; remove it, then run `programmator away setup` again"))
        })
    }

    /// Keeps it there.
    pub fn write(&self, config: &Path) -> Result<(), PrivateFileError> {
        private_file::write(&path(config), &serde_json::to_string_pretty(self).unwrap_or_default())
    }

    /// Its bot.
    pub fn bot(&self) -> Bot {
        Bot::new(&self.api, &Secret::of(&self.token))
    }
}

/// Forgets the pairing; `false`: there was none.
pub fn forget(config: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path(config)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where it is kept.
pub fn path(config: &Path) -> PathBuf {
    config.join(FILE)
}
