//! `snapshots prune` that is killed at any of its steps: what an open ticket needs is never lost, and the next one finishes.

use super::forks::killing;
use crate::project::Project;
use crate::watched::{DILIGENT, ran, said, text};
use programmator::adapters::store::Store;
use std::collections::BTreeSet;

/// Snapshots, each with its git object.
fn refs(project: &Project) -> BTreeSet<String> {
    let listed = project.git(&["for-each-ref", "--format=%(refname) %(objectname)", "refs/programmator"]);
    listed.lines().map(str::to_owned).collect()
}

/// Three runs of a ticket that is open: the second has verified its last phase, the third has come to nothing.
fn project() -> Project {
    let project = Project::new();
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.ticket("tk-1", &["Alpha", "Beta", "Gamma"]);
    project.validate_by("true");
    let config = "git: {commit: phase, protected: []}\nsnapshots: {keep_runs: 1, keep_days: 0}\n";
    project.scenario_with(DILIGENT, &config.replace("keep_runs: 1", "keep_runs: 9"));
    ran(&project, &["run", "--json", "-n", "2", "tk-1"], 4);
    ran(&project, &["run", "--json", "tk-1"], 0);
    said(&project, &["ticket", "untick", "tk-1", "3"], 0);
    let blocked = "turns:\n  - when: {phase: \"\"}\n    steps: [ {status: {status: BLOCKED, summary: no}} ]\n";
    project.scenario_with(blocked, &config.replace("keep_runs: 1", "keep_runs: 9"));
    let output = project.run(&["run", "tk-1"]);
    assert!(!output.status.success(), "{}", text(&output));
    project.scenario_with(blocked, config);
    project
}

#[test]
fn killed_at_any_step_nothing_needed_is_lost_and_the_next_one_finishes() {
    let project = project();
    let all = refs(&project);
    let steps = [
        (" for-each-ref ", true),
        (" update-ref --stdin", false),
        (" update-ref --stdin", true),
        (" rev-list ", false),
        (" rev-list ", true),
    ];
    let done = said(&project, &["snapshots", "prune"], 0);
    let needed = refs(&project);
    assert!(needed.len() < all.len() && needed.is_subset(&all), "{done}: {needed:?}");
    // Of each run something is needed: where the ticket began, its last good state, and all of the latest.
    let mut runs = Store::open(&project.path("state")).unwrap().runs().unwrap();
    runs.sort_by_key(|run| run.started);
    let of = |refs: &BTreeSet<String>, run: usize| {
        refs.iter().filter(|one| one.contains(&format!("/{}/", runs[run].run))).count()
    };
    assert!(runs.len() == 3 && (0..3).all(|run| of(&needed, run) > 0), "{needed:?}");
    assert_eq!(of(&needed, 2), of(&all, 2), "the latest run is whole");
    for (words, after) in steps {
        for one in all.difference(&needed) {
            let (name, id) = one.split_once(' ').unwrap();
            project.git(&["update-ref", name, id]);
        }
        assert_eq!(refs(&project), all);
        let path = killing(&project, words, after);
        let killed = project.command(&["snapshots", "prune"]).env("PATH", path).output().unwrap();
        assert!(killed.status.code().is_none() && !project.path("armed").exists(), "{words}: {}", text(&killed));
        assert!(needed.is_subset(&refs(&project)), "{words} {after}");
        said(&project, &["snapshots", "prune"], 0);
        assert_eq!(refs(&project), needed, "{words} {after}");
    }
}
