//! What reviewers are told: a frame, in it what each is to look for, and the second look at what they found.

use crate::orchestrator::prompt::Kind;

/// The frame of every reviewer's prompt.
pub const REVIEW: Kind = Kind { file: "review.md", builtin: include_str!("prompt/review.md") };
/// The second look; `resumed`: it is asked for once more.
pub const CHECK: Kind = Kind { file: "review-check.md", builtin: include_str!("prompt/review-check.md") };

macro_rules! focus {
    ($name:literal) => {
        (
            $name,
            Kind {
                file: concat!("review-", $name, ".md"),
                builtin: include_str!(concat!("prompt/review/", $name, ".md")),
            },
        )
    };
}

/// What reviewers look for, by name.
pub const FOCUS: [(&str, Kind); 9] = [
    focus!("bug-shallow"),
    focus!("bug-deep"),
    focus!("architect"),
    focus!("simplification"),
    focus!("silent-failures"),
    focus!("claudemd"),
    focus!("type-design"),
    focus!("comments"),
    focus!("tests-and-linters"),
];

/// The focus of this name.
pub fn focus(name: &str) -> Option<Kind> {
    FOCUS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// All templates of a review.
pub fn prompts() -> impl Iterator<Item = Kind> {
    [REVIEW, CHECK].into_iter().chain(FOCUS.iter().map(|(_, kind)| *kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::claim::parse::{parse_checks, parse_critique};
    use crate::domain::review::FOCI;
    use crate::orchestrator::prompt::{PromptContext, Templates};

    #[test]
    fn every_focus_has_a_prompt_that_renders() {
        assert_eq!(FOCUS.map(|(name, _)| name), FOCI);
        let kinds: Vec<Kind> = prompts().collect();
        Templates::default().check(&kinds).unwrap();
        let context = PromptContext {
            title: "since branching from main".into(),
            focus: "Bugs.".into(),
            diff: "+@evil\n```\n".into(),
            issues: vec!["major: a.rs:1: wrong".into()],
            ..PromptContext::default()
        };
        let frame = Templates::default().render(REVIEW, &context).unwrap();
        assert!(frame.contains("differs since branching from main") && frame.contains("\nBugs.\n"), "{frame}");
        assert!(frame.contains("+\\@evil") && frame.contains("````text"), "the diff stays in its fence:\n{frame}");
        let check = Templates::default().render(CHECK, &context).unwrap();
        assert!(check.contains("Issue 1:\n\n```text\nmajor: a.rs:1: wrong"), "{check}");
        let again = Templates::default().render(CHECK, &PromptContext { resumed: true, ..context }).unwrap();
        assert!(again.contains("Answer with the block alone") && !again.contains("Issue 1"), "{again}");
        // The example of a prompt, echoed, is no answer.
        assert!(parse_critique(&frame).is_err());
        assert!(parse_checks(&check).is_err());
    }
}
