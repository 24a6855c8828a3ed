//! The state folder of an earlier program is opened, shown and gone on with.
//!
//! `fixtures/state-2026-11-22` is what a program of that day left: the rows of its database, and what its scripted Claude
//! printed, with `<project/work>` for its folder. It had brought tk-2 to its end, and was killed in the second
//! iteration of tk-1, in a command of Claude's.

use crate::project::Project;
use crate::watched::{of_kind, ran, text};
use programmator::adapters::store::Store;
use programmator::domain::scrollback::Scrollback;
use programmator::domain::stream::envelope::classify;
use std::path::{Path, PathBuf};

/// The tables of that day.
const SCHEMA: &str = concat!(
    include_str!("../../../src/adapters/store/schema/001.sql"),
    include_str!("../../../src/adapters/store/schema/002.sql"),
    include_str!("../../../src/adapters/store/schema/003.sql"),
    include_str!("../../../src/adapters/store/schema/004.sql"),
);

/// A project whose state folder that program has written.
fn left_by_an_earlier_one() -> Project {
    let project = Project::new();
    let fixture = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/state-2026-11-22");
    let sql = std::fs::read_to_string(fixture.join("programmator.sql")).unwrap();
    // Its snapshots are not in this repository: the present commit stands for them.
    let head = project.git(&["rev-parse", "HEAD"]);
    let at = |line: &str| {
        line.split_once(r#""kind":"snapshot_taken""#)?.1.split_once(r#""id":""#)?.1.get(..40).map(str::to_owned)
    };
    let snapshots: Vec<String> = sql.lines().filter_map(at).collect();
    assert_eq!(snapshots.len(), 3);
    let here = snapshots.iter().fold(sql, |sql, id| sql.replace(id, head.trim()));
    let here = here.replace("<project/work>", &project.work().display().to_string());
    let database = project.path("state/programmator.db");
    rusqlite::Connection::open(database).unwrap().execute_batch(&format!("{SCHEMA}{here}")).unwrap();
    copy(&fixture.join("runs"), &project.path("state/runs"));
    project.ticket("tk-1", &["First", "Second", "Third"]);
    project.ticket("tk-2", &["First"]);
    let ticket = project
        .ticket_text("tk-1")
        .replace("- [ ] First", "- [x] First")
        .replace("status: open", "status: in_progress");
    project.write("work/.tickets/tk-1.md", &(ticket + "\n## Validation Commands\n\n- `test -e first.txt`\n"));
    project.write("work/first.txt", "First\n");
    project.scenario(super::DILIGENT);
    project
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(path, to).unwrap();
        }
    }
}

#[test]
fn a_dry_run_leaves_the_state_folder_of_an_earlier_program_as_it_is() {
    let project = left_by_an_earlier_one();
    let database = project.path("state/programmator.db");
    let before = std::fs::read(&database).unwrap();
    let told = text(&project.run(&["run", "--dry-run", "tk-1"]));
    assert!(told.contains("Second") && told.contains("resumes"), "{told}");
    assert!(std::fs::read(&database).unwrap() == before, "it is not brought up to date");
    let mut names: Vec<_> =
        std::fs::read_dir(project.path("state")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["programmator.db", "runs"], "nothing was made beside it");
    project.run(&["status"]);
    assert!(std::fs::read(&database).unwrap() != before, "another command does");
}

#[test]
fn the_state_folder_of_an_earlier_program_is_shown_and_gone_on_with() {
    let project = left_by_an_earlier_one();
    let status = text(&project.run(&["status"]));
    assert!(status.contains("interrupted") && status.contains("complete"), "{status}");
    let told = text(&project.run(&["logs", "tk-2"]));
    assert!(told.contains("run ended: the phase is done · 1/1 phases · 1 iteration · $0.02"), "{told}");
    let told = text(&project.run(&["logs", "tk-1"]));
    assert!(told.contains("allow Bash sleep 600") && !told.contains("run ended"), "{told}");
    let store = Store::open(&project.path("state")).unwrap();
    for run in store.runs().unwrap() {
        let loaded = store.load(run.run).unwrap();
        assert_eq!(loaded.skipped, [], "{}", run.ticket);
        let scrollback = store.scrollback(run.run, classify).unwrap();
        let mut entries = Vec::new();
        scrollback.entries(1, 0..scrollback.len(1), &mut entries);
        let read = |entry| String::from_utf8(scrollback.read(1, entry, 10_000).unwrap()).unwrap();
        let printed: String = entries.into_iter().map(read).collect();
        assert!(printed.contains("Working on First."), "{printed}");
    }
    drop(store);
    let told = ran(&project, &["resume", "--json", "tk-1"], 0);
    assert_eq!(told[0]["kind"], "run_resumed", "{told:?}");
    let phases: Vec<_> = of_kind(&told, "iteration_started").iter().map(|begun| begun["phase"].clone()).collect();
    assert_eq!(phases, ["Second", "Third"], "{told:?}");
    assert_eq!(told.last().unwrap()["reason"], "complete", "{told:?}");
    assert_eq!(project.ticket_text("tk-1").matches("- [x]").count(), 3);
}
