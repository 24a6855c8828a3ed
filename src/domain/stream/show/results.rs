//! What came of a tool call, in a few words: "214 lines", "9 matches", "exit 3", "+12 −3".
//!
//! The record does not name the tool; the shape of `tool_use_result` tells (shapes after the CLI 2.1.197).

use super::block::{Edit, Excerpt, ToolResult};
use super::fields::{self, Fields};
use super::todo;
use crate::base::amount::counted;
use crate::base::text::clean_line;

/// Longest text shown as its own summary, in columns.
const SHORT: usize = 32;

/// Reads a `tool_result` block and the record's `tool_use_result`, which is only given when the record holds one block.
pub(super) fn result(block: &Fields<'_>, shape: Option<&Fields<'_>>) -> ToolResult {
    let text = content(block);
    let error = block.is("is_error");
    let summary = if error {
        failure(&text)
    } else {
        shape.and_then(|shape| success(shape, &text)).unwrap_or_else(|| plain(&text))
    };
    ToolResult {
        id: block.text("tool_use_id").unwrap_or_default(),
        summary,
        error,
        first_change: shape.and_then(|shape| {
            let is_new = shape.text("type").as_deref() == Some("create");
            if is_new { Some(1) } else { first_change(shape) }
        }),
        written: shape.and_then(written),
        read: shape.and_then(excerpt),
        todo: shape.and_then(todo::told),
        text: unwrapped(text),
    }
}

/// The words of a content that is text or a list of blocks.
pub(super) fn content(block: &Fields<'_>) -> String {
    let Some(raw) = block.raw("content") else { return String::new() };
    if let Some(text) = fields::text(raw) {
        return text;
    }
    let parts = fields::list(raw).into_iter().filter_map(|part| {
        let Some(part_fields) = Fields::read(part.get()) else { return fields::text(part) };
        match part_fields.text("type").as_deref() {
            Some("image") => Some(format!("[image, {}]", size(part.get().len() as u64))),
            _ => part_fields.text("text"),
        }
    });
    parts.collect::<Vec<_>>().join("\n")
}

fn unwrapped(text: String) -> String {
    text.strip_prefix("<tool_use_error>")
        .map(|inner| inner.trim_end_matches("</tool_use_error>").to_owned())
        .unwrap_or(text)
}

fn failure(text: &str) -> String {
    if let Some(rest) = text.strip_prefix("Exit code ") {
        let code: String = rest.chars().take_while(char::is_ascii_digit).collect();
        if !code.is_empty() {
            return format!("exit {code}");
        }
    }
    if text.starts_with("The user doesn't want to proceed") {
        return "rejected".to_owned();
    }
    "error".to_owned()
}

fn success(shape: &Fields<'_>, text: &str) -> Option<String> {
    if shape.raw("structuredPatch").is_some() {
        let (added, removed) = patch_size(shape);
        if shape.text("type").as_deref() == Some("create") {
            let lines = shape.text("content").map_or(0, |text| text.lines().count());
            return Some(format!("new · {}", counted(lines, "line")));
        }
        return Some(if added + removed == 0 { "no change".to_owned() } else { format!("+{added} −{removed}") });
    }
    if let Some(file) = shape.object("file") {
        return match shape.text("type").as_deref() {
            Some("image" | "pdf") => shape.text("type"),
            _ => Some(counted(file.count("numLines")? as usize, "line")),
        };
    }
    if shape.raw("stdout").is_some() {
        return Some(command(shape, text));
    }
    if let Some(tools) = shape.count("totalToolUseCount") {
        let ms = shape.number("totalDurationMs").unwrap_or_default();
        return Some(format!("{} · {}", counted(tools as usize, "tool"), seconds(ms)));
    }
    if let Some(matches) = shape.count("numMatches").filter(|n| *n > 0) {
        return Some(counted(matches as usize, "match"));
    }
    if let Some(lines) = shape.count("numLines").filter(|_| shape.text("mode").as_deref() == Some("content")) {
        return Some(counted(lines as usize, "match"));
    }
    if let Some(files) = shape.count("numFiles") {
        return Some(counted(files as usize, "file"));
    }
    if let Some(answers) = shape.object("answers") {
        let said: Vec<String> = answers.names().filter_map(|question| answers.text(question)).collect();
        return (!said.is_empty()).then(|| said.join(" · "));
    }
    if let Some(todos) = shape.raw("newTodos") {
        return Some(format!("{} to do", fields::list(todos).len()));
    }
    if let (Some(code), Some(bytes)) = (shape.count("code"), shape.count("bytes")) {
        return Some(format!("{code} · {}", size(bytes)));
    }
    None
}

fn command(shape: &Fields<'_>, text: &str) -> String {
    if shape.is("interrupted") {
        return "interrupted".to_owned();
    }
    if shape.raw("backgroundTaskId").is_some() {
        return "in the background".to_owned();
    }
    if shape.is("isImage") {
        return "image".to_owned();
    }
    if let Some(bytes) = shape.count("persistedOutputSize") {
        return format!("exit 0 · {}", size(bytes));
    }
    match text.trim_end().lines().count() {
        0 => "exit 0".to_owned(),
        lines => format!("exit 0 · {}", counted(lines, "line")),
    }
}

