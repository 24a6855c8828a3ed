//! One record of Claude's stream as people read it: words, thoughts, tool calls, what came of them, notices.
//!
//! Owns the decoding of the records that are on the screen, leniently: nothing that Claude prints makes it fail. Does
//! not own what a record means to the run (`domain::stream::envelope`, `orchestrator`), nor layout
//! (`tui::panes::stream`). All text here is untrusted and unclean.

mod block;
mod commands;
mod fields;
mod notices;
mod results;
mod status;
mod todo;
mod tools;

pub use block::{Block, Edit, Excerpt, Progress, Shown, Tool, ToolResult, TurnEnd};
pub use results::{seconds, size};
pub use todo::{Todo, TodoChange, TodoState, change};

use crate::domain::record::Level;
use crate::domain::stream::envelope;
use fields::Fields;

/// What a call with this input (JSON text) is about, in one line.
pub fn target(tool: &str, input: &str, cwd: &str) -> String {
    tools::target(tool, input, cwd)
}

/// Decodes one line (or the beginning of it: `whole` is the length of the line in bytes). Paths inside
/// the folder `cwd` are shown relative to it.
pub fn decode(line: &[u8], whole: usize, cwd: &str) -> Shown {
    let missing = whole.saturating_sub(line.len()) as u64;
    let mut text = envelope::decode(line);
    if missing > 0 {
        // The cut may have split a character.
        text = fields::close(text.trim_end_matches('\u{fffd}')).into();
    }
    let Some(record) = Fields::read(&text) else {
        let said = format!("not JSON: {}", text.trim());
        return Shown { blocks: notices::notice(Level::Warn, &said), parent: None, missing };
    };
    let blocks = match record.text("type").as_deref() {
        Some("assistant") => assistant(&record, cwd),
        Some("user") => user(&record),
        Some("result") => vec![Block::TurnEnd(turn_end(&record))],
        Some("system") if record.text("subtype").as_deref() == Some("local_command") => {
            record.text("content").and_then(|text| commands::blocks(&text)).unwrap_or_default()
        }
        Some("system") => notices::system(&record),
        Some("rate_limit_event") => notices::rate_limit(&record),
        _ => Vec::new(),
    };
    Shown { blocks, parent: record.text("parent_tool_use_id"), missing }
}

fn assistant(record: &Fields<'_>, cwd: &str) -> Vec<Block> {
    let message = record.object("message").unwrap_or_default();
    if record.raw("error").is_some() || record.is("isApiErrorMessage") {
        return notices::notice(Level::Error, &results::content(&message));
    }
    if let Some(text) = message.text("content") {
        return words(text);
    }
    message
        .list("content")
        .into_iter()
        .filter_map(|raw| Fields::read(raw.get()))
        .flat_map(|block| match block.text("type").as_deref() {
            Some("text") => words(block.text("text").unwrap_or_default()),
            Some("thinking") => match block.text("thinking") {
                Some(text) if !text.trim().is_empty() => vec![Block::Thinking(text)],
                _ => Vec::new(),
            },
            Some("redacted_thinking") => {
                vec![Block::Thinking("(redacted thinking)".to_owned())]
            }
            Some("tool_use" | "server_tool_use") => vec![Block::Tool(tools::call(&block, cwd))],
            _ => Vec::new(),
        })
        .collect()
}

/// Text with its status block taken out.
fn words(text: String) -> Vec<Block> {
    let Some((before, status, after)) = status::split(&text) else { return some_text(text).into_iter().collect() };
    let mut blocks: Vec<Block> = some_text(before).into_iter().collect();
    blocks.push(status);
    blocks.extend(some_text(after));
    blocks
}

fn some_text(text: String) -> Option<Block> {
    (!text.trim().is_empty()).then_some(Block::Text(text))
}

