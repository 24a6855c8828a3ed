//! Attacks of our own, and the ordinary commands that look like them: each with its verdict in `strict` and in
//! `guarded`, alone and in a context.

use super::contexts::{contexts, lifted};
use super::support::policy;
use programmator::domain::profile::Profile;
use programmator::domain::verdict::Verdict;
use programmator::policy::cases::Case;
use proptest::prelude::{ProptestConfig, any, prop, prop_assert, proptest};
use serde::Deserialize;
use std::sync::LazyLock;

/// The command of a call of bash that carries nothing else, and is whole: half a command would end its context.
fn command(case: &Case) -> Option<&str> {
    let alone = case.input.as_object().is_some_and(|fields| fields.len() == 1) && !case.id.starts_with("parse-");
    case.input.get("command").filter(|_| alone)?.as_str().filter(|command| !command.trim().is_empty())
}

/// A case with its verdict in a second profile.
#[derive(Deserialize)]
struct Attack {
    #[serde(flatten)]
    case: Case,
    guarded: Verdict,
}

static ATTACKS: LazyLock<Vec<Attack>> = LazyLock::new(|| {
    let text = include_str!("../../fixtures/policy/attacks.jsonl");
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
});

fn verdict(profile: Profile, case: &Case) -> Verdict {
    case.decide(policy(profile)).verdict
}

#[test]
fn every_attack_has_the_expected_verdicts() {
    let mut wrong = Vec::new();
    for Attack { case, guarded } in ATTACKS.iter() {
        for (profile, expected) in [(Profile::Strict, case.expect), (Profile::Guarded, *guarded)] {
            let got = verdict(profile, case);
            if got != expected {
                let (profile, got, expected) = (profile.word(), got.word(), expected.word());
                wrong.push(format!("{} {profile}: {got}, not {expected}: {}", case.id, case.input));
            }
        }
    }
    assert!(ATTACKS.len() > 1500, "{}", ATTACKS.len());
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn no_attack_is_allowed_in_a_context() {
    let mut allowed = Vec::new();
    for (nth, Attack { case, .. }) in ATTACKS.iter().enumerate() {
        let Some(command) = command(case) else { continue };
        let surrounded = contexts(command);
        // Each row in two contexts, all contexts by all rows.
        let two = [nth, nth * 5 + 3].map(|at| &surrounded[at % surrounded.len()]);
        for profile in [Profile::Strict, Profile::Guarded] {
            let bare = verdict(profile, case);
            for (name, text) in two {
                let within = verdict(profile, &lifted(case, text));
                if within < bare {
                    let (bare, within) = (bare.word(), within.word());
                    allowed.push(format!("{} {} {name}: {bare} -> {within}: {text}", case.id, profile.word()));
                }
            }
        }
    }
    assert!(allowed.is_empty(), "{}\n{}", allowed.len(), allowed.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn contexts_in_contexts_never_weaken(row in any::<prop::sample::Index>(), ways in prop::collection::vec(0..13_usize, 1..4)) {
        let case = &row.get(&ATTACKS).case;
        if let Some(command) = command(case) {
            let text = ways.iter().fold(command.to_owned(), |text, way| contexts(&text).swap_remove(*way).1);
            let wrapped = lifted(case, &text);
            for &profile in Profile::ALL {
                let (bare, within) = (verdict(profile, case), verdict(profile, &wrapped));
                prop_assert!(within >= bare, "{} {}: {} -> {}: {text}", case.id, profile.word(), bare.word(), within.word());
            }
        }
    }
}
