//! Commits of what a ticket's runs have done, made by the real git in the person's repository: what goes in, what stays
//! out, whose programs run, and that nothing of theirs is lost.

use super::repo::Repo;
use programmator::adapters::git::{Try, Work, WorkTree};
use programmator::base::time::Timestamp;
use programmator::domain::commit::{Agreed, CommitPlan, Committed, Why};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

/// Claude at work in iteration `n`.
async fn works(repo: &Repo, n: u32, work: impl AsyncFnOnce()) {
    let before = repo.snapshot(n).await;
    work().await;
    seen(repo, n, &before).await;
}

async fn seen(repo: &Repo, n: u32, before: &programmator::adapters::git::SnapshotId) {
    let tree = repo.tree().await;
    tree.changed_by(&repo.name(n), &[before], &repo.exclude()).await.unwrap();
    tree.settled().await.unwrap();
}

fn work(repo: &Repo, since: Timestamp) -> Work {
    Work {
        runs: vec![(repo.ticket.clone(), repo.run)],
        before_git: Vec::new(),
        since,
        patience: Duration::from_secs(60),
    }
}

const AN_ID: Try<'_> = Try { id: "an id", called: &|| {} };

/// Nothing counts as changed since then.
const FUTURE: Timestamp = Timestamp::from_millis(4_000_000_000_000);

async fn plan(repo: &Repo) -> CommitPlan {
    repo.tree().await.plan_commit(&work(repo, FUTURE), &repo.exclude()).await.unwrap()
}

fn agreed(plan: &CommitPlan, message: &str) -> Agreed {
    let CommitPlan { head, branch, tree, programs, .. } = plan.clone();
    Agreed { message: message.into(), head, branch, tree, programs, ..Agreed::default() }
}

async fn commit_as(repo: &Repo, plan: &CommitPlan, message: &str) -> Result<Committed, String> {
    repo.person();
    repo.tree().await.commit(&work(repo, FUTURE), &agreed(plan, message), &AN_ID, &repo.exclude()).await
}

async fn commit(repo: &Repo) -> Committed {
    commit_as(repo, &plan(repo).await, "What was done\n").await.unwrap()
}

fn files(plan: &CommitPlan) -> Vec<String> {
    plan.files.iter().map(|file| format!("{} {}", file.change.letter(), file.path)).collect()
}

fn left_out(plan: &CommitPlan) -> Vec<(&str, Why)> {
    plan.left_out.iter().map(|file| (file.path.as_str(), file.why)).collect()
}

fn programs(plan: &CommitPlan) -> Vec<&str> {
    plan.programs.iter().map(|program| program.name.as_str()).collect()
}

/// Names of the last commit's files, with what became of them.
fn committed(repo: &Repo) -> Vec<String> {
    let said = repo.git(&["show", "--name-status", "--no-renames", "--format=", "-z", "HEAD"]);
    let words: Vec<&str> = said.split('\0').collect();
    words.chunks_exact(2).map(|pair| format!("{} {}", pair[0], pair[1])).collect()
}

/// What `git status` says.
fn status(repo: &Repo) -> Vec<String> {
    repo.git(&["status", "--porcelain", "-z"]).split_terminator('\0').map(str::to_owned).collect()
}

