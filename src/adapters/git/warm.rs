//! The scratch folder of the last tree, kept for the next: then only what has changed is read again, and nothing at all
//! where a snapshot follows the evidence at once.
//!
//! It is used only while it would come to the same as a fresh one: the person's index, what says which files are ignored,
//! and what is left out are as they were, and there was nothing unusual in it (other repositories, unreadable files).

use super::error::EvidenceError;
use super::imaging::{self, Read};
use super::index;
use super::kept::{Began, Imaged, Known, Looks, Warm, looks, moment};
use super::look::Image;
use super::paths::{self, Excludes};
use super::repository::Repository;
use super::scratch::{self, Objects, Scratch, Staged};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// How new the tree must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All is looked at.
    Now,
    /// That of a moment ago will do, if nothing has changed since.
    Lately,
}

/// The tree as it is, in objects that last.
pub(super) async fn stage(
    repository: &Arc<Repository>,
    exclude: &Excludes,
    wanted: Wanted,
) -> Result<Staged, EvidenceError> {
    let last = repository.warm.lock().unwrap_or_else(PoisonError::into_inner).take();
    let last = last.filter(|last| last.exclude == *exclude);
    if let Some(Warm { dir, known, stirred, image, .. }) = last
        && let Some(mut scratch) = Scratch::of(repository, dir)
    {
        if let Some(image) = image.image().await {
            match in_memory(repository, scratch, image, &known, exclude).await {
                Ok(staged) => return Ok(staged),
                Err(unused) => scratch = unused,
            }
        }
        let top = repository.top.clone();
        let (held, excluded) = (Arc::clone(&known), exclude.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let is_usable = held.rules_stand() && held.is_whole(&top);
            let may_stay = is_usable && !stirred && wanted == Wanted::Lately;
            (is_usable, may_stay && held.stands(&top, &excluded))
        });
        match looked.await.unwrap_or_default() {
            (true, true) => {
                let (tree, skipped, fresh) = (known.tree.clone(), Vec::new(), Vec::new());
                return Ok(Staged { scratch, tree, skipped, known: Some(known), image: None, fresh });
            }
            (true, false) => {
                if let Some(staged) = again(repository, scratch, known, exclude).await {
                    return Ok(staged);
                }
            }
            (false, _) => {}
        }
    }
    let scratch = Scratch::new(repository, Objects::Kept).await?;
    let began = Began::now(&scratch.beside("began"), &repository.top, exclude);
    let mut staged = scratch::stage_in(scratch, exclude).await?;
    staged.known = known(repository, &staged, began, None, exclude).await;
    Ok(staged)
}

/// Brings the tree in memory up to date, and gives the scratch folder back where git has to look.
async fn in_memory(
    repository: &Arc<Repository>,
    scratch: Scratch,
    image: Arc<Image>,
    known: &Arc<Known>,
    exclude: &Excludes,
) -> Result<Staged, Scratch> {
    let (mark, of, held, excluded) =
        (scratch.beside("began"), Arc::clone(repository), Arc::clone(known), exclude.clone());
    let look = move || {
        let (began, device) = moment(&mark)?;
        if device != held.began.device || !held.outer_stand() || !held.is_whole(&of.top) {
            return None;
        }
        let (image, fresh) = image.again(&of.top, &excluded, began).ok()?;
        let image = Arc::new(image);
        let tree = image.tree();
        of.seen.lock().unwrap_or_else(PoisonError::into_inner).tree(&tree, &image.root);
        Some((tree, image, fresh))
    };
    match tokio::task::spawn_blocking(look).await.ok().flatten() {
        Some((tree, image, fresh)) => {
            let known = Some(Arc::clone(known));
            Ok(Staged { scratch, tree, skipped: Vec::new(), known, image: Some(image), fresh })
        }
        None => Err(scratch),
    }
}

/// Brings the last tree up to date. `None`: it takes a fresh look.
async fn again(repository: &Arc<Repository>, scratch: Scratch, last: Arc<Known>, exclude: &Excludes) -> Option<Staged> {
    let began = Began::now(&scratch.beside("began"), &repository.top, exclude);
    let before = looks(&scratch.index());
    // What goes wrong here may go well in a fresh one, and else says so there.
    if !scratch.add(&[], exclude).await.is_ok_and(|skipped| skipped.is_empty()) {
        return None;
    }
    let unchanged = looks(&scratch.index()) == before;
    let tree = if unchanged { last.tree.clone() } else { scratch.write_tree().await.ok()? };
    let mut staged = Staged { scratch, tree, skipped: Vec::new(), known: None, image: None, fresh: Vec::new() };
    staged.known = known(repository, &staged, began, Some(Arc::clone(&last.seed)), exclude).await;
    staged.known.as_ref()?.is_whole(&repository.top).then_some(staged)
}

