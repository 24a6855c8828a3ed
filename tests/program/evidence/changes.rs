//! What people are told of a snapshot and now: files with their lines, and one file line by line.

use super::repo::Repo;
use programmator::adapters::git::{May, Ready, Revert, SnapshotId, came_of};
use programmator::domain::changes::{Change, ChangedFile, Changes, Diff, Hunk, Lines, RevertIntended, Side};

async fn changes(repo: &Repo, from: &SnapshotId) -> Changes {
    repo.tree().await.changes(from, None, &repo.exclude()).await.unwrap()
}

async fn diff(repo: &Repo, from: &SnapshotId, path: &str) -> Diff {
    repo.tree().await.diff(from, None, path, &repo.exclude()).await.unwrap()
}

fn told(file: &ChangedFile) -> String {
    let from = if let Change::Renamed(from) = &file.change { format!(" from {from}") } else { String::new() };
    let lines = match file.lines {
        Lines::Counted { added, removed } => format!("+{added} -{removed}"),
        other => format!("{other:?}"),
    };
    format!("{} {}{from} {lines}", file.change.letter(), file.path)
}

fn all(changes: &Changes) -> Vec<String> {
    changes.files.iter().map(told).collect()
}

#[tokio::test]
async fn files_are_told_with_what_became_of_them_and_their_lines() {
    let repo = Repo::new().with_commit();
    repo.write("gone.txt", "1\n2\n");
    repo.write("old name.txt", &"a line that stays\n".repeat(20));
    repo.write("logo.png", "\0png");
    // A repository's attributes do not say what is text.
    repo.write(".gitattributes", "*.txt -diff\n");
    repo.add_submodule("vendored");
    let before = repo.snapshot(1).await;
    repo.write("tracked.txt", "as committed\nand more\n");
    repo.remove("gone.txt");
    repo.remove("old name.txt");
    repo.write("new name.txt", &format!("{}one more\n", "a line that stays\n".repeat(20)));
    repo.write("logo.png", "\0other");
    repo.write("\x1b[2J\n.rs", "x\n");
    repo.write("tickets/tk-1.md", "- [x] one\n");
    repo.git(&["-C", "vendored", "commit", "-q", "--allow-empty", "-m", "another"]);
    let changes = changes(&repo, &before).await;
    assert_eq!(
        all(&changes),
        [
            "A \x1b[2J\n.rs +1 -0", "D gone.txt +0 -2", "M logo.png Binary", "R new name.txt from old name.txt +1 -0",
            "M tracked.txt +1 -0", "M vendored Submodule",
        ]
    );
    assert_eq!((changes.total, changes.added, changes.removed, changes.plain), (6, 3, 2, false));
    assert_eq!(changes.top, repo.top);
}

#[tokio::test]
async fn a_file_is_told_line_by_line() {
    let repo = Repo::new().with_commit();
    let lines: Vec<String> = (1..=40).map(|n| format!("line {n}")).collect();
    repo.write("a[1].txt", &lines.join("\n"));
    repo.write("a1.txt", "another\n");
    let before = repo.snapshot(1).await;
    repo.write("a[1].txt", &lines.join("\n").replace("line 3\n", "line three\n").replace("line 30", "-- line"));
    repo.write("a1.txt", "not asked for\n");
    let diff = diff(&repo, &before, "a[1].txt").await;
    let starts: Vec<_> = diff.hunks.iter().map(|hunk| (hunk.old, hunk.new, hunk.lines.len())).collect();
    assert_eq!((starts, diff.cut), (vec![(1, 1, 7), (27, 27, 8)], false));
    assert_eq!(diff.hunks[0].lines[2..4], [(Side::Old, "line 3".into()), (Side::New, "line three".into())]);
    assert_eq!(diff.hunks[1].lines[3..5], [(Side::Old, "line 30".into()), (Side::New, "-- line".into())]);
}

#[tokio::test]
async fn what_is_told_has_a_bound() {
    let repo = Repo::new().with_commit();
    let before = repo.snapshot(1).await;
    repo.large("image.bin", 100 << 20);
    repo.write("long.txt", &"x".repeat(3 << 20));
    repo.write("lines.txt", &"a line\n".repeat(400_000));
    for n in 0..1_500 {
        repo.write(&format!("many/{n:04}.txt"), "x\n");
    }
    let changes = changes(&repo, &before).await;
    assert_eq!((changes.files.len(), changes.total, changes.added), (1_000, 1_503, 401_501));
    assert_eq!(all(&changes)[..2], ["A image.bin Binary", "A lines.txt +400000 -0"]);
    assert_eq!(diff(&repo, &before, "image.bin").await, Diff::default());
    let (long, lines) = (diff(&repo, &before, "long.txt").await, diff(&repo, &before, "lines.txt").await);
    assert_eq!((long.cut, long.hunks[0].lines[0].1.len()), (true, 2_000));
    assert!(lines.cut && lines.hunks[0].lines.len() < 200_000, "{}", lines.hunks[0].lines.len());
}