#[tokio::test]
async fn all_kinds_of_changes_go_in_and_nothing_else() {
    let repo = Repo::new().with_commit();
    for (name, text) in
        [("gone.txt", "1\n"), ("old name.txt", "a line that stays\n"), ("run.sh", "#!/bin/sh\n"), ("dir", "x")]
    {
        repo.write(name, text);
    }
    repo.commit_all("more");
    repo.write("mine.txt", "the person's, before\n");
    works(&repo, 1, async || {
        repo.write("tracked.txt", "changed\n");
        repo.remove("gone.txt");
        std::fs::rename(repo.path("old name.txt"), repo.path("new name.txt")).unwrap();
        repo.make_executable("run.sh");
        repo.write("-leading dash.rs", "x\n");
        repo.write("\x1b[2J\n.bin", "\0\u{1}binary\0");
        repo.write(":(top)*", "a pathspec, if it were read as one\n");
        repo.link("tracked.txt", "link");
        // A file gives way to a folder.
        repo.remove("dir");
        repo.write("dir/inside.txt", "y\n");
        repo.write("tickets/tk-1.md", "- [x] one\n");
    })
    .await;
    repo.write("dir/mine.txt", "the person's, meanwhile\n");
    let plan = plan(&repo).await;
    assert!(files(&plan).contains(&"R new name.txt".to_owned()), "{:?}", files(&plan));
    assert_eq!(left_out(&plan), []);
    let made = commit_as(&repo, &plan, "What was done\n").await.unwrap();
    assert_eq!(made.trouble, None);
    assert_eq!(
        committed(&repo),
        [
            "A \x1b[2J\n.bin", "A -leading dash.rs", "A :(top)*", "D dir", "A dir/inside.txt", "D gone.txt", "A link",
            "A new name.txt", "D old name.txt", "M run.sh", "M tracked.txt",
        ]
    );
    assert_eq!(status(&repo), ["?? dir/mine.txt", "?? mine.txt", "?? tickets/"]);
    assert!(repo.git(&["ls-tree", "HEAD", "run.sh"]).starts_with("100755"));
    assert!(repo.git(&["ls-tree", "HEAD", "link"]).starts_with("120000"));
    assert_eq!(made.id, repo.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(repo.scratch_left(), 0);
}

#[tokio::test]
async fn what_a_restore_brings_back_is_whose_it_was_then() {
    let repo = Repo::new().with_commit();
    for name in ["ours.txt", "mine.txt"] {
        repo.write(name, "1\n");
    }
    repo.commit_all("more");
    repo.write("mine.txt", "by the person\n");
    works(&repo, 1, async || repo.write("ours.txt", "by Claude\n")).await;
    works(&repo, 2, async || {
        for name in ["ours.txt", "mine.txt"] {
            repo.write(name, "by Claude again\n");
        }
    })
    .await;
    repo.restore(&repo.tree().await, "2", &repo.exclude()).await.unwrap();
    assert_eq!(files(&plan(&repo).await), ["M ours.txt"], "as the first iteration left it");
    assert_eq!(left_out(&plan(&repo).await), [("mine.txt", Why::Before)], "what was the person's is theirs again");
    // What is done on top of it counts, too, and what is neither is nobody's.
    works(&repo, 3, async || repo.write("ours.txt", "by Claude, otherwise\n")).await;
    assert_eq!(files(&plan(&repo).await), ["M ours.txt"]);
    repo.write("ours.txt", "by the person\n");
    assert_eq!(left_out(&plan(&repo).await)[1], ("ours.txt", Why::Since));
}

#[tokio::test]
async fn what_the_person_had_changed_before_or_changes_meanwhile_stays_out() {
    let repo = Repo::new().with_commit();
    for name in ["before.txt", "between.txt", "after.txt", "ours.txt", "settled.txt"] {
        repo.write(name, "1\n");
    }
    repo.commit_all("more");
    repo.write("before.txt", "by the person\n");
    works(&repo, 1, async || {
        for name in ["before.txt", "between.txt", "after.txt", "ours.txt", "settled.txt"] {
            repo.write(name, "by Claude\n");
        }
    })
    .await;
    repo.write("between.txt", "by the person\n");
    repo.write("settled.txt", "by the person, and committed\n");
    repo.git(&["commit", "-q", "-m", "theirs", "settled.txt"]);
    works(&repo, 2, async || {
        repo.write("between.txt", "by Claude again\n");
        repo.write("settled.txt", "by Claude again\n");
    })
    .await;
    repo.write("after.txt", "by the person\n");
    let plan = plan(&repo).await;
    assert_eq!(files(&plan), ["M ours.txt", "M settled.txt"]);
    assert_eq!(left_out(&plan), [("after.txt", Why::Since), ("before.txt", Why::Before), ("between.txt", Why::Since)]);
    commit_as(&repo, &plan, "Only ours").await.unwrap();
    assert_eq!(committed(&repo), ["M ours.txt", "M settled.txt"]);
    assert_eq!(status(&repo), [" M after.txt", " M before.txt", " M between.txt"]);
}

#[tokio::test]
async fn what_an_iteration_that_was_cut_off_has_changed_stays_out() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("seen.txt", "x\n")).await;
    repo.snapshot(2).await;
    repo.write("unseen.txt", "by whom?\n");
    let plan = plan(&repo).await;
    assert_eq!((files(&plan), left_out(&plan)), (vec!["A seen.txt".to_owned()], vec![("unseen.txt", Why::Unseen)]));
}

