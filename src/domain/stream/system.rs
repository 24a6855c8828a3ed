//! The `system` records that somebody acts upon, and how far messages to Claude have come; the others are only shown.

use super::raw::{Raw, count, string};
use serde::Deserialize;

/// `system/init`: the start of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Init {
    pub session: String,
    /// Model, with its variant (`claude-opus-4-8[1m]`).
    pub model: String,
    pub version: String,
}

/// `system/api_retry`: a failed request will be sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApiRetry {
    pub attempt: u32,
    pub max_retries: u32,
    pub delay_ms: u64,
    /// HTTP status; `None` for a lost connection.
    pub status: Option<u16>,
    /// Kind of error (see [`super::api_error`]).
    pub error: String,
}

/// `command_lifecycle`: how far a message to Claude has come. Claude tells it of every message that has a uuid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifecycle {
    pub uuid: String,
    pub state: String,
    /// It is no message, but a wake-up that Claude had set.
    pub wakes: bool,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    session_id: Raw<'a>,
    model: Raw<'a>,
    claude_code_version: Raw<'a>,
    attempt: Raw<'a>,
    max_retries: Raw<'a>,
    retry_delay_ms: Raw<'a>,
    error_status: Raw<'a>,
    error: Raw<'a>,
    status: Raw<'a>,
    command_uuid: Raw<'a>,
    state: Raw<'a>,
    wakeup_source: Raw<'a>,
}

/// Reads `command_lifecycle` from its line; missing parts are empty.
pub fn lifecycle(line: &str) -> Lifecycle {
    serde_json::from_str::<Fields<'_>>(line).map_or_else(
        |_| Lifecycle::default(),
        |fields| Lifecycle {
            uuid: string(fields.command_uuid),
            state: string(fields.state),
            wakes: fields.wakeup_source.is_some(),
        },
    )
}

/// Reads `system/init` from its line; missing parts are empty.
pub fn init(line: &str) -> Init {
    serde_json::from_str::<Fields<'_>>(line).map_or_else(
        |_| Init::default(),
        |fields| Init {
            session: string(fields.session_id),
            model: string(fields.model),
            version: string(fields.claude_code_version),
        },
    )
}

/// `system/status`: the conversation is being compacted, which is work of the service's.
pub fn is_compacting(line: &str) -> bool {
    serde_json::from_str::<Fields<'_>>(line).is_ok_and(|fields| string(fields.status) == "compacting")
}

/// Reads `system/api_retry` from its line; missing parts are empty.
pub fn api_retry(line: &str) -> ApiRetry {
    let small = |raw| count(raw).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    serde_json::from_str::<Fields<'_>>(line).map_or_else(
        |_| ApiRetry::default(),
        |fields| ApiRetry {
            attempt: small(fields.attempt),
            max_retries: small(fields.max_retries),
            delay_ms: count(fields.retry_delay_ms).unwrap_or(0),
            status: count(fields.error_status).and_then(|status| u16::try_from(status).ok()),
            error: string(fields.error),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_is_read_with_its_odd_numbers() {
        let line = r#"{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":577.3,"error_status":null,"error":"unknown"}"#;
        let expected = ApiRetry { attempt: 2, max_retries: 10, delay_ms: 577, status: None, error: "unknown".into() };
        assert_eq!(api_retry(line), expected);
        assert_eq!(api_retry(r#"{"attempt":"x","retry_delay_ms":-3}"#), ApiRetry::default());
    }
}
