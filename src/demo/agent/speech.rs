//! Claude's messages: blocks of text, thinking and tool calls, streamed in pieces and then printed whole.
//!
//! Owns the order of partial records: a block's `assistant` record comes before its `content_block_stop`.

use super::line;
use super::session::{OpenMessage, Session};
use super::tally::End;
use serde_json::{Value, json};
use std::time::Duration;

/// Between two pieces of text at pace 1, in milliseconds.
const PIECE_MS: u32 = 50;
/// Before a message's first byte at pace 1, in milliseconds.
const FIRST_BYTE_MS: u32 = 600;

/// How a block reaches the host.
#[derive(Clone, Copy, Debug)]
enum Rhythm {
    /// A few words at a time, at the script's pace.
    Words,
    /// A character every so many milliseconds.
    Drip(u64),
    Whole,
}

impl Session {
    pub(super) fn say(&mut self, text: &str) -> Result<(), End> {
        self.block(&json!({"type": "text", "text": text}), Rhythm::Words)
    }

    pub(super) fn say_whole(&mut self, text: &str) -> Result<(), End> {
        self.block(&json!({"type": "text", "text": text}), Rhythm::Whole)
    }

    /// Says `text` a character at a time.
    pub(super) fn drip(&mut self, text: &str, every_ms: u64) -> Result<(), End> {
        self.block(&json!({"type": "text", "text": text}), Rhythm::Drip(every_ms))
    }

    pub(super) fn think(&mut self, text: &str) -> Result<(), End> {
        self.block(&json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0"}), Rhythm::Words)
    }

    pub(super) fn call_for(&mut self, id: &str, name: &str, input: &Value) -> Result<(), End> {
        self.block(&json!({"type": "tool_use", "id": id, "name": name, "input": input}), Rhythm::Whole)
    }

    /// Ends the message, if one is open.
    pub(super) fn close_message(&mut self, stop_reason: &str) {
        if self.open.take().is_some() {
            let usage = json!({"output_tokens": self.book.settle()});
            self.partial(
                &json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
                                 "usage": usage}),
            );
            self.partial(&json!({"type": "message_stop"}));
        }
    }

    /// Half a record, without a newline.
    pub(super) fn half_a_record(&mut self) {
        let message = self.book.message_start("msg_half", &self.host.model);
        let record = self.book.assistant(&message, &json!({"type": "text", "text": "cut off in the mid"}), "req_half");
        let line = record.to_string();
        self.host.emit_raw(&line.as_bytes()[..line.len() / 2]);
    }

    fn block(&mut self, block: &Value, rhythm: Rhythm) -> Result<(), End> {
        self.open_message()?;
        let index = self.open.as_ref().map_or(0, |open| open.blocks);
        let (key, delta, empty) = match block["type"].as_str() {
            Some("thinking") => {
                ("thinking", "thinking_delta", json!({"type": "thinking", "thinking": "", "signature": ""}))
            }
            Some("tool_use") => (
                "partial_json",
                "input_json_delta",
                json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
            ),
            _ => ("text", "text_delta", json!({"type": "text", "text": ""})),
        };
        let whole = block[key].as_str().map_or_else(|| block["input"].to_string(), str::to_owned);
        self.partial(&json!({"type": "content_block_start", "index": index, "content_block": empty}));
        let (mut said, mut tokens) = (String::new(), 0);
        for piece in pieces(&whole, rhythm) {
            let pause = match rhythm {
                Rhythm::Words => self.pause(PIECE_MS),
                Rhythm::Drip(ms) => self.host.rest(Duration::from_millis(ms)).map_err(|_| End::AbortedStreaming),
                Rhythm::Whole => self.pause(0),
            };
            if let Err(end) = pause {
                if key == "text" && !said.is_empty() {
                    self.print_block(&json!({"type": "text", "text": said}));
                }
                return Err(end);
            }
            if key == "thinking" {
                let more = piece.len() as u64 / 4 + 1;
                tokens += more;
                let fields = json!({"estimated_tokens": tokens, "estimated_tokens_delta": more});
                self.host.emit(&self.book.system("thinking_tokens", fields));
            }
            self.partial(&json!({"type": "content_block_delta", "index": index, "delta": {"type": delta, key: piece}}));
            said.push_str(piece);
        }
        if key == "thinking" {
            let signature = json!({"type": "signature_delta", "signature": block["signature"]});
            self.partial(&json!({"type": "content_block_delta", "index": index, "delta": signature}));
        }
        self.print_block(block);
        self.partial(&json!({"type": "content_block_stop", "index": index}));
        if let Some(open) = &mut self.open {
            open.blocks += 1;
        }
        Ok(())
    }

    fn open_message(&mut self) -> Result<(), End> {
        if self.open.is_some() {
            return Ok(());
        }
        if self.partial && self.book.within.is_none() {
            self.host.emit(&self.book.system("status", json!({"status": "requesting"})));
        }
        self.pause(FIRST_BYTE_MS)?;
        let id = format!("msg_{}", line::uuid().replace('-', ""));
        let message = self.book.message_start(&id, &self.host.model);
        if self.partial && self.book.within.is_none() {
            let mut event = self.book.stream_event(&json!({"type": "message_start", "message": message}));
            event["ttft_ms"] = json!(9);
            self.host.emit(&event);
        }
        let request_id = format!("req_{}", line::uuid().replace('-', ""));
        self.open = Some(OpenMessage { message, request_id, blocks: 0 });
        Ok(())
    }

    fn print_block(&mut self, block: &Value) {
        // Words of a subagent are told only where it works in the background.
        let silent = self.book.within.as_ref().is_some_and(|within| !within.background) && block["type"] == "text";
        if let Some(open) = &self.open {
            let record = self.book.assistant(&open.message, block, &open.request_id);
            if !silent {
                self.host.emit(&record);
            }
        }
    }

    fn partial(&self, event: &Value) {
        if self.partial && self.book.within.is_none() {
            self.host.emit(&self.book.stream_event(event));
        }
    }
}

fn pieces(text: &str, rhythm: Rhythm) -> Vec<&str> {
    let ends: Vec<usize> = match rhythm {
        Rhythm::Whole => vec![text.len()],
        Rhythm::Drip(_) => text.char_indices().map(|(at, c)| at + c.len_utf8()).collect(),
        Rhythm::Words => {
            let mut ends = Vec::new();
            let mut at = 0;
            for word in text.split_inclusive([' ', '\n']) {
                at += word.len();
                if at - ends.last().unwrap_or(&0) > 9 || at == text.len() {
                    ends.push(at);
                }
            }
            ends
        }
    };
    let mut start = 0;
    ends.into_iter().map(|end| &text[std::mem::replace(&mut start, end)..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_text() {
        for text in ["", "a", "One line of words,\nand äöü another one. ", "x".repeat(100).as_str()] {
            for rhythm in [Rhythm::Words, Rhythm::Drip(1), Rhythm::Whole] {
                assert_eq!(pieces(text, rhythm).concat(), text);
            }
        }
        assert_eq!(pieces("One line of words", Rhythm::Words), ["One line of ", "words"]);
    }
}
