//! What Claude Code writes down of an interactive session (`~/.claude/projects/…/ID.jsonl`), read as its stream.
//!
//! The records that people see are those of the stream, with other fields around them; between them stand many that only
//! Claude Code needs. Owns which lines are shown, and how each is put so that `domain::stream::show` reads it. The format is
//! Claude Code's own and may change: what is not known is skipped, and nothing here fails.

use super::envelope::{self, decode};
use super::raw::{Raw, flag, word};
use super::show::{self, Block};
use crate::domain::scrollback::EntryKind;
use serde::Deserialize;

/// Fields that only these records have.
#[derive(Deserialize)]
struct Around<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow, default)]
    subtype: Raw<'a>,
    /// For Claude alone.
    #[serde(borrow, default, rename = "isMeta")]
    meta: Raw<'a>,
    /// A subagent's, where older versions kept those in the same file.
    #[serde(borrow, default, rename = "isSidechain")]
    sidechain: Raw<'a>,
    /// What Claude goes on from once its context was compacted: the person has read all of it.
    #[serde(borrow, default, rename = "isCompactSummary")]
    summary: Raw<'a>,
}

/// What a line shows; `None`: nothing. `whole`: its length in bytes, of which `line` may be the beginning.
pub fn classify(line: &[u8], whole: usize) -> Option<EntryKind> {
    if line.len() < whole {
        return by_its_beginning(line);
    }
    let text = decode(line);
    let around = around(&text)?;
    if [around.meta, around.sidechain, around.summary].iter().any(|raw| flag(*raw) == Some(true)) {
        return None;
    }
    match (word(around.kind), word(around.subtype)) {
        ("assistant", _) => Some(EntryKind::Assistant),
        ("user", _) => Some(EntryKind::User),
        // A command of Claude Code's own, and what it has printed.
        ("system", "local_command") => Some(EntryKind::System),
        ("system", _) => envelope::classify(line),
        _ => None,
    }
}

fn around(text: &str) -> Option<Around<'_>> {
    // A JSON array would fill the fields by position.
    text.trim_start().starts_with('{').then(|| serde_json::from_str(text).ok()).flatten()
}

