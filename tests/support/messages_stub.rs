//! A stub of the Messages API on 127.0.0.1, scripted per test: what the real Claude Code CLI talks to
//! instead of the service. Standard library and `serde_json` only.
//!
//! ```ignore
//! let stub = Stub::start([
//!     Reply::tool("Bash", json!({"command": "touch made"})),   // the first request with tools
//!     Reply::status(429).header("retry-after", "0"),           // the second, …
//!     Reply::text("done"),
//! ]);
//! command.env("ANTHROPIC_BASE_URL", stub.url()).env("ANTHROPIC_API_KEY", "dummy");
//! ```
//!
//! - Replies are taken in order: the first that is not used up and whose [`Reply::when`] (a part of
//!   the request's body) and [`Reply::in_conversation`] (a part of its first message) fit. [`Reply::times`] and [`Reply::forever`] let one serve several requests.
//!   When none is left the answer is the text [`EXHAUSTED`].
//! - Requests without tools (titles and the like) are answered by themselves and use up nothing.
//! - A request with `"stream": true` gets server-sent events, any other the same message as one JSON
//!   document: the CLI asks again that way after a connection is lost in mid-stream.
//! - [`Stub::requests`] gives the bodies of the requests with tools so far; [`Stub::wait_for`] waits for them.
//! - Dropping the stub ends hanging replies and stops listening.

#[path = "stub_http.rs"]
mod http;
#[path = "stub_message.rs"]
mod message;
#[path = "stub_reply.rs"]
mod reply;

pub use reply::Reply;
use reply::{Block, How};

