//! What the person asks of a run from another process, handed on to the run.

use crate::adapters::store::{Store, StoreError, Wish};
use crate::base::id::RunId;
use crate::orchestrator::input::Input;
use tokio::sync::mpsc;

/// Hands on what the person asks of a run from another process, as long as anybody can tell it anything.
pub async fn follow(store: Store, run: RunId, inputs: mpsc::WeakSender<Input>) {
    let followed = async {
        let mut wishes = store.wishes(run)?;
        loop {
            let (wish, Wish { by, command }) = wishes.next().await?;
            let Some(inputs) = inputs.upgrade() else { return Ok::<_, StoreError>(()) };
            let _ = inputs.send(Input::Wished { wish, by, command }).await;
        }
    };
    if let Err(error) = followed.await {
        tracing::warn!(%run, %error, "requests from other processes cannot be read");
    }
}