#[tokio::test]
async fn what_the_person_has_staged_stays_staged() {
    let repo = Repo::new().with_commit();
    repo.write("other.txt", "1\n");
    repo.commit_all("more");
    repo.write("other.txt", "staged\n");
    repo.git(&["add", "other.txt"]);
    repo.write("other.txt", "and changed since\n");
    works(&repo, 1, async || {
        repo.write("tracked.txt", "changed\n");
        repo.write("added by Claude.txt", "x\n");
        repo.git(&["add", "added by Claude.txt"]);
        repo.write("two versions.txt", "one\n");
        repo.git(&["add", "two versions.txt"]);
        repo.write("two versions.txt", "two\n");
    })
    .await;
    assert_eq!(left_out(&plan(&repo).await), [("two versions.txt", Why::Staged)]);
    commit(&repo).await;
    assert_eq!(committed(&repo), ["A added by Claude.txt", "M tracked.txt"]);
    assert_eq!(status(&repo), ["MM other.txt", "AM two versions.txt"]);
    assert_eq!(repo.git(&["show", ":other.txt"]), "staged\n");
}

#[tokio::test]
async fn the_first_commit_of_a_repository_and_a_linked_tree_are_as_any_other() {
    let repo = Repo::new();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    commit(&repo).await;
    assert_eq!((committed(&repo), status(&repo)), (vec!["A a.txt".to_owned()], vec![]));
    let linked = repo.linked();
    works(&linked, 1, async || linked.write("b.txt", "x\n")).await;
    commit(&linked).await;
    assert_eq!((committed(&linked), status(&linked)), (vec!["A b.txt".to_owned()], vec![]));
}

#[tokio::test]
async fn the_persons_hooks_run_and_what_they_refuse_is_not_committed() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    repo.write("theirs.txt", "staged\n");
    repo.git(&["add", "theirs.txt"]);
    repo.hook("pre-commit", "git diff --cached --name-only; echo 'no \x1b[31mtabs\x1b[0m, please' >&2; exit 1");
    let head = repo.git(&["rev-parse", "HEAD"]);
    let plan = plan(&repo).await;
    let before = repo.content();
    let why = commit_as(&repo, &plan, "What was done").await.unwrap_err();
    assert_eq!(why, "git did not commit; nothing is lost\na.txt\nno tabs, please", "only ours is in the hook's index");
    assert_eq!((repo.content(), repo.git(&["rev-parse", "HEAD"])), (before, head));
    assert_eq!(status(&repo), ["A  theirs.txt", "?? a.txt"]);
    repo.hook("pre-commit", "echo made by a hook > generated.txt; git add generated.txt");
    repo.hook("commit-msg", "echo 'Signed-off-by: a hook' >> \"$1\"");
    commit(&repo).await;
    assert_eq!(committed(&repo), ["A a.txt", "A generated.txt"]);
    assert!(repo.git(&["log", "-1", "--format=%B"]).contains("Signed-off-by: a hook"));
    assert_eq!(status(&repo), ["A  theirs.txt"]);
}

#[tokio::test]
async fn a_hook_or_setting_that_is_younger_than_the_ticket_is_asked_about() {
    let repo = Repo::new().with_commit();
    repo.person();
    repo.hook("pre-commit", "true");
    repo.write(".git/hooks/pre-push.sample", "never run");
    let hook = std::fs::metadata(repo.path(".git/hooks/pre-commit")).unwrap();
    let began = Timestamp::from_millis(hook.ctime() * 1_000 + hook.ctime_nsec() / 1_000_000 + 1);
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    let tree: WorkTree = repo.tree().await;
    let shown = tree.plan_commit(&work(&repo, began), &repo.exclude()).await.unwrap();
    assert_eq!(programs(&shown), [""; 0]);
    repo.hook("commit-msg", "true");
    repo.git(&["config", "core.hooksPath", ".git/hooks"]);
    let why = tree.commit(&work(&repo, began), &agreed(&shown, "m"), &AN_ID, &repo.exclude()).await.unwrap_err();
    assert!(why.contains("was changed since this was shown"), "{why}");
    let shown = tree.plan_commit(&work(&repo, began), &repo.exclude()).await.unwrap();
    assert_eq!(programs(&shown), [".git/config", ".git/hooks/commit-msg"]);
    assert_eq!(shown.programs[1].text, "#!/bin/sh\ntrue\n");
    // Another text under the same name is not what was shown.
    repo.hook("commit-msg", "touch stolen");
    let why = tree.commit(&work(&repo, began), &agreed(&shown, "m"), &AN_ID, &repo.exclude()).await.unwrap_err();
    assert!(why.contains("commit-msg was changed since this was shown"), "{why}");
    repo.hook("commit-msg", "true");
    let shown = tree.plan_commit(&work(&repo, began), &repo.exclude()).await.unwrap();
    tree.commit(&work(&repo, began), &agreed(&shown, "m"), &AN_ID, &repo.exclude()).await.unwrap();
    assert_eq!(committed(&repo), ["A a.txt"]);
}

