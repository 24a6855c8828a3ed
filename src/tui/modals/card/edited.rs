//! The input of a call as a person edits it: the plain command for Bash, JSON for all else.

use crate::domain::approval::{Approval, runs_in_shell};
use serde_json::Value;

/// The text that is edited. What cannot be seen is left out of a command, and spelt as JSON spells it elsewhere.
pub(super) fn shown(approval: &Approval, input: &str) -> String {
    let Ok(value) = serde_json::from_str::<Value>(input) else { return input.to_owned() };
    if let Some(command) = command(approval, &value) {
        return command.to_owned();
    }
    let json = serde_json::to_string_pretty(&value).unwrap_or_default();
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && crate::base::text::hides(c.encode_utf8(&mut [0; 4])) {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    out
}

/// The input that the edited text makes, as JSON; why it makes none.
pub(super) fn read(approval: &Approval, text: &str) -> Result<String, String> {
    let before = serde_json::from_str::<Value>(&approval.input).unwrap_or_default();
    if command(approval, &before).is_some() {
        if text.trim().is_empty() {
            return Err("the command is empty; d denies the call".into());
        }
        let mut after = before;
        after["command"] = Value::String(text.to_owned());
        return Ok(after.to_string());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(after)) => Ok(Value::Object(after).to_string()),
        Ok(_) => Err("the input must be a JSON object: { … }".into()),
        Err(error) => Err(format!("not JSON: {error}")),
    }
}

fn command<'a>(approval: &Approval, input: &'a Value) -> Option<&'a str> {
    input.get("command").filter(|_| runs_in_shell(&approval.tool)).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    #[test]
    fn a_command_is_edited_as_it_is_and_the_rest_of_the_input_stays() {
        let bash = sample::asks("x", "Bash", r#"{"command":"git push","timeout":5}"#, 1);
        assert_eq!(shown(&bash, &bash.input), "git push");
        assert_eq!(read(&bash, "git push -n").unwrap(), r#"{"command":"git push -n","timeout":5}"#);
        assert!(read(&bash, " \n").is_err());
    }

    #[test]
    fn other_inputs_are_json_and_come_back_as_they_were() {
        let input = "{\"file_path\":\"a\u{202e}b\",\"n\":{\"x\":[1]},\"tag\":\"\u{e0041}\"}";
        let edit = sample::asks("x", "Edit", input, 1);
        let text = shown(&edit, input);
        assert!(text.contains("a\\u202eb") && text.contains("\\udb40\\udc41"), "{text}");
        assert_eq!(read(&edit, &text).unwrap(), input);
        assert!(read(&edit, "[1]").unwrap_err().contains("object"));
        assert!(read(&edit, "{").unwrap_err().contains("not JSON"));
    }
}
