//! One turn of Claude, gathered record by record until its `result`.
//!
//! The text is the main agent's alone: never tool results, never subagents, never what was only said
//! in deltas. What the turn means is the orchestrator's.

use super::envelope::Envelope;
use super::message::{Block, Content, Message};
use super::raw::{Raw, count, flag, number, object, some_string, string, text, word};
use crate::base::text::tail;
use crate::domain::denial::Denial;
use crate::domain::limits::reset_text;
use crate::domain::turn::{Origin, TurnResult, Usage};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Text kept of one turn, in bytes; of more, the end is kept (the status block is there).
const MAX_TEXT: usize = 1 << 20;

/// Gathers turns of one process.
#[derive(Debug, Default)]
pub struct TurnReader {
    text: String,
    synthetic: String,
    error_kind: Option<String>,
    context: Option<u64>,
    model: String,
    spent: Usage,
}

/// A tool that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEnd {
    pub tool_use_id: String,
    pub is_error: bool,
    /// Claude itself refused the call: no such tool, an input that does not fit, not carried out after all.
    pub refused: bool,
    /// It was let run by Claude's own configuration: nobody was asked.
    pub unasked: bool,
}

#[derive(Deserialize)]
struct TokenCounts<'a> {
    #[serde(borrow, rename = "input_tokens")]
    input: Raw<'a>,
    #[serde(borrow, rename = "output_tokens")]
    output: Raw<'a>,
    #[serde(borrow, rename = "cache_read_input_tokens")]
    cache_read: Raw<'a>,
    #[serde(borrow, rename = "cache_creation_input_tokens")]
    cache_write: Raw<'a>,
}

impl TokenCounts<'_> {
    fn usage(&self) -> Usage {
        Usage {
            input: count(self.input).unwrap_or(0),
            output: count(self.output).unwrap_or(0),
            cache_read: count(self.cache_read).unwrap_or(0),
            cache_write: count(self.cache_write).unwrap_or(0),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ModelCounts<'a> {
    #[serde(borrow)]
    input_tokens: Raw<'a>,
    output_tokens: Raw<'a>,
    cache_read_input_tokens: Raw<'a>,
    cache_creation_input_tokens: Raw<'a>,
    context_window: Raw<'a>,
}

#[derive(Deserialize)]
struct ResultRecord<'a> {
    #[serde(borrow)]
    is_error: Raw<'a>,
    api_error_status: Raw<'a>,
    result: Raw<'a>,
    errors: Raw<'a>,
    terminal_reason: Raw<'a>,
    total_cost_usd: Raw<'a>,
    usage: Raw<'a>,
    #[serde(borrow, rename = "modelUsage")]
    model_usage: Raw<'a>,
    permission_denials: Raw<'a>,
    origin: Raw<'a>,
}

/// `origin` of a `result`.
#[derive(Deserialize)]
struct Began<'a> {
    #[serde(borrow)]
    kind: Raw<'a>,
}

/// `tool_result_meta`: who let a call run.
#[derive(Deserialize)]
struct Met<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    permission_decision: Raw<'a>,
}

#[derive(Deserialize)]
struct Permission<'a> {
    #[serde(borrow)]
    decision: Raw<'a>,
    source: Raw<'a>,
}

impl Met<'_> {
    /// Measured: `hook` is our callback's yes, `user_temporary` our answer to `can_use_tool`.
    fn is_unasked(&self) -> bool {
        object::<Permission<'_>>(self.permission_decision)
            .is_some_and(|said| word(said.decision) == "accept" && word(said.source) == "config")
    }
}

#[derive(Deserialize)]
struct Refused<'a> {
    #[serde(borrow, rename = "tool_name")]
    tool: Raw<'a>,
    #[serde(borrow, rename = "tool_use_id")]
    id: Raw<'a>,
    #[serde(borrow, rename = "tool_input")]
    input: Raw<'a>,
}

#[derive(Default, Deserialize)]
struct Command<'a> {
    #[serde(borrow)]
    command: Raw<'a>,
}

