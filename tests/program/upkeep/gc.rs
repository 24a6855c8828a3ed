//! `programmator gc`, by hand and after a run: what is old goes, what is needed stays.

use super::{age, folder, runs};
use crate::project::Project;
use crate::watched::{DILIGENT, WAITING, json, ran, said, start_until, stop, text};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

/// `tk-1` is done; `tk-2` has had two runs and is not.
fn project(config: &str) -> Project {
    let project = Project::with_config(&["Alpha"], DILIGENT, config);
    project.ticket("tk-2", &["Beta", "Gamma", "Delta"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    ran(&project, &["run", "--json", "-n", "1", "tk-2"], 4);
    ran(&project, &["run", "--json", "-n", "1", "tk-2"], 4);
    project
}

fn cleared(project: &Project, ticket: &str) -> usize {
    said(project, &["logs", ticket], 0).matches("was removed to save space").count()
}

#[test]
fn what_is_old_goes_and_what_can_be_gone_on_with_stays() {
    let project = project("snapshots: {keep_days: 0}\n");
    let (one, two) = (runs(&project, "tk-1"), runs(&project, "tk-2"));
    assert_eq!(said(&project, &["gc"], 0).lines().count(), 1, "nothing is old");
    age(&project, 91);
    project.write("state/programmator.log.1", "old");
    let old = SystemTime::now() - Duration::from_secs(100 * 86_400);
    File::options().write(true).open(project.path("state/programmator.log.1")).unwrap().set_modified(old).unwrap();
    project.write("precious/file", "mine");
    symlink(project.path("precious"), folder(&project, one[0]).join("link")).unwrap();

    let shown = said(&project, &["gc", "--dry-run"], 0);
    assert!(folder(&project, one[0]).exists() && cleared(&project, "tk-1") == 0, "{shown}");
    let told = said(&project, &["gc"], 0);
    assert_eq!(told.replace("Removed", "Would remove"), shown);
    assert!(told.lines().count() == 4 && told.contains("Removed 3 items"), "{told}");
    for (run, stays) in [(one[0], false), (two[0], false), (two[1], true)] {
        assert_eq!(folder(&project, run).exists(), stays, "{told}");
        assert_eq!(told.contains(&run.short()), !stays, "{told}");
    }
    assert!(!project.path("state/programmator.log.1").exists());
    assert_eq!(project.read("precious/file"), "mine");

    // The run is there as before, and says why its output is not.
    assert_eq!(cleared(&project, "tk-1"), 1);
    assert_eq!(json(&project, &["status", "--json"]).as_array().unwrap().len(), 3);
    said(&project, &["export", "tk-1"], 0);
    assert!(said(&project, &["gc"], 0).starts_with("Nothing to remove"));

    // One that was killed in the middle has left some of it.
    fs::create_dir(folder(&project, one[0])).unwrap();
    fs::write(folder(&project, one[0]).join("1.ndjson"), "{}\n").unwrap();
    age(&project, 91);
    said(&project, &["gc"], 0);
    assert!(!folder(&project, one[0]).exists());
    assert_eq!(cleared(&project, "tk-1"), 1, "it is said once");
}

#[test]
fn of_too_much_the_oldest_goes_but_never_what_ended_today_or_is_a_link() {
    let project = project("storage: {keep_days: 0, max_gb: 5}\n");
    let (one, two) = (runs(&project, "tk-1"), runs(&project, "tk-2"));
    let large = |run| File::create(folder(&project, run).join("9.ndjson")).unwrap().set_len(4 << 30).unwrap();
    large(one[0]);
    large(two[0]);
    assert!(said(&project, &["gc"], 0).starts_with("Nothing to remove"), "they ended today");
    age(&project, 2);
    let told = said(&project, &["gc"], 0);
    assert!(told.contains(&one[0].short()) && told.contains("Removed 1 item, 4.0 GiB."), "{told}");
    assert!(folder(&project, two[0]).exists() && !folder(&project, one[0]).exists());
    large(two[1]);
    fs::rename(folder(&project, two[0]), project.path("elsewhere")).unwrap();
    symlink(project.path("elsewhere"), folder(&project, two[0])).unwrap();
    let large = File::create(project.path("state/large")).unwrap();
    large.set_len(9 << 30).unwrap();
    assert!(said(&project, &["gc"], 0).starts_with("Nothing to remove"), "a link is never followed");
    assert!(project.path("elsewhere/9.ndjson").exists() && folder(&project, two[1]).join("9.ndjson").exists());
}

#[test]
fn after_a_run_it_is_done_once_a_day_and_a_run_at_work_keeps_what_it_has() {
    let project = project("storage: {keep_days: 30}\n");
    let (one, two) = (runs(&project, "tk-1"), runs(&project, "tk-2"));
    assert!(project.path("state/cleaned-up").exists(), "after the first run");
    age(&project, 31);
    ran(&project, &["run", "--json", "-n", "1", "tk-2"], 0);
    assert!(folder(&project, one[0]).exists(), "not twice a day");
    let yesterday = SystemTime::now() - Duration::from_secs(90_000);
    File::options().write(true).open(project.path("state/cleaned-up")).unwrap().set_modified(yesterday).unwrap();
    project.ticket("tk-3", &["Epsilon"]);
    ran(&project, &["run", "--json", "tk-3"], 0);
    assert!(!folder(&project, one[0]).exists() && !folder(&project, two[0]).exists());
    assert_eq!(cleared(&project, "tk-1"), 1);

    project.scenario_with(WAITING, "storage: {keep_days: 1}\n");
    project.ticket("tk-4", &["Zeta"]);
    let (child, _) = start_until(&project, &["run", "--json", "tk-4"], "agent_spawned");
    age(&project, 500);
    let four = runs(&project, "tk-4")[0];
    let told = said(&project, &["gc"], 0);
    assert!(!told.contains(&four.short()) && folder(&project, four).exists(), "{told}");
    stop(child);
}

#[test]
fn what_a_run_has_printed_that_the_database_does_not_know_goes_when_it_is_old_and_nobody_works() {
    let project = project("storage: {keep_days: 30}\n");
    let written = |name: &str, days: u64| {
        let folder = project.path("state/runs").join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("1.ndjson"), "{}\n").unwrap();
        let then = SystemTime::now() - Duration::from_secs(days * 86_400);
        for path in [folder.join("1.ndjson"), folder.clone()] {
            File::open(&path).unwrap().set_modified(then).unwrap();
        }
        folder
    };
    let old = written("0192aaaa-0000-7000-8000-000000000001", 31);
    let young = written("0192aaaa-0000-7000-8000-000000000002", 29);
    let notes = written("my notes", 500);
    project.scenario_with(WAITING, "storage: {keep_days: 30}\n");
    project.ticket("tk-4", &["Zeta"]);
    let (child, _) = start_until(&project, &["run", "--json", "tk-4"], "agent_spawned");
    assert!(!said(&project, &["gc"], 0).contains("does not know"), "a run is at work");
    stop(child);
    let told = said(&project, &["gc"], 0);
    assert!(told.contains("run 00000001, which the database does not know"), "{told}");
    assert_eq!([old, young, notes].map(|folder| folder.exists()), [false, true, true], "{told}");
}

#[test]
fn a_worktree_of_a_finished_ticket_goes_unless_it_holds_work() {
    let config = "git: {worktree: ticket, commit: ticket, merge: merge, protected: []}\nsnapshots: {keep_days: 1}\n";
    let project = Project::with_config(&["Alpha"], DILIGENT, config);
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.validate_by("true");
    project.ticket("tk-2", &["Beta"]);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Tickets"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    ran(&project, &["run", "--json", "tk-2"], 0);
    let path = |ticket| std::path::PathBuf::from(said(&project, &["worktree", "path", ticket], 0).trim_end());
    let (one, two) = (path("tk-1"), path("tk-2"));
    fs::write(two.join("mine.txt"), "mine").unwrap();
    age(&project, 91);
    let refs = || project.git(&["for-each-ref", "refs/programmator"]).lines().count();
    let before = refs();
    let shown = said(&project, &["gc", "--dry-run"], 0);
    assert!(one.exists() && refs() == before, "{shown}");
    let told = said(&project, &["gc"], 0);
    assert!(told.contains("worktree") && told.contains("snapshots"), "{told}");
    assert!(!one.exists() && two.join("mine.txt").exists() && refs() < before, "{told}");
    assert!(said(&project, &["logs", "tk-1"], 0).contains("worktree"), "the journal says so");

    // Of a repository that is gone nothing is asked.
    fs::rename(project.work(), project.path("gone")).unwrap();
    fs::create_dir(project.work()).unwrap();
    said(&project, &["gc"], 0);
}

#[test]
fn two_at_once_are_one_and_a_claude_of_ours_may_only_look() {
    let project = project("");
    age(&project, 91);
    let inside = |args: &[&str]| project.command(args).env("PROGRAMMATOR_RUN_ID", "r").output().unwrap();
    let refused = inside(&["gc"]);
    assert_eq!(refused.status.code(), Some(77), "{}", text(&refused));
    assert!(inside(&["gc", "--dry-run"]).status.success());
    let children: Vec<_> = (0..4).map(|_| project.command(&["gc"]).spawn().unwrap()).collect();
    let codes: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap().status.code()).collect();
    assert!(codes.contains(&Some(0)) && codes.iter().all(|code| [Some(0), Some(75)].contains(code)), "{codes:?}");
    assert_eq!(cleared(&project, "tk-1"), 1);
}
