//! Evidence and snapshots against the real git, in temporary folders.
//!
//! One test a promise. `evidence/repo.rs` makes the repositories, `evidence/hostile.rs` holds the traps
//! that must not spring, `evidence/restoring.rs` what goes back and what stays,
//! `evidence/changes.rs` what people are told, `evidence/timeline.rs` the list of snapshots, `evidence/warm.rs` what is
//! kept from one look to the next.

mod changes;
mod commits;
mod hostile;
mod repo;
mod restoring;
mod timeline;
mod warm;
mod worktrees;

use repo::{Repo, no};
use std::path::PathBuf;

#[tokio::test]
async fn what_was_dirty_before_the_run_is_never_progress() {
    let repo = Repo::new().with_commit();
    repo.write("tracked.txt", "edited by the person\n");
    repo.write("new.txt", "untracked, by the person\n");
    let before = repo.snapshot(1).await;
    assert_eq!(repo.changed(&before).await, no());
    repo.write("new.txt", "untracked, by Claude\n");
    assert_eq!(repo.changed(&before).await, ["new.txt"]);
}

#[tokio::test]
async fn untracked_files_count_and_ignored_ones_do_not() {
    let repo = Repo::new().with_commit();
    repo.write(".gitignore", "/target\n*.log\n");
    repo.write(".git/info/exclude", "/private\n");
    let before = repo.snapshot(1).await;
    repo.write("target/debug/x", "built");
    repo.write("a.log", "noise");
    repo.write("private/x", "noise");
    assert_eq!(repo.changed(&before).await, no());
    repo.write("src/new.rs", "fn main() {}");
    assert_eq!(repo.changed(&before).await, ["src/new.rs"]);
}

/// A person has a ticket open in an editor while Claude works.
#[tokio::test]
async fn what_an_editor_puts_beside_the_ticket_does_not_count() {
    for tracked in [true, false] {
        let repo = Repo::new().with_commit();
        repo.write("tickets/tk-1.md", "- [ ] one\n");
        repo.write("tickets/tk-2.md~", "before\n");
        if tracked {
            repo.commit_all("with the ticket");
        }
        let before = repo.snapshot(1).await;
        for name in [".tk-1.md.swp", "tk-1.md~", "#tk-1.md#", ".#tk-1.md", "4913", ".tk-2.md.swo", "tk-2.md~"] {
            repo.write(&format!("tickets/{name}"), "an editor's\n");
        }
        assert_eq!(repo.changed(&before).await, no());
        repo.write("src/a.rs~", "somebody's\n");
        assert_eq!(repo.changed(&before).await, ["src/a.rs~"]);
    }
}

#[tokio::test]
async fn the_ticket_and_our_own_folder_do_not_count_tracked_or_not() {
    for tracked in [true, false] {
        let repo = Repo::new();
        repo.write("tickets/tk-1.md", "- [ ] one\n");
        repo.write(".programmator/config.yaml", "a: 1\n");
        if tracked {
            repo.commit_all("with the ticket");
        }
        let before = repo.snapshot(1).await;
        repo.write("tickets/tk-1.md", "- [x] one\n");
        repo.write(".programmator/config.yaml", "a: 2\n");
        repo.write(".programmator/new", "x");
        if tracked {
            repo.commit_all("ticked, and committed by Claude");
        }
        assert_eq!(repo.changed(&before).await, no(), "tracked: {tracked}");
        repo.write("tickets/tk-2.md", "another ticket");
        assert_eq!(repo.changed(&before).await, ["tickets/tk-2.md"]);
    }
}

#[tokio::test]
async fn deletions_modes_and_links_count_and_touching_does_not() {
    let repo = Repo::new().with_commit();
    repo.write("gone.txt", "x");
    repo.write("run.sh", "#!/bin/sh\n");
    repo.link("a.txt", "link");
    repo.write("touched.txt", "same");
    repo.commit_all("more");
    let before = repo.snapshot(1).await;
    repo.write("touched.txt", "same");
    assert_eq!(repo.changed(&before).await, no());
    repo.remove("gone.txt");
    repo.make_executable("run.sh");
    repo.remove("link");
    repo.link("b.txt", "link");
    assert_eq!(repo.changed(&before).await, ["gone.txt", "link", "run.sh"]);
}

