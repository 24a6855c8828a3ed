//! The command line: what can be typed, and which room answers it. One file for each command in `cli/`;
//! each only wires modules together.

mod agree;
mod answer;
mod attach;
mod away;
mod backup;
pub mod chat;
pub mod circuit;
mod command_line;
pub mod completing;
pub mod config;
mod decision;
pub mod demo;
mod detach;
pub mod doctor;
mod dry_run;
mod ended;
pub mod error;
pub mod export;
mod farewell;
mod gc;
pub mod headless;
mod help;
mod hook;
mod hooks;
pub mod host;
mod hosts;
mod import;
mod in_background;
mod in_force;
mod init;
mod job;
mod keys;
pub mod logs;
mod man;
mod metrics;
mod nothing;
mod notify;
pub mod options;
mod park;
pub mod parse;
pub mod passphrase;
mod past;
mod person_only;
pub mod phase;
mod picture;
pub mod plan;
pub mod policy;
pub mod pr;
mod prompt;
mod question;
pub mod queue;
mod ready;
mod remote;
pub mod report;
pub mod review;
pub mod search;
mod serve;
pub mod session;
pub mod sessions;
pub mod settings;
mod slip;
pub mod snapshots;
mod source;
pub mod start;
pub mod stats;
pub mod status;
mod stop;
mod terminal_host;
mod threads;
mod tick;
pub mod ticket;
mod unattended;
mod uninstall;
mod unsent;
mod upkeep;
mod usage;
mod whole_file;
pub mod worktree;

pub use command_line::{Cli, Command};
pub use usage::arguments;

use crate::adapters::logging;
use crate::adapters::process_group;
use crate::adapters::store::{self, state_dir};
use crate::adapters::typed_secret::Source;
use crate::base::text::clean_line;
use crate::runtime::headless::Format;
use circuit::CircuitCommand;
use clap::CommandFactory;
use config::ConfigCommand;
use demo::Show;
use error::CliError;
use farewell::After;
use headless::{Questions, Work};
use import::args::ImportArgs;
use logs::Follow;
use notify::NotifyCommand;
use options::RunOptions;
use passphrase::PassphraseCommand;
use prompt::PromptCommand;
use queue::QueueArgs;
use session::Session;
use snapshots::Consent;
use source::SourceArgs;
use start::Open;
use status::StatusArgs;
use std::io::{IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tick::Tick;
use ticket::command::TicketCommand;
use unattended::Away;

/// How long the end of the program waits for threads that are blocked, and then for programs that were killed.
const LEAVING: Duration = Duration::from_millis(250);
/// How long it waits for the disk to have what Claude printed last.
const SYNCED: Duration = Duration::from_secs(5);

/// Carries out the command line. Errors are printed here; the code is the program's.
pub fn run(cli: Cli) -> ExitCode {
    let state =
        state_dir(std::env::var_os("PROGRAMMATOR_STATE_DIR").as_deref(), std::env::var_os("XDG_STATE_HOME").as_deref());
    // The demo and what only reads leave nothing behind, not even a log.
    if let Ok(state) = state
        && !matches!(
            cli.command,
            Some(
                Command::Demo { .. }
                    | Command::Parse { .. }
                    | Command::Policy { .. }
                    | Command::Hook(_)
                    | Command::Run { dry_run: true, .. }
                    | Command::Import(ImportArgs { dry_run: true, .. })
                    | Command::Source(SourceArgs { dry_run: true, .. })
            )
        )
    {
        logging::start(&state);
    }
    // A slip is one of the words that may stand there.
    let near: fn(&str) -> Option<String> = match &cli.command {
        None => slip::command_like,
        Some(Command::Snapshots { .. }) => slip::snapshots_like,
        Some(_) => |_| None,
    };
    let is_init = matches!(cli.command, Some(Command::Init(_)));
    let code = threads::room(0).and_then(|()| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let code = runtime.block_on(dispatch(cli));
        // What nobody waits for any more is given up, and its programs with it. A blocked thread (a lock that is waited for)
        // must not keep the program alive.
        runtime.shutdown_timeout(LEAVING);
        process_group::see_off(LEAVING);
        store::drain(SYNCED);
        code
    });
    ExitCode::from(code.unwrap_or_else(|error| {
        if error.exit_code != error::NOBODY_READS {
            let meant = error.no_ticket.as_deref().and_then(near);
            let hint = meant.map(|command| format!("; did you mean `programmator {command}`?"));
            let message = error.message + hint.as_deref().unwrap_or_default();
            writeln!(stderr(), "programmator: {}", error::for_person(&message)).ok();
        }
        // There 2 says that it was set up already.
        if is_init && error.exit_code == 2 { error::BAD_INPUT } else { error.exit_code }
    }))
}

