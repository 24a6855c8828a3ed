//! What a row says of its ticket in a few words: what it does now, waits for or needs, or how it came out.

use super::estimate::is_unchecked;
use super::rows::Entry;
use crate::base::text::clean_line;
use crate::domain::approval::ApprovalKind;
use crate::domain::commit::short;
use crate::domain::messages::reason_words;
use crate::domain::outcome::{DoneHow, ExitReason};
use crate::domain::phase::Mark;
use crate::domain::queue::circle_words;
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::orchestrator::state::{PhaseState, Stage};
use crate::tui::attention::{What, left_words};
use crate::tui::command::{Command, Scope};
use crate::tui::home;
use crate::tui::listed::Before;
use crate::tui::model::Model;
use crate::tui::panes::notice::at_work;
use crate::tui::tab::{Tab, TabStatus};

impl Entry<'_> {
    /// What it does, waits for or needs, in a few words; raw.
    pub fn words(&self, model: &Model) -> String {
        if let Some(why) = self.queued(model) {
            return why.to_owned();
        }
        // One that has ended is known to its tab.
        let own = self.own.or(self.tab.and_then(|tab| tab.own.as_ref()));
        if let Some(own) = own.filter(|_| self.standing != TabStatus::NeedsYou) {
            return own.words();
        }
        match (self.standing, self.tab.filter(|tab| tab.is_known()), self.run) {
            (TabStatus::NotStarted, ..) => match (self.broken(), self.open_dependencies(model).next()) {
                (Some(why), _) => why,
                (None, Some(before)) => blocked_words(model, self.id, before),
                (None, None) => self.ready(model),
            },
            (_, Some(tab), _) => {
                let (commits, base) =
                    (&tab.state.commits, tab.state.workspace.worktree().map(|tree| tree.base.as_str()));
                let merged = base.filter(|_| tab.state.is_merged);
                landed(of_tab(model, tab, self.standing), commits.open.is_some(), merged, commits.of_work())
            }
            (_, None, Some(run)) if run.folder != model.folder && !model.home.everywhere => {
                let words = of_run(model, run);
                let air = if words.is_empty() { "" } else { ": " };
                format!("in {}{air}{words}", model.short_path(&run.folder))
            }
            (_, None, Some(run)) => of_run(model, run),
            (_, None, None) => String::new(),
        }
    }

    fn ready(&self, model: &Model) -> String {
        let none = if model.home.ignores_checks { "checks not trusted" } else { "no checks" };
        let checks = is_unchecked(model, self).then_some(none);
        let priority =
            self.extra("priority").map(|priority| format!("priority {}", priority.trim_start_matches(['p', 'P'])));
        priority.into_iter().chain(checks.map(str::to_owned)).collect::<Vec<_>>().join(" · ")
    }
}

/// Why a ticket cannot be begun: what comes before it, or that this leads in a circle.
pub fn blocked_words(model: &Model, ticket: &TicketKey, before: Before<'_>) -> String {
    match (before, model.listed.circle(ticket)) {
        (_, Some(way)) => circle_words(&way),
        (Before::Ticket(dep), None) => {
            let all = model.listed.get(ticket).map_or(1, |one| model.listed.open_dependencies(ticket, one).count());
            if all > 1 { format!("after {dep} and {} more", all - 1) } else { format!("after {dep}") }
        }
        (Before::Missing(dep), None) => format!("depends on {dep}, which does not exist here: fix its deps"),
    }
}

/// What a ticket that is open here does.
fn of_tab(model: &Model, tab: &Tab, standing: TabStatus) -> String {
    if let Some(failure) = &tab.failure {
        // The row names the ticket.
        let ticket = format!("{} ", tab.id);
        return failure.strip_prefix(&ticket).unwrap_or(failure).to_owned();
    }
    let first = model.attention().into_iter().find(|item| item.ticket == tab.id);
    if let Some(item) = first.filter(|item| item.what != What::Ended) {
        let words = model.words_of(&item);
        let is_call = |id| {
            model
                .approval(&item.ticket, id)
                .is_some_and(|asked| matches!(asked.kind, ApprovalKind::Call | ApprovalKind::Passphrase))
        };
        return match &item.what {
            What::Interrupted => model.runs.get(&item.ticket).map_or(words, |run| interrupted(model, run)),
            What::Call(id) if is_call(id) => format!("approve: {}", words.strip_prefix("Bash ").unwrap_or(&words)),
            _ => words,
        };
    }
    let state = &tab.state;
    match (&state.ended, standing) {
        (None, TabStatus::Gone) => "its file is gone".to_owned(),
        (None, _) if tab.is_interrupted() => "interrupted".to_owned(),
        (Some(_), TabStatus::Complete) => {
            let verified = state.phases.iter().all(|phase| phase.mark == Mark::Done(DoneHow::Verified));
            if verified && !state.phases.is_empty() { "verified" } else { "complete" }.to_owned()
        }
        (Some(_), TabStatus::Unverified) if state.parts().any(PhaseState::is_taken_back) => {
            "reverted by a restore".to_owned()
        }
        (Some(_), TabStatus::Unverified) => "not verified".to_owned(),
        (Some(_), TabStatus::Stopped) if tab.is_own_session() => "the session has ended".to_owned(),
        (Some(_), TabStatus::Stopped) if state.chat.is_some() => "chat closed".to_owned(),
        (Some(ended), TabStatus::Stopped) if ended.reason == ExitReason::TerminalClosed => {
            reason_words(ended.reason).to_owned()
        }
        (Some(_), TabStatus::Stopped) => "stopped by you".to_owned(),
        (Some(ended), _) if ended.detail.is_empty() => reason_words(ended.reason).to_owned(),
        (Some(ended), _) => ended.detail.clone(),
        (None, TabStatus::Parked) => state.limits.parked.as_ref().map_or_else(String::new, |parking| {
            format!("{} · until {}", parking.about, parking.until.minute(&model.zone))
        }),
        (None, TabStatus::Unstored) => "nothing can be stored".to_owned(),
        (None, _) if state.plan.is_some() => match (&state.stage, &tab.call) {
            (Stage::Running, Some((call, _))) => {
                format!("drafting · {}", doing(call, &tab.state.workspace.to_string()))
            }
            _ => "drafting".to_owned(),
        },
        (None, _) => match (&state.stage, &tab.call) {
            (Stage::Merging, _) => "merging into its base".to_owned(),
            (Stage::MakingWorktree, _) => "creating its worktree".to_owned(),
            (Stage::Validating, _) => "running the validation commands".to_owned(),
            (Stage::AwaitingTree { holder }, _) => {
                format!("queued behind {}", at_work(model, tab, holder.as_deref()))
            }
            (Stage::Running, Some((call, _))) => doing(call, &tab.state.workspace.to_string()),
            _ if state.awaits_message() => "waiting for your message".to_owned(),
            (Stage::Running, None) => "Claude is thinking".to_owned(),
            (Stage::Paused, _) => "paused".to_owned(),
            _ if state.gate.kept => "waiting for your answer".to_owned(),
            _ => "starting Claude".to_owned(),
        },
    }
}

