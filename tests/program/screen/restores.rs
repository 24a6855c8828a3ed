//! Restoring from the timeline, with the real git: by keys, between iterations only, and known again after a kill.

use super::stage::{ROOMY, at_the_gate, count, gated_project, leave, start};
use programmator::adapters::store::{Append, Store};
use programmator::domain::answerer::Answerer;
use programmator::domain::record::Record;
use programmator::domain::restore::{RestoreIntended, WantedFiles};

#[test]
fn a_snapshot_is_restored_between_iterations_only_and_what_was_there_is_a_row() {
    let project = gated_project(&["Alpha", "Beta"]);
    let mut terminal = at_the_gate(&project, "Alpha");
    terminal.keys_until("U", "start of the run");
    terminal.keys_until("R", "Not restored: Claude is at work on tk-1");
    terminal.keys("\x1b");
    terminal.wait_until("the timeline is closed", |screen| !screen.contains("Timeline ·"));
    terminal.keys_until("p", "pausing");
    project.open_gate("alpha");
    terminal.wait_for("paused; waiting for you");
    project.write("work/mine.txt", "the person's\n");
    terminal.keys_until("U", "1   code     Alpha");
    terminal.keys_until("Gn", "A alpha.txt");
    terminal.keys_until(" ", "1 file ticked");
    terminal.keys_until("R", "Restore snapshot 1: 0 written, 1 removed?");
    assert!(project.path("work/alpha.txt").exists(), "it is only asked");
    terminal.keys_until("y", "Restored: 0 written, 1 removed · snapshot restore/1");
    terminal.wait_for("before a restore");
    assert!(!project.path("work/alpha.txt").exists());
    assert_eq!(project.read("work/mine.txt"), "the person's\n", "it was not ticked");
    assert_eq!((count(&project, "restore_intended"), count(&project, "restore_settled")), (1, 1));
    // And back.
    terminal.keys_until("gR", "Restore snapshot restore/1: 1 written, 0 removed?");
    terminal.keys_until("y", "Restored: 1 written, 0 removed · snapshot restore/2");
    assert_eq!(project.read("work/alpha.txt"), "Alpha\n");
    terminal.keys("\x1b");
    terminal.wait_until("the timeline is closed", |screen| !screen.contains("Timeline ·"));
    terminal.keys("p");
    terminal.wait_for("gates/beta");
    project.open_gate("beta");
    terminal.wait_for("run again");
    leave(terminal, &project);
}

#[test]
fn of_a_program_that_was_killed_meanwhile_the_next_start_says_how_far_it_came() {
    for (changed, wanted, words) in [
        (
            &["alpha.txt", "beta.txt"][..],
            "1",
            "snapshot 1 is not restored: programmator ended before anything was written",
        ),
        (&["beta.txt"], "1", "snapshot 1 is not restored: programmator ended meanwhile with 1 file left"),
        (&[], "1", "the files restored from snapshot 1"),
        (&[], "7", "snapshot 1 is not restored: programmator ended meanwhile; what came of it cannot be seen"),
    ] {
        let project = gated_project(&["Alpha", "Beta"]);
        for gate in ["alpha", "beta"] {
            project.open_gate(gate);
        }
        assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
        // What it saved first, as it leaves its repository and its store.
        let saved = "refs/programmator/tk-1/restore/1";
        let run = Store::open(&project.path("state")).unwrap().runs().unwrap().remove(0);
        let tree = project.git(&["rev-parse", &format!("refs/programmator/tk-1/{}/2-end", run.run)]);
        let commit =
            project.git(&["-c", "user.name=P", "-c", "user.email=p@localhost", "commit-tree", tree.trim(), "-m", "x"]);
        project.git(&["update-ref", saved, commit.trim()]);
        let intended = RestoreIntended {
            id: "1".into(),
            wanted: WantedFiles { snapshot: wanted.into(), ..WantedFiles::default() },
            pick: "1".into(),
            saved: "restore/1".into(),
            files: 2,
            by: Answerer::SCREEN,
        };
        let store = Store::open(&project.path("state")).unwrap();
        let (id, ticket, time) = (run.run, run.ticket.clone(), run.updated);
        let mut summary = run;
        summary.committing = true;
        let records = vec![Record::RestoreIntended(intended)];
        store.append_blocking(Append { run: id, ticket, time, records, summary }).unwrap();
        drop(store);
        for path in ["alpha.txt", "beta.txt"].iter().filter(|path| !changed.contains(path)) {
            std::fs::remove_file(project.work().join(path)).unwrap();
        }
        let mut terminal = start(&project, &[], ROOMY);
        terminal.wait_for("Work on tk-1");
        terminal.keys_until("\r", "run again");
        terminal.keys("L");
        terminal.wait_for(words);
        leave(terminal, &project);
        assert_eq!(count(&project, "restore_settled"), 1);
    }
}

/// Files by their path, and JSON, from the command line; the run's journal says so.
#[test]
fn the_command_line_restores_some_files_and_prints_json() {
    let project = gated_project(&["Alpha", "Beta"]);
    for gate in ["alpha", "beta"] {
        project.open_gate(gate);
    }
    assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
    let json = |args: &[&str]| {
        let output = project.run(args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let all = json(&["snapshots", "tk-1", "--json"]);
    let picks: Vec<&str> = all.as_array().unwrap().iter().filter_map(|one| one["pick"].as_str()).collect();
    assert_eq!(picks, ["1", "2", "end"]);
    assert_eq!(all[1]["origin"]["iteration"]["phase"], "Alpha");
    assert_eq!(all[2]["changed"]["files"], 1);
    let done = json(&["restore", "tk-1", "1", "beta.txt", "--yes", "--json"]);
    assert_eq!((&done["removed"][0], &done["saved"]), (&"beta.txt".into(), &"restore/1".into()));
    assert!(project.path("work/alpha.txt").exists() && !project.path("work/beta.txt").exists());
    assert_eq!(count(&project, "restore_settled"), 1);
    let journal = project.journal();
    let intended = journal.iter().find(|record| record["kind"] == "restore_intended").expect("a record");
    assert_eq!((&intended["pick"], &intended["wanted"]["snapshot"]), (&"1".into(), &all[0]["id"]), "{intended}");
    // In another directory nothing of that run is locked or recorded.
    project.git(&["worktree", "add", "-q", "--detach", "../elsewhere", all[1]["id"].as_str().unwrap()]);
    let (other, ticket) = (project.path("elsewhere"), project.path("work/.tickets/tk-1.md"));
    assert!(other.join("alpha.txt").exists());
    json(&["-C", other.to_str().unwrap(), "restore", ticket.to_str().unwrap(), "1", "--yes", "--json"]);
    assert!(project.path("work/alpha.txt").exists() && !other.join("alpha.txt").exists());
    assert_eq!(count(&project, "restore_settled"), 1);
    let outside = project.run(&["restore", "tk-1", "1", "/etc/passwd", "--yes"]);
    assert_eq!(outside.status.code(), Some(2));
}
