//! What a front end may ask, and what it is answered: the one list for screen, command line, and whatever comes. Plain
//! data; `runtime::app` answers. What everybody hears of it is [`News`](super::news::News).
//!
//! What only a screen does (editor, clipboard, background) is no request.

use crate::base::id::RunId;
use crate::base::secret::Secret;
use crate::base::time::Timestamp;
use crate::domain::approval::QuestionId;
use crate::domain::changes::{Changes, Diff, Hunk, Since};
use crate::domain::chat::ChatWanted;
use crate::domain::command::UserCommand;
use crate::domain::commit::{Agreed, CommitPlan, Committed};
use crate::domain::export::Export;
use crate::domain::find::{Batch, Find};
use crate::domain::finding::Finding;
use crate::domain::fork::Forked;
use crate::domain::import::page::{ImportAsk, ImportTold};
use crate::domain::lines::Line;
use crate::domain::machine::Machine;
use crate::domain::passphrase::Checked;
use crate::domain::planning::PlanAsked;
use crate::domain::record::TicketRevised;
use crate::domain::restore::{Plan, Restored, WantedFiles};
use crate::domain::ticket::TicketKey;
use crate::domain::ticket::draft::Draft;
use crate::domain::ticket::revise::{PhasePlace, TicketEdit};
use crate::domain::timeline::Moment;
use crate::domain::wheel::Wheel;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What is asked for where no run is named.
pub const LATEST: &str = "the latest run";

/// Exit code for a ticket that another program works on: `EX_TEMPFAIL` of sysexits.
pub const HELD: u8 = 75;

/// Something that a person wants done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Tell what tickets and runs there are, and from now on what becomes of the runs, whoever works on them.
    ListTickets,
    /// Tell everything about a run, and from now on what becomes of it, whoever works on it.
    Show(RunId),
    /// What a first run would fail for.
    Diagnose,
    /// What a new ticket may begin with: commands that usually check what is here, and the person's templates.
    Suggest,
    /// Leave these tickets out of the table, or take them back into it. Their files stay as they are.
    Archive(Vec<TicketKey>, bool),
    /// Write a new ticket.
    Create(Draft),
    /// Find a ticket by id, part of an id, or path, and work on it.
    Open(String),
    /// Work on a ticket that is known: a fresh run, or the one there is.
    Start(TicketKey),
    /// The same with several, found as by `Open`: those that depend on others of them wait. What comes of each is news.
    StartAll(Vec<String>),
    /// Take a ticket out of the queue of those that wait to be started.
    Unqueue(Vec<TicketKey>),
    /// Have Claude resolve the conflict that the ticket's last run ended with.
    Resolve(TicketKey),
    /// The same, for a ticket that is found as by `Open`.
    ResolveNamed(String),
    /// Have phases drafted for a ticket without any: found as by `Open`, and worked on in a run of its own.
    Plan(String, PlanAsked),
    /// Talk with Claude: in a chat of its own, or in the last one of this directory.
    Chat(ChatWanted),
    /// Take back the tick of every phase of a ticket that nobody works on.
    Reopen(TicketKey),
    /// Go on with an interrupted run: the one named, else the latest of this folder.
    Resume(Option<String>),
    Command(TicketKey, UserCommand),
    /// Tick the box of a phase of the ticket in this file, or untick it, whoever works on the ticket.
    SetBox(PathBuf, BoxOf),
    /// Edit the phases of the ticket in this file, whoever works on the ticket.
    EditPhases(PathBuf, PhasesEdit),
    /// Close the breaker of the ticket in this file, which nobody works on.
    ResetBreaker(PathBuf),
    /// Give up the sessions of the ticket in this file, which nobody works on.
    ResetSessions(PathBuf),
    /// How does the passphrase stand?
    LookUpPassphrase {
        /// The ticket whose question needs it.
        ticket: TicketKey,
        id: QuestionId,
    },
    /// Check a passphrase, and let the call run when it is right. It does not leave this process.
    #[serde(skip)]
    TryPassphrase {
        ticket: TicketKey,
        id: QuestionId,
        secret: Secret,
    },
    /// Put a rule that the person has read into their policy file, and say yes to the call.
    SaveRule {
        ticket: TicketKey,
        id: QuestionId,
        /// YAML list items, exactly as shown.
        rules: String,
        /// The rule that asked: the new ones stand before it.
        before: String,
    },
    /// Which files of the run's directory differ.
    Changes(RunId, Since),
    /// One of them, line by line.
    Diff(RunId, Since, String),
    /// Take back one hunk of such a file.
    Revert(RunId, Since, String, Hunk),
    /// The snapshots of the run's ticket.
    Timeline(RunId),
    /// What restoring files in the run's directory would do.
    PlanRestore(RunId, WantedFiles),
    /// Restore them, while the directory's content is still as the plan names it.
    Restore(RunId, WantedFiles, String),
    /// Fork the run's ticket from this snapshot. The last is the id of the new ticket; empty: any.
    Fork(RunId, String, String),
    /// What a commit of the work of the run's ticket would be.
    PlanCommit(RunId),
    /// Make it.
    Commit(RunId, Agreed),
    /// Write a run, or one iteration of it, as a new file.
    Export(Export),
    /// Open Claude on the session of a paused run for the person, who has the terminal. `ungated`: also where its calls cannot
    /// be judged.
    TakeWheel {
        run: RunId,
        ungated: bool,
    },
    /// Make the directory of this program a git repository.
    InitGit,
    /// The next piece of a search through all runs and tickets.
    Find(Find),
    /// What is at work on the person's other machines.
    Machines,
    /// What can be imported here, or what is to be.
    Import(ImportAsk),
    /// What came of all runs so far.
    Stats,
    /// What they have come to since.
    Report(Timestamp),
    /// Let git end by itself what it commits: the program need not wait for it.
    LeaveCommits,
    /// End all runs.
    Close(Closing),
}