impl Refused<'_> {
    fn denial(&self) -> Denial {
        let command: Command<'_> = object(self.input).unwrap_or_default();
        Denial::new(&string(self.tool), &string(self.id), &string(command.command))
    }
}

impl TurnReader {
    /// `system/init`: the model whose context window counts.
    pub fn begin(&mut self, model: &str) {
        model.clone_into(&mut self.model);
    }

    /// An `assistant` record. The calls that it makes, also where it is a subagent's.
    pub fn assistant(&mut self, envelope: &Envelope<'_>) -> Vec<String> {
        let message = &envelope.message.0;
        if envelope.is_main() {
            self.said(envelope, message);
        }
        let calls = message.content.blocks().iter().filter(|block| word(block.kind) == "tool_use");
        calls.map(|block| string(block.id)).filter(|id| !id.is_empty()).collect()
    }

    /// The turn's text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn said(&mut self, envelope: &Envelope<'_>, message: &Message<'_>) {
        if word(message.model) == "<synthetic>" {
            self.error_kind = some_string(envelope.error).or(self.error_kind.take());
            gather(&message.content, &mut self.synthetic);
            return;
        }
        if let Some(kind) = some_string(envelope.error) {
            self.error_kind = Some(kind);
        }
        gather(&message.content, &mut self.text);
        if let Some(counts) = object::<TokenCounts<'_>>(message.usage) {
            let usage = counts.usage();
            self.context = Some(usage.input + usage.cache_read + usage.cache_write + usage.output);
        }
    }

    /// The usage of a `message_delta` of the main agent: the request's true output tokens.
    pub fn delta_usage(&mut self, usage: Raw<'_>) {
        let Some(output) = object::<TokenCounts<'_>>(usage).and_then(|counts| count(counts.output)) else { return };
        // It follows the request's last `assistant` record, which counted one output token.
        if let Some(context) = &mut self.context {
            *context += output.saturating_sub(1);
        }
    }

    /// A `result` record, whose whole line this is: the end of the turn.
    pub fn finish(&mut self, envelope: &Envelope<'_>, line: &str) -> TurnResult {
        let Ok(record) = serde_json::from_str::<ResultRecord<'_>>(line) else {
            return TurnResult { is_error: true, ..TurnResult::default() };
        };
        let models: BTreeMap<String, ModelCounts<'_>> = object(record.model_usage).unwrap_or_default();
        let subtype = envelope.subtype().to_owned();
        let is_error = flag(record.is_error).unwrap_or(subtype != "success");
        let mut message = some_string(record.result)
            .or_else(|| {
                object::<Vec<String>>(record.errors)
                    .map(|errors| errors.join("\n"))
                    .or_else(|| some_string(record.errors))
            })
            .unwrap_or_default();
        // Only what the CLI says itself can be about a limit: a model may write the same words.
        let limit = reset_text::read(&self.synthetic).or_else(|| {
            let is_own = is_error && !self.text.contains(&message);
            is_own.then(|| reset_text::read(&message)).flatten()
        });
        let is_error = is_error || (limit.is_some() && self.text.is_empty());
        if is_error && message.is_empty() {
            message.clone_from(&self.synthetic);
        }
        let refused = object::<Vec<Refused<'_>>>(record.permission_denials).unwrap_or_default();
        let refused: Vec<Denial> = refused.iter().map(Refused::denial).collect();
        let result = TurnResult {
            is_error,
            api_error_status: count(record.api_error_status).and_then(|status| u16::try_from(status).ok()),
            error_kind: self.error_kind.take(),
            text: tail(&std::mem::take(&mut self.text), MAX_TEXT).to_owned(),
            message,
            terminal_reason: some_string(record.terminal_reason),
            cost_usd: number(record.total_cost_usd).unwrap_or(0.0),
            usage: self.turn_usage(&models, record.usage),
            context: self.context,
            context_window: self.context_window(&models),
            denials: refused.iter().map(|denial| denial.shown().into_owned()).collect(),
            refused,
            subtype,
            limit,
            resets_at: None,
            origin: origin(record.origin),
        };
        self.synthetic.clear();
        result
    }

    /// What this turn cost. `modelUsage` counts everything (subagents, compaction, retries) over the
    /// whole process, `usage` only the main agent's streamed requests, so the difference is the truth.
    fn turn_usage(&mut self, models: &BTreeMap<String, ModelCounts<'_>>, usage: Raw<'_>) -> Usage {
        let mut total = Usage::default();
        for counts in models.values() {
            total.add(&Usage {
                input: count(counts.input_tokens).unwrap_or(0),
                output: count(counts.output_tokens).unwrap_or(0),
                cache_read: count(counts.cache_read_input_tokens).unwrap_or(0),
                cache_write: count(counts.cache_creation_input_tokens).unwrap_or(0),
            });
        }
        let turn = Usage {
            input: total.input.saturating_sub(self.spent.input),
            output: total.output.saturating_sub(self.spent.output),
            cache_read: total.cache_read.saturating_sub(self.spent.cache_read),
            cache_write: total.cache_write.saturating_sub(self.spent.cache_write),
        };
        if models.is_empty() {
            let turn = object::<TokenCounts<'_>>(usage).map(|counts| counts.usage()).unwrap_or_default();
            // The next figure over the whole process has it in it.
            self.spent.add(&turn);
            return turn;
        }
        self.spent = total;
        turn
    }

    /// The window of the session's model; after a fallback, of the model that answered.
    fn context_window(&self, models: &BTreeMap<String, ModelCounts<'_>>) -> Option<u64> {
        models
            .get(&self.model)
            .or_else(|| models.values().max_by_key(|counts| count(counts.input_tokens)))
            .and_then(|counts| count(counts.context_window))
    }
}

