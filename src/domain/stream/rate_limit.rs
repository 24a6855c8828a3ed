//! `rate_limit_event`: what the provider tells of one of its windows.

use super::raw::{Raw, count, number, string, word};
use crate::base::text::clean_line;
use crate::base::time::Timestamp;
use crate::domain::limits::provider::{ACCOUNT, Window, WindowStatus};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Info<'a> {
    #[serde(borrow)]
    status: Raw<'a>,
    resets_at: Raw<'a>,
    rate_limit_type: Raw<'a>,
    utilization: Raw<'a>,
}

/// Reads `rate_limit_info` (JSON text). `None` when it does not say how the window stands.
pub fn window(info: &str) -> Option<Window> {
    let info: Info<'_> = serde_json::from_str(info).ok()?;
    let status = match word(info.status) {
        "allowed" => WindowStatus::Allowed,
        "allowed_warning" => WindowStatus::Warning,
        "rejected" => WindowStatus::Rejected,
        _ => return None,
    };
    let kind = clean_line(&string(info.rate_limit_type), 40);
    Some(Window {
        kind: if kind.is_empty() { ACCOUNT.to_owned() } else { kind },
        status,
        used: number(info.utilization).filter(|used| (0.0..=10.0).contains(used)),
        resets_at: count(info.resets_at).and_then(epoch),
    })
}

/// Seconds since 1970; milliseconds have been seen where seconds were meant.
fn epoch(number: u64) -> Option<Timestamp> {
    let millis = if number > 100_000_000_000 { number } else { number * 1_000 };
    i64::try_from(millis).ok().filter(|millis| *millis > 0).map(Timestamp::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_read_with_whatever_is_missing() {
        let full =
            r#"{"status":"allowed_warning","resetsAt":1795273200,"rateLimitType":"five_hour","utilization":0.91}"#;
        let resets_at = Some(Timestamp::from_millis(1_795_273_200_000));
        let expected = Window { kind: "five_hour".into(), status: WindowStatus::Warning, used: Some(0.91), resets_at };
        assert_eq!(window(full), Some(expected.clone()));
        let in_millis = full.replace("1795273200", "1795273200000");
        assert_eq!(window(&in_millis), Some(expected));
        let bare = Window { kind: ACCOUNT.into(), status: WindowStatus::Rejected, used: None, resets_at: None };
        assert_eq!(window(r#"{"status":"rejected"}"#), Some(bare.clone()));
        assert_eq!(
            window(r#"{"status":"rejected","utilization":"x","resetsAt":-3,"rateLimitType":{}}"#),
            Some(bare),
            "odd fields cost nothing"
        );
        for nothing in ["{}", "[]", "rejected", r#"{"status":"maybe"}"#, ""] {
            assert_eq!(window(nothing), None, "{nothing}");
        }
        let nasty = window("{\"status\":\"rejected\",\"rateLimitType\":\"a\\u001b[31mb\"}").unwrap();
        assert!(!nasty.kind.contains('\u{1b}'), "{nasty:?}");
    }
}
