//! Permission rules for Claude's own settings: which, and where they go in the JSON that is there. Nothing else of the
//! text changes: it is not parsed and printed again, so order, unknown keys, numbers and layout stay as they are.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Tools that only look at the project.
const LOOKING: [&str; 3] = ["Read(./**)", "Grep", "Glob"];

/// Commands that only look: those that could write with some argument (`git diff --output`) just as they are.
const COMMANDS: [&str; 9] = [
    "git status:*", "git diff", "git diff HEAD", "git diff --staged", "git log", "git log --oneline", "git blame:*",
    "ls:*", "wc:*",
];

/// The rules for a project that is checked with these commands.
pub fn baseline(checks: &[String]) -> Vec<String> {
    let looking = LOOKING.map(str::to_owned).into_iter();
    let commands = COMMANDS.iter().map(|command| format!("Bash({command})"));
    // With further words these would run anything: `make test --eval=…`, `go test -exec …`.
    let checking = checks.iter().map(|command| format!("Bash({command})"));
    let mut rules: Vec<String> = looking.chain(commands).chain(checking).collect();
    let mut seen = std::collections::BTreeSet::new();
    rules.retain(|rule| seen.insert(rule.clone()));
    rules
}

#[derive(Deserialize)]
struct Top<'a> {
    #[serde(borrow)]
    permissions: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Permissions<'a> {
    #[serde(borrow)]
    allow: Option<&'a RawValue>,
    #[serde(default)]
    deny: Vec<String>,
    #[serde(default)]
    ask: Vec<String>,
}

/// The text with those of the rules in `permissions.allow` that it lacks; `None`: it has them all. A rule that the person
/// denies or is asked about is left out. The error says where the text is not what it must be.
pub fn merged(text: &str, rules: &[String]) -> Result<Option<String>, String> {
    if text.trim().is_empty() {
        let value = serde_json::json!({ "permissions": { "allow": rules } });
        let new = serde_json::to_string_pretty(&value).map_err(|error| error.to_string())?;
        return Ok(Some(new + "\n"));
    }
    let old: Value = serde_json::from_str(text).map_err(|error| format!("it is not valid JSON: {error}"))?;
    if !old.is_object() {
        return Err("it is not a JSON object".to_owned());
    }
    let wrong = |what: &str, error: serde_json::Error| format!("{what} has an unexpected form: {error}");
    let top: Top<'_> = serde_json::from_str(text).map_err(|error| wrong("the file", error))?;
    let permissions: Permissions<'_> = match top.permissions {
        Some(raw) => serde_json::from_str(raw.get()).map_err(|error| wrong("`permissions`", error))?,
        None => Permissions::default(),
    };
    let known: Vec<String> = match permissions.allow {
        Some(raw) => serde_json::from_str(raw.get()).map_err(|error| wrong("`permissions.allow`", error))?,
        None => Vec::new(),
    };
    let decided = [&known, &permissions.deny, &permissions.ask];
    let missing: Vec<&String> = rules.iter().filter(|rule| !decided.iter().any(|list| list.contains(rule))).collect();
    if missing.is_empty() {
        return Ok(None);
    }
    let items = |gap: &Layout| -> Vec<String> {
        missing.iter().map(|rule| format!("{}{}", gap.item, Value::from(rule.as_str()))).collect()
    };
    let layout = Layout::of(text);
    let new = match (top.permissions, permissions.allow) {
        (_, Some(raw)) => {
            let place = span(text, raw);
            let inside = layout.inside(text, place);
            inserted(text, place, &inside, &items(&inside))
        }
        (Some(raw), None) => {
            let place = span(text, raw);
            let inside = layout.inside(text, place);
            inserted(text, place, &inside, &[format!("{}\"allow\": {}", inside.item, inside.list(&missing))])
        }
        (None, _) => {
            let start = text.len() - text.trim_start().len();
            let place = (start, text.trim_end().len());
            let inside = layout.inside(text, place);
            let below = inside.below();
            let list = below.list(&missing);
            let object = format!("{{{}\"allow\": {list}{}}}", below.item, below.end);
            inserted(text, place, &inside, &[format!("{}\"permissions\": {object}", inside.item)])
        }
    };
    let mut expected = old;
    let all: Vec<String> = known.iter().chain(missing).cloned().collect();
    if let Some(top) = expected.as_object_mut() {
        top.entry("permissions").or_insert_with(|| serde_json::json!({}))["allow"] = serde_json::json!(all);
    }
    let is_so = serde_json::from_str::<Value>(&new).is_ok_and(|new| new == expected);
    if is_so { Ok(Some(new)) } else { Err("the rules cannot be added automatically; add them by hand".to_owned()) }
}

/// Where a value is in the text that it was borrowed from.
pub(super) fn span(text: &str, raw: &RawValue) -> (usize, usize) {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    (start, start + raw.get().len())
}

/// How items are set apart.
#[derive(Clone)]
pub(super) struct Layout {
    /// Before each item.
    pub(super) item: String,
    /// Before the closing bracket.
    end: String,
    /// One level of indentation, with the line break before it where there are any.
    newline: String,
    pub(super) unit: String,
}

