//! The figures of all runs, from the store. Blocking.

use crate::adapters::store::{Store, StoreError};
use crate::domain::stats::{KINDS, RunFold, Stats, sum};

/// What all runs of the person came to.
pub fn stats(store: &Store) -> Result<Stats, StoreError> {
    let runs = store.runs()?.into_iter().filter(|run| !run.is_own_session());
    let folded = runs.map(|run| {
        let mut fold = RunFold::default();
        store.records_of(run.run, &KINDS)?.iter().for_each(|record| fold.record(record));
        Ok((run, fold))
    });
    Ok(sum(folded.collect::<Result<Vec<_>, StoreError>>()?))
}
