//! Which answers a card offers for its call.

use super::Card;
use crate::domain::approval::{Again, ApprovalKind};
use crate::domain::passphrase::Checked;
use crate::policy::proposal;

impl Card {
    /// The rules cannot be used: nothing can be approved, nor edited. A question of Claude's own can be answered.
    pub(super) fn is_barred(&self) -> bool {
        self.approval.again == Some(Again::RulesUnusable) && self.approval.kind != ApprovalKind::Question
    }

    /// A plain yes can be given: a question is answered by its options, and what needs the passphrase by it.
    pub(super) fn can_allow(&self) -> bool {
        match self.approval.kind {
            _ if self.is_barred() => false,
            ApprovalKind::Call | ApprovalKind::Plan => true,
            ApprovalKind::Passphrase => !matches!(self.checked, Some((Checked::Unset | Checked::Failed(_), _))),
            ApprovalKind::Question => false,
        }
    }

    /// The yes can hold for the rest of the ticket's run.
    pub(super) fn can_reach_ticket(&self) -> bool {
        self.approval.kind == ApprovalKind::Call && self.approval.edited_from.is_none() && !self.is_barred()
    }

    /// The kinds of calls that the yes can hold for, for the rest of the ticket's run.
    pub(super) fn kinds(&self) -> Option<Vec<&str>> {
        self.approval.kinds().filter(|_| self.can_reach_ticket())
    }

    /// The rule that a lasting yes would be; `None` where none is offered.
    pub(super) fn lasting(&self) -> Option<String> {
        (self.can_reach_ticket() && self.approval.provable).then(|| proposal::of(&self.approval)).flatten()
    }

    pub(super) fn can_edit(&self) -> bool {
        matches!(self.approval.kind, ApprovalKind::Call | ApprovalKind::Passphrase) && !self.is_barred()
    }
}
