//! Everything that waits for the person, of all tickets, in one queue.
//!
//! Owns what is in it, in which order. How one thing of it is shown and answered is its dialog's
//! (`modals::card`, `modals::question`, `modals::matter`).

use crate::base::text::clean_line;
use crate::domain::approval::{Answer, Approval, ApprovalKind, QuestionId, Scope};
use crate::domain::messages::draft_words;
use crate::domain::phase::Mark;
use crate::domain::summary::RunSummary;
use crate::domain::ticket::TicketKey;
use crate::tui::call_words::call_words;
use crate::tui::model::{Mode, Model, needs_person};
use crate::tui::tab::{Tab, TabStatus};

mod item;

pub use item::{Conflict, Item, What};

impl Model {
    /// Everything that waits. The past waits for nobody.
    pub fn attention(&self) -> Vec<Item> {
        if self.mode == Mode::Replay {
            return Vec::new();
        }
        let mut queue: Vec<Item> = self.tabs.iter().flat_map(of_tab).collect();
        queue.extend(self.asked_elsewhere());
        queue.retain(|item| !self.seen.contains(&(item.ticket.clone(), item.what.clone())));
        let kind = |item: &Item| match item.what {
            What::Call(_) | What::Elsewhere => 0,
            What::Validation | What::Draft => 1,
            What::MoreWork => 2,
            What::Dispute(_) => 3,
            What::Conflict(_) => 4,
            What::Interrupted => 5,
            What::Ended => 6,
        };
        // Stable: what waits longest is first, else the order of the tabs.
        queue.sort_by_key(|item| (kind(item), item.since));
        queue
    }

    /// The runs of this directory that wait for the person, did when their program died, or have ended for them, and are not open
    /// here.
    fn asked_elsewhere(&self) -> impl Iterator<Item = Item> + use<'_> {
        self.asking.iter().filter_map(|ticket| {
            let run = self.runs.get(ticket).filter(|run| self.home.everywhere || run.folder == self.folder)?;
            let tab = self.tab_of(ticket);
            let what = match run.left_waiting() {
                _ if needs_person(run) => What::Ended,
                Some(_) => What::Interrupted,
                None => What::Elsewhere,
            };
            let is_here = tab.is_some_and(|tab| match what {
                // Those that this program has ended are told by their tab.
                What::Ended => !tab.is_only_shown() && !tab.is_before(run),
                What::Elsewhere => tab.has_open_run() || tab.run == Some(run.run) && !tab.is_interrupted(),
                _ => tab.run.is_some() && !tab.is_interrupted(),
            });
            (!is_here).then(|| Item { ticket: ticket.clone(), what, since: Some(run.updated) })
        })
    }

    /// How many things wait for an answer of the person's. An ended run waits for nothing.
    pub fn waiting(&self) -> usize {
        self.attention().iter().filter(|item| item.what != What::Ended).count()
    }

    /// Whether something of this ticket waits.
    pub fn needs_you(&self, tab: &Tab) -> bool {
        self.attention().iter().any(|item| item.ticket == tab.id)
    }

    /// How a ticket stands. A run of the past that ended for the person has stopped; one without an end stands as its last
    /// record says, for it may go on in another program.
    pub fn standing(&self, tab: &Tab) -> TabStatus {
        match (self.mode, tab.standing()) {
            (Mode::Replay, TabStatus::Halted) => TabStatus::Stopped,
            (Mode::Live, _) if self.queued_why(&tab.id).is_some() => TabStatus::Waiting,
            (Mode::Live, standing) if standing != TabStatus::Halted && self.needs_you(tab) => TabStatus::NeedsYou,
            (_, standing) => standing,
        }
    }

    /// The question with this id, while it is open.
    pub fn approval(&self, ticket: &TicketKey, id: &QuestionId) -> Option<&Approval> {
        self.question_about(ticket, &id.call).filter(|approval| approval.id == *id)
    }

    pub fn question_about(&self, ticket: &TicketKey, call: &str) -> Option<&Approval> {
        let tab = self.tab_of(ticket).filter(|tab| tab.failure.is_none())?;
        tab.state.approvals.iter().find(|approval| approval.id.call == call).map(AsRef::as_ref)
    }

    /// The thing in a few words.
    pub fn words_of(&self, item: &Item) -> String {
        match &item.what {
            What::Call(id) => self.approval(&item.ticket, id).map_or_else(String::new, call_words),
            What::Validation => "validation commands changed".into(),
            What::MoreWork => "goal not reached: more phases proposed".into(),
            What::Draft => {
                let draft = self.tab_of(&item.ticket).and_then(|tab| tab.state.waiting_draft());
                draft.map_or_else(String::new, |draft| format!("draft ready: {}", draft_words(draft)))
            }
            What::Dispute(phase) => {
                let tab = self.tab_of(&item.ticket);
                let text = tab.and_then(|tab| tab.state.phase_by(*phase)).map_or("", |phase| phase.text.as_str());
                clean_line(&format!("disputed: “{text}”"), 200)
            }
            What::Conflict(Conflict::Box(phase)) => clean_line(&format!("box not ticked: “{phase}”"), 200),
            What::Conflict(Conflict::Status) => "the ticket's status could not be set".into(),
            What::Conflict(Conflict::Lost(why)) => clean_line(&format!("the ticket's file: {why}"), 200),
            What::Elsewhere => {
                let asks = self.runs.get(&item.ticket).and_then(|run| run.asks());
                asks.map_or_else(String::new, |needs| clean_line(needs, 200))
            }
            What::Interrupted => self.runs.get(&item.ticket).map_or_else(String::new, |run| left_words(run)),
            What::Ended => {
                let why =
                    self.runs.get(&item.ticket).filter(|run| needs_person(run)).and_then(|run| run.needs.as_deref());
                why.map_or_else(|| "run stopped: action needed".into(), |why| clean_line(why, 200))
            }
        }
    }
}

