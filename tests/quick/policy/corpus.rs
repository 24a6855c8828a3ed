//! The corpus in profile `strict`: every verdict as expected, none that must never be.

use super::support::{cases, policy};
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use programmator::policy::cases::{Case, Miss};

#[test]
fn every_case_has_the_expected_verdict() {
    let strict = policy(Profile::Strict);
    assert_eq!(strict.broken(), None);
    let misses: Vec<String> = cases()
        .iter()
        .filter_map(|case| {
            let decision = case.decide(strict);
            let miss = case.miss(&decision)?;
            let never = if miss == Miss::Never { "NEVER " } else { "" };
            let got = decision.verdict.word();
            let input = case.input.to_string();
            Some(format!("{never}{} {got} for {}: {input} | {}", case.id, case.expect.word(), decision.told()))
        })
        .collect();
    assert!(misses.is_empty(), "{} misses\n{}", misses.len(), misses.join("\n"));
}

/// What was allowed once and must never be: each in a profile that would allow it.
#[test]
fn no_known_hole_is_open() {
    let holes: Vec<Case> = include_str!("../../fixtures/policy/holes.jsonl")
        .lines()
        .map(|line| Case::read(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let mut open = Vec::new();
    for profile in [Profile::Strict, Profile::Guarded] {
        for hole in &holes {
            let decision = hole.decide(policy(profile));
            if decision.verdict == Verdict::Allow {
                open.push(format!("{} {}: {}", profile.word(), hole.id, hole.input));
            }
        }
    }
    assert!(holes.len() >= 26 && open.is_empty(), "{}\n{}", open.len(), open.join("\n"));
}