impl Layout {
    /// As most of the text has it.
    pub(super) fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let indents = text.lines().skip(1).map(|line| &line[..line.len() - line.trim_start().len()]);
        let unit = indents.filter(|indent| !indent.is_empty()).min_by_key(|indent| indent.len()).unwrap_or("  ");
        Self { item: String::new(), end: String::new(), newline: newline.to_owned(), unit: unit.to_owned() }
    }

    /// As it is in the list or object there; an empty one gets lines like the rest of the text.
    pub(super) fn inside(&self, text: &str, (start, end): (usize, usize)) -> Self {
        let inner = &text[start + 1..end - 1];
        let first = inner.trim_start();
        let before = &inner[..inner.len() - first.len()];
        let line = text[..start].rsplit('\n').next().unwrap_or_default();
        let own = &line[..line.len() - line.trim_start().len()];
        if first.is_empty() {
            let item = format!("{}{own}{}", self.newline, self.unit);
            return Self { item, end: format!("{}{own}", self.newline), ..self.clone() };
        }
        let after = &inner[inner.trim_end().len()..];
        let item = if before.contains('\n') {
            before.rsplit('\n').next().map(|indent| format!("{}{indent}", self.newline))
        } else {
            None
        };
        Self { item: item.unwrap_or_else(|| " ".to_owned()), end: after.to_owned(), ..self.clone() }
    }

    /// One level further in; on one line there is nothing to indent.
    fn below(&self) -> Self {
        let is_inline = !self.item.contains('\n');
        let (item, end) = if is_inline {
            (String::new(), String::new())
        } else {
            (format!("{}{}", self.item, self.unit), self.item.clone())
        };
        Self { item, end, ..self.clone() }
    }

    /// A list of rules, as the value of an item that is laid out like this.
    fn list(&self, rules: &[&String]) -> String {
        let below = self.below();
        let apart = if below.item.is_empty() { ", " } else { "," };
        let rules: Vec<String> =
            rules.iter().map(|rule| format!("{}{}", below.item, Value::from(rule.as_str()))).collect();
        format!("[{}{}]", rules.join(apart), below.end)
    }
}

/// The text with more items at the end of the list or object there.
pub(super) fn inserted(text: &str, (start, end): (usize, usize), layout: &Layout, items: &[String]) -> String {
    let inner = text[start + 1..end - 1].trim_end();
    let comma = if inner.trim().is_empty() { "" } else { "," };
    let (before, after) = (&text[..=start], &text[end - 1..]);
    format!("{before}{inner}{comma}{}{}{after}", items.join(","), layout.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(text: &str) -> String {
        merged(text, &["A".to_owned(), "B".to_owned()]).unwrap().unwrap()
    }

    #[test]
    fn rules_go_where_they_belong_and_nothing_else_moves() {
        let cases = [
            ("", "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n      \"B\"\n    ]\n  }\n}\n"),
            ("{}", "{\n  \"permissions\": {\n    \"allow\": [\n      \"A\",\n      \"B\"\n    ]\n  }\n}"),
            (
                "{\n\t\"model\": \"opus\", \"big\": 123456789012345678901.50\n}\n",
                "{\n\t\"model\": \"opus\", \"big\": 123456789012345678901.50,\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"A\",\n\t\t\t\"B\"\n\t\t]\n\t}\n}\n",
            ),
            (
                "{\n    \"permissions\": {\n        \"deny\": [\"X\"]\n    },\n    \"z\": 1\n}",
                "{\n    \"permissions\": {\n        \"deny\": [\"X\"],\n        \"allow\": [\n            \"A\",\n            \"B\"\n        ]\n    },\n    \"z\": 1\n}",
            ),
            (
                "{\n  \"permissions\": {\n    \"allow\": [\n      \"B\",\n      \"\\u00e9\"\n    ]\n  }\n}\n",
                "{\n  \"permissions\": {\n    \"allow\": [\n      \"B\",\n      \"\\u00e9\",\n      \"A\"\n    ]\n  }\n}\n",
            ),
            (
                "{\"permissions\": {\"allow\": [\"x\"], \"ask\": [\"B\"]}}",
                "{\"permissions\": {\"allow\": [\"x\", \"A\"], \"ask\": [\"B\"]}}",
            ),
            ("{\"a\": 1}", "{\"a\": 1, \"permissions\": {\"allow\": [\"A\", \"B\"]}}"),
            ("{\"permissions\": {\"deny\": []}}", "{\"permissions\": {\"deny\": [], \"allow\": [\"A\", \"B\"]}}"),
            (
                "{\r\n  \"permissions\": {\r\n    \"allow\": []\r\n  }\r\n}\r\n",
                "{\r\n  \"permissions\": {\r\n    \"allow\": [\r\n      \"A\",\r\n      \"B\"\r\n    ]\r\n  }\r\n}\r\n",
            ),
        ];
        for (old, new) in cases {
            assert_eq!(added(old), new, "{old}");
            assert_eq!(merged(new, &["A".to_owned(), "B".to_owned()]), Ok(None), "twice: {new}");
        }
    }

    #[test]
    fn what_is_no_settings_file_is_refused_with_the_reason() {
        let rules = ["A".to_owned()];
        for (text, words) in [
            ("{\n  \"a\": 1,\n}", "not valid JSON: trailing comma at line 3"),
            ("[]", "not a JSON object"),
            ("{\"permissions\": []}", "`permissions`"),
            ("{\"permissions\": {\"allow\": \"all\"}}", "`permissions.allow`"),
            ("{\"permissions\": {\"allow\": [1]}}", "`permissions.allow`"),
            ("{\"permissions\": {}, \"permissions\": {}}", "duplicate field"),
        ] {
            let why = merged(text, &rules).unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn the_baseline_looks_and_checks_and_says_nothing_twice() {
        let rules = baseline(&["cargo test".into(), "git status".into()]);
        assert!(rules.contains(&"Read(./**)".to_owned()) && rules.contains(&"Bash(cargo test)".to_owned()));
        assert_eq!(rules.iter().filter(|rule| *rule == "Bash(git status:*)").count(), 1);
    }
}
