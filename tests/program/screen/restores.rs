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
    terminal.keys_until("R", "Not restored: Claude is working on tk-1");
    terminal.keys("\x1b");
    terminal.wait_until("the timeline is closed", |screen| !screen.contains("Timeline ·"));
    terminal.keys_until("p", "pausing");
    project.open_gate("alpha");
    terminal.wait_for("paused; waiting for you");
    project.write("work/mine.txt", "the person's\n");
    terminal.keys_until("U", "1   code     Alpha");
    terminal.keys_until("Gn", "A alpha.txt");
    terminal.keys_until(" ", "1 file ticked");
    terminal.keys_until("R", "Restore snapshot 1? Will write 0 files, remove 1.");
    assert!(project.path("work/alpha.txt").exists(), "it is only asked");
    terminal.keys_until("y", "Restored: 0 written, 1 removed · previous files in snapshot restore/1");
    terminal.wait_for("“Alpha”. Untick its box?");
    terminal.wait_for("before a restore");
    terminal.keys("n");
    terminal.wait_until("nothing is asked", |screen| !screen.contains("Untick its box?"));
    assert!(!project.path("work/alpha.txt").exists());
    assert_eq!(project.read("work/mine.txt"), "the person's\n", "it was not ticked");
    assert_eq!((count(&project, "restore_intended"), count(&project, "restore_settled")), (1, 1));
    // And back.
    terminal.keys_until("gR", "Restore snapshot restore/1? Will write 1 file, remove 0.");
    terminal.keys_until("y", "Restored: 1 written, 0 removed · previous files in snapshot restore/2");
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
        (&["alpha.txt", "beta.txt"][..], "1", "snapshot 1 not restored: programmator exited before writing"),
        (&["beta.txt"], "1", "snapshot 1 not restored: programmator exited with 1 file left"),
        (&[], "1", "snapshot 1 restored · done, but no longer in the files: Alpha and Beta"),
        (&[], "7", "snapshot 1 not restored: programmator exited in between; the result is unknown"),
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

