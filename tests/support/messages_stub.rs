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
//!   the request's body) fits. [`Reply::times`] and [`Reply::forever`] let one serve several requests.
//!   When none is left the answer is the text [`EXHAUSTED`].
//! - Requests without tools (titles and the like) are answered by themselves and use up nothing.
//! - A request with `"stream": true` gets server-sent events, any other the same message as one JSON
//!   document: the CLI asks again that way after a connection is lost in mid-stream.
//! - [`Stub::requests`] gives the bodies of the requests with tools so far; [`Stub::wait_for`] waits for them.
//! - Dropping the stub ends hanging replies and stops listening.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// What is said when the script has come to its end.
pub const EXHAUSTED: &str = "STUB: the script has come to its end";

/// One scripted answer.
#[derive(Clone, Debug)]
pub struct Reply {
    how: How,
    blocks: Vec<Block>,
    headers: Vec<(String, String)>,
    when: Option<String>,
    left: Option<u32>,
    pace: Pace,
    stop_reason: Option<&'static str>,
    input_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Message,
    Status(u16),
    DropBefore,
    DropInText,
    Hang,
}

#[derive(Clone, Debug)]
enum Block {
    /// A JSON string literal, so that it may hold what no Rust string can.
    Text(String),
    Thinking(String),
    Tool {
        name: String,
        input: String,
    },
}

#[derive(Clone, Copy, Debug)]
struct Pace {
    chars: usize,
    pause: Duration,
}

#[allow(dead_code)] // Each test program that includes this file uses a part of it.
impl Reply {
    fn new(how: How, blocks: Vec<Block>) -> Self {
        Self {
            how,
            blocks,
            headers: Vec::new(),
            when: None,
            left: Some(1),
            pace: Pace {
                chars: 400,
                pause: Duration::ZERO,
            },
            stop_reason: None,
            input_tokens: 100,
        }
    }

    /// The model says `text`.
    pub fn text(text: &str) -> Self {
        Self::text_json(&Value::from(text).to_string())
    }

    /// The model says this JSON string literal (`"cut \ud83c"`), whatever it holds.
    pub fn text_json(literal: &str) -> Self {
        Self::new(How::Message, vec![Block::Text(literal.to_owned())])
    }

    /// The model thinks, then what is added says more.
    pub fn thinking(text: &str) -> Self {
        Self::new(How::Message, vec![Block::Thinking(text.to_owned())])
    }

    /// The model calls a tool.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::new(How::Message, Vec::new()).and_tool(name, input)
    }

    /// An API error with this HTTP status.
    pub fn status(status: u16) -> Self {
        Self::new(How::Status(status), Vec::new())
    }

    /// The connection is dropped before any answer.
    pub fn dropped() -> Self {
        Self::new(How::DropBefore, Vec::new())
    }

    /// The connection is dropped in the middle of this text.
    pub fn dropped_in(text: &str) -> Self {
        Self {
            how: How::DropInText,
            ..Self::text(text)
        }
    }

    /// The answer begins and never goes on.
    pub fn hang() -> Self {
        Self::new(How::Hang, Vec::new())
    }

    /// Adds a text block.
    pub fn and_text(mut self, text: &str) -> Self {
        self.blocks.push(Block::Text(Value::from(text).to_string()));
        self
    }

    /// Adds a tool call.
    #[allow(clippy::needless_pass_by_value)] // `json!` makes values, and they read best in place.
    pub fn and_tool(mut self, name: &str, input: Value) -> Self {
        self.blocks.push(Block::Tool {
            name: name.to_owned(),
            input: input.to_string(),
        });
        self
    }

    /// Adds an HTTP header to the answer.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Only for a request whose body contains `part`.
    pub fn when(mut self, part: &str) -> Self {
        self.when = Some(part.to_owned());
        self
    }

    /// For so many requests.
    pub fn times(mut self, times: u32) -> Self {
        self.left = Some(times);
        self
    }

    /// For all requests from here on.
    pub fn forever(mut self) -> Self {
        self.left = None;
        self
    }

    /// Streams `chars` characters at a time with a pause between.
    pub fn slowly(mut self, chars: usize, pause: Duration) -> Self {
        self.pace = Pace { chars, pause };
        self
    }

    /// Ends with another `stop_reason` than the usual one.
    pub fn stop_reason(mut self, reason: &'static str) -> Self {
        self.stop_reason = Some(reason);
        self
    }

    /// Claims that the request had so many input tokens.
    pub fn input_tokens(mut self, tokens: u64) -> Self {
        self.input_tokens = tokens;
        self
    }
}

