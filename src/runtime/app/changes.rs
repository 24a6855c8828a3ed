//! What differs in a run's directory. Git is asked beside the service, whichever program the run belongs to.

use super::Service;
use super::commit::Making;
use crate::adapters::clock::fresh_id;
use crate::adapters::git::{Revert, SnapshotId, WorkTree};
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::changes::{Changes, Diff, Hunk, RevertIntended, RevertSettled, Since};
use crate::domain::record::Record;
use crate::domain::request::Reply;
use crate::domain::summary::{RunState, RunSummary};
use crate::runtime::restoring::{Place, TicketsOf, here};
use crate::runtime::ticket_runs::runs_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;
use tokio::task::block_in_place;

/// A tree, what in it is not compared, and what is.
struct Compared {
    tree: WorkTree,
    exclude: Vec<PathBuf>,
    /// From where to where, in their order, one at least; to `None`: the files as they are.
    spans: Vec<(SnapshotId, Option<SnapshotId>)>,
    base: Option<String>,
    /// Where what other tickets' runs have changed since is known, in comparisons of the timeline.
    place: Option<Place>,
    run: RunSummary,
}

/// The snapshots that are meant.
enum Meant {
    Base,
    Snapshot(String),
    Between(String, String),
    Now(String),
    /// The first one of each of these runs.
    Firsts(Vec<(RunSummary, String)>),
}

impl Service {
    pub(super) fn changes(&self, run: RunId, since: Since, reply: oneshot::Sender<Reply>) {
        let store = (self.opener.store.clone(), self.tickets.clone());
        tokio::spawn(async move {
            let changes: Result<Changes, String> = async {
                let Compared { tree, exclude, spans, base, place, run } = open(store, run, since.clone()).await?;
                let mut all: Option<Changes> = None;
                for (from, to) in spans {
                    let some = tree.changes(&from, to.as_ref(), &exclude).await.map_err(|error| error.to_string())?;
                    all = Some(match all {
                        Some(all) => all.and(some),
                        None => some,
                    });
                }
                let others = match (&since, &place) {
                    (Since::Between(from, _) | Since::Now(from), Some(place)) => {
                        place.others((&run.ticket, &run.ticket_path), from).await?.files
                    }
                    _ => BTreeMap::new(),
                };
                Ok(Changes { base, others, ..all.unwrap_or_default() })
            }
            .await;
            reply.send(Reply::Changes(run, since, changes))
        });
    }

    /// One at a time, for each reads the whole tree; of those that wait only the last.
    pub(super) fn diff(&self, run: RunId, since: Since, path: String, reply: oneshot::Sender<Reply>) {
        let (store, turn) = ((self.opener.store.clone(), self.tickets.clone()), self.diffs.last());
        tokio::spawn(async move {
            let Some(_turn) = turn.come().await else { return reply.send(Reply::Done) };
            let diff: Result<Diff, String> = async {
                let Compared { tree, exclude, spans, .. } = open(store, run, since.clone()).await?;
                let mut all = Diff::default();
                for (from, to) in spans {
                    let some =
                        tree.diff(&from, to.as_ref(), &path, &exclude).await.map_err(|error| error.to_string())?;
                    all.hunks.extend(some.hunks);
                    all.cut |= some.cut;
                }
                Ok(all)
            }
            .await;
            reply.send(Reply::Diff(run, since, path, diff))
        });
    }

    /// Between iterations only: nothing is written under Claude's hands.
    pub(super) fn revert(
        &self,
        (run, since): (RunId, Since),
        (path, hunk): (String, Hunk),
        by: Answerer,
        reply: oneshot::Sender<Reply>,
    ) {
        let (store, commits) = ((self.opener.store.clone(), self.tickets.clone()), self.commits.clone());
        let journal = self.supervisor.journal(run);
        let reverting = Making::begin(self.runs.clone());
        tokio::spawn(async move {
            let reverted: Result<String, String> = async {
                let free = commits.free(run, journal).await?;
                let Compared { tree, exclude, spans, base, .. } = open(store, run, since).await?;
                let is_past = spans.iter().any(|(_, to)| to.is_some());
                let from: Vec<SnapshotId> = spans.into_iter().map(|(from, _)| from).collect();
                let (ticket, from, is_commit) = (&free.run.ticket, &from[..], base.is_some());
                let wanted = Revert { ticket, from, is_commit, is_past, path: &path, hunk: &hunk };
                let may = || free.is_still();
                let ready = tree.prepare_revert(&wanted, &exclude, &may).await?;
                let ((before, after), id, saved) = (ready.digests(), fresh_id(), ready.saved.clone());
                let (file, hunk) = (ready.file.clone(), hunk.digest());
                let settled = RevertSettled { id: id.clone(), path: path.clone(), saved: saved.clone(), trouble: None };
                let (id, path) = (id.clone(), path.clone());
                let intended = RevertIntended { id: id.clone(), path, file, hunk, saved, before, after, by };
                let recorded = free.record(Record::RevertIntended(intended)).await;
                recorded.map_err(|error| ready.refused(&format!("it cannot be recorded: {error}")))?;
                let written = block_in_place(|| ready.write(&id, &may));
                let settled = RevertSettled { trouble: written.as_ref().err().cloned(), ..settled };
                let saved = settled.saved.clone();
                if let Err(error) = free.record(Record::RevertSettled(settled)).await {
                    tracing::warn!(%error, "the result of a revert could not be recorded");
                }
                written.map(|()| saved)
            }
            .await;
            drop(reverting);
            reply.send(Reply::Reverted(path, reverted))
        });
    }
}

