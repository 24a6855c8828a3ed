//! `programmator answer`: the person's answer to a question of a run, whichever program works on it.
//!
//! A question is closed by a record of its run, whoever answers and wherever: the first answer counts.

use super::decision::settle::{About, LOOK, PATIENCE};
use super::ended::settle::Answering;
use super::error::CliError;
use super::phase::{self, PhaseCommand};
use super::question::{Question, Shown};
use super::queue::{Subject, WORDS, find, gone, is_named, name, only_on_screen};
use super::session::Session;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, Answered, AnsweredBy, Approval, ApprovalKind, NO, NO_ANSWER, QuestionId, Scope};
use crate::domain::command::UserCommand;
use crate::domain::end_answer::EndAnswered;
use crate::domain::record::Record;
use crate::runtime::heard::{Unsaid, say};
use clap::Args;
use std::io::{Write, sink};
use std::time::Instant;
use tokio::time::sleep;

/// In how many of the last runs a question is looked for that waits no more.
const LAST: usize = 20;
/// The kinds of records that open a question, and that close it.
const ASKED: &str = "approval_asked";
const ANSWERED: &str = "approval_answered";
const VOID: &str = "approval_void";

/// An answer.
#[derive(Debug, Clone, Args)]
pub struct AnswerArgs {
    /// The question, as `programmator queue` lists it.
    #[arg(value_name = "NAME")]
    pub id: String,
    /// `allow`, or `deny`, with what Claude should do instead; for Claude's own questions the number of an option or your
    /// text, one argument per question. For drafts, proposed phases, changed validation commands, disputed phases and ended
    /// runs, one of the answers listed by `programmator queue NAME`.
    #[arg(value_name = "ANSWER", required = true)]
    pub answer: Vec<String>,
    /// Allow this call for the rest of the run.
    #[arg(long)]
    pub for_run: bool,
    /// Treat a number as your answer, not as an option.
    #[arg(long)]
    pub words: bool,
}

/// Answers a question.
pub async fn answer(out: &mut dyn Write, session: &Session, args: &AnswerArgs) -> Result<(), CliError> {
    let store = session.store()?;
    let one = match find(&store, &args.id, &session.folder) {
        Ok(found) => found,
        Err(none) => return Err(closed(&store, &args.id)?.map_or(none, |end| too_late(&end))),
    };
    if !is_named(&one, &args.id) && args.answer[0] != "deny" {
        return Err(CliError::usage(format!(
            "`{}` is not the name of a question, and a newer one may be waiting: `programmator queue {}` shows what is",
            clean_line(&args.id, 40),
            one.ticket
        )));
    }
    if one.interrupted {
        return Err(CliError::failure(gone(&one.ticket)));
    }
    let approval = match one.subject {
        Subject::Question(approval) => *approval,
        Subject::Decision(decision) => {
            let about = About { run: &one.summary, decision: &decision };
            return decide(out, session, &store, about, args).await;
        }
        Subject::Ended(ended) => {
            if args.for_run || args.words {
                return Err(CliError::usage("--for-run and --words only work with Claude's questions"));
            }
            let (answer, words) = ended.read(&args.answer).map_err(CliError::usage)?;
            let said = EndAnswered { answer, words, by: Answerer::COMMAND_LINE, failed: None };
            let told = Answering { store, clock: session.clock() }.answer(&ended, said).await?;
            return Ok(writeln!(out, "{told}")?);
        }
    };
    let (id, kind) = (approval.id.clone(), approval.kind);
    let answer = read(approval, args)?;
    let command = UserCommand::AnswerApproval { id: id.clone(), answer: answer.clone() };
    let said = say(&store, &one.summary, command, Answerer::COMMAND_LINE).await;
    let is_refused = matches!(said, Err(Unsaid::Refused(_)));
    match (end(&store, one.run, &id, !is_refused).await?, said) {
        // Whoever has ended before it could say so has heard it all the same.
        (Found::Closed(end), _) if !is_refused && end.is_by(&Answerer::COMMAND_LINE, &answer) => {
            Ok(writeln!(out, "{}", end.of(kind).words)?)
        }
        (Found::Closed(end), _) => Err(too_late(&end.of(kind))),
        (_, Err(Unsaid::Refused(why))) => Err(CliError::failure(format!("not answered: {why}"))),
        (_, Err(Unsaid::Unanswered(why))) => Err(CliError::failure(format!("sent, but not confirmed: {why}"))),
        (Found::Asked(_), Ok(())) => Err(CliError::failure(
            "sent, but not applied yet: `programmator queue` shows whether the question is still waiting",
        )),
        (Found::Gone, Ok(())) => {
            Err(CliError::failure("not answered: the rules do not allow it as it is; asking again"))
        }
    }
}

