//! How far the planning of a run's ticket is.

use crate::domain::planning::{DraftAnswer, DraftAnswered, PlanAsked, Tried};
use crate::domain::record::{Record, RevisionSettled};
use crate::domain::ticket::draft::Draft;
use std::sync::Arc;

/// The planning of a ticket that has no phases. A run that plans does nothing else: it ends when the draft is written or
/// refused, and the next run works.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planning {
    pub asked: PlanAsked,
    pub stage: PlanStage,
    /// The last draft, as the person may have edited it.
    pub draft: Option<Draft>,
    /// What they want Claude to change in it.
    pub words: Option<String>,
    /// Its validation commands are being tried.
    pub trying: bool,
    /// What came of that.
    pub tried: Vec<Tried>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlanStage {
    /// Claude is to make a draft.
    #[default]
    Due,
    /// The draft waits for the person.
    Waiting,
    /// It is to be written.
    Accepted,
    Written,
    Refused,
}

impl Planning {
    /// The draft that waits for the person.
    pub fn waiting(&self) -> Option<&Draft> {
        self.draft.as_ref().filter(|_| self.stage == PlanStage::Waiting)
    }
}

/// Folds what a record says of it.
pub(in crate::orchestrator) fn fold(plan: &mut Option<Arc<Planning>>, record: &Record) {
    if let Record::PlanAsked(asked) = record {
        let plan = Arc::make_mut(plan.get_or_insert_default());
        let made = plan.asked.made.take().or_else(|| asked.made.clone());
        plan.asked = PlanAsked { made, ..asked.clone() };
        return;
    }
    let Some(plan) = plan else { return };
    match record {
        Record::DraftMade { draft, .. } => {
            let plan = Arc::make_mut(plan);
            *plan = Planning {
                asked: plan.asked.clone(),
                stage: PlanStage::Waiting,
                draft: Some(draft.clone()),
                ..Planning::default()
            };
        }
        Record::DraftAnswered(DraftAnswered { answer, .. }) => answered(Arc::make_mut(plan), answer),
        Record::DraftTried { tried } => {
            let plan = Arc::make_mut(plan);
            plan.trying = false;
            plan.tried.clone_from(tried);
        }
        Record::DraftNotWritten { .. } => {
            let plan = Arc::make_mut(plan);
            plan.stage = PlanStage::Waiting;
            // It is tried again when somebody says so.
            plan.asked.saves = false;
        }
        Record::RevisionSettled(RevisionSettled { revised, outcome })
            if revised.is_draft() && outcome.clone().revision_trouble().is_none() =>
        {
            Arc::make_mut(plan).stage = PlanStage::Written;
        }
        Record::RunResumed { .. } if plan.trying => Arc::make_mut(plan).trying = false,
        _ => {}
    }
}

fn answered(plan: &mut Planning, answer: &DraftAnswer) {
    match answer {
        DraftAnswer::Accept => plan.stage = PlanStage::Accepted,
        DraftAnswer::Edit(draft) => {
            plan.draft = Some(draft.clone());
            (plan.trying, plan.tried) = (false, Vec::new());
        }
        DraftAnswer::Revise { words } => {
            plan.stage = PlanStage::Due;
            plan.words = Some(words.clone());
        }
        DraftAnswer::Try => plan.trying = true,
        DraftAnswer::Refuse => plan.stage = PlanStage::Refused,
    }
}
