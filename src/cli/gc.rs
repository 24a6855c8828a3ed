//! `programmator gc`: clears away what old runs have left, and says what that was.

use super::error::CliError;
use super::help;
use super::session::Session;
use crate::base::amount::{counted, size};
use crate::base::json;
use crate::base::text::clean_line;
use crate::domain::answerer::Answerer;
use crate::domain::request::HELD;
use crate::domain::workspace::Workspace;
use crate::runtime::cleanup::{Cleanup, CleanupError, Cleared, Kind, Wanted, total};
use crate::runtime::offline::Offline;
use clap::Args;
use std::io::Write;
use std::sync::Arc;

/// What is asked for.
#[derive(Debug, Args)]
#[command(after_help = help::GC)]
pub struct GcArgs {
    /// Only list what would be removed.
    #[arg(long)]
    pub dry_run: bool,
    /// Print a JSON array instead of text.
    #[arg(long)]
    json: bool,
}

/// Carries it out. An error when some of it could not be removed.
pub async fn run(out: &mut dyn Write, session: &Session, args: &GcArgs) -> Result<(), CliError> {
    let resolved = session.resolve(&session.folder)?;
    let tickets = session.places(&resolved).dir();
    let cleanup = Cleanup {
        offline: Offline::of(session.store()?, session.clock()),
        rules: session.rules(),
        tickets: Arc::new(move |_: &Workspace| tickets.clone()),
    };
    let keep = resolved.config.storage.keep;
    let wanted = Wanted { keep, is_tried: args.dry_run, by: Answerer::COMMAND_LINE };
    let all = cleanup.run(&wanted).await.map_err(|error| match error {
        CleanupError::Held => CliError::new(HELD, error.to_string()),
        CleanupError::Store(error) => CliError::from(error),
    })?;
    if args.json {
        writeln!(out, "{}", json::pretty(&all)?)?;
    } else {
        tell(out, &all, args.dry_run)?;
    }
    match all.iter().filter(|one| one.skipped.is_some()).count() {
        0 => Ok(()),
        left => Err(CliError::failure(format!("{} could not be removed", counted(left, "item")))),
    }
}

fn tell(out: &mut dyn Write, all: &[Cleared], is_tried: bool) -> Result<(), CliError> {
    for Cleared { kind, what, bytes, skipped } in all {
        let what = clean_line(what, 400);
        let name = match kind {
            Kind::Output => "output",
            Kind::Log => "log",
            Kind::Copy => "copy",
            Kind::Snapshots => "snapshots",
            Kind::Worktree => "worktree",
        };
        let bytes = match (bytes, kind) {
            (Some(bytes), Kind::Snapshots) => format!("{}, at git's next garbage collection", size(*bytes)),
            (Some(bytes), _) => size(*bytes),
            (None, _) => String::new(),
        };
        match skipped {
            Some(why) => writeln!(out, "{name:9}  {what}: skipped: {}", clean_line(why, 400))?,
            None if bytes.is_empty() => writeln!(out, "{name:9}  {what}")?,
            None => writeln!(out, "{name:9}  {what}  {bytes}")?,
        }
    }
    let gone = all.iter().filter(|one| one.skipped.is_none()).count();
    let (count, bytes) = (counted(gone, "item"), size(total(all)));
    let told = match (gone, is_tried) {
        (0, _) if !all.is_empty() => return Ok(()),
        (0, _) => {
            "Nothing to remove. See storage.keep_days and storage.max_gb in `programmator config show`.".to_owned()
        }
        (_, true) => format!("Would remove {count}, {bytes}."),
        (_, false) => format!("Removed {count}, {bytes}."),
    };
    Ok(writeln!(out, "{told}")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_told_with_its_size_and_the_sum_leaves_out_what_git_frees() {
        let cleared = |kind, what: &str, bytes, skipped: Option<&str>| Cleared {
            kind,
            what: what.to_owned(),
            bytes,
            skipped: skipped.map(str::to_owned),
        };
        let all = [
            cleared(Kind::Output, "tk-1 run 3f, 2026-03-01", Some(3 << 19), None),
            cleared(Kind::Log, "/s/evil\x1b[2J.1", Some(10), Some("Permission denied")),
            cleared(Kind::Snapshots, "2 snapshots of tk-1", Some(1 << 30), None),
            cleared(Kind::Snapshots, "1 snapshot of tk-2", None, None),
        ];
        let told = |all: &[Cleared], is_tried| {
            let mut out = Vec::new();
            tell(&mut out, all, is_tried).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            told(&all, false),
            "output     tk-1 run 3f, 2026-03-01  1.5 MiB\n\
             log        /s/evil.1: skipped: Permission denied\n\
             snapshots  2 snapshots of tk-1  1.0 GiB, at git's next garbage collection\n\
             snapshots  1 snapshot of tk-2\n\
             Removed 3 items, 1.5 MiB.\n"
        );
        assert!(told(&all, true).ends_with("Would remove 3 items, 1.5 MiB.\n"));
        assert!(told(&[], true).starts_with("Nothing to remove"));
    }
}
