//! Reads the status block out of Claude's text.
//!
//! A whole block is often no valid YAML, so a line reader finds the keys and the extent of the block
//! (`parse/block.rs`), and each value goes to the YAML library by itself, under limits, and is salvaged as
//! text where that fails (`parse/value.rs`). The last block decides, even when it is the broken one: a
//! completion is never guessed. Blocks of Hank and Ralph are read beside ours: alone they are the claim, else they
//! fill in what ours leaves out. What is shown and not said (the prompt's template echoed, quotes, diffs,
//! comments) is no block. Time is linear in the text.

mod block;
mod checks;
mod critique;
mod draft;
mod evaluation;
mod flow;
mod key;
mod lines;
mod optional;
mod value;

pub use checks::parse_checks;
pub use critique::parse_critique;
pub use draft::parse_draft;
pub use evaluation::parse_evaluation;

use super::{Claim, ClaimStatus, Source};
use crate::domain::worded::worded;
use block::{Block, Entry};
use key::Field;

/// What came of reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// There is a block, valid or not.
    pub found: bool,
    /// The claim, when the block is valid.
    pub claim: Option<Claim>,
    pub reason: Option<Reason>,
    /// What was tolerated, as words for the log (`tab_indent`, `unknown_key:x`, …); each at most once.
    pub warnings: Vec<String>,
}

worded! {
    /// Why there is no claim.
    pub enum Reason {
        Missing = "missing",
        MissingStatus = "missing_status",
        /// The text ends inside the block.
        Truncated = "truncated",
        /// `status` is none of the three words.
        UnknownStatus = "unknown_status",
        ConflictingStatus = "conflicting_status",
    }
}

/// Reads the last status block of `text`: the text blocks of the main agent in its last turn, joined.
pub fn parse(text: &str) -> Reading {
    let lines = lines::lines(text);
    let (mut ours, mut hanks) = (None, None);
    let mut at = 0;
    while at < lines.len() {
        match block::read(&lines, at) {
            Some((block, next)) => {
                if !is_template(&block) {
                    let last = if block.source.is_ours() { &mut ours } else { &mut hanks };
                    *last = Some(block);
                }
                at = next.max(at + 1);
            }
            None => at += 1,
        }
    }
    let hanks = hanks.map(|block| interpret(&block));
    match (ours.map(|block| interpret(&block)), hanks) {
        (Some(mut ours), hanks) => {
            if let (Some(claim), Some(hanks)) = (&mut ours.claim, hanks.and_then(|reading| reading.claim)) {
                claim.signals.fill(hanks.signals);
            }
            ours
        }
        (None, Some(hanks)) => hanks,
        (None, None) => Reading { found: false, claim: None, reason: Some(Reason::Missing), warnings: Vec::new() },
    }
}

fn interpret(block: &Block) -> Reading {
    let mut warnings: Vec<String> = block.warnings.iter().map(|&word| word.to_owned()).collect();
    let claim = if is_truncated(block) { Err(Reason::Truncated) } else { claim(block, &mut warnings) };
    if !block.source.is_ours() {
        // Capitals are how Hank asks for them.
        warnings.retain(|warning| !["key_case", "key_spelling", "status_case"].contains(&warning.as_str()));
    }
    let mut seen = std::collections::HashSet::new();
    warnings.retain(|warning| seen.insert(warning.clone()));
    Reading { found: true, reason: claim.as_ref().err().copied(), claim: claim.ok(), warnings }
}

fn claim(block: &Block, warnings: &mut Vec<String>) -> Result<Claim, Reason> {
    let status = status(block, warnings)?;
    let mut claim = Claim { source: block.source, ..Claim::new(status) };
    let mut seen = Vec::new();
    for entry in &block.entries {
        let of_claims = |field: &Field| match field {
            Field::Verdict | Field::Issues | Field::NewPhases => false,
            Field::FilesModified => !block.source.is_ours(),
            _ => true,
        };
        let Some(field) = entry.field.filter(of_claims) else {
            warnings.push(format!("unknown_key:{}", entry.name));
            continue;
        };
        if seen.contains(&field) {
            warnings.push(format!("duplicate_key:{}", field.word()));
        }
        seen.push(field);
        match field {
            Field::Phase => {
                claim.phase_completed = value::text(entry, warnings).map(|text| value::unmarked(&text, warnings));
            }
            Field::Files => claim.files_changed = value::files(entry, warnings),
            Field::Summary => claim.summary = value::text(entry, warnings).unwrap_or_default(),
            Field::Error => {
                claim.error = value::text(entry, warnings).filter(|text| !text.is_empty());
            }
            Field::Status => {}
            field => optional::read(field, entry, &mut claim, warnings),
        }
    }
    if !block.source.is_ours() {
        return Ok(optional::as_hank_says_it(claim));
    }
    claim.phase_completed = claim.phase_completed.filter(|phase| !phase.is_empty());
    for field in [Field::Phase, Field::Files, Field::Summary] {
        if !seen.contains(&field) {
            warnings.push(format!("missing_{}", field.word()));
        }
    }
    if status == ClaimStatus::Blocked && claim.error.is_none() {
        warnings.push("missing_error".to_owned());
        claim.error = Some(claim.summary.clone()).filter(|summary| !summary.is_empty());
    }
    Ok(claim)
}

