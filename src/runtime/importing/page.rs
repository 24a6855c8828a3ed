//! Importing for the screen, which asks in steps and keeps what it was shown: what was changed meanwhile is not imported as something
//! else.

use super::importer::{Importer, LIMIT, Wanted};
use super::{Listed, sources};
use crate::base::amount::counted;
use crate::base::id::TicketId;
use crate::base::text::clean_line;
use crate::domain::import::Standing;
use crate::domain::import::foreign;
use crate::domain::import::page::{ImportChoice, ImportDone, ImportPage, ImportPlace, ImportTask};
use crate::domain::import::visible::line;

/// Tasks that are known or done and are shown, at most.
const SHOWN: usize = 1_000;
/// Lines of a ticket that are shown, at most.
const LINES: usize = 400;

impl Importer {
    /// The sources that the project has. Blocking, besides.
    pub async fn places(&self) -> Vec<ImportPlace> {
        let place = |(source, file): (_, Option<std::path::PathBuf>)| {
            let new = self.new_tasks(source, file.clone());
            ImportPlace { source, file, new }
        };
        sources::shown(&self.folder).await.into_iter().map(place).collect()
    }

    /// What one of them has; the error is for the person.
    pub async fn page(&self, place: &ImportPlace) -> Result<ImportPage, String> {
        let listed = self.list(wanted(place)).await.map_err(|error| error.to_string())?;
        // Of what is new there is no more than may be imported.
        let mut others = 0;
        let is_shown = |n: &usize| {
            others += usize::from(listed.standing[*n] != Standing::New);
            listed.standing[*n] == Standing::New || others <= SHOWN
        };
        let tasks: Vec<ImportTask> = (0..listed.kept).filter(is_shown).map(|n| task(&listed, n)).collect();
        let gone = listed.gone.iter().map(|one| ImportTask {
            key: one.reference.clone(),
            digest: String::new(),
            title: clean_line(&one.title, 200),
            about: String::new(),
            standing: Standing::Gone(one.id.clone()),
            becomes: Vec::new(),
        });
        let notes = &listed.found.notes;
        let settings = &listed.found.settings;
        let settings = settings.iter().map(|one| format!("{}={}: {}", one.name, one.value, one.here));
        Ok(ImportPage {
            tasks: tasks.into_iter().chain(gone).collect(),
            notes: notes.iter().map(|note| clean_line(note, 400)).chain(settings).collect(),
            has_more: listed.has_more(),
        })
    }

    /// Imports what was chosen of it, as far as it still says the same.
    pub async fn import_chosen(&self, place: &ImportPlace, chosen: &[ImportChoice]) -> Result<ImportDone, String> {
        let alone = self.alone().map_err(|error| error.to_string())?;
        let mut of_all = wanted(place);
        // What came in between does not push out what was chosen.
        of_all.limit = of_all.limit.saturating_add(chosen.len());
        let listed = self.list(of_all).await.map_err(|error| error.to_string())?;
        let (mut places, mut notes) = (Vec::new(), Vec::new());
        for choice in chosen {
            let at = listed.found.items.iter().position(|item| item.key == choice.key);
            let name = at.map_or_else(|| line(&choice.key), |n| foreign::title(&listed.found.items[n]));
            match at {
                None => notes.push(format!("`{name}` no longer exists")),
                Some(n) if listed.standing[n] != Standing::New => {
                    notes.push(format!("`{name}` is already done or imported"));
                }
                Some(n) if listed.found.items[n].digest() != choice.digest => {
                    notes.push(format!("`{name}` has changed since: review it again"));
                }
                Some(n) => places.push(n),
            }
        }
        let imported = self.import(&alone, &listed, &places).map_err(|error| error.to_string())?;
        notes.extend(imported.notes.iter().map(|note| clean_line(note, 400)));
        let id = |path: &std::path::PathBuf| TicketId::from_file_name(&path.file_stem()?.to_string_lossy()).into();
        Ok(ImportDone { tickets: imported.written.iter().filter_map(|(_, path)| id(path)).collect(), notes })
    }
}

fn wanted(place: &ImportPlace) -> Wanted {
    Wanted { limit: LIMIT, ..Wanted::of(place.source, place.file.iter().cloned().collect()) }
}

