//! The corpus in profile `strict`: every verdict as expected, none that must never be.

use crate::support::{cases, policy};
use programmator::policy::cases::Miss;
use programmator::policy::engine::Profile;

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
