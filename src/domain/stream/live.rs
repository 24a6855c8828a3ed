//! `stream_event`: the words while they are being said. Provisional: an attempt that is lost in
//! mid-stream is sent again without any retraction, so whole records replace whatever was shown.

use super::raw::{Raw, object, text, word};
use crate::domain::scrollback::LiveChange;
use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    delta: Raw<'a>,
    content_block: Raw<'a>,
    usage: Raw<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    text: Raw<'a>,
    thinking: Raw<'a>,
    name: Raw<'a>,
}

/// Tells `apply` what the event changes in the live tail, if anything. Gives the event's `usage`
/// (a `message_delta`'s: the true output tokens of the request).
pub fn change<'a>(event: Raw<'a>, apply: impl FnOnce(LiveChange<'_>)) -> Raw<'a> {
    let event: Event<'a> = object(event)?;
    match word(event.kind) {
        // A new attempt: whatever is left of the last one was lost.
        "message_start" => apply(LiveChange::Clear),
        "content_block_start" => {
            if let Some(block) = object::<Delta<'_>>(event.content_block)
                && word(block.kind) == "tool_use"
                && let Some(name) = text(block.name)
            {
                apply(LiveChange::Tool(&name));
            }
        }
        "content_block_delta" => {
            if let Some(delta) = object::<Delta<'_>>(event.delta) {
                if let Some(words) = text(delta.text) {
                    apply(LiveChange::Text(&words));
                } else if let Some(thoughts) = text(delta.thinking) {
                    apply(LiveChange::Thinking(&thoughts));
                }
            }
        }
        _ => {}
    }
    event.usage
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

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
            ("17", ""),
        ];
        for (json, expected) in cases {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            let mut seen = String::new();
            change(Some(&raw), |change| seen = format!("{change:?}"));
            assert_eq!(seen, expected, "{json}");
        }
    }
}
