//! Reads the tasks of a source: which files it has, or which program is asked.

use super::found::Found;
use super::importer::{Form, ImportError, Importer, Wanted};
use super::sources;
use crate::adapters::import_source;
use crate::adapters::issue_tool::{self, GH};
use crate::base::amount::counted;
use crate::base::text::clean_line;
use crate::domain::import::item::Source;
use crate::domain::import::lists::LeftOut;
use crate::domain::import::visible::line;
use crate::domain::import::{foreign, issues, lists, rc, stories};
use std::path::{Path, PathBuf};

/// Settings of Hank's.
const RC: [&str; 2] = [".hankrc", ".ralphrc"];
/// What else it has, and what that is here.
const OF_HANK: [(&[&str], &str); 3] = [
    (
        &[".hank/PROMPT.md", ".ralph/PROMPT.md", "PROMPT.md"],
        "the built-in prompts cover how to work and report; keep what it says about the project",
    ),
    (
        &[".hank/AGENT.md", ".ralph/AGENT.md", "AGENT.md"],
        "also add its check commands to validation.commands; Claude may update this file",
    ),
    (
        &[".hank/specs", ".ralph/specs", "specs"],
        "`programmator import prd FILE` creates tickets from one of its documents",
    ),
];
/// Sections that are named, of those that are left out.
const NAMED: usize = 8;
/// Most tasks of documents.
const MOST: usize = 10_000;
/// Issues that are asked for where there is no limit.
const ALL: usize = 10_000;

/// The tasks. `known`: how many of them may be tickets already.
pub(super) async fn tasks(importer: &Importer, args: &Wanted, known: usize) -> Result<Found, ImportError> {
    if args.label.is_some() && args.source != Source::Github {
        return Err(ImportError::Usage("--label only works with github".to_owned()));
    }
    match args.source {
        Source::Github => github(importer, args, known).await,
        Source::Beads if args.files.is_empty() => beads(importer, args).await,
        _ => documents(importer, args),
    }
}

fn failed(error: &dyn std::fmt::Display) -> ImportError {
    ImportError::Failed(error.to_string())
}

/// One issue more than are known or may be new says that there are more.
fn wanted(args: &Wanted, known: usize) -> usize {
    if args.limit == 0 { ALL } else { args.limit.saturating_add(known).saturating_add(1).min(ALL) }
}

async fn github(importer: &Importer, args: &Wanted, known: usize) -> Result<Found, ImportError> {
    if !args.files.is_empty() {
        return Err(takes_no_file());
    }
    let folder = &importer.folder;
    let place = issue_tool::repository(folder).await.map_err(|error| failed(&error))?;
    let wanted = wanted(args, known);
    let limit = wanted.to_string();
    let mut list = vec!["issue", "list", "--state", "open", "--limit", &limit, "--json", issues::FIELDS];
    if let Some(label) = &args.label {
        list.extend(["--label", label]);
    }
    let items = issues::github(&place, GH.json(&list, folder).await.map_err(|error| failed(&error))?);
    let has_more = items.len() >= wanted;
    let is_whole = args.label.is_none() && !has_more;
    Ok(Found { items, places: vec![format!("{place}#")], is_whole, has_more, ..Found::default() })
}

pub(super) fn takes_no_file() -> ImportError {
    ImportError::Usage("github takes no file: it uses the folder's repository".to_owned())
}

async fn beads(importer: &Importer, args: &Wanted) -> Result<Found, ImportError> {
    let folder = &importer.folder;
    let list = ["list", "--json", "--limit", "0"];
    let printed = match issue_tool::beads() {
        Ok(tool) => {
            tool.printed(&list, folder).await.and_then(|text| issues::beads(&text).map_err(|_| tool.unexpected(&list)))
        }
        Err(missing) => Err(missing),
    };
    let places = vec![String::new()];
    match printed {
        Ok(items) => Ok(Found { items, places, is_whole: true, ..Found::default() }),
        // Its file says what was so at its last export: what is missing in it may be newer.
        Err(error) => match sources::files(folder, args.source).map_err(|error| failed(&error))?.pop() {
            Some(path) => {
                let (text, name) = (import_source::document(&path), shown(folder, &path));
                let items = issues::beads(&text.map_err(|error| failed(&error))?)
                    .map_err(|why| ImportError::Failed(format!("{name}: {why}")))?;
                let notes = vec![format!("{error}; read {name} instead")];
                Ok(Found { items, places, notes, ..Found::default() })
            }
            None => Err(failed(&error)),
        },
    }
}