use http::{begin_events, document, event, read_request, send_document};
use message::{Built, Message};
use serde_json::{Value, json};
use std::io::{BufReader, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What is said when the script has come to its end.
pub const EXHAUSTED: &str = "STUB: the script has come to its end";

pub struct Stub {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<Script>,
    changed: Condvar,
}

struct Script {
    replies: Vec<Reply>,
    requests: Vec<Value>,
    next_id: u64,
    over: bool,
}

#[allow(dead_code)]
impl Stub {
    /// Listens on a free port with this script.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Mutex::new(Script {
                replies: replies.into_iter().collect(),
                requests: Vec::new(),
                next_id: 1,
                over: false,
            }),
            changed: Condvar::new(),
        });
        let for_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if for_thread.lock().over {
                    break;
                }
                let shared = Arc::clone(&for_thread);
                // An error is the client's going away.
                std::thread::spawn(move || shared.serve(stream).ok());
            }
        });
        Self { address, shared }
    }

    /// For `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds replies to the end of the script.
    pub fn push(&self, replies: impl IntoIterator<Item = Reply>) {
        self.shared.lock().replies.extend(replies);
    }

    /// Bodies of the requests with tools so far, in order.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.lock().requests.clone()
    }

    /// Waits until there were `count` requests with tools; gives their bodies. Panics after a minute.
    pub fn wait_for(&self, count: usize) -> Vec<Value> {
        let until = Instant::now() + Duration::from_secs(60);
        let mut script = self.shared.lock();
        while script.requests.len() < count {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "only {} of {count} requests came", script.requests.len());
            script = self.shared.changed.wait_timeout(script, left).unwrap().0;
        }
        script.requests.clone()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        // Wakes the listener, which then sees that it is over.
        TcpStream::connect(self.address).ok();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn serve(&self, stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut input = BufReader::new(stream.try_clone()?);
        let mut output = stream;
        while let Some(request) = read_request(&mut input)? {
            let path = request.path.split('?').next().unwrap_or("");
            match (request.method.as_str(), path) {
                ("HEAD", _) => output.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")?,
                ("POST", "/v1/messages") => {
                    let text = String::from_utf8_lossy(&request.body).into_owned();
                    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
                    let reply = self.pick(&body, &text);
                    if self.answer(&mut output, &reply, &body)? == Connection::Dropped {
                        return output.shutdown(Shutdown::Both);
                    }
                }
                ("POST", "/v1/messages/count_tokens") => {
                    document(&mut output, 200, &json!({"input_tokens": request.body.len() / 4 + 1}), &[])?;
                }
                _ => document(&mut output, 200, &json!({"data": [], "has_more": false}), &[])?,
            }
        }
        Ok(())
    }

    fn pick(&self, body: &Value, text: &str) -> Reply {
        let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
        if !has_tools {
            return Reply::text("{\"title\":\"A title\"}");
        }
        let mut script = self.lock();
        script.requests.push(body.clone());
        self.changed.notify_all();
        let found = script.replies.iter_mut().find(|reply| {
            let when = reply.when.as_ref().is_none_or(|part| text.contains(part.as_str()));
            let first = || body["messages"][0].to_string();
            reply.left != Some(0) && when && reply.first.as_ref().is_none_or(|part| first().contains(part.as_str()))
        });
        found.map_or_else(
            || Reply::text(EXHAUSTED),
            |reply| {
                reply.left = reply.left.map(|left| left - 1);
                reply.clone().filled(text)
            },
        )
    }

    fn id(&self, kind: &str) -> String {
        let mut script = self.lock();
        script.next_id += 1;
        format!("{kind}_stub_{:06}", script.next_id)
    }

    fn answer(&self, to: &mut TcpStream, reply: &Reply, request: &Value) -> Result<Connection> {
        match reply.how {
            How::DropBefore => return Ok(Connection::Dropped),
            How::Status(status) => {
                let message = reply.message.clone().unwrap_or_else(|| format!("stub error {status}"));
                let error = json!({"type": "error", "error": {"type": error_type(status), "message": message}});
                document(to, status, &error, &reply.headers)?;
                return Ok(Connection::Kept);
            }
            How::Silent => return Ok(self.hang()),
            How::Message | How::DropInText | How::Hang => {}
        }
        let model = request["model"].as_str().unwrap_or("stub-model");
        let start = Message { id: self.id("msg"), model: model.to_owned(), input_tokens: reply.input_tokens };
        let blocks: Vec<Built> = reply.blocks.iter().map(|block| Built::new(block, || self.id("toolu"))).collect();
        let stop = reply.stop_reason.unwrap_or_else(|| {
            let calls = |block: &Block| matches!(block, Block::Tool { .. });
            if reply.blocks.iter().any(calls) { "tool_use" } else { "end_turn" }
        });
        if request["stream"] == Value::Bool(true) {
            return self.stream(to, reply, &start, &blocks, stop);
        }
        let content: Vec<&str> = blocks.iter().map(|block| block.whole.as_str()).collect();
        let message = start.json(&content.join(","), &format!("\"{stop}\""), 20);
        send_document(to, 200, &message, &reply.headers)?;
        Ok(Connection::Kept)
    }

    /// Waits until the stub is dropped.
    fn hang(&self) -> Connection {
        let mut script = self.lock();
        while !script.over {
            script = self.changed.wait(script).unwrap();
        }
        Connection::Dropped
    }

    /// The message as server-sent events.
    fn stream(
        &self,
        to: &mut TcpStream,
        reply: &Reply,
        start: &Message,
        blocks: &[Built],
        stop: &str,
    ) -> Result<Connection> {
        begin_events(to, &reply.headers)?;
        let message = start.json("", "null", 1);
        event(to, "message_start", &format!(r#""message":{message}"#))?;
        if reply.how == How::Hang {
            return Ok(self.hang());
        }
        for (index, block) in blocks.iter().enumerate() {
            let at = format!(r#""index":{index}"#);
            event(to, "content_block_start", &format!(r#"{at},"content_block":{}"#, block.empty))?;
            let mut deltas = block.deltas(reply.pace.chars);
            if reply.how == How::DropInText {
                deltas.truncate(deltas.len().div_ceil(2));
            }
            for delta in deltas {
                event(to, "content_block_delta", &format!(r#"{at},"delta":{delta}"#))?;
                std::thread::sleep(reply.pace.pause);
            }
            if reply.how == How::DropInText {
                return Ok(Connection::Dropped);
            }
            event(to, "content_block_stop", &at)?;
        }
        event(
            to,
            "message_delta",
            &format!(r#""delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":20}}"#),
        )?;
        event(to, "message_stop", r#""stopped":true"#)?;
        to.write_all(b"0\r\n\r\n")?;
        Ok(Connection::Kept)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    Kept,
    Dropped,
}

fn error_type(status: u16) -> &'static str {
    match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    }
}
