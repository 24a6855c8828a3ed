//! A double of Telegram's Bot API on 127.0.0.1, for one bot: what is written to it waits until it is confirmed by an offset, a
//! second reader ends the first one, and errors come when a test wants them.
//!
//! Its contract is that of <https://core.telegram.org/bots/api>: `{"ok": …}` around everything; updates stay until
//! `getUpdates` is called with a higher offset; edits of what says so already are refused.

use crate::stub_http::{Request, document, read_request};
use serde_json::{Value, json};
use std::io::BufReader;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The account and the private chat of the person.
pub const PERSON: i64 = 4_711;
/// The token that is taken.
pub const TOKEN: &str = "123456789:AAtestTESTtestTESTtestTESTtestTEST00";
const PATIENCE: Duration = Duration::from_secs(60);

pub struct BotApi {
    address: SocketAddr,
    shared: Arc<(Mutex<Chats>, Condvar)>,
}

/// A message of the bot's, as it reads now.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    pub id: i64,
    pub chat: i64,
    pub text: String,
    /// The content of its file.
    pub file: Option<String>,
    /// Words and data of the buttons.
    pub buttons: Vec<(String, String)>,
    pub answers: Option<i64>,
    /// It made no sound.
    pub silent: bool,
}

#[derive(Default)]
struct Chats {
    updates: Vec<Value>,
    sent: Vec<Sent>,
    /// What presses were answered with.
    told: Vec<String>,
    next: i64,
    /// The next answers to this method are these: status and body.
    troubles: Vec<(String, u16, Value)>,
    /// Counts the readers: a new one ends the one before.
    reader: u64,
    over: bool,
}

impl BotApi {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared: Arc<(Mutex<Chats>, Condvar)> = Arc::default();
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if lock(&for_thread.0).over {
                    break;
                }
                let shared = Arc::clone(&for_thread);
                std::thread::spawn(move || serve(&shared, stream));
            }
        });
        Self { address, shared }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Somebody writes to the bot; gives the update's number.
    pub fn write(&self, from: i64, text: &str) -> i64 {
        self.write_at(from, text, None, now())
    }

    /// The person replies to a message.
    pub fn reply(&self, to: i64, text: &str) {
        self.write_at(PERSON, text, Some(to), now());
    }

    /// The same, written at this second.
    pub fn write_at(&self, from: i64, text: &str, to: Option<i64>, date: i64) -> i64 {
        let mut message = json!({
            "date": date, "chat": {"id": from, "type": "private"}, "from": {"id": from, "first_name": "Ada"}, "text": text,
        });
        if let Some(to) = to {
            message["reply_to_message"] = json!({"message_id": to});
        }
        self.update("message", message)
    }

    /// Somebody presses a button of a message.
    pub fn press(&self, from: i64, message: i64, data: &str) {
        let press = json!({
            "id": "p1", "from": {"id": from, "first_name": "Ada"}, "data": data,
            "message": {"message_id": message, "chat": {"id": from, "type": "private"}},
        });
        self.update("callback_query", press);
    }

    /// Any update of this kind.
    pub fn update(&self, kind: &str, mut what: Value) -> i64 {
        let mut chats = self.lock();
        chats.next += 1;
        let id = chats.next;
        if kind == "message" {
            what["message_id"] = id.into();
        }
        chats.updates.push(json!({"update_id": id, kind: what}));
        self.shared.1.notify_all();
        id
    }

    /// The next call of this method has this answer.
    pub fn trouble(&self, method: &str, status: u16, body: Value) {
        self.lock().troubles.push((method.to_owned(), status, body));
    }

    /// The first message that fits, once there is one.
    pub fn wait_for(&self, what: &str, fits: impl Fn(&Sent) -> bool) -> Sent {
        let deadline = Instant::now() + PATIENCE;
        let mut chats = self.lock();
        loop {
            if let Some(found) = chats.sent.iter().find(|sent| fits(sent)) {
                return found.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no message: {what}; there are {:#?}; told {:?}", chats.sent, chats.told);
            chats = self.shared.1.wait_timeout(chats, left).unwrap().0;
        }
    }

    /// Waits until a press was answered with words that have these in them.
    pub fn wait_told(&self, words: &str) {
        self.wait_told_times(words, 1);
    }

    /// The same, so often.
    pub fn wait_told_times(&self, words: &str, times: usize) {
        let deadline = Instant::now() + PATIENCE;
        let mut chats = self.lock();
        while chats.told.iter().filter(|told| told.contains(words)).count() < times {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "nobody was told “{words}”, but {:?}", chats.told);
            chats = self.shared.1.wait_timeout(chats, left).unwrap().0;
        }
    }

    /// Waits until everything that was written is confirmed.
    pub fn wait_heard(&self) {
        let deadline = Instant::now() + PATIENCE;
        let mut chats = self.lock();
        while !chats.updates.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "nobody has heard {:?}", chats.updates);
            chats = self.shared.1.wait_timeout(chats, left).unwrap().0;
        }
    }

    /// What presses were answered with.
    pub fn told(&self) -> Vec<String> {
        self.lock().told.clone()
    }

    pub fn sent(&self) -> Vec<Sent> {
        self.lock().sent.clone()
    }

    /// Those that fit.
    pub fn sent_where(&self, fits: impl Fn(&Sent) -> bool) -> Vec<Sent> {
        self.lock().sent.iter().filter(|sent| fits(sent)).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Chats> {
        lock(&self.shared.0)
    }
}

impl Drop for BotApi {
    fn drop(&mut self) {
        self.lock().over = true;
        self.shared.1.notify_all();
        let _ = TcpStream::connect(self.address);
    }
}

/// Also after a test has failed with it.
fn lock(chats: &Mutex<Chats>) -> MutexGuard<'_, Chats> {
    chats.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn now() -> i64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs().cast_signed()
}