#[tokio::test]
async fn what_was_shown_is_what_is_committed() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    let shown = plan(&repo).await;
    repo.write("a.txt", "changed by the person\n");
    let why = commit_as(&repo, &shown, "m").await.unwrap_err();
    assert_eq!(why, "files were changed since this was shown: review it again");
    repo.write("a.txt", "x\n");
    repo.git(&["switch", "-q", "-c", "elsewhere"]);
    let why = commit_as(&repo, &shown, "m").await.unwrap_err();
    assert_eq!(why, "another branch was checked out since this was shown: review it again");
    repo.git(&["switch", "-q", "-"]);
    repo.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
    let why = commit_as(&repo, &shown, "m").await.unwrap_err();
    assert_eq!(why, "HEAD has moved since this was shown: review it again");
    assert_eq!(commit_as(&repo, &plan(&repo).await, " \n").await.unwrap_err(), "a commit needs a message");
    // Somebody commits while the hooks run: theirs stays, ours is not made upon it.
    let theirs = "[ -e .git/once ] || { touch .git/once; env -u GIT_INDEX_FILE git commit-tree HEAD^{tree} -p HEAD -m theirs > .git/theirs; git update-ref HEAD $(cat .git/theirs); }";
    repo.hook("pre-commit", theirs);
    let why = commit_as(&repo, &plan(&repo).await, "m").await.unwrap_err();
    assert!(why.starts_with("git did not commit") || why.starts_with("HEAD moved while committing"), "{why}");
    assert_eq!(repo.git(&["log", "-1", "--format=%s"]).trim(), "theirs");
    commit(&repo).await;
    assert_eq!(committed(&repo), ["A a.txt"]);
    assert_eq!(status(&repo), Vec::<String>::new());
}

#[tokio::test]
async fn a_message_is_taken_as_it_is() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    repo.git(&["config", "commit.cleanup", "strip"]);
    let message = "-m \"quotes\" `$(x)` ünï\n\n# not a comment\n--amend";
    commit_as(&repo, &plan(&repo).await, message).await.unwrap();
    assert_eq!(repo.git(&["log", "-1", "--format=%B"]).trim_end(), message);
}

#[tokio::test]
async fn in_the_middle_of_a_merge_nothing_is_committed() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    let refused = async |words: &str| {
        let why = repo.tree().await.plan_commit(&work(&repo, FUTURE), &repo.exclude()).await.unwrap_err();
        assert!(why.contains(words), "{why}");
    };
    repo.write(".git/MERGE_HEAD", "");
    refused("in the middle of a merge").await;
    repo.remove(".git/MERGE_HEAD");
    std::fs::create_dir(repo.path(".git/rebase-merge")).unwrap();
    refused("in the middle of a rebase").await;
    let plain = Repo::plain();
    let why = plain.tree().await.plan_commit(&work(&plain, FUTURE), &plain.exclude()).await.unwrap_err();
    assert!(why.contains("git init"), "{why}");
}

#[tokio::test]
async fn a_repository_in_the_repository_stays_out() {
    let repo = Repo::new().with_commit();
    repo.add_submodule("vendored");
    works(&repo, 1, async || {
        repo.git(&["-C", "vendored", "commit", "-q", "--allow-empty", "-m", "another"]);
        repo.write("a.txt", "x\n");
    })
    .await;
    let plan = plan(&repo).await;
    assert_eq!((files(&plan), left_out(&plan)), (vec!["A a.txt".to_owned()], vec![("vendored", Why::Repository)]));
}

