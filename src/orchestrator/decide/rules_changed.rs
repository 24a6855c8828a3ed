//! The person changed their rules, or a call, while it waits for them: it is judged again, and asked about anew.
//!
//! Reading the rules anew is the edge's. How a question is asked and answered is `approval`'s.

use super::Draft;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{
    Again, Answer, AnsweredBy, Approval, ApprovalKind, EditRefused, QuestionId, RulesRead, Ruling, Scope,
};
use crate::domain::record::{Level, Record};
use crate::domain::verdict::Verdict;
use crate::orchestrator::effect::Effect;
use crate::orchestrator::state::Stage;
use std::sync::Arc;

impl Draft<'_> {
    /// The person's lasting yes stands in their file: it is the answer to the call that it was made of, whatever they
    /// look at meanwhile.
    pub(super) fn rule_saved(&mut self, id: &QuestionId, by: Answerer, path: &str) {
        if self.state.is_open() {
            self.notice(
                Level::Info,
                format!("rule saved in {path}: matching calls are allowed from now on, in every run"),
            );
        }
        let is_it = |approval: &&Arc<Approval>| approval.id == *id && approval.kind == ApprovalKind::Call;
        if let Some(approval) = self.state.approvals.iter().find(is_it).filter(|_| self.state.rules_trouble.is_none()) {
            let input = approval.input.clone();
            self.close_question(id.clone(), Answer::Allow { input, scope: Scope::Always }, AnsweredBy::Person(by));
        }
    }

    /// Other rules hold from now on; `words` say which.
    pub(super) fn rules_changed(&mut self, words: String, trouble: Option<String>) {
        if !self.state.is_open() {
            return;
        }
        self.notice(Level::Warn, words);
        if self.state.rules_trouble != trouble {
            self.record(Record::RulesRead(RulesRead { trouble }));
        }
        if self.state.gate.has_granted() {
            self.record(Record::GrantsDropped);
        }
        // What nobody waits for is judged when it is made again.
        let waiting = self.state.approvals.iter().filter(|_| !self.state.gate.kept);
        for approval in waiting.cloned().collect::<Vec<_>>() {
            let Approval { id, input, .. } = (*approval).clone();
            self.effect(Effect::Rejudge { id, input });
        }
    }

    /// What the person has allowed for the run outlives the process that was told so, but not the rules.
    pub(super) fn rules_known(&mut self, rules: String) {
        let gate = &self.state.gate;
        let is_same = gate.rules.as_ref() == Some(&rules);
        if !self.state.is_open() || (is_same && !gate.is_unconfirmed) {
            return;
        }
        match (gate.has_granted(), is_same) {
            (true, true) => {
                self.notice(Level::Info, "the rules have not changed: your approvals for this run still apply");
            }
            (true, false) => self.record(Record::GrantsDropped),
            (false, _) => {}
        }
        self.record(Record::RulesKnown { rules });
    }

    /// Another input than the one that was asked about: the rules have their say first.
    pub(super) fn edited(&mut self, id: &QuestionId, by: Answerer, input: String) {
        if let Some(asked) = self.decided_about(id) {
            self.effect(Effect::JudgeEdit { asked, by, input });
        }
    }

    /// The rules have judged the changed input: it is asked about as any other, with what they say of it. The person's
    /// answer to Claude's own question, which its input carries, is one already.
    pub(super) fn edit_judged(&mut self, id: &QuestionId, by: Answerer, input: String, ruling: Ruling) {
        let Some(old) = self.decided_about(id) else { return };
        let own = ApprovalKind::always(&old.tool).is_some();
        let locked = own && ruling.verdict == Verdict::Passphrase;
        if locked || ruling.verdict == Verdict::Block {
            let why = ruling.words();
            let why = if locked { format!("it needs the passphrase ({why})") } else { why };
            return self.record(Record::EditRefused(EditRefused { id: id.clone(), why }));
        }
        if own {
            let answer = Answer::Allow { input, scope: Scope::Once };
            return self.close_question(id.clone(), answer, AnsweredBy::Person(by));
        }
        // Even what the rules would let through: the person has not said yes to it yet.
        let ruling = Ruling { verdict: ruling.verdict.max(Verdict::Ask), ..ruling };
        self.record_verdict(old.n, &id.call, &old.tool, &ruling, None);
        self.ask_again(&old, Again::Edited, input, ruling);
    }

    /// The question takes the place of `old`: other rules ask, or about another input.
    pub(super) fn ask_again(&mut self, old: &Approval, again: Again, input: String, ruling: Ruling) {
        let locked = ruling.verdict == Verdict::Passphrase;
        let rules = if locked { ApprovalKind::Passphrase } else { ApprovalKind::Call };
        let Ruling { units, rule, reason, provable, .. } = ruling;
        let claudes = old.edited_from.as_ref().unwrap_or(&old.input);
        self.record(Record::ApprovalAsked(Approval {
            id: old.id.next(),
            again: Some(again),
            kind: ApprovalKind::always(&old.tool).unwrap_or(rules),
            edited_from: (*claudes != input).then(|| claudes.clone()),
            input,
            units,
            rule,
            reason,
            asked: self.now,
            expires: self.expiry().filter(|_| old.expires.is_some()),
            provable,
            ..old.clone()
        }));
    }

    /// The new rules have their say about a call that waits: let through or refused by them, or asked about again, since
    /// what stands on the card of the old question holds no more. What the person has edited runs by their yes alone.
    pub(super) fn rejudged(&mut self, id: &QuestionId, mut ruling: Ruling) {
        let Some(old) = self.waits_unchanged(id) else { return };
        let own = ApprovalKind::always(&old.tool);
        if own.is_some() || old.edited_from.is_some() {
            ruling.verdict = ruling.verdict.max(Verdict::Ask);
        }
        let locked = ruling.verdict == Verdict::Passphrase;
        let kind = own.unwrap_or(if locked { ApprovalKind::Passphrase } else { ApprovalKind::Call });
        let asks = locked || ruling.verdict == Verdict::Ask;
        let same = (kind, &ruling.rule, &ruling.units) == (old.kind, &old.rule, &old.units);
        if asks && same && old.again != Some(Again::RulesUnusable) {
            return;
        }
        self.record_verdict(old.n, &id.call, &old.tool, &ruling, None);
        if asks {
            return self.ask_again(&old, Again::RulesChanged, old.input.clone(), ruling);
        }
        let answer = match ruling.verdict {
            Verdict::Allow => Answer::Allow { input: old.input.clone(), scope: Scope::Once },
            _ => Answer::Deny { words: ruling.words() },
        };
        self.close_question(id.clone(), answer, AnsweredBy::Rules);
    }
    /// Half a policy file was saved, or a wrong one: that refuses nothing that waits for the person. The card says so, and
    /// the next change of the file is the next try.
    pub(super) fn not_rejudged(&mut self, id: &QuestionId, why: &str) {
        let Some(old) = self.waits_unchanged(id) else { return };
        if (old.again, old.reason.as_str()) != (Some(Again::RulesUnusable), why) {
            self.record(Record::ApprovalAsked(Approval {
                id: old.id.next(),
                again: Some(Again::RulesUnusable),
                reason: why.to_owned(),
                ..(*old).clone()
            }));
        }
    }

    /// The question, if it still waits as it was put to the rules.
    fn waits_unchanged(&self, id: &QuestionId) -> Option<Arc<Approval>> {
        let running = self.state.stage == Stage::Running;
        self.state.approvals.iter().find(|approval| running && approval.id == *id).cloned()
    }
}