fn serve(shared: &(Mutex<Chats>, Condvar), mut stream: TcpStream) {
    let mut input = BufReader::new(stream.try_clone().unwrap());
    while let Ok(Some(request)) = read_request(&mut input) {
        let (status, body) = answer(shared, &request);
        if status == 0 {
            // The connection is cut.
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
        if document(&mut stream, status, &body, &[]).is_err() {
            return;
        }
    }
}

fn error(code: u16, words: &str) -> (u16, Value) {
    (code, json!({"ok": false, "error_code": code, "description": words}))
}

fn answer(shared: &(Mutex<Chats>, Condvar), request: &Request) -> (u16, Value) {
    let Some(method) = request.path.strip_prefix(&format!("/bot{TOKEN}/")) else { return error(401, "Unauthorized") };
    let mut chats = lock(&shared.0);
    if let Some(at) = chats.troubles.iter().position(|(of, ..)| of == method) {
        let (_, status, body) = chats.troubles.remove(at);
        return (status, body);
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let ok = |result: Value| (200, json!({"ok": true, "result": result}));
    let number = |at: &str| body.pointer(at).and_then(Value::as_i64);
    let text = |at: &str| body.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let result = match method {
        "getMe" => ok(json!({"id": 1, "is_bot": true, "first_name": "Bot", "username": "test_bot"})),
        "getUpdates" => return updates(shared, chats, number("/offset").unwrap_or(0), number("/timeout").unwrap_or(0)),
        "sendMessage" | "sendDocument" => {
            let mut sent = Sent { answers: number("/reply_parameters/message_id"), ..Sent::default() };
            sent.silent = body["disable_notification"] == true;
            let keyboard = if method == "sendMessage" {
                (sent.chat, sent.text) = (number("/chat_id").unwrap_or(0), text("/text"));
                body["reply_markup"].clone()
            } else {
                let part = |name: &str| part(&request.body, name);
                (sent.chat, sent.text) = (part("chat_id").parse().unwrap_or(0), part("caption"));
                sent.file = Some(part("document"));
                serde_json::from_str(&part("reply_markup")).unwrap_or_default()
            };
            sent.silent = body["disable_notification"] == true;
            if sent.text.is_empty() || sent.text.chars().count() > if sent.file.is_some() { 1_024 } else { 4_096 } {
                return error(400, "Bad Request: message is empty or too long");
            }
            sent.buttons = buttons(&keyboard);
            if sent.buttons.iter().any(|(_, data)| data.is_empty() || data.len() > 64) {
                return error(400, "Bad Request: BUTTON_DATA_INVALID");
            }
            chats.next += 1;
            sent.id = chats.next;
            let id = sent.id;
            chats.sent.push(sent);
            ok(json!({"message_id": id, "date": now(), "chat": {"id": PERSON, "type": "private"}}))
        }
        "editMessageText" | "editMessageCaption" => {
            let new = if method == "editMessageText" { text("/text") } else { text("/caption") };
            match chats.sent.iter_mut().find(|sent| Some(sent.id) == number("/message_id")) {
                None => error(400, "Bad Request: message to edit not found"),
                Some(sent) if sent.text == new => error(400, "Bad Request: message is not modified"),
                Some(sent) => {
                    (sent.text, sent.buttons) = (new, Vec::new());
                    ok(json!({"message_id": sent.id}))
                }
            }
        }
        "answerCallbackQuery" => {
            chats.told.push(text("/text"));
            ok(json!(true))
        }
        _ => error(404, "Not Found"),
    };
    shared.1.notify_all();
    result
}

fn updates(
    shared: &(Mutex<Chats>, Condvar),
    mut chats: MutexGuard<'_, Chats>,
    offset: i64,
    seconds: i64,
) -> (u16, Value) {
    // A negative offset counts from the end, and what is before it is forgotten.
    let first = match usize::try_from(-offset) {
        Ok(last) if offset < 0 => chats.updates.len().saturating_sub(last),
        _ => chats.updates.iter().filter(|update| update["update_id"].as_i64().unwrap_or(0) < offset).count(),
    };
    chats.updates.drain(..first);
    shared.1.notify_all();
    let deadline = Instant::now() + Duration::from_secs(seconds.unsigned_abs());
    chats.reader += 1;
    let own = chats.reader;
    shared.1.notify_all();
    while chats.updates.is_empty() && !chats.over {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        chats = shared.1.wait_timeout(chats, left).unwrap().0;
        if chats.reader != own {
            return error(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
            );
        }
    }
    let from_offset = |update: &&Value| update["update_id"].as_i64().unwrap_or(0) >= offset;
    let given: Vec<&Value> = chats.updates.iter().filter(from_offset).collect();
    (200, json!({"ok": true, "result": given}))
}

fn buttons(keyboard: &Value) -> Vec<(String, String)> {
    let rows = keyboard["inline_keyboard"].as_array().cloned().unwrap_or_default();
    let buttons = rows.iter().filter_map(Value::as_array).flatten();
    let word = |button: &Value, name: &str| button[name].as_str().unwrap_or_default().to_owned();
    buttons.map(|button| (word(button, "text"), word(button, "callback_data"))).collect()
}

/// The content of a part of a form.
fn part(body: &[u8], name: &str) -> String {
    let body = String::from_utf8_lossy(body);
    let boundary = body.lines().next().unwrap_or_default().trim().to_owned();
    let wanted = format!("name=\"{name}\"");
    let found = body.split(&boundary).find(|part| part.lines().any(|line| line.contains(&wanted)));
    let content = found.and_then(|part| part.split_once("\r\n\r\n")).map(|(_, content)| content);
    content.unwrap_or_default().trim_end_matches("\r\n").to_owned()
}