/// Tickets are the person's wherever they lie, also those that came after the snapshot.
#[test]
fn tickets_stay_that_lie_among_the_work() {
    for (dir, folder) in [("plans", "work/plans"), (".", "work")] {
        let project = gated_project(&["Alpha"]);
        let config = format!("{}\ntickets: {{dir: {dir}}}\n", project.read("config/config.yaml"));
        project.write("config/config.yaml", &config);
        std::fs::create_dir_all(project.path(folder)).unwrap();
        std::fs::rename(project.path("work/.tickets/tk-1.md"), project.path(&format!("{folder}/tk-1.md"))).unwrap();
        project.open_gate("alpha");
        assert_eq!(project.run(&["run", "tk-1"]).status.code(), Some(0));
        let later = format!("{folder}/tk-2.md");
        project.write(&later, "---\nid: tk-2\nstatus: open\n---\n# Later\n");
        project.write("work/notes.md", "# No ticket\n");
        let output = project.run(&["restore", "tk-1", "1", "--yes"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(project.path(&later).exists() && !project.path("work/notes.md").exists(), "{dir}: {output:?}");
        assert!(!project.path("work/alpha.txt").exists());
    }
}

/// In one directory another ticket's work stays, unless the person names it; what is done without being there is said, and
/// `c` knows what a restore has made of the run's files.
#[test]
fn another_tickets_work_stays_and_what_was_taken_back_is_not_verified() {
    let project = gated_project(&["Alpha", "Beta"]);
    project.ticket("tk-2", &["Gamma"]);
    for gate in ["alpha", "beta", "gamma"] {
        project.open_gate(gate);
    }
    for ticket in ["tk-1", "tk-2"] {
        assert_eq!(project.run(&["run", ticket]).status.code(), Some(0));
    }
    let said = |args: &[&str], code: i32| {
        let output = project.run(args);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        text
    };
    let asked = said(&["restore", "tk-1", "2"], 2);
    assert!(asked.contains("would remove beta.txt") && !asked.contains("would remove gamma.txt"), "{asked}");
    assert!(asked.contains("leaves gamma.txt: tk-2 changed it since"), "{asked}");
    let done = said(&["restore", "tk-1", "2", "--yes"], 0);
    assert!(done.contains("the work is no longer in the files: Beta"), "{done}");
    assert!(project.path("work/gamma.txt").exists() && !project.path("work/beta.txt").exists());
    assert_eq!(project.ticket_text("tk-1").matches("- [x]").count(), 2, "boxes are the person's");
    let again = said(&["restore", "tk-1", "2", "--yes"], 0);
    assert!(again.contains("Nothing was restored.") && !again.contains("restore/2"), "{again}");
    // The screen says so, offers to reopen the phase, and unticks nothing by itself.
    let mut terminal = start(&project, &["tk-1"], ROOMY);
    terminal.wait_for("↶ Beta");
    terminal.keys_until("U", "before a restore");
    terminal.keys_until("gR", "Restore snapshot restore/1? Will write 1 file, remove 0.");
    terminal.keys_until("y", "Restored: 1 written, 0 removed");
    terminal.keys("\x1b");
    terminal.wait_until("the work is there again", |screen| !screen.contains("↶") && !screen.contains("Timeline ·"));
    terminal.keys_until("U", "2   code     Beta");
    terminal.keys_until("GR", "Restore snapshot 1? Will write 0 files, remove 2.");
    terminal.keys_until("y", "“Alpha” and “Beta”. Untick their boxes?");
    std::thread::sleep(programmator::tui::modals::card::APPEARS);
    terminal.keys_until("y", "Reopened: “Alpha” and “Beta”");
    terminal.wait_until("they are", |_| project.ticket_text("tk-1").matches("- [ ]").count() == 2);
    terminal.keys("\x1b");
    terminal.wait_until("the timeline is closed", |screen| !screen.contains("Timeline ·"));
    leave(terminal, &project);
    let named = said(&["restore", "tk-1", "1", "gamma.txt", "--yes"], 0);
    assert!(named.contains("removed gamma.txt"), "{named}");
}

/// The snapshots of a worktree that is gone are in the repository: they are looked at and restored where the run was started.
#[test]
fn snapshots_of_a_removed_worktree_are_restored_where_the_run_was_started() {
    let project = gated_project(&["Alpha"]);
    project.open_gate("alpha");
    assert_eq!(project.run(&["run", "--worktree", "tk-1"]).status.code(), Some(0));
    let said = |args: &[&str], code: i32| {
        let output = project.run(args);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        text
    };
    let worktree = said(&["worktree", "path", "tk-1"], 0);
    let worktree = std::path::Path::new(worktree.trim());
    std::fs::remove_file(worktree.join("alpha.txt")).unwrap();
    // A file is named as it is in the person's own working tree, too.
    assert!(said(&["restore", "tk-1", "end", "alpha.txt", "--yes"], 0).contains("wrote alpha.txt"));
    assert!(worktree.join("alpha.txt").exists() && !project.path("work/alpha.txt").exists());
    std::fs::remove_file(worktree.join("alpha.txt")).unwrap();
    said(&["worktree", "remove", "tk-1"], 0);
    assert!(said(&["snapshots", "tk-1"], 0).contains("end "));
    let mut terminal = start(&project, &[], ROOMY);
    terminal.wait_for("Work on tk-1");
    terminal.keys_until("\r", "complete: 1/1 phases, not verified");
    terminal.keys_until("U", "1   code     Alpha");
    // What was saved last is as the files here are.
    terminal.keys_until("jR", "the worktree of the run is gone");
    terminal.keys("n\x1b");
    terminal.wait_until("the timeline is closed", |screen| !screen.contains("Timeline ·"));
    terminal.keys_until("c", "there is nothing to commit");
    terminal.keys("\x1b");
    terminal.wait_until("the commit is closed", |screen| !screen.contains("Commit · tk-1"));
    terminal.keys_until("D", "its changes cannot be shown");
    leave(terminal, &project);
    let restored = said(&["restore", "tk-1", "end", "--yes"], 0);
    assert!(restored.starts_with("The run's worktree is gone: files are restored into "), "{restored}");
    assert!(restored.contains("wrote alpha.txt"), "{restored}");
    assert_eq!(project.read("work/alpha.txt"), "Alpha\n");
}

/// Old snapshots go by hand and at the end of a run, of a closed ticket only; the journal says so.
#[test]
fn snapshots_of_too_many_runs_go_once_the_ticket_is_closed() {
    let project = gated_project(&["Alpha", "Beta"]);
    for gate in ["alpha", "beta"] {
        project.open_gate(gate);
    }
    let said = |args: &[&str]| {
        let output = project.run(args);
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {text}");
        text
    };
    let refs = || project.git(&["for-each-ref", "--format=%(refname)", "refs/programmator"]).lines().count();
    said(&["run", "tk-1"]);
    let begin_again = || {
        said(&["ticket", "untick", "tk-1", "2"]);
        std::fs::remove_file(project.path("work/beta.txt")).unwrap();
    };
    begin_again();
    said(&["run", "tk-1"]);
    assert_eq!(refs(), 6, "two iterations and their ends, and one of the second run");
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", &format!("{config}snapshots: {{keep_runs: 1, keep_days: 0}}\n"));
    said(&["ticket", "untick", "tk-1", "2"]);
    assert!(said(&["snapshots", "prune"]).contains("No snapshot is old enough"), "it is open, and c needs them");
    said(&["ticket", "tick", "tk-1", "2"]);
    // With a phase taken up again the ticket was open again.
    let closed = project.ticket_text("tk-1").replace("status: open", "status: closed");
    project.write("work/.tickets/tk-1.md", &closed);
    assert!(said(&["snapshots", "prune", "--dry-run"]).contains("tk-1: would remove 4 snapshots"));
    assert_eq!(refs(), 6, "it is only said");
    let done = said(&["snapshots", "prune"]);
    assert!(done.contains("tk-1: removed 4 snapshots · git frees"), "{done}");
    assert_eq!(refs(), 2);
    assert!(said(&["snapshots", "prune"]).contains("No snapshot is old enough"));
    // At the end of a run it happens by itself.
    begin_again();
    let ended = said(&["run", "tk-1"]);
    assert_eq!(refs(), 2, "those of the latest run: {ended}");
    let store = Store::open(&project.path("state")).unwrap();
    let pruned = |run: &programmator::domain::summary::RunSummary| {
        let records = store.load(run.run).unwrap().records;
        records.iter().filter(|stored| matches!(stored.record, Record::SnapshotsPruned(_))).count()
    };
    let mut told: Vec<usize> = store.runs().unwrap().iter().map(pruned).collect();
    told.sort_unstable();
    assert_eq!(told, [0, 1, 1]);
}