#[tokio::test]
async fn commits_by_claude_do_not_hide_what_changed() {
    let repo = Repo::new().with_commit();
    let before = repo.snapshot(1).await;
    repo.write("work.txt", "done\n");
    repo.commit_all("Claude's own commit");
    assert_eq!(repo.changed(&before).await, ["work.txt"]);
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(repo.changed(&before).await, no());
}

#[tokio::test]
async fn an_edit_of_the_same_size_at_the_same_time_as_the_index_is_seen() {
    let repo = Repo::new().with_commit();
    for round in 0..20 {
        repo.write("tracked.txt", &format!("aaa{round:03}"));
        repo.git(&["add", "tracked.txt"]);
        let before = repo.snapshot(1).await;
        repo.write("tracked.txt", &format!("bbb{round:03}"));
        repo.same_time("tracked.txt", ".git/index");
        assert_eq!(repo.changed(&before).await, ["tracked.txt"], "round {round}");
    }
}

#[tokio::test]
async fn what_becomes_ignored_is_no_work_on_it() {
    let repo = Repo::new().with_commit();
    repo.write("node_modules/a.js", "x");
    let before = repo.snapshot(1).await;
    repo.write(".gitignore", "node_modules\n");
    assert_eq!(repo.changed(&before).await, [".gitignore"]);
}

#[tokio::test]
async fn several_baselines_are_compared_in_one_reading() {
    let repo = Repo::new().with_commit();
    let first = repo.snapshot(1).await;
    repo.write("one", "1");
    let second = repo.snapshot(2).await;
    repo.write("two", "2");
    let each = repo.tree().await.changed_since_each(&[&first, &second], &repo.exclude()).await.unwrap();
    assert_eq!(each, [vec!["one", "two"], vec!["two"]]);
}

#[tokio::test]
async fn works_on_an_unborn_head_and_in_an_empty_repository() {
    let repo = Repo::new();
    let empty = repo.snapshot(1).await;
    assert_eq!(repo.changed(&empty).await, no());
    repo.write("first.txt", "x");
    assert_eq!(repo.changed(&empty).await, ["first.txt"]);
    let before = repo.snapshot(2).await;
    assert_eq!(repo.git(&["rev-list", "--parents", &before.0]).trim(), before.0);
    assert!(!repo.git_may(&["rev-parse", "--verify", "-q", "HEAD"]));
}

