//! What goes to the disk beside the path: objects first, then the refs that name them. Whoever needs it there waits for it.

use super::error::EvidenceError;
use super::refs;
use super::repository::Repository;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Writes under way, one after the other. An error stays: what comes after it counts on what it was about.
#[derive(Debug, Default)]
pub(super) struct Settling(Mutex<Option<Write>>);

type Write = Shared<BoxFuture<'static, Result<(), String>>>;

/// What a ref is to say, and whether it is needed.
pub(super) struct Ref {
    pub(super) name: String,
    pub(super) id: String,
    pub(super) is_needed: bool,
}

/// Syncs the objects, then sets the ref. Begins at once.
pub(super) fn begin(repository: &Arc<Repository>, objects: Vec<File>, reference: Ref) {
    let mut last = repository.settling.0.lock().unwrap_or_else(PoisonError::into_inner);
    let (before, of) = (last.take(), Arc::clone(repository));
    let work = async move {
        if let Some(before) = before {
            before.await?;
        }
        let synced = tokio::task::spawn_blocking(move || objects.iter().try_for_each(File::sync_data)).await;
        let synced = synced.unwrap_or_else(|stopped| Err(io::Error::other(stopped)));
        let error =
            |source| EvidenceError::Io { what: "saving the files".to_owned(), path: of.common_dir.clone(), source };
        synced.map_err(|source| error(source).to_string())?;
        let set = refs::set(&of, &reference.name, &reference.id).await;
        if reference.is_needed { set.map_err(|error| error.to_string()) } else { Ok(()) }
    };
    let task = tokio::spawn(work).map(|ended| ended.unwrap_or_else(|stopped| Err(stopped.to_string())));
    *last = Some(task.boxed().shared());
}

/// Waits until all that was begun is on the disk. An error is told once.
pub(super) async fn settled(repository: &Repository) -> Result<(), String> {
    let last = repository.settling.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(last) = last else { return Ok(()) };
    let settled = last.clone().await;
    let mut now = repository.settling.0.lock().unwrap_or_else(PoisonError::into_inner);
    // Nothing was begun meanwhile.
    if now.as_ref().is_some_and(|now| now.ptr_eq(&last)) {
        *now = None;
    }
    settled
}