/// Answers what is no question of Claude's.
async fn decide(
    out: &mut dyn Write,
    session: &Session,
    store: &Store,
    about: About<'_>,
    args: &AnswerArgs,
) -> Result<(), CliError> {
    if args.for_run || args.words {
        return Err(CliError::usage("--for-run and --words only work with Claude's questions"));
    }
    let file = &about.run.ticket_path;
    let accept = async |phase: String, reason: String| {
        phase::run(&mut sink(), session, &PhaseCommand::accept(file, phase, reason)).await.map(drop)
    };
    let told = about.decide(store, &args.answer, Answerer::COMMAND_LINE, accept).await?;
    Ok(writeln!(out, "{}: {told}", about.run.ticket)?)
}

fn too_late(end: &End) -> CliError {
    CliError::failure(format!("too late: {}", end.words))
}

/// How the question of this name came to its end, in one of the last runs.
fn closed(store: &Store, wanted: &str) -> Result<Option<End>, CliError> {
    for run in store.runs()?.into_iter().take(LAST) {
        let named = |record| match record {
            Record::ApprovalAsked(approval) if name(&approval.id) == wanted => Some(approval),
            _ => None,
        };
        // What cannot be read has its own words elsewhere.
        let Ok(Some(asked)) = store.newest_of(run.run, &[ASKED], named) else { continue };
        if let Found::Closed(end) = look(store, run.run, &asked.id)? {
            return Ok(Some(end.of(asked.kind)));
        }
    }
    Ok(None)
}

/// How a question stands.
pub(super) enum Found {
    Closed(End),
    Asked(Box<Approval>),
    /// Another has taken its place.
    Gone,
}

/// How the question came to its end. What the rules say of an answer takes them a moment: `waits` for that.
pub(super) async fn end(store: &Store, run: RunId, id: &QuestionId, waits: bool) -> Result<Found, CliError> {
    let begun = Instant::now();
    loop {
        match look(store, run, id)? {
            Found::Asked(_) if waits && begun.elapsed() <= PATIENCE => sleep(LOOK).await,
            found => return Ok(found),
        }
    }
}

/// How the question stands now, by the newest record about it: however long the run, only what is newer is read.
pub(super) fn look(store: &Store, run: RunId, id: &QuestionId) -> Result<Found, CliError> {
    let mut is_replaced = false;
    let found = store.newest_of(run, &[ASKED, ANSWERED, VOID], |record| {
        if let Some(end) = end_of(&record, id) {
            return Some(Found::Closed(end));
        }
        match record {
            Record::ApprovalAsked(asked) if asked.id == *id && !is_replaced => Some(Found::Asked(Box::new(asked))),
            // The same call, asked about anew: what came before may have had its end.
            Record::ApprovalAsked(asked) => {
                is_replaced |= asked.id.call == id.call;
                None
            }
            _ => None,
        }
    })?;
    Ok(found.unwrap_or(Found::Gone))
}

/// How a question came to its end.
pub(super) struct End {
    answered: Option<(Answer, AnsweredBy)>,
    pub(super) words: String,
}

impl End {
    /// In the words of this kind of question: Claude's own are not allowed, but answered.
    pub(super) fn of(self, kind: ApprovalKind) -> Self {
        let is_own = kind == ApprovalKind::Question;
        let words = if is_own { self.words.replacen("allowed", "answered", 1) } else { self.words };
        Self { words, ..self }
    }

    /// The same; `with_words`: and those that were given.
    pub(super) fn told(self, kind: Option<ApprovalKind>, with_words: bool) -> String {
        let given = match self.answered.as_ref().filter(|_| with_words) {
            Some((Answer::Allow { input, .. }, _)) if kind == Some(ApprovalKind::Question) => {
                let whole = serde_json::from_str::<serde_json::Value>(input).unwrap_or_default();
                let answers = whole["answers"].as_object().into_iter().flat_map(serde_json::Map::values);
                answers.filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join("; ")
            }
            Some((Answer::Deny { words }, AnsweredBy::Person(_))) if words != NO && words != NO_ANSWER => words.clone(),
            _ => String::new(),
        };
        let words = match kind {
            Some(kind) => self.of(kind).words,
            None => self.words,
        };
        if given.is_empty() { words } else { format!("{words}: {}", clean_line(&given, 10 * WORDS)) }
    }