#[tokio::test]
async fn is_a_child_of_head_with_an_identity_of_its_own_under_its_ref() {
    let repo = Repo::new().with_commit();
    repo.git(&["config", "user.useConfigOnly", "true"]);
    let id = repo.snapshot(7).await;
    let named = repo.git(&["rev-parse", &format!("refs/programmator/tk-1/{}/7", repo.run)]);
    assert_eq!(named.trim(), id.0);
    let parents = repo.git(&["log", "-1", "--format=%P|%an|%ce", &id.0]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(parents.trim(), format!("{}|programmator|programmator@localhost", head.trim()));
}

#[tokio::test]
async fn touches_neither_head_index_stash_nor_reflog() {
    let repo = Repo::new().with_commit();
    repo.write("stashed.txt", "x");
    repo.git(&["add", "-A"]);
    repo.git(&["stash", "push", "-q"]);
    repo.write("staged.txt", "x");
    repo.git(&["add", "staged.txt"]);
    repo.write("staged.txt", "y");
    repo.write("untracked.txt", "z");
    repo.git(&["config", "core.logAllRefUpdates", "always"]);
    let state = repo.visible_state();
    assert!(state.contains_key(&PathBuf::from("logs/refs/stash")), "nothing is compared");
    let id = repo.snapshot(1).await;
    repo.changed(&id).await;
    repo.tree().await.list_snapshots(&repo.ticket).await.unwrap();
    assert_eq!(repo.visible_state(), state);
}

#[tokio::test]
async fn submodules_are_left_alone_but_their_commit_counts() {
    let repo = Repo::new().with_commit();
    let inner = repo.add_submodule("sub");
    let before = repo.snapshot(1).await;
    inner.write("dirty.txt", "inside");
    assert_eq!(repo.changed(&before).await, no());
    inner.commit_all("inside");
    assert_eq!(repo.changed(&before).await, ["sub"]);
    repo.remove_all("sub");
    assert_eq!(repo.changed(&before).await, ["sub"]);
}

#[tokio::test]
async fn nested_repositories_do_not_stop_a_snapshot() {
    let repo = Repo::new().with_commit();
    Repo::at(repo.path("unborn")).write("x", "1");
    Repo::at(repo.path("born")).with_commit();
    let taken = repo.take(1).await;
    assert!(taken.skipped.iter().any(|said| said.contains("unborn")), "{:?}", taken.skipped);
    assert_eq!(repo.changed(&taken.id).await, no());
    Repo::at(repo.path("born")).commit_all("more");
    assert_eq!(repo.changed(&taken.id).await, ["born"]);
}

#[tokio::test]
async fn strange_names_and_kinds_are_saved_as_they_are() {
    let repo = Repo::new().with_commit();
    let names = ["-rf", "new\nline", "日本 语", "tab\there", "\"quoted\"", ":(top)x", "*", "a b/\\"];
    for name in names {
        repo.write(name, name);
    }
    repo.link("/nowhere/at/all", "dangling");
    repo.fifo("pipe");
    let id = repo.snapshot(1).await;
    assert_eq!(repo.changed(&id).await, no());
    for name in names {
        assert_eq!(repo.git(&["cat-file", "blob", &format!("{}:{name}", id.0)]), name);
        repo.write(name, "changed");
    }
    let mut expected = names.map(str::to_owned);
    expected.sort();
    assert_eq!(repo.changed(&id).await, expected);
}

#[tokio::test]
async fn a_large_untracked_file_is_saved() {
    let repo = Repo::new().with_commit();
    repo.large("big.bin", 100 << 20);
    let id = repo.snapshot(1).await;
    assert_eq!(repo.changed(&id).await, no());
    assert_eq!(repo.git(&["cat-file", "-s", &format!("{}:big.bin", id.0)]).trim(), (100 << 20).to_string());
}

#[tokio::test]
async fn comparing_leaves_no_objects_behind() {
    let repo = Repo::new().with_commit();
    let id = repo.snapshot(1).await;
    repo.write("new.txt", "only compared");
    let count = repo.git(&["count-objects", "-v"]);
    assert_eq!(repo.changed(&id).await, ["new.txt"]);
    assert_eq!(repo.git(&["count-objects", "-v"]), count);
    assert_eq!(repo.scratch_left(), 0);
}

#[tokio::test]
async fn a_subfolder_saves_the_whole_work_tree() {
    let repo = Repo::new().with_commit();
    repo.write("app/x", "1");
    let tree = repo.tree_at("app").await;
    let id = tree.snapshot(&repo.name(1), &[]).await.unwrap().id;
    repo.write("lib/y", "2");
    assert_eq!(tree.changed_since_each(&[&id], &[]).await.unwrap(), [["lib/y"]]);
}

#[tokio::test]
async fn a_folder_that_its_repository_ignores_is_judged_by_itself() {
    let repo = Repo::new().with_commit();
    repo.write(".gitignore", "/build\n");
    repo.write("build/a", "1");
    let tree = repo.tree_at("build").await;
    let id = tree.snapshot(&repo.name(1), &[]).await.unwrap().id;
    repo.write("build/b", "2");
    assert_eq!(tree.changed_since_each(&[&id], &[]).await.unwrap(), [["b"]]);
}

#[tokio::test]
async fn linked_work_trees_and_sha256_repositories_work() {
    let repo = Repo::new().with_commit();
    let linked = repo.linked();
    let id = linked.snapshot(1).await;
    linked.write("x", "1");
    assert_eq!(linked.changed(&id).await, ["x"]);
    assert_eq!(repo.changed(&id).await, no());
    assert_eq!(repo.tree().await.list_snapshots(&repo.ticket).await.unwrap().len(), 1);

    let wide = Repo::with_format("sha256").with_commit();
    let id = wide.snapshot(1).await;
    assert_eq!(id.0.len(), 64);
    wide.write("x", "1");
    assert_eq!(wide.changed(&id).await, ["x"]);
}

#[tokio::test]
async fn a_merge_in_conflict_and_a_split_index_are_saved() {
    let repo = Repo::new().with_commit();
    repo.git(&["checkout", "-qb", "side"]);
    repo.write("tracked.txt", "side\n");
    repo.commit_all("side");
    repo.git(&["checkout", "-q", "-"]);
    repo.write("tracked.txt", "main\n");
    repo.commit_all("main");
    repo.git(&["update-index", "--split-index"]);
    assert!(!repo.git_may(&["merge", "side"]), "no conflict");
    let state = repo.visible_state();
    let id = repo.snapshot(1).await;
    assert_eq!(repo.changed(&id).await, no());
    assert!(repo.git(&["cat-file", "blob", &format!("{}:tracked.txt", id.0)]).contains("<<<<<<<"));
    assert_eq!(repo.visible_state(), state);
}

#[tokio::test]
async fn a_broken_index_costs_time_and_nothing_else() {
    let repo = Repo::new().with_commit();
    repo.write(".git/index", "DIRC this is no index");
    let id = repo.snapshot(1).await;
    repo.write("new.txt", "x");
    assert_eq!(repo.changed(&id).await, ["new.txt"]);
}

#[tokio::test]
async fn an_unknown_baseline_is_an_error_and_never_no_change() {
    let repo = Repo::new().with_commit();
    for id in ["0123456789012345678901234567890123456789", "--output=x", "HEAD", ""] {
        let error = repo.changed_or(id).await.unwrap_err().to_string();
        assert!(error.contains("no longer exists"), "{error}");
    }
}

#[tokio::test]
async fn a_plain_folder_is_judged_by_its_content() {
    let repo = Repo::plain();
    repo.write(".gitignore", "*.log\n");
    repo.write("a.txt", "aaa");
    repo.write("sub/b.txt", "b");
    repo.write("tickets/tk-1.md", "- [ ] x");
    repo.link("..", "up");
    let before = repo.snapshot(1).await;
    repo.write("noise.log", "x");
    repo.write("tickets/tk-1.md", "- [x] x");
    assert_eq!(repo.changed(&before).await, no());
    repo.write("a.txt", "bbb");
    repo.remove("sub/b.txt");
    repo.write("new", "x");
    assert_eq!(repo.changed(&before).await, ["a.txt", "new", "sub/b.txt"]);
}

#[tokio::test]
async fn a_plain_folder_sees_edits_of_the_same_size_at_once() {
    let repo = Repo::plain();
    let tree = repo.tree().await;
    for round in 0..50 {
        repo.write("a.txt", &format!("a{round:03}"));
        let before = tree.snapshot(&repo.name(1), &[]).await.unwrap().id;
        repo.write("a.txt", &format!("b{round:03}"));
        assert_eq!(tree.changed_since_each(&[&before], &[]).await.unwrap(), [["a.txt"]], "round {round}");
    }
}

#[tokio::test]
async fn a_plain_folder_cannot_be_restored_and_says_so() {
    let repo = Repo::plain();
    repo.snapshot(1).await;
    let tree = repo.tree().await;
    let error = repo.restore(&tree, "1", &[]).await.unwrap_err();
    assert!(error.contains("git init"), "{error}");
    assert_eq!(tree.list_snapshots(&repo.ticket).await.unwrap(), []);
}
