//! `programmator queue` and `programmator answer`: what waits for the person in runs of any program, and an answer from
//! outside of it.
//!
//! A question is closed by a record of its run, whoever answers and wherever: the first answer counts.

use super::error::CliError;
use super::question::{Question, Shown};
use super::session::Session;
use crate::adapters::store::Store;
use crate::base::id::{RunId, TicketId};
use crate::base::text::clean_line;
use crate::base::time::{Timestamp, human};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, Answered, AnsweredBy, Approval, ApprovalKind, QuestionId, Scope};
use crate::domain::command::UserCommand;
use crate::domain::record::{Record, Stored};
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::orchestrator::apply::folded;
use crate::runtime::heard::{Unsaid, say};
use crate::runtime::offline::state_of;

use clap::Args;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Characters at the end of a call's id that name its question.
const NAME: usize = 8;
/// Columns of a question in the list.
const WORDS: usize = 100;
/// How long an answer may take to be recorded, and how often is looked.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

/// An answer.
#[derive(Debug, Clone, Args)]
pub struct AnswerArgs {
    /// The question, as `programmator queue` lists it.
    pub id: String,
    /// `allow`, or `deny` and what Claude is to do instead; to Claude's own questions the number of an option or your words,
    /// one argument for each question.
    #[arg(value_name = "ANSWER", required = true)]
    pub answer: Vec<String>,
    /// Allow this call for the rest of the run.
    #[arg(long)]
    pub for_run: bool,
}

/// What a run waits for. `queue --json`: add, never rename.
#[derive(Debug, Serialize)]
struct Waiting {
    /// What `answer` takes; `None`: only a screen takes the answer.
    name: Option<String>,
    run: RunId,
    ticket: TicketId,
    title: String,
    folder: String,
    /// The call or the question in a few words.
    words: String,
    /// No program works on the run: it has to be resumed before it can be answered.
    interrupted: bool,
    /// The question; `None`: a draft, proposed phases or changed validation commands.
    #[serde(flatten)]
    approval: Option<Approval>,
    #[serde(skip)]
    summary: RunSummary,
}

impl Waiting {
    fn since(&self) -> Timestamp {
        self.approval.as_ref().map_or(self.summary.updated, |approval| approval.asked)
    }

    fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("–")
    }
}

/// Prints what waits, the oldest first.
pub fn list(out: &mut dyn Write, session: &Session, json: bool) -> Result<(), CliError> {
    let waiting = waiting(&session.store_to_read()?)?;
    if json {
        return Ok(writeln!(out, "{}", crate::base::json::pretty(&waiting)?)?);
    }
    if waiting.is_empty() {
        return Ok(writeln!(out, "No question waits for you.")?);
    }
    let now = session.clock().now();
    let wide = |text: fn(&Waiting) -> &str| waiting.iter().map(|one| text(one).chars().count()).max().unwrap_or(0);
    let (names, tickets) = (wide(Waiting::label), wide(|one| one.ticket.as_str()));
    for one in &waiting {
        let age = human(now.since(one.since()));
        let words = clean_line(&one.words, WORDS);
        let how = match &one.name {
            _ if one.interrupted => "  (interrupted: resume the run to answer)",
            None => "  (answer it on the screen)",
            Some(_) => "",
        };
        writeln!(out, "{:names$}  {:tickets$}  {age:>5}  {words}{how}", one.label(), one.ticket.as_str())?;
    }
    if waiting.iter().any(|one| one.name.is_some() && !one.interrupted) {
        writeln!(
            out,
            "\n`programmator queue NAME` shows one whole, `programmator answer NAME allow` or `deny` answers it."
        )?;
    }
    Ok(())
}

/// Prints one question whole, and how it is answered.
pub fn show(out: &mut dyn Write, session: &Session, id: &str) -> Result<(), CliError> {
    let (_, approval) = find(waiting(&session.store_to_read()?)?, id)?;
    let kind = approval.kind;
    match Question::of(approval).shown() {
        Shown::Asked(text, _) => {
            write!(out, "{text}")?;
            let (yes, no) = match kind {
                ApprovalKind::Question => ("NUMBER, or your words", "deny [why]"),
                ApprovalKind::Call => ("allow [--for-run]", "deny [what to do instead]"),
                _ => ("allow", "deny [what to do instead]"),
            };
            writeln!(out, "\nprogrammator answer {id} {yes}\nprogrammator answer {id} {no}").map_err(CliError::from)
        }
        Shown::Denied(why, _) => Err(only_on_screen(&why)),
    }
}

