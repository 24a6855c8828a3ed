//! What comes from Telegram: a message, or a press of a button. Untrusted until [`from`](Update::from) is the paired person.

use serde::Deserialize;
use serde_json::Value;

/// Something that was written to the bot. Their numbers grow.
#[derive(Clone, Debug, Deserialize)]
pub struct Update {
    pub update_id: i64,
    pub message: Option<Message>,
    #[serde(rename = "callback_query")]
    pub press: Option<Press>,
}

/// A message.
#[derive(Clone, Debug, Deserialize)]
pub struct Message {
    pub message_id: i64,
    /// Seconds since 1970: when it was written.
    pub date: i64,
    pub chat: Chat,
    pub from: Option<User>,
    pub text: Option<String>,
    #[serde(rename = "reply_to_message")]
    pub answers: Option<Box<Answered>>,
}

/// The message that was replied to.
#[derive(Clone, Debug, Deserialize)]
pub struct Answered {
    pub message_id: i64,
}

/// A press of a button.
#[derive(Clone, Debug, Deserialize)]
pub struct Press {
    pub id: String,
    pub from: User,
    pub message: Option<Pressed>,
    pub data: Option<String>,
}

/// The message with the button.
#[derive(Clone, Debug, Deserialize)]
pub struct Pressed {
    pub message_id: i64,
    pub chat: Chat,
}

/// Where it was written. Groups and channels are no `private` chats.
#[derive(Clone, Debug, Deserialize)]
pub struct Chat {
    pub id: i64,
    #[serde(rename = "type")]
    pub kind: String,
}

/// An account.
#[derive(Clone, Debug, Deserialize)]
pub struct User {
    pub id: i64,
    #[serde(default)]
    pub first_name: String,
}

impl Update {
    /// One of what `getUpdates` gives. What cannot be understood has its number all the same: else it would come for ever.
    pub fn of(json: &Value) -> Option<Self> {
        let number = || json.get("update_id").and_then(Value::as_i64);
        Self::deserialize(json).ok().or_else(|| Some(Self { update_id: number()?, message: None, press: None }))
    }

    /// Who wrote it, and in which private chat; `None`: in a group or a channel, where nobody is obeyed.
    pub fn from(&self) -> Option<(&User, i64)> {
        let (user, chat) = match (&self.message, &self.press) {
            (Some(message), _) => (message.from.as_ref()?, &message.chat),
            (None, Some(press)) => (&press.from, &press.message.as_ref()?.chat),
            (None, None) => return None,
        };
        (chat.kind == "private").then_some((user, chat.id))
    }
}
