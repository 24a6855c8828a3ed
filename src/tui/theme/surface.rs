//! What the terminal can show: how many colours, and on which background.

use super::colour::Rgb;
use std::collections::BTreeMap;

/// How many colours there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    None,
    Sixteen,
    Indexed,
    True,
}

/// The terminal as far as colours go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    pub depth: Depth,
    /// `None`: the terminal does not tell.
    pub background: Option<Rgb>,
    /// It can be asked for its background: some print the question instead.
    pub answers: bool,
}

impl Surface {
    /// What the environment says; the background is a guess until the terminal answers.
    pub fn of(environment: &BTreeMap<String, String>) -> Self {
        let get = |name: &str| environment.get(name).map_or("", String::as_str);
        let depth = depth(get("TERM"), get("COLORTERM"), get("TERM_PROGRAM"), environment.contains_key("WT_SESSION"));
        let screen = get("TERM") == "screen" || get("TERM").starts_with("screen.");
        Self {
            depth,
            background: told(get("COLORFGBG")),
            answers: depth >= Depth::Indexed && (!screen || environment.contains_key("TMUX")),
        }
    }
}

fn depth(term: &str, colorterm: &str, program: &str, windows: bool) -> Depth {
    let has = |parts: &[&str]| parts.iter().any(|part| term.contains(part));
    match term {
        "" | "dumb" | "vt100" | "vt102" | "vt220" => Depth::None,
        _ if matches!(colorterm, "truecolor" | "24bit") || windows || program == "iTerm.app" => Depth::True,
        _ if has(&["direct", "truecolor", "kitty", "alacritty", "ghostty", "wezterm", "foot"]) => Depth::True,
        _ if has(&["256"]) => Depth::Indexed,
        _ => Depth::Sixteen,
    }
}

/// `COLORFGBG`, which some terminals set: numbers of two of the sixteen colours, the last is the background.
fn told(colours: &str) -> Option<Rgb> {
    match colours.rsplit(';').next()?.parse().ok()? {
        7 | 15 => Some([255; 3]),
        0..=14 => Some([0; 3]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(environment: &[(&str, &str)]) -> Surface {
        Surface::of(&environment.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect())
    }

    #[test]
    fn what_the_environment_says_is_what_there_is() {
        for (environment, depth) in [
            (&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..], Depth::True),
            (&[("TERM", "xterm-kitty")], Depth::True),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "Apple_Terminal")], Depth::Indexed),
            (&[("TERM", "linux")], Depth::Sixteen),
            (&[("TERM", "xterm")], Depth::Sixteen),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Depth::None),
            (&[], Depth::None),
        ] {
            assert_eq!(of(environment).depth, depth, "{environment:?}");
        }
    }

    #[test]
    fn only_terminals_that_understand_the_question_are_asked() {
        assert!(of(&[("TERM", "tmux-256color")]).answers);
        assert!(of(&[("TERM", "screen"), ("TMUX", "x"), ("COLORTERM", "truecolor")]).answers);
        assert!(!of(&[("TERM", "screen"), ("COLORTERM", "truecolor")]).answers);
        assert!(!of(&[("TERM", "linux")]).answers);
    }

    #[test]
    fn a_background_is_guessed_where_a_variable_tells_it() {
        assert_eq!(of(&[("COLORFGBG", "0;default;15")]).background, Some([255; 3]));
        assert_eq!(of(&[("COLORFGBG", "15;0")]).background, Some([0; 3]));
        assert_eq!(of(&[("COLORFGBG", "15;default")]).background, None);
    }
}
