//! The hooks by which a person's own Claude sessions ask elsewhere: where they go in Claude's settings, how they are taken out
//! again, and the same as a plugin. As of permission rules, nothing else of the text changes.

use super::claude_settings::{Layout, inserted, span};
use serde::Deserialize;
use serde_json::ser::PrettyFormatter;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How the command ends that Claude runs. Whatever becomes of the program, its exit code must not be a no.
const ENDS: &str = " hook session || true";
/// Of what Claude tells them. Those that an earlier version has installed stay in the order that it had.
const EVENTS: [&str; 6] = ["PermissionRequest", "Stop", "SessionEnd", BEFORE, "SessionStart", "Notification"];
/// Before each call.
pub const BEFORE: &str = "PreToolUse";
/// Nobody is asked for these.
const QUICK: [&str; 3] = [BEFORE, "SessionStart", "Notification"];
/// Seconds that Claude waits for what nobody is asked for.
const AT_ONCE: u64 = 30;

/// The hooks that are wanted.
#[derive(Clone, Copy)]
pub struct Hooks<'a> {
    /// What Claude runs.
    pub command: &'a str,
    /// Seconds that Claude waits for a person.
    pub wait: u64,
    /// What they are told of.
    pub events: &'a [&'static str],
}

impl Hooks<'_> {
    /// Each event with its entry.
    fn entries(self) -> impl Iterator<Item = (&'static str, Value)> {
        let wait = move |event| if QUICK.contains(&event) { AT_ONCE } else { self.wait };
        self.events.iter().map(move |event| (*event, entry(self.command, wait(*event))))
    }
}

/// The events of which hooks are wanted. `is_gated`: each call is judged before it is made.
pub fn wanted(is_gated: bool) -> Vec<&'static str> {
    EVENTS.into_iter().filter(|event| is_gated || *event != BEFORE).collect()
}

/// The events of which hooks of ours are in the text.
pub fn events(text: &str) -> Vec<&'static str> {
    let settings: Value = serde_json::from_str(text).unwrap_or_default();
    let has_ours = |event: &&str| {
        let groups = settings["hooks"][*event].as_array().into_iter().flatten();
        let mut hooks = groups.filter_map(|group| group["hooks"].as_array()).flatten();
        hooks.any(|hook| hook["command"].as_str().is_some_and(|command| command.ends_with(ENDS)))
    };
    EVENTS.into_iter().filter(has_ours).collect()
}

/// The command that Claude runs, by an absolute path of this program.
pub fn command(program: &str) -> String {
    format!("'{}'{ENDS}", program.replace('\'', r"'\''"))
}

/// Claude is to wait for it for so many seconds.
fn entry(command: &str, wait: u64) -> Value {
    json!({"hooks": [{"type": "command", "command": command, "timeout": wait}]})
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

#[derive(Deserialize)]
struct Group<'a> {
    #[serde(borrow)]
    hooks: Vec<&'a RawValue>,
}

/// The text with the hooks. The error says where it is not what it must be.
pub fn added(text: &str, hooks: Hooks<'_>) -> Result<String, String> {
    hooks.entries().try_fold(text.to_owned(), |text, (event, entry)| with(&text, event, &entry))
}

fn with(text: &str, event: &str, entry: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        let whole = json!({"hooks": {event: [entry]}});
        return Ok(serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())? + "\n");
    }
    let mut expected: Value = serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    let top = expected.as_object_mut().ok_or("it is not a JSON object")?;
    let hooks = top.entry("hooks").or_insert_with(|| json!({}));
    let hooks = hooks.as_object_mut().ok_or("`hooks` has an unexpected form")?;
    let list = hooks.entry(event).or_insert_with(|| json!([])).as_array_mut();
    list.ok_or_else(|| format!("`hooks.{event}` has an unexpected form"))?.push(entry.clone());

    let layout = Layout::of(text);
    let put = |place: (usize, usize), key: Option<&str>, value: &Value| {
        let inside = layout.inside(text, place);
        let key = key.map(|key| format!("\"{key}\": ")).unwrap_or_default();
        inserted(text, place, &inside, &[format!("{}{key}{}", inside.item, laid_out(value, &inside))])
    };
    let top: Members<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let new = match top.get("hooks") {
        None => {
            let start = text.len() - text.trim_start().len();
            put((start, text.trim_end().len()), Some("hooks"), &json!({event: [entry]}))
        }
        Some(hooks) => {
            let events: Members<'_> = serde_json::from_str(hooks.get()).map_err(|error| error.to_string())?;
            match events.get(event) {
                None => put(span(text, hooks), Some(event), &json!([entry])),
                Some(list) => put(span(text, list), None, entry),
            }
        }
    };
    let is_so = serde_json::from_str::<Value>(&new).is_ok_and(|new| new == expected);
    if is_so { Ok(new) } else { Err("hooks cannot be added automatically; add them by hand".to_owned()) }
}

