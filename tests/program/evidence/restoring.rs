//! Going back to a snapshot: what is written and removed, and what must stay as it is.

use super::repo::{Repo, no};
use programmator::adapters::git::{Prepared, ReadyRestore};
use programmator::base::id::{RunId, TicketId};
use programmator::domain::restore::{OthersWork, Restored, Spared, WantedFiles};
use programmator::domain::workspace::Workspace;
use programmator::runtime::restoring::Place;
use proptest::prelude::*;
use std::path::Path;

fn ready(prepared: Result<Prepared, String>) -> Result<Box<ReadyRestore>, String> {
    match prepared? {
        Prepared::Ready(ready) => Ok(ready),
        Prepared::Nothing(restored) => panic!("nothing differs: {restored:?}"),
    }
}

async fn restore(repo: &Repo, pick: &str) -> Restored {
    let tree = repo.tree().await;
    repo.restore(&tree, pick, &repo.exclude()).await.unwrap()
}

#[tokio::test]
async fn goes_back_to_the_content_of_the_snapshot() {
    let repo = Repo::new().with_commit();
    repo.write("dir/a", "a");
    repo.write("run.sh", "#!/bin/sh\n");
    repo.make_executable("run.sh");
    repo.link("dir/a", "link");
    repo.snapshot(1).await;
    let content = repo.content();

    repo.write("tracked.txt", "edited");
    repo.remove_all("dir");
    repo.write("new/deep/file", "x");
    repo.remove("link");
    repo.write("link", "no link any more");
    repo.write("run.sh", "other");
    repo.commit_all("and committed");
    let state = repo.visible_state();
    let done = restore(&repo, "1").await;

    assert_eq!(repo.content(), content);
    assert_eq!(repo.visible_state(), state, "the person's git folder was touched");
    assert!(!repo.path("new").exists(), "an empty folder is left");
    assert_eq!(done.written, ["dir/a", "link", "run.sh", "tracked.txt"]);
    assert_eq!(done.removed, ["new/deep/file"]);
    assert_eq!(done.kept, []);
}

#[tokio::test]
async fn the_state_before_a_restore_can_be_had_back() {
    let repo = Repo::new().with_commit();
    repo.snapshot(1).await;
    repo.write("precious", "uncommitted work");
    repo.write("tracked.txt", "uncommitted edit");
    let content = repo.content();
    let done = restore(&repo, "1").await;
    assert_eq!(done.saved, "restore/1");
    assert_ne!(repo.content(), content);
    let back = restore(&repo, &done.saved).await;
    assert_eq!(back.saved, "restore/2");
    assert_eq!(repo.content(), content);
}

#[tokio::test]
async fn ignored_files_and_the_ticket_stay_as_they_are() {
    let repo = Repo::new().with_commit();
    repo.write("tickets/tk-1.md", "- [ ] one");
    repo.write("later-ignored", "in the snapshot");
    repo.write("place", "a file in the snapshot");
    repo.snapshot(1).await;
    repo.write("tickets/tk-1.md", "- [x] one");
    repo.write(".git/info/exclude", "later-ignored\n*.secret\n");
    repo.write("later-ignored", "precious now");
    repo.write("x.secret", "precious");
    repo.remove("place");
    repo.write("place/x.secret", "precious");
    let done = restore(&repo, "1").await;
    assert_eq!(repo.read("tickets/tk-1.md"), "- [x] one");
    assert_eq!(repo.read("later-ignored"), "precious now");
    assert_eq!(repo.read("x.secret"), "precious");
    assert_eq!(repo.read("place/x.secret"), "precious");
    let kept: Vec<&str> = done.kept.iter().map(|kept| kept.path.as_str()).collect();
    assert_eq!(kept, ["later-ignored", "place"]);
}

#[tokio::test]
async fn never_writes_or_removes_through_a_link_out_of_the_tree() {
    let repo = Repo::new().with_commit();
    let outside = Repo::plain();
    outside.write("victim", "untouched");
    repo.write("dir/victim", "in the tree");
    repo.write("other/victim", "in the tree");
    repo.snapshot(1).await;
    for name in ["dir", "other"] {
        repo.remove_all(name);
        repo.link(outside.top.to_str().unwrap(), name);
    }
    repo.write(".git/info/exclude", "/other\n");
    let done = restore(&repo, "1").await;
    assert_eq!(outside.read("victim"), "untouched");
    assert_eq!(outside.content().len(), 1);
    // A link that git sees was put there since: it goes. An ignored one stays.
    assert!(!repo.path("dir").is_symlink());
    assert_eq!(repo.read("dir/victim"), "in the tree");
    assert!(repo.path("other").is_symlink());
    assert_eq!(done.kept.len(), 1, "{:?}", done.kept);
}

