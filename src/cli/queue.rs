//! `programmator queue`: what waits for the person in runs of any program, by name.

use super::decision::Decision;
use super::ended::{self, Ended};
use super::error::CliError;
use super::question::{Question, Shown};
use super::session::Session;
use crate::adapters::clock::SystemClock;
use crate::adapters::store::{Store, StoreError};
use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::{Timestamp, human};
use crate::domain::approval::{Approval, ApprovalKind, QuestionId};
use crate::domain::record::Stored;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::orchestrator::apply::apply;
use crate::orchestrator::state::State;
use crate::runtime::own_session;
use clap::Args;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Characters at the end of a call's id that name its question.
const NAME: usize = 8;
/// Characters of it that do.
const SHORTEST: usize = 4;
/// Columns of a question in the list.
pub(super) const WORDS: usize = 100;

/// What can be typed.
#[derive(Debug, Args)]
pub struct QueueArgs {
    /// Question to show in full; lists all, one per line, if omitted.
    #[arg(value_name = "NAME")]
    pub id: Option<String>,
    /// Use this machine from your configuration (`hosts`) instead of the local one.
    #[arg(long, value_name = "HOST")]
    pub on: Option<String>,
    /// Print JSON instead of text.
    #[arg(long, conflicts_with = "id")]
    pub json: bool,
}

/// What a run waits for. `queue --json`: add, never rename.
#[derive(Debug, Serialize)]
pub(super) struct Waiting {
    /// What `answer` takes.
    pub(super) name: String,
    pub(super) run: RunId,
    pub(super) ticket: TicketId,
    pub(super) title: String,
    folder: String,
    /// The call or the question in a few words.
    pub(super) words: String,
    /// No program works on the run: it has to be resumed before it can be answered.
    pub(super) interrupted: bool,
    #[serde(flatten)]
    pub(super) subject: Subject,
    #[serde(skip)]
    pub(super) summary: RunSummary,
}

/// What is to be answered.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Subject {
    /// A question of Claude's.
    Question(Box<Approval>),
    Decision(Box<Decision>),
    /// The end of a run.
    Ended(Box<Ended>),
}

impl Waiting {
    pub(super) fn since(&self) -> Timestamp {
        match &self.subject {
            Subject::Question(approval) => approval.asked,
            Subject::Decision(decision) => decision.since,
            Subject::Ended(ended) => ended.run.updated,
        }
    }

    /// It is a pause of the person's own, of which nobody need remind them.
    pub(super) fn is_paused(&self) -> bool {
        matches!(&self.subject, Subject::Decision(decision) if decision.is_paused())
    }

    /// The question, where it is one of Claude's.
    pub(super) fn question(&self) -> Option<&Approval> {
        if let Subject::Question(approval) = &self.subject { Some(approval) } else { None }
    }
}

/// Prints what waits, or one of it.
pub fn run(out: &mut dyn Write, session: &Session, args: &QueueArgs) -> Result<(), CliError> {
    match &args.id {
        Some(id) => show(out, session, id),
        None => list(out, session, args.json),
    }
}

/// Prints what waits, the oldest first.
fn list(out: &mut dyn Write, session: &Session, json: bool) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let mut waiting = waiting(&store)?;
    let left = ended::left(&store, &session.folder)?;
    if json {
        waiting.extend(left.into_iter().map(at_its_end));
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&waiting)?)?);
    }
    if waiting.is_empty() {
        writeln!(out, "No question is waiting for you.")?;
        return tell_ended(out, &left);
    }
    let now = session.clock().now();
    let wide = |text: fn(&Waiting) -> &str| waiting.iter().map(|one| text(one).chars().count()).max().unwrap_or(0);
    let (names, tickets) = (wide(|one| &one.name), wide(|one| one.ticket.as_str()));
    let ages: Vec<String> = waiting.iter().map(|one| human(now.since(one.since()))).collect();
    let width = ages.iter().map(|age| age.chars().count()).max().unwrap_or(0);
    let is_one_folder = waiting.iter().all(|one| one.folder == waiting[0].folder);
    for (one, age) in waiting.iter().zip(&ages) {
        let folder = if is_one_folder { String::new() } else { format!("  {}", clean_line(&one.folder, WORDS)) };
        let words = clean_line(&one.words, WORDS);
        let how = if one.interrupted { "  (interrupted: resume the run to answer)" } else { "" };
        writeln!(out, "{:names$}  {:tickets$}  {age:>width$}{folder}  {words}{how}", one.name, one.ticket.as_str())?;
    }
    if waiting.iter().any(|one| !one.interrupted) {
        writeln!(out, "\n`programmator queue NAME` shows one in full, and how to answer it.")?;
    }
    tell_ended(out, &left)
}

