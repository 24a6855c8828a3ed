//! The settings that Claude is started with, and whether it took them. Pure.
//!
//! Claude drops settings without a word when one value in them is not to its taste, and hooks with them; so it is asked
//! at the start which ones it uses.

use super::features::{Feature, Features};
use super::pending::Answer;
use crate::base::text::clean_line;
use serde_json::{Value, json};

/// Settings that outrank a repository's. `env` there can switch the gate off (`CLAUDE_CODE_SIMPLE`) or change what
/// bash makes of a command that was judged, even from files that the person trusts. Other sessions of the person's
/// must not start turns here. `temporary` are the variables that say where temporary files go: the gate counts on them.
pub(super) fn ours(own_git: OwnGit, shell: &str, temporary: impl Iterator<Item = (&'static str, String)>) -> Value {
    let mut settings = json!({
        "crossSessionInbound": "refuse",
        "disableAllHooks": false,
        "env": {"BASH_ENV": "", "CLAUDE_CODE_SAFE_MODE": "", "CLAUDE_CODE_SHELL": shell, "CLAUDE_CODE_SIMPLE": ""},
    });
    for (name, folder) in temporary {
        settings["env"][name] = folder.into();
    }
    if own_git == OwnGit::Stays {
        settings["includeGitInstructions"] = false.into();
    }
    settings
}

/// What a version says of a request that it has not.
const UNSUPPORTED: &str = "Unsupported control request";

/// Why a Claude that answers `get_settings` like this cannot be used, with the fix; `None` when it can. Only a version
/// that has no such request is believed unasked.
pub(super) fn trouble(answer: Answer, ours: &Value, features: &Features) -> Option<String> {
    let unknown = |said: &str| {
        Some(format!(
            "it does not report its settings ({}): its tool calls might not be checked. Try again; if it persists, install a tested version (see `programmator doctor`)",
            clean_line(said, 200)
        ))
    };
    match answer {
        Err(error) if error.starts_with(UNSUPPORTED) => None,
        Err(error) => unknown(&error),
        Ok(text) => match serde_json::from_str::<Value>(&text) {
            Ok(answer) if answer.is_object() => refusal(&answer, ours, features),
            _ => unknown(&text),
        },
    }
}

/// Why a Claude that answers `get_settings` like this cannot be used, with the fix; `None` when it can.
fn refusal(answer: &Value, ours: &Value, features: &Features) -> Option<String> {
    let errors = answer["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(first) = errors.first() {
        let text = |name: &str| clean_line(first[name].as_str().unwrap_or_default(), 200);
        let (file, path, message) = (text("file"), text("path"), text("message"));
        let more = if errors.len() > 1 { format!(" (and {} more)", errors.len() - 1) } else { String::new() };
        // Ours are written to a temporary file by Claude itself.
        let own = file.rsplit('/').next().is_some_and(|name| name.starts_with("claude-settings-"));
        return Some(if own {
            format!(
                "this version of Claude Code rejects programmator's settings: {path}: {message}{more}. Install a tested version (see `programmator doctor`)"
            )
        } else {
            format!(
                "Claude Code ignores settings with an invalid value: {file}: {path}: {message}{more}. Fix that file, or \
                 do not load it (agent.setting_sources)"
            )
        });
    }
    let differs = |name: &str, ours: &Value, used: &Value| (ours != used).then(|| (name.to_owned(), used.clone()));
    let used = &answer["effective"];
    let mut wrong = differs("disableAllHooks", &ours["disableAllHooks"], &used["disableAllHooks"]);
    if features.have(Feature::CrossSessionInbound) {
        let name = "crossSessionInbound";
        wrong = wrong.or_else(|| differs(name, &ours[name], &used[name]));
    }
    for (name, value) in ours["env"].as_object().into_iter().flatten() {
        wrong = wrong.or_else(|| differs(&format!("env.{name}"), value, &used["env"][name]));
    }
    wrong.map(|(name, used)| {
        let used = if used.is_null() { "not set".to_owned() } else { clean_line(&used.to_string(), 100) };
        format!(
            "Claude Code does not use programmator's settings ({name} is {used}): its tool calls might not be checked. Check for a wrapper in agent.command, or managed settings, that replace `--settings`"
        )
    })
}

/// Whether Claude looks at the repository by itself when it starts, with git and without a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OwnGit {
    /// It runs `git status` and the like.
    #[default]
    Looks,
    /// It runs none: the repository would have git run programs.
    Stays,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(answer: &Value, features: impl IntoIterator<Item = Feature>) -> String {
        let ours = ours(OwnGit::Looks, "/bin/bash", std::iter::empty());
        refusal(answer, &ours, &Features::of(features)).unwrap_or_default()
    }

    #[test]
    fn settings_that_are_used_are_fine_and_more_may_be_added() {
        let mut used = ours(OwnGit::Looks, "/bin/bash", std::iter::empty());
        used["model"] = "x".into();
        used["env"]["MORE"] = "1".into();
        assert_eq!(told(&json!({"effective": used}), [Feature::CrossSessionInbound]), "");
        used["crossSessionInbound"] = Value::Null;
        assert_eq!(told(&json!({"effective": used}), []), "", "a version that has none");
        let missing = told(&json!({"effective": used}), [Feature::CrossSessionInbound]);
        assert!(missing.contains("crossSessionInbound is not set"), "{missing}");
    }

    #[test]
    fn a_setting_that_is_dropped_or_replaced_is_named() {
        for (at, value, part) in [
            ("/effective", json!({}), "disableAllHooks is not set"),
            ("/effective/disableAllHooks", json!(true), "disableAllHooks is true"),
            ("/effective/env/CLAUDE_CODE_SIMPLE", json!("1"), "env.CLAUDE_CODE_SIMPLE is \"1\""),
        ] {
            let mut answer = json!({"effective": ours(OwnGit::Looks, "/bin/bash", std::iter::empty())});
            *answer.pointer_mut(at).unwrap() = value;
            let told = told(&answer, []);
            assert!(told.contains(part) && told.contains("agent.command"), "{told}");
        }
    }

    #[test]
    fn an_answer_that_says_nothing_is_not_believed() {
        let ours = ours(OwnGit::Looks, "/bin/bash", std::iter::empty());
        let told = |answer| trouble(answer, &ours, &Features::default()).unwrap_or_default();
        assert_eq!(told(Err("Unsupported control request subtype: get_settings".into())), "");
        assert_eq!(told(Ok(json!({"effective": ours}).to_string())), "");
        for (answer, part) in [
            (Ok("null".to_owned()), "null"),
            (Ok(String::new()), "report its settings ()"),
            (Ok("{\"effective\":".to_owned()), "effective"),
            (Err("EIO: i/o error".to_owned()), "EIO"),
        ] {
            let told = told(answer.clone());
            assert!(told.contains("report its settings") && told.contains(part), "{answer:?}: {told}");
        }
    }

    #[test]
    fn an_invalid_file_is_named_with_the_fix() {
        let error = |file: &str| json!({"file": file, "path": "permissions", "message": "Expected object"});
        let used = ours(OwnGit::Looks, "/bin/bash", std::iter::empty());
        let persons = told(&json!({"effective": used, "errors": [error("/h/.claude/settings.json"), error("x")]}), []);
        for part in ["/h/.claude/settings.json: permissions: Expected object", "(and 1 more)", "Fix that file"] {
            assert!(persons.contains(part), "{persons}");
        }
        let own = told(&json!({"effective": {}, "errors": [error("/tmp/claude-0/claude-settings-f9.json")]}), []);
        assert!(own.contains("rejects programmator's settings") && own.contains("programmator doctor"), "{own}");
    }
}