#[tokio::test]
async fn repositories_inside_the_tree_are_left_alone() {
    let repo = Repo::new().with_commit();
    let inner = repo.add_submodule("sub");
    repo.write("lib/file", "plain folder");
    repo.snapshot(1).await;
    inner.commit_all("inside");
    let nested = Repo::at(repo.path("lib"));
    nested.remove("file");
    nested.commit_all("a repository now");
    let done = restore(&repo, "1").await;
    assert!(!repo.path("lib/file").exists());
    assert!(repo.path("lib/.git").exists() && repo.path("sub/.git").exists());
    let mut kept: Vec<&str> = done.kept.iter().map(|kept| kept.path.as_str()).collect();
    kept.sort_unstable();
    assert_eq!(kept, ["lib", "lib/file", "sub"]);
}

#[tokio::test]
async fn snapshots_are_picked_by_run_and_number() {
    let mut repo = Repo::new().with_commit();
    repo.write("v", "old run, 1");
    repo.snapshot(1).await;
    repo.run = RunId::parse("01936b2f-0000-7000-8000-0000000000b2").unwrap();
    repo.write("v", "new run, 1");
    repo.snapshot(1).await;
    repo.write("v", "new run, 2");
    repo.snapshot(2).await;
    let tree = repo.tree().await;
    let mut picks: Vec<String> =
        tree.list_snapshots(&repo.ticket).await.unwrap().into_iter().map(|snapshot| snapshot.pick).collect();
    picks.sort();
    assert_eq!(picks, ["000000a1/1", "1", "2"]);
    for (pick, text) in [
        ("000000a1/1", "old run, 1"),
        ("2", "new run, 2"),
        ("01936b2f-0000-7000-8000-0000000000b2/1", "new run, 1"),
        ("1", "new run, 1"),
    ] {
        restore(&repo, pick).await;
        assert_eq!(repo.read("v"), text, "{pick}");
    }
    let error = repo.restore(&tree, "9", &[]).await.unwrap_err();
    assert!(error.contains("no snapshot `9`") && error.contains("000000a1/1, "), "{error}");
}

#[tokio::test]
async fn ticket_names_that_git_refuses_in_refs_have_snapshots_too() {
    let mut repo = Repo::new().with_commit();
    for name in ["plan.lock", "ends.", "plan.md"] {
        repo.ticket = TicketId::parse(name).unwrap();
        repo.write("v", name);
        repo.snapshot(1).await;
        repo.write("v", "changed");
        restore(&repo, "1").await;
        assert_eq!(repo.read("v"), name);
    }
}

#[derive(Clone, Debug)]
enum Node {
    File(u8),
    Program(u8),
    Link(u8),
    Folder(Vec<(u8, Node)>),
}

fn trees() -> impl Strategy<Value = Vec<(u8, Node)>> {
    let leaf = prop_oneof![
        any::<u8>().prop_map(Node::File),
        any::<u8>().prop_map(Node::Program),
        (0..4u8).prop_map(Node::Link),
    ];
    let node =
        leaf.prop_recursive(3, 16, 4, |inner| prop::collection::vec((0..4u8, inner), 0..4).prop_map(Node::Folder));
    prop::collection::vec((0..4u8, node), 0..5)
}

fn build(repo: &Repo, at: &Path, nodes: &[(u8, Node)]) {
    for (name, node) in nodes {
        let path = at.join(format!("n{name}"));
        let text = path.to_str().unwrap();
        if repo.path(text).symlink_metadata().is_ok() {
            continue;
        }
        match node {
            Node::File(content) => repo.write(text, &content.to_string()),
            Node::Program(content) => {
                repo.write(text, &content.to_string());
                repo.make_executable(text);
            }
            Node::Link(target) => {
                std::fs::create_dir_all(repo.path(text).parent().unwrap()).unwrap();
                repo.link(&format!("n{target}"), text);
            }
            Node::Folder(inner) => build(repo, &path, inner),
        }
    }
}

