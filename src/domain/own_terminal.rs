//! The terminal in which a Claude session of the person's own sits: which one it is, by what that is known, and in which words
//! the person finds it.
//!
//! The order of the sources is that of claude-afk, so that both mean the same terminal.

use super::worded::worded;
use crate::base::text::clean_line;
use serde::{Deserialize, Serialize};

/// Most columns of what a terminal calls itself.
const LONGEST: usize = 80;

worded! {
    /// By what a terminal is known: the first of these that is there.
    pub enum Source {
        WindowsTerminal = "WT_SESSION",
        MacTerminal = "TERM_SESSION_ID",
        ITerm = "ITERM_SESSION_ID",
        /// The terminal device that Claude was started on.
        Tty = "tty",
        /// A window of X11.
        Window = "WINDOWID",
        /// Nothing but Claude's process: not a terminal at all, but something.
        Pid = "pid",
    }
}

/// A terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// What the source says.
    pub id: String,
    pub source: Source,
    /// The pane of tmux, such as `%3`: of those in one terminal.
    pub pane: Option<String>,
}

impl Terminal {
    /// The one of a Claude with these variables, on this device, such as `pts/3`, with this process.
    pub fn find(variable: impl Fn(&str) -> Option<String>, tty: Option<&str>, pid: u32) -> Self {
        let named = |name: &str| variable(name).map(|id| clean_line(&id, LONGEST)).filter(|id| !id.trim().is_empty());
        let pane = named("TMUX").and_then(|_| named("TMUX_PANE"));
        let of = |source: &Source| match source {
            Source::Tty => tty.map(|tty| clean_line(tty, LONGEST)),
            Source::Pid => None,
            source => named(source.word()),
        };
        let found = Source::ALL.iter().find_map(|source| Some((of(source)?, *source)));
        let (id, source) = found.unwrap_or_else(|| (pid.to_string(), Source::Pid));
        Self { id, source, pane }
    }

    /// Where the person finds it.
    pub fn place(&self) -> String {
        let id = &self.id;
        // Whoever has written the file that it was read from.
        let place = match (&self.pane, self.source) {
            (Some(pane), _) => format!("tmux pane {pane}"),
            (None, Source::WindowsTerminal) => format!("Windows Terminal {id}"),
            (None, Source::MacTerminal) => format!("Terminal {id}"),
            (None, Source::ITerm) => format!("iTerm2 {id}"),
            (None, Source::Tty) => format!("terminal {id}"),
            (None, Source::Window) => format!("window {id}"),
            (None, Source::Pid) => format!("process {id}"),
        };
        clean_line(&place, LONGEST * 2)
    }

    /// Why it may be another one than it seems; `None`: it is known well.
    pub fn doubt(&self) -> Option<&'static str> {
        (self.source == Source::Pid && self.pane.is_none()).then_some("terminal unknown: only its process was found")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)], tty: Option<&str>) -> Terminal {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Terminal::find(variable, tty, 42)
    }

    #[test]
    fn the_first_source_that_is_there_names_it() {
        let all = ["WT_SESSION", "TERM_SESSION_ID", "ITERM_SESSION_ID", "WINDOWID"].map(|name| (name, name));
        let words = |terminal: Terminal| format!("{} by {}", terminal.place(), terminal.source.word());
        for (from, tty, expected) in [
            (0, None, "Windows Terminal WT_SESSION by WT_SESSION"),
            (1, Some("pts/3"), "Terminal TERM_SESSION_ID by TERM_SESSION_ID"),
            (2, Some("pts/3"), "iTerm2 ITERM_SESSION_ID by ITERM_SESSION_ID"),
            (3, Some("pts/3"), "terminal pts/3 by tty"),
            (3, None, "window WINDOWID by WINDOWID"),
            (4, None, "process 42 by pid"),
        ] {
            assert_eq!(words(found(&all[from..], tty)), expected);
        }
        assert_eq!(words(found(&[("WT_SESSION", " "), ("WINDOWID", "")], None)), "process 42 by pid");
    }

    #[test]
    fn the_pane_is_where_it_is_found_and_only_a_process_alone_is_doubted() {
        let pane = found(&[("TMUX", "/tmp/tmux/default,1,0"), ("TMUX_PANE", "%3")], Some("pts/3"));
        assert_eq!((pane.place().as_str(), pane.id.as_str(), pane.doubt()), ("tmux pane %3", "pts/3", None));
        assert_eq!(found(&[("TMUX_PANE", "%3")], Some("pts/3")).pane, None, "left over from another terminal");
        assert!(found(&[], None).doubt().is_some());
        let escape = found(&[("WT_SESSION", "\u{1b}]0;x\u{7}a\nb")], None);
        assert!(!escape.place().contains(char::is_control), "{escape:?}");
        let forged = Terminal { pane: Some("%\u{1b}[2J".into()), ..escape };
        assert!(!forged.place().contains(char::is_control), "{forged:?}");
        assert!(found(&[("WT_SESSION", &"x".repeat(1 << 20))], None).id.len() <= LONGEST + 4);
    }
}