/// Names what of this directory has ended and goes on only with the person, as Home does.
fn tell_ended(out: &mut dyn Write, left: &[Ended]) -> Result<(), CliError> {
    if left.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nEnded runs that need you:")?;
    let wide = |text: fn(&Ended) -> &str| left.iter().map(|end| text(end).chars().count()).max().unwrap_or(0);
    let (names, tickets) = (wide(|end| &end.name), wide(|end| end.run.ticket.as_str()));
    for end in left {
        let (name, ticket, words) = (&end.name, end.run.ticket.as_str(), clean_line(&end.words(), WORDS));
        writeln!(out, "{name:names$}  {ticket:tickets$}  {words}; why: `programmator report {ticket}`")?;
    }
    Ok(())
}

/// The end of a run as one of what waits.
fn at_its_end(end: Ended) -> Waiting {
    let run = end.run.clone();
    told(&run, false, end.name.clone(), end.words(), Subject::Ended(Box::new(end)))
}

/// What waits by this name or for this ticket, or the end of the ticket's last run. Where tickets of several repositories have
/// this id, that of this directory is meant.
pub(super) fn find(store: &Store, id: &str, folder: &Path) -> Result<Waiting, CliError> {
    let is_here = |run: &RunSummary| run.ticket.as_str() == id && run.workspace().contains(folder);
    // Also while nothing of it waits: what waits for its namesake is not taken for it.
    let here: BTreeSet<String> = store.runs()?.into_iter().filter(is_here).map(|run| run.ticket_path).collect();
    let of_ticket = |run: &RunSummary| here.is_empty() || here.contains(&run.ticket_path);
    let waiting = waiting(store)?;
    let is_asked = waiting.iter().any(|one| one.ticket.as_str() == id && of_ticket(&one.summary));
    match found(waiting, id, of_ticket) {
        Ok(one) => Ok(one),
        Err(several) if is_asked => Err(several),
        Err(none) => Ok(at_its_end(ended::find(store, id, of_ticket)?.ok_or(none)?)),
    }
}

/// Prints one question whole, and how it is answered.
fn show(out: &mut dyn Write, session: &Session, id: &str) -> Result<(), CliError> {
    let store = session.store_to_read()?;
    let one = find(&store, id, &session.folder)?;
    let (id, age) = (&one.name, human(session.clock().now().since(one.since())));
    let what = if matches!(one.subject, Subject::Ended(_)) { "ended" } else { "asked" };
    let head = format!("{}  {}  {what} {age} ago", one.ticket, clean_line(&one.title, WORDS));
    let approval = match one.subject {
        Subject::Question(approval) => *approval,
        Subject::Decision(decision) => {
            writeln!(out, "{head}\n{}\n\n{}", decision.words, decision.text.trim_end())?;
            if one.interrupted {
                return Ok(writeln!(out, "\n{}", gone(&one.ticket))?);
            }
            writeln!(out)?;
            for way in decision.ways() {
                writeln!(out, "programmator answer {id} {way}")?;
            }
            return Ok(());
        }
        Subject::Ended(end) => {
            writeln!(out, "{head}\n{}", end.text)?;
            if let Some(said) = &end.answered {
                writeln!(out, "{}\n", said.told())?;
            }
            if let Some(failed) = &end.failed {
                writeln!(out, "{}\n", failed.words())?;
            }
            for way in end.ways() {
                writeln!(out, "programmator answer {id} {way}")?;
            }
            return Ok(());
        }
    };
    let kind = approval.kind;
    let for_run = if approval.edited_from.is_none() { " [--for-run]" } else { "" };
    match Question::of(approval).shown() {
        Shown::Asked(text, _) => {
            write!(out, "{head}\n{text}")?;
            if one.interrupted {
                return Ok(writeln!(out, "\n{}", gone(&one.ticket))?);
            }
            let (yes, no) = match kind {
                ApprovalKind::Question => ("NUMBER, or your own text".to_owned(), "deny [why]"),
                ApprovalKind::Call => (format!("allow{for_run}"), "deny [what to do instead]"),
                _ => ("allow".to_owned(), "deny [what to do instead]"),
            };
            writeln!(out, "\nprogrammator answer {id} {yes}\nprogrammator answer {id} {no}").map_err(CliError::from)
        }
        Shown::Denied(why, _) => Err(only_on_screen(&why)),
    }
}