#[tokio::test]
async fn files_that_a_filter_converts_are_compared_as_git_stores_them() {
    let repo = Repo::new().with_commit();
    repo.write(".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n");
    repo.git(&["config", "filter.up.clean", "tr a-z A-Z"]);
    repo.write("a.up", "letters\n");
    repo.write("same.up", "letters\n");
    repo.write("a.crlf", "one\r\n");
    repo.commit_all("converted");
    works(&repo, 1, async || {
        repo.write("a.up", "other letters\n");
        repo.write("a.crlf", "two\r\n");
        // Changed, and back: nothing differs for git.
        repo.write("same.up", "LETTERS\n");
    })
    .await;
    let plan = plan(&repo).await;
    assert_eq!((files(&plan), left_out(&plan)), (vec!["M a.crlf".to_owned(), "M a.up".to_owned()], vec![]));
    commit_as(&repo, &plan, "m").await.unwrap();
    assert_eq!(repo.git(&["show", "HEAD:a.up"]), "OTHER LETTERS\n");
    assert_eq!(repo.git(&["show", "HEAD:a.crlf"]), "two\n");
}

async fn commit_within(repo: &Repo, patience: Duration) -> Result<Committed, String> {
    repo.person();
    let work = Work { patience, ..work(repo, FUTURE) };
    repo.tree().await.commit(&work, &agreed(&plan(repo).await, "Ours"), &AN_ID, &repo.exclude()).await
}

/// Long enough for git to call a hook.
const SOON: Duration = Duration::from_secs(3);

#[tokio::test]
async fn a_hook_that_never_ends_is_asked_to_end_and_can_tidy_up() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    repo.hook("pre-commit", "trap 'echo x > .git/tidied; exit 1' TERM; sleep 600 & wait");
    let why = commit_within(&repo, SOON).await.unwrap_err();
    assert!(why.contains("did not finish") && why.contains("Nothing was committed"), "{why}");
    assert_eq!(repo.git(&["rev-list", "--count", "HEAD"]).trim(), "1");
    assert!(repo.path(".git/tidied").exists());
}

/// Commits upon HEAD as another program would.
const ANOTHER: &str =
    "git update-ref HEAD $(echo another | git -c user.name=x -c user.email=x commit-tree HEAD^{tree} -p HEAD)";

#[tokio::test]
async fn what_is_committed_on_top_of_ours_stays() {
    for (reflogs, on_top) in [("true", ANOTHER), ("false", ANOTHER), ("true", "git commit -q --allow-empty -m another")]
    {
        let repo = Repo::new().with_commit();
        repo.git(&["config", "core.logAllRefUpdates", reflogs]);
        std::fs::remove_dir_all(repo.path(".git/logs")).unwrap();
        works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
        repo.hook("post-commit", &format!("[ -e .git/once ] || {{ touch .git/once; {on_top}; }}"));
        let made = commit(&repo).await;
        assert_eq!(made.trouble, None);
        assert_eq!(repo.git(&["rev-parse", "HEAD^"]).trim(), made.id, "{reflogs} {on_top}");
        assert_eq!(repo.git(&["log", "--format=%s"]), "another\nWhat was done\nfirst\n");
        assert_eq!(status(&repo), Vec::<String>::new());
    }
}

/// A hook commits by the index that git gives it, which is not the person's.
#[tokio::test]
async fn the_index_follows_what_a_hook_commits_on_top() {
    let repo = Repo::new().with_commit();
    repo.write("version.txt", "1\n");
    repo.write("notes.txt", "1\n");
    repo.commit_all("more");
    works(&repo, 1, async || {
        repo.write("a.txt", "x\n");
        repo.write("tracked.txt", "changed\n");
    })
    .await;
    repo.write("notes.txt", "2\n");
    repo.git(&["add", "notes.txt"]);
    let hook = "[ -e .git/once ] || { touch .git/once; echo 2 > version.txt; echo y > a.txt; echo new > new.txt; \
                git checkout -q HEAD^ -- tracked.txt; git add version.txt a.txt new.txt; git commit -q -m another; }";
    repo.hook("post-commit", hook);
    let made = commit(&repo).await;
    assert_eq!((made.trouble, made.files), (None, 2));
    assert_eq!(repo.git(&["log", "--format=%s", "-2"]), "another\nWhat was done\n");
    assert_eq!(status(&repo), ["M  notes.txt"], "what the person has staged stays, and nothing else differs");
}