/// Keeps what was staged for the next time.
pub(super) fn keep(repository: &Arc<Repository>, staged: Staged, exclude: Excludes) {
    let Staged { scratch, tree, skipped, known, image, .. } = staged;
    if let (Some(known), true) = (known, skipped.is_empty()) {
        let dir = scratch.into_dir();
        let image = match image {
            Some(image) => Imaged::Known(image),
            None if repository.is_plain() && may_image(repository, known.began.device) => {
                let began = (known.began.time, known.began.device);
                let lists = known.outer.iter().skip(1).map(|(path, _)| path.clone()).collect();
                let (scratch, exclude, tree) = (dir.path().to_owned(), exclude.clone(), tree);
                Imaged::Coming(tokio::spawn(image_of(
                    Arc::clone(repository),
                    Read { scratch, exclude, tree, began, lists },
                )))
            }
            None => Imaged::Not,
        };
        let warm = Warm { image, dir, exclude, known, stirred: false };
        *repository.warm.lock().unwrap_or_else(PoisonError::into_inner) = Some(warm);
    }
}

/// Whether it is worth the time to make an image: on another device than the scratch folder's no file's time can be compared
/// with the moment of the look, and where it failed before it will most often fail again.
fn may_image(repository: &Repository, device: u64) -> bool {
    let blind = repository.blind.load(Ordering::Relaxed);
    let is_due = blind < 2 || blind.is_multiple_of(RARELY);
    // Until it is made it counts as failed.
    repository.blind.store(blind.saturating_add(1), Ordering::Relaxed);
    is_due && fs::symlink_metadata(&repository.top).is_ok_and(|top| top.dev() == device)
}

/// After so many looks by git it is tried again where it has failed: what was in the way may be gone.
const RARELY: u32 = 16;

async fn image_of(repository: Arc<Repository>, read: Read) -> Option<Image> {
    let tree = read.tree.clone();
    let image = imaging::make(Arc::clone(&repository), read).await?;
    repository.blind.store(0, Ordering::Relaxed);
    repository.seen.lock().unwrap_or_else(PoisonError::into_inner).tree(&tree, &image.root);
    Some(image)
}

/// Commands have run: what is there now may be anything.
pub(super) fn stir(repository: &Repository) {
    if let Some(warm) = repository.warm.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        warm.stirred = true;
    }
}

/// What is known of the tree, where all of it is of the usual kind. `seed`: what the person's index has, when it is known.
async fn known(
    repository: &Arc<Repository>,
    staged: &Staged,
    began: Option<Began>,
    seed: Option<Arc<[Vec<u8>]>>,
    exclude: &Excludes,
) -> Option<Arc<Known>> {
    let (began, index, repository) = (began?, staged.scratch.index(), Arc::clone(repository));
    let (tree, exclude) = (staged.tree.clone(), exclude.clone());
    let look = move || {
        let id = if repository.object_format == "sha256" { 32 } else { 20 };
        let files = index::paths(&fs::read(index).ok()?, id)?;
        let seed = match seed {
            Some(seed) => seed,
            None => seeded(&repository, id)?.into(),
        };
        // Both are in the order of their bytes.
        let mut there = files.iter().peekable();
        let is_gone = |path: &&Vec<u8>| {
            while there.next_if(|file| file < path).is_some() {}
            there.next_if_eq(path).is_none() && !exclude.covers(path)
        };
        let gone = seed.iter().filter(is_gone).map(|path| paths::path(path)).collect();
        let files: Vec<PathBuf> = files.into_iter().map(|path| paths::path(&path)).collect();
        let mut folders = BTreeSet::from([PathBuf::new()]);
        for file in &files {
            for above in file.ancestors().skip(1) {
                if !folders.insert(above.to_owned()) {
                    break;
                }
            }
        }
        folders.extend(began.beside.keys().cloned());
        let looked = |path: PathBuf| (path.clone(), looks(&path));
        let outer: Vec<(PathBuf, Looks)> = outer(&repository).map(looked).collect();
        let rules: Vec<(PathBuf, Looks)> = rules(&repository, &folders).map(looked).collect();
        // Else one of them may have changed while it was followed.
        let old = |(_, looks): &(PathBuf, Looks)| looks.is_none_or(|(.., changed)| changed < began.time);
        let are_old = outer.iter().chain(&rules).all(old);
        are_old.then(|| Arc::new(Known { began, tree, files, folders, outer, rules, seed, gone }))
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// What a fresh look starts from: the paths of the person's index, where it is of a kind that we read.
fn seeded(repository: &Repository, id: usize) -> Option<Vec<Vec<u8>>> {
    if repository.converts_all {
        return Some(Vec::new());
    }
    match fs::read(repository.git_dir.join("index")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Some(Vec::new()),
        read => index::paths(&read.ok()?, id),
    }
}

/// Files in these folders that say which of the others count: lists of what is ignored. In the place of a `.git` below the
/// top another repository may begin.
fn rules<'a>(repository: &'a Repository, folders: &'a BTreeSet<PathBuf>) -> impl Iterator<Item = PathBuf> + 'a {
    folders.iter().flat_map(move |folder| {
        let names = if folder.as_os_str().is_empty() { &[".gitignore"][..] } else { &[".gitignore", ".git"] };
        names.iter().map(move |name| repository.top.join(folder).join(name))
    })
}

/// And in none of them: the person's index, then more such lists.
fn outer(repository: &Repository) -> impl Iterator<Item = PathBuf> {
    let home = || {
        let config = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
        config.map(|config| config.join("git/ignore"))
    };
    let of_person = repository.excludes_file.clone().or_else(home);
    let of_git = [repository.git_dir.join("index"), repository.common_dir.join("info/exclude")];
    of_git.into_iter().chain(of_person)
}
