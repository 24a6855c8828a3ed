//! A conflict that Claude resolves in the ticket's worktree: what git does about it between the iterations.

use super::Effects;
use crate::adapters::git::resolving;
use crate::base::text::clean_line;
use crate::domain::merge::ConflictWork;
use crate::orchestrator::input::Input;

impl Effects {
    pub(super) fn conflict(&mut self, work: ConflictWork, made: Vec<String>, title: &str) {
        let Some(worktree) = self.workspace.worktree().cloned() else { return };
        let copy = self.workspace.copy_of(&self.ticket_path);
        let ticket = copy.and_then(|copy| copy.strip_prefix(&worktree.top).ok().map(ToOwned::to_owned));
        let (base, branch) = (&worktree.base, &worktree.branch);
        let message = format!("Merge {base} into {branch}: {}\n\nTicket: {}", clean_line(title, 100), self.ticket);
        let (_, _, room) = self.surroundings();
        self.answer_at_last(async move {
            let done = match work {
                ConflictWork::Open => resolving::begin(&worktree, &made, ticket.as_deref(), &room).await,
                ConflictWork::Check => resolving::marked(&worktree).await,
                ConflictWork::Commit => resolving::commit(&worktree, &made, ticket.as_deref(), &message).await,
            };
            Input::ConflictDone { work, done }
        });
    }
}
