//! Whether a fresh run works where the person is or in a worktree of its ticket, and which one.

use super::open_error::OpenError;
use crate::adapters::git::head;
use crate::adapters::git::worktree::{ForkOwn, forked, is_free};
use crate::adapters::store::Store;
use crate::base::id::TicketId;
use crate::config::Config;
use crate::domain::workspace::Workspace;
use crate::domain::worktree::{Worktree, WorktreeFor};
use crate::orchestrator::prompt::branch_name;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The worktree that a run of this ticket works in; `None`: where the person is. `before`: that of its last run, which is
/// used again as long as it is there. Words for the person where there is to be one and cannot.
pub(super) fn worktree(
    before: Option<&Worktree>,
    here: &Workspace,
    config: &Config,
    (ticket, path): (&TicketId, &Path),
) -> Result<Option<Worktree>, String> {
    let own = which(before, here, config, (ticket, path))?;
    if let Some(own) = &own {
        is_free(&own.top, path)?;
    }
    Ok(own)
}

/// The worktree that a forked ticket gets. `base`: what its work goes into, unless the configuration says that.
pub(in crate::runtime) fn for_fork(
    here: &Workspace,
    config: &Config,
    ticket: &TicketId,
    base: Option<String>,
) -> Result<Worktree, String> {
    let top = top_of(here).ok_or("not a git repository")?;
    fresh(here, config, ticket, (top, base))
}

fn top_of(here: &Workspace) -> Option<&Path> {
    here.home().ancestors().find(|folder| folder.join(".git").exists())
}

fn base_of(config: &Config, top: &Path) -> Result<String, String> {
    let known = config.settings.git.base.clone().or_else(|| head::on_branch(top));
    known.ok_or_else(|| "no branch is checked out to start a worktree from: set git.base".to_owned())
}

fn below(here: &Workspace, top: &Path) -> PathBuf {
    here.home().strip_prefix(top).unwrap_or(Path::new("")).to_owned()
}

fn which(
    before: Option<&Worktree>,
    here: &Workspace,
    config: &Config,
    (ticket, path): (&TicketId, &Path),
) -> Result<Option<Worktree>, String> {
    let top = top_of(here);
    if let (Some(before), Some(top)) = (before, top)
        && before.home_top == top
        && before.top.is_dir()
    {
        return Ok(Some(Worktree { directory: joined(&before.top, &below(here, top)), ..before.clone() }));
    }
    if let Some(top) = top
        && let Some(ForkOwn { top: own, branch, base, .. }) = forked(top, path)
    {
        if branch.is_empty() {
            return Err(format!("{} is on no branch: switch it to its own", own.display()));
        }
        let (directory, home_top) = (joined(&own, &below(here, top)), top.to_owned());
        return Ok(Some(Worktree { directory, top: own, home_top, branch, base }));
    }
    let git = &config.settings.git;
    if git.worktree == WorktreeFor::Off {
        return Ok(None);
    }
    let top = top.ok_or("git.worktree needs a git repository")?;
    fresh(here, config, ticket, (top, None)).map(Some)
}

/// Refuses work on a branch of the ticket in the person's own directory that no run commits to.
pub(super) fn may_work(here: &Workspace, config: &Config, ticket: &TicketId) -> Result<(), String> {
    let git = &config.settings.git;
    let is_switched = git.switches && here.worktree().is_none() && top_of(here).is_some();
    let branch = branch_name(&git.branch, ticket.as_str()).ok().filter(|_| is_switched);
    branch.map_or(Ok(()), |branch| is_free_to_commit(&branch, config))
}

fn is_free_to_commit(branch: &str, config: &Config) -> Result<(), String> {
    if config.settings.git.protected.iter().any(|name| name == branch) {
        return Err(format!("the branch {branch} (git.branch) is protected (git.protected)"));
    }
    Ok(())
}

/// One that is not there yet.
fn fresh(
    here: &Workspace,
    config: &Config,
    ticket: &TicketId,
    (top, base): (&Path, Option<String>),
) -> Result<Worktree, String> {
    let git = &config.settings.git;
    let folder = config.worktree.folder.as_deref().ok_or("no folder for worktrees: set worktree.folder or HOME")?;
    let folder = real(Path::new(folder));
    if !folder.is_absolute() {
        return Err(format!("worktree.folder is {}, but must be absolute or start with ~/", folder.display()));
    }
    if folder.starts_with(top) {
        return Err(format!("worktree.folder ({}) is inside the repository: choose one outside", folder.display()));
    }
    let branch = branch_name(&git.branch, ticket.as_str()).map_err(|why| format!("git.branch: {why}"))?;
    is_free_to_commit(&branch, config)?;
    let base = base.map_or_else(|| base_of(config, top), Ok)?;
    if base == branch {
        return Err(format!("the worktree's branch would be its own base {branch}: set git.branch or git.base"));
    }
    let name = top.file_name().unwrap_or_default().to_string_lossy();
    let own = folder.join(format!("{name}-{}", mark(top))).join(ticket.as_str());
    Ok(Worktree { directory: joined(&own, &below(here, top)), top: own, home_top: top.to_owned(), branch, base })
}

