//! The copy of a run of another machine: what is told of it is checked, written down, and told to the screen from there.
//!
//! The other side is foreign. What it says goes nowhere but into the copy's own store, and only of the run that was asked for:
//! the next record, the next bytes. Anything else ends the connection, and the copy stays as it was.

use crate::adapters::store::{RunScrollback, Store, StoreError};
use crate::base::text::clean_line;
use crate::domain::news::News;
use crate::domain::stream::envelope::classify;
use crate::domain::summary::{Owner, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::domain::wire::{Ask, Copied, Tell};
use crate::runtime::reporter::Reporter;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest record in bytes that is put together from its pieces.
const RECORD: usize = 64 << 20;

/// The copy of one run.
pub struct Copy {
    store: Store,
    reporter: Reporter,
    /// As it was told last.
    run: RunSummary,
    /// The last record.
    last: u64,
    /// The beginning of the record at hand.
    begun: String,
    /// Bytes of what Claude printed in each iteration.
    printed: BTreeMap<u32, u64>,
    /// What the screen was given to read it.
    scrollback: Option<RunScrollback>,
    /// There is more of it than the screen was told.
    grew: bool,
}

impl Copy {
    /// An empty copy of this run. `store`: one of its own.
    pub fn new(store: Store, reporter: Reporter, run: RunSummary) -> Result<Self, String> {
        is_plain(&run)?;
        store.copy(&run, 0, &[]).map_err(|error| words(&error))?;
        let (begun, printed) = (String::new(), BTreeMap::new());
        Ok(Self { store, reporter, run, last: 0, begun, printed, scrollback: None, grew: false })
    }

    pub fn ticket(&self) -> TicketKey {
        self.run.key()
    }

    pub fn run(&self) -> &RunSummary {
        &self.run
    }

    /// What is missing. A record that was told in part is told anew.
    pub fn missing(&mut self) -> Ask {
        self.begun.clear();
        Ask::Follow { run: self.run.run, after: self.last, printed: self.printed.clone() }
    }

    /// Takes what is told of the run. An error: it cannot be, or it cannot be written down; words for the person.
    pub fn take(&mut self, tell: Tell) -> Result<(), String> {
        match tell {
            Tell::Run(run) => self.stands(*run),
            Tell::Records(records) => self.records(records),
            Tell::Printed { iteration, at, bytes } => {
                let size = self.printed.get(&iteration).copied().unwrap_or_default();
                if at > size {
                    return Err("part of Claude's output is missing".to_owned());
                }
                self.store.copy_printed(self.run.run, iteration, at, &bytes).map_err(|error| words(&error))?;
                self.printed.insert(iteration, at + bytes.len() as u64);
                self.grew = true;
                Ok(())
            }
            Tell::Alive => Ok(()),
            Tell::Refused(why) | Tell::Unanswered(why) => Err(clean_line(&why, 300)),
            Tell::Done | Tell::Line { .. } | Tell::Ended(_) => Err("invalid message".to_owned()),
        }
    }

    /// Tells the screen where there is more to read. Not at each piece: it looks through what it is told of.
    pub fn tell_growth(&mut self) -> Result<(), String> {
        if let Some(scrollback) = self.scrollback.as_ref().filter(|_| std::mem::take(&mut self.grew))
            && scrollback.look_again().map_err(|error| words(&error))?
        {
            self.reporter.tell(&News::StreamGrew(self.run.run));
        }
        Ok(())
    }

    fn stands(&mut self, run: RunSummary) -> Result<(), String> {
        // Keys are the same where their files are, whatever the tickets are called.
        if (run.run, &run.ticket, run.key()) != (self.run.run, &self.run.ticket, self.run.key()) {
            return Err("it sent another run".to_owned());
        }
        self.store.copy(&run, self.last, &[]).map_err(|error| words(&error))?;
        let (owner, before) = (run.owner(), self.run.owner());
        self.run = run;
        // Where a program goes on with it, it takes commands again.
        if self.scrollback.is_none() || (owner, before) == (Owner::Another, Owner::Nobody) {
            let scrollback = self.store.scrollback(self.run.run, classify).map_err(|error| words(&error))?;
            let all = Arc::new(scrollback.clone());
            self.reporter.shown(self.run.run, (self.run.key(), owner), self.last, all);
            self.scrollback = Some(scrollback);
        }
        self.reporter.tell(&News::RunSeen(Arc::new(self.run.clone())));
        Ok(())
    }

    fn records(&mut self, pieces: Vec<Copied>) -> Result<(), String> {
        let (mut records, mut next) = (Vec::new(), self.last + 1);
        for mut piece in pieces {
            if piece.seq != next {
                return Err(format!("it sent record {} instead of {next}", piece.seq));
            }
            if self.begun.len() + piece.json.len() > RECORD {
                return Err(format!("a record is longer than {} MiB", RECORD >> 20));
            }
            self.begun.push_str(&piece.json);
            if !piece.goes_on {
                piece.json = std::mem::take(&mut self.begun);
                records.push(piece);
                next += 1;
            }
        }
        let (before, last) = (self.last, next - 1);
        self.store.copy(&self.run, last, &records).map_err(|error| words(&error))?;
        self.last = last;
        // The screen has all of them at once when it is given the run.
        if self.scrollback.is_some() {
            self.tell_growth()?;
            for record in self.store.load_after(self.run.run, before).map_err(|error| words(&error))?.records {
                self.reporter.tell(&News::Recorded(record));
            }
        }
        Ok(())
    }
}

/// Names that stand on the screen, in its title and in words for the person without being looked at again.
pub fn is_plain(run: &RunSummary) -> Result<(), String> {
    let id = run.ticket.as_str();
    if clean_line(id, 200) == id { Ok(()) } else { Err("its ticket has an invalid name".to_owned()) }
}

fn words(error: &StoreError) -> String {
    clean_line(&error.to_string(), 300)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::approval::Presence;
    use crate::domain::scrollback::Scrollback as _;
    use serde_json::json;
    use std::fs;

    fn run(id: u8, ticket: &str) -> RunSummary {
        serde_json::from_value(json!({
            "run": format!("0192aaaa-0000-7000-8000-0000000000{id:02}"), "ticket": ticket, "title": "T",
            "ticket_path": "/t/tk-1.md", "folder": "/t", "state": "running", "phase": null, "phases_done": 0, "phases": 1,
            "iterations": 0, "cost_usd": 0.0, "reason": null, "started": "2026-11-21T12:00:00Z", "updated": "2026-11-21T12:00:01Z",
        }))
        .unwrap()
    }

    fn record(seq: u64, json: &str) -> Copied {
        Copied { seq, time: 1, kind: "paused".into(), json: json.into(), goes_on: false }
    }

    fn empty() -> (tempfile::TempDir, Store, Copy) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("copy")).unwrap();
        let copy = Copy::new(store.clone(), Reporter::new(store.clone()), run(1, "tk-1")).unwrap();
        (folder, store, copy)
    }

    const PAUSED: &str = "{\"kind\":\"paused\"}";

    #[test]
    fn what_continues_the_run_is_kept_and_told_also_in_pieces_and_of_a_newer_kind() {
        let (_folder, store, mut copy) = empty();
        let mut screen = copy.reporter.subscribe(Presence::Nobody);
        copy.take(Tell::Records(vec![record(1, PAUSED), record(2, "{\"kind\":\"of tomorrow\"}")])).unwrap();
        assert!(screen.try_next().is_none(), "it is told whole");
        copy.take(Tell::Run(Box::new(run(1, "tk-1")))).unwrap();
        let Some(News::RunOpened { records, owner: Owner::Another, .. }) = screen.try_next() else { panic!() };
        assert_eq!(records.len(), 1);
        assert!(matches!(screen.try_next(), Some(News::RunSeen(_))));

        let (first, rest) = PAUSED.split_at(5);
        copy.take(Tell::Records(vec![Copied { goes_on: true, ..record(3, first) }])).unwrap();
        assert!(screen.try_next().is_none());
        // The connection was cut between the two pieces: the record comes again from its beginning.
        assert!(matches!(copy.missing(), Ask::Follow { after: 2, .. }));
        copy.take(Tell::Records(vec![Copied { goes_on: true, ..record(3, first) }, record(3, rest)])).unwrap();
        assert!(matches!(screen.try_next(), Some(News::Recorded(stored)) if stored.seq == 3));

        let printed = |at, bytes: &[u8]| Tell::Printed { iteration: 1, at, bytes: bytes.to_vec() };
        copy.take(printed(0, b"{\"type\":\"assistant\"}\n")).unwrap();
        copy.take(printed(22, b"rest")).unwrap_err();
        copy.take(printed(21, b"\xff\n")).unwrap();
        copy.tell_growth().unwrap();
        assert!(matches!(screen.try_next(), Some(News::StreamGrew(_))));
        assert_eq!(copy.scrollback.as_ref().unwrap().iterations(), [1]);
        let file = store.run_folder(copy.run.run).join("1.ndjson");
        assert_eq!(fs::read(&file).unwrap(), b"{\"type\":\"assistant\"}\n\xff\n");
        // What was taken back there is gone here.
        copy.take(printed(0, b"anew\n")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"anew\n");
    }

    #[test]
    fn what_does_not_continue_it_changes_nothing() {
        let (folder, store, mut copy) = empty();
        copy.take(Tell::Records(vec![record(1, PAUSED)])).unwrap();
        let refused = [
            Tell::Records(vec![record(1, PAUSED)]),
            Tell::Records(vec![record(2, PAUSED), record(4, PAUSED)]),
            Tell::Records(vec![Copied { goes_on: true, ..record(2, "{") }, record(3, "}")]),
            Tell::Run(Box::new(run(2, "tk-1"))),
            Tell::Run(Box::new(run(1, "tk-2"))),
            Tell::Printed { iteration: 1, at: 1 << 62, bytes: vec![b'x'] },
            Tell::Ended(0),
            Tell::Refused("no \u{1b}[2J".into()),
        ];
        for tell in refused {
            let why = copy.take(tell.clone()).unwrap_err();
            assert!(!why.contains('\u{1b}'), "{why}");
            copy.missing();
        }
        assert_eq!(store.records_to_copy(copy.run.run, 0, 9).unwrap(), [record(1, PAUSED)]);
        assert!(!store.run_folder(copy.run.run).exists() && fs::read_dir(folder.path()).unwrap().count() == 1);
        let reporter = Reporter::new(store.clone());
        assert!(Copy::new(store, reporter, run(1, "tk-\u{1b}[2J")).is_err(), "a name that a terminal would obey");
    }
}
