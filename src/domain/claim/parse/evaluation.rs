//! Reads an evaluator's answer: the status block with `verdict` and `new_phases`. As for a critic's, the last block with a
//! verdict decides, and a verdict is never guessed.

use super::block::Block;
use super::critique::{Unreadable, is_cut, last_block, of};
use super::key::{self, Field};
use super::{lines, value};
use crate::base::text::clean_line;
use crate::domain::evaluation::{Evaluation, GoalVerdict};
use crate::domain::ticket::PhaseSettings;

/// Phases that are kept, and the columns of each: one line of the ticket.
const MAX_PHASES: usize = 50;
const WIDEST: usize = 300;

/// Reads the last verdict of `text`: the text blocks of the evaluator's last turn, joined.
///
/// # Errors
///
/// `missing`, `unknown_verdict`, `conflicting_verdict` (it says two things, or more work where the goal is reached),
/// `missing_phases` or `truncated`.
pub fn parse_evaluation(text: &str) -> Result<Evaluation, Unreadable> {
    let block = last_block(&lines::lines(text), GoalVerdict::WORDS).ok_or("missing")?;
    let mut verdicts = of(&block, Field::Verdict).map(|entry| {
        let text = value::text(entry, &mut Vec::new()).unwrap_or_default();
        let word = value::unmarked(&text, &mut Vec::new()).to_ascii_uppercase().replace([' ', '-'], "_");
        GoalVerdict::from_word(&word)
    });
    let verdict = verdicts.next().flatten().ok_or("unknown_verdict")?;
    if verdicts.any(|other| other != Some(verdict)) {
        return Err("conflicting_verdict");
    }
    if is_cut(&block) || ends_in_list(&block) {
        return Err("truncated");
    }
    let listed = of(&block, Field::NewPhases).flat_map(|entry| value::items(entry, &mut Vec::new()));
    let mut phases: Vec<String> = Vec::new();
    for phase in listed.map(|text| phase(&text)).filter(|text| !text.is_empty()) {
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases.truncate(MAX_PHASES);
    match verdict {
        GoalVerdict::Achieved if !phases.is_empty() => return Err("conflicting_verdict"),
        GoalVerdict::MoreWork if phases.is_empty() => return Err("missing_phases"),
        GoalVerdict::Achieved | GoalVerdict::MoreWork => {}
    }
    let summary = of(&block, Field::Summary).last().and_then(|entry| value::text(entry, &mut Vec::new()));
    Ok(Evaluation { verdict, phases, summary: summary.unwrap_or_default() })
}

/// The text ends in the list of phases, which may have been longer.
fn ends_in_list(block: &Block) -> bool {
    let last = block.entries.last().filter(|last| block.mid_line && last.field == Some(Field::NewPhases));
    last.is_some_and(|list| !list.more.is_empty() || !matches!(list.first.trim(), "" | "[]" | "null" | "none"))
}

/// A phase as a line of the ticket: without bullet, box and heading marks, which the ticket's own form brings along, and
/// without settings, which are not Claude's to choose.
fn phase(text: &str) -> String {
    let line = clean_line(text, WIDEST);
    let mut bare = PhaseSettings::bare(line.trim()).trim();
    loop {
        let rest = key::bullet(bare).unwrap_or(bare).trim_start_matches('#').trim_start();
        let rest = ["[ ]", "[x]", "[X]"].iter().find_map(|mark| rest.strip_prefix(mark)).unwrap_or(rest).trim();
        if rest == bare {
            return bare.to_owned();
        }
        bare = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use GoalVerdict::{Achieved, MoreWork};
    use proptest::prelude::*;

    fn said(text: &str) -> Result<(GoalVerdict, Vec<String>), Unreadable> {
        parse_evaluation(text).map(|evaluation| (evaluation.verdict, evaluation.phases))
    }

    fn block(verdict: &str, phases: &str) -> String {
        format!("Read it.\n\nPROGRAMMATOR_STATUS:\n  verdict: {verdict}\n  new_phases: {phases}\n  summary: \"s: t\"\n")
    }

    #[test]
    fn an_evaluator_chooses_no_settings_of_a_phase() {
        let phases = "[\"One <!-- critique: off --> <!-- model: x -->\", \"Two <!-- critique: off -->\"]";
        assert_eq!(said(&block("MORE_WORK", phases)), Ok((MoreWork, vec!["One".into(), "Two".into()])));
    }

    #[test]
    fn a_block_says_whether_the_goal_is_reached_and_what_is_missing() {
        for empty in ["[]", "", "null", "none"] {
            assert_eq!(said(&block("ACHIEVED", empty)), Ok((Achieved, vec![])), "{empty}");
        }
        let phases = |list: &[&str]| Ok((MoreWork, list.iter().map(ToString::to_string).collect()));
        for (list, expected) in [
            ("\n    - Write the docs\n    - \"Test: the rest\"", &["Write the docs", "Test: the rest"][..]),
            ("[Write the docs, \"Test, too\"]", &["Write the docs", "Test, too"]),
            ("\n    - \"- [ ] Write \x1b[2Jthem\"\n    - '## Another'\n    - ''", &["Write them", "Another"]),
            ("\n    - same\n    - same", &["same"]),
            ("\n    - a: colon and \"a quote", &["a: colon and \"a quote"]),
        ] {
            assert_eq!(said(&block("MORE_WORK", list)), phases(expected), "{list}");
        }
        assert_eq!(said(&block("more work", "[a]")), phases(&["a"]));
        assert_eq!(parse_evaluation(&block("ACHIEVED", "[]")).unwrap().summary, "s: t");
    }

    #[test]
    fn a_verdict_is_never_guessed() {
        for (text, why) in [
            (String::new(), "missing"),
            ("ACHIEVED".into(), "missing"),
            (block("APPROVED", "[]"), "unknown_verdict"),
            (block("<ACHIEVED or MORE_WORK>", "[]"), "missing"),
            (block("MORE_WORK", "[]"), "missing_phases"),
            (block("ACHIEVED", "[a]"), "conflicting_verdict"),
            (format!("{}  verdict: MORE_WORK\n", block("ACHIEVED", "[]")), "conflicting_verdict"),
            ("PROGRAMMATOR_STATUS:\n  status: DONE\n  summary: coder\n".into(), "missing"),
            ("PROGRAMMATOR_STATUS:\n  verdict: MORE_WORK\n  new_phases: [\"a".into(), "truncated"),
            (
                "PROGRAMMATOR_STATUS:\n  verdict: MORE_WORK\n  new_phases:\n    - Write the docs\n    - Test th".into(),
                "truncated",
            ),
            ("PROGRAMMATOR_STATUS:\n  verdict: MORE_WORK\n  new_phases:\n    - Write the docs".into(), "truncated"),
        ] {
            assert_eq!(said(&text), Err(why), "{text}");
        }
        let last = format!("{}\n{}", block("MORE_WORK", "[a]"), block("ACHIEVED", "[]"));
        assert_eq!(said(&last), Ok((Achieved, vec![])), "the last block decides");
        let short = "PROGRAMMATOR_STATUS:\n  verdict: ACHIEVED\n  new_phases: []";
        assert_eq!(said(short), Ok((Achieved, vec![])), "an empty list is whole");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "([A-Z_]{0,9}[: \\-\\n\"\\[{]?|PROGRAMMATOR_STATUS:\\n  |verdict: |new_phases:\\n|ACHIEVED|MORE_WORK|\\x1b|é){0,40}") {
            if let Ok(evaluation) = parse_evaluation(&text) {
                prop_assert_eq!(evaluation.verdict == MoreWork, !evaluation.phases.is_empty());
                prop_assert!(evaluation.phases.iter().all(|phase| !phase.chars().any(char::is_control)));
            }
        }
    }
}
