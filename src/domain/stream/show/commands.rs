//! Commands of Claude Code's own, which it writes down in the place of the person's words: `/compact`, `! ls`, and what they
//! have printed.

use super::block::Block;
use super::notices::notice;
use crate::domain::record::Level;

/// What such a text shows; `None`: these are the person's words.
pub(super) fn blocks(text: &str) -> Option<Vec<Block>> {
    let text = text.trim_start();
    let printed = |level, text: &str| if text.trim().is_empty() { Vec::new() } else { notice(level, text) };
    // Only what begins with a tag was written down by Claude Code.
    let begins = |name: &str| text.strip_prefix('<').is_some_and(|rest| rest.starts_with(name));
    if begins("command-name>") || begins("command-message>") {
        let (name, args) = (tag(text, "command-name")?, tag(text, "command-args").unwrap_or_default());
        return Some(vec![Block::Person(format!("{name} {args}").trim().to_owned())]);
    }
    if let Some(typed) = tag(text, "bash-input").filter(|_| begins("bash-input>")) {
        return Some(vec![Block::Person(format!("! {typed}"))]);
    }
    if begins("bash-stdout>") || begins("local-command-stdout>") || begins("local-command-stderr>") {
        let out = ["bash-stdout", "local-command-stdout"].into_iter().find_map(|name| tag(text, name));
        let err = ["bash-stderr", "local-command-stderr"].into_iter().find_map(|name| tag(text, name));
        let mut all = printed(Level::Info, out.unwrap_or_default());
        all.extend(printed(Level::Warn, err.unwrap_or_default()));
        return Some(all);
    }
    // Something in the background has ended.
    begins("task-notification>").then(|| printed(Level::Info, tag(text, "summary").unwrap_or_default()))
}

/// What stands between `<name>` and `</name>`; to the end where the line was cut.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, inside) = text.split_once(&format!("<{name}>"))?;
    Some(inside.split_once(&format!("</{name}>")).map_or(inside, |(inside, _)| inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_what_they_print_are_told_from_words() {
        let said = |text: &str| {
            let all = blocks(text)?.into_iter().map(|block| match block {
                Block::Person(text) => format!("person {text}"),
                Block::Notice { level, text } => format!("{level:?} {text}"),
                other => format!("{other:?}"),
            });
            Some(all.collect::<Vec<_>>().join("|"))
        };
        for (text, expected) in [
            ("<command-name>/model</command-name>\n <command-args>opus</command-args>", "person /model opus"),
            ("<command-message>a</command-message><command-name>/a</command-name>", "person /a"),
            ("<bash-input>ls</bash-input>", "person ! ls"),
            ("<bash-stdout>a</bash-stdout><bash-stderr>b</bash-stderr>", "Info a|Warn b"),
            ("<bash-stdout></bash-stdout><bash-stderr></bash-stderr>", ""),
            ("<local-command-stdout>\u{1b}[1mA\u{1b}[0m\u{1b}]0;x\u{7}", "Info A"),
            ("<task-notification>\n<summary>done</summary>", "Info done"),
        ] {
            assert_eq!(said(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["begin", "see <bash-input>ls</bash-input>", "<b>", "", "<command-message>x"] {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
