//! Hank's `.hankrc` and Ralph's `.ralphrc`: read as settings, never run.

use super::counterparts::{self, Counterpart};
use super::visible;
use std::collections::BTreeMap;

/// A setting, and what it is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub name: String,
    pub value: String,
    /// What to do for the same here, or why there is nothing to do.
    pub here: String,
}

/// What the settings of the file are here, the last of several with a name counting. Values that a shell would work out are told, not used.
pub fn told(text: &str) -> Vec<Told> {
    let mut settings: BTreeMap<&str, &str> = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
        let Some((name, value)) = line.split_once('=') else { continue };
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            settings.insert(name, value);
        }
    }
    let told = |(name, value): (&str, &str)| {
        let here = match (literal(value), counterparts::setting(name)) {
            (None, _) => "needs a shell to evaluate: not used".to_owned(),
            (Some(_), None) => "unknown: not a Hank setting".to_owned(),
            (Some(value), Some(known)) => here(known, &value),
        };
        let value = literal(value).unwrap_or_else(|| value.to_owned());
        Told { name: name.to_owned(), value: visible::line(&value), here }
    };
    settings.into_iter().map(told).collect()
}

fn here(known: &Counterpart, value: &str) -> String {
    let Some(key) = known.key else { return known.ours.to_owned() };
    let minutes = |text: &str| text.parse::<u64>().ok().map(|n| (n.saturating_mul(60)).to_string());
    let plain = |text: &str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        (!text.is_empty() && is_plain).then(|| text.to_owned())
    };
    // Theirs is off at 0, where ours is left out.
    let value = if known.is_minutes { minutes(value) } else { plain(value) }.filter(|value| value != "0");
    value.map_or_else(|| known.ours.to_owned(), |value| format!("{key}: {value}"))
}

/// The text that a value stands for, without a comment behind it; `None` where a shell would do anything to it.
fn literal(value: &str) -> Option<String> {
    let value = value.trim();
    let (text, rest) = if let Some(quote @ ('"' | '\'')) = value.chars().next() {
        value[1..].split_once(quote)?
    } else {
        value.split_at(value.find([' ', '\t']).unwrap_or(value.len()))
    };
    let is_done = rest.trim().is_empty() || rest.trim().starts_with('#');
    let is_plain = value.starts_with('\'') || !text.contains(['$', '`', '\\']);
    (is_done && is_plain && (value.starts_with(['"', '\'']) || !text.contains([';', '&', '|', '<', '>', '(', ')'])))
        .then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_told_and_none_is_run() {
        let text = "# Hank\nMAX_CALLS_PER_HOUR=50\nexport CLAUDE_TIMEOUT_MINUTES=\"30\" # min\nMAX_CALLS_PER_HOUR=60\nALLOWED_TOOLS=\"Write,Bash(git *)\"\nPROJECT_NAME=$(touch /tmp/owned)\nCB_COOLDOWN_MINUTES='5'\nNO_SUCH=1\nrm -rf /\nX=\"a`b`\"\nMAX_TOKENS_PER_HOUR=1;reboot\nCLAUDE_MODEL=\"a: {b}\"\nSESSION_EXPIRY_HOURS=0\n";
        let told = told(text);
        let here =
            |name: &str| told.iter().find(|one| one.name == name).map(|one| one.here.clone()).unwrap_or_default();
        assert_eq!(here("MAX_CALLS_PER_HOUR"), "limits.calls: 60");
        assert_eq!(here("CLAUDE_TIMEOUT_MINUTES"), "limits.iteration_timeout: 1800");
        assert_eq!(here("CB_COOLDOWN_MINUTES"), "breaker.cooldown: 300");
        assert!(here("ALLOWED_TOOLS").contains("policy"), "{}", here("ALLOWED_TOOLS"));
        for name in ["PROJECT_NAME", "X", "MAX_TOKENS_PER_HOUR"] {
            assert!(here(name).contains("not used"), "{name}: {}", here(name));
        }
        assert!(here("NO_SUCH").starts_with("unknown"));
        assert_eq!(here("CLAUDE_MODEL"), "`agent.model`");
        assert_eq!(here("SESSION_EXPIRY_HOURS"), "`run.session_expiry_hours`");
        assert_eq!(told.len(), 10);
    }
}