/// Why it cannot be answered now.
pub(super) fn gone(ticket: &TicketId) -> String {
    format!("{ticket} is not running: `programmator resume {ticket}` resumes it, and asks again")
}

pub(super) fn only_on_screen(why: &str) -> CliError {
    CliError::failure(format!("{}: answer it on the screen", why.trim_start_matches("denied: ")))
}

/// It is the question's name, or the beginning of it. One that was asked again has to be typed whole: what was seen of it is
/// what it was before.
pub(super) fn is_named(one: &Waiting, typed: &str) -> bool {
    let may_begin = one.question().is_some_and(|asked| asked.id.revision == 0) && typed.len() >= SHORTEST;
    one.name == typed || may_begin && one.name.starts_with(typed)
}

/// What waits by this name, the only thing that waits for this ticket, or the only question whose name begins so.
fn found(waiting: Vec<Waiting>, id: &str, is_meant: impl Fn(&RunSummary) -> bool) -> Result<Waiting, CliError> {
    let known = waiting.iter().map(|one| one.name.as_str()).collect::<Vec<_>>().join(", ");
    let ways: [&dyn Fn(&Waiting) -> bool; 3] =
        [&|one| one.name == id, &|one| one.ticket.as_str() == id && is_meant(&one.summary), &|one| is_named(one, id)];
    let way = ways.into_iter().find(|way| waiting.iter().any(way));
    let mut found: Vec<Waiting> = waiting.into_iter().filter(|one| way.is_some_and(|way| way(one))).collect();
    let id = clean_line(id, 40);
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(one), false) if found.iter().any(|other| other.summary.ticket_path != one.summary.ticket_path) => {
            let folders: BTreeSet<&str> = found.iter().chain([&one]).map(|one| one.folder.as_str()).collect();
            let folders = folders.into_iter().collect::<Vec<_>>().join(", ");
            Err(CliError::usage(format!(
                "several repositories have a ticket `{id}` ({}): use the name of the question from `programmator queue`",
                clean_line(&folders, 400)
            )))
        }
        (Some(_), false) => {
            Err(CliError::usage(format!("`{id}` has several questions: `programmator queue` lists them")))
        }
        (None, _) if known.is_empty() => Err(CliError::usage(format!("no question `{id}`; none are waiting"))),
        (None, _) => Err(CliError::usage(format!("no question `{id}`; waiting: {known}"))),
    }
}

/// What waits in all runs. What a hook of an own session has left behind that was killed is closed.
pub(super) fn waiting(store: &Store) -> Result<Vec<Waiting>, CliError> {
    Folds::default().waiting(store)
}

/// The same of one run only.
pub(super) fn waiting_in(store: &Store, run: RunId) -> Result<Vec<Waiting>, CliError> {
    let Some((summary, _)) = store.run(run)? else { return Ok(Vec::new()) };
    Folds::default().waiting_of(store, &HashMap::new(), vec![summary])
}

/// The runs in which something waits, each folded as far as its records have been read.
#[derive(Default)]
pub(super) struct Folds(BTreeMap<RunId, Folded>);

/// A run, folded.
#[derive(Default)]
struct Folded {
    /// Its records are read up to here.
    seq: u64,
    state: State,
    /// Its records that [`Decision::all`] looks at.
    about: Vec<Arc<Stored>>,
    found: Vec<Named>,
}

