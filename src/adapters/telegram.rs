//! Telegram's Bot API, as far as a person who is away is asked and answers by it: a bot of the person's own, over HTTPS.
//!
//! Blocking: the long poll waits half a minute. Owns the requests and what Telegram's errors mean. Whom the bot obeys is
//! [`pairing`]'s, what is said the relay's. Source of all shapes: <https://core.telegram.org/bots/api>.

pub mod pairing;
pub mod update;

use crate::base::secret::Secret;
use crate::base::text::clean_line;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use update::Update;
use ureq::unversioned::multipart::{Form, Part};

/// Where bots are served, unless the person runs a server of their own.
pub const API: &str = "https://api.telegram.org";
/// Most characters of a message (`sendMessage`, `text`).
pub const LONGEST: usize = 4_096;
/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most bytes of an answer.
const ANSWER: u64 = 8 << 20;
/// Most of Telegram's words about an error.
const WORDS: usize = 300;

/// A request came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BotError {
    /// The token is nobody's (401, or 404 where it has not even the form of one).
    #[error("Telegram rejects the token: get it from @BotFather and run `programmator away setup`")]
    Unauthorized,
    /// Somebody else asks for the same bot's messages (409).
    #[error("another program is reading this bot's messages, and only one can: stop the other")]
    Conflict,
    /// Too many requests (429): none for so long.
    #[error("Telegram rate limit: wait {} s", .0.as_secs())]
    Pause(Duration),
    /// It was understood and refused, or the server has trouble of its own; Telegram's words.
    #[error("Telegram error {code}: {words}")]
    Refused { code: u16, words: String },
    /// Nobody has answered, or not in the Bot API's language.
    #[error("Telegram cannot be reached: {0}")]
    Unreachable(String),
}

/// A button under a message: its words, and what comes back when it is pressed, at most 64 bytes.
pub type Button = (String, String);

/// A bot.
pub struct Bot {
    agent: ureq::Agent,
    /// With the token in it: never told.
    base: Secret,
    /// What is sent makes no sound on the phone (`disable_notification`).
    silent: AtomicBool,
}

/// What the bot is called: `getMe`.
#[derive(Clone, Debug, Deserialize)]
pub struct Me {
    pub username: String,
}

/// What every answer is wrapped in.
#[derive(Deserialize)]
struct Envelope {
    ok: bool,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    error_code: u16,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
struct Parameters {
    /// Seconds.
    retry_after: Option<u64>,
}

/// Why an address cannot be a Bot API server's; `None`: it can be one.
pub fn is_unfit(api: &str) -> Option<String> {
    let is_fit = api.parse::<ureq::http::Uri>().is_ok_and(|uri| {
        let is_named = uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        is_named && (uri.scheme_str() == Some("https") || is_local(&uri))
    });
    (!is_fit).then(|| {
        format!(
            "`{}` is not a Bot API server: use https://…, or http://localhost:PORT on this machine",
            clean_line(api, 100)
        )
    })
}

/// Plain HTTP, and no further than this machine.
fn is_local(uri: &ureq::http::Uri) -> bool {
    uri.scheme_str() == Some("http") && matches!(uri.host(), Some("127.0.0.1" | "localhost" | "[::1]"))
}

impl Bot {
    /// The bot of this token, at this server.
    pub fn new(api: &str, token: &Secret) -> Self {
        let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).https_only(false);
        // What stays on this machine passes no proxy, which could read the token.
        let is_local = api.parse().is_ok_and(|uri| is_local(&uri));
        let config = if is_local { config.proxy(None) } else { config };
        let base = format!("{}/bot{}", api.trim_end_matches('/'), token.expose());
        Self { agent: config.build().into(), base: Secret::of(&base), silent: AtomicBool::new(false) }
    }

