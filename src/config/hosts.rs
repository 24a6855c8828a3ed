//! Other machines that runs can be on: the person's own, never a project's.

use crate::base::text::clean_line;
use serde_json::Value as Yaml;
use std::collections::BTreeMap;

/// Longest name in bytes.
const LONGEST: usize = 40;

/// Another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Program and arguments whose input and output are those of `programmator serve --stdio` there; never empty.
    pub command: Vec<String>,
    /// The folder there that commands begin in, as written; `None`: where the command begins.
    pub directory: Option<String>,
}

/// Reads the machines by their names; the error says what would be right.
pub(super) fn read(hosts: &serde_json::Map<String, Yaml>) -> Result<BTreeMap<String, HostConfig>, String> {
    hosts.iter().map(|(name, host)| Ok((named(name)?, one(name, host)?))).collect()
}

/// A name that is fit for a file's name, and no option.
fn named(name: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let begins = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if begins && name.len() <= LONGEST && name.bytes().all(is_plain) {
        return Ok(name.to_owned());
    }
    let name = clean_line(name, 60);
    Err(format!(
        "hosts has `{name}`, but a machine name is 1 to {LONGEST} of A-Z a-z 0-9 . _ - starting with a letter or digit"
    ))
}

fn one(name: &str, host: &Yaml) -> Result<HostConfig, String> {
    let keys = host.as_object().into_iter().flatten();
    if let Some((other, _)) = keys.clone().find(|(key, _)| !["command", "directory"].contains(&key.as_str())) {
        return Err(format!("hosts.{name} has `{}`, but takes only command and directory", clean_line(other, 60)));
    }
    // A port is a number to YAML.
    let word = |word: &Yaml| match word {
        Yaml::Number(number) if number.is_u64() => Some(number.to_string()),
        word => word.as_str().map(str::to_owned),
    };
    let words = |words: &Yaml| words.as_array()?.iter().map(word).collect::<Option<Vec<_>>>();
    let command =
        host.get("command").and_then(words).filter(|words| words.first().is_some_and(|word| !word.is_empty()));
    let command = command.ok_or_else(|| {
        format!("hosts.{name}.command must be a list of words, as [ssh, {name}, programmator, serve, --stdio]")
    })?;
    let directory = match host.get("directory") {
        None | Some(Yaml::Null) => None,
        Some(Yaml::String(text)) if !text.trim().is_empty() => Some(text.clone()),
        Some(_) => return Err(format!("hosts.{name}.directory must be a folder on that machine")),
    };
    Ok(HostConfig { command, directory })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(hosts: &Yaml) -> Result<BTreeMap<String, HostConfig>, String> {
        read(hosts.as_object().unwrap())
    }

    #[test]
    fn machines_have_a_command_and_perhaps_a_folder() {
        let hosts = said(&json!({
            "build": {"command": ["ssh", "-p", 2222, "build", "programmator", "serve", "--stdio"], "directory": "~/shop"},
            "box.2": {"command": ["x"]},
        }));
        let hosts = hosts.unwrap();
        assert_eq!(hosts["build"].command[1..4], ["-p", "2222", "build"]);
        assert_eq!(hosts["build"].directory.as_deref(), Some("~/shop"));
        assert_eq!(hosts["box.2"].directory, None);
    }

    #[test]
    fn what_is_none_is_named_with_its_cure() {
        let cases = [
            (json!({"../x": {"command": ["x"]}}), "starting with a letter or digit"),
            (json!({"a/b": {"command": ["x"]}}), "starting with a letter or digit"),
            (json!({"-x": {"command": ["x"]}}), "starting with a letter or digit"),
            (json!({"": {"command": ["x"]}}), "starting with a letter or digit"),
            (json!({"a": {}}), "hosts.a.command must be a list of words, as [ssh, a,"),
            (json!({"a": {"command": "ssh a"}}), "hosts.a.command"),
            (json!({"a": {"command": []}}), "hosts.a.command"),
            (json!({"a": {"command": [""]}}), "hosts.a.command"),
            (json!({"a": {"command": ["x", 1.5]}}), "hosts.a.command"),
            (json!({"a": ["x"]}), "hosts.a.command"),
            (json!({"a": {"command": ["x"], "directory": 3}}), "hosts.a.directory"),
            (json!({"a": {"command": ["x"], "user": "me"}}), "hosts.a has `user`"),
        ];
        for (hosts, expected) in cases {
            let why = said(&hosts).unwrap_err();
            assert!(why.contains(expected), "{hosts}: {why}");
        }
    }
}
