//! A config file's text made into settings, each with its line. Files of any content are safe to read:
//! size, depth and nodes are limited, aliases and anchors refused.

use crate::base::text::clean_line;
use crate::config::key::{KEYS, Row, Value};
use crate::config::{ConfigError, FileText};
use crate::domain::ticket::scalars;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Yaml;
use serde_yaml::Spanned;
use std::collections::HashMap;
use std::fmt;

/// Largest config or prompt file in bytes.
pub const MAX_FILE: usize = 64 << 10;

const GROUPS: [&str; 22] = [
    "limits", "agent", "validation", "screen", "notify", "tickets", "run", "breaker", "exit", "budget", "approval",
    "away", "policy", "storage", "workflow", "prompt", "review", "git", "worktree", "snapshots", "source", HOSTS,
];

/// The group whose keys are the person's own names: all of it is one setting.
const HOSTS: &str = "hosts";

/// A setting in a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    pub row: &'static Row,
    pub value: Value,
    /// `path:line`
    pub at: String,
}

/// The top-level keys of a file.
pub type Groups = HashMap<Spanned<String>, Group>;

/// What stands under a top-level key.
pub enum Group {
    Keys(HashMap<Spanned<String>, Spanned<Yaml>>),
    Empty,
    /// A scalar or a list: no group at all.
    Other,
}

impl<'de> Deserialize<'de> for Group {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Group;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("keys with values")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Group, A::Error> {
                HashMap::deserialize(MapAccessDeserializer::new(map)).map(Group::Keys)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Group, A::Error> {
                while items.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Group::Other)
            }
            fn visit_unit<E>(self) -> Result<Group, E> {
                Ok(Group::Empty)
            }
            scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str => Group::Other);
        }
        deserializer.deserialize_any(Any)
    }
}

/// Reads a file's settings in line order, and everything that is wrong with it.
pub fn read(file: &FileText) -> (Vec<Setting>, Vec<ConfigError>) {
    let path = clean_line(&file.path, 200);
    let at = |line: u64| format!("{path}:{}", line.max(1));
    let groups = match sections(&file.text) {
        Ok(groups) => groups,
        Err((line, message)) => return (Vec::new(), vec![ConfigError { at: at(line), message }]),
    };
    let mut found: Vec<(u64, Result<Setting, String>)> = Vec::new();
    for (group, keys) in groups {
        if !GROUPS.contains(&group.value.as_str()) {
            found.push((group.referenced.line(), Err(unknown(&group.value))));
            continue;
        }
        let keys = match keys {
            Group::Keys(keys) => keys,
            Group::Empty => continue,
            Group::Other => {
                let message = format!("`{}` takes keys with values, indented below it", group.value);
                found.push((group.referenced.line(), Err(message)));
                continue;
            }
        };
        if group.value == HOSTS {
            let line = group.referenced.line();
            let all = Yaml::Object(keys.into_iter().map(|(name, yaml)| (name.value, yaml.value)).collect());
            let row = KEYS.iter().find(|row| row.name == HOSTS).ok_or_else(|| unknown(HOSTS));
            let read = row.and_then(|row| Ok(Setting { row, value: row.read_yaml(&all)?, at: at(line) }));
            found.push((line, read));
            continue;
        }
        for (key, yaml) in keys {
            let name = format!("{}.{}", group.value, key.value);
            let line = key.referenced.line();
            found.push((
                line,
                KEYS.iter().find(|row| row.name == name).ok_or_else(|| unknown(&name)).and_then(|row| {
                    let value = row.read_yaml(&yaml.value)?;
                    Ok(Setting { row, value, at: at(line) })
                }),
            ));
        }
    }
    found.sort_by_key(|(line, _)| *line);
    let mut settings = Vec::new();
    let mut errors = Vec::new();
    for (line, outcome) in found {
        match outcome {
            Ok(setting) => settings.push(setting),
            Err(message) => errors.push(ConfigError { at: at(line), message }),
        }
    }
    (settings, errors)
}

/// A file's top-level keys and what stands under them, each with its line; the error has a line too.
pub fn sections(text: &str) -> Result<Groups, (u64, String)> {
    if text.len() > MAX_FILE {
        return Err((1, format!("the file is {} bytes; the maximum is {MAX_FILE}", text.len())));
    }
    let options = serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_aliases: 0, max_anchors: 0, max_depth: 8, max_nodes: 4_096, flow_nesting_limit: 8, max_documents: 1,
        },
        with_snippet: false,
        strict_booleans: true,
        reject_unsupported_tags: true,
    };
    serde_yaml::from_str_with_options::<Option<Groups>>(text, options).map(Option::unwrap_or_default).map_err(|error| {
        let line = error.location().map_or(1, |location| location.line());
        (line, clean_line(&format!("invalid configuration: {error}"), 300))
    })
}

