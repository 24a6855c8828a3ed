//! A call of a tool made into units. What runs in the shell goes to `bash`; every other tool is one unit, by the table `tools.yaml`.

use crate::domain::approval::runs_in_shell;
use crate::policy::bash;
use crate::policy::built_in::BuiltIn;
use crate::policy::chars;
use crate::policy::place::Place;
use crate::policy::unit::{Class, Doubt, Program, Target, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tool {
    does: Vec<Class>,
    /// The field with the path of a file that is read.
    read: Option<String>,
    /// The field with the path of a file or folder of which only names are shown.
    name: Option<String>,
    /// The field with the path of a folder whose files are searched.
    search: Option<String>,
    /// The field with the path of a file that is written.
    write: Option<String>,
    url: Option<String>,
    fields: Vec<String>,
}

static TOOLS: LazyLock<BuiltIn<BTreeMap<String, Tool>>> =
    LazyLock::new(|| BuiltIn::read("tools.yaml", include_str!("tools.yaml")));

/// Why the table cannot be used.
pub fn fault() -> Option<&'static str> {
    TOOLS.fault.as_deref()
}

const BASH: [&str; 5] = ["command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox"];

/// Fields of a call of Monitor, which runs a command and wakes Claude at each line that it prints.
const MONITOR: [&str; 4] = ["command", "description", "timeout_ms", "persistent"];

/// Types of files, as ripgrep names them, that hold no secret by their names.
const TYPES: [&str; 27] = [
    "c", "cpp", "cs", "css", "dart", "elixir", "go", "haskell", "html", "java", "js", "kotlin", "lua", "markdown",
    "md", "perl", "php", "py", "python", "ruby", "rust", "scala", "swift", "toml", "ts", "typescript", "zig",
];

/// The units of a call. Never empty.
pub fn units(tool: &str, input: &Value, place: &Place<'_>) -> Vec<Unit> {
    let Value::Object(fields) = input else {
        return vec![Unit::new(tool, Program::Tool, tool).refused("the tool input is not a JSON object")];
    };
    if runs_in_shell(tool) { of_bash(tool, fields, place) } else { vec![of_tool(tool, fields, place)] }
}

fn of_bash(tool: &str, fields: &Map<String, Value>, place: &Place<'_>) -> Vec<Unit> {
    let refused = |why: &str| vec![Unit::new("Bash", Program::Opaque, "Bash").refused(why)];
    let Some(Value::String(command)) = fields.get("command") else {
        return refused("its command is missing or not a string");
    };
    match fields.get("dangerouslyDisableSandbox") {
        None | Some(Value::Bool(false)) => {}
        Some(_) => return refused("it asks to run outside the sandbox"),
    }
    if !matches!(fields.get("run_in_background"), None | Some(Value::Bool(_))) {
        return refused("run_in_background is neither true nor false");
    }
    let mut units = bash::units(command, place);
    let whole: Arc<str> = command.as_str().into();
    for unit in &mut units {
        unit.whole = whole.clone();
    }
    let known: &[&str] = if tool == "Monitor" { &MONITOR } else { &BASH };
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    if let Some(unit) = units.first_mut() {
        unit.doubts.extend(unknown_field(fields, &known));
    }
    units
}

fn of_tool(name: &str, fields: &Map<String, Value>, place: &Place<'_>) -> Unit {
    let shown = ["file_path", "notebook_path", "path", "url", "query", "pattern", "description", "skill", "command"];
    let target = shown.iter().find_map(|field| fields.get(*field)?.as_str());
    let text = target.map_or(name.to_owned(), |target| format!("{name} {target}"));
    let unit = Unit::new(name, Program::Tool, text);
    let Some(tool) = TOOLS.get(name) else { return unit.unknown(format!("unknown tool {name}")) };
    let write = tool.write.as_deref().map(|field| path(fields.get(field), place));
    // What Claude plans is its own; the person reads it before anything comes of it.
    let plans = write.as_ref().is_some_and(|write| write.as_ref().is_ok_and(|target| is_plan(target, place)));
    let does = if plans { &[Class::Internal][..] } else { &tool.does };
    let mut unit = does.iter().fold(unit, |unit, class| unit.does(*class));
    if !tool.fields.is_empty() {
        unit.doubts.extend(unknown_field(fields, &tool.fields));
    }
    let path = |field: &Option<String>| field.as_deref().map(|field| path(fields.get(field), place));
    match path(&tool.read) {
        Some(Ok(path)) => unit.reads.push(path),
        Some(Err(why)) => return unit.refused(why),
        None => {}
    }
    match write {
        Some(Ok(path)) if !plans => unit.writes.push(path),
        Some(Ok(_)) | None => {}
        Some(Err(why)) => return unit.refused(why),
    }
    for field in [&tool.name, &tool.search].into_iter().flatten() {
        match fields.get(field) {
            None => unit.reads.extend(here(place).filter(|_| tool.search.is_some())),
            Some(value) => match self::path(Some(value), place) {
                Ok(path) if tool.search.is_some() => unit.reads.push(path),
                Ok(_) => {}
                Err(why) => return unit.refused(why),
            },
        }
    }
    // In the workspace only names are shown unless content is asked for, and a type of files leaves secrets out.
    let content = fields.get("output_mode").and_then(Value::as_str) == Some("content");
    let of_code = fields.get("type").and_then(Value::as_str).is_some_and(|name| TYPES.contains(&name));
    // A glob goes before the type.
    let prints = content && (!of_code || fields.contains_key("glob"));
    let outside = |target: &Target| !matches!(target, Target::Path(path) if path.starts_with(place.workspace));
    unit.tree = tool.search.is_some() && (prints || unit.reads.iter().any(outside));
    unit.only = fields.get("glob").and_then(Value::as_str).map(names).unwrap_or_default();
    if unit.reads.iter().any(|target| matches!(target, Target::Path(path) if path.starts_with("/dev"))) {
        unit.doubts.push(Doubt::Words("the path is a device".to_owned()));
    }
    if let Some(url) = &tool.url {
        match fields.get(url).and_then(Value::as_str).map(host) {
            Some(Some(host)) => unit.host = Some(host),
            Some(None) => unit.doubts.push(Doubt::Words("the URL is not https with a plain host name".to_owned())),
            None => return unit.refused("its URL is missing or not a string"),
        }
    }
    unit
}