/// The tasks of the documents that are named, or of those that the folder has of the source.
pub(super) fn documents(importer: &Importer, args: &Wanted) -> Result<Found, ImportError> {
    let folder = &importer.folder;
    let mut found = Found { is_whole: true, ..Found::default() };
    let files: Vec<PathBuf> = match &args.files[..] {
        [] => sources::files(folder, args.source).map_err(|error| failed(&error))?,
        files => files.iter().map(|file| folder.join(file)).collect(),
    };
    if files.is_empty() {
        return Err(ImportError::NoDocument(args.source));
    }
    for file in &files {
        let text = import_source::document(file).map_err(|error| failed(&error))?;
        let (place, stem) = (shown(importer.home(), file), file.file_stem().unwrap_or_default().to_string_lossy());
        let mut items = match args.source {
            Source::Ralph => stories::read(&place, &text),
            Source::Beads => issues::beads(&text),
            source => Ok(lists::read(source, &place, &stem, &text)),
        }
        .map_err(|why| ImportError::Failed(format!("{place}: {why}")))?;
        if !matches!(args.source, Source::Ralph | Source::Beads) && args.form != Form::Whole {
            let LeftOut { named, prose } = lists::left_out(args.source, &text);
            let why =
                [(named, "because of the title"), (prose, "without checkboxes, numbered items or requirement tables")];
            found.notes.extend(why.iter().filter_map(|(titles, why)| left_out(&place, titles, why)));
        }
        let (name, title) = (stem.replace(['_', '-', '@'], " "), lists::title(&text));
        match args.form {
            Form::Tasks => {}
            Form::One => items = lists::joined(args.source, &place, (&name, title), &items),
            Form::Whole => {
                items = lists::whole(&place, (&name, title), &text);
                if text.len() > foreign::TEXT {
                    found.notes.push(format!("{place}: only its first {} KiB are taken", foreign::TEXT >> 10));
                }
            }
        }
        if items.is_empty() {
            found.notes.push(format!("{place} has no tasks: no checkboxes, numbered items, tables or sections"));
        }
        found.items.append(&mut items);
        found.documents.push(place.clone());
        // One ticket of a list and the tickets of its tasks are not each other's.
        found.places.extend((args.form == Form::Tasks && args.source != Source::Beads).then(|| format!("{place}#")));
    }
    if found.items.len() > MOST {
        return Err(ImportError::Failed(format!("more than {MOST} tasks: split the document")));
    }
    if args.source == Source::Hank {
        of_hank(folder, &mut found);
    }
    if args.source == Source::Autoclaude
        && let Some(plan) = import_source::first(folder, &[".autoclaude/plan.md"]).map_err(|error| failed(&error))?
    {
        let note = "the plan behind the list: import it with `programmator import prd .autoclaude/plan.md`";
        found.notes.push(format!("{}: {note}", shown(folder, &plan)));
    }
    Ok(found)
}

/// How many sections of a document are left out and why, and which.
fn left_out(place: &str, titles: &[String], why: &str) -> Option<String> {
    let name = |title: &String| {
        if title.is_empty() { "the beginning".to_owned() } else { format!("`{}`", clean_line(&line(title), 60)) }
    };
    let names: Vec<String> = titles.iter().take(NAMED).map(name).collect();
    let more = titles.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let sections = counted(titles.len(), "section");
    (!titles.is_empty()).then(|| format!("{place}: {sections} skipped {why}: {}{more}", names.join(", ")))
}

/// What Hank has besides its list. A link is told, and keeps nothing else from being imported.
fn of_hank(folder: &Path, found: &mut Found) {
    let there = |names: &[&str], notes: &mut Vec<String>| {
        import_source::first(folder, names).unwrap_or_else(|error| {
            notes.push(format!("left out: {error}"));
            None
        })
    };
    let told = there(&RC, &mut found.notes).map(|path| (import_source::document(&path), path));
    match told {
        Some((Ok(text), path)) => {
            found.settings = rc::told(&text);
            if !found.settings.is_empty() {
                let name = shown(folder, &path);
                let cure = "was read, not executed: copy the keys that you want to .programmator/config.yaml";
                found.notes.push(format!("{name} {cure}"));
            }
        }
        Some((Err(error), _)) => found.notes.push(format!("left out: {error}")),
        None => {}
    }
    let mut along = Vec::new();
    for (names, about) in OF_HANK {
        if let Some(path) = there(names, &mut found.notes) {
            found.notes.push(format!("{}: {about}", shown(folder, &path)));
            along.extend(if path.is_dir() { import_source::documents_in(&path) } else { vec![path] });
        }
    }
    if !along.is_empty() {
        let names: Vec<String> = along.iter().map(|path| shown(folder, path)).collect();
        let names = serde_json::Value::from(names);
        found.notes.push(format!(
            "to include them in each prompt, set in .programmator/config.yaml: prompt: {{context: {names}}}"
        ));
    }
}

/// A file as it is named in references: from the folder where it lies in it.
fn shown(folder: &Path, file: &Path) -> String {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    clean_line(&real.strip_prefix(folder).unwrap_or(&real).to_string_lossy(), 300)
}
