//! Worktrees with the real git: what is half made, gone or in the way, and that nothing of it is lost.

use super::repo::Repo;
use programmator::adapters::git::merging::{self, Prepared};
use programmator::adapters::git::worktree::{self, Found};
use programmator::adapters::room::Room;
use programmator::domain::merge::MergeHow;
use programmator::domain::worktree::Worktree;
use std::fs;
use std::path::Path;

const TICKET: &str = "/nowhere/tk-1.md";

fn room() -> Room {
    Room { folder: std::env::temp_dir(), reserve: 0 }
}

/// A repository with a commit on `main`, and the worktree that its ticket is to have.
fn begun() -> (Repo, Worktree, tempfile::TempDir) {
    let repo = Repo::new().with_commit();
    repo.git(&["branch", "-M", "main"]);
    let beside = tempfile::tempdir().unwrap();
    let top = beside.path().canonicalize().unwrap().join("trees/tk-1");
    let worktree = Worktree {
        top: top.clone(),
        directory: top,
        home_top: repo.top.clone(),
        branch: "own/tk-1".into(),
        base: "main".into(),
    };
    (repo, worktree, beside)
}

async fn made(worktree: &Worktree) -> Found {
    worktree::make(worktree, Path::new(TICKET), &room()).await.unwrap()
}

fn git(top: &Path, args: &[&str]) {
    let call = std::process::Command::new("git").arg("-C").arg(top).args(args).output().unwrap();
    assert!(call.status.success(), "{args:?}: {}", String::from_utf8_lossy(&call.stderr));
}

#[tokio::test]
async fn what_is_there_is_found_again_and_what_is_gone_is_made_again_on_its_branch() {
    let (repo, own, _beside) = begun();
    let first = made(&own).await;
    assert_eq!((first.is_ready, first.commit.trim()), (false, repo.git(&["rev-parse", "main"]).trim()));
    assert!(!made(&own).await.is_ready, "it has not all that it needs");
    worktree::mark_ready(&own.top).await.unwrap();
    assert!(made(&own).await.is_ready);

    fs::write(own.top.join("work.txt"), "work\n").unwrap();
    git(&own.top, &["add", "-A"]);
    git(&own.top, &["-c", "user.name=C", "-c", "user.email=c@x.invalid", "commit", "-q", "-m", "Work"]);
    fs::remove_dir_all(&own.top).unwrap();
    assert!(!made(&own).await.is_ready);
    assert_eq!(fs::read_to_string(own.top.join("work.txt")).unwrap(), "work\n");
}

#[tokio::test]
async fn what_a_killed_git_has_left_is_moved_aside_with_all_that_is_in_it() {
    let (repo, own, _beside) = begun();
    made(&own).await;
    // It had written no more than this, and its lock is still there.
    fs::remove_file(own.top.join("tracked.txt")).unwrap();
    fs::write(own.top.join("mine"), "mine\n").unwrap();
    fs::remove_file(repo.path(".git/worktrees/tk-1/programmator-files")).unwrap();
    repo.git(&["worktree", "lock", "--reason", "initializing", own.top.to_str().unwrap()]);
    let found = made(&own).await;
    assert!(found.notes.iter().any(|note| note.contains("tk-1.unfinished-1")), "{:?}", found.notes);
    assert!(own.top.join("tracked.txt").is_file() && !own.top.join("mine").exists());
    assert_eq!(fs::read_to_string(own.top.with_file_name("tk-1.unfinished-1").join("mine")).unwrap(), "mine\n");
}

/// After a power failure: git had ended, and its files are cut off. No note says that they are on the disk.
#[tokio::test]
async fn what_was_never_on_the_disk_is_moved_aside_and_passes_for_no_edit() {
    let (repo, own, _beside) = begun();
    made(&own).await;
    fs::remove_file(repo.path(".git/worktrees/tk-1/programmator-files")).unwrap();
    fs::write(own.top.join("tracked.txt"), "").unwrap();
    let found = made(&own).await;
    assert!(found.notes.iter().any(|note| note.contains("tk-1.unfinished-1")), "{:?}", found.notes);
    let git = std::process::Command::new("git").arg("-C").arg(&own.top).args(["status", "--porcelain"]).output();
    assert_eq!(String::from_utf8(git.unwrap().stdout).unwrap(), "");
    // One that the person has locked stays, whatever is noted.
    fs::remove_file(repo.path(".git/worktrees/tk-1/programmator-files")).unwrap();
    repo.git(&["worktree", "lock", "--reason", "mine", own.top.to_str().unwrap()]);
    assert_eq!(made(&own).await.notes, Vec::<String>::new());
}