/// Answers a question.
pub async fn answer(out: &mut dyn Write, session: &Session, args: &AnswerArgs) -> Result<(), CliError> {
    let store = session.store()?;
    let (one, approval) = find(waiting(&store)?, &args.id)?;
    if one.interrupted {
        return Err(CliError::failure(format!(
            "no program works on {} now: `programmator resume {}` goes on with it, and asks again",
            one.ticket, one.ticket
        )));
    }
    let id = approval.id.clone();
    let answer = read(approval, args)?;
    let command = UserCommand::AnswerApproval { id: id.clone(), answer: answer.clone() };
    let said = say(&store, &one.summary, command, Answerer::COMMAND_LINE).await;
    let is_refused = matches!(said, Err(Unsaid::Refused(_)));
    match (end(&store, one.run, &id, !is_refused).await?, said) {
        // Whoever has ended before it could say so has heard it all the same.
        (Found::Closed(end), _) if !is_refused && end.is_ours(&answer) => Ok(writeln!(out, "{}", end.words)?),
        (Found::Closed(end), _) => Err(CliError::failure(format!("too late: {}", end.words))),
        (_, Err(Unsaid::Refused(why))) => Err(CliError::failure(format!("not answered: {why}"))),
        (_, Err(Unsaid::Unanswered(why))) => Err(CliError::failure(format!("not known to be answered: {why}"))),
        (Found::Asked, Ok(())) => Err(CliError::failure(
            "sent, and not yet acted on: `programmator queue` shows whether the question still waits",
        )),
        (Found::Gone, Ok(())) => {
            Err(CliError::failure("not answered: the rules do not let it through as it is; it is asked again"))
        }
    }
}

/// How a question stands.
enum Found {
    Closed(End),
    Asked,
    /// Another has taken its place.
    Gone,
}

/// How the question came to its end. What the rules say of an answer takes them a moment: `waits` for that.
async fn end(store: &Store, run: RunId, id: &QuestionId, waits: bool) -> Result<Found, CliError> {
    let begun = Instant::now();
    loop {
        let records = store.load(run)?.records;
        if let Some(end) = records.iter().rev().find_map(|stored| end_of(stored, id)) {
            return Ok(Found::Closed(end));
        }
        if !folded(records).approvals.iter().any(|asked| asked.id == *id) {
            return Ok(Found::Gone);
        }
        if !waits || begun.elapsed() > PATIENCE {
            return Ok(Found::Asked);
        }
        sleep(LOOK).await;
    }
}

/// How a question came to its end.
struct End {
    answered: Option<(Answer, AnsweredBy)>,
    words: String,
}

impl End {
    fn is_ours(&self, answer: &Answer) -> bool {
        let Some((given, AnsweredBy::Person(by))) = &self.answered else { return false };
        let is_same = match (given, answer) {
            // A no without words is recorded with those that Claude is told then.
            (Answer::Deny { .. }, Answer::Deny { words }) if words.is_empty() => true,
            (given, answer) => given == answer,
        };
        is_same && *by == Answerer::COMMAND_LINE
    }
}

fn end_of(stored: &Stored, wanted: &QuestionId) -> Option<End> {
    match &stored.record {
        Record::ApprovalAnswered(Answered { id, answer, by }) if id == wanted => {
            let what = match answer {
                Answer::Allow { scope: Scope::Once, .. } => "allowed",
                Answer::Allow { .. } => "allowed for this run",
                Answer::Deny { .. } => "denied",
            };
            let who = if let AnsweredBy::Person(by) = by { format!("by {by}") } else { "by itself".to_owned() };
            Some(End { answered: Some((answer.clone(), by.clone())), words: format!("{what} {who}") })
        }
        Record::ApprovalVoid(void) if void.id == *wanted => {
            Some(End { answered: None, words: clean_line(&void.why, WORDS) })
        }
        _ => None,
    }
}