/// A phase's box, as the person means it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxOf {
    pub text: String,
    /// Of several phases with this text, which, from 0.
    pub nth: usize,
    /// It is to be ticked; else its tick is taken back.
    pub done: bool,
}

/// What a person wants done with the phases of a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PhasesEdit {
    /// The ticket's text is changed.
    Text(TicketEdit),
    /// The phase counts as done, for this reason; both go into the ticket.
    Accept(PhasePlace, String),
    /// The phase is left out of the run, or of the next one.
    Skip(PhasePlace),
    /// A change of the ticket's text is taken back, where nobody has changed the same lines since.
    Undo(Box<TicketRevised>),
}

/// How runs are ended; they can be resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closing {
    /// Every iteration comes to its end.
    AfterIteration,
    /// Claude is ended by the ladder.
    Now,
    /// Claude is ended by the ladder, and nothing more is recorded: another program goes on with the runs.
    HandOver,
    /// Everything is killed, and nothing more is recorded.
    Abandon,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// It is done, or on its way: what comes of it is news.
    Done,
    /// All tickets and runs there are have been told.
    /// And the tickets folder.
    Listed(String),
    /// What a first run would fail for, with each fix; nothing: it is all there.
    Diagnosed(Vec<Finding>),
    /// What the person typed is this ticket, which is open now.
    Opened {
        asked: String,
        ticket: TicketKey,
    },
    /// The run has obeyed the command or not, as its records say, and they are stored.
    Decided {
        ticket: TicketKey,
        command: UserCommand,
    },
    /// The command was not carried out; words for the person. Nothing failed by that.
    NotDecided {
        ticket: TicketKey,
        command: UserCommand,
        why: String,
    },
    Refused(Refused),
    BoxSet(BoxOutcome),
    /// The phases of the ticket are edited, or not; what was changed in its text.
    PhasesEdited(TicketKey, BoxOutcome, Option<Box<TicketRevised>>),
    /// Every phase of the ticket is open again.
    Reopened(TicketKey),
    /// What differs, or why that is not known; words for the person.
    Changes(RunId, Since, Result<Changes, String>),
    Diff(RunId, Since, String, Result<Diff, String>),
    /// The hunk of this file is taken back, and what the snapshot of before is called; or why not. Words for the person.
    Reverted(String, Result<String, String>),
    /// The snapshots, oldest first, or why there are none; words for the person.
    Timeline(RunId, Result<Vec<Moment>, String>),
    /// What it would do, or why it cannot be done; words for the person.
    RestorePlanned(RunId, WantedFiles, Result<Plan, String>),
    /// What was restored, or why nothing; words for the person.
    Restored(RunId, Result<Restored, String>),
    /// A ticket was forked, or why not.
    Forked(RunId, Result<Box<Forked>, String>),
    /// What would be committed, or why nothing can be; words for the person.
    CommitPlanned(RunId, Result<Box<CommitPlan>, String>),
    /// The commit, or why it was not made; words of several lines for the person.
    Committed(RunId, Result<Committed, String>),
    /// The person has given the wheel back, or nothing was opened.
    Wheel(Wheel),
    /// The directory is a git repository now, or why not; words for the person.
    GitInitialised(Result<(), String>),
    /// The path of the file, or why there is none; words for the person.
    Exported(RunId, Result<String, String>),
    /// The piece of the search that was asked for so, or why not; words for the person.
    Found(Find, Result<Batch, String>),
    /// All of them, or why they are not known; words for the person.
    Machines(Result<Vec<Machine>, String>),
    /// What can be imported, or what was.
    Import(ImportTold),
    /// The figures, or why there are none; words for the person.
    Stats(Result<Vec<Line>, String>),
    /// What the runs have come to, or why that is not known; words for the person.
    Report(Result<Vec<Line>, String>),
    /// Commands that usually check what is here, likeliest first, and the person's templates by name.
    Suggested {
        checks: Vec<String>,
        templates: Vec<(String, Draft)>,
    },
    /// The ticket is written, or why not; words for the person.
    Created(Result<TicketKey, String>),
    /// It is reset; `changed`: it was not so before.
    Reset {
        changed: bool,
    },
    /// How the passphrase stands, or what became of a try.
    Passphrase {
        ticket: TicketKey,
        id: QuestionId,
        checked: Checked,
    },
    RuleSaved {
        ticket: TicketKey,
        id: QuestionId,
        /// The policy file, or why not; words for the person.
        saved: Result<String, String>,
    },
}