#[tokio::test]
async fn what_somebody_has_changed_before_all_was_set_up_stays_where_it_is() {
    let (_repo, own, _beside) = begun();
    made(&own).await;
    fs::write(own.top.join("tracked.txt"), "mine\n").unwrap();
    fs::write(own.top.join("new"), "mine\n").unwrap();
    let found = made(&own).await;
    assert!(!found.is_ready && found.notes.is_empty(), "{:?}", found.notes);
    for name in ["tracked.txt", "new"] {
        assert_eq!(fs::read_to_string(own.top.join(name)).unwrap(), "mine\n", "{name}");
    }
}

#[tokio::test]
async fn of_two_tickets_with_one_id_one_has_the_worktree() {
    let (repo, own, _beside) = begun();
    let [first, second] = ["a/tk-1.md", "b/tk-1.md"].map(|name| {
        repo.write(name, "# T\n");
        repo.path(name)
    });
    let room = room();
    let (one, other) = tokio::join!(worktree::make(&own, &first, &room), worktree::make(&own, &second, &room));
    assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
    let (owner, other) = if one.is_ok() { (first, second) } else { (second, first) };
    worktree::make(&own, &owner, &room).await.unwrap();
    let refused = worktree::make(&own, &other, &room).await.unwrap_err();
    assert!(refused.contains("has the same id and uses"), "{refused}");
    // It was moved: its id alone says that it is the same.
    fs::rename(&owner, repo.path("moved.md")).unwrap();
    worktree::make(&own, &repo.path("moved.md"), &room).await.unwrap();
    assert!(worktree::is_free(&own.top, &other).is_err());
}

#[tokio::test]
async fn nothing_is_merged_on_a_disk_without_room_for_it() {
    let (repo, own, _beside) = begun();
    repo.person();
    made(&own).await;
    fs::write(own.top.join("work.txt"), "work\n").unwrap();
    git(&own.top, &["add", "-A"]);
    git(&own.top, &["-c", "user.name=C", "-c", "user.email=c@x.invalid", "commit", "-q", "-m", "Work"]);
    let full = Room { reserve: u64::MAX, ..room() };
    let refused = merging::prepare(&own, MergeHow::Merge, "Ours", None, &full).await.unwrap_err();
    assert!(refused.contains("its files need 1 MiB"), "{refused}");
    assert!(!merging::scratch(&own.top).exists());
    let Ok(Prepared::Ready(to)) = merging::prepare(&own, MergeHow::Merge, "Ours", None, &room()).await else {
        panic!()
    };
    let before = repo.git(&["rev-parse", "main"]);
    let refused = merging::advance(&own, &to, Path::new("/nowhere"), &full).await.unwrap_err();
    assert!(refused.contains("its files need 1 MiB"), "{refused}");
    assert_eq!(repo.git(&["rev-parse", "main"]), before);
    assert_eq!(merging::advance(&own, &to, Path::new("/nowhere"), &room()).await, Ok(true));
}

#[tokio::test]
async fn what_is_not_ours_is_left_alone_and_told() {
    let (repo, own, _beside) = begun();
    let refused = async |own: &Worktree| worktree::make(own, Path::new(TICKET), &room()).await.unwrap_err();
    fs::create_dir_all(&own.top).unwrap();
    fs::write(own.top.join("mine"), "mine\n").unwrap();
    assert!(refused(&own).await.contains("not a worktree of"));
    assert_eq!(fs::read_to_string(own.top.join("mine")).unwrap(), "mine\n");
    fs::remove_file(own.top.join("mine")).unwrap();
    made(&own).await;
    git(&own.top, &["switch", "-q", "-c", "elsewhere"]);
    assert!(refused(&own).await.contains("is on elsewhere: switch it back to own/tk-1"));
    let nowhere = Worktree { base: "nowhere".into(), branch: "n".into(), top: own.top.join("../n"), ..own.clone() };
    assert!(refused(&nowhere).await.contains("no commit at nowhere"));
    let full = Room { reserve: u64::MAX, ..room() };
    let other = Worktree { branch: "full".into(), top: own.top.with_file_name("full"), ..own.clone() };
    assert!(worktree::make(&other, Path::new(TICKET), &full).await.unwrap_err().contains("its files need"));
    assert!(!other.top.exists() && repo.git(&["branch", "--list", "full"]).is_empty());
}

