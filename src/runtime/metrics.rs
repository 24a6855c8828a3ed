//! What all runs of the person came to, as figures for a monitoring system. Few labels, and none by ticket. Blocking.

use crate::adapters::disk_use::bytes_of;
use crate::adapters::store::{Store, StoreError};
use crate::domain::metrics::{Kind, Metric};
use crate::domain::outcome::ExitReason;
use crate::domain::summary::RunState;
use crate::runtime::stats::stats;
use std::collections::BTreeMap;

/// Kinds of records by which a claim is judged, and whether that refutes it.
const JUDGED: [(&str, bool); 3] = [("phase_done", false), ("phase_disputed", true), ("phase_rejected", true)];

/// The figures of now.
pub fn metrics(store: &Store) -> Result<Vec<Metric>, StoreError> {
    let (mut outcomes, mut states, mut waiting) = (BTreeMap::new(), BTreeMap::new(), 0.0);
    for run in store.runs()?.into_iter().filter(|run| !run.is_own_session()) {
        let run = store.as_seen(run)?;
        if run.state == RunState::Ended {
            // Words of a newer program are one.
            let reason = run.reason.as_deref().and_then(ExitReason::from_word).map_or("other", ExitReason::word);
            *outcomes.entry(reason).or_insert(0.0) += 1.0;
        } else {
            *states.entry(run.state.word()).or_insert(0.0) += 1.0;
        }
        waiting += if run.asks().is_some() { 1.0 } else { 0.0 };
    }
    let total = stats(store)?.total;
    let judged = store.count_records(&JUDGED.map(|(kind, _)| kind))?;
    let claims = |counts: fn(bool) -> bool| {
        let kinds = JUDGED.iter().filter(|(_, refutes)| counts(*refutes));
        kinds.map(|(kind, _)| judged.get(*kind).copied().unwrap_or_default()).sum::<u64>() as f64
    };
    let folder = store.folder();
    let of = |name: &str| bytes_of(&folder.join(name));
    let (all, output) = (bytes_of(folder), of("runs"));
    let records = of("programmator.db").saturating_add(of("programmator.db-wal"));
    let bytes =
        [("output", output), ("records", records), ("other", all.saturating_sub(output.saturating_add(records)))];
    let labelled = |label, values: BTreeMap<&str, f64>| {
        values.into_iter().map(|(word, value)| (Some((label, word.to_owned())), value)).collect()
    };
    let version = vec![(Some(("version", env!("CARGO_PKG_VERSION").to_owned())), 1.0)];
    let bytes = bytes.map(|(word, bytes)| (word, bytes as f64)).into_iter().collect();
    Ok(vec![
        Metric { name: "programmator_info", help: "Version of programmator.", kind: Kind::Gauge, values: version },
        Metric {
            name: "programmator_runs_ended",
            help: "Ended runs, by outcome; a resumed run has not ended.",
            kind: Kind::Gauge,
            values: labelled("outcome", outcomes),
        },
        Metric {
            name: "programmator_runs_open",
            help: "Open runs, by state.",
            kind: Kind::Gauge,
            values: labelled("state", states),
        },
        Metric::plain("programmator_runs_waiting", "Runs waiting for an answer.", Kind::Gauge, waiting),
        Metric::plain("programmator_iterations_total", "Ended iterations.", Kind::Counter, f64::from(total.iterations)),
        Metric::plain("programmator_tokens_total", "Tokens of all iterations.", Kind::Counter, total.tokens as f64),
        Metric::plain("programmator_cost_usd_total", "Cost of all runs, in US dollars.", Kind::Counter, total.cost_usd),
        Metric::plain(
            "programmator_claims_checked_total",
            "Checked claims that a phase is done.",
            Kind::Counter,
            claims(|_| true),
        ),
        Metric::plain(
            "programmator_claims_refuted_total",
            "Checked claims that were disputed or rejected.",
            Kind::Counter,
            claims(|refutes| refutes),
        ),
        Metric {
            name: "programmator_storage_bytes",
            help: "Size of the state folder.",
            kind: Kind::Gauge,
            values: labelled("kind", bytes),
        },
    ])
}
