//! What `programmator status` tells: a named row for each behaviour.

use crate::project::Project;
use crate::watched::{DILIGENT, json, ran, said};
use serde_json::Value;

#[test]
fn status_before_during_and_after_runs() {
    let project = Project::new();
    assert_eq!(json(&project, &["status", "--json"]), Value::Array(vec![]), "without any run: an empty list");
    said(&project, &["status", "tk-1", "--json"], 2);
    project.ticket("tk-1", &["Alpha", "Beta"]);
    project.scenario(DILIGENT);
    assert_eq!(project.run(&["run", "--json", "--calls", "7", "tk-1"]).status.code(), Some(0));
    let shown = json(&project, &["status", "tk-1", "--json"]);
    let rows = [
        ("the state", &shown["state"], Value::from("ended")),
        ("the exit reason", &shown["reason"], "complete".into()),
        ("the loops", &shown["iterations"], 2.into()),
        ("the phases", &shown["phases_done"], 2.into()),
        ("calls made in the hour", &shown["limits"]["calls"]["used"], 2.into()),
        ("calls at most", &shown["limits"]["calls"]["limit"], 7.into()),
        ("tokens at most: no limit", &shown["limits"]["tokens"]["limit"], Value::Null),
        ("it does not wait", &shown["parked"], Value::Null),
        ("receipts of the iterations", &shown["receipts"]["iterations"][1]["n"], 2.into()),
        ("receipts of the phases", &shown["receipts"]["phases"][0]["phase"], "Alpha".into()),
    ];
    for (name, found, expected) in rows {
        assert_eq!(*found, expected, "{name}: {shown}");
    }
    let present = [
        ("a timestamp", &shown["updated"]),
        ("when calls are free again", &shown["limits"]["calls"]["resets"]),
        ("tokens used in the hour", &shown["limits"]["tokens"]["used"]),
    ];
    for (name, found) in present {
        assert!(!found.is_null(), "{name}: {shown}");
    }
    let words = String::from_utf8(project.run(&["status", "tk-1"]).stdout).expect("text");
    for part in ["tk-1", "complete", "both phases are done", "2 of 7 this hour", "Alpha", "total"] {
        assert!(words.contains(part), "for people: {part} is not in\n{words}");
    }
}

#[test]
fn runs_of_other_folders_are_told_with_their_folder() {
    let (project, _) = worked_on_twice();
    let list = said(&project, &["status"], 0);
    assert!(!list.contains("FOLDER"), "all are of this folder: {list}");
    let other = project.path("elsewhere");
    std::fs::create_dir_all(&other).unwrap();
    let list = said(&project, &["-C", other.to_str().unwrap(), "status"], 0);
    assert!(list.contains("FOLDER") && list.contains("/work"), "{list}");
}

#[test]
fn a_ticket_has_its_circuit_breaker_shown_alone_and_its_runs_told_apart() {
    let (project, runs) = worked_on_twice();
    let all = said(&project, &["circuit", "status"], 0);
    assert!(all.contains("tk-1") && all.contains("tk-2"), "{all}");
    let one = said(&project, &["circuit", "status", "tk-2"], 0);
    assert!(!one.contains("tk-1") && one.contains("tk-2"), "{one}");
    assert_eq!(json(&project, &["circuit", "status", "tk-2", "--json"]).as_array().map(Vec::len), Some(1));
    assert!(said(&project, &["circuit", "status", "tk-9"], 2).contains("tk-9"));
    let report = said(&project, &["report"], 0);
    let headings: Vec<&str> = report.lines().filter(|line| line.starts_with("## tk-1")).collect();
    assert_eq!(headings.len(), 2, "{report}");
    for (heading, run) in headings.iter().zip(&runs) {
        let id = run["run"].as_str().unwrap();
        assert!(heading.contains(" · run ") && heading.contains(", ended "), "{heading}");
        let short = heading.split(" · run ").nth(1).unwrap().split(',').next().unwrap();
        assert!(id.ends_with(short) || id.starts_with(short), "{heading}: {id}");
    }
    let other = report.lines().find(|line| line.starts_with("## tk-2")).unwrap();
    assert!(!other.contains(" · run "), "{other}");
}

