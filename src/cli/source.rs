//! `programmator source`: comments on the issue that a ticket was imported from, and closes it. All that goes out is shown and asked about
//! first; without either it says what was sent so far.

use super::agree::agree_or;
use super::error::CliError;
use super::in_force;
use super::session::Session;
use crate::adapters::clock::zone;
use crate::adapters::source_ledger;
use crate::adapters::store::Store;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::domain::source_reply::{Deed, End, SourceReply, Upstream};
use crate::runtime::source_reply::{By, PlannedReply, Source};
use crate::runtime::ticket_runs::is_finished;
use clap::Args;
use std::io::Write;

/// What stands below the options in its `--help`.
pub const HELP: &str = "\
Examples:
  programmator source tk-4f2a                     what was sent so far
  programmator source tk-4f2a --comment --close   show it, ask, send it
  programmator source tk-4f2a --comment --dry-run

For tickets imported from GitHub or beads: `external-ref` names the issue. The comment lists what was done and how it was verified, like the description of `programmator pr`; credentials are masked. It is sent through `gh`, and only if `gh` uses the same repository in this folder. An issue is closed only if its ticket is finished; issues of beads are closed by `bd` or `br`, and get no comment.
Each is sent once. Run the same command to retry; after a crash it first checks whether the comment already arrived. With `source.comment` and `source.close` in your configuration they are sent when a run completes the ticket (`programmator config show source`).

Exit codes: 0 done, 1 failed, 2 wrong usage, 5 you said no, 77 inside a run.";

/// What is sent, and how.
#[derive(Debug, Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct SourceArgs {
    /// The ticket: id, unique part of an id, or path.
    ticket: String,
    /// Comment on the issue with what was done.
    #[arg(long)]
    comment: bool,
    /// Close the issue.
    #[arg(long)]
    close: bool,
    /// Send it again.
    #[arg(long)]
    again: bool,
    /// Send it without asking first.
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be sent.
    #[arg(long)]
    pub dry_run: bool,
}

impl SourceArgs {
    /// Something would be sent.
    pub fn sends(&self) -> bool {
        self.comment || self.close
    }
}

/// Carries it out.
pub async fn run(out: &mut dyn Write, session: &Session, args: &SourceArgs) -> Result<(), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let path = tickets::find(&args.ticket, &session.places(&resolved))?;
    let source = Source::of(&path, &session.folder, &session.state).map_err(CliError::failure)?;
    if !args.sends() && (args.yes || args.again || args.dry_run) {
        return Err(CliError::usage("choose what to send: --comment, --close or both"));
    }
    if !args.sends() {
        return history(out, &source, resolved.config.source);
    }
    if args.comment && matches!(source.upstream, Upstream::Beads(_)) {
        return Err(CliError::usage("issues of beads can only be closed: use --close without --comment"));
    }
    if args.close && !is_finished(&path.display().to_string()) {
        let id = &source.ticket.id;
        return Err(CliError::failure(format!(
            "{id} is not finished: nothing was sent; `programmator ticket close {id}` closes the ticket first"
        )));
    }
    let wanted = SourceReply { comment: args.comment, close: args.close };
    let by = By::Person { again: args.again, looks: args.dry_run };
    let mut outgoing = source.plan(wanted, by).await.map_err(CliError::failure)?;
    let clock = session.clock();
    let store = if Store::is_there(&session.state) { Some(session.store_to_read()?) } else { None };
    let secrets = in_force::secrets(session, &resolved);
    let text = source.comment(store.as_ref(), &outgoing.id, &*clock, &secrets).map_err(CliError::failure)?;
    show(out, &outgoing, &text)?;
    if outgoing.deeds.is_empty() {
        return Ok(writeln!(out, "Nothing to send.")?);
    }
    if args.dry_run {
        return Ok(());
    }
    if !args.yes {
        agree_or(out, "Send this?", "sends it", "nothing was sent")?;
    }
    let (said, failed) = outgoing.send(&text, &*clock).await;
    for line in said {
        writeln!(out, "{line}")?;
    }
    match failed {
        Some(why) => Err(CliError::failure(format!("{why}; run the command again to retry"))),
        None => Ok(()),
    }
}

/// Shows all that would be sent, and what is to be known of it.
fn show(out: &mut dyn Write, outgoing: &PlannedReply, text: &str) -> Result<(), CliError> {
    let at = if outgoing.url.is_empty() { String::new() } else { format!(" ({})", clean_line(&outgoing.url, 300)) };
    if !outgoing.title.is_empty() {
        writeln!(out, "issue      {}{at}: {}", outgoing.upstream, clean_line(&outgoing.title, 200))?;
    }
    for note in &outgoing.notes {
        writeln!(out, "note       {}", clean_line(note, 500))?;
    }
    for deed in &outgoing.deeds {
        match deed {
            Deed::Comment => writeln!(out, "comment\n\n{}\n", text.trim_end())?,
            Deed::Close => writeln!(out, "close      {}", outgoing.upstream)?,
        }
    }
    Ok(())
}

/// Says what was sent so far, and what the settings want.
fn history(out: &mut dyn Write, source: &Source, wanted: SourceReply) -> Result<(), CliError> {
    writeln!(out, "issue      {}", source.upstream)?;
    let sent = source_ledger::sent(&source.state, &source.ticket.id, &source.reference);
    let sent = sent.map_err(|error| CliError::failure(error.to_string()))?;
    for one in &sent {
        let came = match &one.end {
            Some(End::Done { url }) => format!("{} {}", one.deed.done(), clean_line(url, 300)),
            Some(End::Failed { why }) => format!("{} failed: {}", one.deed.word(), clean_line(why, 300)),
            None => format!("{} sent, not confirmed", one.deed.word()),
        };
        writeln!(out, "{:10} {}", one.begun.day_and_minute(&zone()), came.trim_end())?;
    }
    if sent.is_empty() {
        writeln!(out, "Nothing has been sent yet.")?;
    }
    let on = |on: bool| if on { "on" } else { "off" };
    writeln!(out, "settings   source.comment {}, source.close {}", on(wanted.comment), on(wanted.close))?;
    Ok(())
}
