//! What the run's records tell of each phase: its iterations with what they claimed, how that was checked, what the critic
//! said and what they cost, and who decided what. A fold, like the run's state.

use crate::base::amount::counted;
use crate::base::time::Timestamp;
use crate::domain::claim::Claim;
use crate::domain::critique::Critique;
use crate::domain::messages::done_words;
use crate::domain::outcome::IterationOutcome;
use crate::domain::phase::PhaseId;
use crate::domain::record::{OfPhase, PhaseByPerson, Record, Stored, ValidationRan};
use crate::domain::step::StepName;
use crate::orchestrator::state::State;

/// Decisions that are kept, of all phases.
const KEPT: usize = 2_000;

/// One iteration.
#[derive(Clone, Debug)]
pub struct IterationEvidence {
    pub n: u32,
    /// [`PhaseId::default`] is the whole ticket.
    pub phase: PhaseId,
    pub step: StepName,
    pub began: Timestamp,
    /// The snapshot before it.
    pub snapshot: Option<String>,
    /// `None`: it is under way.
    pub outcome: Option<IterationOutcome>,
    pub ms: u64,
    pub cost_usd: f64,
    /// How many files it changed.
    pub files: usize,
    pub claim: Option<Claim>,
    /// The commands that checked it. Only the phase's last ones keep what they printed.
    pub checks: Vec<ValidationRan>,
    pub critique: Option<Critique>,
}

/// Something that was decided about a phase.
#[derive(Clone, Debug)]
pub struct Decision {
    pub phase: PhaseId,
    pub time: Timestamp,
    /// Who decided what, and why.
    pub words: String,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    pub iterations: Vec<IterationEvidence>,
    decisions: Vec<Decision>,
}

impl Evidence {
    /// Takes a record of the run; `state` has it already.
    pub fn record(&mut self, state: &State, stored: &Stored) {
        if let Record::IterationStarted { n, role, .. } = &stored.record {
            self.iterations.push(IterationEvidence {
                n: *n,
                phase: state.iteration.as_ref().and_then(|open| open.phase).unwrap_or_default(),
                step: role.step.clone(),
                began: stored.time,
                snapshot: None,
                outcome: None,
                ms: 0,
                cost_usd: 0.0,
                files: 0,
                claim: None,
                checks: Vec::new(),
                critique: None,
            });
        }
        if let Record::ValidationRan(_) = &stored.record
            && let Some(phase) = self.iterations.last().filter(|last| last.checks.is_empty()).map(|last| last.phase)
        {
            let older = self.iterations.iter_mut().filter(|iteration| iteration.phase == phase);
            older.flat_map(|iteration| &mut iteration.checks).for_each(|check| check.tail = String::new());
        }
        if let Some(open) = self.iterations.last_mut() {
            open.hear(&stored.record);
        }
        if let Some((phase, words)) = decided(state, &stored.record) {
            if self.decisions.len() == KEPT {
                self.decisions.remove(0);
            }
            self.decisions.push(Decision { phase, time: stored.time, words });
        }
    }

    /// The iterations that worked on this phase, or looked at it.
    pub fn of(&self, phase: PhaseId) -> impl DoubleEndedIterator<Item = &IterationEvidence> {
        self.iterations.iter().filter(move |iteration| iteration.phase == phase)
    }

    /// What was decided about it, in its order.
    pub fn decisions(&self, phase: PhaseId) -> impl DoubleEndedIterator<Item = &Decision> {
        self.decisions.iter().filter(move |decision| decision.phase == phase)
    }

    /// The first snapshot behind this iteration.
    pub fn snapshot_after(&self, n: u32) -> Option<&str> {
        self.iterations.iter().filter(|iteration| iteration.n > n).find_map(|iteration| iteration.snapshot.as_deref())
    }
}

impl IterationEvidence {
    fn hear(&mut self, record: &Record) {
        match record {
            Record::SnapshotTaken { id, .. } => self.snapshot = Some(id.clone()),
            Record::ClaimMade { claim, .. } => self.claim = Some(claim.clone()),
            Record::EvidenceGathered { iteration_files, .. } => self.files = iteration_files.len(),
            Record::ValidationRan(ran) => self.checks.push(ran.clone()),
            Record::CritiqueMade { critique, .. } => self.critique = Some(critique.clone()),
            Record::Receipt(receipt) => self.cost_usd = receipt.cost_usd,
            Record::IterationEnded { outcome, ms, .. } => (self.outcome, self.ms) = (Some(*outcome), *ms),
            _ => {}
        }
    }
}

/// What a record decides about which phase, in words.
fn decided(state: &State, record: &Record) -> Option<(PhaseId, String)> {
    let of = |of: &OfPhase| of.id.or_else(|| id_of(state, &of.phase));
    let named = |id: Option<PhaseId>, phase: Option<&String>| match phase {
        Some(phase) => id.or_else(|| id_of(state, phase)),
        None => Some(PhaseId::default()),
    };
    let in_iteration = |n: u32| if n == 0 { String::new() } else { format!(" in iteration {n}") };
    Some(match record {
        Record::PhaseDone { n, phase, how, id } => {
            (named(*id, phase.as_ref())?, format!("{}{}", done_words(*how), in_iteration(*n)))
        }
        Record::PhaseChecked { n, phase, how, id } => {
            (named(*id, phase.as_ref())?, format!("{}{}; the critic is next", done_words(*how), in_iteration(*n)))
        }
        Record::PhaseRejected { n, phase, issues, id, of_ticket } => {
            let who = if *of_ticket { "the review of the ticket" } else { "the critic" };
            let words = format!("rejected by {who}: {}{}", counted(issues.len(), "issue"), in_iteration(*n));
            (named(*id, phase.as_ref())?, words)
        }
        Record::PhaseDisputed { n, phase, why, id } => {
            let why = why.lines().next().unwrap_or_default();
            (named(*id, phase.as_ref())?, format!("disputed{}: {why}", in_iteration(*n)))
        }
        Record::PhaseSkipped(phase) => (of(phase)?, "skipped by you".to_owned()),
        Record::PhaseTicked(PhaseByPerson { of: phase, by, why: Some(why) }) => {
            (of(phase)?, format!("accepted by {by}: {why}"))
        }
        Record::PhaseTicked(PhaseByPerson { of: phase, by, .. }) => (of(phase)?, format!("ticked by {by}")),
        Record::PhaseReopened(PhaseByPerson { of: phase, by, .. }) => (of(phase)?, format!("reopened by {by}")),
        _ => return None,
    })
}

fn id_of(state: &State, text: &str) -> Option<PhaseId> {
    state.phases.iter().find(|phase| phase.text == text).map(|phase| phase.id)
}
