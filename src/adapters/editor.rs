//! The person's editor: which program it is and how it is called.
//!
//! `$VISUAL`, else `$EDITOR`, else `vi`, as git and most others have it. Does not own handing the
//! terminal over and taking it back (`tui::terminal`).

use crate::base::text::clean_line;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

/// An editor as a program and its first arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Editor {
    program: String,
    arguments: Vec<String>,
}

/// A file was not edited.
#[derive(Debug, thiserror::Error)]
pub enum EditorError {
    #[error("the editor {0} could not be started: {1}; set $EDITOR")]
    Start(String, io::Error),
    #[error("the editor {0} failed: {1}")]
    Failed(String, ExitStatus),
}

impl Editor {
    /// The editor that the environment names.
    pub fn from_env() -> Self {
        Self::named(|variable| std::env::var(variable).ok())
    }

    /// The editor named by `VISUAL` or `EDITOR`; empty ones do not count.
    pub fn named(variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut words = ["VISUAL", "EDITOR"]
            .into_iter()
            .filter_map(variable)
            .map(|value| split(&value))
            .find(|words| !words.is_empty())
            .unwrap_or_else(|| vec!["vi".to_owned()])
            .into_iter();
        Self { program: words.next().unwrap_or_default(), arguments: words.collect() }
    }

    /// The call that edits `path`. It needs the terminal until it ends.
    pub fn command(&self, path: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        // A relative name that begins with `-` would be an option.
        if path.is_absolute() {
            command.arg(path);
        } else {
            command.arg(Path::new(".").join(path));
        }
        command
    }
}

impl Editor {
    /// The call that edits `path` at a line, where the editor is known to take one.
    pub fn command_at(&self, path: &Path, line: u64) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        match Path::new(&self.program).file_name().and_then(|name| name.to_str()) {
            Some("vi" | "vim" | "nvim" | "emacs" | "emacsclient" | "nano") => {
                command.arg(format!("+{line}")).arg(path);
            }
            Some("code" | "codium") => {
                let mut place = path.as_os_str().to_owned();
                place.push(format!(":{line}"));
                command.arg("--goto").arg(place);
            }
            _ => return self.command(path),
        }
        command
    }

    /// Has the person edit the file, and waits for them. The terminal is the editor's meanwhile.
    pub fn edit(&self, path: &Path) -> Result<(), EditorError> {
        let name = || clean_line(&self.program, 200);
        match self.command(path).status() {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(EditorError::Failed(name(), status)),
            Err(error) => Err(EditorError::Start(name(), error)),
        }
    }
}

impl fmt::Display for Editor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)
    }
}

/// Splits as a shell does for plain words: blanks part, quotes and backslashes keep together. Nothing is
/// expanded or run. A quote that is never closed reaches to the end.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(visual: Option<&str>, editor: Option<&str>, path: &str) -> Vec<String> {
        let found = Editor::named(|name| {
            let value = if name == "VISUAL" { visual } else { editor };
            value.map(str::to_owned)
        });
        let command = found.command(Path::new(path));
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn chooses_and_splits_as_a_shell_would() {
        let cases: [(Option<&str>, Option<&str>, &[&str]); 7] = [
            (None, None, &["vi", "/t.md"]),
            (Some("code --wait"), Some("nano"), &["code", "--wait", "/t.md"]),
            (Some("  "), Some("nano"), &["nano", "/t.md"]),
            (None, Some("'/my apps/ed' -x"), &["/my apps/ed", "-x", "/t.md"]),
            (None, Some(r"/my\ apps/ed"), &["/my apps/ed", "/t.md"]),
            (None, Some(r#"ed "a \"b\"" '' "#), &["ed", "a \"b\"", "", "/t.md"]),
            (None, Some("ed $(rm -rf x)"), &["ed", "$(rm", "-rf", "x)", "/t.md"]),
        ];
        for (visual, editor, expected) in cases {
            assert_eq!(argv(visual, editor, "/t.md"), expected);
        }
    }

    #[test]
    fn a_known_editor_is_told_the_line() {
        let argv = |editor: &str| {
            let command = Editor::named(|_| Some(editor.to_owned())).command_at(Path::new("/a b.rs"), 41);
            command.get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(argv("/usr/bin/nvim -n"), ["-n", "+41", "/a b.rs"]);
        assert_eq!(argv("code --wait"), ["--wait", "--goto", "/a b.rs:41"]);
        assert_eq!(argv("ed"), ["/a b.rs"]);
    }

    #[test]
    fn a_name_is_never_an_option() {
        assert_eq!(argv(None, None, "-rf"), ["vi", "./-rf"]);
    }
}