fn statuses(block: &Block) -> impl Iterator<Item = &Entry> {
    block.entries.iter().filter(|entry| entry.field == Some(Field::Status))
}

fn status(block: &Block, warnings: &mut Vec<String>) -> Result<ClaimStatus, Reason> {
    let mut found = None;
    for entry in statuses(block) {
        let text = value::text(entry, warnings).ok_or(Reason::UnknownStatus)?;
        let text = value::unmarked(&text, warnings);
        // Marks of joy and full stops change nothing; a question mark or a cross does.
        let bare = text.trim_matches(|c: char| ".,;!✅✔☑🎉🔄🚧\u{fe0f}".contains(c) || c.is_whitespace());
        if bare.len() != text.len() {
            warnings.push("markup_stripped".to_owned());
        }
        let bare = value::unmarked(bare, warnings);
        let status = block.source.status(&bare).ok_or(Reason::UnknownStatus)?;
        if status.word() != bare {
            warnings.push("status_case".to_owned());
        }
        if found.is_some_and(|found| found != status) {
            return Err(Reason::ConflictingStatus);
        }
        found = Some(status);
    }
    found.ok_or(Reason::MissingStatus)
}

/// The status is a choice (`CONTINUE | DONE | BLOCKED`) or a placeholder (`<status>`): the prompt's own
/// template, echoed.
fn is_template(block: &Block) -> bool {
    statuses(block).any(|entry| {
        let value = entry.first.split(" #").next().unwrap_or("");
        let value = value.split(" (").next().unwrap_or("").trim();
        let placeholder = (value.starts_with('<') && value.ends_with('>')) || value.starts_with("{{") || value == "...";
        let value = value.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        let value = value.replace(" or ", "|").replace(" OR ", "|");
        let words: Vec<&str> = value
            .split(['|', '/', ','])
            .map(|word| word.trim_matches(|c: char| !(c.is_ascii_alphanumeric() || c == '_')))
            .filter(|word| !word.is_empty())
            .collect();
        let shouted = |word: &&str| word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        let known = words.iter().filter(|word| block.source.status(word).is_some()).count();
        (words.len() > 1 && known > 0 && words.iter().all(shouted)) || (placeholder && known == 0)
    })
}

const OUR_WORDS: [&str; 3] = ["CONTINUE", "DONE", "BLOCKED"];
const HANKS_WORDS: [&str; 3] = ["IN_PROGRESS", "COMPLETE", "BLOCKED"];