fn task(listed: &Listed, n: usize) -> ImportTask {
    let item = &listed.found.items[n];
    let standing = listed.standing[n].clone();
    let draft = foreign::draft(listed.wanted.source, item, listed.wanted.taken);
    // Only what is new becomes anything.
    let text = if standing == Standing::New { draft.markdown() } else { String::new() };
    let mut becomes: Vec<String> = text.lines().take(LINES).map(|line| clean_line(line, 300)).collect();
    let more = text.lines().count().saturating_sub(LINES);
    if more > 0 {
        becomes.push(format!("[{} in the ticket]", counted(more, "more line")));
    }
    ImportTask {
        key: item.key.clone(),
        digest: item.digest(),
        title: foreign::title(item),
        about: item.about(false).trim().to_owned(),
        standing,
        becomes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::clock::SystemClock;
    use crate::domain::import::item::Source;
    use std::fs;
    use std::sync::Arc;

    fn importer(folder: &std::path::Path) -> Importer {
        let (dir, state) = (folder.join(".tickets"), folder.join("state"));
        Importer { folder: folder.to_owned(), state, dir, user: None, clock: Arc::new(SystemClock) }
    }

    fn choice(task: &ImportTask) -> ImportChoice {
        ImportChoice { key: task.key.clone(), digest: task.digest.clone() }
    }

    #[tokio::test]
    async fn what_changes_while_it_is_looked_at_is_not_imported_as_something_else() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let list = |text: &str| fs::write(folder.join("TODO.md"), text).unwrap();
        list("- [ ] One\n  - [ ] a\n- [ ] Two\n- [ ] Three\n- [x] Four\n");
        let importer = importer(&folder);
        let places = importer.places().await;
        let place = ImportPlace { source: Source::Tasks, file: Some("TODO.md".into()), new: Some(3) };
        assert_eq!(places, std::slice::from_ref(&place));
        let page = importer.page(&place).await.unwrap();
        let standing: Vec<Standing> = page.tasks.iter().map(|task| task.standing.clone()).collect();
        assert_eq!(standing, [Standing::New, Standing::New, Standing::New, Standing::Done]);
        assert!(page.tasks[0].becomes.contains(&"- [ ] a".to_owned()), "{:?}", page.tasks[0].becomes);
        let chosen: Vec<ImportChoice> = page.tasks[..3].iter().map(choice).collect();
        list("- [ ] One\n  - [ ] b\n- [ ] Three\n");
        let done = importer.import_chosen(&place, &chosen).await.unwrap();
        assert_eq!(done.tickets.len(), 1, "{done:?}");
        assert!(done.notes[0].contains("`One` has changed since"), "{:?}", done.notes);
        assert!(done.notes[1].contains("no longer exists"), "{:?}", done.notes);
        let again = importer.import_chosen(&place, &chosen[2..]).await.unwrap();
        assert!(again.tickets.is_empty() && again.notes[0].contains("already done or imported"), "{again:?}");
        let left = importer.places().await;
        assert_eq!(left[0].new, Some(1), "what has a ticket is not counted as new");
        let page = importer.page(&place).await.unwrap();
        assert_eq!(page.tasks[1].standing, Standing::Imported(done.tickets[0].clone()));
    }

    #[tokio::test]
    async fn github_is_found_where_git_has_its_remotes_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let git = |args: &[&str]| {
            let of = ["-c", "user.name=P", "-c", "user.email=p@example.invalid"];
            let ran = std::process::Command::new("git").current_dir(&folder).args(of).args(args).output().unwrap();
            assert!(ran.status.success(), "{ran:?}");
        };
        fs::create_dir(folder.join("shop")).unwrap();
        git(&["init", "-q", "shop"]);
        git(&["-C", "shop", "commit", "-q", "--allow-empty", "-m", "One"]);
        git(&["-C", "shop", "worktree", "add", "-q", "../other"]);
        fs::create_dir(folder.join("other/src")).unwrap();
        let shown = async |place: &str| importer(&folder.join(place)).places().await;
        assert_eq!(shown("other").await, []);
        git(&["-C", "shop", "remote", "add", "origin", "git@github.com:ada/shop.git"]);
        let github = [ImportPlace { source: Source::Github, file: None, new: None }];
        for place in ["shop", "other", "other/src"] {
            assert_eq!(shown(place).await, github, "{place}");
        }
    }

    #[tokio::test]
    async fn what_is_new_is_shown_behind_any_number_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let done = (0..SHOWN + 200).map(|n| format!("- [x] Done {n}\n")).collect::<Vec<_>>().concat();
        fs::write(folder.join("TODO.md"), done + "- [ ] New\n").unwrap();
        let place = ImportPlace { source: Source::Tasks, file: Some("TODO.md".into()), new: Some(1) };
        let page = importer(&folder).page(&place).await.unwrap();
        assert_eq!((page.tasks.len(), page.tasks.last().unwrap().title.as_str()), (SHOWN + 1, "New"));
        assert!(!page.has_more);
    }

    #[tokio::test]
    async fn a_document_has_one_name_from_wherever_it_is_imported() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        fs::create_dir(folder.join("sub")).unwrap();
        fs::write(folder.join("TODO.md"), "- [ ] One\n").unwrap();
        let (above, below) = (importer(&folder), Importer { folder: folder.join("sub"), ..importer(&folder) });
        let list =
            async |from: &Importer, file: &str| from.list(Wanted::of(Source::Tasks, vec![file.into()])).await.unwrap();
        let listed = list(&above, "TODO.md").await;
        above.import(&above.alone().unwrap(), &listed, &listed.new_ones()).unwrap();
        assert!(list(&below, "../TODO.md").await.new_ones().is_empty(), "its ticket is there");
    }

    #[tokio::test]
    async fn links_beside_the_list_of_hank_are_told_and_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        fs::create_dir(folder.join(".hank")).unwrap();
        fs::write(folder.join(".hank/fix_plan.md"), "- [ ] One\n").unwrap();
        fs::write(folder.join("elsewhere.md"), "x").unwrap();
        for name in [".hank/PROMPT.md", ".hankrc"] {
            std::os::unix::fs::symlink(folder.join("elsewhere.md"), folder.join(name)).unwrap();
        }
        let importer = importer(&folder);
        let listed = importer.list(Wanted::of(Source::Hank, Vec::new())).await.unwrap();
        assert_eq!(listed.new_ones(), [0]);
        let told = listed.found.notes.join("\n");
        assert!(told.matches("left out: ").count() == 2 && told.contains(".hank/PROMPT.md"), "{told}");
        assert!(!told.contains("context:"), "{told}");
    }
}