fn user(record: &Fields<'_>) -> Vec<Block> {
    let message = record.object("message").unwrap_or_default();
    let synthetic = record.is("isSynthetic");
    let said = |text: String| {
        if let Some(blocks) = commands::blocks(&text) {
            blocks
        } else if synthetic || text.starts_with("[Request interrupted") {
            notices::notice(Level::Info, &text)
        } else if text.trim().is_empty() {
            Vec::new()
        } else {
            vec![Block::Person(text)]
        }
    };
    if let Some(text) = message.text("content") {
        return said(text);
    }
    let parts: Vec<Fields<'_>> =
        message.list("content").into_iter().filter_map(|raw| Fields::read(raw.get())).collect();
    // With several results in one record it is unknown whose shape is given.
    let shape = match parts.len() {
        // The second is its name on disk.
        1 => record.object("tool_use_result").or_else(|| record.object("toolUseResult")),
        _ => None,
    };
    parts
        .into_iter()
        .flat_map(|part| match part.text("type").as_deref() {
            Some("tool_result") => vec![Block::ToolResult(results::result(&part, shape.as_ref()))],
            Some("text") => said(part.text("text").unwrap_or_default()),
            Some("image") => vec![Block::Person("[image]".to_owned())],
            _ => Vec::new(),
        })
        .collect()
}

