//! What the person decides about a run in another program than the one that works on it: said and heard over that program's
//! socket, and obeyed as if it was decided there.

use crate::adapters::person_socket::{self, PersonSocket};
use crate::adapters::store::Store;
use crate::base::id::RunId;
use crate::domain::answerer::Answerer;
use crate::domain::command::UserCommand;
use crate::domain::request::{Reply, Request};
use crate::domain::summary::{RunState, RunSummary};
use crate::domain::ticket::TicketKey;
use crate::runtime::app::App;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What is said. One of a version that has more to say is not understood, and refused.
#[derive(Serialize, Deserialize)]
struct Said {
    ticket: TicketKey,
    /// The run that the person has looked at: phases have its numbers.
    run: RunId,
    by: Answerer,
    command: UserCommand,
}

/// What came of it: nothing, or why not, in words for the person.
type Came = Result<(), String>;

/// From now on this program's runs obey what is said to them elsewhere. Where there can be no socket, they do not.
pub fn listen(app: &App, state: &Path) {
    let socket = match PersonSocket::open(state) {
        Ok(socket) => socket,
        Err(error) => return tracing::warn!(%error, "the runs of this program cannot be answered from other programs"),
    };
    let app = app.clone();
    tokio::spawn(async move {
        let answer = move |said: Vec<u8>| {
            let app = app.clone();
            async move { serde_json::to_string(&obey(&app, &said).await).unwrap_or_default() }
        };
        socket.serve(answer).await;
    });
}

async fn obey(app: &App, said: &[u8]) -> Came {
    let Said { ticket, run, by, command } =
        serde_json::from_slice(said).map_err(|_| "that program has another version: restart one of them".to_owned())?;
    if !app.works_on(&ticket, run) {
        return Err("the run has ended".to_owned());
    }
    match app.ask(Request::Command(ticket, command), by).await {
        Reply::Decided { .. } => Ok(()),
        Reply::Refused(refused) => Err(refused.message),
        _ => Err("the run has ended".to_owned()),
    }
}

/// Says it to the program that works on the run; it is decided then, as the run's records tell. An error: words for the
/// person, and nothing was decided.
pub async fn say(store: &Store, run: &RunSummary, command: UserCommand, by: Answerer) -> Came {
    if run.state == RunState::Ended {
        return Err(format!("the run of {} has ended", run.ticket));
    }
    let program = store.ticket_program(Path::new(&run.ticket_path)).map_err(|error| error.to_string())?;
    let program = program.ok_or_else(|| format!("no program works on {} now", run.ticket))?;
    let said = Said { ticket: run.key(), run: run.run, by, command };
    let said = serde_json::to_vec(&said).map_err(|error| error.to_string())?;
    let heard = person_socket::ask(store.folder(), program, &said).await;
    let heard = heard.map_err(|why| format!("the program that works on {} (pid {program}): {why}", run.ticket))?;
    serde_json::from_str::<Came>(&heard).map_err(|error| error.to_string())?
}