async fn open((store, tickets): (Store, TicketsOf), run: RunId, since: Since) -> Result<Compared, String> {
    let of = store.clone();
    let looked = tokio::task::spawn_blocking(move || look_up(&of, run, since)).await;
    let (run, meant, keep) = looked.map_err(|error| error.to_string())??;
    // Their files alone are looked at in the person's own tree, and said to be: the run's changes are not those made there.
    let is_snapshots = matches!(meant, Meant::Between(..) | Meant::Now(_));
    let run = if is_snapshots { here(run) } else { run };
    let folder = run.workspace().directory().to_owned();
    if !folder.is_dir() {
        let folder = clean_line(&folder.display().to_string(), 300);
        return Err(format!("{folder} is gone: its changes cannot be shown; U shows the snapshots"));
    }
    let tree = WorkTree::open(&folder, &keep).await.map_err(|error| error.to_string())?;
    let mut exclude = tree.excluded(Path::new(&run.ticket_path), &run.workspace());
    let mut place = None;
    if !matches!(meant, Meant::Base) {
        // Other tickets are the person's: a restore leaves them alone, and no run changes them.
        let (workspace, ticket) = (run.workspace(), Path::new(&run.ticket_path));
        let known = Place::at(tree.clone(), &workspace, ticket, &tickets(&workspace)).knowing(Some(store));
        exclude.clone_from(&known.exclude);
        place = Some(known).filter(|_| is_snapshots);
    }
    // What came after the run is not its work.
    let left = tree.left_by(&run.ticket, run.run).await.map_err(|error| error.to_string())?;
    let end = left.filter(|(_, is_end)| *is_end && run.state == RunState::Ended).map(|(end, _)| end);
    let (spans, base) = match meant {
        Meant::Base => tree.merge_base().await.map(|(base, words)| (vec![(base, None)], Some(words)))?,
        Meant::Snapshot(from) => (vec![(SnapshotId(from), end)], None),
        Meant::Between(from, to) => (vec![(SnapshotId(from), Some(SnapshotId(to)))], None),
        Meant::Now(from) => (vec![(SnapshotId(from), None)], None),
        Meant::Firsts(firsts) => (each(&tree, firsts, (run.run, end)).await?, None),
    };
    Ok(Compared { tree, exclude, spans, base, place, run })
}

/// Each run from its first snapshot to how it left the files, this one to its end: what others did between them is not
/// the ticket's work.
async fn each(
    tree: &WorkTree,
    firsts: Vec<(RunSummary, String)>,
    (this, end): (RunId, Option<SnapshotId>),
) -> Result<Vec<(SnapshotId, Option<SnapshotId>)>, String> {
    let mut spans = Vec::new();
    for (run, from) in firsts {
        let from = SnapshotId(from);
        if run.run == this {
            spans.push((from, end.clone()));
            continue;
        }
        match tree.left_by(&run.ticket, run.run).await.map_err(|error| error.to_string())? {
            Some((left, _)) => spans.push((from, Some(left))),
            // Without git only the present is known: all of it counts from the first.
            None if matches!(tree, WorkTree::Plain(_)) => return Ok(vec![(from, None)]),
            None => {}
        }
    }
    Ok(spans)
}

/// The run, the snapshots that are meant, and the folder of the run that took the first of them.
fn look_up(store: &Store, run: RunId, since: Since) -> Result<(RunSummary, Meant, PathBuf), String> {
    let known = store.run(run).map_err(|error| error.to_string())?;
    let (run, _) = known.ok_or("the run no longer exists")?;
    let (meant, keep) = match since {
        Since::Snapshot(from) => (Meant::Snapshot(from), run.run),
        Since::Between(from, to) => (Meant::Between(from, to), run.run),
        Since::Now(from) => (Meant::Now(from), run.run),
        Since::Base => (Meant::Base, run.run),
        Since::Ticket => {
            let all = store.runs().map_err(|error| error.to_string())?;
            // Later runs are not those of this one.
            let runs = runs_of(&all, run.run)?.into_iter().filter(|other| other.started <= run.started);
            let firsts: Vec<_> = runs.filter_map(|run| Some((first_snapshot(store, run.run)?, run))).collect();
            let keep = firsts.first().ok_or("no snapshot yet")?.1.run;
            (Meant::Firsts(firsts.into_iter().map(|(from, run)| (run, from)).collect()), keep)
        }
    };
    let keep = store.run_folder(keep);
    Ok((run, meant, keep))
}

fn first_snapshot(store: &Store, run: RunId) -> Option<String> {
    store.load(run).ok()?.records.iter().find_map(|stored| match &stored.record {
        Record::SnapshotTaken { id, .. } => Some(id.clone()),
        _ => None,
    })
}
