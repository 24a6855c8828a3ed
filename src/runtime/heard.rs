//! What the person decides about a run in another program than the one that works on it: said and heard over that program's
//! socket, and obeyed as if it was decided there.

use crate::adapters::person_socket::{self, PersonSocket};
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::request::{Closing, Reply, Request};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::runtime::app::App;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is said. One of a version that has more to say is not understood, and refused.
#[derive(Serialize, Deserialize)]
pub(super) struct Said {
    ticket: TicketKey,
    /// The run that the person has looked at: phases have its numbers.
    pub(super) run: RunId,
    pub(super) by: Answerer,
    pub(super) command: UserCommand,
}

/// That all runs of the program are to be ended.
#[derive(Serialize, Deserialize)]
struct Close {
    how: Closing,
    by: Answerer,
}

/// What came of it: nothing, or why not, in words for the person.
pub(super) type Came = Result<(), String>;

impl Said {
    pub(super) fn read(said: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(said).map_err(|_| "that process has a different version: restart one of them".to_owned())
    }
}

/// What a program hears that has said something.
pub(super) fn answer(came: &Came) -> String {
    serde_json::to_string(came).unwrap_or_default()
}

/// From now on this program's runs obey what is said to them elsewhere. An error: there can be no socket in the state folder, and
/// they do not; words for the person.
pub fn listen(app: &App, state: &Path) -> Result<(), String> {
    let socket = PersonSocket::open(state).map_err(|error| {
        let fix = match error.kind() {
            std::io::ErrorKind::InvalidInput => "; set PROGRAMMATOR_STATE_DIR to a folder with a shorter path",
            _ => "",
        };
        format!("questions cannot be answered from elsewhere: no socket below {}: {error}{fix}", state.display())
    })?;
    let app = app.clone();
    tokio::spawn(async move {
        let answer = move |said: Vec<u8>| {
            let app = app.clone();
            async move { self::answer(&obey(&app, &said).await) }
        };
        socket.serve(None, answer).await;
    });
    Ok(())
}

async fn obey(app: &App, said: &[u8]) -> Came {
    if let Ok(Close { how, by }) = serde_json::from_slice(said) {
        app.ask(Request::Close(how), by).await;
        return Ok(());
    }
    let Said { ticket, run, by, command } = Said::read(said)?;
    if !app.works_on(&ticket, run).await {
        return Err("the run has ended".to_owned());
    }
    match app.ask(Request::Command(ticket, command), by).await {
        Reply::Decided { .. } => Ok(()),
        Reply::Refused(refused) => Err(refused.message),
        Reply::NotDecided { why, .. } => Err(why),
        _ => Err("the run has ended".to_owned()),
    }
}

/// Why it is not known to be decided; words for the person.
#[derive(Debug, PartialEq, Eq)]
pub enum Unsaid {
    /// It is not, for this reason.
    Refused(String),
    /// The program was told and has not answered: it may be yet, as the run's records will tell.
    Unanswered(String),
}

impl Unsaid {
    pub fn words(self) -> String {
        let (Self::Refused(words) | Self::Unanswered(words)) = self;
        words
    }
}

impl From<String> for Unsaid {
    fn from(words: String) -> Self {
        Self::Refused(words)
    }
}

/// Says it to the program that works on the run; it is decided then, as the run's records tell.
pub async fn say(store: &Store, run: &RunSummary, command: UserCommand, by: Answerer) -> Result<(), Unsaid> {
    if run.is_own_session() && !matches!(command, UserCommand::AnswerApproval { .. }) {
        let words = "is your own Claude session and only accepts answers: do the rest in its terminal";
        return Err(format!("{} {words}", run.ticket).into());
    }
    if run.state == RunState::Ended {
        return Err(format!("the run of {} has ended", run.ticket).into());
    }
    let program = store.ticket_program(Path::new(&run.ticket_path)).map_err(|error| error.to_string())?;
    // Where this program has the ticket, it does not work on a run of it: it would say it to itself for ever.
    let program = program.filter(|program| *program != std::process::id());
    let program = program.ok_or_else(|| format!("{} is not running", run.ticket))?;
    let said = Said { ticket: run.key(), run: run.run, by, command };
    let them = format!("the process running {} (pid {program})", run.ticket);
    tell(store.folder(), program, &said, &them).await
}

/// Has a program end all its runs, and not begin what is only queued there. `them`: how people know it.
pub async fn close(state: &Path, program: u32, how: Closing, by: Answerer) -> Result<(), Unsaid> {
    tell(state, program, &Close { how, by }, &format!("the process with pid {program}")).await
}

async fn tell(state: &Path, program: u32, said: &impl Serialize, them: &str) -> Result<(), Unsaid> {
    let said = serde_json::to_vec(said).map_err(|error| error.to_string())?;
    match person_socket::ask(state, program, &said).await {
        Ok(Some(heard)) => Ok(serde_json::from_str::<Came>(&heard).map_err(|error| error.to_string())??),
        Ok(None) => {
            Err(Unsaid::Unanswered(format!("{them} does not respond; if it is only slow, it will still act on this")))
        }
        Err(why) => Err(format!("{them}: {why}").into()),
    }
}
