//! Flags that a person hands on to Claude: split like a shell would, and vetted.
//!
//! A flag that would break the protocol, the gate or the thread of a run is refused with its reason.

use crate::base::text::clean_line;

const PROTOCOL: &str = "programmator uses it to communicate with Claude";
const GATE: &str = "it would weaken or bypass the gate for tool calls";
const THREAD: &str = "programmator chooses the session of every iteration";
const ENDS: &str = "Claude would do something other than work on the ticket";

/// Flags that are never handed on, and why.
pub const REFUSED: [(&str, &str); 45] = [
    ("-p", PROTOCOL),
    ("--print", PROTOCOL),
    ("--output-format", PROTOCOL),
    ("--input-format", PROTOCOL),
    ("--verbose", PROTOCOL),
    ("--include-partial-messages", PROTOCOL),
    ("--replay-user-messages", PROTOCOL),
    ("--permission-prompt-tool", GATE),
    ("--permission-mode", GATE),
    ("--allow-dangerously-skip-permissions", GATE),
    ("--setting-sources", "set agent.setting_sources instead"),
    ("--settings", GATE),
    ("--managed-settings", GATE),
    ("--bare", GATE),
    ("--safe-mode", GATE),
    ("--plugin-dir", GATE),
    ("--plugin-url", GATE),
    ("--permission-prompts", GATE),
    ("--append-system-prompt-file", "programmator passes CLAUDE.md with it"),
    ("--system-prompt-snapshot", "a resumed session would keep an old system prompt"),
    ("--model", "set agent.model instead"),
    ("-c", THREAD),
    ("--continue", THREAD),
    ("-r", THREAD),
    ("--resume", THREAD),
    ("--resume-session-at", THREAD),
    ("--session-id", THREAD),
    ("--fork-session", THREAD),
    ("--no-session-persistence", "set run.session_continuity: false instead"),
    ("--from-pr", THREAD),
    ("-w", "Claude would work outside the directory that is checked"),
    ("--worktree", "Claude would work outside the directory that is checked"),
    ("--tmux", ENDS),
    ("--bg", ENDS),
    ("--background", ENDS),
    ("--remote-control", ENDS),
    ("--cloud", ENDS),
    ("--environment", ENDS),
    ("--teleport", THREAD),
    ("-h", ENDS),
    ("--help", ENDS),
    ("-v", ENDS),
    ("--version", ENDS),
    ("--", "its value would be taken as a prompt"),
    ("-", "not a flag"),
];

/// The default of earlier programs of this name; ours is the gate.
const DROPPED: &str = "--dangerously-skip-permissions";

/// Flags after vetting.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Vetted {
    pub flags: Vec<String>,
    /// What was left out without harm, for the log.
    pub notices: Vec<String>,
    /// What cannot be used, with the reason.
    pub refused: Vec<String>,
}

/// Sorts flags into those handed on, dropped and refused.
pub fn vet(words: Vec<String>) -> Vetted {
    let mut vetted = Vetted::default();
    let mut may_be_value = false;
    for word in words {
        let shown = clean_line(&word, 80);
        if !word.starts_with('-') {
            if !may_be_value {
                vetted.refused.push(format!("`{shown}` does not belong to a flag: Claude would take it as a prompt"));
            }
            vetted.flags.push(word);
            continue;
        }
        let name = word.split('=').next().unwrap_or(&word);
        may_be_value = !word.contains('=') && name != DROPPED;
        if name == DROPPED {
            vetted.notices.push(format!("{DROPPED} is ignored: programmator's gate decides about every tool call"));
        } else if let Some(reason) = reason(name) {
            vetted.refused.push(format!("the flag `{shown}` cannot be used: {reason}"));
            vetted.flags.push(word);
        } else {
            vetted.flags.push(word);
        }
    }
    vetted
}

fn reason(name: &str) -> Option<&'static str> {
    let exact = REFUSED.iter().find(|(flag, _)| *flag == name).map(|(_, reason)| *reason);
    // Short flags may stand together (`-dp`) or before their value (`-rID`).
    let among = || {
        let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
        let is_in = |flag: &str| flag.len() == 2 && flag != "--" && letters.contains(&flag[1..]);
        REFUSED.iter().find(|(flag, _)| is_in(flag)).map(|(_, reason)| *reason)
    };
    exact.or_else(among)
}