/// A file of Claude's plan mode: a page right in its folder of plans, and no link out of it.
fn is_plan(target: &Target, place: &Place<'_>) -> bool {
    let Target::Path(path) = target else { return false };
    if !place.view.may_plan() {
        return false;
    }
    let folder = place.resolve(place.home, ".claude/plans");
    path.extension().is_some_and(|extension| extension == "md") && folder.is_some_and(|it| path.parent() == Some(&it))
}

/// The names of files that a glob is about: `*.rs`, `src/**/*.{ts,tsx}`. None when it may be about any file.
fn names(glob: &str) -> Vec<String> {
    let name = glob.rsplit('/').next().unwrap_or(glob).to_lowercase();
    let plain = |text: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || "*?._-".contains(char));
    let parts = match name.split_once('{') {
        None => vec![name],
        Some((head, rest)) => match rest.split_once('}') {
            Some((middle, tail)) => middle.split(',').map(|part| format!("{head}{part}{tail}")).collect(),
            None => Vec::new(),
        },
    };
    // A `!`, several patterns, braces in braces or in the folders: it may be about any file.
    let several = glob.contains(char::is_whitespace) || (glob.contains(',') && !name_has_braces(glob));
    let sure = !glob.starts_with('!') && !several && glob.matches('{').count() < 2;
    if sure && parts.iter().all(|part| plain(part) && !part.is_empty()) { parts } else { Vec::new() }
}

/// Whether the only commas of a glob are in the braces of its last name.
fn name_has_braces(glob: &str) -> bool {
    let inside = glob.rsplit('/').next().and_then(|name| name.split_once('{')?.1.split_once('}'));
    inside.is_some_and(|(middle, _)| middle.matches(',').count() == glob.matches(',').count())
}

fn unknown_field(fields: &Map<String, Value>, known: &[String]) -> Option<Doubt> {
    let unknown = fields.keys().find(|field| !known.contains(field))?;
    Some(Doubt::Words(format!("unknown field {unknown}")))
}

fn here(place: &Place<'_>) -> impl Iterator<Item = Target> {
    place.resolve(place.cwd, ".").map(Target::Path).into_iter()
}

fn path(value: Option<&Value>, place: &Place<'_>) -> Result<Target, String> {
    let Some(Value::String(text)) = value else { return Err("its path is missing or not a string".to_owned()) };
    if let Some(why) = chars::refused(text) {
        return Err(why);
    }
    let from_home = text.strip_prefix("~/").or_else(|| (text == "~").then_some("."));
    let resolved = match from_home {
        Some(rest) => place.resolve(place.home, rest),
        // The home of somebody: no path of the workspace begins so.
        None if text.starts_with('~') => None,
        None => place.resolve(place.cwd, text),
    };
    resolved.map(Target::Path).ok_or_else(|| format!("{text:?} is not a path"))
}

/// The host of an address of https: a name with a dot, without a user, a port or a number for a host.
pub(super) fn host(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split(['/', '?', '#']).next()?.to_lowercase();
    let host = host.strip_suffix(":443").unwrap_or(&host);
    let named = host.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.'));
    let last = host.rsplit('.').next().unwrap_or("");
    let numeric = last.chars().all(|char| char.is_ascii_digit()) || last.starts_with("0x");
    let local = last == "localhost" || last == "local" || last == "internal";
    (named && host.contains('.') && !host.starts_with('.') && !numeric && !local).then(|| host.to_owned())
}

/// Whether a pattern of a rule matches a host: exactly, or `*.example.com` for what is below.
pub fn host_matches(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix("*.") {
        Some(domain) => host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.')),
        None => pattern == host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_named() {
        for (url, expected) in [
            ("https://docs.rs/serde", Some("docs.rs")),
            ("https://Docs.RS:443/x", Some("docs.rs")),
            ("http://docs.rs/", None),
            ("https://user@docs.rs/", None),
            ("https://127.0.0.1/", None),
            ("https://0x7f000001/", None),
            ("https://localhost/", None),
            ("https://docs.rs:8443/", None),
            ("https://dоcs.rs/", None),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
        assert!(host_matches("*.rs", "docs.rs") && !host_matches("*.rs", "rs") && !host_matches("docs.rs", "xdocs.rs"));
    }
}
