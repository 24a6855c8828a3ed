//! Resolving conflicts in real worktrees: what is found, what is committed, what a kill leaves.

use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

struct Place {
    _temp: tempfile::TempDir,
    worktree: Worktree,
    room: Room,
}

fn call(top: &Path, args: &[&str]) -> String {
    let said = Command::new("git").arg("-C").arg(top).args(args).output().unwrap();
    assert!(said.status.success(), "{args:?}: {}", String::from_utf8_lossy(&said.stderr));
    String::from_utf8(said.stdout).unwrap()
}

/// A worktree whose branch conflicts with the base in `same`. `before` is in the commit that both began at.
fn place(before: &[(&str, &str)]) -> Place {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().canonicalize().unwrap();
    let (home_top, top) = (folder.join("home"), folder.join("tk-1"));
    fs::create_dir(&home_top).unwrap();
    call(&home_top, &["init", "-q", "-b", "main"]);
    call(&home_top, &["config", "user.name", "P"]);
    call(&home_top, &["config", "user.email", "p@example.invalid"]);
    for (name, text) in [("same", "as it was\n")].iter().chain(before) {
        fs::write(home_top.join(name), text).unwrap();
    }
    call(&home_top, &["add", "-A"]);
    call(&home_top, &["commit", "-q", "-m", "one"]);
    call(&home_top, &["worktree", "add", "-q", "-b", "t", top.to_str().unwrap()]);
    for (top, text) in [(&home_top, "theirs\n"), (&top, "ours\n")] {
        fs::write(top.join("same"), text).unwrap();
        call(top, &["commit", "-q", "-a", "-m", text]);
    }
    let worktree = Worktree { directory: top.clone(), top, home_top, branch: "t".to_owned(), base: "main".to_owned() };
    Place { _temp: temp, worktree, room: Room { folder, reserve: 0 } }
}

#[tokio::test]
async fn markers_are_found_in_all_that_differs_whatever_its_name_and_size_and_lines_of_both_sides_are_none() {
    let heading = "Title\n=======\n";
    let size = "same conflict-marker-size=12\nshort conflict-marker-size=3\n";
    let Place { worktree, room, _temp } = place(&[("guide", heading), ("short", ""), (".gitattributes", size)]);
    let (top, home) = (&worktree.top, &worktree.home_top);
    fs::write(home.join("guide"), format!("{heading}Their own\n=========\n")).unwrap();
    call(home, &["commit", "-q", "-a", "-m", "guide"]);
    assert_eq!(begin(&worktree, &[], None, &room).await, Ok(vec!["same".to_owned()]));
    assert!(fs::read_to_string(top.join("same")).unwrap().starts_with("<<<<<<<<<<<< HEAD\n"));
    assert_eq!(marked(&worktree).await, Ok(vec!["same".to_owned()]));
    // Staged, it is no less marked; and new files may hold them, too.
    call(top, &["add", "same"]);
    fs::write(top.join("short"), "<<< HEAD\n").unwrap();
    fs::write(top.join(OsStr::from_bytes(b"n\xffw")), ">>>>>>> main\n").unwrap();
    let found = marked(&worktree).await.unwrap();
    assert_eq!(found, ["n\u{fffd}w", "same", "short"]);
    // Claude's own commit hides none.
    fs::write(top.join("short"), "").unwrap();
    call(top, &["commit", "-q", "-a", "-m", "merged"]);
    assert_eq!(marked(&worktree).await.unwrap(), ["n\u{fffd}w", "same"]);
    fs::remove_file(top.join(OsStr::from_bytes(b"n\xffw"))).unwrap();
    fs::write(top.join("same"), "both\n").unwrap();
    assert_eq!(marked(&worktree).await, Ok(Vec::new()));
}

