//! Committing the run's own work, by what commits for a person who asks for it.

use super::Effects;
use crate::adapters::clock::fresh_id;
use crate::adapters::git::{PATIENCE, Try, WorkTree};
use crate::domain::commit::{Agreed, CommitIntended, CommitPlan, CommitSettled, Committed, LeftOut, OwnCommit};
use crate::orchestrator::input::Input;
use crate::orchestrator::prompt;
use crate::runtime::commits::Place;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often is looked whether git has ended that an earlier process has called.
const AGAIN: Duration = Duration::from_secs(1);

impl Effects {
    pub(super) fn plan_commit(&mut self, own: OwnCommit) {
        let (store, run, ticket) = (self.store.clone(), self.run, self.ticket.clone());
        let evidence = self.work.evidence.clone();
        self.answer_with(async move {
            let planned = async {
                let OwnCommit { phase, title, settings } = own;
                let message = prompt::commit_message(&settings.message, ticket.as_str(), &title, &phase)
                    .map_err(|why| format!("git.message: {why}"))?;
                // What the iterations have left is compared with it: it is to be on the disk.
                Self::settle_tree(&evidence).await?;
                let Place { tree, work, exclude } = Place::of_open(&store, run).await?;
                let plan = tree.plan_commit(&work, &exclude).await?;
                agreed(plan, message, &settings.protected)
            };
            Input::CommitPlanned { id: fresh_id(), planned: planned.await.map(|agreed| agreed.map(Box::new)) }
        });
    }

    pub(super) fn make_commit(&mut self, id: String, agreed: Agreed) {
        let (store, run) = (self.store.clone(), self.run);
        let evidence = self.work.evidence.clone();
        self.answer_at_last(async move {
            let made = async {
                let Place { tree, work, exclude } = Place::of_open(&store, run).await?;
                tree.commit(&work, &agreed, &Try { id: &id, called: &|| {} }, &exclude).await
            };
            let made: Result<Committed, String> = made.await;
            // A hook may have changed files, one that refuses too.
            if let Some(tree) = evidence.get() {
                tree.commands_ran();
            }
            Input::CommitMade(CommitSettled::of(id, &made))
        });
    }

    pub(super) fn recover_commit(&mut self, open: CommitIntended) {
        let (folder, keep) = (self.workspace.directory().to_owned(), self.run_dir());
        self.answer_with(async move {
            let begun = Instant::now();
            loop {
                let found = async {
                    WorkTree::open(&folder, &keep).await?.recover_commit(open.head.as_deref(), &open.id).await
                };
                match found.await {
                    Ok(Some(made)) => return Input::CommitMade(CommitSettled::of(open.id, &made)),
                    Ok(None) if begun.elapsed() < PATIENCE => sleep(AGAIN).await,
                    Ok(None) => {
                        let why = "git, started by an earlier process, is still running".to_owned();
                        return Input::CommitUnknown { why };
                    }
                    Err(error) => return Input::CommitUnknown { why: error.to_string() },
                }
            }
        });
    }
}

/// What the person's configuration agrees to, `None` where there is nothing; words where it does not agree.
fn agreed(plan: CommitPlan, message: String, protected: &[String]) -> Result<Option<Agreed>, String> {
    match &plan.branch {
        None => return Err("HEAD is detached: switch to a branch".to_owned()),
        Some(branch) if protected.contains(branch) => {
            return Err(format!("{branch} is protected (git.protected): switch to another branch"));
        }
        Some(_) => {}
    }
    if let Some(program) = plan.programs.first() {
        return Err(format!(
            "{} was changed since the run started, and git would execute it: review it, and commit with c",
            program.name
        ));
    }
    let CommitPlan { head, branch, tree, files, left_out, .. } = plan;
    if files.is_empty() {
        return LeftOut::told(&left_out).map_or(Ok(None), Err);
    }
    let files = files.into_iter().map(|file| file.path).collect();
    Ok(Some(Agreed { message, head, branch, tree, files, left_out, ..Agreed::default() }))
}
