//! Committing the run's own work, by what commits for a person who asks for it.

use super::Effects;
use crate::adapters::clock::fresh_id;
use crate::adapters::git::{PATIENCE, Try, WorkTree};
use crate::domain::commit::{Agreed, CommitIntended, CommitPlan, CommitSettled, Committed, OwnCommit};
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
            Input::CommitPlanned { id: fresh_id(), planned: planned.await.map(Box::new) }
        });
    }

    pub(super) fn make_commit(&mut self, id: String, agreed: Agreed) {
        let (store, run) = (self.store.clone(), self.run);
        self.answer_with(async move {
            let made = async {
                let Place { tree, work, exclude } = Place::of_open(&store, run).await?;
                tree.commit(&work, &agreed, &Try { id: &id, called: &|| {} }, &exclude).await
            };
            let made: Result<Committed, String> = made.await;
            Input::CommitMade(CommitSettled::of(id, &made))
        });
    }

    pub(super) fn recover_commit(&mut self, open: CommitIntended) {
        let (folder, keep) = (self.workspace.directory().to_owned(), self.run_dir());
        self.answer_with(async move {
            let begun = Instant::now();
            let made = loop {
                let found = async {
                    WorkTree::open(&folder, &keep).await?.recover_commit(open.head.as_deref(), &open.id).await
                };
                match found.await {
                    Ok(Some(made)) => break made,
                    Ok(None) if begun.elapsed() < PATIENCE => sleep(AGAIN).await,
                    Ok(None) => break Err("git, called by an earlier process, has not ended".to_owned()),
                    Err(error) => break Err(error.to_string()),
                }
            };
            Input::CommitMade(CommitSettled::of(open.id, &made))
        });
    }
}

/// What the person's configuration agrees to; words where it does not.
fn agreed(plan: CommitPlan, message: String, protected: &[String]) -> Result<Agreed, String> {
    match &plan.branch {
        None => return Err("HEAD is detached: switch to a branch".to_owned()),
        Some(branch) if protected.contains(branch) => {
            return Err(format!("{branch} is protected (git.protected): switch to another branch"));
        }
        Some(_) => {}
    }
    if let Some(program) = plan.programs.first() {
        return Err(format!(
            "{} was changed since the run began, and git would run it: look at it, and commit with c",
            program.name
        ));
    }
    if plan.files.is_empty() {
        return Err("there is nothing of the run's alone".to_owned());
    }
    let CommitPlan { head, branch, tree, files, .. } = plan;
    let files = files.into_iter().map(|file| file.path).collect();
    Ok(Agreed { message, head, branch, tree, files, ..Agreed::default() })
}
