//! The person's rules were changed while the run is at work: what waits for the person is judged again.
//!
//! Reading the rules anew is the edge's. How a question is asked and answered is `approval`'s.

use super::Step;
use crate::domain::approval::{Again, Answer, AnsweredBy, Approval, ApprovalKind, QuestionId, Ruling, Scope};
use crate::domain::record::{Level, Record, Verdict};
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;
use std::sync::Arc;

impl Step<'_> {
    /// The person's lasting yes stands in their file: it is the answer to the call that it was made of, whatever they
    /// look at meanwhile.
    pub(super) fn rule_saved(&mut self, id: &QuestionId, path: &str) {
        if self.state.run.is_some() && self.state.ended.is_none() {
            self.notice(
                Level::Info,
                format!("your rule was saved in {path}: what it fits is allowed from now on, in every run"),
            );
        }
        let is_it = |approval: &&Arc<Approval>| approval.id == *id && approval.kind == ApprovalKind::Call;
        if let Some(approval) = self.state.approvals.iter().find(is_it) {
            let input = approval.input.clone();
            self.close_question(id.clone(), Answer::Allow { input, scope: Scope::Always }, AnsweredBy::Screen);
        }
    }

    /// Other rules hold from now on; `words` say which.
    pub(super) fn rules_changed(&mut self, words: String) {
        if self.state.run.is_none() || self.state.ended.is_some() {
            return;
        }
        self.notice(Level::Warn, words);
        if self.state.gate.has_granted() {
            self.record(Record::GrantsDropped);
        }
        for approval in self.state.approvals.clone() {
            let Approval { id, tool, input, .. } = (*approval).clone();
            self.effect(Effect::Rejudge { id, tool, input });
        }
    }

    /// The new rules have their say about a call that waits: let through or refused by them, or asked about again, since
    /// what stands on the card of the old question holds no more. What the person has edited runs by their yes alone.
    pub(super) fn rejudged(&mut self, id: &QuestionId, mut ruling: Ruling) {
        let Some(old) = self.state.approvals.iter().find(|approval| approval.id == *id).cloned() else {
            return;
        };
        if self.state.stage != Stage::Running {
            return;
        }
        let own = ApprovalKind::always(&old.tool);
        if own.is_some() || old.edited_from.is_some() {
            ruling.verdict = ruling.verdict.max(Verdict::Ask);
        }
        let locked = ruling.verdict == Verdict::Passphrase;
        let kind = own.unwrap_or(if locked { ApprovalKind::Passphrase } else { ApprovalKind::Call });
        let asks = locked || ruling.verdict == Verdict::Ask;
        if asks && (kind, &ruling.rule, &ruling.units) == (old.kind, &old.rule, &old.units) {
            return;
        }
        self.record_verdict(old.n, &id.call, &old.tool, &ruling);
        if asks {
            return self.ask_again(&old, Again::RulesChanged, old.input.clone(), ruling);
        }
        let answer = match ruling.verdict {
            Verdict::Allow => Answer::Allow { input: old.input.clone(), scope: Scope::Once },
            _ => Answer::Deny { words: ruling.words() },
        };
        self.close_question(id.clone(), answer, AnsweredBy::Rules);
    }
}
