//! Answers to what is asked on the phone, each in its [turn](super::turns).

use super::subject::is;
use super::words::gone;
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::cli::answer::{Found, end, look};
use crate::cli::away::kept::{Asked, Over};
use crate::cli::away::meaning::Given;
use crate::cli::decision::settle::About;
use crate::cli::ended::settle::typed;
use crate::cli::error::CliError;
use crate::cli::question::Question;
use crate::cli::queue::{Subject, Waiting, waiting_in};
use crate::domain::answerer::Answerer;
use crate::domain::approval::{Answer, ApprovalKind, Scope};
use crate::domain::command::UserCommand;
use crate::domain::summary::{Owner, RunState, RunSummary};
use crate::runtime::heard::{Unsaid, say};
use tokio::sync::mpsc;

const NO_LONGER: &str = "Too late: it is no longer waiting.";

/// What they are given with.
pub(super) struct Answers {
    pub(super) store: Store,
    /// The tools whose calls may be allowed all at once.
    pub(super) bulk_tools: Vec<String>,
    /// What is answered may be told with its words.
    pub(super) is_full: bool,
    /// Where the relay hears what came of each decision.
    pub(super) decided: mpsc::UnboundedSender<Settled>,
}

/// How what this message asks was decided; `None`: it was not.
pub(super) type Settled = (i64, Option<Over>);

impl Answers {
    /// Answers what is no question of Claude's.
    pub(super) async fn decide(&self, asked: &Asked, words: &str) -> Result<String, CliError> {
        let mut over = None;
        let told = self.try_decide(asked, words, &mut over).await;
        // Nobody hears it: the relay is ending.
        let _ = self.decided.send((asked.message, over));
        told
    }

    async fn try_decide(&self, asked: &Asked, words: &str, over: &mut Option<Over>) -> Result<String, CliError> {
        let waits = waiting_in(&self.store, asked.run)?;
        let Some(Waiting { subject: Subject::Decision(decision), summary: run, interrupted, .. }) =
            waits.iter().find(|one| is(asked, one))
        else {
            return Ok(NO_LONGER.to_owned());
        };
        if *interrupted {
            return Ok(gone(&run.ticket));
        }
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        if !asked.can_allow && !decision.is_no(&words) {
            return Ok("It cannot be approved here: use the screen, which shows it in full.".to_owned());
        }
        let accept = async |phase: String, reason: String| {
            let args = ["phase", "accept", "--exact", "--", &run.ticket_path, &phase, &reason];
            typed(&run.folder, &args).await.map(drop).map_err(CliError::failure)
        };
        let told = (About { run, decision }).decide(&self.store, &words, Answerer::PHONE, accept).await?;
        let end = format!("{told}, by you (phone)");
        *over = Some(Over { words: end.clone(), is_agreed: !decision.is_no(&words) });
        Ok(end)
    }

    /// Answers a question of Claude's.
    pub(super) async fn answer(&self, asked: &Asked, given: Given) -> Result<String, CliError> {
        let Some(id) = &asked.question else {
            return Ok("Press one of its buttons, or reply with one of its answers.".to_owned());
        };
        let approval = match look(&self.store, asked.run, id)? {
            Found::Asked(approval) => approval,
            Found::Closed(end) => return Ok(format!("Too late: {}", end.told(asked.kind, self.is_full))),
            Found::Gone => return Ok(NO_LONGER.to_owned()),
        };
        let Some(run) = at_work(&self.store, asked.run)? else { return Ok(NO_LONGER.to_owned()) };
        if run.owner() == Owner::Nobody {
            return Ok(if run.is_own_session() { NO_LONGER.to_owned() } else { gone(&run.ticket) });
        }
        let (is_denial, given_all) = (matches!(given, Given::Deny(_)), given == Given::All);
        if !asked.can_allow && !is_denial {
            return Ok("This can only be denied from here: the screen shows it in full.".to_owned());
        }
        let (kind, tool, has_kinds) = (approval.kind, approval.tool.clone(), approval.kinds().is_some());
        let mut question = Question::of(*approval);
        let answer = match (given, kind) {
            (Given::Deny(words), _) => Some(Answer::Deny { words }),
            (Given::Words(words), ApprovalKind::Question) => match question.misses(&words) {
                Some(most) => return Ok(format!("No option {words}: choose 1 to {most}.")),
                None => question.answer(&words),
            },
            (_, ApprovalKind::Question) => return Ok("Claude needs an answer: an option, or your own text.".to_owned()),
            (Given::Allow, _) => question.answer("yes"),
            (Given::All, _) if !has_kinds || !self.bulk_tools.contains(&tool) => {
                return Ok("`all` does not work here: allow it once, or use its button for this run.".to_owned());
            }
            (Given::ForRun | Given::All, ApprovalKind::Call) => {
                let scope = if given_all { Scope::Kind } else { Scope::Ticket };
                match question.answer("yes") {
                    Some(Answer::Allow { input, .. }) => Some(Answer::Allow { input, scope }),
                    other => other,
                }
            }
            (Given::ForRun | Given::All | Given::Words(_), _) => None,
        };
        let Some(answer) = answer else { return Ok("That is not an answer to this question.".to_owned()) };
        tracing::info!(ticket = %run.ticket, %tool, "answered on the phone");
        let command = UserCommand::AnswerApproval { id: id.clone(), answer: answer.clone() };
        let said = say(&self.store, &run, command, Answerer::PHONE).await;
        let is_refused = matches!(said, Err(Unsaid::Refused(_)));
        Ok(match (end(&self.store, run.run, id, !is_refused).await?, said) {
            (Found::Closed(end), _) if !is_refused && end.is_by(&Answerer::PHONE, &answer) => {
                end.told(Some(kind), self.is_full)
            }
            (Found::Closed(end), _) => {
                format!("Too late: {}", end.told(Some(kind), self.is_full))
            }
            (_, Err(Unsaid::Refused(why))) => format!("Not answered: {why}"),
            (_, Err(Unsaid::Unanswered(why))) => format!("Sent, but not confirmed: {why}"),
            (Found::Asked(_), Ok(())) => "Sent, but not applied yet.".to_owned(),
            (Found::Gone, Ok(())) => "Not answered: the rules do not allow it as it is; asking again.".to_owned(),
        })
    }
}

/// How the run stands; `None`: it has ended.
fn at_work(store: &Store, run: RunId) -> Result<Option<RunSummary>, CliError> {
    let Some((run, _)) = store.run(run)?.filter(|(run, _)| run.state != RunState::Ended) else { return Ok(None) };
    Ok(Some(store.as_seen(run)?))
}