/// A listening stub.
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
            assert!(
                !left.is_zero(),
                "only {} of {count} requests came",
                script.requests.len()
            );
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

struct Request {
    method: String,
    path: String,
    body: Vec<u8>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
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
                    document(
                        &mut output,
                        200,
                        &json!({"input_tokens": request.body.len() / 4 + 1}),
                        &[],
                    )?;
                }
                _ => document(
                    &mut output,
                    200,
                    &json!({"data": [], "has_more": false}),
                    &[],
                )?,
            }
        }
        Ok(())
    }

    fn pick(&self, body: &Value, text: &str) -> Reply {
        let has_tools = body["tools"]
            .as_array()
            .is_some_and(|tools| !tools.is_empty());
        if !has_tools {
            return Reply::text("{\"title\":\"A title\"}");
        }
        let mut script = self.lock();
        script.requests.push(body.clone());
        self.changed.notify_all();
        let found = script.replies.iter_mut().find(|reply| {
            reply.left != Some(0)
                && reply
                    .when
                    .as_ref()
                    .is_none_or(|part| text.contains(part.as_str()))
        });
        found.map_or_else(
            || Reply::text(EXHAUSTED),
            |reply| {
                reply.left = reply.left.map(|left| left - 1);
                reply.clone()
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
                let error = json!({"type": "error", "error": {
                    "type": error_type(status), "message": format!("stub error {status}")}});
                document(to, status, &error, &reply.headers)?;
                return Ok(Connection::Kept);
            }
            How::Message | How::DropInText | How::Hang => {}
        }
        let model = request["model"].as_str().unwrap_or("stub-model");
        let start = Message {
            id: self.id("msg"),
            model: model.to_owned(),
            input_tokens: reply.input_tokens,
        };
        let blocks: Vec<Built> = reply.blocks.iter().map(|block| self.build(block)).collect();
        let stop = reply.stop_reason.unwrap_or_else(|| {
            let calls = |block: &Block| matches!(block, Block::Tool { .. });
            if reply.blocks.iter().any(calls) {
                "tool_use"
            } else {
                "end_turn"
            }
        });
        if request["stream"] == Value::Bool(true) {
            return self.stream(to, reply, &start, &blocks, stop);
        }
        let content: Vec<&str> = blocks.iter().map(|block| block.whole.as_str()).collect();
        let message = start.json(&content.join(","), &format!("\"{stop}\""), 20);
        send_document(to, 200, &message, &reply.headers)?;
        Ok(Connection::Kept)
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
        let mut head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\
             cache-control: no-cache\r\ntransfer-encoding: chunked\r\n"
            .to_owned();
        for (name, value) in &reply.headers {
            head += &format!("{name}: {value}\r\n");
        }
        to.write_all(format!("{head}\r\n").as_bytes())?;
        let message = start.json("", "null", 1);
        event(to, "message_start", &format!(r#""message":{message}"#))?;
        if reply.how == How::Hang {
            let mut script = self.lock();
            while !script.over {
                script = self.changed.wait(script).unwrap();
            }
            return Ok(Connection::Dropped);
        }
        for (index, block) in blocks.iter().enumerate() {
            let at = format!(r#""index":{index}"#);
            event(
                to,
                "content_block_start",
                &format!(r#"{at},"content_block":{}"#, block.empty),
            )?;
            let mut deltas = block.deltas(reply.pace.chars);
            if reply.how == How::DropInText {
                deltas.truncate(deltas.len().div_ceil(2));
            }
            for delta in deltas {
                event(
                    to,
                    "content_block_delta",
                    &format!(r#"{at},"delta":{delta}"#),
                )?;
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
            &format!(
                r#""delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":20}}"#
            ),
        )?;
        event(to, "message_stop", r#""stopped":true"#)?;
        to.write_all(b"0\r\n\r\n")?;
        Ok(Connection::Kept)
    }

    fn build(&self, block: &Block) -> Built {
        match block {
            Block::Text(literal) => Built {
                whole: format!(r#"{{"type":"text","text":{literal}}}"#),
                empty: r#"{"type":"text","text":""}"#.into(),
                delta: ("text_delta", "text"),
                literal: literal.clone(),
            },
            Block::Thinking(text) => Built {
                whole: json!({"type": "thinking", "thinking": text, "signature": "c3R1Yg=="})
                    .to_string(),
                empty: r#"{"type":"thinking","thinking":"","signature":""}"#.into(),
                delta: ("thinking_delta", "thinking"),
                literal: Value::from(text.as_str()).to_string(),
            },
            Block::Tool { name, input } => {
                let id = self.id("toolu");
                Built {
                    whole: format!(
                        r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#
                    ),
                    empty: format!(
                        r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#
                    ),
                    delta: ("input_json_delta", "partial_json"),
                    literal: Value::from(input.as_str()).to_string(),
                }
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Connection {
    Kept,
    Dropped,
}

struct Message {
    id: String,
    model: String,
    input_tokens: u64,
}

impl Message {
    fn json(&self, content: &str, stop_reason: &str, output_tokens: u64) -> String {
        format!(
            r#"{{"id":"{}","type":"message","role":"assistant","model":"{}","content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{"input_tokens":{},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output_tokens},"service_tier":"standard"}}}}"#,
            self.id, self.model, self.input_tokens
        )
    }
}

/// A block, ready to be sent whole or in pieces.
struct Built {
    whole: String,
    empty: String,
    delta: (&'static str, &'static str),
    literal: String,
}

impl Built {
    /// The block's deltas of `chars` characters; a literal that no Rust string can hold goes in one.
    fn deltas(&self, chars: usize) -> Vec<String> {
        let (kind, field) = self.delta;
        let delta = |literal: &str| format!(r#"{{"type":"{kind}","{field}":{literal}}}"#);
        let Ok(text) = serde_json::from_str::<String>(&self.literal) else {
            return vec![delta(&self.literal)];
        };
        let text: Vec<char> = text.chars().collect();
        text.chunks(chars.max(1))
            .map(|part| delta(&Value::from(part.iter().collect::<String>()).to_string()))
            .collect()
    }
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

/// One event as one chunk.
fn event(to: &mut TcpStream, name: &str, fields: &str) -> Result<()> {
    let event = format!("event: {name}\ndata: {{\"type\":\"{name}\",{fields}}}\n\n");
    to.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}

fn document(
    to: &mut TcpStream,
    status: u16,
    body: &Value,
    headers: &[(String, String)],
) -> Result<()> {
    send_document(to, status, &body.to_string(), headers)
}

fn send_document(
    to: &mut TcpStream,
    status: u16,
    body: &str,
    headers: &[(String, String)],
) -> Result<()> {
    let mut head = format!(
        "HTTP/1.1 {status} Stub\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    to.write_all(format!("{head}\r\n{body}").as_bytes())
}

/// Reads one request; `None` when the client has closed the connection.
fn read_request(input: &mut impl BufRead) -> Result<Option<Request>> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        input.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => {
                length = value.trim().parse().map_err(|_| ErrorKind::InvalidData)?
            }
            "transfer-encoding" => chunked = value.to_ascii_lowercase().contains("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if chunked {
        loop {
            let mut size = String::new();
            input.read_line(&mut size)?;
            let size = u64::from_str_radix(size.trim().split(';').next().unwrap_or(""), 16)
                .map_err(|_| ErrorKind::InvalidData)?;
            input.take(size).read_to_end(&mut body)?;
            input.read_line(&mut String::new())?;
            if size == 0 {
                break;
            }
        }
    } else {
        input.take(length).read_to_end(&mut body)?;
    }
    Ok(Some(Request { method, path, body }))
}