/// With the base or the commit that its work is in, or that it is being committed.
fn landed(words: String, is_open: bool, merged: Option<&str>, commit: Option<&str>) -> String {
    match (merged, commit) {
        _ if is_open => "committing …".to_owned(),
        (Some(base), _) => format!("{words} · merged into {base}"),
        (None, Some(commit)) => format!("{words} · committed {}", short(commit)),
        (None, None) => words,
    }
}

/// What another program's run does, or one of the past has done.
fn of_run(model: &Model, run: &RunSummary) -> String {
    let merged = run.worktree.as_ref().filter(|_| run.merged).map(|worktree| worktree.base.as_str());
    landed(does(model, run), run.committing, merged, run.commit.as_deref())
}

fn does(model: &Model, run: &RunSummary) -> String {
    let reason = run.reason.as_deref().and_then(ExitReason::from_word);
    let phase = run.phase.as_deref().unwrap_or_default();
    match (run.state, &run.needs) {
        (RunState::Ended, _) if reason == Some(ExitReason::Complete) => {
            let verified = !run.marks.is_empty() && run.marks.iter().all(|mark| *mark == Mark::Done(DoneHow::Verified));
            match (run.unverified, verified) {
                _ if !run.taken_back.is_empty() => "reverted by a restore",
                (true, _) => "not verified",
                (false, true) => "verified",
                (false, false) => "complete",
            }
            .to_owned()
        }
        (RunState::Ended, _) if reason == Some(ExitReason::UserStopped) && run.is_chat() => "chat closed".to_owned(),
        (RunState::Ended | RunState::Interrupted, _) if run.is_own_session() => "the session has ended".to_owned(),
        (RunState::Ended, _) if matches!(reason, Some(ExitReason::UserStopped | ExitReason::TerminalClosed)) => {
            reason.map_or_else(String::new, |reason| reason_words(reason).to_owned())
        }
        (RunState::Interrupted, _) => interrupted(model, run),
        (_, Some(needs)) => needs.clone(),
        (RunState::Ended, None) => reason.map_or_else(String::new, |reason| reason_words(reason).to_owned()),
        (RunState::Parked, None) => {
            let until = run.until.map(|until| format!(" until {}", until.minute(&model.zone)));
            format!("rate limited{}", until.unwrap_or_default())
        }
        (RunState::Waiting, None) => {
            let before = model.runs.values().find(|other| {
                other.workspace().collides_with(&run.workspace())
                    && !other.is_own_session()
                    && matches!(other.state, RunState::Running | RunState::Paused)
            });
            before.map_or_else(
                || "queued behind another run".to_owned(),
                |other| format!("queued behind {}", other.ticket),
            )
        }
        (RunState::Paused, None) => "paused".to_owned(),
        (RunState::Running, None) => clean_line(phase, 200),
    }
}

/// That nobody works on it any more; what waits in it, and the key that has it asked again.
fn interrupted(model: &Model, run: &RunSummary) -> String {
    match left_words(run) {
        words if words.is_empty() => "interrupted".to_owned(),
        words => format!("{words} · {} resumes", model.keys.key_of(Scope::Pane(home::NAME), Command::Own("start"))),
    }
}

/// A call of Claude's as what goes on: `editing src/a.rs`.
fn doing(call: &str, folder: &str) -> String {
    let (tool, target) = call.split_once(' ').unwrap_or((call, ""));
    let below = target.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    let verb = match tool {
        "Read" => "reading",
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => "editing",
        "Bash" => "running",
        "Glob" | "Grep" => "searching for",
        "WebFetch" => "fetching",
        "WebSearch" => "searching the web for",
        "Agent" | "Task" => "with a subagent:",
        _ => return call.to_owned(),
    };
    format!("{verb} {}", below.unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_told_as_what_goes_on() {
        let said = |call: &str| doing(call, "/home/ann/shop");
        assert_eq!(said("Edit /home/ann/shop/src/a.rs"), "editing src/a.rs");
        assert_eq!(said("Read /home/ann/shops/a"), "reading /home/ann/shops/a");
        assert_eq!(said("Bash cargo test"), "running cargo test");
        assert_eq!(said("mcp__jira__get TK-1"), "mcp__jira__get TK-1");
    }
}
