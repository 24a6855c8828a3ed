//! The settings that the agent was started with, and what it says of them. Judges only the value that the recordings
//! judge; does not act on any.

use super::dialect::{Dialect, extend};
use serde_json::{Value, json};

/// What `--settings` gave.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Those that are used: `{}` where one of them is wrong.
    used: Value,
    errors: Vec<Value>,
}

impl Settings {
    /// Reads JSON text or a file. A file that is not there ends the start, as it does with the real one.
    pub fn read(given: Option<&str>) -> Result<Self, String> {
        let Some(given) = given else { return Ok(Self { used: json!({}), errors: Vec::new() }) };
        let (text, file) = if given.trim_start().starts_with('{') && given.trim_end().ends_with('}') {
            // The real one writes the text to a file first.
            (given.to_owned(), "/tmp/claude-0/claude-settings-0000000000000000.json")
        } else {
            (std::fs::read_to_string(given).map_err(|_| format!("Error: Settings file not found: {given}"))?, given)
        };
        let used: Value = serde_json::from_str(&text).map_err(|e| format!("Error: Invalid settings: {e}"))?;
        let wrong = match &used["disableAllHooks"] {
            Value::Null | Value::Bool(_) => None,
            other => Some(kind(other)),
        };
        Ok(match wrong {
            Some(kind) => {
                let message = format!("Expected boolean, but received {kind}");
                let error = json!({"file": file, "path": "disableAllHooks", "message": message});
                Self { used: json!({}), errors: vec![error] }
            }
            None => Self { used, errors: Vec::new() },
        })
    }

    /// The commands that are to be run at an event.
    pub fn hooks(&self, event: &str) -> Vec<String> {
        let all = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
        let groups = all(&self.used["hooks"], event);
        let hooks = groups.iter().flat_map(|group| all(group, "hooks"));
        hooks.filter_map(|hook| hook["command"].as_str().map(str::to_owned)).collect()
    }

    /// Whether a rule of its own has each call of this tool asked about, also what a hook allows.
    pub fn asks(&self, tool: &str) -> bool {
        self.used["permissions"]["ask"].as_array().is_some_and(|rules| rules.iter().any(|rule| rule == tool))
    }

    pub fn answer(&self, dialect: Dialect, model: &str) -> Value {
        let given = self.used.as_object().is_some_and(|used| !used.is_empty());
        let source = given.then(|| json!({"source": "flagSettings", "settings": self.used}));
        let effort = if dialect.is_newer() { "medium" } else { "high" };
        let applied = json!({"model": model, "effort": effort, "ultracode": false});
        let sources: Vec<Value> = source.into_iter().collect();
        let mut answer = json!({"effective": self.used, "sources": sources, "applied": applied});
        if !self.errors.is_empty() {
            answer["errors"] = json!(self.errors);
        }
        if dialect.is_newer() {
            answer["served_settings_state"] = json!("ineligible");
            let more = json!({
                "advisor": null, "ultracodeRequested": false, "ultracodeAvailable": true,
                "ultrathinkAvailable": false, "outsideFileToolReadsBlocked": false,
                "outsideFileToolWritesBlocked": false, "outsideBlocksCountLaunchFoldersOnly": false,
                "launchEnvLeftOwnFilesInPlace": true,
            });
            extend(&mut answer["applied"], &more);
        }
        answer
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Number(_) => "number",
        Value::Array(_) => "array",
        _ => "object",
    }
}
