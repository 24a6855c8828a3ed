//! `programmator import prd FILE --plan`: a document as one ticket, whose phases Claude drafts. Its text is quoted in the ticket as data;
//! the draft is looked at before it is saved, as that of `programmator plan`.

use super::args::ImportArgs;
use super::importer::importer;
use crate::base::text::{Clean, clean_line};
use crate::cli::agree::agreed;
use crate::cli::error::CliError;
use crate::cli::plan::{self, Planned};
use crate::cli::session::Session;
use crate::domain::import::item::Source;
use crate::domain::import::{Known, Standing};
use std::io::{Write, stderr};
use std::path::PathBuf;

/// Carries it out. Gives the exit code of the planning.
pub(super) async fn run(out: &mut dyn Write, session: &Session, args: &ImportArgs) -> Result<u8, CliError> {
    if args.source() != Source::Prd || args.files().len() != 1 {
        return Err(CliError::usage("--plan takes one document: programmator import prd FILE --plan"));
    }
    let path = ticket(out, session, args).await?;
    let planned = Planned { path, made: None, saves: args.yes, is_json: args.json, splits: true };
    plan::draft(out, session, planned).await
}

/// The ticket of the document: the one that was made of it before, else a new one, once the person has agreed where its tasks are
/// tickets already.
async fn ticket(out: &mut dyn Write, session: &Session, args: &ImportArgs) -> Result<PathBuf, CliError> {
    let importer = importer(session, session.places(&session.resolve(&session.folder)?).dir());
    let alone = importer.alone()?;
    let listed = importer.list(args.wanted()).await?;
    for note in &listed.found.notes {
        let _ = writeln!(stderr(), "note     {}", clean_line(note, 400));
    }
    let path = match listed.standing.first() {
        None => return Err(CliError::failure("the document has no text")),
        Some(standing) => {
            if let Some(id) = standing.ticket() {
                if matches!(standing, Standing::Changed(_)) {
                    let why = "the document has changed since; the ticket is planned as it is";
                    let _ = writeln!(stderr(), "note     {id} was made of it: {why}");
                }
                importer.dir.join(format!("{id}.md"))
            } else {
                beside(out, args, &listed.of_same_documents()).await?;
                let written = importer.import(&alone, &listed, &[0])?.written.into_iter().next();
                let (_, path) = written.ok_or_else(|| CliError::failure("another program imports it now"))?;
                let _ = writeln!(stderr(), "created {}", Clean::new(&path.to_string_lossy()));
                path
            }
        }
    };
    Ok(std::fs::canonicalize(&path).unwrap_or(path))
}

/// Says which tickets were made of the document's tasks, and asks whether one of the whole is wanted beside them; `--yes` says so.
async fn beside(out: &mut dyn Write, args: &ImportArgs, others: &[&Known]) -> Result<(), CliError> {
    let Some(first) = others.first() else { return Ok(()) };
    let more = if others.len() > 1 { format!(" and {} more", others.len() - 1) } else { String::new() };
    let _ = writeln!(stderr(), "note     tickets were imported from this document before: {}{more}", first.id);
    if args.yes {
        return Ok(());
    }
    if args.json {
        return Err(CliError::usage("--json cannot ask: --yes makes another ticket, of the whole document"));
    }
    agreed(out, "Make another ticket, of the whole document?", "makes another one").await
}
