//! One scripted answer of the Messages stub: what a test says about it.

use serde_json::Value;
use std::time::Duration;

/// Stands for the file of a plan, which the request names.
const PLAN_FILE: &str = "{plan file}";

/// One scripted answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub how: How,
    pub blocks: Vec<Block>,
    pub headers: Vec<(String, String)>,
    pub when: Option<String>,
    pub first: Option<String>,
    pub left: Option<u32>,
    pub pace: Pace,
    pub stop_reason: Option<&'static str>,
    pub input_tokens: u64,
    pub message: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Message,
    Status(u16),
    DropBefore,
    DropInText,
    Hang,
    Silent,
}

#[derive(Clone, Debug)]
pub enum Block {
    /// A JSON string literal, so that it may hold what no Rust string can.
    Text(String),
    Thinking(String),
    Tool {
        name: String,
        input: String,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub chars: usize,
    pub pause: Duration,
}

#[allow(dead_code)] // Each test program that includes this file uses a part of it.
impl Reply {
    fn new(how: How, blocks: Vec<Block>) -> Self {
        Self {
            how,
            blocks,
            headers: Vec::new(),
            when: None,
            first: None,
            left: Some(1),
            pace: Pace { chars: 400, pause: Duration::ZERO },
            stop_reason: None,
            input_tokens: 100,
            message: None,
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

    /// The model writes its plan into the file that the request names for it.
    pub fn plan(text: &str) -> Self {
        Self::tool("Write", serde_json::json!({"file_path": PLAN_FILE, "content": text}))
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
        Self { how: How::DropInText, ..Self::text(text) }
    }

    /// The answer begins and never goes on.
    pub fn hang() -> Self {
        Self::new(How::Hang, Vec::new())
    }

    /// The request is taken, and no byte is ever answered.
    pub fn silent() -> Self {
        Self::new(How::Silent, Vec::new())
    }

    /// Adds a text block.
    pub fn and_text(mut self, text: &str) -> Self {
        self.blocks.push(Block::Text(Value::from(text).to_string()));
        self
    }

    /// Adds a tool call.
    #[allow(clippy::needless_pass_by_value)] // `json!` makes values, and they read best in place.
    pub fn and_tool(mut self, name: &str, input: Value) -> Self {
        self.blocks.push(Block::Tool { name: name.to_owned(), input: input.to_string() });
        self
    }

    /// An API error says this.
    pub fn message(mut self, text: &str) -> Self {
        self.message = Some(text.to_owned());
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

    /// Only for the conversation whose first message contains `part`: a subagent's begins with its prompt.
    pub fn in_conversation(mut self, part: &str) -> Self {
        self.first = Some(part.to_owned());
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

    /// The same for a request with this body: what only the request knows is filled in.
    pub fn filled(mut self, body: &str) -> Self {
        for block in &mut self.blocks {
            if let Block::Tool { input, .. } = block
                && input.contains(PLAN_FILE)
            {
                *input = input.replace(PLAN_FILE, plan_file(body).unwrap_or_default());
            }
        }
        self
    }
}

/// The path below `.claude/plans` that stands in a text.
fn plan_file(text: &str) -> Option<&str> {
    let at = text.find("/.claude/plans/")?;
    let start = text[..at].rfind(|c: char| c.is_whitespace() || "\"'`(\\".contains(c)).map_or(0, |before| before + 1);
    let end = at + text[at..].find(".md")? + ".md".len();
    Some(&text[start..end])
}
