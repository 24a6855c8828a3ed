//! What a prompt asks for, found without knowing the template it came from.
//!
//! Owns the guess at the current phase. Does not own the templates (`orchestrator::prompt`) nor the reading of
//! tickets (`domain::ticket`): the double reads a prompt as Claude does, as text.

/// What the double takes from a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Asked {
    /// The phase to work on; `None`: the prompt names none.
    pub phase: Option<String>,
    /// It is the only phase still open (or there are no phases at all).
    pub last: bool,
    /// A verdict on finished work is wanted, and no work.
    pub critic: bool,
    /// It asks whether the ticket's goal is reached.
    pub evaluator: bool,
    /// A draft of a ticket's phases is wanted, and no work.
    pub planner: bool,
}

impl Asked {
    /// No work on the ticket is wanted.
    pub fn only_looks(&self) -> bool {
        self.critic || self.evaluator || self.planner
    }
}

/// Finds the phase a prompt speaks of: the open phase on a line about the "current phase", else on another
/// line about a phase, else the one named most often, else the first.
pub fn read(prompt: &str) -> Asked {
    let open: Vec<&str> = prompt.lines().filter_map(open_phase).fold(Vec::new(), |mut seen, phase| {
        if !seen.contains(&phase) {
            seen.push(phase);
        }
        seen
    });
    let about = |words: &[&str]| {
        let lines: Vec<&str> = prompt.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.iter().enumerate().find_map(|(at, line)| {
            let before = at.checked_sub(1).map_or("", |at| lines[at]);
            let spoken = |text: &str| words.iter().any(|word| text.to_lowercase().contains(word));
            let listed = line.trim_start().starts_with(['-', '*']) && !line.trim_start().starts_with("**");
            if open_phase(line).is_some() || listed || !(spoken(line) || before.starts_with('#') && spoken(before)) {
                return None;
            }
            longest(&open, line)
        })
    };
    let named = |phase: &str| prompt.lines().filter(|line| longest(&open, line) == Some(phase)).count();
    let phase = about(&["current phase", "this phase", "phase to work on", "work on"])
        .or_else(|| about(&["phase"]))
        .or_else(|| {
            let most = open.iter().map(|phase| named(phase)).max()?;
            open.iter().find(|phase| named(phase) == most).copied()
        });
    let evaluator = prompt.contains("verdict: <ACHIEVED");
    let critic = prompt.contains("verdict: <") && !evaluator;
    let planner = prompt.contains("  phases:\n    - <");
    Asked { phase: phase.map(str::to_owned), last: open.len() <= 1, critic, evaluator, planner }
}

/// The phase whose text stands in `line`; of several the longest, since one may contain another.
fn longest<'a>(open: &[&'a str], line: &str) -> Option<&'a str> {
    open.iter().filter(|phase| line.contains(**phase)).max_by_key(|phase| phase.len()).copied()
}

/// An open phase's text when the line is a top-level unticked box or an unticked phase heading.
fn open_phase(line: &str) -> Option<&str> {
    if let Some(text) = ["- [ ] ", "* [ ] ", "+ [ ] "].iter().find_map(|bullet| line.strip_prefix(bullet)) {
        // What is said of the work on it is no part of its name.
        let settings = text.find(" <!-- ").filter(|at| text[*at..].contains(": "));
        return Some(text[..settings.unwrap_or(text.len())].trim());
    }
    let heading = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "))?.trim();
    let numbered = heading.strip_prefix("Phase ").or_else(|| heading.strip_prefix("Step ")).unwrap_or(heading);
    let digits = numbered.find(|c: char| !c.is_ascii_digit())?;
    let text = numbered[digits..].strip_prefix([':', '.'])?.trim();
    (digits > 0 && !text.is_empty() && !text.ends_with("[x]")).then_some(text)
}

/// A phase's text as a file name: letters and digits, the rest one `-`.
pub fn slug(phase: &str) -> String {
    let words: Vec<String> = phase
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    if words.is_empty() { "work".to_owned() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKET: &str = "# T\n- [x] Zero\n- [ ] One\n  - [ ] nested One\n- [ ] One more\n- [ ] Three\n";

    #[test]
    fn the_current_phase_is_found_whatever_the_template() {
        for (template, phase) in [
            ("{T}\nCurrent phase: One more\nOpen phases:\n- One\n- One more\n", "One more"),
            ("You are working on phase \"Three\" of ticket x.\n{T}", "Three"),
            ("{T}\n## Current phase\n\n**Three**\n", "Three"),
            ("Work on this:\n> One more\n{T}\nOne more", "One more"),
            ("{T}", "One"),
        ] {
            let asked = read(&template.replace("{T}", TICKET));
            assert_eq!(asked, Asked { phase: Some(phase.to_owned()), last: false, ..Asked::default() }, "{template}");
        }
    }

    #[test]
    fn headings_are_phases_and_the_last_open_one_is_known() {
        let asked = read("## Phase 1: First [x]\n## Phase 2: Second\ntext\n");
        assert_eq!(asked, Asked { phase: Some("Second".to_owned()), last: true, ..Asked::default() });
        assert_eq!(read("no phases here"), Asked { phase: None, last: true, ..Asked::default() });
        assert_eq!(slug("Speak German & French!"), "speak-german-french");
    }
}
