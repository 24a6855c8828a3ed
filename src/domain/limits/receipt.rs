//! What an iteration cost: time, tokens, money, tries; and the sums over a phase.

use crate::domain::step::StepName;
use crate::domain::turn::Usage;
use serde::{Deserialize, Serialize};

/// What one iteration cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Receipt {
    pub n: u32,
    /// Its phase; `None`: the whole ticket.
    pub phase: Option<String>,
    pub ms: u64,
    #[serde(flatten)]
    pub usage: Usage,
    pub cost_usd: f64,
    /// Requests that failed at the provider and were sent again.
    pub tries: u32,
    /// A limit refused it: it counts as no iteration.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    #[serde(skip_serializing_if = "StepName::is_code")]
    pub step: StepName,
}

/// What all iterations of one step cost in one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PhaseReceipt {
    /// How many iterations; those that a limit refused are none.
    pub iterations: u32,
    /// Their sum; `n` is the last of them.
    #[serde(flatten)]
    pub sum: Receipt,
}

/// The sums by phase and step, in the order in which they were first worked on.
pub fn by_phase(receipts: &[Receipt]) -> Vec<PhaseReceipt> {
    let mut phases: Vec<PhaseReceipt> = Vec::new();
    for receipt in receipts {
        let same = |known: &PhaseReceipt| known.sum.phase == receipt.phase && known.sum.step == receipt.step;
        let at = phases.iter().position(same).unwrap_or_else(|| {
            phases.push(PhaseReceipt::default());
            phases.len() - 1
        });
        let PhaseReceipt { iterations, sum } = &mut phases[at];
        *iterations += u32::from(!receipt.refused);
        sum.n = receipt.n;
        sum.phase.clone_from(&receipt.phase);
        sum.step.clone_from(&receipt.step);
        sum.ms += receipt.ms;
        sum.usage.add(&receipt.usage);
        sum.cost_usd += receipt.cost_usd;
        sum.tries += receipt.tries;
    }
    phases
}

/// The middle of the costs so far, in USD and in tokens: what the next iteration is expected to cost. Nothing is
/// expected where nothing is known.
pub fn median(receipts: &[Receipt]) -> super::Spent {
    let mut usd: Vec<f64> = receipts.iter().map(|receipt| receipt.cost_usd).collect();
    let mut tokens: Vec<u64> = receipts.iter().map(|receipt| receipt.usage.total()).collect();
    usd.sort_unstable_by(f64::total_cmp);
    tokens.sort_unstable();
    let middle = receipts.len() / 2;
    match receipts.len() {
        0 => super::Spent::default(),
        n if n % 2 == 1 => super::Spent { usd: usd[middle], tokens: tokens[middle] },
        _ => super::Spent {
            usd: f64::midpoint(usd[middle - 1], usd[middle]),
            tokens: u64::midpoint(tokens[middle - 1], tokens[middle]),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(n: u32, phase: &str, cost_usd: f64, input: u64) -> Receipt {
        let usage = Usage { input, ..Usage::default() };
        Receipt { n, phase: Some(phase.into()), ms: 1_000, usage, cost_usd, tries: 1, ..Receipt::default() }
    }

    #[test]
    fn a_phase_costs_what_its_iterations_cost() {
        let receipts = [receipt(1, "A", 0.5, 10), receipt(2, "B", 0.25, 20), receipt(3, "A", 0.5, 30)];
        let phases = by_phase(&receipts);
        let told: Vec<_> = phases
            .iter()
            .map(|phase| {
                (phase.sum.phase.as_deref().unwrap(), phase.iterations, phase.sum.cost_usd, phase.sum.usage.input)
            })
            .collect();
        assert_eq!(told, [("A", 2, 1.0, 40), ("B", 1, 0.25, 20)]);
        assert_eq!((phases[0].sum.n, phases[0].sum.ms, phases[0].sum.tries), (3, 2_000, 2));
    }

    #[test]
    fn what_a_limit_refused_costs_but_is_no_iteration() {
        let receipts = [Receipt { refused: true, ..receipt(1, "A", 0.25, 10) }, receipt(2, "A", 0.5, 20)];
        let phases = by_phase(&receipts);
        assert_eq!((phases[0].iterations, phases[0].sum.cost_usd), (1, 0.75));
    }

    #[test]
    fn the_middle_of_what_it_cost_so_far() {
        let of = |costs: &[f64]| {
            let all: Vec<_> = costs.iter().map(|cost| receipt(1, "A", *cost, (cost * 100.0) as u64)).collect();
            let median = median(&all);
            (median.usd, median.tokens)
        };
        assert_eq!(of(&[]), (0.0, 0));
        assert_eq!(of(&[0.5]), (0.5, 50));
        assert_eq!(of(&[9.0, 0.5, 1.0]), (1.0, 100));
        assert_eq!(of(&[4.0, 2.0, 9.0, 1.0]), (3.0, 300));
    }
}