#[tokio::test]
async fn only_claudes_new_files_are_committed_and_only_a_merge_of_the_base_on_the_tickets_branch() {
    let Place { worktree, room, _temp } = place(&[]);
    let (top, home) = (&worktree.top, &worktree.home_top);
    begin(&worktree, &[], None, &room).await.unwrap();
    fs::write(top.join("same"), "both\n").unwrap();
    fs::write(top.join("new [1]"), "Claude's\n").unwrap();
    fs::write(top.join("report"), "left by a command\n").unwrap();
    let made = ["new [1]".to_owned()];
    let why = commit(&worktree, &made, None, "Merge").await.unwrap_err();
    assert!(why.contains("1 untracked file (report)"), "{why}");
    assert!(begin(&worktree, &[], None, &room).await.unwrap_err().contains("2 untracked files"));
    assert!(begin(&worktree, &made, None, &room).await.unwrap_err().contains("1 untracked file (report)"));
    fs::remove_file(top.join("report")).unwrap();
    // A second try finds what Claude has made for the first.
    assert_eq!(begin(&worktree, &made, None, &room).await, Ok(vec!["same".to_owned()]));

    call(top, &["symbolic-ref", "HEAD", "refs/heads/other"]);
    assert!(commit(&worktree, &made, None, "Merge").await.unwrap_err().contains("is not on t"));
    call(top, &["symbolic-ref", "HEAD", "refs/heads/t"]);
    let theirs = call(top, &["rev-parse", "MERGE_HEAD"]);
    let foreign = call(home, &["commit-tree", "-m", "foreign", "main^{tree}"]);
    let open = git_file(top, "MERGE_HEAD").await.unwrap();
    fs::write(&open, foreign).unwrap();
    assert!(commit(&worktree, &made, None, "Merge").await.unwrap_err().contains("is not a merge of main"));
    fs::write(&open, &theirs).unwrap();

    assert_eq!(commit(&worktree, &made, None, "Merge").await, Ok(Vec::new()));
    assert_eq!(call(top, &["rev-parse", "HEAD^2"]), theirs);
    assert_eq!(call(top, &["show", "HEAD:new [1]", "HEAD:same"]), "Claude's\nboth\n");
    assert_eq!(
        (commit(&worktree, &made, None, "Merge").await, call(top, &["status", "-s"])),
        (Ok(Vec::new()), String::new())
    );
}

#[tokio::test]
async fn a_merge_that_git_has_not_noted_is_taken_up_and_one_of_somebody_elses_is_not() {
    let Place { worktree, room, _temp } = place(&[]);
    let top = &worktree.top;
    let files = Ok(vec!["same".to_owned()]);
    assert_eq!(begin(&worktree, &[], None, &room).await, files);
    fs::remove_file(git_file(top, "MERGE_HEAD").await.unwrap()).unwrap();
    assert_eq!(begin(&worktree, &[], None, &room).await, files);
    assert_eq!(call(top, &["rev-parse", "MERGE_HEAD"]), call(top, &["rev-parse", "main"]));
    fs::remove_file(git_file(top, "MERGE_HEAD").await.unwrap()).unwrap();
    fs::remove_file(git_file(top, NOTE).await.unwrap()).unwrap();
    assert!(begin(&worktree, &[], None, &room).await.unwrap_err().contains("1 uncommitted file (same)"));
}

#[tokio::test]
async fn a_run_that_is_stopped_lets_git_finish_in_the_worktree() {
    let Place { worktree, room, _temp } = place(&[("slow", "a\n"), (".gitattributes", "slow filter=slow\n")]);
    let (top, home) = (worktree.top.clone(), &worktree.home_top);
    fs::write(home.join("slow"), "b\n").unwrap();
    call(home, &["commit", "-q", "-a", "-m", "slow"]);
    let (at_it, go) = (home.with_file_name("at-it"), home.with_file_name("go"));
    let (shown, gate) = (at_it.display(), go.display());
    call(
        home,
        &["config", "filter.slow.smudge", &format!("touch {shown}; until [ -e {gate} ]; do sleep 0.02; done; cat")],
    );
    let task = tokio::spawn(async move { begin(&worktree, &[], None, &room).await });
    let until = async |there: &(dyn Fn() -> bool + Sync)| {
        while !there() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let limit = Duration::from_secs(60);
    tokio::time::timeout(limit, until(&|| at_it.exists())).await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    fs::write(go, "").unwrap();
    let is_begun =
        || Command::new("git").arg("-C").arg(&top).args(["rev-parse", "-q", "--verify", "MERGE_HEAD"]).output();
    tokio::time::timeout(limit, until(&|| is_begun().unwrap().status.success())).await.unwrap();
}