/// A ticket that was worked on twice, with another ticket's work between; its runs, the newest first.
pub fn worked_on_twice() -> (Project, Vec<Value>) {
    let project = Project::with(&["Alpha"], DILIGENT);
    project.ticket("tk-2", &["Other"]);
    ran(&project, &["run", "--json", "tk-1"], 0);
    project.scenario(&DILIGENT.replace("{phase}\\n", "of\\nanother\\nticket\\n"));
    ran(&project, &["run", "--json", "tk-2"], 0);
    said(&project, &["ticket", "untick", "tk-1", "1"], 0);
    project.write("work/person.txt", "by the person\n");
    project.scenario(&DILIGENT.replace("{phase}\\n", "{phase}\\nagain\\n"));
    ran(&project, &["run", "--json", "tk-1"], 0);
    project.write("work/later.txt", "later\n");
    let runs = json(&project, &["status", "--json"]);
    let runs = runs.as_array().expect("a list").iter().filter(|run| run["ticket"] == "tk-1").cloned().collect();
    (project, runs)
}

#[test]
fn a_run_that_has_ended_stays_as_it_was_and_each_counts_its_own_lines() {
    let (project, runs) = worked_on_twice();
    let told = |run: &Value| ["state", "reason", "phases_done", "added", "removed"].map(|key| run[key].to_string());
    let row = |added: &str| ["\"ended\"", "\"complete\"", "1", added, "0"].map(str::to_owned);
    assert_eq!(runs.iter().map(told).collect::<Vec<_>>(), [row("2"), row("1")], "{runs:?}");
    let list = said(&project, &["status"], 0);
    assert_eq!(list.matches("  1/1  ").count(), 3, "{list}");
    assert!(!list.contains("skipped"), "{list}");
    // The next run begins with what the person has made of it since.
    said(&project, &["ticket", "untick", "tk-1", "1"], 0);
    let again = said(&project, &["ticket", "untick", "tk-1", "1"], 0);
    assert!(again.contains("already"), "{again}");
    said(&project, &["ticket", "tick", "tk-1", "1"], 0);
    assert_eq!(json(&project, &["status", "tk-1", "--json"])["phases_done"], 1);
}

#[test]
fn a_part_of_an_id_never_reaches_another_ticket_than_the_one_of_that_id() {
    let project = Project::new();
    let names: Vec<String> = (10..22).map(|n| format!("tk-{n}")).collect();
    project.scenario(DILIGENT);
    for name in &names {
        project.ticket(name, &["Alpha"]);
    }
    project.run(&[&["run"][..], &names.iter().map(String::as_str).collect::<Vec<_>>()].concat());
    project.ticket("tk-1", &["Alpha"]);
    let never_ran: [&[&str]; 7] = [
        &["status", "tk-1"],
        &["logs", "tk-1"],
        &["resume", "tk-1"],
        &["replay", "tk-1"],
        &["session", "show", "tk-1"],
        &["session", "reset", "tk-1"],
        &["circuit", "reset", "tk-1"],
    ];
    for args in never_ran {
        assert!(said(&project, args, 2).contains("tk-1 has not run yet"), "{args:?}");
    }
    for args in [["session", "reset", "tk-"], ["circuit", "reset", "tk-"]] {
        assert!(said(&project, &args, 2).contains("`tk-` matches tk-1, tk-10, tk-11"), "{args:?}");
    }
    for name in names.iter().map(String::as_str).chain(["tk-1"]) {
        std::fs::remove_file(project.path(&format!("work/.tickets/{name}.md"))).expect("it is there");
    }
    // Without the files the store knows them: by their whole ids, and in parts for who only reads.
    said(&project, &["circuit", "reset", "tk-21"], 0);
    assert!(said(&project, &["circuit", "reset", "k-21"], 2).contains("no run `k-21`"));
    said(&project, &["status", "k-21"], 0);
    let several = said(&project, &["status", "tk-"], 2);
    assert!(several.lines().count() == 12 && several.trim_end().ends_with("and 2 more"), "{several}");
}

#[test]
fn an_option_before_the_subcommand_is_named_with_it() {
    let said = said(&Project::new(), &["--ascii", "replay", "tk-1"], 2);
    assert!(said.contains("`programmator replay --ascii …`"), "{said}");
}
