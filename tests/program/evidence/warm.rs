//! A tree that is kept from one look to the next comes to the same as a fresh one, whatever has happened meanwhile; and
//! refs that are written without git are those that git reads.

use super::repo::Repo;
use programmator::adapters::git::{SnapshotId, WorkTree};

fn tree_of(repo: &Repo, id: &SnapshotId) -> String {
    repo.git(&["ls-tree", "-r", &id.0])
}

/// Evidence, then at once the next snapshot, as between two iterations.
async fn next(repo: &Repo, kept: &WorkTree, n: u32, meanwhile: impl FnOnce()) -> (Vec<String>, SnapshotId) {
    let before = kept.snapshot(&repo.name(n), &repo.exclude()).await.unwrap().id;
    let each = kept.changed_by(&repo.name(n), &[&before], &repo.exclude()).await.unwrap();
    meanwhile();
    (each.concat(), kept.snapshot(&repo.name(n + 1), &repo.exclude()).await.unwrap().id)
}

/// What is done, and how.
type Step = (&'static str, fn(&Repo));

#[tokio::test]
async fn a_kept_tree_is_as_a_fresh_one_after_every_kind_of_change() {
    let repo = Repo::new().with_commit();
    repo.write("tickets/tk-1.md", "- [ ] one\n");
    repo.write("src/a.rs", "fn a() {}\n");
    let kept = repo.tree().await;
    let steps: [Step; 20] = [
        ("nothing", |_| ()),
        ("a new file", |repo| repo.write("src/b.rs", "fn b() {}\n")),
        ("an edit", |repo| repo.write("src/a.rs", "fn a() { b() }\n")),
        ("an edit of the same length", |repo| repo.write("src/a.rs", "fn a() { c() }\n")),
        ("the ticket", |repo| repo.write("tickets/tk-1.md", "- [x] one\n")),
        ("a file beside the ticket", |repo| repo.write("tickets/tk-2.md", "- [ ] two\n")),
        ("a folder", |repo| repo.write("new/folder/file", "1")),
        ("a rename", |repo| std::fs::rename(repo.path("src/b.rs"), repo.path("src/c.rs")).unwrap()),
        ("a mode", |repo| repo.make_executable("src/c.rs")),
        ("a link", |repo| repo.link("a.rs", "src/link")),
        ("a file that goes", |repo| repo.remove("tracked.txt")),
        ("a folder in the place of a file", |repo| repo.write("tracked.txt/inside", "2")),
        ("what was there is ignored now", |repo| repo.write(".gitignore", "/new\n*.log\n")),
        ("an ignored file", |repo| repo.write("a.log", "3")),
        ("an ignored file that is added all the same", |repo| drop(repo.git(&["add", "-f", "a.log"]))),
        ("and taken out again", |repo| drop(repo.git(&["rm", "-q", "--cached", "a.log"]))),
        ("a commit", |repo| repo.commit_all("all of it")),
        ("other ends of lines", |repo| repo.write(".gitattributes", "*.rs text eol=crlf\n")),
        ("a list that ignores itself", |repo| {
            repo.write("src/link.d/x", "4");
            repo.write("src/.gitignore", "*\n");
        }),
        ("another repository", |repo| {
            repo.write("inner/file", "5");
            repo.git(&["init", "-q", "inner"]);
            repo.git(&["-C", "inner", "add", "-A"]);
            repo.git(&["-C", "inner", "-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "-qm", "inner"]);
        }),
    ];
    for (at, (what, step)) in (0_u32..).zip(steps) {
        step(&repo);
        let (changed, own) = next(&repo, &kept, 10 * at + 1, || ()).await;
        assert_eq!(changed, [""; 0], "{what}");
        assert_eq!(tree_of(&repo, &own), tree_of(&repo, &repo.snapshot(10 * at + 5).await), "{what}");
        // A person who saves between the evidence and the snapshot.
        let (_, own) = next(&repo, &kept, 10 * at + 7, || repo.write("meanwhile.txt", what)).await;
        assert_eq!(repo.git(&["cat-file", "blob", &format!("{}:meanwhile.txt", own.0)]), what);
        assert_eq!(tree_of(&repo, &own), tree_of(&repo, &repo.snapshot(10 * at + 9).await), "{what}, and an edit");
    }
    drop(kept);
    assert_eq!(repo.scratch_left(), 0);
}

#[tokio::test]
async fn a_file_that_came_and_went_between_two_looks_of_git_is_gone() {
    let repo = Repo::new().with_commit();
    repo.write(".gitignore", "*.log\n");
    // Else git, which cannot tell what is as new as its index, writes that anew each time.
    for file in [".gitignore", "tracked.txt"] {
        std::fs::File::open(repo.path(file)).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let kept = repo.tree().await;
    next(&repo, &kept, 1, || ()).await;
    // Seen in memory alone.
    repo.write("stray.txt", "1");
    let (_, with) = next(&repo, &kept, 3, || ()).await;
    repo.remove("stray.txt");
    // What may be ignored is left to git, whose index never had the file.
    repo.write("x.log", "2");
    let changed = kept.changed_by(&repo.name(4), &[&with], &repo.exclude()).await.unwrap().concat();
    assert_eq!(changed, ["stray.txt"]);
    let own = kept.snapshot(&repo.name(5), &repo.exclude()).await.unwrap().id;
    assert_eq!(tree_of(&repo, &own), tree_of(&repo, &repo.snapshot(6).await));
}

#[tokio::test]
async fn after_commands_have_run_the_next_snapshot_looks_at_everything() {
    let repo = Repo::new().with_commit();
    std::fs::create_dir(repo.path("empty")).unwrap();
    let kept = repo.tree().await;
    let (_, own) = next(&repo, &kept, 1, || {
        repo.write("empty/new.txt", "by a command");
        kept.commands_ran();
    })
    .await;
    assert_eq!(repo.git(&["cat-file", "blob", &format!("{}:empty/new.txt", own.0)]), "by a command");
}

#[tokio::test]
async fn a_forced_file_goes_and_comes_back() {
    let repo = Repo::new().with_commit();
    repo.write(".gitignore", "/dist\n");
    repo.write("dist/app.js", "1");
    repo.git(&["add", "-f", "dist/app.js"]);
    repo.commit_all("what is built");
    let kept = repo.tree().await;
    let before = kept.snapshot(&repo.name(1), &repo.exclude()).await.unwrap().id;
    repo.remove("dist/app.js");
    assert_eq!(kept.changed_by(&repo.name(1), &[&before], &repo.exclude()).await.unwrap(), [["dist/app.js"]]);
    let gone = kept.snapshot(&repo.name(2), &repo.exclude()).await.unwrap().id;
    repo.write("dist/app.js", "2");
    assert_eq!(kept.changed_by(&repo.name(2), &[&gone], &repo.exclude()).await.unwrap(), [["dist/app.js"]]);
    let back = kept.snapshot(&repo.name(3), &repo.exclude()).await.unwrap().id;
    assert_eq!(tree_of(&repo, &back), tree_of(&repo, &repo.snapshot(4).await));
}

#[tokio::test]
async fn a_kept_folder_is_not_swept_away_while_it_is_used_and_nothing_is_lost_where_it_is() {
    let repo = Repo::new().with_commit();
    let kept = repo.tree().await;
    next(&repo, &kept, 1, || ()).await;
    let folder = std::fs::read_dir(repo.keep()).unwrap().next().unwrap().unwrap().path();
    let days_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(48 * 3_600);
    std::fs::File::open(&folder).unwrap().set_modified(days_ago).unwrap();
    next(&repo, &kept, 3, || ()).await;
    // Another program sweeps.
    repo.snapshot(5).await;
    assert!(folder.is_dir());
    let (_, own) = next(&repo, &kept, 6, || std::fs::remove_dir_all(&folder).unwrap()).await;
    assert_eq!(tree_of(&repo, &own), tree_of(&repo, &repo.snapshot(8).await));
}

#[tokio::test]
async fn a_lock_that_a_killed_program_left_beside_a_ref_of_ours_is_in_nobodys_way() {
    let repo = Repo::new().with_commit();
    let id = repo.snapshot(1).await;
    let folder = repo.path(&format!(".git/refs/programmator/{}/{}", repo.ticket, repo.run));
    for age in [0, 120] {
        let lock = std::fs::File::create(folder.join("1.lock")).unwrap();
        lock.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        repo.write("more.txt", &age.to_string());
        let again = repo.snapshot(1).await;
        assert_ne!(again, id);
        assert_eq!(
            repo.git(&["rev-parse", &format!("refs/programmator/{}/{}/1", repo.ticket, repo.run)]).trim(),
            again.0
        );
    }
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["1"]);
}

#[tokio::test]
async fn a_snapshot_is_the_child_of_head_wherever_that_is_written() {
    let repo = Repo::new();
    let first = repo.snapshot(1).await;
    assert!(!repo.git_may(&["rev-parse", "--verify", "-q", &format!("{}^1", first.0)]), "there is no commit yet");
    let repo = repo.with_commit();
    let at_head = async |n: u32| {
        let id = repo.snapshot(n).await;
        assert_eq!(repo.git(&["rev-parse", &format!("{}^1", id.0)]), repo.git(&["rev-parse", "HEAD"]));
        let named = format!("refs/programmator/{}/{}/{n}", repo.ticket, repo.run);
        assert_eq!(repo.git(&["rev-parse", &named]).trim(), id.0);
    };
    at_head(2).await;
    repo.git(&["pack-refs", "--all"]);
    at_head(3).await;
    repo.write("more.txt", "taken again, over a packed ref");
    at_head(2).await;
    repo.commit_all("second");
    at_head(4).await;
    repo.git(&["checkout", "-q", "--detach", "HEAD^"]);
    at_head(5).await;
    repo.git(&["checkout", "-q", "-b", "deep/branch"]);
    at_head(6).await;
    let other = repo.linked();
    other.commit_all("in the other one");
    let id = other.snapshot(7).await;
    assert_eq!(other.git(&["rev-parse", &format!("{}^1", id.0)]), other.git(&["rev-parse", "HEAD"]));
}

#[tokio::test]
async fn refs_that_are_no_files_are_left_to_git() {
    let repo = Repo::plain();
    if !repo.git_may(&["init", "-q", "--ref-format=reftable"]) {
        return;
    }
    let repo = repo.with_commit();
    let id = repo.snapshot(1).await;
    assert_eq!(repo.git(&["rev-parse", &format!("{}^1", id.0)]), repo.git(&["rev-parse", "HEAD"]));
    let kept = repo.git(&["for-each-ref", "--format=%(objectname)", "refs/programmator"]);
    assert_eq!(kept.trim(), id.0);
    assert!(!repo.path(".git/refs/programmator").exists());
}

/// Numbers that look like chance, the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// One thing that a person, Claude or a build does to a tree. What cannot be done is not.
fn disturb(repo: &Repo, chance: &mut Chance) -> String {
    const PATHS: [&str; 14] = [
        "a", "a.b", "a/b", "a/c", "a-b", "d/e/f", "d/e", "d/g.log", "h.log", "build/x", "d/build/y", "é", "z/z/z/z",
        "a.py",
    ];
    let (path, other) = (PATHS[chance.below(PATHS.len())], PATHS[chance.below(PATHS.len())]);
    let is_in_the_way = |path: &str| {
        repo.path(path).ancestors().skip(1).any(|above| above.is_file() || above.is_symlink())
            || repo.path(path).is_dir()
    };
    let what = chance.below(14);
    match what {
        0..=3 if !is_in_the_way(path) => {
            let _ = std::fs::remove_file(repo.path(path));
            repo.write(path, &"x".repeat(chance.below(3)));
        }
        4 => drop(std::fs::remove_file(repo.path(path))),
        5 if repo.path(path) != repo.path(".") => drop(std::fs::remove_dir_all(repo.path(path))),
        6 if !is_in_the_way(other) => drop(std::fs::rename(repo.path(path), repo.path(other))),
        7 if repo.path(path).is_file() => repo.make_executable(path),
        8 if !is_in_the_way(path) => {
            let _ = std::fs::remove_file(repo.path(path));
            std::fs::create_dir_all(repo.path(path).parent().unwrap()).unwrap();
            repo.link(other, path);
        }
        9 if !is_in_the_way(path) && !repo.path(path).exists() => std::fs::create_dir_all(repo.path(path)).unwrap(),
        10 => repo.write(".gitignore", ["", "*.log\n", "build/\n", "/d/e\n!*.log\n", "a*\n"][chance.below(5)]),
        11 => drop(repo.git_may(&["add", "-f", path])),
        12 => repo.commit_all("all"),
        13 => drop(repo.git_may(&["rm", "-rq", "--cached", path])),
        _ => {}
    }
    format!("{what} {path} {other}")
}

#[tokio::test]
async fn a_tree_in_memory_is_as_a_fresh_one_whatever_is_done() {
    for seed in 0..3 {
        let repo = Repo::new().with_commit();
        repo.write("tickets/tk-1.md", "- [ ] one\n");
        repo.write(".gitignore", "*.log\nbuild/\n");
        let (kept, mut chance, mut done) = (repo.tree().await, Chance(seed), Vec::new());
        let mut last = kept.snapshot(&repo.name(1), &repo.exclude()).await.unwrap().id;
        for n in 2..40 {
            for _ in 0..=chance.below(3) {
                done.push(disturb(&repo, &mut chance));
            }
            let told = kept.changed_by(&repo.name(n), &[&last], &repo.exclude()).await.unwrap();
            let own = kept.snapshot(&repo.name(n), &repo.exclude()).await.unwrap().id;
            kept.settled().await.unwrap();
            let fresh = repo.snapshot(1_000 + n).await;
            assert_eq!(tree_of(&repo, &own), tree_of(&repo, &fresh), "seed {seed}: {done:#?}");
            let differing = repo.git(&["diff-tree", "-r", "-z", "--name-status", "--no-renames", &last.0, &own.0]);
            let words: Vec<&str> = differing.split_terminator('\0').collect();
            // What is still there was not deleted, only ignored.
            let is_gone = |path: &str| repo.path(path).symlink_metadata().map_or(true, |data| data.is_dir());
            let counts = |pair: &&[&str]| pair[0] != "D" || is_gone(pair[1]);
            let names: Vec<&str> = words.chunks(2).filter(counts).map(|pair| pair[1]).collect();
            assert_eq!(told.concat(), names, "seed {seed}: {done:#?}");
            last = own;
        }
        repo.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

#[tokio::test]
async fn after_the_first_look_git_is_asked_only_where_it_has_to_be() {
    let repo = Repo::new().with_commit();
    repo.write(".gitignore", "*.log\n");
    repo.write("src/a.rs", "fn a() {}\n");
    let kept = repo.tree().await;
    let mut before = kept.snapshot(&repo.name(1), &repo.exclude()).await.unwrap().id;
    let folder = std::fs::read_dir(repo.keep()).unwrap().next().unwrap().unwrap().path();
    let index = || std::fs::read(folder.join("git/index")).unwrap();
    let first = index();
    let steps: [Step; 6] = [
        ("src/b.rs", |repo| repo.write("src/b.rs", "fn b() {}\n")),
        ("src/a.rs", |repo| repo.write("src/a.rs", "fn a() { b() }\n")),
        ("new/folder/file", |repo| repo.write("new/folder/file", "1")),
        ("src/link", |repo| repo.link("a.rs", "src/link")),
        ("src/b.rs", |repo| repo.remove("src/b.rs")),
        // It may be ignored.
        ("x.logs", |repo| repo.write("x.logs", "1")),
    ];
    for (n, (file, step)) in (2..).zip(steps) {
        step(&repo);
        assert_eq!(kept.changed_by(&repo.name(n - 1), &[&before], &repo.exclude()).await.unwrap(), [[file]]);
        before = kept.snapshot(&repo.name(n), &repo.exclude()).await.unwrap().id;
        assert_eq!(index() == first, n < 8, "{file}");
    }
    // The person's own files are not touched by it.
    kept.settled().await.unwrap();
    assert_eq!(tree_of(&repo, &before), tree_of(&repo, &repo.snapshot(100).await));
}