/// What an interrupted run waited for.
pub fn left_words(run: &RunSummary) -> String {
    run.left_waiting().map_or_else(String::new, |needs| format!("question waiting: {}", clean_line(needs, 200)))
}

/// What became of a call, in a few words.
pub fn answer_words(approval: &Approval, answer: &Answer) -> String {
    // What runs is what was agreed to, not what was asked about.
    let input = match answer {
        Answer::Allow { input, .. } => input.clone(),
        Answer::Deny { .. } => approval.input.clone(),
    };
    let call = call_words(&Approval { input, ..approval.clone() });
    match (approval.kind, answer) {
        (ApprovalKind::Question, Answer::Allow { .. }) => format!("answered: {}", call.trim_start_matches("asks: ")),
        (ApprovalKind::Question, Answer::Deny { .. }) => format!("not answered: {}", call.trim_start_matches("asks: ")),
        (ApprovalKind::Plan, Answer::Allow { .. }) => "plan approved".into(),
        (ApprovalKind::Plan, Answer::Deny { .. }) => "plan sent back".into(),
        (_, Answer::Allow { scope: Scope::Ticket, .. }) => format!("allowed for this run: {call}"),
        (_, Answer::Allow { scope: Scope::Kind, .. }) => {
            format!("allowed for this run: {}", approval.kinds().unwrap_or_default().join(", "))
        }
        (_, Answer::Allow { scope: Scope::Always, .. }) => format!("allowed from now on by a new rule: {call}"),
        (_, Answer::Allow { .. }) => format!("allowed: {call}"),
        (_, Answer::Deny { .. }) => format!("denied: {call}"),
    }
}

fn of_tab(tab: &Tab) -> Vec<Item> {
    let state = &tab.state;
    let mut found = Vec::new();
    if tab.is_only_shown() {
        return found;
    }
    let mut add = |what, since| found.push(Item { ticket: tab.id.clone(), what, since });
    let open = state.ended.is_none();
    if open && tab.failure.is_none() {
        for approval in tab.unstored.open_questions(state) {
            add(What::Call(approval.id.clone()), Some(approval.asked));
        }
        if state.validation_change.is_some() {
            add(What::Validation, None);
        }
        if state.awaits_phases().is_some() {
            add(What::MoreWork, state.updated);
        }
        if state.waiting_draft().is_some() {
            add(What::Draft, state.updated);
        }
        for phase in state.disputes() {
            add(What::Dispute(phase.id), state.updated);
        }
    }
    for phase in state.phases.iter().filter(|phase| phase.untickable && matches!(phase.mark, Mark::Done(_))) {
        add(What::Conflict(Conflict::Box(phase.text.clone())), None);
    }
    if state.status_given_up {
        add(What::Conflict(Conflict::Status), None);
    }
    if let Some(why) = state.ticket_lost.as_ref().filter(|_| open) {
        add(What::Conflict(Conflict::Lost(why.clone())), None);
    }
    if tab.failure.is_some() || (!open && state.needs_person()) {
        add(What::Ended, state.updated);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::sample;

    #[test]
    fn a_call_is_before_all_else_and_the_longest_waiting_first() {
        let mut model = sample::busy();
        model.tabs[0].state.validation_change = Some(Vec::new());
        model.tabs[0].state.approvals.push(sample::asks("young", "Bash", r#"{"command":"a"}"#, 5).into());
        model.tabs[3].state.approvals.push(sample::asks("old", "Bash", r#"{"command":"b"}"#, 60).into());
        model.tabs[2].state.phases[0].untickable = true;
        let kinds: Vec<(String, String)> =
            model.attention().iter().map(|item| (item.ticket.to_string(), model.words_of(item))).collect();
        let kinds: Vec<(&str, &str)> = kinds.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            kinds,
            [
                ("docs.md", "Bash b"),
                ("tk-4f2a", "Bash a"),
                ("tk-4f2a", "validation commands changed"),
                ("docs.md", "disputed: “Wire into middleware”"),
                ("tk-77aa", "box not ticked: “Investigate flow”"),
                ("tk-9c1d", "run stopped: action needed"),
            ]
        );
        model.mode = Mode::Replay;
        assert_eq!(model.attention(), []);
    }

    #[test]
    fn what_was_seen_does_not_wait_and_an_ended_run_asks_nothing() {
        let mut model = sample::busy();
        model.tabs[2].state.phases[0].untickable = true;
        let before = model.waiting();
        let conflict = What::Conflict(Conflict::Box("Investigate flow".into()));
        model.seen.push((sample::id("tk-77aa"), conflict));
        assert_eq!(model.waiting(), before - 1);
        model.tabs[1].state.approvals.push(sample::asks("late", "Bash", "{}", 5).into());
        assert_eq!(model.waiting(), before - 1, "its run has ended");
    }

    #[test]
    fn what_became_of_a_call_names_it_whole() {
        let call = "sh count.sh README.md; git push origin main --force-with-lease";
        let asked = sample::asks("a", "Bash", &format!(r#"{{"command":"{call}"}}"#), 5);
        let words = answer_words(&asked, &Answer::Deny { words: String::new() });
        assert_eq!(words, format!("denied: Bash {call}"));
    }
}