#[tokio::test]
async fn without_git_files_are_told_without_their_lines() {
    let repo = Repo::plain();
    repo.write("a.txt", "x");
    repo.write("b.txt", "x");
    let before = repo.snapshot(1).await;
    repo.write("a.txt", "y");
    repo.remove("b.txt");
    repo.write("c.txt", "x");
    let changes = changes(&repo, &before).await;
    assert_eq!(all(&changes), ["M a.txt Unknown", "D b.txt Unknown", "A c.txt Unknown"]);
    assert!(changes.plain);
    assert_eq!(diff(&repo, &before, "a.txt").await, Diff::default());
}

#[tokio::test]
async fn what_came_after_the_run_is_not_its_work() {
    let repo = Repo::new().with_commit();
    let before = repo.snapshot(1).await;
    let tree = repo.tree().await;
    assert_eq!(tree.left_by(&repo.ticket, repo.run).await.unwrap(), Some((before.clone(), false)));
    repo.write("tracked.txt", "by the run\n");
    repo.write("a.txt", "1\n2\n");
    repo.write("other/tk-2.md", "another ticket\n");
    tree.changed_by(&repo.name(1), &[&before], &repo.exclude()).await.unwrap();
    tree.settled().await.unwrap();
    repo.write("tracked.txt", "by the person\nand more\n");
    repo.remove("a.txt");
    let end = tree.left_by(&repo.ticket, repo.run).await.unwrap().filter(|(_, is_end)| *is_end).map(|(end, _)| end);
    let others: Vec<_> = repo.exclude().into_iter().chain(["other".into()]).collect();
    let then = tree.changes(&before, end.as_ref(), &others).await.unwrap();
    assert_eq!((all(&then), then.at_end), (vec!["A a.txt +2 -0".into(), "M tracked.txt +1 -1".into()], true));
    assert_eq!(tree.lines(&repo.name(1), &[]).await.unwrap(), Some((4, 1)));
    assert_eq!(
        tree.lines(&repo.name(1), &others).await.unwrap(),
        Some((3, 1)),
        "a person's file is no line of the run"
    );
    repo.remove("other/tk-2.md");
    let now = changes(&repo, &before).await;
    assert_eq!((all(&now), now.at_end), (vec!["M tracked.txt +2 -1".into()], false));
}

#[tokio::test]
async fn the_base_is_that_of_the_upstream_or_the_default_branch() {
    let repo = Repo::new().with_commit();
    repo.git(&["branch", "-M", "trunk"]);
    let why = repo.tree().await.merge_base().await.unwrap_err();
    assert!(why.contains("no upstream"), "{why}");
    repo.git(&["branch", "-M", "main"]);
    let first = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let (base, name) = repo.tree().await.merge_base().await.unwrap();
    assert_eq!((base.0, name.as_str()), (first.clone(), "since the last commit"));
    repo.git(&["checkout", "-q", "-b", "fix"]);
    repo.commit_all("on the branch");
    let (base, name) = repo.tree().await.merge_base().await.unwrap();
    assert_eq!((base.0, name.as_str()), (first, "since branching from main"));
    let second = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.git(&["branch", "other"]);
    repo.git(&["branch", "-q", "--set-upstream-to", "other"]);
    repo.commit_all("more");
    let (base, name) = repo.tree().await.merge_base().await.unwrap();
    assert_eq!((base.0, name.as_str()), (second, "since branching from other"));
    assert!(Repo::plain().tree().await.merge_base().await.unwrap_err().contains("git init"));
}

fn wanted<'a>(repo: &'a Repo, from: &'a SnapshotId, path: &'a str, hunk: &'a Hunk) -> Revert<'a> {
    let from = std::slice::from_ref(from);
    Revert { ticket: &repo.ticket, from, is_commit: false, is_past: false, path, hunk }
}

const MAY: May<'static> = &|| Ok(());

/// Takes it back, for the run that this is the journal of.
fn write(ready: Ready) -> Result<(), String> {
    ready.write("1", MAY)
}