#[tokio::test]
async fn at_the_end_of_the_time_it_says_whether_ours_is_made() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    // Another program's commit is not taken for ours.
    repo.hook("pre-commit", &format!("{ANOTHER}; exec sleep 600"));
    let why = commit_within(&repo, SOON).await.unwrap_err();
    assert!(why.contains("HEAD has moved") && !why.contains("Nothing was committed"), "{why}");
    assert_eq!(repo.git(&["log", "--format=%s"]), "another\nfirst\n");
    repo.remove(".git/hooks/pre-commit");
    repo.hook("post-commit", &format!("{ANOTHER}; exec sleep 600"));
    let made = commit_within(&repo, SOON).await.unwrap();
    assert_eq!(repo.git(&["rev-parse", "HEAD^"]).trim(), made.id);
    assert_eq!(status(&repo), Vec::<String>::new());
}

#[tokio::test]
async fn what_the_person_had_changed_stays_out_under_another_name_too() {
    let repo = Repo::new().with_commit();
    repo.write("tracked.txt", "by the person\n");
    repo.write("new.txt", "by the person, new\n");
    works(&repo, 1, async || {
        std::fs::rename(repo.path("tracked.txt"), repo.path("moved.txt")).unwrap();
        std::fs::rename(repo.path("new.txt"), repo.path("renamed.txt")).unwrap();
    })
    .await;
    works(&repo, 2, async || std::fs::rename(repo.path("moved.txt"), repo.path("again.txt")).unwrap()).await;
    let plan = plan(&repo).await;
    let out = [("again.txt", Why::Moved), ("renamed.txt", Why::Moved), ("tracked.txt", Why::Before)];
    assert_eq!((files(&plan), left_out(&plan)), (vec![], out.to_vec()));
}

#[tokio::test]
async fn a_folder_that_became_a_link_is_committed() {
    let repo = Repo::new().with_commit();
    repo.write("folder/one.txt", "1\n");
    repo.write("folder/two.txt", "2\n");
    repo.commit_all("a folder");
    works(&repo, 1, async || {
        std::fs::rename(repo.path("folder"), repo.path("other")).unwrap();
        std::fs::remove_file(repo.path("other/two.txt")).unwrap();
        std::os::unix::fs::symlink(".", repo.path("folder")).unwrap();
    })
    .await;
    commit(&repo).await;
    assert_eq!(committed(&repo), ["A folder", "D folder/one.txt", "D folder/two.txt", "A other/one.txt"]);
    assert_eq!(status(&repo), Vec::<String>::new());
}

#[tokio::test]
async fn line_ends_are_compared_as_git_stores_them() {
    for autocrlf in ["true", "input"] {
        let repo = Repo::new().with_commit();
        repo.git(&["config", "core.autocrlf", autocrlf]);
        repo.write("a.txt", "one\r\n");
        repo.commit_all("converted");
        works(&repo, 1, async || repo.write("a.txt", "two\r\n")).await;
        // Also where no filter may be run.
        for since in [FUTURE, Timestamp::from_millis(0)] {
            let plan = repo.tree().await.plan_commit(&work(&repo, since), &repo.exclude()).await.unwrap();
            assert_eq!((files(&plan), left_out(&plan)), (vec!["M a.txt".to_owned()], vec![]), "{autocrlf}");
        }
        commit(&repo).await;
        assert_eq!(repo.git(&["show", "HEAD:a.txt"]), "two\n");
    }
}