#[tokio::test]
async fn a_hook_of_the_repository_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let (repo, own, _beside) = begun();
    let hook = repo.top.join(".git/hooks/post-checkout");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch stolen\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    made(&own).await;
    assert!(!own.top.join("stolen").exists() && !repo.top.join("stolen").exists());
}

/// What was written somewhere and must be somewhere: in a file below one of these folders, or in a commit of a branch.
fn is_kept(repo: &Repo, folders: &[&Path], text: &str) -> bool {
    let in_files = folders.iter().any(|folder| {
        let found = std::process::Command::new("grep").args(["-rqF", "--exclude-dir=.git", text]).arg(folder).output();
        found.unwrap().status.success()
    });
    in_files || !repo.git(&["log", "--branches", "--format=%H", "-S", text]).trim().is_empty()
}

/// Random histories of edits, commits, merges, worktrees made, found and removed, and git killed at any step of it.
#[tokio::test(flavor = "multi_thread")]
async fn whatever_happens_no_byte_of_work_is_lost() {
    let mut met = [0; 3];
    for seed in 0..8_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut roll = move |sides: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % sides
        };
        let (repo, own, beside) = begun();
        repo.person();
        for n in 0..60 {
            repo.write(&format!("src/{n}.txt"), "many files take a moment\n");
        }
        repo.commit_all("files");
        let (mut written, mut validated) = (Vec::new(), Vec::new());
        let (mut removed, mut killed, mut merged) = (0, 0, 0);
        for step in 0..40 {
            let text = format!("written-{seed}-{step}.");
            let is_there = own.top.join(".git").is_file();
            match roll(11) {
                0 => repo.write(&format!("person-{step}.txt"), &text),
                8 => {
                    repo.commit_all("The person's");
                    continue;
                }
                9 | 10 => {
                    let patience = std::time::Duration::from_micros(5_000 + roll(1_000_000));
                    let place = room();
                    let prepare = merging::prepare(&own, MergeHow::Merge, "Ours", None, &place);
                    if let Ok(Ok(Prepared::Ready(to))) = tokio::time::timeout(patience, prepare).await
                        && roll(2) == 0
                    {
                        validated.push(to.commit.clone());
                        merged +=
                            u32::from(merging::advance(&own, &to, Path::new("/nowhere"), &room()).await == Ok(true));
                    }
                    continue;
                }
                1 | 2 if is_there => fs::write(own.top.join(format!("claude-{step}.txt")), &text).unwrap(),
                3 if is_there && worktree::held(&own).await.is_ok() => {
                    let call = |args: &[&str]| {
                        let mut git = std::process::Command::new("git");
                        git.arg("-C")
                            .arg(&own.top)
                            .args(["-c", "user.name=C", "-c", "user.email=c@x.invalid"])
                            .args(args);
                        git.output().unwrap().status.success()
                    };
                    let _ = call(&["add", "-A"]) && call(&["commit", "-q", "-m", "Work"]);
                    continue;
                }
                4 => {
                    let is_branch = repo.git_may(&["rev-parse", "-q", "--verify", &own.branch]);
                    let _ = is_branch && repo.git_may(&["merge", "-q", "--no-edit", &own.branch]);
                    continue;
                }
                5 => {
                    removed += u32::from(worktree::remove(&own).await.is_ok());
                    continue;
                }
                6 | 7 => {
                    // Dropped in the middle, git is killed wherever it is.
                    let patience = std::time::Duration::from_micros(roll(40_000));
                    let made = tokio::time::timeout(patience, worktree::make(&own, Path::new(TICKET), &room())).await;
                    killed += u32::from(made.is_err());
                    continue;
                }
                _ => {
                    if let Ok(found) = worktree::make(&own, Path::new(TICKET), &room()).await
                        && !found.is_ready
                    {
                        worktree::mark_ready(&own.top).await.unwrap();
                    }
                    continue;
                }
            }
            written.push(text);
            let ours = repo.git(&["log", "--first-parent", "--merges", "--grep=^Ours$", "--format=%H", "main"]);
            assert!(ours.lines().all(|commit| validated.iter().any(|known| known == commit)), "{ours} {validated:?}");
            for text in &written {
                assert!(is_kept(&repo, &[&repo.top, beside.path()], text), "seed {seed}, step {step}: {text} is lost");
            }
        }
        let all = written.iter().all(|text| is_kept(&repo, &[&repo.top, beside.path()], text));
        assert!(all, "seed {seed}: something is lost at the end; {removed} removed, {killed} killed");
        met = [met[0] + removed, met[1] + killed, met[2] + merged];
    }
    assert!(met.iter().all(|times| *times > 0), "removed, killed, merged: {met:?}");
}
