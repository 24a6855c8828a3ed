//! Removing old snapshots: our refs alone. What they alone named, git's own garbage collection frees when the person lets it.

use super::WorkTree;
use super::error::EvidenceError;
use super::history::{END, RESTORE};
use super::paths;
use super::repository::Repository;
use crate::base::id::RunId;
use crate::base::time::Timestamp;
use crate::domain::pruning::KeptRef;
use std::collections::BTreeMap;

/// Ids that a call of git is given at most, to find out what they take.
const MEASURED: usize = 2_000;

impl WorkTree {
    /// All snapshots in the repository, by the folder of their tickets' refs; none for a plain folder.
    pub async fn kept_refs(&self) -> Result<BTreeMap<String, Vec<KeptRef>>, EvidenceError> {
        let mut all: BTreeMap<String, Vec<KeptRef>> = BTreeMap::new();
        let Self::Git(repository) = self else { return Ok(all) };
        let call = repository.git("for-each-ref").args(["--format=%(refname) %(objectname) %(committerdate:unix)"]);
        let listed = paths::shown(&call.args(["refs/programmator/"]).thorough().ok().await?);
        for (folder, one) in listed.lines().filter_map(read) {
            all.entry(folder).or_default().push(one);
        }
        Ok(all)
    }

    /// Removes these, all or none, as long as each is as it was seen; how many bytes of the disk they alone have taken, as
    /// far as git can say.
    pub async fn forget(&self, refs: &[&KeptRef]) -> Result<Option<u64>, EvidenceError> {
        let Self::Git(repository) = self else { return Ok(None) };
        let delete = |one: &&KeptRef| ["delete ", &one.name, " ", &one.id, "\n"].concat();
        let deletes: String = refs.iter().map(delete).collect();
        repository.git("update-ref").args(["--stdin"]).input(deletes.into_bytes()).thorough().ok().await?;
        Ok(bytes(repository, refs).await)
    }
}

async fn bytes(repository: &Repository, refs: &[&KeptRef]) -> Option<u64> {
    if refs.len() > MEASURED {
        return None;
    }
    let call = repository.git("rev-list").args(["--objects", "--disk-usage"]);
    let call = call.args(refs.iter().map(|one| &one.id)).args(["--not", "--all"]);
    let said = call.thorough().run().await.ok().filter(|said| said.code == Some(0))?;
    paths::shown(&said.stdout).trim().parse().ok()
}

/// `refs/programmator/<ticket>/<run>/<n>[-end] <id> <seconds>`, where an end has no time.
fn read(line: &str) -> Option<(String, KeptRef)> {
    let mut words = line.split(' ');
    let (name, id, seconds) = (words.next()?, words.next()?, words.next().unwrap_or_default());
    let (folder, n) = name.rsplit_once('/')?;
    let (folder, run) = folder.rsplit_once('/')?;
    let run = if run == RESTORE { None } else { Some(RunId::parse(run)?) };
    let end = n.strip_suffix(END);
    let n = end.unwrap_or(n).parse().ok()?;
    let time = Timestamp::from_millis(seconds.parse::<i64>().unwrap_or_default().saturating_mul(1_000));
    Some((folder.to_owned(), KeptRef { name: name.to_owned(), id: id.to_owned(), run, n, is_end: end.is_some(), time }))
}
