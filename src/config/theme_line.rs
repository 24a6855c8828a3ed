//! The line of a config file that names the theme: set, with every other byte of the file kept.

use super::FileText;
use super::file::read;
use super::key::{Key, Value};

/// The text with this theme; `None` when it is written in a way that is better changed by hand.
pub fn set(text: &str, theme: &str) -> Option<String> {
    let plain = theme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let value = if plain { theme.to_owned() } else { serde_json::to_string(theme).ok()? };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let new = match lines.iter().position(|line| is_group(line)) {
        None => {
            let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            format!("{text}{end}screen:\n  theme: {value}\n")
        }
        Some(group) => {
            let inside = |line: &&&str| line.starts_with([' ', '\t', '#']) || line.trim().is_empty();
            let end = group + 1 + lines[group + 1..].iter().take_while(inside).count();
            let is_key = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
            let first = lines[group + 1..end].iter().find(|line| is_key(line));
            let indent = first.map_or("  ", |line| &line[..line.len() - line.trim_start().len()]);
            let old = lines[group + 1..end].iter().position(|line| line.trim_start().starts_with("theme:"));
            let comment = old.map_or("", |at| comment(lines[group + 1 + at]));
            let line = format!("{indent}theme: {value}{comment}\n");
            let (before, after) = old.map_or((group + 1, group + 1), |at| (group + 1 + at, group + 2 + at));
            lines[..before].concat() + &line + &lines[after..].concat()
        }
    };
    is_as_meant(text, &new, theme).then_some(new)
}

/// What stands behind the value of the line, from the blank before its `#`.
fn comment(line: &str) -> &str {
    let value = line.split_once(':').map_or("", |(_, value)| value.trim());
    let quote = value.chars().next().filter(|first| matches!(first, '\'' | '"'));
    let rest = quote.map_or(value, |quote| value[1..].split_once(quote).map_or("", |(_, rest)| rest));
    rest.find(" #").map_or("", |at| &rest[at..])
}

fn is_group(line: &str) -> bool {
    let rest = line.strip_prefix("screen:").map(str::trim);
    line.ends_with('\n') && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
}

/// Nothing but the theme changed.
fn is_as_meant(old: &str, new: &str, theme: &str) -> bool {
    let others = |text: &str| {
        let (settings, errors) = read(&FileText { path: String::new(), text: text.to_owned() });
        let (themes, mut others): (Vec<_>, Vec<_>) = settings
            .into_iter()
            .map(|setting| (setting.row.key, setting.value))
            .partition(|(key, _)| *key == Key::Theme);
        others.sort_by_key(|(key, _)| *key as usize);
        (themes, others, errors.len())
    };
    let ((_, before, errors), (themes, after, more)) = (others(old), others(new));
    themes == [(Key::Theme, Value::Text(theme.to_owned()))] && before == after && more <= errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_of_the_theme_changes() {
        for (old, new) in [
            ("", "screen:\n  theme: nord\n"),
            ("limits:\n  calls: 7", "limits:\n  calls: 7\nscreen:\n  theme: nord\n"),
            (
                "# mine\nscreen: # look\n    # wide\n    ascii: true\n\nlimits:\n  calls: 7\n",
                "# mine\nscreen: # look\n    theme: nord\n    # wide\n    ascii: true\n\nlimits:\n  calls: 7\n",
            ),
            ("screen:\n  ascii: true\n  theme: 'x # y' # old\n", "screen:\n  ascii: true\n  theme: nord # old\n"),
        ] {
            assert_eq!(set(old, "nord").as_deref(), Some(new), "{old:?}");
        }
        assert_eq!(set("", "a b").as_deref(), Some("screen:\n  theme: \"a b\"\n"));
    }

    #[test]
    fn what_is_written_otherwise_is_left_alone() {
        for old in ["screen: {ascii: true}\n", "{screen: {theme: x}}\n", "screen:\n  theme: >\n    long\n"] {
            assert_eq!(set(old, "nord"), None, "{old:?}");
        }
    }
}
