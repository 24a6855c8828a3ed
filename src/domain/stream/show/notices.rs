//! Records of Claude's own machinery that a person should see: retries, compaction, fallback, limits,
//! subagents at work.

use super::block::{Block, Progress};
use super::fields::Fields;
use super::results::seconds;
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::limits::provider::window_name;
use crate::domain::record::Level;

/// Longest notice in columns, before it is wrapped.
const LONGEST: usize = 600;

/// Reads a `system` record. Empty: nothing to see.
pub(super) fn system(record: &Fields<'_>) -> Vec<Block> {
    let subtype = record.text("subtype").unwrap_or_default();
    let said = || ["content", "text", "message", "summary", "description"].into_iter().find_map(|key| record.text(key));
    let (level, text) = match subtype.as_str() {
        "api_retry" => (Level::Warn, retry(record)),
        "compact_boundary" => (Level::Info, compacted(record)),
        "model_fallback" => (Level::Warn, said().unwrap_or_else(|| "switched to another model".to_owned())),
        "informational" => (level(record), said().unwrap_or_default()),
        "task_started" | "task_progress" | "task_updated" | "task_notification" => return task(record, &subtype),
        "status" => match record.text("compact_error") {
            Some(error) => (Level::Warn, format!("compacting the context failed: {error}")),
            None => return Vec::new(),
        },
        "hook_response" => match record.text("outcome").as_deref() {
            Some("error") => (Level::Warn, format!("hook {} failed", record.text("hook_name").unwrap_or_default())),
            _ => return Vec::new(),
        },
        "init" | "hook_started" | "thinking_tokens" | "session_state_changed" => return Vec::new(),
        "api_error" | "agents_killed" | "model_refusal_no_fallback" | "permission_denied" => {
            (Level::Error, said().unwrap_or_else(|| words(&subtype)))
        }
        other => (Level::Info, said().map_or_else(|| words(other), |said| format!("{}: {said}", words(other)))),
    };
    notice(level, &text)
}

pub(super) fn rate_limit(record: &Fields<'_>) -> Vec<Block> {
    let info = record.object("rate_limit_info").unwrap_or_default();
    let window = info.text("rateLimitType").map_or_else(|| "usage limit".to_owned(), |kind| window_name(&kind));
    let reset = info
        .number("resetsAt")
        .and_then(|at| jiff::Timestamp::from_second(at as i64).ok())
        .map(|at| format!(" · resets {}", at.strftime("%b %-d %H:%M UTC")))
        .unwrap_or_default();
    let used = info.number("utilization").map(|part| format!(" · {:.0} % used", part * 100.0)).unwrap_or_default();
    match info.text("status").as_deref() {
        Some("rejected") => notice(Level::Error, &format!("{window} reached{reset}")),
        Some("allowed_warning") => notice(Level::Warn, &format!("{window} nearly reached{used}{reset}")),
        _ => Vec::new(),
    }
}

/// One notice, cleaned and of one paragraph.
pub(super) fn notice(level: Level, text: &str) -> Vec<Block> {
    vec![Block::Notice { level, text: clean_line(text, LONGEST) }]
}

fn level(record: &Fields<'_>) -> Level {
    match record.text("level").as_deref() {
        Some("error") => Level::Error,
        Some("warning" | "warn") => Level::Warn,
        _ => Level::Info,
    }
}

fn retry(record: &Fields<'_>) -> String {
    let status = record.count("error_status").map_or_else(|| "no connection".to_owned(), |status| status.to_string());
    format!(
        "API {status} {} · retry {} of {} in {}",
        words(&record.text("error").unwrap_or_default()),
        record.count("attempt").unwrap_or_default(),
        record.count("max_retries").unwrap_or_default(),
        seconds(record.number("retry_delay_ms").unwrap_or_default()),
    )
}

fn compacted(record: &Fields<'_>) -> String {
    // On disk its fields have other names.
    let meta = record.object("compact_metadata").or_else(|| record.object("compactMetadata")).unwrap_or_default();
    let tokens = |[key, on_disk]: [&str; 2]| {
        meta.count(key).or_else(|| meta.count(on_disk)).map_or_else(|| "?".to_owned(), |n| n.to_string())
    };
    format!(
        "context compacted ({}): {} → {} tokens",
        meta.text("trigger").unwrap_or_else(|| "auto".to_owned()),
        tokens(["pre_tokens", "preTokens"]),
        tokens(["post_tokens", "postTokens"]),
    )
}

/// Subagents and long commands belong to the line of their call, when they have one.
fn task(record: &Fields<'_>, subtype: &str) -> Vec<Block> {
    let id = record.text("tool_use_id").unwrap_or_default();
    let usage = record.object("usage");
    if let (false, Some(usage)) = (id.is_empty(), &usage) {
        return vec![Block::Progress(Progress {
            id,
            summary: format!(
                "{} · {}",
                counted(usage.count("tool_uses").unwrap_or_default() as usize, "tool"),
                seconds(usage.number("duration_ms").unwrap_or_default()),
            ),
        })];
    }
    match (subtype, record.text("status").as_deref()) {
        ("task_notification", Some(status)) if status != "completed" => {
            notice(Level::Warn, &format!("task {status}: {}", record.text("summary").unwrap_or_default()))
        }
        _ => Vec::new(),
    }
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(json: &str) -> String {
        let record = Fields::read(json).expect("an object");
        system(&record)
            .into_iter()
            .map(|block| match block {
                Block::Notice { level, text } => format!("{level:?} {text}"),
                Block::Progress(progress) => format!("{} {}", progress.id, progress.summary),
                other => format!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn what_people_should_know_is_said() {
        let cases = [
            (
                r#"{"subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":577.3,"error_status":429,"error":"rate_limit"}"#,
                "Warn API 429 rate limit · retry 1 of 10 in 0.6 s",
            ),
            (
                r#"{"subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":1000,"error_status":null,"error":"unknown"}"#,
                "Warn API no connection unknown · retry 2 of 10 in 1.0 s",
            ),
            (
                r#"{"subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":190021,"post_tokens":634}}"#,
                "Info context compacted (auto): 190021 → 634 tokens",
            ),
            (r#"{"subtype":"model_fallback","content":"Switched"}"#, "Warn Switched"),
            (
                r#"{"subtype":"task_progress","tool_use_id":"t","usage":{"tool_uses":1,"duration_ms":42}}"#,
                "t 1 tool · 0.0 s",
            ),
            (r#"{"subtype":"task_started","tool_use_id":"t"}"#, ""),
            (r#"{"subtype":"task_notification","status":"stopped","summary":"sleep"}"#, "Warn task stopped: sleep"),
            (r#"{"subtype":"init"}"#, ""),
            (r#"{"subtype":"brand_new","text":"hello"}"#, "Info brand new: hello"),
            (r#"{"subtype":7}"#, "Info "),
        ];
        for (json, expected) in cases {
            assert_eq!(shown(json), expected, "{json}");
        }
    }

    #[test]
    fn a_limit_speaks_only_when_it_is_near() {
        let block = |json: &str| rate_limit(&Fields::read(json).expect("an object"));
        assert!(block(r#"{"rate_limit_info":{"status":"allowed"}}"#).is_empty());
        let rejected =
            block(r#"{"rate_limit_info":{"status":"rejected","resetsAt":1795298400,"rateLimitType":"five_hour"}}"#);
        let Block::Notice { level, text } = &rejected[0] else { unreachable!("a notice") };
        assert_eq!(*level, Level::Error);
        assert!(text.starts_with("five-hour limit reached · resets Nov 21"), "{text}");
    }
}