/// The tools that a `user` record brings back, also those of subagents.
pub fn tool_ends(envelope: &Envelope<'_>) -> Vec<ToolEnd> {
    let met = object::<Vec<Met<'_>>>(envelope.tool_result_meta).unwrap_or_default();
    let unasked: Vec<String> = met.iter().filter(|met| met.is_unasked()).map(|met| string(met.id)).collect();
    let blocks = envelope.message.0.content.blocks();
    blocks
        .iter()
        .filter(|block| word(block.kind) == "tool_result")
        .map(|block: &Block<'_>| ToolEnd {
            tool_use_id: string(block.tool_use_id),
            is_error: flag(block.is_error) == Some(true),
            refused: is_refusal(block),
            unasked: unasked.iter().any(|id| *id == string(block.tool_use_id)),
        })
        .collect()
}

/// Who began the turn of a `result`; without a word about it, a message of ours did.
fn origin(raw: Raw<'_>) -> Origin {
    match object::<Began<'_>>(raw).map(|began| word(began.kind)) {
        None | Some("human") => Origin::Ours,
        Some("task-notification") => Origin::Task,
        Some(_) => Origin::Foreign,
    }
}

/// Measured: what never came to a tool comes back as an error in this tag. What a tool prints cannot look so, because
/// an error of its own begins otherwise (`Exit code 1`), and no error has no flag.
fn is_refusal(block: &Block<'_>) -> bool {
    const TAG: &str = "<tool_use_error>";
    flag(block.is_error) == Some(true) && text(block.content).is_some_and(|text| text.starts_with(TAG))
}