fn plain(text: &str) -> String {
    let text = text.trim_end();
    match text.lines().count() {
        0 => "done".to_owned(),
        1 => {
            let line = clean_line(text, SHORT + 1);
            if line.ends_with('…') { "1 line".to_owned() } else { line }
        }
        lines => counted(lines, "line"),
    }
}

fn hunks<'a>(shape: &Fields<'a>) -> impl Iterator<Item = Fields<'a>> {
    shape.list("structuredPatch").into_iter().filter_map(|raw| Fields::read(raw.get()))
}

/// The file as it was and is, of a call that wrote the whole of it.
fn written(shape: &Fields<'_>) -> Option<Edit> {
    let old = match shape.text("type").as_deref()? {
        "create" => String::new(),
        "update" => shape.text("originalFile")?,
        _ => return None,
    };
    Some(Edit { path: shape.text("filePath").unwrap_or_default(), old, new: shape.text("content")? })
}

fn excerpt(shape: &Fields<'_>) -> Option<Excerpt> {
    let file = shape.object("file").filter(|_| shape.text("type").as_deref() == Some("text"))?;
    let (path, text) = (file.text("filePath")?, file.text("content")?);
    Some(Excerpt { path, first: file.count("startLine").unwrap_or(1), text })
}

/// Lines added and removed.
fn patch_size(shape: &Fields<'_>) -> (usize, usize) {
    let (mut added, mut removed) = (0, 0);
    for line in hunks(shape).flat_map(|hunk| hunk.list("lines")).filter_map(fields::text) {
        match line.as_bytes().first() {
            Some(b'+') => added += 1,
            Some(b'-') => removed += 1,
            _ => {}
        }
    }
    (added, removed)
}

/// Number of the first changed line in the file.
fn first_change(shape: &Fields<'_>) -> Option<u32> {
    let hunk = hunks(shape).next()?;
    let context =
        hunk.list("lines").into_iter().filter_map(fields::text).take_while(|line| line.starts_with(' ')).count();
    u32::try_from(hunk.count("oldStart")? + context as u64).ok()
}

/// Bytes in the unit that reads best.
pub fn size(bytes: u64) -> String {
    let b = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", b / 1e3),
        _ => format!("{:.1} MB", b / 1e6),
    }
}

/// Milliseconds as people say them.
pub fn seconds(ms: f64) -> String {
    if ms < 10_000.0 {
        format!("{:.1} s", ms / 1e3)
    } else if ms < 60_000.0 {
        format!("{:.0} s", ms / 1e3)
    } else {
        let whole = (ms / 1e3) as u64;
        format!("{}m {:02}s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(block: &str, shape: &str) -> ToolResult {
        let block = Fields::read(block).expect("an object");
        result(&block, Fields::read(shape).as_ref())
    }

    #[test]
    fn each_shape_has_its_words() {
        let ok = r#"{"tool_use_id":"t","content":"a\nb\nc"}"#;
        let cases = [
            (ok, r#"{"type":"text","file":{"numLines":214}}"#, "214 lines"),
            (ok, r#"{"stdout":"a\nb\nc","stderr":""}"#, "exit 0 · 3 lines"),
            (ok, r#"{"stdout":"a","interrupted":true}"#, "interrupted"),
            (ok, r#"{"stdout":"","persistedOutputSize":986400}"#, "exit 0 · 986.4 kB"),
            (ok, r#"{"structuredPatch":[{"oldStart":1,"lines":[" a","-b","+c","+d"]}]}"#, "+2 −1"),
            (ok, r#"{"type":"create","content":"x\ny\n","structuredPatch":[]}"#, "new · 2 lines"),
            (ok, r#"{"totalToolUseCount":3,"totalDurationMs":11200}"#, "3 tools · 11 s"),
            (ok, r#"{"mode":"content","numLines":9,"numFiles":0}"#, "9 matches"),
            (ok, r#"{"filenames":["a"],"numFiles":1}"#, "1 file"),
            (ok, r#"{"bytes":2048,"code":200}"#, "200 · 2.0 kB"),
            (ok, r#"{"questions":[],"answers":{"Which colour?":"blue"}}"#, "blue"),
            (ok, r#""a plain string""#, "3 lines"),
            (ok, r#"{"type":"update","originalFile":"x\n","content":"x\n","structuredPatch":[]}"#, "no change"),
            (ok, r#"{"structuredPatch":"odd","file":7}"#, "no change"),
            (r#"{"content":"Task #1 created"}"#, "{}", "Task #1 created"),
            (r#"{"content":""}"#, "{}", "done"),
            (r#"{"content":"Exit code 3\nout","is_error":true}"#, r#""Error""#, "exit 3"),
            (r#"{"content":[{"type":"text","text":"one"},{"type":"image","source":{}}]}"#, "{}", "2 lines"),
            ("{}", "{}", "done"),
        ];
        for (block, shape, expected) in cases {
            assert_eq!(read(block, shape).summary, expected, "{block} {shape}");
        }
    }

    #[test]
    fn the_first_change_counts_from_the_context() {
        let result = read("{}", r#"{"structuredPatch":[{"oldStart":40,"lines":[" a"," b","-c","+d"]}]}"#);
        assert_eq!(result.first_change, Some(42));
    }

    #[test]
    fn tags_around_an_error_go() {
        let result = read(r#"{"content":"<tool_use_error>no</tool_use_error>","is_error":true}"#, "{}");
        assert_eq!((result.text.as_str(), result.summary.as_str()), ("no", "error"));
    }
}