/// A value as an item of what is laid out like this.
fn laid_out(value: &Value, inside: &Layout) -> String {
    let Some((_, indent)) = inside.item.rsplit_once('\n') else { return value.to_string() };
    let mut out = Vec::new();
    let mut pretty =
        serde_json::Serializer::with_formatter(&mut out, PrettyFormatter::with_indent(inside.unit.as_bytes()));
    if serde::Serialize::serialize(value, &mut pretty).is_err() {
        return value.to_string();
    }
    let newline = &inside.item[..inside.item.len() - indent.len()];
    String::from_utf8_lossy(&out).replace('\n', &format!("{newline}{indent}"))
}

/// The command of a hook of ours in the text; `None`: there is none.
pub fn installed(text: &str) -> Option<String> {
    found(text).map(|(_, command)| command)
}

/// The text without hooks of ours, whichever program they start; `None`: it has none. The error: they are not where they can
/// be cut out.
pub fn without(text: &str) -> Result<Option<String>, String> {
    let mut new: Option<String> = None;
    while let Some((cut, _)) = found(new.as_deref().unwrap_or(text)) {
        new = Some(cut.ok_or("the hooks cannot be removed automatically; remove them by hand")?);
    }
    Ok(new)
}

/// The first hook of ours: the text without it, where it can be cut out, and its command.
fn found(text: &str) -> Option<(Option<String>, String)> {
    let top: Members<'_> = serde_json::from_str(text).ok()?;
    let hooks = *top.get("hooks")?;
    let events: Members<'_> = serde_json::from_str(hooks.get()).ok()?;
    for (event, list) in &events {
        let groups: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
        for group in &groups {
            let Ok(Group { hooks: inner }) = serde_json::from_str(group.get()) else { continue };
            for hook in &inner {
                let value: Value = serde_json::from_str(hook.get()).unwrap_or_default();
                let Some(command) = value["command"].as_str().filter(|command| command.ends_with(ENDS)) else {
                    continue;
                };
                // What has nothing else in it goes along.
                let cut = match (inner.len(), groups.len(), events.len()) {
                    (2.., ..) => Some(span(text, hook)),
                    (_, 2.., _) => Some(span(text, group)),
                    (_, _, 2..) => member(text, event, list),
                    _ => member(text, "hooks", hooks),
                };
                return Some((cut.map(|place| cut_out(text, place)), command.to_owned()));
            }
        }
    }
    None
}

/// Where a member of an object is, with its name.
fn member(text: &str, name: &str, value: &RawValue) -> Option<(usize, usize)> {
    let (start, end) = span(text, value);
    let before = text[..start].trim_end().strip_suffix(':')?.trim_end();
    Some((before.strip_suffix(&format!("\"{name}\""))?.len(), end))
}

/// The text without an item of a list or object, and the comma that goes with it.
fn cut_out(text: &str, (start, end): (usize, usize)) -> String {
    let (before, after) = (text[..start].trim_end(), text[end..].trim_start());
    match (before.strip_suffix(','), after.strip_prefix(',')) {
        (Some(before), _) => format!("{before}{}", &text[end..]),
        (None, Some(after)) => format!("{}{}", &text[..start], after.trim_start()),
        (None, None) => format!("{before}{after}"),
    }
}