/// Appends the text of `content`, a line break between blocks.
fn gather(content: &Content<'_>, to: &mut String) {
    let mut push = |words: &str| {
        if !to.is_empty() {
            to.push('\n');
        }
        to.push_str(words);
    };
    match content {
        Content::Text(words) => push(words),
        Content::Blocks(blocks) => blocks
            .iter()
            .filter(|block| word(block.kind) == "text")
            .filter_map(|block| text(block.text))
            .for_each(|words| push(&words)),
    }
    // Not at every block: each time, the whole of what is kept moves.
    if to.len() > 2 * MAX_TEXT {
        to.drain(..to.len() - tail(to, MAX_TEXT).len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(lines: &[&str]) -> TurnResult {
        let mut reader = TurnReader::default();
        for line in lines {
            let envelope = Envelope::parse(line).unwrap();
            match envelope.type_name() {
                "assistant" => drop(reader.assistant(&envelope)),
                "result" => return reader.finish(&envelope, line),
                other => unreachable!("{other}"),
            }
        }
        unreachable!("no result")
    }

    #[test]
    fn text_is_all_blocks_of_the_main_agent_and_nothing_else() {
        let result = turn(&[
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"no"}]}}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"answer A. "}]},"parent_tool_use_id":null}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"subagent"}]},"parent_tool_use_id":"t1"}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"answer B."}]}}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"answer B."}"#,
        ]);
        assert_eq!(result.text, "answer A. \nanswer B.");
        assert_eq!(result.message, "answer B.");
        assert!(!result.is_error);
    }

    #[test]
    fn a_failure_of_the_api_is_no_success_and_says_its_kind() {
        let result = turn(&[
            r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 429"}]},"error":"rate_limit"}"#,
            r#"{"type":"result","subtype":"success","is_error":true,"api_error_status":429}"#,
        ]);
        assert!(result.is_error);
        assert_eq!(result.text, "");
        assert_eq!(result.message, "API Error: 429");
        assert_eq!(result.error_kind.as_deref(), Some("rate_limit"));
        assert_eq!(result.api_error_status, Some(429));
    }

    #[test]
    fn tokens_of_a_turn_are_the_difference_of_the_processes() {
        let mut reader = TurnReader::default();
        let line = |input: u32| {
            format!(
                r#"{{"type":"result","subtype":"success","usage":{{"input_tokens":0}},"modelUsage":{{"m":{{"inputTokens":{input},"outputTokens":1,"contextWindow":200000}}}}}}"#
            )
        };
        let without = r#"{"type":"result","subtype":"success","usage":{"input_tokens":50},"modelUsage":{}}"#;
        let inputs: Vec<u64> = [line(100), line(250), without.to_owned(), line(320)]
            .iter()
            .map(|line| reader.finish(&Envelope::parse(line).unwrap(), line).usage.input)
            .collect();
        assert_eq!(inputs, [100, 150, 50, 20]);
    }

    #[test]
    fn who_began_a_turn_is_said_by_its_result() {
        for (origin, expected) in [
            ("null", Origin::Ours),
            (r#"{"kind":"task-notification","producer":"session-task"}"#, Origin::Task),
            (r#"{"kind":"peer","body":"words"}"#, Origin::Foreign),
            (r#"{"kind":"something-new"}"#, Origin::Foreign),
        ] {
            let line = format!(r#"{{"type":"result","subtype":"success","origin":{origin}}}"#);
            assert_eq!(turn(&[&line]).origin, expected, "{origin}");
        }
    }

    #[test]
    fn a_call_that_configuration_let_run_was_asked_of_nobody() {
        let unasked = |decision: &str| {
            let line = format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"x"}}]}},"tool_result_meta":[{{"id":"t0"}},{{"id":"t1","permission_decision":{decision}}}]}}"#
            );
            tool_ends(&Envelope::parse(&line).unwrap())[0].unasked
        };
        assert!(unasked(r#"{"decision":"accept","source":"config"}"#));
        for asked in [
            r#"{"decision":"accept","source":"hook","reason_type":"hook"}"#,
            r#"{"decision":"accept","source":"user_temporary"}"#,
            r#"{"decision":"reject","source":"config","reason_type":"asyncAgent"}"#,
            "7",
        ] {
            assert!(!unasked(asked), "{asked}");
        }
    }

    #[test]
    fn a_result_of_odd_types_is_an_error_not_a_panic() {
        let result = turn(&[
            r#"{"type":"result","subtype":7,"is_error":"yes","result":{},"errors":"one text","usage":[],"modelUsage":3,"permission_denials":{}}"#,
        ]);
        assert!(result.is_error);
        assert_eq!(result.message, "one text");
    }

    #[test]
    fn the_end_of_an_endless_text_is_kept() {
        let long = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{}END"}}]}}}}"#,
            "é".repeat(MAX_TEXT)
        );
        let result = turn(&[&long, r#"{"type":"result","subtype":"success"}"#]);
        assert!(result.text.len() <= MAX_TEXT && result.text.ends_with("END"));
    }
}