fn turn_end(record: &Fields<'_>) -> TurnEnd {
    let mut how = record.text("subtype").unwrap_or_default();
    if let Some(status) = record.count("api_error_status") {
        how = format!("API error {status}");
    } else if let Some(reason) = record.text("terminal_reason").filter(|r| r != "completed") {
        how = format!("{how}, {reason}");
    }
    let errors = record.list("errors").into_iter().filter_map(fields::text);
    TurnEnd {
        // `is_error` decides before `subtype` does: API failures are `success` with `is_error`.
        error: record.is("is_error") || how.starts_with("error"),
        how,
        message: record.text("result").unwrap_or_else(|| errors.collect::<Vec<_>>().join("\n")),
        ms: record.number("duration_ms").unwrap_or_default(),
        cost_usd: record.number("total_cost_usd").unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CWD: &str = "/home/dev/proj";

    fn all(lines: &[u8]) -> Vec<String> {
        lines
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty())
            .flat_map(|line| {
                let shown = decode(line, line.len(), CWD);
                let inner = if shown.parent.is_some() { "  " } else { "" };
                shown.blocks.into_iter().map(move |block| format!("{inner}{}", brief(&block)))
            })
            .collect()
    }

    fn brief(block: &Block) -> String {
        match block {
            Block::Text(text) => format!("text {}", text.trim_end()),
            Block::Status(status) => {
                format!("status {} {:?} {:?}", status.status.word(), status.phase_completed, status.files_changed)
            }
            Block::Critique(critique) => format!("critique {} {}", critique.verdict.word(), critique.issues.len()),
            Block::Evaluation(said) => format!("evaluation {} {}", said.verdict.word(), said.phases.len()),
            Block::Draft(draft) => format!("draft {} {}", draft.phases.len(), draft.validation.len()),
            Block::Thinking(text) => format!("thinking {text}"),
            Block::Tool(tool) => {
                let edit = tool.edit.as_ref().map_or(String::new(), |e| format!(" {:?}→{:?}", e.old, e.new));
                format!("{} {}{edit}", tool.name, tool.target)
            }
            Block::ToolResult(result) => {
                let error = if result.error { "error " } else { "" };
                let line = result.first_change.map_or(String::new(), |line| format!(" @{line}"));
                format!("= {error}{}{line}", result.summary)
            }
            Block::Progress(progress) => format!("progress {}", progress.summary),
            Block::Person(text) => format!("person {text}"),
            Block::TurnEnd(end) => format!("end {} {} ${}", end.error, end.how, end.cost_usd),
            Block::Notice { level, text } => format!("{level:?} {text}"),
        }
    }

    #[test]
    fn a_session_with_tools() {
        assert_eq!(
            all(include_bytes!("../../../tests/fixtures/stream/tools.jsonl")),
            [
                "text I will write a file.",
                "Write new.txt",
                "= new · 2 lines @1",
                "Read a.txt",
                "= 3 lines",
                r#"Edit a.txt "world"→"there""#,
                "= +1 −1 @2",
                "Bash echo out; echo err >&2; exit 3",
                "= error exit 3",
                "Bash sleep 0.3; echo one",
                "Bash echo two",
                "= exit 0 · 1 line",
                "= exit 0 · 1 line",
                "text All done.",
                r#"status CONTINUE Some("Phase 1") ["a.txt"]"#,
                "end false success $0.006",
            ]
        );
    }

    #[test]
    fn a_subagent_is_marked_as_such() {
        assert_eq!(
            all(include_bytes!("../../../tests/fixtures/stream/subagent.jsonl")),
            [
                "text Delegating.", "Task sub job", "  person SUBAGENT_MARKER do the sub job",
                "progress 1 tool · 0.0 s", "  Bash echo from-sub", "  = 1 line", "progress 1 tool · 0.1 s",
                "= 1 tool · 0.1 s", "text main final", "end false success $0.004",
            ]
            .map(|line| if line == "  = 1 line" { "  = from-sub" } else { line })
        );
    }

    #[test]
    fn the_other_recordings() {
        let thinking = all(include_bytes!("../../../tests/fixtures/stream/thinking.jsonl"));
        assert_eq!(thinking[..2], ["thinking hmm, deep", "thinking (redacted thinking)"]);
        let tasks = all(include_bytes!("../../../tests/fixtures/stream/tasks.jsonl"));
        assert_eq!(tasks[0], "TaskCreate First");
        assert_eq!(tasks[6], "TodoWrite 0 of 1 done");
        let bad = all(include_bytes!("../../../tests/fixtures/stream/badjson_tool.jsonl"));
        assert_eq!(bad[..2], ["Bash {\"command\": \"echo hi", "= error error"]);
        let fallback = all(include_bytes!("../../../tests/fixtures/stream/fallback.jsonl"));
        assert_eq!(fallback[2], "Warn Switched to Sonnet 4.6 due to high demand for Opus 4.8");
        let interrupted = all(include_bytes!("../../../tests/fixtures/stream/sigint_bash.jsonl"));
        assert_eq!(interrupted[1..3], ["= error rejected", "Info [Request interrupted by user for tool use]"]);
        assert_eq!(interrupted[3], "end true error_during_execution, aborted_tools $0.001");
        let limited = all(include_bytes!("../../../tests/fixtures/stream/429_forever_max2.jsonl"));
        assert_eq!(limited[2], "Error API Error: Request rejected (429) · stub error 429");
        assert_eq!(limited[3], "end true API error 429 $0");
        let unicode = all(include_bytes!("../../../tests/fixtures/stream/unicode.jsonl"));
        assert!(unicode.iter().any(|line| line.contains("Ünïcödé 日本語 🎉")), "{unicode:?}");
        assert!(unicode.iter().any(|line| line.ends_with("bom \u{fffd}")), "{unicode:?}");
    }

    #[test]
    fn odd_records_never_fail() {
        let cases: [(&[u8], &str); 9] = [
            (b"not json \xff", "Warn not JSON: not json \u{fffd}"),
            (b"{}", ""),
            (br#"{"type":"brand_new"}"#, ""),
            (br#"{"type":"assistant","message":"odd"}"#, ""),
            (br#"{"type":"assistant","message":{"content":"as a string"}}"#, "text as a string"),
            (br#"{"type":"assistant","message":{"content":[7,{"type":"text"},{"type":"tool_use"}]}}"#, "? "),
            (br#"{"type":"user","message":{"role":"user","content":"hello"},"isReplay":true}"#, "person hello"),
            (br#"{"type":"user","isSynthetic":true,"message":{"content":"go on"}}"#, "Info go on"),
            (br#"{"type":"result"}"#, "end false  $0"),
        ];
        for (line, expected) in cases {
            assert_eq!(all(line).join("|"), expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn a_giant_line_shows_its_beginning() {
        let text = "日本 ".repeat(1_000);
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{"tool_use_id":"t","type":"tool_result","content":"{text}"}}]}},"tool_use_result":{{}}}}"#
        );
        for cut in [600, 601, 602, 603] {
            let shown = decode(&line.as_bytes()[..cut], line.len(), CWD);
            assert_eq!(shown.missing, (line.len() - cut) as u64);
            let Block::ToolResult(result) = &shown.blocks[0] else { unreachable!("a result") };
            assert_eq!(result.id, "t");
            assert!(text.starts_with(&result.text) && result.text.len() > 400, "{}", result.text);
        }
    }
}