/// The text ended inside the block. A claim that lost its end is no claim.
fn is_truncated(block: &Block) -> bool {
    let has = |field| block.entries.iter().any(|entry| entry.field == Some(field));
    let ours = [Field::Phase, Field::Status, Field::Files, Field::Summary];
    let needed = if block.source.is_ours() { &ours[..] } else { &[Field::Status, Field::ExitSignal] };
    let complete = needed.iter().copied().all(has);
    let last = block.entries.last();
    let last_closed = last.is_some_and(|entry| entry.balance.is_closed());
    let status_cut = last.is_some_and(|entry| {
        let value = entry.first.trim().trim_matches(['"', '\'', '*', '`']).to_ascii_uppercase();
        let is_start = |word: &str| word.starts_with(&value) && word != value;
        let words: &[&str] = if block.source == Source::Hank { &HANKS_WORDS } else { &OUR_WORDS };
        entry.field == Some(Field::Status) && words.iter().any(|word| is_start(word))
    });
    block.cut || (block.mid_line && status_cut) || (block.fence_open && !(complete && (last_closed || !block.mid_line)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEYS: &str = "phase_completed: null\nstatus: DONE\nfiles_changed: []\nsummary: ok\n";

    fn block(indent: &str) -> String {
        let joint = format!("\n{indent}");
        format!("{indent}{}\n", KEYS.trim_end().replace('\n', &joint))
    }

    fn status_of(text: &str) -> Result<ClaimStatus, &'static str> {
        let reading = parse(text);
        match (reading.claim, reading.reason) {
            (Some(claim), None) => Ok(claim.status),
            (None, Some(reason)) => Err(reason.word()),
            other => panic!("neither claim nor reason, or both: {other:?}"),
        }
    }

    fn with(line: &str) -> Claim {
        let text = format!("PROGRAMMATOR_STATUS:\n  status: CONTINUE\n  {line}\n");
        let reading = parse(&text);
        reading.claim.unwrap_or_else(|| panic!("{text}: {:?}", reading.reason))
    }

    #[test]
    fn the_marker_and_the_block_come_in_many_clothes() {
        let indented = block("  ");
        let cases = [
            format!("PROGRAMMATOR_STATUS:\n{indented}"),
            format!("PROGRAMMATOR_STATUS:\n\n{indented}"),
            format!("PROGRAMMATOR_STATUS :\n{indented}"),
            format!("PROGRAMMATOR_STATUS: # the end\n{indented}"),
            format!("PROGRAMMATOR_STATUS: |\n{indented}"),
            format!("PROGRAMMATOR_STATUS:\n{KEYS}"),
            format!("PROGRAMMATOR_STATUS:\n{KEYS}\nLet me know: anything else?\n"),
            format!("**PROGRAMMATOR_STATUS:**\n{indented}"),
            format!("**PROGRAMMATOR_STATUS**:\n\n{indented}"),
            format!("**PROGRAMMATOR_STATUS**\n\n```\n{KEYS}```\n"),
            format!("`PROGRAMMATOR_STATUS:`\n{indented}"),
            format!("### PROGRAMMATOR_STATUS:\n{indented}"),
            format!("## **PROGRAMMATOR_STATUS**\n\n```yaml\n{KEYS}```\nBye.\n"),
            format!("```yaml\n\"PROGRAMMATOR_STATUS\":\n{indented}```"),
            format!("````md\n```yaml\nPROGRAMMATOR_STATUS:\n{indented}```\n````\n"),
            format!("~~~~\nPROGRAMMATOR_STATUS:\n{indented}~~~~\n"),
            format!("\u{feff}PROGRAMMATOR_STATUS:\n{indented}"),
            format!("PROGRAMMATOR_\u{200b}STATUS:\n{}", block("\u{a0}\u{a0}")),
            format!("PROGRAMMATOR_STATUS:\n{indented}").replace('\n', "\r\n"),
            format!("Before.\nPROGRAMMATOR_STATUS:\n{indented}After that I also looked.\n"),
            format!("- PROGRAMMATOR_STATUS:\n{}", block("    ")),
            format!("PROGRAMMATOR_STATUS:\n{}", block("- ")),
            format!("PROGRAMMATOR_STATUS:\n{}", block("  * ")),
            format!("---\nPROGRAMMATOR_STATUS:\n{indented}---\n"),
            "PROGRAMMATOR_STATUS:\n  **status:** DONE\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  Status: done\n".to_owned(),
            "PROGRAMMATOR_STATUS: {status: DONE, summary: \"a, b\", phase_completed: null}".to_owned(),
            "PROGRAMMATOR_STATUS: status: DONE".to_owned(),
            "{\"PROGRAMMATOR_STATUS\": {\"phase_completed\": null, \"status\": \"DONE\"}}".to_owned(),
            "```json\n{\n  \"PROGRAMMATOR_STATUS\": {\n    \"status\": \"DONE\",\n    \"files_changed\": [\"a\"]\n  }\n}\n```\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n```json\n{\n  \"status\": \"DONE\"\n}\n```\nBye\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  \"status\": \"DONE\",\n  \"summary\": \"x\",\n".to_owned(),
        ];
        for text in cases {
            assert_eq!(status_of(&text), Ok(ClaimStatus::Done), "{text}");
        }
    }

    #[test]
    fn what_is_shown_and_not_said_is_no_block() {
        let indented = block("  ");
        let cases = [
            String::new(),
            "PROGRAMMATOR_STATUS: will follow when I am done.".to_owned(),
            "MY_PROGRAMMATOR_STATUS:\n  status: DONE\n".to_owned(),
            "_PROGRAMMATOR_STATUS:\n  status: DONE\n".to_owned(),
            "PROGRAMMATOR_STATUS_X:\n  status: DONE\n".to_owned(),
            "I end with PROGRAMMATOR_STATUS:\n  status: DONE\n".to_owned(),
            "- > PROGRAMMATOR_STATUS:\n  > status: DONE\n".to_owned(),
            "| PROGRAMMATOR_STATUS: | status: DONE |\n".to_owned(),
            "+ PROGRAMMATOR_STATUS:\n+   status: DONE\n".to_owned(),
            "+PROGRAMMATOR_STATUS:\n+  status: DONE\n".to_owned(),
            format!("```diff\n PROGRAMMATOR_STATUS:\n{indented}```\n"),
            format!("@@ -1,3 +1,4 @@\n context\n PROGRAMMATOR_STATUS:\n{indented}"),
            format!("<!--\nPROGRAMMATOR_STATUS:\n{indented}-->\n"),
            "// PROGRAMMATOR_STATUS:\n//   status: DONE\n".to_owned(),
            "## PROGRAMMATOR_STATUS\n\nA heading about it.\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  status: CONTINUE|DONE|BLOCKED\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  status: <CONTINUE, DONE or BLOCKED>\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  status: \"CONTINUE\" | \"DONE\" | \"BLOCKED\"  # one of\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  status: DONE/BLOCKED\n".to_owned(),
            "PROGRAMMATOR_STATUS:\n  status: <status>\n".to_owned(),
        ];
        for text in cases {
            assert!(!parse(&text).found, "{text}");
        }
    }

    #[test]
    fn broken_blocks_are_never_guessed_at() {
        let cases = [
            ("PROGRAMMATOR_STATUS: DONE", "missing_status"),
            ("PROGRAMMATOR_STATUS:\n  summary: x\n", "missing_status"),
            ("PROGRAMMATOR_STATUS:\n  status:\n  summary: x\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: REVIEW_PASS\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: NOT DONE\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE?\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: ~~DONE~~\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: ❌ DONE\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: !!str DONE\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE, not BLOCKED\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: 1\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: [DONE]\n", "unknown_status"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  status: BLOCKED\n", "conflicting_status"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  files_ch", "truncated"),
            ("PROGRAMMATOR_STATUS:\n  sta", "truncated"),
            ("PROGRAMMATOR_STATUS:\n  status: ", "truncated"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  files_changed: [src/a.rs, sr", "truncated"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  summary: \"Looked aro", "truncated"),
            ("```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n", "truncated"),
            ("PROGRAMMATOR_STATUS: {status: DONE, summary: \"x", "truncated"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n\nPROGRAMMATOR_STATUS: DONE\n", "missing_status"),
        ];
        for (text, reason) in cases {
            assert_eq!(status_of(text), Err(reason), "{text}");
        }
    }

    #[test]
    fn the_last_block_decides() {
        let one = "PROGRAMMATOR_STATUS:\n  status: DONE\n\n";
        let echo = "PROGRAMMATOR_STATUS:\n  status: CONTINUE | DONE | BLOCKED\n";
        assert_eq!(status_of(&format!("{one}{}", one.replace("DONE", "BLOCKED"))), Ok(ClaimStatus::Blocked));
        assert_eq!(status_of(&format!("{one}{echo}")), Ok(ClaimStatus::Done));
        assert_eq!(status_of(&format!("{echo}\n{one}")), Ok(ClaimStatus::Done));
        assert_eq!(status_of(&format!("```\n{one}```\n> {one}")), Ok(ClaimStatus::Done));
    }

    #[test]
    fn a_closed_block_in_an_open_fence_counts_when_it_is_whole() {
        let text = format!("```yaml\nPROGRAMMATOR_STATUS:\n{}", block("  "));
        assert_eq!(status_of(&text), Ok(ClaimStatus::Done));
    }

    #[test]
    fn status_words_in_other_clothes() {
        for word in ["DONE.", "✅ DONE", "`DONE`", "'DONE'", "DONE # all of it", "_Done_", "\"**DONE**\"", "“DONE”"]
        {
            let text = format!("PROGRAMMATOR_STATUS:\n  status: {word}\n  summary: x\n");
            assert_eq!(status_of(&text), Ok(ClaimStatus::Done), "{word}");
        }
    }

    #[test]
    fn phases_as_models_write_them() {
        let cases = [
            ("null", None),
            ("\"null\"", None),
            ("None", None),
            ("-", None),
            ("\"\"", None),
            ("# nothing yet", None),
            ("`Phase 1`", Some("Phase 1")),
            ("“Phase 1: x”", Some("Phase 1: x")),
            ("## Phase 1: x", Some("Phase 1: x")),
            ("\"- [x] Phase 1\"", Some("Phase 1")),
            ("- [ ] **Phase 1: x**", Some("Phase 1: x")),
            ("**Phase 1**: x", Some("Phase 1: x")),
            ("Phase #2", Some("Phase #2")),
            ("Phase 2 # second", Some("Phase 2")),
            ("2", Some("2")),
            ("\"He said \"no\" to it\"", Some("He said \"no\" to it")),
            ("\"C:\\path\\new\"", Some("C:\\path\\new")),
            ("\"tab \\u00e9\"", Some("tab é")),
            ("@fix", Some("@fix")),
            ("`a` and `b`", Some("`a` and `b`")),
            (">-\n    Phase\n    one", Some("Phase one")),
            ("Phase\n    one", Some("Phase one")),
            ("\"Phase\n    one\"", Some("Phase one")),
        ];
        for (value, expected) in cases {
            let claim = with(&format!("phase_completed: {value}"));
            assert_eq!(claim.phase_completed.as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn files_as_models_write_them() {
        let cases: [(&str, &[&str]); 14] = [
            (" []", &[]),
            (" none", &[]),
            (" [] (nothing)", &[]),
            (" null", &[]),
            (" {a: 1}", &[]),
            (" [a.rs, 'b.rs', \"c.rs\"]", &["a.rs", "b.rs", "c.rs"]),
            (" [`a.rs`, b.rs]", &["a.rs", "b.rs"]),
            (" `a.rs`", &["a.rs"]),
            ("\n    - a.rs\n    - b.rs", &["a.rs", "b.rs"]),
            ("\n  - a.rs\n  - b.rs: the parser", &["a.rs", "b.rs: the parser"]),
            ("\n    * `a.rs`\n    * \"b.rs\" # new", &["a.rs", "b.rs"]),
            (" |\n    a.rs\n    b.rs", &["a.rs", "b.rs"]),
            (" [it's.rs, b.rs]", &["it's.rs", "b.rs"]),
            (" [\n\ta.rs,\n\tb.rs\n]", &["a.rs", "b.rs"]),
        ];
        for (value, expected) in cases {
            let claim = with(&format!("files_changed:{value}\n  summary: s"));
            assert_eq!(claim.files_changed, expected, "{value}");
            assert_eq!(claim.summary, "s", "{value}");
        }
    }

    #[test]
    fn summaries_keep_their_words() {
        let cases = [
            (
                "|\n    one\n\n    PROGRAMMATOR_STATUS:\n      status: BLOCKED",
                "one\n\nPROGRAMMATOR_STATUS:\n  status: BLOCKED",
            ),
            ("\n    - one\n    - two", "- one\n- two"),
            ("fixed #12: all of it", "fixed #12: all of it"),
            ("[a] b", "[a] b"),
            ("&a &b *a", "&a &b *a"),
            ("\"open", "open"),
        ];
        for (value, expected) in cases {
            assert_eq!(with(&format!("summary: {value}\n  error: null")).summary, expected, "{value}");
        }
    }

    #[test]
    fn time_is_linear_in_the_text() {
        let started = std::time::Instant::now();
        for unit in [
            "PROGRAMMATOR_STATUS:\n", "PROGRAMMATOR_STATUS:\n  status: DONE\n", "<!--\n", "`x\n", "  summary: \"\n",
            "[", "- ", "  - a\n",
        ] {
            let text = format!(
                "PROGRAMMATOR_STATUS:\n  status: DONE\n  files_changed:\n{}",
                unit.repeat((1 << 18) / unit.len())
            );
            parse(&text);
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,80}", cut in 0usize..200) {
            let whole = format!("{text}\nPROGRAMMATOR_STATUS:\n  phase_completed: {text}\n  status: DONE\n  files_changed: [{text}]\n  summary: {text}\n");
            parse(&whole);
            let cut = (0..=cut.min(whole.len())).rev().find(|&at| whole.is_char_boundary(at)).unwrap_or(0);
            parse(&whole[..cut]);
        }

        /// However a block is cut, it never claims a status that the whole block does not claim.
        #[test]
        fn a_cut_never_changes_the_status(cut in 0usize..120) {
            let whole = "```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: \"Phase 1\"\n  status: CONTINUE\n  files_changed: [a, b]\n  summary: \"x\"\n```\n";
            let reading = parse(&whole[..cut.min(whole.len())]);
            if let Some(claim) = reading.claim {
                prop_assert_eq!(claim.status, ClaimStatus::Continue);
            }
        }
    }
}
