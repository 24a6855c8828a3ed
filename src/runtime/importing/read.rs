//! Reads the tasks of a source: which files it has, or which program is asked.

use super::found::Found;
use super::importer::{ImportError, Importer, Wanted};
use super::sources;
use crate::adapters::import_source;
use crate::adapters::outside_program;
use crate::base::text::clean_line;
use crate::domain::import::item::{Item, Source};
use crate::domain::import::visible::line;
use crate::domain::import::{issues, lists, rc, stories};
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
/// What `gh` says, and what to do.
const OF_GH: [(&str, &str); 4] = [
    ("gh auth login", "log in with `gh auth login`"),
    ("not a git repository", "go to a clone of the repository"),
    ("no git remotes found", "add a remote that is on GitHub"),
    ("has disabled issues", "enable issues in its settings"),
];
/// The same of `bd`.
const OF_BD: [(&str, &str); 2] = [("no beads database found", "go to a beads project"), ("unknown flag", "update bd")];
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
    let name = ["repo", "view", "--json", "nameWithOwner", "--jq", ".nameWithOwner"];
    let place = outside_program::printed("gh", &name, folder, &OF_GH).await.map_err(|error| failed(&error))?;
    let place = place.trim().to_owned();
    let wanted = wanted(args, known);
    let limit = wanted.to_string();
    let mut list =
        vec!["issue", "list", "--state", "open", "--limit", &limit, "--json", "number,title,body,state,labels"];
    if let Some(label) = &args.label {
        list.extend(["--label", label]);
    }
    let printed = outside_program::printed("gh", &list, folder, &OF_GH).await.map_err(|error| failed(&error))?;
    let items = issues::github(&place, &printed).map_err(ImportError::Failed)?;
    let has_more = items.len() >= wanted;
    let is_whole = args.label.is_none() && !has_more;
    Ok(Found { items, places: vec![format!("{place}#")], is_whole, has_more, ..Found::default() })
}

pub(super) fn takes_no_file() -> ImportError {
    ImportError::Usage("github takes no file: it uses the folder's repository".to_owned())
}

async fn beads(importer: &Importer, args: &Wanted) -> Result<Found, ImportError> {
    let folder = &importer.folder;
    let printed = outside_program::printed("bd", &["list", "--json", "--limit", "0"], folder, &OF_BD).await;
    let found = |items: Vec<Item>, notes| Found {
        items,
        places: vec![String::new()],
        is_whole: true,
        notes,
        ..Found::default()
    };
    match printed {
        Ok(text) => Ok(found(issues::beads(&text).map_err(ImportError::Failed)?, Vec::new())),
        // Its file says the same as of its last export.
        Err(error) => match sources::files(folder, args.source).map_err(|error| failed(&error))?.pop() {
            Some(path) => {
                let items = issues::beads(&import_source::document(&path).map_err(|error| failed(&error))?)
                    .map_err(ImportError::Failed)?;
                Ok(found(items, vec![format!("{error}: read {} instead", shown(folder, &path))]))
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
        let source = args.source.word();
        return Err(ImportError::Usage(format!(
            "no {source} document found: pass one, as in `programmator import {source} FILE`"
        )));
    }
    for file in &files {
        let text = import_source::document(file).map_err(|error| failed(&error))?;
        let (place, stem) = (shown(importer.home(), file), file.file_stem().unwrap_or_default().to_string_lossy());
        let mut items = match args.source {
            Source::Ralph => stories::read(&place, &text),
            Source::Beads => issues::beads(&text),
            source => Ok(lists::read(source, &place, &stem, &text)),
        }
        .map_err(|why| ImportError::Failed(format!("{place}: {}", clean_line(&why, 300))))?;
        if !matches!(args.source, Source::Ralph | Source::Beads | Source::Ralphex) {
            let names = lists::left_out(&text);
            let names = names.iter().map(|name| format!("`{}`", line(name))).collect::<Vec<_>>().join(", ");
            if !names.is_empty() {
                found.notes.push(format!("{place}: skipped by title: {names}"));
            }
        }
        if args.one {
            items =
                lists::joined(args.source, &place, (&stem.replace(['_', '-', '@'], " "), lists::title(&text)), &items);
        }
        if items.is_empty() {
            found.notes.push(format!("{place} has no tasks: no checkboxes, numbered items, tables or sections"));
        }
        found.items.append(&mut items);
        // One ticket of a list and the tickets of its tasks are not each other's.
        found.places.extend((!args.one && args.source != Source::Beads).then(|| format!("{place}#")));
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