/// The files of a plugin with the hooks and the commands: path and text of each.
pub fn plugin(program: &str, version: &str, wait: u64, events: &[&'static str]) -> Vec<(String, String)> {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default() + "\n";
    let about = "Questions of your own Claude sessions on your phone while you are away";
    let (run, command) = (format!("'{}'", program.replace('\'', r"'\''")), command(program));
    let entries = Hooks { command: &command, wait, events }.entries();
    let hooks: Value =
        entries.map(|(event, entry)| (event.to_owned(), json!([entry]))).collect::<serde_json::Map<_, _>>().into();
    // Claude must not call them by itself: who is asked is the person's to say.
    let page = |about: &str, text: &str| {
        format!(
            "---\ndescription: {about}\ndisable-model-invocation: true\nallowed-tools: Bash({run}:*)\n---\n\n{text}\n"
        )
    };
    let typed = |args: &str| {
        format!("!`{run} {args}`\n\nTell the user what this printed, in one or two sentences. Do nothing else.")
    };
    let setup = format!(
        "Tell the user, and do nothing else: a Telegram bot is paired in a terminal of their own, where its token is typed and Claude \
         does not see it: `{run} away setup`. /programmator:enable then has the phone asked."
    );
    vec![
        (
            ".claude-plugin/plugin.json".to_owned(),
            pretty(&json!({"name": "programmator", "version": version, "description": about})),
        ),
        ("hooks/hooks.json".to_owned(), pretty(&json!({"description": about, "hooks": hooks}))),
        ("commands/setup.md".to_owned(), page("Show how to pair a phone", &setup)),
        ("commands/enable.md".to_owned(), page("Send questions to your phone", &typed("away on"))),
        ("commands/disable.md".to_owned(), page("Stop sending questions to your phone", &typed("away off"))),
        ("commands/status.md".to_owned(), page("Show whether the phone is on", &typed("away status"))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/opt/it's/programmator";

    fn add(text: &str) -> String {
        let command = command(PROGRAM);
        added(text, Hooks { command: &command, wait: 3_600, events: &EVENTS }).unwrap()
    }

    #[test]
    fn what_is_added_and_taken_out_again_leaves_every_byte_as_it_was() {
        for text in [
            "{}",
            "{\n\t\"model\": \"opus\", \"big\": 123456789012345678901.50\n}\n",
            "{\"z\":1,\"a\":{\"b\":[1, 2]}}",
            "{\r\n  \"permissions\": {\r\n    \"allow\": []\r\n  }\r\n}\r\n",
            "\n {\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}\n        ]\n    },\n    \"z\": 1\n}",
            "{\"hooks\": {\"SessionStart\": [{\"hooks\": []}]}, \"q\": \"\\u00e9\"}",
        ] {
            let new = add(text);
            assert_eq!(installed(&new), Some(command(PROGRAM)), "{new}");
            let value: Value = serde_json::from_str(&new).unwrap();
            let told = |event: &str| value["hooks"][event].as_array().unwrap().last().unwrap()["hooks"][0].clone();
            assert!(events(&new) == EVENTS && events(text).is_empty(), "{new}");
            for event in EVENTS {
                assert_eq!(told(event)["command"], r"'/opt/it'\''s/programmator' hook session || true", "{new}");
            }
            assert_eq!(without(&new), Ok(Some(text.to_owned())), "{new}");
            assert_eq!((installed(text), without(text)), (None, Ok(None)));
        }
    }

    #[test]
    fn the_layout_is_that_of_the_rest() {
        let new = add("{\n    \"z\": 1\n}\n");
        assert!(
            new.starts_with("{\n    \"z\": 1,\n    \"hooks\": {\n        \"PermissionRequest\": [\n            {\n"),
            "{new}"
        );
        assert!(new.ends_with("            }\n        ]\n    }\n}\n"), "{new}");
        assert!(!add("{\"z\": 1}").contains('\n'));
        assert_eq!(without(&add("")), Ok(Some("{}\n".to_owned())));
    }

    #[test]
    fn entries_of_others_stay_where_a_person_has_put_ours_among_them() {
        let ours = command("/old/programmator");
        let text = json!({"hooks": {"Stop": [
            {"matcher": "", "hooks": [{"command": "a"}, {"command": ours}, {"command": "b"}]}, {"hooks": [{"command": ours}]},
        ], "PreToolUse": [{"hooks": [{"command": ours}]}]}});
        let new: Value = serde_json::from_str(&without(&text.to_string()).unwrap().unwrap()).unwrap();
        let left = json!({"hooks": {"Stop": [{"matcher": "", "hooks": [{"command": "a"}, {"command": "b"}]}]}});
        assert_eq!(new, left);
    }

    #[test]
    fn what_is_no_settings_file_is_refused_with_the_reason() {
        for (text, words) in [
            ("{\n  \"a\": 1,\n}", "not valid JSON: trailing comma at line 3"),
            ("[]", "not a JSON object"),
            ("{\"hooks\": []}", "`hooks`"),
            ("{\"hooks\": {\"Stop\": 1}}", "`hooks.Stop`"),
            ("{\"hooks\": {}, \"hooks\": {\"Stop\": []}, \"Stop\": 1}", ""),
        ] {
            match added(text, Hooks { command: "c", wait: 1, events: &EVENTS }) {
                Err(why) => assert!(why.contains(words), "{text}: {why}"),
                // The last of two counts, for Claude too.
                Ok(new) => assert_eq!(words, "", "{text}: {new}"),
            }
        }
    }

    #[test]
    fn the_plugin_says_what_claude_is_to_run_and_cannot_be_called_by_claude() {
        let files: BTreeMap<String, String> = plugin(PROGRAM, "1.0.0", 3_600, &wanted(true)).into_iter().collect();
        let hooks: Value = serde_json::from_str(&files["hooks/hooks.json"]).unwrap();
        for event in EVENTS {
            let wait = if ["PermissionRequest", "Stop", "SessionEnd"].contains(&event) { 3_600 } else { AT_ONCE };
            let hook = &hooks["hooks"][event][0]["hooks"][0];
            assert_eq!((&hook["command"], &hook["timeout"]), (&json!(command(PROGRAM)), &json!(wait)));
        }
        let ungated: BTreeMap<String, String> = plugin(PROGRAM, "1.0.0", 3_600, &wanted(false)).into_iter().collect();
        assert!(!ungated["hooks/hooks.json"].contains(BEFORE) && ungated["hooks/hooks.json"].contains("SessionStart"));
        let pages: Vec<_> = files.iter().filter(|(path, _)| path.starts_with("commands/")).collect();
        assert_eq!(pages.len(), 4);
        assert!(pages.iter().all(|(_, text)| text.contains("\ndisable-model-invocation: true\n")));
        assert!(files["commands/enable.md"].contains(r"!`'/opt/it'\''s/programmator' away on`"));
    }
}
