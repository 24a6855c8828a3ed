//! `programmator chat`: talk with Claude without a ticket, on the screen or in plain lines.

mod said;
mod talk;

use self::talk::Talk;
use super::error::{CliError, NOBODY_READS};
use super::farewell::After;
use super::headless::notices;
use super::in_force;
use super::options::{LookOptions, RunOptions};
use super::session::Session;
use super::start::{self, Open};
use crate::adapters::typed_lines::TypedLines;
use crate::domain::answerer::Answerer;
use crate::domain::approval::Presence;
use crate::domain::chat::ChatWanted;
use crate::domain::news::News;
use crate::domain::request::{Closing, Reply, Request};
use crate::runtime::app::App;
use crate::runtime::shutdown::Signals;
use crate::runtime::supervisor::Supervisor;
use clap::Args;
use std::io::{IsTerminal, stderr, stdout};

/// Options of a chat: of those of runs only what counts in it.
#[derive(Debug, Args)]
pub struct ChatArgs {
    /// Resume the last chat of this directory.
    #[arg(long)]
    resume: bool,
    /// Read messages from stdin and print Claude's answers, without the screen.
    #[arg(long)]
    plain: bool,
    /// Stop Claude's work on a message after this time [default: 900].
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<String>,
    /// Limit Claude calls per hour, shared by all runs [default: 100].
    #[arg(long, value_name = "N")]
    calls: Option<String>,
    /// Model to use [default: Claude's own].
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// Do not resume a session unused for this long [default: 24].
    #[arg(long, value_name = "HOURS")]
    session_expiry: Option<String>,
    /// Screen options.
    #[command(flatten)]
    look: LookOptions,
}

impl ChatArgs {
    /// They as options of runs.
    pub fn run(&self) -> RunOptions {
        RunOptions {
            timeout: self.timeout.clone(),
            calls: self.calls.clone(),
            model: self.model.clone(),
            session_expiry: self.session_expiry.clone(),
            ..RunOptions::from(self.look.clone())
        }
    }
}

/// Below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator chat                         on the screen; `i` writes a message
  programmator chat --resume                the last chat of this directory, in the same session
  programmator chat --plain                 plain lines, for a simple terminal; Ctrl-D closes the chat
  echo \"What is this?\" | programmator chat --plain

Your policy judges each tool call, as in a run. With --plain, approvals are requested in the terminal (stdin and stderr);
without a terminal they are denied. The next chat here gets a summary of this one's topics.

Exit codes: 0 closed, 1 the last message was not answered, others as for programmator run.";

/// Carries out `programmator chat`. Gives the exit code.
pub async fn run(session: &Session, args: &ChatArgs) -> Result<u8, CliError> {
    let wanted = ChatWanted { resume: args.resume, plain: args.plain || !stdout().is_terminal() };
    if !wanted.plain {
        return start::screen(session, Open::Chat(wanted), After::Kept).await;
    }
    let resolved = session.resolve(&session.folder)?;
    notices(&resolved);
    let parts = in_force::parts(session, &resolved)?;
    tokio::spawn(Supervisor::sweep_leftovers(parts.store.clone()));
    let app = App::start(parts);
    let lines = TypedLines::begin();
    // Who cannot see a question, or whose answer may have been typed before it, is not asked.
    let presence = if lines.asks() && stderr().is_terminal() { Presence::Screen } else { Presence::Nobody };
    let mut told = app.subscribe(presence);
    let mut signals = Signals::listen()?;
    let chat = match app.ask(Request::Chat(wanted), Answerer::COMMAND_LINE).await {
        Reply::Opened { ticket, .. } => ticket,
        Reply::Refused(refused) => return Err(refused.into()),
        _ => return Err(CliError::failure("the chat could not be opened")),
    };
    let mut talk = Talk::new(app.clone(), chat, presence, lines);
    let (mut reading, mut closing, mut code) = (true, false, None);
    talk.prompt()?;
    loop {
        tokio::select! {
            biased;
            news = told.next() => {
                if let News::RunOpened { run, .. } = &news {
                    talk.said.scrollback = told.scrollback(*run);
                }
                if talk.hear(&news).await.is_err() && code.is_none() {
                    code = Some(NOBODY_READS);
                    close(&app, Closing::Now, &mut reading, &mut closing).await;
                }
            }
            signal = signals.next() => {
                // Asked twice: at once, by force. The chat is found interrupted and can be resumed.
                let how = if code.replace(signal.exit_code()).is_some() { Closing::Abandon } else { Closing::Now };
                close(&app, how, &mut reading, &mut closing).await;
            }
            line = talk.lines.next(talk.asking()), if reading && talk.takes_a_line() => match line {
                Some(line) => talk.typed(line).await,
                // A question that is open cannot be answered any more, either.
                None if presence == Presence::Screen => close(&app, Closing::Now, &mut reading, &mut closing).await,
                None => reading = false,
            },
            worst = app.all_ended() => {
                while let Some(news) = told.try_next() {
                    let _ = talk.hear(&news).await;
                }
                return Ok(code.unwrap_or(worst.max(u8::from(talk.failed))));
            }
        }
        if !reading && !talk.is_busy() && !closing {
            close(&app, Closing::AfterIteration, &mut reading, &mut closing).await;
        }
    }
}

async fn close(app: &App, how: Closing, reading: &mut bool, closing: &mut bool) {
    (*reading, *closing) = (false, true);
    app.ask(Request::Close(how), Answerer::COMMAND_LINE).await;
}