/// What was typed, as an answer.
fn read(approval: Approval, args: &AnswerArgs) -> Result<Answer, CliError> {
    let (kind, id) = (approval.kind, &args.id);
    if args.for_run && kind != ApprovalKind::Call {
        return Err(CliError::usage("--for-run is for calls of tools"));
    }
    let mut question = Question::of(approval);
    if let Shown::Denied(why, _) = question.shown() {
        return Err(only_on_screen(&why));
    }
    let words = args.answer[1..].join(" ");
    match (args.answer[0].as_str(), kind) {
        ("deny", _) if args.for_run => Err(CliError::usage("--for-run goes with `allow`")),
        // Whatever the words are, they never allow.
        ("deny", _) => Ok(Answer::Deny { words }),
        (_, ApprovalKind::Question) => {
            let lines = if question.count() == 1 { vec![args.answer.join(" ")] } else { args.answer.clone() };
            let fits = lines.len() == question.count();
            let answer = lines.iter().filter(|_| fits).find_map(|line| question.answer(line));
            answer.ok_or_else(|| {
                CliError::usage(format!(
                    "one argument for each of Claude's {} questions, in quotes: `programmator queue {id}` shows them",
                    question.count()
                ))
            })
        }
        ("allow", _) if words.is_empty() => match question.answer("yes") {
            Some(Answer::Allow { input, .. }) if args.for_run => Ok(Answer::Allow { input, scope: Scope::Ticket }),
            Some(answer) => Ok(answer),
            None => Err(CliError::failure("this question cannot be answered here")),
        },
        _ => Err(CliError::usage(format!(
            "answer `allow`, or `deny` and what to do instead: `{}`",
            args.answer.join(" ")
        ))),
    }
}

fn only_on_screen(why: &str) -> CliError {
    CliError::failure(format!("{}: answer it on the screen", why.trim_start_matches("denied: ")))
}

fn find(waiting: Vec<Waiting>, id: &str) -> Result<(Waiting, Approval), CliError> {
    let known = waiting.iter().filter_map(|one| one.name.clone()).collect::<Vec<_>>().join(", ");
    let mut named = waiting
        .into_iter()
        .filter(|one| one.name.as_deref() == Some(id))
        .filter_map(|mut one| one.approval.take().map(|approval| (one, approval)));
    let id = clean_line(id, 40);
    match (named.next(), named.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(CliError::usage(format!("two questions are named {id}: answer them on the screen"))),
        (None, _) if known.is_empty() => Err(CliError::usage(format!("no question {id} waits; none waits"))),
        (None, _) => Err(CliError::usage(format!("no question {id} waits; these wait: {known}"))),
    }
}

fn waiting(store: &Store) -> Result<Vec<Waiting>, CliError> {
    let mut out = Vec::new();
    for run in store.runs()?.into_iter().filter(|run| run.state != RunState::Ended && run.needs.is_some()) {
        let run = store.as_seen(run)?;
        let interrupted = run.owner() == Owner::Nobody;
        match state_of(store, run.run) {
            Ok(state) if state.approvals.is_empty() => out.push(told(&run, interrupted, None)),
            Ok(state) => {
                out.extend(state.approvals.iter().map(|asked| told(&run, interrupted, Some((**asked).clone()))));
            }
            // Those of the others are told all the same.
            Err(error) => {
                let why = clean_line(&error.to_string(), 400);
                writeln!(std::io::stderr(), "the records of {} cannot be read: {why}", run.ticket)?;
            }
        }
    }
    out.sort_by_key(Waiting::since);
    Ok(out)
}

fn told(run: &RunSummary, interrupted: bool, approval: Option<Approval>) -> Waiting {
    Waiting {
        summary: run.clone(),
        name: approval.as_ref().map(|approval| name(&approval.id)),
        run: run.run,
        ticket: run.ticket.clone(),
        title: run.title.clone(),
        folder: run.folder.clone(),
        words: approval.as_ref().map_or_else(|| run.needs.clone().unwrap_or_default(), Approval::words),
        interrupted,
        approval,
    }
}

/// The end of the call's id; a call that is asked about again has another name, so that nobody answers what they have not seen.
fn name(id: &QuestionId) -> String {
    let start = id.call.char_indices().rev().nth(NAME - 1).map_or(0, |(at, _)| at);
    let end: String = id.call[start..].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // A word that begins with a dash is an option.
    let end = if end.starts_with('-') { format!("q{end}") } else { end };
    if id.revision == 0 { end } else { format!("{end}.{}", id.revision) }
}
