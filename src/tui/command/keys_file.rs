//! `keys.yaml` of the person's config folder: their own keys, by scope. One that is given here is taken from the
//! command that has it by default; two commands that share one are an error, as is one that is needed and has none.

use super::table::in_scope;
use super::{Command, Row, Scope, table};
use crate::base::text::clean_line;
use crate::config::file::{Group, sections};
use crate::config::{ConfigError, FileText};
use crate::tui::keys::{Chord, Keymap, key_text};
use crate::tui::msg::{Input, Key};
use serde_json::Value as Yaml;
use std::fmt::Write as _;

/// The file in the person's config folder.
pub const NAME: &str = "keys.yaml";

/// Keys by the names that people write; those of letters and `F1`–`F12` are themselves.
const NAMES: [(&str, Key); 16] = [
    ("space", Key::Char(' ')),
    ("enter", Key::Enter),
    ("esc", Key::Esc),
    ("tab", Key::Tab),
    ("backspace", Key::Backspace),
    ("delete", Key::Delete),
    ("home", Key::Home),
    ("end", Key::End),
    ("pgup", Key::PageUp),
    ("pgdn", Key::PageDown),
    ("pageup", Key::PageUp),
    ("pagedown", Key::PageDown),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
];

/// What a terminal cannot tell from another key.
const SAME: [(char, &str); 4] = [('i', "Tab"), ('m', "Enter"), ('[', "Esc"), ('h', "Backspace")];

/// A row with the keys that the file gives it, and the line.
struct Given {
    row: &'static Row,
    keys: Vec<Chord>,
    line: u64,
}

/// Reads the person's keys, and everything that is wrong with them, by line.
pub fn read(file: &FileText) -> Result<Keymap, Vec<ConfigError>> {
    let path = clean_line(&file.path, 200);
    let error = |line: u64, message: String| ConfigError { at: format!("{path}:{}", line.max(1)), message };
    let (given, mut errors) = given(&file.text);
    errors.extend(conflicts(&given));
    let mut keymap = Keymap(given.iter().map(|given| (given.row.id, given.keys.clone())).collect());
    take_from_defaults(&mut keymap, &given);
    errors.extend(missing(&keymap, &given));
    errors.sort();
    errors.dedup_by_key(|(line, _)| *line);
    if errors.is_empty() { Ok(keymap) } else { Err(errors.into_iter().map(|(line, why)| error(line, why)).collect()) }
}

/// The name of a scope in the file: a pane, a dialog, or `global`.
pub fn scope_name(row: &Row) -> &'static str {
    match row.scope {
        Scope::Global => "global",
        Scope::Pane(name) => name,
        _ => row.id.split('.').next().unwrap_or(row.id),
    }
}

/// The name of a row below its scope.
pub fn short_name(row: &Row) -> &'static str {
    row.id.strip_prefix(scope_name(row)).and_then(|rest| rest.strip_prefix('.')).unwrap_or(row.id)
}

type Problem = (u64, String);

fn given(text: &str) -> (Vec<Given>, Vec<Problem>) {
    let sections = match sections(text) {
        Ok(sections) => sections,
        Err((line, why)) => return (Vec::new(), vec![(line, why)]),
    };
    let (mut given, mut errors) = (Vec::new(), Vec::new());
    for (scope, keys) in sections {
        let line = scope.referenced.line();
        let rows: Vec<&'static Row> = table().filter(|row| scope_name(row) == scope.value).collect();
        let commands = match keys {
            _ if rows.is_empty() => {
                errors.push((line, unknown("scope", &scope.value, &table().map(scope_name).collect::<Vec<_>>())));
                continue;
            }
            Group::Keys(commands) => commands,
            Group::Empty => continue,
            Group::Other => {
                errors.push((line, format!("`{}` takes commands with their keys, indented below it", scope.value)));
                continue;
            }
        };
        for (name, keys) in commands {
            let line = name.referenced.line();
            let row = rows.iter().find(|row| [row.id, short_name(row)].contains(&name.value.as_str()));
            let row = row.ok_or_else(|| {
                let what = format!("command in `{}`", scope.value);
                unknown(&what, &name.value, &rows.iter().map(|row| short_name(row)).collect::<Vec<_>>())
            });
            let read = row.and_then(|row| Ok(Given { row, keys: chords(row, &keys.value)?, line }));
            match read {
                Ok(read) => given.push(read),
                Err(why) => errors.push((line, why)),
            }
        }
    }
    given.sort_by_key(|given| given.line);
    (given, errors)
}

