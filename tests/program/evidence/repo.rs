//! Repositories and folders to test with; git is called without any config but the repository's.

use programmator::adapters::git::{EvidenceError, Prepared, SnapshotId, SnapshotName, Taken, WorkTree};
use programmator::base::id::{RunId, TicketId};
use programmator::domain::restore::{OthersWork, Restored, WantedFiles};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// No file.
pub fn no() -> [&'static str; 0] {
    []
}

/// A folder, mostly with a repository in it, and a place of ours beside it.
pub struct Repo {
    pub top: PathBuf,
    pub run: RunId,
    pub ticket: TicketId,
    beside: TempDir,
}

impl Repo {
    /// An empty repository.
    pub fn new() -> Self {
        Self::with_format("sha1")
    }

    pub fn with_format(format: &str) -> Self {
        let repo = Self::plain();
        repo.git(&["init", "-q", "--object-format", format]);
        repo
    }

    /// A repository at a path of one's own.
    pub fn at(top: PathBuf) -> Self {
        fs::create_dir_all(&top).unwrap();
        let repo = Self { top, ..Self::plain() };
        repo.git(&["init", "-q"]);
        repo
    }

    /// A folder without a repository.
    pub fn plain() -> Self {
        let beside = tempfile::tempdir().unwrap();
        let top = beside.path().canonicalize().unwrap().join("tree");
        fs::create_dir(&top).unwrap();
        Self {
            top,
            run: RunId::parse("01936b2e-0000-7000-8000-0000000000a1").unwrap(),
            ticket: TicketId::parse("tk-1").unwrap(),
            beside,
        }
    }

    pub fn with_commit(self) -> Self {
        self.write("tracked.txt", "as committed\n");
        self.commit_all("first");
        self
    }

    /// Another working tree of the same repository.
    pub fn linked(&self) -> Self {
        let other = Self::plain();
        fs::remove_dir(&other.top).unwrap();
        self.git(&["worktree", "add", "-q", "--detach", other.top.to_str().unwrap()]);
        other
    }

    pub fn add_submodule(&self, at: &str) -> Self {
        let source = Self::new().with_commit();
        let from = source.top.to_str().unwrap();
        self.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, at]);
        self.commit_all("with a submodule");
        Self { top: self.path(at), ..Self::plain() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).unwrap();
    }

    pub fn remove_all(&self, name: &str) {
        fs::remove_dir_all(self.path(name)).unwrap();
    }

    pub fn link(&self, target: &str, name: &str) {
        symlink(target, self.path(name)).unwrap();
    }

    pub fn fifo(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().unwrap();
        assert!(made.success());
    }

    pub fn make_executable(&self, name: &str) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn large(&self, name: &str, bytes: u64) {
        let file = fs::File::create(self.path(name)).unwrap();
        file.set_len(bytes).unwrap();
    }

    /// Gives a file the time of another.
    pub fn same_time(&self, name: &str, other: &str) {
        let time = fs::metadata(self.path(other)).unwrap().modified().unwrap();
        let file = fs::File::options().write(true).open(self.path(name)).unwrap();
        file.set_modified(time).unwrap();
    }

    /// Makes a file an hour old, so that git trusts what its index says of it.
    pub fn age(&self, name: &str) {
        let file = fs::File::options().write(true).open(self.path(name)).unwrap();
        let hour = std::time::Duration::from_secs(3_600);
        file.set_modified(std::time::SystemTime::now() - hour).unwrap();
    }

    fn call(&self, args: &[&str]) -> Output {
        Command::new("git")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.beside.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .args(["-c", "user.name=A Person", "-c", "user.email=person@localhost"])
            .args(args)
            .current_dir(&self.top)
            .output()
            .unwrap()
    }

    pub fn git(&self, args: &[&str]) -> String {
        let said = self.call(args);
        let stderr = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success(), "git {args:?}: {stderr}");
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    pub fn git_may(&self, args: &[&str]) -> bool {
        self.call(args).status.success()
    }

    /// Gives the repository somebody who commits in it.
    pub fn person(&self) {
        for (key, value) in [("user.name", "A Person"), ("user.email", "person@localhost"), ("commit.gpgsign", "false")]
        {
            self.git(&["config", key, value]);
        }
    }

    /// A hook that is this script.
    pub fn hook(&self, name: &str, script: &str) {
        let name = format!(".git/hooks/{name}");
        self.write(&name, &format!("#!/bin/sh\n{script}\n"));
        self.make_executable(&name);
    }

    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    pub fn keep(&self) -> PathBuf {
        self.beside.path().join("keep")
    }

    /// Scratch folders that were not removed.
    pub fn scratch_left(&self) -> usize {
        fs::read_dir(self.keep()).unwrap().count()
    }

    pub fn exclude(&self) -> Vec<PathBuf> {
        vec![self.path("tickets/tk-1.md"), PathBuf::from(".programmator")]
    }

    pub fn name(&self, n: u32) -> SnapshotName {
        SnapshotName { ticket: self.ticket.clone(), run: self.run, n }
    }

    /// Brings the files back to a snapshot.
    pub async fn restore(&self, tree: &WorkTree, pick: &str, exclude: &[PathBuf]) -> Result<Restored, String> {
        let wanted = WantedFiles { snapshot: pick.to_owned(), ..WantedFiles::default() };
        match tree.prepare_restore(&self.ticket, &wanted, None, &OthersWork::default(), exclude).await? {
            Prepared::Ready(ready) => ready.write().await,
            Prepared::Nothing(restored) => Ok(restored),
        }
    }

    pub async fn tree(&self) -> WorkTree {
        self.tree_at(".").await
    }

    pub async fn tree_at(&self, folder: &str) -> WorkTree {
        WorkTree::open(&self.path(folder), &self.keep()).await.unwrap()
    }

    pub async fn take(&self, n: u32) -> Taken {
        let tree = self.tree().await;
        let taken = tree.snapshot(&self.name(n), &self.exclude()).await.unwrap();
        tree.settled().await.unwrap();
        taken
    }

    pub async fn snapshot(&self, n: u32) -> SnapshotId {
        self.take(n).await.id
    }

    pub async fn changed(&self, from: &SnapshotId) -> Vec<String> {
        self.changed_or(&from.0).await.unwrap()
    }

    pub async fn changed_or(&self, from: &str) -> Result<Vec<String>, EvidenceError> {
        let from = SnapshotId(from.to_owned());
        let each = self.tree().await.changed_since_each(&[&from], &self.exclude()).await?;
        let [files] = <[Vec<String>; 1]>::try_from(each).unwrap();
        Ok(files)
    }

    /// Every file of `.git` that a person's git looks at, byte for byte: all but objects and our refs.
    pub fn visible_state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let git = self.path(".git");
        files(&git)
            .into_iter()
            .filter(|(path, _)| !path.starts_with("objects") && !path.starts_with("refs/programmator"))
            .collect()
    }

    /// Every file of the working tree, `.git` aside.
    pub fn content(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut content = files(&self.top);
        content.retain(|path, _| !path.starts_with(".git"));
        content
    }
}

/// Path → mode bit and bytes (or the link's target).
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let data = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if data.is_dir() {
                folders.push(path);
            } else if data.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(name, format!("-> {}", target.display()).into_bytes());
            } else if data.is_file() {
                let mut bytes = format!("{:o} ", data.permissions().mode() & 0o100).into_bytes();
                bytes.extend(fs::read(&path).unwrap());
                found.insert(name, bytes);
            }
        }
    }
    found
}
