//! `programmator review`: several reviewers look at what differs from a branch; for CI, and before a merge.

mod report;

use super::error::CliError;
use super::headless::notices;
use super::in_force;
use super::session::Session;
use crate::adapters::agent::probe;
use crate::adapters::store::{Holder, LockError};
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::base::time::human;
use crate::domain::request::HELD;
use crate::domain::review::{FOCI, PLACE, Report, Reviewer};
use crate::domain::ticket::TicketKey;
use crate::domain::workspace::Workspace;
use crate::runtime::export::create;
use crate::runtime::review::{Change, Desk, Shares, review};
use crate::runtime::shutdown::Signals;
use crate::runtime::supervisor::Supervisor;
use clap::Args;
use std::io::{ErrorKind, Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What its runs are listed under.
const TICKET: &str = "review";

/// What is reviewed, and how.
#[derive(Debug, Clone, Args)]
pub struct ReviewArgs {
    /// A branch or commit: changes since the merge base with it are reviewed.
    #[arg(long, value_name = "BRANCH", default_value = "main")]
    pub base: String,
    /// Only these reviewers, comma-separated.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = FOCI)]
    pub focus: Vec<String>,
    /// Model for the reviewers.
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Print a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// Also write the report as Markdown; the file must not exist.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Reviews, prints the report and gives the exit code.
pub async fn run(out: &mut dyn Write, session: &Session, args: &ReviewArgs) -> Result<u8, CliError> {
    if let Some(path) = args.out.as_ref().filter(|path| path.symlink_metadata().is_ok()) {
        return Err(taken(path));
    }
    let resolved = session.resolve(&session.folder)?;
    notices(&resolved);
    let store = session.store()?;
    let scratch = tempfile::tempdir()?;
    let change = Change::since(&args.base, &session.folder, scratch.path()).await.map_err(CliError::usage)?;
    if change.files.is_empty() {
        let report = Report { base: change.base, commit: change.commit, ..Report::default() };
        return finish(out, args, &report);
    }
    let foci = if args.focus.is_empty() { resolved.config.review.focus.clone() } else { args.focus.clone() };
    let mut config = resolved.config.clone();
    config.review.model = args.model.clone().or(config.review.model);
    let workspace = Workspace::shared(&session.folder);
    let environment = config.agent.variables();
    let searched = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let searched = searched.or_else(|| std::env::var_os("PATH"));
    probe::look_up(&config.agent.command, searched.as_deref(), workspace.directory())
        .map_err(|error| CliError::failure(error.to_string()))?;
    let id = TicketId::parse(TICKET).map_err(|error| CliError::failure(error.to_string()))?;
    let ticket = TicketKey::new(id.clone(), &session.folder.join(PLACE));
    let holder = Holder { pid: std::process::id(), ticket: id, run: None, since: session.clock().now() };
    let _lock = store.lock_ticket(Path::new(ticket.file()), &holder).map_err(|error| match error {
        LockError::Held { holder } => CliError::new(HELD, format!("another review is running here: {holder}")),
        LockError::Store(error) => error.into(),
    })?;
    tokio::spawn(Supervisor::sweep_leftovers(store.clone()));
    let sessions = u32::try_from(foci.len()).unwrap_or(u32::MAX).saturating_add(1);
    let desk = Arc::new(Desk {
        store,
        clock: session.clock(),
        config: Arc::new(config),
        templates: Arc::new(resolved.templates.clone()),
        gates: in_force::policy_engines(session).gates(),
        workspace,
        ticket,
        home: session.environment.get("HOME").map(PathBuf::from).unwrap_or_default(),
        shares: Mutex::new(Shares { left: sessions, ..Shares::default() }),
    });
    let files = counted(change.files.len(), "file");
    aside(&format!("{} of {files} since {}", counted(foci.len(), "reviewer"), clean_line(&args.base, 80)));
    if !change.diff.left_out.is_empty() {
        aside(&report::left_out(&change.diff.left_out));
    }
    let (stop, mut signals) = (CancellationToken::new(), Signals::listen()?);
    let reviewing = review(desk, &change, &foci, &stop, |reviewer| aside(&ended(reviewer)));
    tokio::pin!(reviewing);
    let mut by_signal = None;
    let report = loop {
        tokio::select! {
            report = &mut reviewing => break report,
            signal = signals.next() => {
                // Asked twice: every Claude is killed as its task is dropped, and nothing more is recorded.
                if by_signal.replace(signal.exit_code()).is_some() {
                    return Ok(signal.exit_code());
                }
                stop.cancel();
            }
        }
    };
    let code = finish(out, args, &report)?;
    Ok(by_signal.unwrap_or(code))
}

fn finish(out: &mut dyn Write, args: &ReviewArgs, report: &Report) -> Result<u8, CliError> {
    if let Some(path) = &args.out {
        create(path, |file| file.write_all(report::markdown(report).as_bytes())).map_err(|error| {
            match error.kind() {
                ErrorKind::AlreadyExists => taken(path),
                _ => CliError::failure(format!("{} cannot be written: {error}", path.display())),
            }
        })?;
    }
    if args.json {
        writeln!(out, "{}", crate::base::json::pretty(report)?)?;
    } else {
        write!(out, "{}", report::text(report))?;
    }
    Ok(report.exit_code())
}

fn taken(path: &Path) -> CliError {
    CliError::usage(format!("{} exists; name another file, or remove it first", path.display()))
}

/// How it goes on: stdout is the report's.
fn aside(words: &str) {
    let _ = writeln!(stderr(), "{}", clean_line(words, 400));
}

fn ended(reviewer: &Reviewer) -> String {
    let Reviewer { focus, issues, error, ms, cost_usd, .. } = reviewer;
    let came = match (error, issues) {
        (Some(why), _) => format!("failed: {why}"),
        (None, issues) => counted(issues.unwrap_or(0), "issue"),
    };
    format!("{focus}: {came} · {} · ${cost_usd:.2}", human(Duration::from_millis(*ms)))
}
