//! A pull request of a ticket's work: what would go out, and its text. Words of Claude's and of tickets stand in it as code, so that
//! none of them mentions a person, links an issue or closes one.

use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::messages::done_words;
use crate::domain::outcome::DoneHow;
use crate::domain::report::{Became, DisputedClaim, PhaseReport, RunReport};

/// Characters of a title, of a phase's text and of a reason at most.
const TITLE: usize = 200;
const WORDS: usize = 300;
/// Commands of a phase that are named, and claims that did not hold that are.
const NAMED: usize = 10;

/// What would go out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    pub branch: String,
    pub base: String,
    pub remote: String,
    /// The remote's addresses, without passwords.
    pub urls: Vec<String>,
    /// Whose repository the remote is, by its address.
    pub owner: Option<String>,
    /// The commit of the branch, whole.
    pub commit: String,
    /// The remote has it already.
    pub is_there: bool,
    /// What the branch has and the base does not, newest first: short id and subject.
    pub commits: Vec<String>,
    /// What the remote does not have yet.
    pub pushed: Vec<String>,
    /// How many files and lines differ from the base.
    pub stat: String,
}

/// The title.
pub fn title(ticket: &str) -> String {
    clean_line(ticket.trim(), TITLE)
}

/// The text, in Markdown: what is done by what it was checked, and what was disputed. `runs`: of the ticket, oldest first; `closes`:
/// the issue of the same repository that the ticket came from; `mask` takes secrets out of a text.
pub fn body(ticket: &TicketId, runs: &[RunReport], closes: Option<u64>, mask: &dyn Fn(&str) -> String) -> String {
    let code = |text: &str| code(&mask(text));
    let name = |phase: Option<&String>| phase.map_or_else(|| "the whole ticket".to_owned(), |text| code(text));

    let mut phases: Vec<&PhaseReport> = Vec::new();
    for phase in runs.iter().flat_map(|run| &run.decided) {
        // A later run says how it is now.
        match phases.iter_mut().find(|known| known.phase == phase.phase) {
            Some(known) => *known = phase,
            None => phases.push(phase),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    if let Some(issue) = closes {
        lines.extend([format!("Closes #{issue}."), String::new()]);
    }
    if !phases.is_empty() {
        lines.extend(["## What was done, and how it was verified".to_owned(), String::new()]);
        lines
            .extend(phases.iter().map(|phase| format!("- {}: {}", name(phase.phase.as_ref()), of_phase(phase, &code))));
        lines.push(String::new());
    }
    let disputed: Vec<_> = runs.iter().flat_map(|run| &run.disputed).collect();
    if !disputed.is_empty() {
        lines.extend(["## Claims that failed at first".to_owned(), String::new()]);
        let of_claim = |claim: &&DisputedClaim| format!("- {}: {}", name(claim.phase.as_ref()), code(&claim.why));
        lines.extend(disputed.iter().take(NAMED).map(of_claim));
        lines.extend((disputed.len() > NAMED).then(|| format!("- and {} more", disputed.len() - NAMED)));
        lines.push(String::new());
    }
    let iterations = runs.iter().map(|run| run.iterations as usize).sum();
    let (count, iterations) = (counted(runs.len(), "run"), counted(iterations, "iteration"));
    lines.push(format!("Work on ticket {} by programmator: {count}, {iterations}.", code(ticket.as_str())));
    lines.join("\n") + "\n"
}

fn of_phase(phase: &PhaseReport, code: &dyn Fn(&str) -> String) -> String {
    let ground = match (phase.became, phase.how) {
        (Became::Done, Some(how)) => done_words(how),
        (Became::TakenBack, _) => "reverted by a restore",
        (became, _) => became.word(),
    };
    let commands = phase.commands.iter().take(NAMED).map(|command| code(command)).collect::<Vec<_>>().join(", ");
    let more = phase.commands.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let by = match phase.how {
        _ if commands.is_empty() => String::new(),
        Some(DoneHow::Verified) => format!(" by {commands}{more}"),
        _ => format!("; {commands}{more} passed"),
    };
    let why = phase.why.as_ref().map_or_else(String::new, |why| format!(": {}", code(why)));
    format!("{ground}{by}{why}")
}

/// The text as code in a line, behind more backticks than it has in a row.
fn code(text: &str) -> String {
    let text = clean_line(text.trim(), WORDS);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    if text.is_empty() { "(nothing)".to_owned() } else { format!("{fence}{pad}{text}{pad}{fence}") }
}

/// The number of the issue that a ticket's `external-ref` names, where it is of this repository.
pub fn issue_of(reference: &str, repository: &str) -> Option<u64> {
    let (place, number) = reference.strip_prefix("github:")?.rsplit_once('#')?;
    if place.eq_ignore_ascii_case(repository) { number.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_mention_nobody_and_close_nothing() {
        for (text, shown) in [
            ("fixes #3 for @ada", "`fixes #3 for @ada`"),
            ("run `x` and ``y``", "``` run `x` and ``y`` ```"),
            ("a\nb\u{1b}[31m", "`a b`"),
            ("", "(nothing)"),
        ] {
            assert_eq!(code(text), shown);
        }
    }

    #[test]
    fn only_an_issue_of_the_same_repository_is_closed() {
        assert_eq!(issue_of("github:Ada/shop#7", "ada/shop"), Some(7));
        for other in ["github:ada/shop2#7", "github:ada/shop#x", "beads:ada/shop#7", "github:ada/shop"] {
            assert_eq!(issue_of(other, "ada/shop"), None, "{other}");
        }
    }
}