/// By its name and in words.
type Named = (String, String, Subject);

impl Folded {
    /// With what was recorded since. What it waited for when its summary was read may be over.
    fn fold(&mut self, store: &Store, run: RunId) -> Result<(), StoreError> {
        for stored in store.load_after(run, self.seq)?.records {
            apply(&mut self.state, &stored);
            self.seq = stored.seq;
            if Decision::is_about(&stored.record) {
                self.about.push(stored);
            }
        }
        let asked = self.state.approvals.iter();
        let asked = asked.map(|asked| (name(&asked.id), asked.words(), Subject::Question(Box::new((**asked).clone()))));
        let decisions = Decision::all(run, &self.state, &self.about).into_iter();
        let decisions = decisions
            .map(|decision| (decision.name.clone(), decision.words.clone(), Subject::Decision(Box::new(decision))));
        self.found = asked.chain(decisions).collect();
        Ok(())
    }
}

impl Folds {
    /// As [`waiting`].
    pub(super) fn waiting(&mut self, store: &Store) -> Result<Vec<Waiting>, CliError> {
        let last = store.last_seqs()?;
        self.waiting_of(store, &last, store.runs()?)
    }

    /// `last`: the last record of each run, read before these: what is recorded in between is folded with the next look.
    fn waiting_of(
        &mut self,
        store: &Store,
        last: &HashMap<RunId, u64>,
        runs: Vec<RunSummary>,
    ) -> Result<Vec<Waiting>, CliError> {
        let mut out = Vec::new();
        // A paused run may have a disputed phase, for which it does not wait.
        let may_wait = |run: &RunSummary| match run.state {
            RunState::Paused | RunState::Parked => true,
            _ => run.needs.is_some(),
        };
        let mut before = std::mem::take(&mut self.0);
        for run in runs.into_iter().filter(|run| run.state != RunState::Ended) {
            if !may_wait(&run) {
                // It may ask again in a moment.
                self.0.extend(before.remove_entry(&run.run));
                continue;
            }
            let run = store.as_seen(run)?;
            let interrupted = run.owner() == Owner::Nobody;
            if interrupted && run.is_own_session() {
                own_session::settle(store, &run, &SystemClock);
                continue;
            }
            let mut folded = before.remove(&run.run).unwrap_or_default();
            let is_known = last.get(&run.run) == Some(&folded.seq);
            match if is_known { Ok(()) } else { folded.fold(store, run.run) } {
                Ok(()) => {
                    let told = |(name, words, subject)| told(&run, interrupted, name, words, subject);
                    let told = folded.found.iter().cloned().map(told);
                    // A pause is over with its program.
                    out.extend(told.filter(|one| !(interrupted && one.is_paused())));
                    self.0.insert(run.run, folded);
                }
                // Those of the others are told all the same.
                Err(error) => {
                    let why = clean_line(&error.to_string(), 400);
                    // Nobody may be reading.
                    let _ = writeln!(std::io::stderr(), "the records of {} cannot be read: {why}", run.ticket);
                }
            }
        }
        out.sort_by_key(Waiting::since);
        Ok(out)
    }
}

fn told(run: &RunSummary, interrupted: bool, name: String, words: String, subject: Subject) -> Waiting {
    Waiting {
        summary: run.clone(),
        name,
        run: run.run,
        ticket: run.ticket.clone(),
        title: run.title.clone(),
        folder: run.folder.clone(),
        words,
        interrupted,
        subject,
    }
}

