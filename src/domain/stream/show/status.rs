//! The status block inside Claude's words, found for display and read as the run reads it. A block that is neither a claim
//! nor the answer of a critic, an evaluator or a planner, or does not end where it seems to, stays text.

use super::Block;
use crate::domain::claim::parse::{parse, parse_critique, parse_draft, parse_evaluation};

const KEY: &str = "PROGRAMMATOR_STATUS:";

/// Splits `text` into what stands before the block, the block, and what follows. `None`: no block that is plainly understood.
pub(super) fn split(text: &str) -> Option<(String, Block, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let key = lines.iter().rposition(|line| line.trim() == KEY)?;
    let indent = lines[key].len() - lines[key].trim_start().len();
    let fenced = key > 0 && lines[key - 1].trim_start().starts_with("```");
    let mut end = key + 1;
    while end < lines.len() && belongs(lines[end], indent) {
        end += 1;
    }
    let block = lines[key..end].join("\n");
    let claim = || Some(Block::Status(Box::new(parse(&block).claim?)));
    let critique = || Some(Block::Critique(Box::new(parse_critique(&block).ok()?)));
    let evaluation = || Some(Block::Evaluation(Box::new(parse_evaluation(&block).ok()?)));
    let draft = || Some(Block::Draft(Box::new(parse_draft(&block).ok()?)));
    let status = claim().or_else(critique).or_else(evaluation).or_else(draft)?;
    let mut rest = end;
    if fenced {
        while rest < lines.len() && lines[rest].trim().is_empty() {
            rest += 1;
        }
        if lines.get(rest).is_some_and(|line| line.trim() == "```") {
            rest += 1;
        } else if rest < lines.len() {
            return None;
        }
    }
    let start = key - usize::from(fenced);
    Some((lines[..start].join("\n"), status, lines[rest..].join("\n")))
}

fn belongs(line: &str, indent: usize) -> bool {
    let own = line.len() - line.trim_start().len();
    own > indent && !line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::claim::Claim;

    fn claimed(text: &str) -> Option<(String, Claim, String)> {
        match split(text)? {
            (before, Block::Status(claim), after) => Some((before, *claim, after)),
            (_, other, _) => panic!("{other:?} is no claim"),
        }
    }

    #[test]
    fn a_plain_block_is_taken_out() {
        let text = "All done.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  phase_completed: \"Phase 1\"\n  status: CONTINUE\n  files_changed:\n    - a.txt\n    - 'b c.txt'\n  summary: \"did it\"\n```\nBye";
        let (before, status, after) = claimed(text).expect("a block");
        assert_eq!(before, "All done.\n");
        assert_eq!(after, "Bye");
        assert_eq!(status.phase_completed.as_deref(), Some("Phase 1"));
        assert_eq!(status.files_changed, ["a.txt", "b c.txt"]);
        assert_eq!(status.summary, "did it");
    }

    #[test]
    fn a_block_with_more_in_it_is_read_too() {
        let block = "PROGRAMMATOR_STATUS:\n  status: DONE\n  unknown: 1\n  summary: |\n    two lines: here\n    more";
        let (before, status, after) = claimed(block).expect("a block");
        assert_eq!((before.as_str(), status.summary.trim(), after.as_str()), ("", "two lines: here\nmore", ""));
    }

    #[test]
    fn an_evaluators_answer_is_a_block() {
        let text = "PROGRAMMATOR_STATUS:\n  verdict: MORE_WORK\n  new_phases: [\"a\", \"b\"]\n  summary: s";
        let Some((_, Block::Evaluation(said), _)) = split(text) else { panic!("{:?}", split(text)) };
        assert_eq!((said.phases.len(), said.summary.as_str()), (2, "s"));
    }

    #[test]
    fn what_is_no_claim_stays_text() {
        for text in [
            "no block",
            "PROGRAMMATOR_STATUS:\n  nonsense",
            "PROGRAMMATOR_STATUS:\n  status: PERHAPS",
            "```\nPROGRAMMATOR_STATUS:\n  status: DONE\nsomething else\n```",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn a_planners_draft_is_taken_out_unless_it_is_cut_off() {
        let block = "PROGRAMMATOR_STATUS:\n  phases:\n    - \"One\"\n    - \"Two\"\n  validation:\n    - \"cargo test\"\n  summary: two\n";
        let (before, Block::Draft(draft), after) = split(&format!("Here it is.\n```yaml\n{block}```")).unwrap() else {
            panic!()
        };
        assert_eq!((before.as_str(), after.as_str()), ("Here it is.", ""));
        assert_eq!((draft.phases, draft.validation), (vec!["One".into(), "Two".into()], vec!["cargo test".to_owned()]));
        assert_eq!(split("PROGRAMMATOR_STATUS:\n  phases:\n    - \"One\"\n    - \"Tw"), None);
    }
}