async fn dispatch(cli: Cli) -> Result<u8, CliError> {
    let format = |json| if json { Format::Json } else { Format::Text };
    // What would count for nothing is refused: the person meant something by it.
    if cli.command.is_some() && cli.run != RunOptions::default() {
        let typed: Vec<String> = std::env::args().skip(1).collect();
        let known = Cli::command();
        let at = typed.iter().position(|word| known.find_subcommand(word).is_some()).unwrap_or(typed.len());
        let option = typed[..at].iter().find(|word| word.starts_with('-') && !word.starts_with("-C"));
        let (option, name) = (option.map_or("an option", String::as_str), typed.get(at).map_or("…", String::as_str));
        let (option, name) = (clean_line(option, 80), clean_line(name, 80));
        return Err(CliError::usage(format!(
            "options go after the subcommand: `programmator {name} {option} …`; only -C goes before it"
        )));
    }
    // The screen asks for them when its first frame has been drawn.
    if cli.command.is_some() || !stdout().is_terminal() {
        threads::room(threads::WORK)?;
    }
    person_only::check(cli.command.as_ref())?;
    let here = |options: &RunOptions| Session::new(cli.directory.as_deref(), options);
    let out = &mut stdout();
    match cli.command {
        None if stdout().is_terminal() => {
            let session = here(&cli.run)?;
            let named = attach::sorted(&session, cli.tickets);
            start::screen(&session, Open::Tickets(named), After::Kept).await
        }
        None if cli.tickets.is_empty() => {
            Err(CliError::usage("no terminal to draw on, and no ticket to run: see `programmator --help`"))
        }
        None => headless::run(&here(&cli.run)?, Work::Tickets(cli.tickets), Format::Text, Questions::Denied).await,
        Some(Command::Attach { on: Some(_), .. }) if cli.directory.is_some() => {
            Err(CliError::usage("-C has no effect with --on here: the run stays in the folder where it was started"))
        }
        Some(Command::Attach { run, on: Some(host), look }) => {
            remote::attach(&Session::new(None, &look.into())?, &host, run.as_deref()).await
        }
        Some(
            Command::Run { on: Some(host), .. }
            | Command::Status(StatusArgs { on: Some(host), .. })
            | Command::Queue(QueueArgs { on: Some(host), .. }),
        ) => remote::command(out, &Session::new(None, &cli.run)?, &host, cli.directory.as_deref()).await,
        Some(Command::Host(args)) => host::run(out, &here(&cli.run)?, args).await.map(|()| 0),
        Some(Command::Hosts(args)) => hosts::run(out, &here(&cli.run)?, &args).await,
        Some(Command::Serve { .. }) => serve::stdio(&here(&cli.run)?).await,
        Some(Command::Run { away: Away { detach: true, .. }, tickets, .. }) => detach::start(out, tickets.len()).await,
        Some(Command::Resume { away: Away { detach: true, .. }, run, .. }) => {
            if run.as_deref().is_some_and(|run| run.starts_with("chat-")) {
                return Err(CliError::usage("a chat cannot continue without you: `programmator chat --resume`"));
            }
            detach::start(out, 1).await
        }
        Some(Command::Run { dry_run: true, tickets, ready, json, run, away, .. }) => {
            let mut session = Session { is_away: away.away, ..here(&run)? };
            session.flags.extend(ready.flags());
            session.is_away |= away::is_asked_about(&session, &tickets);
            match ready.work() {
                Some(all) => dry_run::ready(out, &session, &all, format(json)),
                None => Box::pin(dry_run::tickets(out, &session, &tickets, format(json))).await,
            }
        }
        Some(Command::Run { tickets, ready, resolve, json, run, away, .. }) => {
            let flags = ready.flags();
            let work = match ready.work() {
                Some(all) => Work::Ready(all),
                None if resolve => conflict(tickets)?,
                None => Work::Tickets(tickets),
            };
            let mut session = Session { is_away: away.away, ..here(&run)? };
            session.flags.extend(flags);
            if away.away {
                away::keep_on_aloud(&session);
            }
            headless::run(&session, work, format(json), away.questions()).await
        }
        Some(Command::Attach { run, look, .. }) => {
            let session = here(&look.into())?;
            start::screen(&session, attach::named(&session, run.as_deref())?, After::Kept).await
        }
        Some(Command::Stop { run, now }) => stop::run(out, &here(&cli.run)?, &run, now).await.map(|()| 0),
        Some(Command::Chat(args)) => chat::run(&here(&args.run())?, &args).await,
        Some(Command::Plan(args)) => plan::run(out, &here(&args.run)?, &args).await,
        Some(Command::Resume { run, json, away, options }) => {
            let session = Session { is_away: away.away, ..here(&options)? };
            if stdout().is_terminal() && !json && !away.away {
                start::screen(&session, Open::Resume(run), After::Kept).await
            } else {
                if away.away {
                    away::keep_on_aloud(&session);
                }
                headless::run(&session, Work::Resume(run), format(json), away.questions()).await
            }
        }
        Some(Command::Demo { headless, look }) => {
            let show = if headless || !stdout().is_terminal() { Show::Lines } else { Show::Screen };
            demo::run(here(&look.into())?, show).await
        }
        Some(Command::Replay { run, look }) => start::replay(&here(&look.into())?, &run),
        Some(Command::Picture { options, look }) => picture::write(out, &here(&look.into())?, &options).map(|()| 0),
        Some(Command::Logs { run, follow, json }) => {
            let follow = if follow { Follow::Yes } else { Follow::No };
            logs::print(out, &here(&cli.run)?, &run, format(json), follow).await.map(|()| 0)
        }
        Some(Command::Status(StatusArgs { watch_file: Some(file), .. })) => {
            status::watch(&here(&cli.run)?, &file).await.map(|()| 0)
        }
        Some(Command::Status(StatusArgs { run: Some(run), json, .. })) => {
            status::run::print(out, &here(&cli.run)?, &run, format(json)).map(|()| 0)
        }
        Some(Command::Status(StatusArgs { json: false, .. })) => status::list(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Status(StatusArgs { json: true, .. })) => status::json(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Report(args)) => report::print(out, &here(&cli.run)?, &args).map(|()| 0),
        Some(Command::Queue(args)) => queue::run(out, &here(&cli.run)?, &args).map(|()| 0),
        Some(Command::Away { command }) => away::run(out, &mut stderr(), &here(&cli.run)?, command).await,
        Some(Command::Answer(args)) => answer::answer(out, &here(&cli.run)?, &args).await.map(|()| 0),
        Some(Command::Stats { json }) => stats::print(out, &here(&cli.run)?, format(json)).map(|()| 0),
        Some(Command::Ticket { command: TicketCommand::Tick { ticket, phase } }) => {
            tick::run(out, &here(&cli.run)?, &ticket, &phase, Tick::On).await
        }
        Some(Command::Ticket { command: TicketCommand::Untick { ticket, phase } }) => {
            tick::run(out, &here(&cli.run)?, &ticket, &phase, Tick::Off).await
        }
        Some(Command::Ticket { command }) => ticket::run(out, &mut stderr(), &here(&cli.run)?, command).await,
        Some(Command::Phase { command }) => phase::run(out, &here(&cli.run)?, &command).await,
        Some(Command::Prompt { command: PromptCommand::Show(show) }) => {
            prompt::show(out, &here(&show.run)?, &show).map(|()| 0)
        }
        Some(Command::Snapshots { ticket, json, dry_run }) if ticket == slip::PRUNE => {
            snapshots::run_prune(out, &here(&cli.run)?, dry_run, json).await.map(|()| 0)
        }
        Some(Command::Snapshots { dry_run: true, .. }) => {
            Err(CliError::usage("--dry-run only works with `programmator snapshots prune`"))
        }
        Some(Command::Snapshots { ticket, json, .. }) => {
            snapshots::run_list(out, &here(&cli.run)?, &ticket, json).await.map(|()| 0)
        }
        Some(Command::Restore { ticket, n, files, yes, json }) => {
            let consent = if yes { Consent::Given } else { Consent::Ask };
            snapshots::run_restore(out, &here(&cli.run)?, (&ticket, &n, &files), consent, json).await.map(|()| 0)
        }
        Some(Command::Fork { ticket, n, id, json }) => {
            let wanted = (&ticket[..], &n[..], id.as_deref().unwrap_or_default());
            snapshots::run_fork(out, &here(&cli.run)?, wanted, json).await.map(|()| 0)
        }
        Some(Command::Worktree { command }) => worktree::run(out, &here(&cli.run)?, command).await.map(|()| 0),
        Some(Command::Session { command }) => sessions::run(out, &here(&cli.run)?, command).await,
        Some(Command::Circuit { command }) => {
            let session = here(&cli.run)?;
            match command {
                CircuitCommand::Status { ticket, json: false } => {
                    circuit::list(out, &session, ticket.as_deref()).map(|()| 0)
                }
                CircuitCommand::Status { ticket, json: true } => {
                    circuit::json(out, &session, ticket.as_deref()).map(|()| 0)
                }
                CircuitCommand::WhatIf(wanted) => circuit::what_if(out, &session, &wanted).map(|()| 0),
                CircuitCommand::Reset { ticket } => circuit::reset(out, &session, ticket.as_deref()).await,
            }
        }
        Some(Command::Notify { command: NotifyCommand::Test }) => notify::test(out, &here(&cli.run)?).await,
        Some(Command::Init(args)) => init::run(out, &here(&cli.run)?, &args).await,
        Some(Command::Import(args)) => import::run(out, &here(&cli.run)?, &args).await,
        Some(Command::Pr(args)) => Box::pin(pr::run(out, &here(&cli.run)?, &args)).await.map(|()| 0),
        Some(Command::Source(args)) => Box::pin(source::run(out, &here(&cli.run)?, &args)).await.map(|()| 0),
        Some(Command::Job(args)) => job::run(out, &here(&cli.run)?, args).await.map(|()| 0),
        Some(Command::Doctor) => doctor::run(out, &here(&cli.run)?).await,
        Some(Command::Config { command: ConfigCommand::Show { keys } }) => {
            let session = here(&cli.run)?;
            let chosen = config::chosen(session.resolve(&session.folder)?, &keys).map_err(CliError::usage)?;
            config::show(out, &chosen)?;
            Ok(0)
        }
        Some(Command::Parse { command }) => parse::run(out, &command).map(|()| 0),
        Some(Command::Passphrase { command: PassphraseCommand::Set { stdin } }) => {
            let source = if stdin { Source::Pipe } else { Source::Terminal };
            passphrase::set(out, &mut stderr(), &here(&cli.run)?, source).map(|()| 0)
        }
        Some(Command::Policy { command }) => policy::run(out, &here(&cli.run)?, &command),
        Some(Command::Review(args)) => Box::pin(review::run(out, &here(&cli.run)?, &args)).await,
        Some(Command::Settings { command }) => settings::run(out, &here(&cli.run)?, &command).map(|()| 0),
        Some(Command::Hooks { command }) => hooks::run(out, &here(&cli.run)?, &command).map(|()| 0),
        Some(Command::Hook(wanted)) => hook::run(out, &wanted).await,
        Some(Command::Search(args)) => search::run(out, &here(&cli.run)?, &args),
        Some(Command::Export(args)) => export::run(out, &here(&cli.run)?, &args).map(|()| 0),
        Some(Command::Keys) => keys::run(out, &here(&cli.run)?).map(|()| 0),
        Some(Command::Trust) => {
            let session = here(&cli.run)?;
            config::trust(out, &session.folder, &session.state)?;
            Ok(0)
        }
        Some(Command::Upkeep(command)) => upkeep::run(out, &here(&cli.run)?, command).await,
        Some(Command::Man { folder }) => {
            let folder = folder.map(|folder| cli.directory.as_deref().unwrap_or(Path::new("")).join(folder));
            man::run(out, folder.as_deref()).map(|()| 0)
        }
        Some(Command::Completions { shell }) => completing::script(out, shell).map(|()| 0),
    }
}

/// What there is to resolve: of several tickets one after the other.
fn conflict(tickets: Vec<String>) -> Result<Work, CliError> {
    match <[String; 1]>::try_from(tickets) {
        Ok([ticket]) => Ok(Work::Conflict(ticket)),
        Err(_) => Err(CliError::usage("--resolve takes one ticket")),
    }
}