/// The end of the call's id; a call that is asked about again has another name, so that nobody answers what they have not seen.
pub(super) fn name(id: &QuestionId) -> String {
    let start = id.call.char_indices().rev().nth(NAME - 1).map_or(0, |(at, _)| at);
    let end: String = id.call[start..].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // A word that begins with a dash is an option.
    let end = if end.starts_with('-') { format!("q{end}") } else { end };
    if id.revision == 0 { end } else { format!("{end}.{}", id.revision) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::store::{Append, Holder};
    use crate::domain::record::Record;
    use crate::tui::sample;

    /// A paused run in this folder sees these commands.
    async fn sees(store: &Store, run: &str, folder: &str, commands: &str) {
        let summary = RunSummary { run: sample::run(run), state: RunState::Paused, ..sample::seen("tk-1", folder) };
        let records = vec![Record::ValidationChangeSeen { commands: vec![commands.to_owned()] }];
        let (run, ticket, time) = (summary.run, summary.ticket.clone(), Timestamp::from_millis(1));
        store.append(Append { run, ticket, time, records, summary }).await.unwrap();
    }

    #[tokio::test]
    async fn a_run_that_waits_is_folded_once_for_each_change() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        sees(&store, "a", "/w/shop", "make").await;
        let mut folds = Folds::default();
        assert_eq!(folds.waiting(&store).unwrap().len(), 1);
        // What is known is not folded again.
        folds.0.values_mut().for_each(|folded| folded.found.clear());
        assert_eq!(folds.waiting(&store).unwrap().len(), 0);
        sees(&store, "a", "/w/shop", "make check").await;
        let waiting = folds.waiting(&store).unwrap();
        let Subject::Decision(decision) = &waiting[0].subject else { panic!("it is one") };
        assert!(decision.text.contains("make check"), "{}", decision.text);
    }

    #[test]
    fn a_question_is_named_by_the_beginning_of_its_name_unless_it_is_asked_again() {
        let asked = |call: &str, revision| {
            let approval =
                Approval { id: QuestionId { call: call.into(), revision }, ..sample::asks(call, "Bash", "{}", 1) };
            let summary = sample::seen("tk-1", "/w");
            let subject = Subject::Question(Box::new(approval));
            told(&summary, false, name(&QuestionId { call: call.into(), revision }), String::new(), subject)
        };
        let of = |typed: &str| found(vec![asked("toolu_afa627d8", 0), asked("toolu_9d2bcc10", 0)], typed, |_| true);
        assert_eq!(of("afa6").unwrap().name, "afa627d8");
        assert_eq!(of("9d2bcc10").unwrap().name, "9d2bcc10");
        assert!(of("9d2").is_err(), "too short");
        assert!(of("tk-1").unwrap_err().message.contains("has several questions"));
        let again = found(vec![asked("toolu_afa627d8", 1)], "afa627d8", |_| true);
        assert!(again.is_err(), "nobody answers what they have not seen");
    }

    #[tokio::test]
    async fn a_run_that_was_paused_waits_for_the_person_unless_its_program_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let file = folder.path().join("tk-1.md");
        std::fs::write(&file, "").unwrap();
        let seen = sample::seen("tk-1", "/w");
        let ticket_path = file.display().to_string();
        let summary = RunSummary { run: sample::run("a"), state: RunState::Paused, ticket_path, ..seen };
        let (run, ticket, time) = (summary.run, summary.ticket.clone(), Timestamp::from_millis(1));
        let records = vec![Record::PauseAsked, Record::Paused];
        store.append(Append { run, ticket: ticket.clone(), time, records, summary }).await.unwrap();
        assert!(waiting(&store).unwrap().is_empty(), "nobody works on it");
        let holder = Holder { pid: std::process::id(), ticket, run: Some(run), since: time };
        let _lock = store.lock_ticket(&file, &holder).unwrap();
        let waits = waiting(&store).unwrap();
        let Subject::Decision(decision) = &waits[0].subject else { panic!("it is one") };
        assert_eq!((waits[0].words.as_str(), decision.ways()), ("paused by you", vec!["resume".to_owned()]));
    }

    #[tokio::test]
    async fn of_two_clones_that_of_this_directory_is_meant_and_elsewhere_both_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        sees(&store, "a", "/w/shop", "make").await;
        sees(&store, "b", "/w/blog", "make").await;
        let of = |folder: &str| find(&store, "tk-1", Path::new(folder)).map(|one| one.folder);
        assert_eq!(of("/w/shop").unwrap(), "/w/shop");
        assert_eq!(of("/w/blog/src").unwrap(), "/w/blog");
        let why = of("/elsewhere").unwrap_err().message;
        assert!(why.contains("several repositories have a ticket `tk-1` (/w/blog, /w/shop)"), "{why}");
    }
}
