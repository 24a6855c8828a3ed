//! Messages of the stub as JSON text, whole and in deltas. Text, not values: a block may hold half an emoji.

use super::reply::Block;
use serde_json::{Value, json};

pub struct Message {
    pub id: String,
    pub model: String,
    /// What the request is said to have cost.
    pub input_tokens: u64,
}

impl Message {
    pub fn json(&self, content: &str, stop_reason: &str, output_tokens: u64) -> String {
        format!(
            r#"{{"id":"{}","type":"message","role":"assistant","model":"{}","content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{"input_tokens":{},"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":{output_tokens},"service_tier":"standard"}}}}"#,
            self.id, self.model, self.input_tokens
        )
    }
}

/// A block, ready to be sent whole or in pieces.
pub struct Built {
    pub whole: String,
    /// The block before its deltas.
    pub empty: String,
    delta: (&'static str, &'static str),
    literal: String,
}

impl Built {
    /// Builds a block; `id` makes the id of a call.
    pub fn new(block: &Block, id: impl FnOnce() -> String) -> Self {
        match block {
            Block::Text(literal) => Self {
                whole: format!(r#"{{"type":"text","text":{literal}}}"#),
                empty: r#"{"type":"text","text":""}"#.into(),
                delta: ("text_delta", "text"),
                literal: literal.clone(),
            },
            Block::Thinking(text) => Self {
                whole: json!({"type": "thinking", "thinking": text, "signature": "c3R1Yg=="}).to_string(),
                empty: r#"{"type":"thinking","thinking":"","signature":""}"#.into(),
                delta: ("thinking_delta", "thinking"),
                literal: Value::from(text.as_str()).to_string(),
            },
            Block::Tool { name, input } => {
                let id = id();
                Self {
                    whole: format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{input}}}"#),
                    empty: format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#),
                    delta: ("input_json_delta", "partial_json"),
                    literal: Value::from(input.as_str()).to_string(),
                }
            }
        }
    }

    /// The block's deltas of `chars` characters; a literal that no Rust string can hold goes in one.
    pub fn deltas(&self, chars: usize) -> Vec<String> {
        let (kind, field) = self.delta;
        let delta = |literal: &str| format!(r#"{{"type":"{kind}","{field}":{literal}}}"#);
        let Ok(text) = serde_json::from_str::<String>(&self.literal) else { return vec![delta(&self.literal)] };
        let text: Vec<char> = text.chars().collect();
        text.chunks(chars.max(1)).map(|part| delta(&Value::from(part.iter().collect::<String>()).to_string())).collect()
    }
}