fn clear(repo: &Repo) {
    for entry in std::fs::read_dir(&repo.top).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_tree_comes_back_from_any_other(before in trees(), after in trees(), committed in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let repo = Repo::new();
            build(&repo, Path::new(""), &before);
            let id = repo.snapshot(1).await;
            let content = repo.content();
            clear(&repo);
            build(&repo, Path::new(""), &after);
            if committed {
                repo.commit_all("other");
            }
            let other = repo.content();
            prop_assert_eq!(repo.changed(&id).await.is_empty(), content == other);
            let done = restore(&repo, "1").await;
            prop_assert_eq!(&done.kept, &[]);
            prop_assert_eq!(&repo.content(), &content);
            prop_assert_eq!(repo.changed(&id).await, no());
            if done.saved.is_empty() {
                prop_assert_eq!(content, other);
            } else {
                restore(&repo, "restore/1").await;
                prop_assert_eq!(repo.content(), other);
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn what_is_saved_at_the_same_time_has_names_of_its_own() {
    let repo = Repo::new().with_commit();
    repo.snapshot(1).await;
    repo.write("tracked.txt", "changed\n");
    let (tree, exclude, others) = (repo.tree().await, repo.exclude(), OthersWork::default());
    let wanted = WantedFiles { snapshot: "1".into(), ..WantedFiles::default() };
    let prepare = || tree.prepare_restore(&repo.ticket, &wanted, None, &others, &exclude);
    let all = tokio::join!(prepare(), prepare(), prepare());
    let mut saved = [all.0, all.1, all.2].map(|prepared| ready(prepared).unwrap_or_else(|why| panic!("{why}")).saved);
    saved.sort();
    assert_eq!(saved, ["restore/1", "restore/2", "restore/3"]);
}

#[tokio::test]
async fn a_name_that_a_power_failure_has_broken_is_left_out() {
    let repo = Repo::new().with_commit();
    repo.snapshot(1).await;
    repo.write("tracked.txt", "otherwise\n");
    assert_eq!(restore(&repo, "1").await.saved, "restore/1");
    let folder = repo.git(&["for-each-ref", "--format=%(refname)", "refs/programmator/**/restore/1"]);
    let second = repo.path(&format!(".git/{}", folder.trim().replace("restore/1", "restore/2")));
    std::fs::write(second, "").unwrap();
    repo.write("tracked.txt", "changed\n");
    assert_eq!(restore(&repo, "1").await.saved, "restore/3");
}

#[tokio::test]
async fn some_files_are_restored_and_what_changes_meanwhile_stays() {
    let repo = Repo::new().with_commit();
    repo.write("a/one.txt", "old\n");
    repo.write("a/two.txt", "old\n");
    repo.write("b.txt", "old\n");
    repo.snapshot(1).await;
    for path in ["a/one.txt", "a/two.txt", "b.txt"] {
        repo.write(path, "new\n");
    }
    repo.write("a/three.txt", "new\n");
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let wanted = WantedFiles { snapshot: "1".into(), only: ["a".to_owned()].into() };
    let plan = tree.restore_plan(&repo.ticket, &wanted, &OthersWork::default(), &exclude).await.unwrap();
    assert_eq!(
        (&plan.writes[..], &plan.removes[..]),
        (&["a/one.txt", "a/two.txt"].map(str::to_owned)[..], &["a/three.txt".to_owned()][..])
    );
    let prepare = async |agreed: &str| {
        ready(tree.prepare_restore(&repo.ticket, &wanted, Some(agreed), &OthersWork::default(), &exclude).await)
    };
    let restoring = prepare(&plan.tree).await.unwrap_or_else(|why| panic!("{why}"));
    // The person saves their editor between the question and the writing.
    repo.write("a/two.txt", "the person's\n");
    let done = restoring.write().await.unwrap();
    assert_eq!((done.written, done.removed), (vec!["a/one.txt".to_owned()], vec!["a/three.txt".to_owned()]));
    assert_eq!(done.kept[0].why, "it was changed in the meantime");
    let content = ["a/one.txt", "a/two.txt", "b.txt"].map(|path| repo.read(path));
    assert_eq!(content, ["old\n", "the person's\n", "new\n"]);
    assert!(
        prepare(&plan.tree).await.err().unwrap().contains("are no longer as shown"),
        "another tree than was agreed to"
    );
}

#[tokio::test]
async fn where_nothing_differs_nothing_is_saved() {
    let repo = Repo::new().with_commit();
    repo.snapshot(1).await;
    assert_eq!(restore(&repo, "1").await, Restored::default());
    repo.write("tracked.txt", "changed\n");
    assert_eq!(restore(&repo, "1").await.saved, "restore/1");
    assert_eq!(restore(&repo, "1").await.saved, "");
    assert_eq!(repo.git(&["for-each-ref", "--format=%(refname)", "refs/programmator/**/restore/*"]).lines().count(), 1);
}

#[tokio::test]
async fn what_other_tickets_have_changed_stays_unless_it_is_named() {
    let repo = Repo::new().with_commit();
    for name in ["src/ours.rs", "src/theirs.rs", "src/both.rs"] {
        repo.write(name, "old\n");
    }
    repo.snapshot(1).await;
    for name in ["src/ours.rs", "src/theirs.rs", "src/both.rs"] {
        repo.write(name, "new\n");
    }
    let files = ["src/theirs.rs", "src/both.rs"].map(|path| (path.to_owned(), ["tk-2".to_owned()].into()));
    let others = OthersWork { files: files.into(), unknown: ["tk-3".to_owned()].into() };
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let plan = async |only: &[&str]| {
        let only = only.iter().map(ToString::to_string).collect();
        let wanted = WantedFiles { snapshot: "1".into(), only };
        let plan = tree.restore_plan(&repo.ticket, &wanted, &others, &exclude).await.unwrap();
        let paths = |spared: Vec<Spared>| spared.into_iter().map(|one| one.path).collect::<Vec<_>>();
        (plan.writes, paths(plan.spares), paths(plan.others))
    };
    let (ours, theirs) = (vec!["src/ours.rs".to_owned()], vec!["src/both.rs".to_owned(), "src/theirs.rs".to_owned()]);
    assert_eq!(plan(&[]).await, (ours.clone(), theirs.clone(), vec![]));
    assert_eq!(plan(&["src"]).await, (ours.clone(), theirs, vec![]), "a folder names no file");
    let named = vec!["src/theirs.rs".to_owned()];
    assert_eq!(plan(&["src/theirs.rs"]).await, (named.clone(), vec![], named));
    let wanted = WantedFiles { snapshot: "1".into(), ..WantedFiles::default() };
    let done = ready(tree.prepare_restore(&repo.ticket, &wanted, None, &others, &exclude).await)
        .unwrap_or_else(|why| panic!("{why}"));
    let done = done.write().await.unwrap();
    assert_eq!((done.written, done.spared.len(), done.others.len()), (ours, 2, 0));
    assert_eq!([repo.read("src/theirs.rs"), repo.read("src/both.rs")], ["new\n", "new\n"]);

    // What is taken back of another ticket is said.
    let wanted = WantedFiles { snapshot: "1".into(), only: ["src/both.rs".to_owned()].into() };
    let done = ready(tree.prepare_restore(&repo.ticket, &wanted, None, &others, &exclude).await);
    let done = done.unwrap_or_else(|why| panic!("{why}")).write().await.unwrap();
    let said: Vec<(&str, usize)> = done.others.iter().map(|one| (one.path.as_str(), one.tickets.len())).collect();
    assert_eq!(said, [("src/both.rs", 1)]);
}

#[tokio::test]
async fn where_git_fails_only_what_is_there_is_said_to_be_written() {
    let repo = Repo::new().with_commit();
    let names: Vec<String> = (0..70).map(|n| format!("f{n:02}.txt")).collect();
    for name in &names {
        repo.write(name, &format!("old {name}\n"));
    }
    repo.snapshot(1).await;
    let lost = repo.git(&["hash-object", "f40.txt"]);
    let (folder, file) = lost.trim().split_at(2);
    for name in &names {
        repo.write(name, "new\n");
    }
    let (tree, exclude) = (repo.tree().await, repo.exclude());
    let wanted = WantedFiles { snapshot: "1".into(), ..WantedFiles::default() };
    let prepared = tree.prepare_restore(&repo.ticket, &wanted, None, &OthersWork::default(), &exclude).await;
    let restoring = ready(prepared).unwrap_or_else(|why| panic!("{why}"));
    repo.remove(&format!(".git/objects/{folder}/{file}"));
    let done = restoring.write().await.unwrap();
    let kept: Vec<&str> = done.kept.iter().map(|kept| kept.path.as_str()).collect();
    assert_eq!(kept, ["f40.txt"]);
    assert!(done.kept[0].why.contains("could not write it"), "{:?}", done.kept);
    let trouble = done.trouble.unwrap();
    assert!(trouble.contains("previous files in snapshot restore/1"), "{trouble}");
    assert_eq!(done.written.len(), 69);
    for name in &done.written {
        assert_eq!(repo.read(name), format!("old {name}\n"));
    }
}

#[tokio::test]
async fn other_tickets_are_the_persons_wherever_they_are_kept() {
    let repo = Repo::new().with_commit();
    for name in ["plans/tk-1.md", "plans/tk-2.md", "a.txt"] {
        repo.write(name, "old\n");
    }
    repo.snapshot(1).await;
    for name in ["plans/tk-1.md", "plans/tk-2.md", "a.txt"] {
        repo.write(name, "new\n");
    }
    let wanted = WantedFiles { snapshot: "1".into(), ..WantedFiles::default() };
    // Where they lie among the work there is no telling them from it.
    for (tickets, writes) in [("plans", &["a.txt"][..]), (".", &["a.txt", "plans/tk-2.md"])] {
        let workspace = Workspace::shared(&repo.top);
        let place = Place::at(repo.tree().await, &workspace, &repo.path("plans/tk-1.md"), &repo.path(tickets));
        let plan = place.plan((&repo.ticket, "tk-1.md"), &wanted).await.unwrap();
        assert_eq!(plan.writes, writes, "{tickets}");
    }
}