/// What to say about a name that is no key: the nearest one there is.
pub fn unknown(name: &str) -> String {
    let shown = clean_line(name, 60);
    let last = |name: &'static str| name.rsplit('.').next().unwrap_or(name);
    let keys = KEYS.iter().map(|row| (last(row.name), row.name));
    let groups = GROUPS.iter().map(|group| (*group, *group)).filter(|_| !name.contains('.'));
    let candidates: Vec<(&str, &str)> = groups.chain(keys).collect();
    let words: Vec<&str> = candidates.iter().map(|(word, _)| *word).collect();
    let word = shown.rsplit('.').next().unwrap_or(&shown);
    let whole: Vec<&str> = KEYS.iter().map(|row| row.name).collect();
    let nearest = similar::get_close_matches(shown.as_str(), &whole, 1, 0.8).first().copied().or_else(|| {
        let nearest = similar::get_close_matches(word, &words, 1, 0.6);
        candidates.iter().find(|(word, _)| nearest.first() == Some(word)).map(|(_, name)| *name)
    });
    match nearest {
        Some(name) => format!("unknown key `{shown}`; did you mean `{name}`?"),
        None => format!("unknown key `{shown}`; `programmator config show` lists all keys"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_stands_in_a_group_that_is_read() {
        for row in KEYS {
            assert!(row.name.split('.').next().is_some_and(|group| GROUPS.contains(&group)), "{}", row.name);
        }
    }

    fn errors(text: &str) -> Vec<String> {
        let file = FileText { path: "/c/config.yaml".into(), text: text.into() };
        read(&file).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn settings_know_their_line() {
        let file = FileText {
            path: "c.yaml".into(),
            text: "# mine\nlimits:\n  stagnation: 5\n\nagent:\n  env: {A: 1}\n  command: ssh host claude\n".into(),
        };
        let (settings, errors) = read(&file);
        assert_eq!(errors, []);
        let shown: Vec<_> = settings.iter().map(|s| (s.row.name, s.value.show(), s.at.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("limits.stagnation", "5".to_owned(), "c.yaml:3"),
                ("agent.env", "{A: …}".to_owned(), "c.yaml:6"),
                ("agent.command", "[\"ssh\",\"host\",\"claude\"]".to_owned(), "c.yaml:7"),
            ]
        );
    }

    #[test]
    fn unknown_keys_name_line_and_nearest_key() {
        let cases = [
            (
                "limits:\n  max_iteration: 3\n",
                "/c/config.yaml:2: unknown key `limits.max_iteration`; did you mean `limits.max_iterations`?",
            ),
            ("\nlimit:\n  stagnation: 3\n", "/c/config.yaml:2: unknown key `limit`; did you mean `limits`?"),
            ("max_iterations: 3\n", ""),
            ("agent:\n  theme: x\n", "/c/config.yaml:2: unknown key `agent.theme`; did you mean `screen.theme`?"),
            ("model:\n  x: 3\n", "/c/config.yaml:1: unknown key `model`; did you mean `agent.model`?"),
            (
                "agent:\n  qqqqqq: 3\n",
                "/c/config.yaml:2: unknown key `agent.qqqqqq`; `programmator config show` lists all keys",
            ),
        ];
        for (text, expected) in cases {
            let errors = errors(text);
            assert_eq!(errors.len(), 1, "{text}");
            assert!(errors[0].starts_with(expected), "{text}: {errors:?}");
        }
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let all = errors("limits:\n  stagnation: 0\n  nope: 1\nscreen:\n  ascii: 3\n");
        assert_eq!(all.len(), 3, "{all:?}");
        assert!(all[0].starts_with("/c/config.yaml:2") && all[0].contains("from 1 to 1000"), "{all:?}");
    }

    #[test]
    fn bombs_and_broken_files_are_errors() {
        let deep = format!("limits: {}", "[".repeat(5_000));
        let wide = format!("agent:\n  flags: [{}]", "a,".repeat(6_000));
        let laughs = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n";
        let big = " ".repeat(MAX_FILE + 1);
        for text in [
            deep.as_str(),
            &wide,
            laughs,
            &big,
            "limits: [",
            "\t- x",
            "limits:\n  stagnation: 1\n  stagnation: 2\n",
            "a: 1\n---\nb: 2\n",
            "limits: !!python/object {}",
        ] {
            let started = std::time::Instant::now();
            assert_eq!(errors(text).len(), 1, "{}", &text[..text.len().min(60)]);
            assert!(started.elapsed() < std::time::Duration::from_secs(2));
        }
        assert!(errors("").is_empty() && errors("# nothing\n").is_empty() && errors("limits:\n").is_empty());
    }
}
