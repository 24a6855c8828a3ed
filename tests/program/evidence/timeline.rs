//! A ticket's snapshots in their order: the end of a run among them, and how much each differs from the one before.

use super::repo::Repo;
use programmator::domain::timeline::{Changed, Origin};
use programmator::runtime::timeline::{Journals, moments};

#[tokio::test]
async fn each_snapshot_is_counted_against_the_one_before_and_a_run_has_its_end() {
    let repo = Repo::new().with_commit();
    let tree = repo.tree().await;
    let first = repo.snapshot(1).await;
    repo.write("new.txt", "1\n2\n");
    tree.changed_by(&repo.name(1), &[&first], &repo.exclude()).await.unwrap();
    tree.settled().await.unwrap();
    repo.snapshot(2).await;
    repo.write("new.txt", "1\n");
    repo.write("image.bin", "\0binary");
    let second = repo.snapshot(2).await;
    repo.remove("tracked.txt");
    tree.changed_by(&repo.name(2), &[&second], &repo.exclude()).await.unwrap();
    tree.settled().await.unwrap();
    repo.write("new.txt", "the person's\n");
    let restored = repo.restore(&tree, "end", &repo.exclude()).await.unwrap();
    assert_eq!((restored.written, restored.removed), (vec!["new.txt".to_owned()], vec![]));
    let all = tree.timeline(&repo.ticket, &[]).await.unwrap();
    let told: Vec<_> = all.iter().map(|(snapshot, changed)| (snapshot.pick.as_str(), *changed)).collect();
    let changed = |files, added, removed| Some(Changed { files, added, removed });
    let (end, saved) = (("end", changed(1, 0, 1)), ("restore/1", changed(1, 1, 1)));
    assert_eq!(told, [("1", None), ("2", changed(2, 1, 0)), end, saved]);
}

#[tokio::test]
async fn what_cannot_be_counted_leaves_the_other_counts_in_their_rows() {
    let repo = Repo::new().with_commit();
    for n in 1..=4 {
        repo.write("a.txt", &"line\n".repeat(n as usize * n as usize));
        repo.snapshot(n).await;
    }
    let tree = repo.tree().await;
    let all = tree.list_snapshots(&repo.ticket).await.unwrap();
    let (folder, file) = all[1].tree.split_at(2);
    repo.remove(&format!(".git/objects/{folder}/{file}"));
    let all = moments((&tree, &[]), &repo.ticket, &Journals::default()).await.unwrap();
    let counts: Vec<Option<u64>> = all.iter().map(|moment| moment.changed.map(|changed| changed.added)).collect();
    assert_eq!(counts, [None, None, None, Some(7)]);
    assert!(all.iter().all(|moment| moment.origin == Origin::Unknown), "no journal says what they are");
}

#[tokio::test]
async fn tickets_are_not_counted_and_what_was_moved_is_one_file() {
    let repo = Repo::new().with_commit();
    repo.write("old name.txt", &"line\n".repeat(20));
    repo.snapshot(1).await;
    repo.write(".tickets/tk-2.md", "- [ ] another\n");
    repo.remove("old name.txt");
    repo.write("new\nname.txt", &("line\n".repeat(20) + "more\n"));
    repo.snapshot(2).await;
    let tree = repo.tree().await;
    let counted =
        async |exclude: &[std::path::PathBuf]| tree.timeline(&repo.ticket, exclude).await.unwrap()[1].1.unwrap();
    assert_eq!(counted(&[]).await, Changed { files: 2, added: 2, removed: 0 });
    assert_eq!(counted(&[repo.path(".tickets")]).await, Changed { files: 1, added: 1, removed: 0 });
}