/// What became of a box.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BoxOutcome {
    /// It is so now.
    Done,
    Already,
    /// A program works on the ticket, and has noted it.
    Handed {
        holder: String,
    },
    /// A program works on the ticket and has noted it, and has not said yet what came of it.
    Noted {
        holder: String,
    },
    /// A program works on the ticket, and has not noted it in time: nothing is changed.
    NotTaken {
        holder: String,
    },
    /// A program works on the ticket, and its run does not know the phase.
    Unknown {
        holder: String,
    },
    /// The file could not be written, for this reason.
    NotWritten(String),
}

/// Why a request was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The ticket that it was about, as far as that is known.
    pub ticket: TicketKey,
    /// What happened and what to do.
    pub message: String,
    /// Exit code of a program that can do nothing else (75: held by another program); 0: nothing failed.
    pub exit_code: u8,
    /// What the person typed for it, where it was to be opened.
    pub asked: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::commit::Program;
    use crate::domain::export::Format;
    use crate::domain::finding::Mark;
    use crate::domain::import::item::Source;
    use crate::domain::import::page::{ImportChoice, ImportPage, ImportPlace};
    use serde::de::DeserializeOwned;
    use std::time::Duration;

    fn survives<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(all: &[T]) {
        let text = serde_json::to_string(all).unwrap();
        assert_eq!(serde_json::from_str::<Vec<T>>(&text).unwrap(), all, "{text}");
    }

    #[test]
    fn requests_and_replies_can_be_sent_and_a_passphrase_cannot() {
        let (ticket, id, file) = (TicketKey::unknown("tk-1"), QuestionId::first("c"), PathBuf::from("/t/tk-1.md"));
        let wanted = BoxOf { text: "One".into(), nth: 1, done: true };
        let run = RunId::parse("0192aaaa-0000-7000-8000-000000000001").unwrap();
        let place = ImportPlace { source: Source::Prd, file: Some(file.clone()), new: Some(2) };
        let choice = ImportChoice { key: "a#b".into(), digest: "ab".into() };
        survives(&[
            Request::ListTickets,
            Request::Show(run),
            Request::Suggest,
            Request::Archive(vec![ticket.clone()], true),
            Request::Diagnose,
            Request::Create(Draft { title: "T".into(), ..Draft::default() }),
            Request::Open("tk-1".into()),
            Request::Start(ticket.clone()),
            Request::StartAll(vec!["tk-1".into()]),
            Request::Unqueue(vec![ticket.clone()]),
            Request::Resolve(ticket.clone()),
            Request::ResolveNamed("tk-1".into()),
            Request::Plan("tk-1".into(), PlanAsked { saves: true, ..PlanAsked::default() }),
            Request::Chat(ChatWanted { resume: true, plain: true }),
            Request::Reopen(ticket.clone()),
            Request::Resume(None),
            Request::Command(ticket.clone(), UserCommand::EditCall { id: id.clone(), input: "{}".into() }),
            Request::SetBox(file.clone(), wanted),
            Request::EditPhases(
                file.clone(),
                PhasesEdit::Accept(PhasePlace { text: "One".into(), nth: 0 }, "why".into()),
            ),
            Request::ResetBreaker(file.clone()),
            Request::ResetSessions(file),
            Request::LookUpPassphrase { ticket: ticket.clone(), id: id.clone() },
            Request::SaveRule { ticket: ticket.clone(), id: id.clone(), rules: "- a".into(), before: "b".into() },
            Request::Changes(run, Since::Snapshot("ab".into())),
            Request::Diff(run, Since::Ticket, "a.rs".into()),
            Request::Changes(run, Since::Base),
            Request::Revert(run, Since::Base, "a".into(), Hunk::default()),
            Request::Timeline(run),
            Request::PlanRestore(run, WantedFiles::default()),
            Request::Restore(run, WantedFiles::default(), "ab".into()),
            Request::Fork(run, "ab".into(), "tk-2".into()),
            Request::PlanCommit(run),
            Request::Commit(
                run,
                Agreed {
                    message: "m".into(),
                    programs: vec![Program::default()],
                    without: vec!["a".into()],
                    ..Agreed::default()
                },
            ),
            Request::Export(Export { run, iteration: Some(2), format: Format::Cast, path: "~/a.cast".into() }),
            Request::TakeWheel { run, ungated: true },
            Request::InitGit,
            Request::Find(Find { query: "a".into(), ..Find::default() }),
            Request::Import(ImportAsk::Import(place.clone(), vec![choice])),
            Request::Machines,
            Request::Stats,
            Request::Report(Timestamp::from_millis(1)),
            Request::LeaveCommits,
            Request::Close(Closing::Abandon),
        ]);
        let checked = Checked::Wrong { failures: 2, wait: Duration::from_secs(3) };
        survives(&[
            Reply::Done,
            Reply::Listed("/w/.tickets".into()),
            Reply::Diagnosed(vec![Finding::new("git", Mark::Warn, "none")]),
            Reply::Opened { asked: LATEST.into(), ticket: ticket.clone() },
            Reply::Decided { ticket: ticket.clone(), command: UserCommand::Stop },
            Reply::Refused(Refused { ticket: ticket.clone(), message: "no".into(), exit_code: 75, asked: None }),
            Reply::BoxSet(BoxOutcome::Handed { holder: "pid 1".into() }),
            Reply::Reset { changed: true },
            Reply::Reopened(ticket.clone()),
            Reply::Suggested { checks: vec!["make".into()], templates: vec![("a".into(), Draft::default())] },
            Reply::Changes(run, Since::Ticket, Ok(Changes::default())),
            Reply::Diff(run, Since::Ticket, "a.rs".into(), Err("no".into())),
            Reply::Reverted("a".into(), Ok("restore/1".into())),
            Reply::Timeline(run, Ok(Vec::new())),
            Reply::RestorePlanned(run, WantedFiles::default(), Ok(Plan::default())),
            Reply::Restored(run, Err("no".into())),
            Reply::Forked(run, Ok(Box::default())),
            Reply::CommitPlanned(run, Ok(Box::default())),
            Reply::Committed(run, Ok(Committed { id: "ab".into(), files: 1, trouble: None })),
            Reply::GitInitialised(Err("no".into())),
            Reply::Wheel(Wheel::Ungated("no".into())),
            Reply::Exported(run, Ok("/a.cast".into())),
            Reply::Found(Find::default(), Ok(Batch::default())),
            Reply::Import(ImportTold::Page(place.clone(), Ok(ImportPage::default()))),
            Reply::Import(ImportTold::Done(place, Err("no".into()))),
            Reply::Machines(Ok(vec![Machine::of(None, &Err("no".into()))])),
            Reply::Stats(Ok(vec![Line::Heading("a".into()), Line::Gap])),
            Reply::Report(Err("no".into())),
            Reply::Created(Ok(ticket.clone())),
            Reply::Passphrase { ticket: ticket.clone(), id: id.clone(), checked },
            Reply::RuleSaved { ticket: ticket.clone(), id: id.clone(), saved: Err("no".into()) },
        ]);
        let secret = Request::TryPassphrase { ticket, id, secret: Secret::of("correct horse") };
        assert!(serde_json::to_string(&secret).is_err());
    }
}