#[tokio::test]
async fn a_hunk_is_not_taken_back_as_git_stores_it() {
    let repo = Repo::new().with_commit();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    repo.write(".gitattributes", "*.up filter=up\n");
    let files = [("a.txt", "1\r\n2\r\n"), ("a.up", "one\ntwo\n"), ("plain.txt", "1\n2\n")];
    for (name, text) in files {
        repo.write(name, text);
    }
    repo.commit_all("converted");
    let base = SnapshotId(repo.git(&["rev-parse", "HEAD"]).trim().to_owned());
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    for (name, text) in files {
        let changed = format!("{text}more\r\n").replace("\r\n", if name == "a.txt" { "\r\n" } else { "\n" });
        repo.write(name, &changed);
        let shown = diff(&repo, &base, name).await;
        let wanted = Revert { is_commit: true, ..wanted(&repo, &base, name, &shown.hunks[0]) };
        let reverted = tree.prepare_revert(&wanted, &exclude, MAY).await.and_then(write);
        match name {
            "a.txt" => assert!(reverted.unwrap_err().contains("core.autocrlf")),
            "a.up" => assert!(reverted.unwrap_err().contains("filter")),
            _ => assert_eq!((reverted.is_ok(), repo.read(name).as_str()), (true, text)),
        }
        assert!(name == "plain.txt" || repo.read(name) == changed, "{name}");
    }
}

#[tokio::test]
async fn a_hunk_is_taken_back_after_a_snapshot_and_only_where_it_stands_as_shown() {
    let repo = Repo::new().with_commit();
    let text = |two: &str, nine: &str| format!("1\n{two}\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n{nine}");
    repo.write("a.sh", &text("2", "13"));
    repo.make_executable("a.sh");
    repo.commit_all("more");
    let before = repo.snapshot(1).await;
    repo.write("a.sh", &text("two", "thirteen\n"));
    repo.write("new.txt", "x\n");
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let shown = diff(&repo, &before, "a.sh").await;
    assert_eq!(shown.hunks.len(), 2);
    let prepare =
        async |path: &str, hunk| tree.prepare_revert(&wanted(&repo, &before, path, hunk), &exclude, MAY).await;
    let revert = async |path: &str, hunk| {
        let ready = prepare(path, hunk).await?;
        let saved = ready.saved.clone();
        write(ready).map(|()| saved)
    };
    // Changed by somebody since it was shown: nothing is written.
    repo.write("a.sh", &text("zwei", "thirteen\n"));
    let why = revert("a.sh", &shown.hunks[0]).await.unwrap_err();
    assert_eq!(why, "the file has changed since this was shown: review it again");
    assert_eq!(repo.read("a.sh"), text("zwei", "thirteen\n"));
    // Changed after the snapshot: nothing either.
    let ready = prepare("a.sh", &shown.hunks[1]).await.unwrap();
    repo.write("a.sh", &text("drei", "thirteen\n"));
    let why = write(ready).unwrap_err();
    assert!(why.contains("previous files in snapshot restore/1"), "{why}");
    assert_eq!(repo.read("a.sh"), text("drei", "thirteen\n"));
    repo.write("a.sh", &text("zwei", "thirteen\n"));
    // The other hunk is as it was shown.
    let saved = revert("a.sh", &shown.hunks[1]).await.unwrap();
    assert_eq!(repo.read("a.sh"), text("zwei", "13"));
    assert!(std::os::unix::fs::PermissionsExt::mode(&repo.path("a.sh").metadata().unwrap().permissions()) & 0o100 != 0);
    let new = diff(&repo, &before, "new.txt").await;
    assert!(revert("new.txt", &new.hunks[0]).await.unwrap_err().contains("a new, deleted or replaced file"));
    repo.restore(&tree, &saved, &exclude).await.unwrap();
    assert_eq!(repo.read("a.sh"), text("zwei", "thirteen\n"), "the snapshot has what was there");
}

/// Of a hundred lines, these with a word of their own.
fn numbered(otherwise: &[(usize, &str)]) -> String {
    let line =
        |n: usize| otherwise.iter().find(|(at, _)| *at == n).map_or(format!("{n}\n"), |(_, text)| format!("{text}\n"));
    (1..=100).map(line).collect()
}

#[tokio::test]
async fn each_hunk_that_a_run_has_left_can_be_taken_back_whatever_moved_it() {
    let repo = Repo::new().with_commit();
    repo.write("a.txt", &numbered(&[]));
    let before = repo.snapshot(1).await;
    repo.write("a.txt", &numbered(&[(10, "ten\nand\nmore"), (50, "fifty"), (90, "ninety")]));
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let end = repo.snapshot(2).await;
    let shown = tree.diff(&before, Some(&end), "a.txt", &exclude).await.unwrap();
    assert_eq!(shown.hunks.len(), 3);
    let revert = async |hunk| {
        let wanted = Revert { is_past: true, ..wanted(&repo, &before, "a.txt", hunk) };
        tree.prepare_revert(&wanted, &exclude, MAY).await.and_then(write)
    };
    revert(&shown.hunks[0]).await.unwrap();
    // The person has added lines above.
    repo.write("a.txt", &numbered(&[(30, "30\nby hand"), (50, "fifty"), (90, "ninety")]));
    revert(&shown.hunks[1]).await.unwrap();
    assert_eq!(repo.read("a.txt"), numbered(&[(30, "30\nby hand"), (90, "ninety")]));
    repo.write("a.txt", &numbered(&[(90, "neunzig")]));
    let why = revert(&shown.hunks[2]).await.unwrap_err();
    assert_eq!(why, "these lines have changed since the run: revert them in the editor");
}

