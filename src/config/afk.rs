//! The settings of claude-afk, another program that asks by Telegram: which of them have a key here, and why the others have none.

use crate::base::text::clean_line;
use crate::config::FileText;
use crate::config::file;
use crate::config::key::{Key, row_of};
use serde_json::{Map, Value};

/// What becomes of one of its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// As it is called there, and its value; clean.
    pub name: String,
    pub value: String,
    /// The line below `away:` that says the same, or why there is none.
    pub becomes: Result<String, String>,
}

/// What becomes of each setting of its `config.json`, in the order of the file. The error says what is wrong with the text.
pub fn read(text: &str) -> Result<Vec<Fate>, String> {
    let settings: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| clean_line(&format!("not a JSON object: {error}"), 200))?;
    let fate = |(name, value): (&String, &Value)| Fate {
        name: clean_line(name, 40),
        value: clean_line(&value.to_string(), 80),
        becomes: becomes(name, value),
    };
    Ok(settings.iter().map(fate).collect())
}

fn becomes(name: &str, value: &Value) -> Result<String, String> {
    let key = match name {
        "retryInterval" => Key::AwayRepeatAfter,
        "maxRetries" => Key::AwayRepeats,
        "alwaysEnabled" => Key::AwayAlwaysOn,
        "allowSinglePendingFallback" => Key::AwayBareAnswers,
        "bulkApprovalTools" => Key::AwayBulkTools,
        _ => return Err(no_key(name).to_owned()),
    };
    let row = row_of(key);
    row.read_yaml(value)?;
    let (_, name) = row.name.split_once('.').unwrap_or_default();
    Ok(format!("{name}: {value}"))
}

/// Why a setting has no key.
fn no_key(name: &str) -> &'static str {
    match name {
        "permissionTimeout" => {
            "your own session waits for 59 minutes, then only its own prompt remains; a run waits indefinitely"
        }
        "stopFollowupTimeout" => "your own session waits for 59 minutes after it has finished",
        "staleUpdateThreshold" => "messages older than five minutes when they are read are always ignored",
        "pollingInterval" => "Telegram delivers messages at once; there is no polling interval",
        "transcriptPolling" => "an answer in a session's terminal is always noticed within half a second",
        _ => "no equivalent",
    }
}

/// The lines for the person's `config.yaml`; empty: none has a key.
pub fn section(fates: &[Fate]) -> String {
    let lines: String = fates.iter().filter_map(|fate| Some(format!("  {}\n", fate.becomes.as_ref().ok()?))).collect();
    if lines.is_empty() { lines } else { format!("away:\n{lines}") }
}

/// The text of a `config.yaml` with that section at its end; `None`: it has one already, or cannot be read.
pub fn with(config: &str, section: &str) -> Option<String> {
    let groups = file::sections(config).ok()?;
    if groups.keys().any(|group| group.value == "away") {
        return None;
    }
    let end = if config.is_empty() || config.ends_with('\n') { "" } else { "\n" };
    let new = format!("{config}{end}{section}");
    let read = |text: &str| file::read(&FileText { path: String::new(), text: text.to_owned() });
    let ((before, wrong), (after, more)) = (read(config), read(&new));
    // One that ends in a comment or a document's end would swallow it.
    (after.len() + 1 == before.len() + section.lines().count() && more.len() <= wrong.len()).then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERYTHING: &str = r#"{"alwaysEnabled": false, "retryInterval": 300, "maxRetries": 3, "permissionTimeout": 3600,
        "stopFollowupTimeout": 3600, "staleUpdateThreshold": 300, "pollingInterval": 2, "allowSinglePendingFallback": true,
        "bulkApprovalTools": ["Edit", "Write"], "transcriptPolling": {"enabled": true, "intervalMs": 3000}, "new": "\u001b[31m"}"#;

    #[test]
    fn each_setting_has_its_key_or_a_reason_why_not() {
        let fates = read(EVERYTHING).unwrap();
        assert_eq!(fates.len(), 11);
        let section = section(&fates);
        assert_eq!(
            section,
            "away:\n  always_on: false\n  repeat_after: 300\n  repeats: 3\n  bare_answers: true\n  bulk_tools: [\"Edit\",\"Write\"]\n"
        );
        let unknown: Vec<&str> = (fates.iter().filter(|fate| fate.becomes == Err(no_key("").to_owned())))
            .map(|fate| fate.name.as_str())
            .collect();
        assert_eq!(unknown, ["new"]);
        let wrong = read(r#"{"retryInterval": 5, "bulkApprovalTools": "all"}"#).unwrap();
        assert!(wrong[0].becomes.as_ref().unwrap_err().contains("from 30 to 86400"), "{wrong:?}");
        assert!(wrong[1].becomes.is_err() && super::section(&wrong).is_empty());
        assert!(read("[]").is_err() && read("").is_err());
    }

    #[test]
    fn the_section_is_added_where_there_is_none_and_every_other_byte_stays() {
        let section = section(&read(EVERYTHING).unwrap());
        for text in ["", "# mine\nlimits: {stagnation: 5}", "limits:\n  stagnation: 5\n"] {
            assert!(with(text, &section).unwrap().starts_with(text), "{text}");
        }
        for text in [
            "away:\n  repeats: 1\n", "away:\n", "limits: [", "{limits: {stagnation: 5}}\n",
            "limits:\n  stagnation: 5\n...\n",
        ] {
            assert_eq!(with(text, &section), None, "{text}");
        }
    }
}