/// Refuses the copy of a ticket that a worktree of ours has: its own file is the one that counts.
pub(super) fn is_no_copy(store: &Store, ticket: &Path) -> Result<(), OpenError> {
    let is_linked = |folder: &Path| folder.join(".git").is_file();
    let Some(top) = ticket.ancestors().find(|folder| is_linked(folder)) else { return Ok(()) };
    let runs = store.runs()?;
    let mut all = runs.iter().filter_map(|run| Some((run, run.worktree.as_ref()?)));
    match all.find(|(_, worktree)| worktree.top == top) {
        None => Ok(()),
        Some((run, worktree)) => Err(OpenError::Config(format!(
            "{} is a copy in the worktree of {}: start programmator in {}",
            ticket.display(),
            run.ticket,
            worktree.home_top.display()
        ))),
    }
}

/// Tells folders of the same name apart.
fn mark(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    let word: [u8; 4] = std::array::from_fn(|at| digest[at]);
    format!("{:08x}", u32::from_be_bytes(word))
}

fn joined(top: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { top.to_owned() } else { top.join(below) }
}

/// The path with its links resolved, as far as it is there.
fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|there| Some((there, std::fs::canonicalize(there).ok()?)));
    there.map_or_else(
        || path.to_owned(),
        |(there, real)| joined(&real, path.strip_prefix(there).unwrap_or(Path::new(""))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Files, Layers, Trust, resolve};
    use std::collections::BTreeMap;
    use std::fs;

    fn config() -> Config {
        let layers = Layers {
            user: Files::default(),
            project: Files::default(),
            trust: Trust::Unknown,
            environment: BTreeMap::default(),
            flags: Vec::new(),
        };
        resolve(&layers).unwrap().config
    }

    #[test]
    fn a_worktree_is_outside_the_repository_and_used_again_as_long_as_it_is_there() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("shop/.git")).unwrap();
        fs::create_dir_all(root.join("shop/web")).unwrap();
        fs::write(root.join("shop/.git/HEAD"), "ref: refs/heads/trunk\n").unwrap();
        let (here, ticket) = (Workspace::shared(root.join("shop/web")), TicketId::parse("tk-1").unwrap());
        let mut config = config();
        assert_eq!(which(None, &here, &config, (&ticket, Path::new(""))), Ok(None));

        config.settings.git.worktree = WorktreeFor::Ticket;
        config.worktree.folder = Some(root.join("trees").display().to_string());
        let own = which(None, &here, &config, (&ticket, Path::new(""))).unwrap().unwrap();
        assert!(own.top.starts_with(root.join("trees")) && own.top.ends_with("tk-1"));
        assert_eq!((own.directory.clone(), own.home_top.clone()), (own.top.join("web"), root.join("shop")));
        assert_eq!((own.branch.as_str(), own.base.as_str()), ("programmator/tk-1", "trunk"));

        // Another template makes another worktree only where that of before is gone.
        config.settings.git.branch = "other".into();
        config.settings.git.worktree = WorktreeFor::Off;
        let above = Workspace::shared(root.join("shop"));
        assert_eq!(which(Some(&own), &above, &config, (&ticket, Path::new(""))), Ok(None));
        fs::create_dir_all(&own.top).unwrap();
        let again = which(Some(&own), &above, &config, (&ticket, Path::new(""))).unwrap().unwrap();
        assert_eq!((again.directory, again.branch.as_str()), (own.top.clone(), "programmator/tk-1"));
        let elsewhere = Workspace::shared(&root);
        assert_eq!(which(Some(&own), &elsewhere, &config, (&ticket, Path::new(""))), Ok(None));

        config.settings.git.worktree = WorktreeFor::Ticket;
        let refused = |config: &Config| which(None, &here, config, (&ticket, Path::new(""))).unwrap_err();
        config.settings.git.branch = "main".into();
        assert!(refused(&config).contains("protected"));
        config.settings.git.branch = "trunk".into();
        assert!(refused(&config).contains("set git.branch or git.base"));
        config.settings.git.branch = "own".into();
        config.worktree.folder = Some(root.join("shop/trees").display().to_string());
        assert!(refused(&config).contains("inside the repository"));
        assert!(
            which(None, &elsewhere, &config, (&ticket, Path::new(""))).unwrap_err().contains("needs a git repository")
        );
        fs::write(root.join("shop/.git/HEAD"), "0123456789012345678901234567890123456789\n").unwrap();
        config.worktree.folder = Some(root.join("trees").display().to_string());
        assert!(refused(&config).contains("set git.base"));
    }
}