/// Splits a line into words: blanks separate, `'…'` and `"…"` hold together, a backslash takes the next
/// character as it is (not in single quotes). Nothing is expanded.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (_, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => match (chars.next(), quote) {
                (Some(next), Some(_)) if next != '"' && next != '\\' => {
                    word.get_or_insert_default().extend(['\\', next]);
                }
                (Some(next), _) => word.get_or_insert_default().push(next),
                (None, _) => return Err(format!("`{}` ends with a backslash", clean_line(line, 80))),
            },
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(format!("`{}` has an open {open}", clean_line(line, 80)));
    }
    words.extend(word);
    Ok(words)
}

/// The tools that the flags tell Claude to let pass, one by one: commas and blanks divide, but not inside brackets.
pub fn allowed_tools(flags: &[String]) -> Vec<String> {
    let mut tools = Vec::new();
    let mut listing = false;
    for word in flags {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        if word.starts_with("--") {
            listing = matches!(name, "--allowedTools" | "--allowed-tools");
        }
        let list = if word.starts_with("--") { value } else { word.as_str() };
        if listing {
            tools.extend(divided(list));
        }
    }
    tools
}

fn divided(list: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let divides = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    };
    list.split(divides).map(str::trim).filter(|tool| !tool.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_like_a_shell() {
        let cases: [(&str, &[&str]); 7] = [
            ("", &[]),
            ("  --a   b ", &["--a", "b"]),
            ("--x 'a b' \"c d\"", &["--x", "a b", "c d"]),
            ("--x=\"a b\"", &["--x=a b"]),
            ("a\\ b 'c\\d' \"e\\\"f\\g\"", &["a b", "c\\d", "e\"f\\g"]),
            ("--tools ''", &["--tools", ""]),
            ("$HOME `x` *", &["$HOME", "`x`", "*"]),
        ];
        for (line, words) in cases {
            assert_eq!(split(line).unwrap(), words, "{line}");
        }
        assert!(split("'a").is_err() && split("\"a").is_err() && split("a\\").is_err());
    }

    #[test]
    fn every_refused_flag_is_refused_in_each_of_its_forms() {
        for (flag, reason) in REFUSED {
            for form in [flag.to_owned(), format!("{flag}=x")] {
                let vetted = vet(vec!["--effort".into(), "high".into(), form.clone()]);
                assert_eq!(vetted.refused.len(), 1, "{form}");
                assert!(vetted.refused[0].contains(reason) && vetted.refused[0].contains(flag), "{form}");
            }
        }
        for form in ["-dp", "-rabc", "-cp"] {
            assert_eq!(vet(vec![form.into()]).refused.len(), 1, "{form}");
        }
    }

    #[test]
    fn what_breaks_protocol_or_gate_is_on_the_list() {
        let line = "--output-format --input-format --permission-mode --permission-prompt-tool --setting-sources \
                    --settings --bare --safe-mode --continue -p --print -c -r --resume --session-id --verbose \
                    --allow-dangerously-skip-permissions";
        for flag in split(line).unwrap() {
            assert_eq!(vet(vec![flag.clone()]).refused.len(), 1, "{flag}");
        }
    }

    #[test]
    fn what_is_harmless_is_handed_on() {
        let words = split("--effort high --max-turns=3 --add-dir ../lib --fallback-model 'sonnet' -d api").unwrap();
        let vetted = vet(words.clone());
        assert_eq!((vetted.flags, vetted.refused.len()), (words, 0));
    }

    #[test]
    fn the_old_default_is_dropped_with_a_notice() {
        let vetted = vet(vec!["--dangerously-skip-permissions".into()]);
        assert_eq!((vetted.flags.len(), vetted.notices.len(), vetted.refused.len()), (0, 1, 0));
    }

    #[test]
    fn the_tools_that_claude_lets_pass_are_known_in_every_form() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["--allowedTools", "Write,Bash(git *)", "Read"], &["Write", "Bash(git *)", "Read"]),
            (&["--allowed-tools=Bash(npm run *) Edit"], &["Bash(npm run *)", "Edit"]),
            (&["--effort", "high", "--allowedTools", "A", "--add-dir", "B"], &["A"]),
            (&["--disallowedTools", "Bash(rm *)"], &[]),
            (&["--allowedTools", "Bash(git *"], &["Bash(git *"]),
        ];
        for (flags, expected) in cases {
            let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            assert_eq!(allowed_tools(&flags), expected, "{flags:?}");
        }
    }

    #[test]
    fn a_word_of_no_flag_is_refused() {
        for words in [vec!["fix", "it"], vec!["--dangerously-skip-permissions", "x"], vec!["--effort=high", "x"]] {
            let refused = vet(words.iter().map(ToString::to_string).collect()).refused;
            assert!(!refused.is_empty(), "{words:?}");
        }
    }
}
