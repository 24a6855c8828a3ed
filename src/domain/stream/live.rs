//! `stream_event`: the words while they are being said. Provisional: an attempt that is lost in
//! mid-stream is sent again without any retraction, so whole records replace whatever was shown.

use super::raw::{Inner, Raw, text, word};
use crate::domain::scrollback::LiveChange;
use serde::Deserialize;

/// An event of the API.
#[derive(Debug, Default, Deserialize)]
pub struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    delta: Inner<Delta<'a>>,
    #[serde(borrow, default)]
    content_block: Inner<Delta<'a>>,
    usage: Raw<'a>,
}

#[derive(Debug, Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    text: Raw<'a>,
    thinking: Raw<'a>,
    name: Raw<'a>,
}

/// Tells `apply` what the event changes in the live tail, if anything. Gives the event's `usage`
/// (a `message_delta`'s: the true output tokens of the request).
pub fn change<'a>(event: &Event<'a>, apply: impl FnOnce(LiveChange<'_>)) -> Raw<'a> {
    match word(event.kind) {
        // A new attempt: whatever is left of the last one was lost.
        "message_start" => apply(LiveChange::Clear),
        "content_block_start" => {
            let Inner(block) = &event.content_block;
            if word(block.kind) == "tool_use"
                && let Some(name) = text(block.name)
            {
                apply(LiveChange::Tool(&name));
            }
        }
        "content_block_delta" => {
            let Inner(delta) = &event.delta;
            if let Some(words) = text(delta.text) {
                apply(LiveChange::Text(&words));
            } else if let Some(thoughts) = text(delta.thinking) {
                apply(LiveChange::Thinking(&thoughts));
            }
        }
        _ => {}
    }
    event.usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_become_changes() {
        let cases = [
            (r#"{"type":"message_start","message":{}}"#, "Clear"),
            (r#"{"type":"content_block_start","content_block":{"type":"text","text":""}}"#, ""),
            (r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"Bash"}}"#, "Tool(\"Bash\")"),
            (r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}"#, "Text(\"hi\")"),
            (r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"\ud83c"}}"#, "Text(\"\u{fffd}\")"),
            (r#"{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"hm"}}"#, "Thinking(\"hm\")"),
            (r#"{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}}"#, ""),
            (r#"{"type":"ping"}"#, ""),
            (r#"{"type":"content_block_delta","delta":[{"text":"hi"}]}"#, ""),
            ("17", ""),
        ];
        for (json, expected) in cases {
            let Inner(event) = serde_json::from_str(json).unwrap();
            let mut seen = String::new();
            change(&event, |change| seen = format!("{change:?}"));
            assert_eq!(seen, expected, "{json}");
        }
    }
}