#[tokio::test]
async fn a_hunk_of_an_earlier_run_is_taken_back_as_well() {
    let repo = Repo::new().with_commit();
    repo.write("a.txt", &numbered(&[]));
    let first = repo.snapshot(1).await;
    repo.write("a.txt", &numbered(&[(50, "fifty")]));
    let left = repo.snapshot(2).await;
    repo.write("a.txt", &numbered(&[(50, "fifty"), (90, "ninety")]));
    let (tree, exclude, spans) = (repo.tree().await, repo.exclude(), [first.clone(), left.clone()]);
    let early = tree.diff(&first, Some(&left), "a.txt", &exclude).await.unwrap();
    let late = diff(&repo, &left, "a.txt").await;
    for (hunk, then) in [(&early.hunks[0], numbered(&[(90, "ninety")])), (&late.hunks[0], numbered(&[]))] {
        let wanted = Revert { from: &spans, is_past: true, ..wanted(&repo, &left, "a.txt", hunk) };
        tree.prepare_revert(&wanted, &exclude, MAY).await.and_then(write).unwrap();
        assert_eq!(repo.read("a.txt"), then);
    }
}

#[tokio::test]
async fn it_is_asked_before_a_snapshot_and_when_only_the_name_is_missing() {
    let repo = Repo::new().with_commit();
    let before = repo.snapshot(1).await;
    repo.write("tracked.txt", "changed\n");
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let shown = diff(&repo, &before, "tracked.txt").await;
    let wanted = wanted(&repo, &before, "tracked.txt", &shown.hunks[0]);
    let refused = || Err("at work".to_owned());
    assert_eq!(tree.prepare_revert(&wanted, &exclude, &refused).await.err().as_deref(), Some("at work"));
    assert_eq!(repo.git(&["for-each-ref", "refs/programmator/tk-1/restore"]), "", "nothing was saved for it");
    // What is saved while the disk is waited for is not lost.
    let ready = tree.prepare_revert(&wanted, &exclude, MAY).await.unwrap();
    let saves = || {
        let staged = repo.path(".try.programmator-revert");
        assert_eq!(std::fs::read_to_string(staged).unwrap(), "as committed\n");
        repo.write("tracked.txt", "by hand\n");
        Ok(())
    };
    assert!(ready.write("try", &saves).is_err());
    assert_eq!(repo.read("tracked.txt"), "by hand\n");
    assert!(!repo.path(".try.programmator-revert").exists());
}

#[tokio::test]
async fn what_a_killed_revert_leaves_is_no_ones_work_and_is_swept() {
    let repo = Repo::new().with_commit();
    let before = repo.snapshot(1).await;
    repo.write("tracked.txt", "changed\n");
    repo.write("src/.1.programmator-revert", "half");
    assert_eq!(all(&changes(&repo, &before).await), ["M tracked.txt +1 -1"]);
    let late = repo.snapshot(2).await;
    assert!(!repo.git(&["ls-tree", "-r", "--name-only", &late.0]).contains("revert"));
    let intended = RevertIntended { id: "1".into(), file: repo.path("src/a.txt"), ..RevertIntended::default() };
    let _ = came_of(&intended);
    assert!(!repo.path("src/.1.programmator-revert").exists());
}

#[tokio::test]
async fn what_a_revert_writes_has_the_attributes_of_the_file() {
    let repo = Repo::new().with_commit();
    let before = repo.snapshot(1).await;
    repo.write("tracked.txt", "changed\n");
    repo.make_executable("tracked.txt");
    let file = std::fs::File::open(repo.path("tracked.txt")).unwrap();
    // Not every file system has them.
    let has = rustix::fs::fsetxattr(&file, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_ok();
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let shown = diff(&repo, &before, "tracked.txt").await;
    let wanted = wanted(&repo, &before, "tracked.txt", &shown.hunks[0]);
    tree.prepare_revert(&wanted, &exclude, MAY).await.and_then(write).unwrap();
    let mut value = [0; 8];
    let kept = rustix::fs::getxattr(repo.path("tracked.txt"), "user.note", &mut value[..]).unwrap_or_default();
    assert_eq!(&value[..kept], if has { &b"kept"[..] } else { b"" });
}