    /// Whether what is sent from now on makes no sound on the phone.
    pub fn be_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::Relaxed);
    }

    /// Who the bot is.
    pub fn me(&self) -> Result<Me, BotError> {
        self.ask("getMe", &json!({}), PATIENCE)
    }

    /// What was written to the bot from `offset` on; waits up to `wait` for the first. Telegram forgets what is below the offset.
    pub fn updates(&self, offset: i64, wait: Duration) -> Result<Vec<Update>, BotError> {
        let body = json!({
            "offset": offset, "timeout": wait.as_secs(), "allowed_updates": ["message", "callback_query"],
        });
        let found: Vec<Value> = self.ask("getUpdates", &body, wait + PATIENCE)?;
        Ok(found.iter().filter_map(Update::of).collect())
    }

    /// Sends plain text and gives its message's number. `buttons`: rows. `answers`: the message that it replies to.
    pub fn send(&self, chat: i64, text: &str, buttons: &[Vec<Button>], answers: Option<i64>) -> Result<i64, BotError> {
        let mut body = json!({"chat_id": chat, "text": text, "link_preview_options": {"is_disabled": true}});
        body["disable_notification"] = self.silent.load(Ordering::Relaxed).into();
        if !buttons.is_empty() {
            body["reply_markup"] = keyboard(buttons);
        }
        if let Some(message) = answers {
            body["reply_parameters"] = json!({"message_id": message, "allow_sending_without_reply": true});
        }
        self.ask::<Sent>("sendMessage", &body, PATIENCE).map(|sent| sent.message_id)
    }

    /// Asks for words: the person's next message replies to this one. Gives its number.
    pub fn ask_for_words(&self, chat: i64, text: &str) -> Result<i64, BotError> {
        let body = json!({"chat_id": chat, "text": text, "reply_markup": {"force_reply": true}});
        self.ask::<Sent>("sendMessage", &body, PATIENCE).map(|sent| sent.message_id)
    }

    /// Sends text as a file, with a caption of at most 1,024 characters.
    pub fn send_file(
        &self,
        chat: i64,
        name: &str,
        text: &str,
        caption: &str,
        buttons: &[Vec<Button>],
    ) -> Result<i64, BotError> {
        let (chat, keys) = (chat.to_string(), keyboard(buttons).to_string());
        let part =
            Part::bytes(text.as_bytes()).file_name(name).mime_str("text/plain").map_err(|error| self.lost(&error))?;
        let silent = self.silent.load(Ordering::Relaxed).to_string();
        let form = Form::new()
            .text("chat_id", &chat)
            .text("disable_notification", &silent)
            .text("caption", caption)
            .text("reply_markup", &keys);
        let request = self.agent.post(self.url("sendDocument")).config().timeout_global(Some(PATIENCE)).build();
        let answer = request.send(form.part("document", part)).map_err(|error| self.lost(&error))?;
        self.read::<Sent>(answer).map(|sent| sent.message_id)
    }

    /// Puts other words in the place of a message's, and takes its buttons away. `is_file`: they are a file's caption.
    pub fn edit(&self, chat: i64, message: i64, text: &str, is_file: bool) -> Result<(), BotError> {
        let (method, field) = if is_file { ("editMessageCaption", "caption") } else { ("editMessageText", "text") };
        let body = json!({"chat_id": chat, "message_id": message, field: text});
        match self.ask::<Value>(method, &body, PATIENCE) {
            // It says so already, the person has deleted it, or it is too old.
            Err(BotError::Refused { code: 400, .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Ends the waiting sign of a button that was pressed. `words`: shown for a moment, at most 200 characters.
    pub fn acknowledge(&self, press: &str, words: &str) -> Result<(), BotError> {
        match self.ask::<Value>("answerCallbackQuery", &json!({"callback_query_id": press, "text": words}), PATIENCE) {
            // It is too old for that.
            Err(BotError::Refused { code: 400, .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    fn url(&self, method: &str) -> String {
        format!("{}/{method}", self.base.expose())
    }

    fn ask<T: for<'de> Deserialize<'de>>(&self, method: &str, body: &Value, patience: Duration) -> Result<T, BotError> {
        let request = self.agent.post(self.url(method)).config().timeout_global(Some(patience)).build();
        let answer = request.send_json(body).map_err(|error| self.lost(&error))?;
        self.read(answer)
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, mut answer: ureq::http::Response<ureq::Body>) -> Result<T, BotError> {
        let code = answer.status().as_u16();
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        let bytes = answer.body_mut().with_config().limit(ANSWER).read_to_vec().map_err(|error| self.lost(&error))?;
        let Ok(envelope) = serde_json::from_slice::<Envelope>(&bytes) else {
            return Err(BotError::Unreachable(format!("status {code}, not a Bot API response")));
        };
        if !envelope.ok {
            let code = if envelope.error_code == 0 { code } else { envelope.error_code };
            return Err(match code {
                401 | 404 => BotError::Unauthorized,
                409 => BotError::Conflict,
                429 => BotError::Pause(Duration::from_secs(envelope.parameters.retry_after.or(after).unwrap_or(5))),
                code => BotError::Refused { code, words: clean_line(&envelope.description, WORDS) },
            });
        }
        serde_json::from_value(envelope.result).map_err(|error| BotError::Unreachable(error.to_string()))
    }

    /// The error without the address, which has the token in it.
    fn lost(&self, error: &dyn std::fmt::Display) -> BotError {
        let words = error.to_string().replace(self.base.expose(), "…");
        BotError::Unreachable(clean_line(&words, WORDS))
    }
}

#[derive(Deserialize)]
struct Sent {
    message_id: i64,
}

fn keyboard(rows: &[Vec<Button>]) -> Value {
    let rows: Vec<Value> = (rows.iter())
        .map(|row| row.iter().map(|(words, data)| json!({"text": words, "callback_data": data})).collect())
        .collect();
    json!({"inline_keyboard": rows})
}