fn unknown(what: &str, name: &str, known: &[&'static str]) -> String {
    let name = clean_line(name, 60);
    let near = similar::get_close_matches(name.as_str(), known, 1, 0.5);
    let near = near
        .first()
        .map_or_else(|| "`programmator keys` lists all".to_owned(), |near| format!("did you mean `{near}`?"));
    format!("no {what} named `{name}`; {near}")
}

/// The keys of a value: one, a list, or none.
fn chords(row: &'static Row, value: &Yaml) -> Result<Vec<Chord>, String> {
    let texts = match value {
        Yaml::Null => Vec::new(),
        Yaml::Array(items) => items.iter().collect(),
        one => vec![one],
    };
    texts.into_iter().map(|text| chord(row, text)).collect()
}

fn chord(row: &'static Row, value: &Yaml) -> Result<Chord, String> {
    let text = match value {
        Yaml::String(text) => text.clone(),
        Yaml::Number(number) => number.to_string(),
        _ => return Err(format!("`{}` takes a key, a list of keys, or null", short_name(row))),
    };
    let keys = text.split_whitespace().map(key).collect::<Result<Vec<_>, _>>()?;
    let shown = clean_line(&text, 40);
    let is_digit = |key: &Input| matches!(key.key, Key::Char('1'..='9'));
    let is_letter = |key: &Input| matches!(key.key, Key::Char(_)) && !key.ctrl && !key.alt;
    match keys.as_slice() {
        [] | [_, _, _, ..] => Err(format!("`{shown}` is not a key, nor two keys separated by a space")),
        [first, ..] if is_letter(first) && types(row.scope) => {
            Err(format!("`{shown}` is text input there; use Ctrl, Alt or a named key"))
        }
        keys if row.command == Command::GoToTab && (keys.len() > 1 || !is_digit(&keys[0])) => {
            Err("`tab.go` takes digits for the tab, such as Alt-1".to_owned())
        }
        _ => Ok(Chord(keys)),
    }
}

/// Letters are text there.
pub(in crate::tui) fn types(scope: Scope) -> bool {
    let typing = [
        Scope::Steer,
        Scope::Open,
        Scope::Find,
        Scope::Draft,
        Scope::Palette,
        Scope::Words,
        Scope::EditInput,
        Scope::Passphrase,
        Scope::Prompt,
        Scope::Commit,
        Scope::Export,
        Scope::LimitValue,
        Scope::PhaseForm,
    ];
    typing.contains(&scope)
}

/// A key as people write it: `p`, `Ctrl-s`, `Alt-Enter`, `Shift-Tab`, `F5`.
pub fn key(text: &str) -> Result<Input, String> {
    let no_key =
        || format!("`{}` is not a key; write p, P, Ctrl-s, Alt-x, Shift-Tab, Space, PgDn or F5", clean_line(text, 40));
    let mut input = Input::default();
    let mut rest = text;
    while let Some((modifier, more)) =
        rest.split_once('-').filter(|(modifier, more)| !modifier.is_empty() && !more.is_empty())
    {
        match modifier.to_ascii_lowercase().as_str() {
            "ctrl" | "c" => input.ctrl = true,
            "alt" | "a" | "m" => input.alt = true,
            "shift" | "s" => input.shift = true,
            _ => return Err(no_key()),
        }
        rest = more;
    }
    let name = rest.to_ascii_lowercase();
    let mut letters = rest.chars();
    input.key = match (letters.next(), letters.next()) {
        (Some('^'), Some(letter)) if letters.next().is_none() => {
            input.ctrl = true;
            Key::Char(letter)
        }
        (Some(letter), None) if !letter.is_control() => Key::Char(letter),
        (Some('F' | 'f'), Some('1'..='9')) => {
            let number = rest[1..].parse().ok().filter(|number| *number <= 12);
            Key::F(number.ok_or_else(no_key)?)
        }
        _ => NAMES.iter().find(|(known, _)| *known == name).map(|(_, key)| *key).ok_or_else(no_key)?,
    };
    if let Key::Char(letter) = input.key {
        let letter = match (input.ctrl, input.shift) {
            (true, _) => letter.to_ascii_lowercase(),
            (false, true) => letter.to_ascii_uppercase(),
            (false, false) => letter,
        };
        if let Some((_, other)) = SAME.iter().find(|(same, _)| input.ctrl && *same == letter) {
            return Err(format!("`{}` is {other} to a terminal; use another key", clean_line(text, 40)));
        }
        (input.key, input.shift) = (Key::Char(letter), false);
    }
    Ok(input)
}

/// A key as [`read`] takes it.
fn written(input: &Input) -> String {
    let name = NAMES.iter().find(|(_, key)| *key == input.key).map(|(name, _)| (*name).to_owned());
    let name = name.unwrap_or_else(|| key_text(&Input { key: input.key, ..Input::default() }));
    let modifiers = [(input.ctrl, "Ctrl-"), (input.alt, "Alt-"), (input.shift, "Shift-")];
    modifiers.into_iter().filter(|(held, _)| *held).map(|(_, name)| name).chain([name.as_str()]).collect()
}

/// Every key by its scope, as the file has them, with what it does.
pub fn listed(keymap: &Keymap) -> String {
    let mut scopes: Vec<&str> = Vec::new();
    // Writing to a string cannot fail.
    let mut out = String::new();
    for scope in table().map(scope_name) {
        if scopes.contains(&scope) {
            continue;
        }
        scopes.push(scope);
        let _ = writeln!(out, "{scope}:");
        for row in table().filter(|row| scope_name(row) == scope) {
            let keys: Vec<String> = keymap
                .keys(row)
                .iter()
                .map(|chord| {
                    let keys: Vec<String> = chord.0.iter().map(written).collect();
                    serde_json::Value::from(keys.join(" ")).to_string()
                })
                .collect();
            let keys = format!("{}: [{}]", short_name(row), keys.join(", "));
            let own = if keymap.is_own(row) { "yours: " } else { "" };
            let _ = writeln!(out, "  {keys:<40} # {own}{}", row.doc);
        }
    }
    out
}

/// One is pressed on the way to the other, or is the other.
fn clash(one: &Chord, other: &Chord) -> bool {
    one.begins_with(&other.0) || other.begins_with(&one.0)
}

/// Both count at the same time.
fn meet(one: &Row, other: &'static Row) -> bool {
    one.scope == other.scope || in_scope(one.scope).any(|row| row.id == other.id)
}

fn conflicts(given: &[Given]) -> Vec<Problem> {
    let mut found = Vec::new();
    for (at, one) in given.iter().enumerate() {
        for other in given[..at].iter().filter(|other| meet(one.row, other.row) || meet(other.row, one.row)) {
            let both = one.keys.iter().find_map(|key| Some((key, other.keys.iter().find(|other| clash(key, other))?)));
            if let Some((key, theirs)) = both {
                let (key, theirs) = (key.text(), theirs.text());
                let why = if key == theirs { String::new() } else { format!(", which starts like `{theirs}`") };
                let (mine, other, line) = (one.row.id, other.row.id, other.line);
                found.push((one.line, format!("`{key}` is bound to `{mine}` and `{other}` (line {line}){why}")));
            }
        }
    }
    found
}

/// Who has a key by default that the file gives to another loses it.
fn take_from_defaults(keymap: &mut Keymap, given: &[Given]) {
    for row in table().filter(|row| given.iter().all(|given| given.row.id != row.id)) {
        let old = keymap.keys(row);
        let takers = given.iter().filter(|given| meet(given.row, row));
        let taken: Vec<&Chord> = takers.flat_map(|given| &given.keys).collect();
        let kept: Vec<Chord> = old.iter().filter(|key| !taken.iter().any(|taken| clash(key, taken))).cloned().collect();
        if kept.len() < old.len() {
            keymap.0.insert(row.id, kept);
        }
    }
}

/// What must be reachable, whatever else is: leaving, closing, saying no.
fn missing(keymap: &Keymap, given: &[Given]) -> Vec<Problem> {
    let needed = |row: &&'static Row| matches!(row.command, Command::Close | Command::No | Command::Quit);
    let without = table().filter(needed).filter(|row| keymap.keys(row).is_empty());
    without
        .map(|row| {
            let taker =
                given.iter().find(|given| given.row.id == row.id || meet(given.row, row) && !given.keys.is_empty());
            (taker.map_or(1, |given| given.line), format!("`{}` needs a key", row.id))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::Found;
    use super::super::press;
    use super::*;
    use crate::tui::keys::same;
    use std::collections::HashMap;

    fn file(text: &str) -> FileText {
        FileText { path: "/c/keys.yaml".into(), text: text.into() }
    }

    fn errors(text: &str) -> Vec<String> {
        read(&file(text)).err().unwrap_or_default().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_scope_has_one_name_and_a_name_one_scope() {
        let mut names: HashMap<Scope, &str> = HashMap::new();
        for row in table() {
            assert_eq!(*names.entry(row.scope).or_insert(scope_name(row)), scope_name(row), "{}", row.id);
        }
        let mut all: Vec<&str> = names.values().copied().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), names.len(), "{all:?}");
    }

    #[test]
    fn keys_are_given_taken_and_unbound() {
        let text = "global:\n  run.pause: F5\n  run.stop: null\n  view.top: g g\n  run.skip: [Ctrl-Alt-s, Shift-Delete]\ncard:\n  allow: Y\nstream:\n  stream.search: s\n";
        let keymap = read(&file(text)).unwrap();
        let shown = |id: &str| keymap.text(table().find(|row| row.id == id).unwrap());
        let ids = ["run.pause", "run.stop", "view.top", "run.skip", "card.allow", "stream.search", "run.retry"];
        assert_eq!(ids.map(shown), ["F5", "", "g g", "Alt-^S ⇧Delete", "Y", "s", "r"]);
        let id = |scope, keys: &str| {
            let pressed: Vec<Input> = keys.split(' ').map(|key| super::key(key).unwrap()).collect();
            keymap.find(scope, &pressed).map(|found| match found {
                Found::Row(row) => row.id,
                Found::Begun => "begun",
            })
        };
        assert_eq!(
            ["g", "g g", "F5", "p", "x"].map(|keys| id(Scope::Global, keys)),
            [Some("begun"), Some("view.top"), Some("run.pause"), None, None]
        );
    }

    #[test]
    fn a_key_that_is_given_away_is_lost_to_its_owner() {
        let keymap = read(&file("global:\n  run.pause: [p, x]\n")).unwrap();
        let stop = table().find(|row| row.id == "run.stop").unwrap();
        assert_eq!(keymap.text(stop), "");
        // A pane's keys count before those of the whole screen: nothing is lost.
        let keymap = read(&file("stream:\n  search: [/, x]\n")).unwrap();
        assert_eq!(keymap.text(stop), "x");
    }

    #[test]
    fn everything_wrong_is_told_with_its_line() {
        let cases = [
            (
                "global:\n  run.pause: x\n  run.stop: x\n",
                "/c/keys.yaml:3: `x` is bound to `run.stop` and `run.pause` (line 2)",
            ),
            (
                "global:\n  run.pause: z\n\n  run.stop: z z\n",
                "/c/keys.yaml:4: `z z` is bound to `run.stop` and `run.pause` (line 2), which starts like `z`",
            ),
            (
                "global:\n  run.pase: x\n",
                "/c/keys.yaml:2: no command in `global` named `run.pase`; did you mean `run.pause`?",
            ),
            ("globe:\n  run.pause: x\n", "/c/keys.yaml:1: no scope named `globe`; did you mean `global`?"),
            ("global:\n  run.pause: Hyper-x\n", "/c/keys.yaml:2: `Hyper-x` is not a key; write p,"),
            ("global:\n  run.pause: a b c\n", "/c/keys.yaml:2: `a b c` is not a key, nor two"),
            ("global:\n  run.pause: Ctrl-i\n", "/c/keys.yaml:2: `Ctrl-i` is Tab to a terminal"),
            ("global:\n  run.pause: {a: b}\n", "/c/keys.yaml:2: `run.pause` takes a key, a list of keys, or null"),
            ("global:\n  tab.go: x\n", "/c/keys.yaml:2: `tab.go` takes digits"),
            ("steer:\n  send: s\n", "/c/keys.yaml:2: `s` is text input there"),
            ("\nglobal:\n  screen.quit: null\n", "/c/keys.yaml:3: `screen.quit` needs a key"),
            ("card:\n  allow: [Esc, q, Ctrl-c]\n", "/c/keys.yaml:2: `card.close` needs a key"),
            (
                "diff:\n  edit: j\nscroll:\n  down: j\n",
                "/c/keys.yaml:4: `j` is bound to `scroll.down` and `diff.edit` (line 2)",
            ),
            ("global: x\n", "/c/keys.yaml:1: `global` takes commands"),
            ("global: [\n", "/c/keys.yaml:"),
        ];
        for (text, expected) in cases {
            let errors = errors(text);
            assert!(errors.len() == 1 && errors[0].starts_with(expected), "{text}: {errors:?}");
        }
        assert_eq!(errors("global:\n  run.pause: Hyper-x\n  run.stop: {}\nx: {}\n").len(), 3);
        assert!(errors("").is_empty() && errors("global:\n").is_empty());
    }

    #[test]
    fn every_key_of_the_table_can_be_written() {
        for (text, shown) in [
            ("p", "p"),
            ("Ctrl-C", "^C"),
            ("^l", "^L"),
            ("shift-tab", "⇧Tab"),
            ("Alt-Enter", "Alt-Enter"),
            ("-", "-"),
            ("F12", "F12"),
            ("Space", "Space"),
        ] {
            let input = super::key(text).unwrap();
            assert_eq!(key_text(&input), shown);
        }
        assert_eq!(super::key("Left").unwrap(), press(Key::Left));
        for key in table().flat_map(|row| row.keys).copied().flatten() {
            assert!(same(&super::key(&written(key)).unwrap(), key), "{key:?}");
        }
        let all = read(&file(&listed(&Keymap::default()))).unwrap();
        assert!(table().all(|row| all.keys(row) == Keymap::default().keys(row)));
    }
}