    /// With a yes.
    pub(super) fn is_yes(&self) -> bool {
        matches!(self.answered, Some((Answer::Allow { .. }, _)))
    }

    /// It is this answer, given by this one.
    pub(super) fn is_by(&self, wanted: &Answerer, answer: &Answer) -> bool {
        let Some((given, AnsweredBy::Person(by))) = &self.answered else { return false };
        let is_same = match (given, answer) {
            // A no without words is recorded with those that Claude is told then.
            (Answer::Deny { .. }, Answer::Deny { words }) if words.is_empty() => true,
            // A yes may reach less far than was asked for.
            (Answer::Allow { input: given, .. }, Answer::Allow { input, .. }) => given == input,
            (given, answer) => given == answer,
        };
        is_same && by == wanted
    }
}

fn end_of(record: &Record, wanted: &QuestionId) -> Option<End> {
    match record {
        Record::ApprovalAnswered(Answered { id, answer, by }) if id == wanted => {
            let what = match answer {
                Answer::Allow { scope: Scope::Once, .. } => "allowed",
                Answer::Allow { scope: Scope::Kind, .. } => "allowed for this run, with all calls of its kind,",
                Answer::Allow { .. } => "allowed for this run",
                Answer::Deny { .. } => "denied",
            };
            let who = if let AnsweredBy::Person(by) = by { format!("by {by}") } else { "automatically".to_owned() };
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
        return Err(CliError::usage("--for-run only works with tool calls"));
    }
    if args.words && kind != ApprovalKind::Question {
        return Err(CliError::usage("--words only works with Claude's own questions"));
    }
    let mut question = Question::of(approval);
    if let Shown::Denied(why, _) = question.shown() {
        return Err(only_on_screen(&why));
    }
    let words = args.answer[1..].join(" ");
    let is_number = |line: &String| line.trim().parse::<usize>().is_ok();
    let is_numbers = !args.words && args.answer.len() > 1 && args.answer.iter().all(is_number);
    match (args.answer[0].as_str(), kind) {
        ("deny", _) if args.for_run => Err(CliError::usage("--for-run only works with `allow`")),
        // Whatever the words are, they never allow.
        ("deny", _) => Ok(Answer::Deny { words }),
        ("allow", ApprovalKind::Question) if words.is_empty() && !question.has("allow") => {
            Err(CliError::usage("Claude needs an answer: the number of an option, or your own text"))
        }
        (_, ApprovalKind::Question) if args.answer.iter().any(|line| line.trim().is_empty()) => {
            Err(CliError::usage("the answer is empty: give the number of an option or your own text, or `deny`"))
        }
        (_, ApprovalKind::Question) if is_numbers && question.count() == 1 => Err(CliError::usage(format!(
            "`{}`: one answer per question; choose several options as `1,2` where Claude allows it, or use --words for your own answer",
            args.answer.join(" ")
        ))),
        (_, ApprovalKind::Question) => {
            let lines = if question.count() == 1 { vec![args.answer.join(" ")] } else { args.answer.clone() };
            if lines.len() != question.count() {
                return Err(CliError::usage(format!(
                    "give one quoted argument for each of Claude's {} questions: see `programmator queue {id}`",
                    question.count()
                )));
            }
            for line in &lines {
                if args.words {
                    if let Some(answer) = question.answer_in_words(line) {
                        return Ok(answer);
                    }
                    continue;
                }
                if let Some(most) = question.misses(line) {
                    return Err(CliError::usage(format!(
                        "no option `{line}`; choose 1 to {most}, or use --words for your own answer"
                    )));
                }
                if let Some(answer) = question.answer(line) {
                    return Ok(answer);
                }
            }
            Err(CliError::failure("this question cannot be answered here"))
        }
        ("allow", _) if words.is_empty() => match question.answer("yes") {
            Some(Answer::Allow { input, .. }) if args.for_run => Ok(Answer::Allow { input, scope: Scope::Ticket }),
            Some(answer) => Ok(answer),
            None => Err(CliError::failure("this question cannot be answered here")),
        },
        _ => Err(CliError::usage(format!(
            "`{}` is not an answer: use `allow` or `deny [REASON]`",
            args.answer.join(" ")
        ))),
    }
}