/// A program that is killed between HEAD and the index: all of its commit but that.
fn killed(repo: &Repo) -> String {
    let head = repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    repo.git(&["read-tree", "--index-output=.git/elsewhere", "HEAD"]);
    let index = repo.path(".git/elsewhere");
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.current_dir(repo.path(".")).env("GIT_INDEX_FILE", &index);
        git.env("GIT_REFLOG_ACTION", "commit (programmator an id)");
        assert!(git.args(args).status().unwrap().success());
    };
    git(&["add", "a.txt"]);
    git(&["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "Ours"]);
    head
}

#[tokio::test]
async fn the_index_follows_a_commit_whose_program_was_killed() {
    let repo = Repo::new().with_commit();
    repo.write("theirs.txt", "staged\n");
    repo.git(&["add", "theirs.txt"]);
    works(&repo, 1, async || repo.write("a.txt", "x\n")).await;
    let head = killed(&repo);
    assert_eq!(status(&repo), ["D  a.txt", "A  theirs.txt", "?? a.txt"], "the index lags");
    let made = repo.tree().await.recover_commit(Some(&head), "an id").await.unwrap().unwrap().unwrap();
    assert_eq!((made.id, made.files, made.trouble), (repo.git(&["rev-parse", "HEAD"]).trim().into(), 1, None));
    assert_eq!(status(&repo), ["A  theirs.txt"]);
    // What is finished is finished, also after more was committed upon it.
    repo.git(&["commit", "-q", "-m", "theirs"]);
    repo.tree().await.recover_commit(Some(&head), "an id").await.unwrap().unwrap().unwrap();
    assert_eq!(status(&repo), Vec::<String>::new());
    let other = repo.tree().await.recover_commit(Some(&head), "another id").await.unwrap().unwrap().unwrap_err();
    assert!(other.contains("HEAD has moved and does not contain this commit"), "{other}");
}

#[tokio::test]
async fn what_the_person_undid_upon_a_commit_is_not_staged_again() {
    let repo = Repo::new().with_commit();
    works(&repo, 1, async || {
        repo.write("a.txt", "x\n");
        repo.write("tracked.txt", "changed\n");
    })
    .await;
    let head = killed(&repo);
    // The index lags: this takes a.txt out again.
    repo.git(&["commit", "-q", "-m", "theirs"]);
    let made = repo.tree().await.recover_commit(Some(&head), "an id").await.unwrap().unwrap().unwrap();
    assert_eq!((made.files, made.trouble), (1, None));
    assert_eq!(status(&repo), [" M tracked.txt", "?? a.txt"]);
}

#[tokio::test]
async fn a_commit_that_was_not_made_before_its_program_was_killed_is_told_so() {
    let repo = Repo::new().with_commit();
    let head = repo.git(&["rev-parse", "HEAD"]);
    let recover = async || repo.tree().await.recover_commit(Some(head.trim()), "an id").await.unwrap();
    assert_eq!(
        recover().await,
        Some(Err("programmator exited before git had committed. Nothing was committed.".into()))
    );
    // As long as git holds its message it is at work.
    let keep = repo.keep().join("commit");
    std::fs::create_dir_all(&keep).unwrap();
    std::fs::write(keep.join("message"), "m").unwrap();
    let at_work = std::fs::File::open(keep.join("message")).unwrap();
    at_work.lock().unwrap();
    assert_eq!(recover().await, None);
    std::fs::write(keep.join("output"), "no tabs, please\n").unwrap();
    drop(at_work);
    let why = recover().await.unwrap().unwrap_err();
    assert!(why.ends_with("Nothing was committed.\nno tabs, please"), "{why}");
    assert!(!keep.exists());
}

#[tokio::test]
async fn what_the_person_takes_out_stays_out() {
    let repo = Repo::new().with_commit();
    repo.write("old.txt", "a line that stays\n");
    repo.commit_all("more");
    works(&repo, 1, async || {
        repo.write("a.txt", "x\n");
        repo.write("b.txt", "y\n");
        std::fs::rename(repo.path("old.txt"), repo.path("new.txt")).unwrap();
    })
    .await;
    let shown = plan(&repo).await;
    assert_eq!(files(&shown), ["A a.txt", "A b.txt", "R new.txt"]);
    repo.person();
    let tree = repo.tree().await;
    let without = |names: &[&str]| Agreed {
        without: names.iter().map(|name| (*name).to_owned()).collect(),
        ..agreed(&shown, "m")
    };
    let none = without(&["a.txt", "b.txt", "new.txt"]);
    let why = tree.commit(&work(&repo, FUTURE), &none, &AN_ID, &repo.exclude()).await.unwrap_err();
    assert_eq!(why, "nothing to commit");
    tree.commit(&work(&repo, FUTURE), &without(&["b.txt", "new.txt"]), &AN_ID, &repo.exclude()).await.unwrap();
    assert_eq!(committed(&repo), ["A a.txt"]);
    assert_eq!(status(&repo), [" D old.txt", "?? b.txt", "?? new.txt"]);
}
