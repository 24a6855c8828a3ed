//! What helps a person to begin: what a first run would fail for, `git init`, and what a new ticket may begin with.

use super::Service;
use crate::adapters::config_files;
use crate::adapters::git;
use crate::adapters::project_kind;
use crate::adapters::store::{Holder, LockError};
use crate::base::id::TicketId;
use crate::domain::finding::{Finding, Mark};
use crate::domain::request::Reply;
use crate::domain::ticket::draft::Draft;
use crate::domain::workspace::Workspace;
use crate::runtime::doctor;
use tokio::sync::oneshot;
use tokio::task::block_in_place;

impl Service {
    /// Says what a first run would fail for. Programs are asked for it, which takes its time.
    pub(super) fn diagnose(&self, reply: oneshot::Sender<Reply>) {
        let config = (self.opener.rules)(&Workspace::shared(self.places.folder.display().to_string()));
        let folder = self.places.folder.clone();
        tokio::spawn(async move {
            let found = match config {
                Ok((config, _)) => doctor::troubles(&config, &folder).await,
                Err(why) => vec![Finding::new("config", Mark::Fail, why)],
            };
            reply.send(Reply::Diagnosed(found))
        });
    }

    /// Commands that usually check what is here, and the person's templates.
    pub(super) fn suggest(&self) -> Reply {
        let templates = self.opener.config_folder.as_deref().map(config_files::templates).unwrap_or_default();
        let templates = templates.into_iter().map(|(name, text)| (name, Draft::of_template(&text)));
        Reply::Suggested { checks: project_kind::checks(&self.places.folder), templates: templates.collect() }
    }

    /// Makes the directory a repository, while no run works there: one that began without git goes on without it.
    pub(super) async fn init_git(&mut self) -> Result<(), String> {
        let (store, clock) = (&self.opener.store, &self.opener.clock);
        let workspace = Workspace::shared(self.places.folder.display().to_string());
        let ticket = TicketId::parse("git-init").map_err(|error| error.to_string())?;
        let holder = Holder { pid: std::process::id(), ticket, run: None, since: clock.now() };
        let _tree = block_in_place(|| store.lock_tree(&workspace, &holder)).map_err(|error| match error {
            LockError::Held { holder } => format!("{holder} is running in this directory: wait until it has ended"),
            LockError::Store(error) => error.to_string(),
        })?;
        git::init(&self.places.folder).await?;
        self.branch.follow(&self.reporter);
        Ok(())
    }
}