/// Of a line that is too long to be read whole: its type may stand behind its end, but not whose message it is.
fn by_its_beginning(line: &[u8]) -> Option<EntryKind> {
    let at = memchr::memmem::find(line, br#""message":{"#)?;
    let head = &line[at..line.len().min(at + HEAD)];
    let has = |text: &[u8]| memchr::memmem::find(head, text).is_some();
    match () {
        () if has(br#""role":"assistant""#) => Some(EntryKind::Assistant),
        () if has(br#""role":"user""#) => Some(EntryKind::User),
        () => None,
    }
}

/// Who has said something in a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    Claude,
    Person,
}

/// The last words of a line, and whose they are. `None`: nobody says anything in it. `whole`: its length in bytes, of which `line`
/// may be the beginning.
pub fn last_words(line: &[u8], whole: usize) -> Option<(Speaker, String)> {
    let record = as_stream(line, classify(line, whole)?, whole, line.len());
    show::decode(&record, whole, "").blocks.into_iter().rev().find_map(|block| match block {
        Block::Text(text) => Some((Speaker::Claude, text)),
        Block::Person(text) => Some((Speaker::Person, text)),
        _ => None,
    })
}

/// Bytes of a message within which its role stands.
const HEAD: usize = 400;

/// The line (or its beginning) as the stream has it: with its type in front, which here may stand at its end. Of a line that is
/// cut, at most `most` bytes.
pub fn as_stream(line: &[u8], kind: EntryKind, whole: usize, most: usize) -> Vec<u8> {
    let start = line.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(line.len());
    let name = match kind {
        EntryKind::Assistant => "assistant",
        EntryKind::User => "user",
        _ => return line.to_vec(),
    };
    let Some(fields) = line[start..].strip_prefix(b"{") else { return line.to_vec() };
    let mut out = format!("{{\"type\":\"{name}\",").into_bytes();
    out.extend_from_slice(fields);
    if line.len() < whole {
        out.truncate(most);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::stream::show::decode;
    use serde_json::json;

    const CWD: &str = "/home/dev/proj";

    fn shown(line: &[u8]) -> Vec<String> {
        let Some(kind) = classify(line, line.len()) else { return Vec::new() };
        let stream = as_stream(line, kind, line.len(), usize::MAX);
        let shown = decode(&stream, line.len(), CWD);
        assert_eq!((shown.missing, &shown.parent), (0, &None));
        shown.blocks.iter().map(brief).collect()
    }

    fn brief(block: &Block) -> String {
        match block {
            Block::Text(text) => format!("text {}", text.lines().next().unwrap_or_default()),
            Block::Thinking(text) => format!("thinking {text}"),
            Block::Tool(tool) => format!("{} {}", tool.name, tool.target),
            Block::ToolResult(result) => format!("= {}{}", if result.error { "error " } else { "" }, result.summary),
            Block::Person(text) => format!("person {text}"),
            Block::Notice { level, text } => format!("{level:?} {}", text.chars().take(60).collect::<String>()),
            other => format!("{other:?}"),
        }
    }

    fn all(lines: &[u8]) -> Vec<String> {
        lines.split(|byte| *byte == b'\n').flat_map(shown).collect()
    }

    #[test]
    fn a_session_of_claude_code_is_shown_as_its_stream_would_be() {
        let old = all(include_bytes!("../../../tests/fixtures/stream/transcript.jsonl"));
        assert_eq!(
            old,
            [
                "person begin the work",
                "thinking First I look around.",
                "text I will write a file.",
                "Write new.txt",
                "= error error",
                "Bash echo out; echo err >&2; exit 3",
                "= error exit 3",
                "Task sub job",
                "= 0 tools · 0.5 s",
                "TodoWrite 0 of 1 done",
                "= error error",
                "text All done.",
                "person second words",
                "text Second answer.",
                "person /context",
                "Info Context Usage ⛁ ⛁ ⛁ ⛁ ⛁ ⛁ ⛁ ⛁ ⛁ ⛁ Sonnet 4.6 ⛁ ⛁ ⛁ ⛁ ⛀ ⛶ ⛶ ⛶",
                "person ! echo from bash mode",
                "Info from bash mode",
                "text Third.",
                "person /rename My nice title",
                "Info Session renamed to: My nice title",
                "Info context compacted (manual): 153 → 802 tokens",
                "person /compact",
                "Info Compacted (ctrl+o to see full summary)",
                "person /exit",
                "Info Catch you later!",
            ]
        );
        let new = all(include_bytes!("../../../tests/fixtures/stream/transcript_2.1.330.jsonl"));
        let (first, rest) = (&new[..6], &new[6..]);
        assert_eq!(first[3..], ["Write new.txt", "= new · 2 lines", "Bash echo out; echo err >&2; exit 3"]);
        assert!(rest.contains(&"text All done.".to_owned()) && rest.contains(&"person second words".to_owned()));
        assert!(rest.contains(&"Info context compacted (manual): 153 → 3022 tokens".to_owned()), "{rest:#?}");
    }

    #[test]
    fn what_is_not_known_or_not_for_people_is_skipped() {
        let user = |more: &str| format!(r#"{{"type":"user","message":{{"role":"user","content":"x"}}{more}}}"#);
        let skipped = [
            String::new(),
            "not JSON".into(),
            "[\"assistant\"]".into(),
            "{}".into(),
            r#"{"type":7}"#.into(),
            r#"{"type":"brand-new","message":{"role":"user","content":"x"}}"#.into(),
            r#"{"type":"system","subtype":"turn_duration"}"#.into(),
            user(r#","isMeta":true"#),
            user(r#","isSidechain":true"#),
            user(r#","isCompactSummary":true"#),
            user("")[..20].to_owned(),
        ];
        for line in skipped {
            assert_eq!(classify(line.as_bytes(), line.len()), None, "{line}");
        }
        assert_eq!(shown(user(r#","isMeta":false"#).as_bytes()), ["person x"]);
        assert_eq!(shown(b"  {\"message\":{\"content\":\"\xff\"},\"type\":\"user\"}"), ["person \u{fffd}"]);
        let error = json!({"message": {"role": "assistant", "content": [{"type": "text", "text": "API Error: 529"}]},
            "isApiErrorMessage": true, "type": "assistant"});
        assert_eq!(shown(error.to_string().as_bytes()), ["Error API Error: 529"]);
    }

    #[test]
    fn a_giant_line_shows_its_beginning_though_its_type_is_behind_its_end() {
        let text = "日本 ".repeat(10_000);
        let message = json!({"role": "assistant", "content": [{"type": "text", "text": text}]});
        let line = format!(r#"{{"parentUuid":null,"isSidechain":false,"message":{message},"type":"assistant"}}"#);
        for cut in 4_000..4_004 {
            let head = &line.as_bytes()[..cut];
            let kind = classify(head, line.len()).unwrap();
            let shown = decode(&as_stream(head, kind, line.len(), cut), line.len(), CWD);
            let [Block::Text(begun)] = &shown.blocks[..] else { panic!("{shown:?}") };
            assert!(text.starts_with(begun) && begun.len() > 3_000 && shown.missing > 0);
        }
        let user = line.replace("assistant", "user");
        assert_eq!(classify(&user.as_bytes()[..4_000], user.len()), Some(EntryKind::User));
        assert_eq!(classify(&line.as_bytes()[..20], line.len()), None);
        assert_eq!(classify(&vec![b'x'; 4_000], 1 << 20), None);
    }
}
