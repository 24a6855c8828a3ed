//! Several tickets in one start: which is first, which wait, and which are left.

use crate::project::Project;
use crate::watched::{DILIGENT, of_kind, ran, start_until, text};
use serde_json::Value;

/// A project with these tickets: id, the lines of its front matter that differ, phase.
fn project(tickets: &[(&str, &str, &str)], config: &str) -> Project {
    let project = Project::new();
    for (id, front, phase) in tickets {
        project.ticket(id, &[phase]);
        change(&project, id, front);
    }
    project.scenario_with(DILIGENT, &format!("policy: {{profile: trusted}}\nworkflow: {{name: simple}}\n{config}"));
    project
}

/// Replaces lines of the front matter by their keys.
fn change(project: &Project, id: &str, front: &str) {
    let mut text = project.ticket_text(id);
    for line in front.lines() {
        let key = line.split(':').next().unwrap();
        let old = text.lines().find(|old| old.starts_with(&format!("{key}:"))).unwrap().to_owned();
        text = text.replacen(&old, line, 1);
    }
    project.write(&format!("work/.tickets/{id}.md"), &text);
}

fn tickets<'a>(records: &'a [Value], kind: &str) -> Vec<&'a str> {
    of_kind(records, kind).iter().map(|record| record["ticket"].as_str().unwrap()).collect()
}

/// Which ticket's run began and ended, in this order.
fn course(records: &[Value]) -> Vec<String> {
    let word = |record: &Value| match record["kind"].as_str().unwrap() {
        "run_started" => Some(format!("+{}", record["ticket"].as_str().unwrap())),
        "run_ended" => Some(format!("-{}", record["ticket"].as_str().unwrap())),
        _ => None,
    };
    records.iter().filter_map(word).collect()
}

#[test]
fn so_many_run_at_once_by_priority_then_age_and_the_others_wait_with_the_reason() {
    let project = project(
        &[
            ("tk-1", "priority: 3", "First"),
            ("tk-2", "created: 2026-11-22T12:00:00Z", "Second"),
            ("tk-3", "", "Third"),
            ("tk-4", "priority: 0", "Fourth"),
        ],
        "run: {max_parallel: 1}\n",
    );
    let records = ran(&project, &["run", "--json", "--timeout", "60", "tk-1", "tk-2", "tk-3", "tk-4"], 0);
    let expected = ["+tk-4", "-tk-4", "+tk-3", "-tk-3", "+tk-2", "-tk-2", "+tk-1", "-tk-1"];
    assert_eq!(course(&records), expected);
    let queued = of_kind(&records, "queued");
    assert_eq!(queued.len(), 3, "{queued:?}");
    assert!(queued.iter().all(|one| one["why"] == "queued behind 1 run (run.max_parallel)"), "{queued:?}");
    assert!(of_kind(&records, "tree_awaited").is_empty());
}

#[test]
fn a_ticket_waits_for_those_that_it_depends_on_whatever_the_order() {
    let project = project(
        &[
            ("tk-1", "deps: [tk-2, tk-3]\npriority: 0", "First"),
            ("tk-2", "deps: [tk-3]", "Second"),
            ("tk-3", "", "Third"),
        ],
        "",
    );
    let records = ran(&project, &["run", "--json", "--timeout", "60", "tk-1", "tk-2", "tk-3"], 0);
    assert_eq!(course(&records), ["+tk-3", "-tk-3", "+tk-2", "-tk-2", "+tk-1", "-tk-1"]);
    let why: Vec<_> = of_kind(&records, "queued").iter().map(|one| one["why"].as_str().unwrap().to_owned()).collect();
    assert!(why.contains(&"after tk-2".to_owned()) && why.contains(&"after tk-3".to_owned()), "{why:?}");
    for id in ["tk-1", "tk-2", "tk-3"] {
        assert!(project.ticket_text(id).contains("status: closed\n"), "{id}");
    }
}

#[test]
fn who_would_wait_in_vain_is_not_started_and_says_why() {
    let project = project(
        &[
            ("tk-1", "", "First"),
            ("tk-2", "deps: [tk-1]", "Second"),
            ("tk-3", "deps: [tk-4]", "Third"),
            ("tk-4", "deps: [tk-3]", "Fourth"),
            ("tk-5", "deps: [tk-9]", "Fifth"),
        ],
        "",
    );
    let alone = project.run(&["run", "--json", "tk-2"]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(text(&alone).contains("tk-2 is not started: it depends on tk-1, which is open"), "{}", text(&alone));
    let circle = project.run(&["run", "--json", "tk-3", "tk-4"]);
    assert_eq!(circle.status.code(), Some(2));
    assert!(text(&circle).contains("dependency cycle (tk-3 → tk-4 → tk-3)"), "{}", text(&circle));
    assert!(text(&circle).contains("dependency cycle (tk-4 → tk-3 → tk-4)"), "{}", text(&circle));
    let typo = project.run(&["run", "--json", "tk-5"]);
    assert_eq!(typo.status.code(), Some(2));
    assert!(
        text(&typo).contains("tk-5 is not started: it depends on tk-9, which is no ticket in /"),
        "{}",
        text(&typo)
    );
    assert!(text(&typo).contains(".tickets: fix its deps"), "{}", text(&typo));

    // Its run ends, and the ticket is not closed.
    let begun = project.ticket_text("tk-1").replace("- [ ] First\n", "- [ ] First\n- [ ] And more\n");
    project.write("work/.tickets/tk-1.md", &begun);
    let records = ran(&project, &["run", "--json", "-n", "1", "--timeout", "60", "tk-1", "tk-2"], 4);
    assert_eq!(course(&records), ["+tk-1", "-tk-1"]);
    let left = of_kind(&records, "not_started");
    assert_eq!((tickets(&records, "not_started"), left[0]["exit_code"].as_u64()), (vec!["tk-2"], Some(3)));

    // The person has closed it themselves.
    change(&project, "tk-1", "status: closed");
    let records = ran(&project, &["run", "--json", "tk-2"], 0);
    assert_eq!(course(&records), ["+tk-2", "-tk-2"]);
}

#[test]
fn what_waits_holds_nothing_and_a_start_after_a_kill_goes_on() {
    let project = project(&[("tk-1", "", "Hold"), ("tk-2", "deps: [tk-1]", "Second")], "");
    let gate = project.gate("hold");
    project.scenario_with(
        &format!(
            "
turns:
  - when: {{phase: Hold}}
    steps: [ {{bash: \"{gate}\"}}, {{write: {{path: hold.txt, content: h}}}}, {{status: {{}}}} ]
  - when: {{phase: Second}}
    steps: [ {{write: {{path: second.txt, content: s}}}}, {{status: {{}}}} ]
"
        ),
        "policy: {profile: trusted}\nworkflow: {name: simple}\n",
    );
    let (mut child, _) = start_until(&project, &["run", "--json", "tk-2", "tk-1"], "spawn_requested");
    // Another program may have it: nobody holds it.
    let other = project.run(&["status", "tk-2"]);
    assert!(!text(&other).contains("running"), "{}", text(&other));
    child.kill().unwrap();
    child.wait().unwrap();
    project.open_gate("hold");
    let records = ran(&project, &["run", "--json", "--timeout", "60", "tk-2", "tk-1"], 0);
    assert_eq!(tickets(&records, "run_ended"), ["tk-1", "tk-2"]);
}

#[test]
fn all_that_are_ready_are_worked_through_and_those_that_become_so() {
    let project = project(
        &[
            ("tk-1", "deps: [tk-2]\npriority: 0", "First"),
            ("tk-2", "priority: 3", "Second"),
            ("tk-3", "", "Third"),
            ("tk-4", "deps: [tk-5]", "Fourth"),
            ("tk-5", "deps: [tk-4]", "Fifth"),
            ("tk-6", "deps: [tk-9]", "Sixth"),
            ("tk-7", "status: closed", "Seventh"),
        ],
        "",
    );
    let output = project.run(&["run", "--json", "--timeout", "60", "--ready"]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(course(&crate::watched::records(&output)), ["+tk-3", "-tk-3", "+tk-2", "-tk-2", "+tk-1", "-tk-1"]);
    for why in ["tk-4 is not started: dependency cycle (tk-4 → tk-5 → tk-4)", "tk-6 is not started: it waits for tk-9"]
    {
        assert!(told.contains(why), "{told}");
    }
    let again = project.run(&["run", "--ready", "--tag", "none"]);
    assert!(again.status.success() && text(&again).contains("No ticket is ready."), "{}", text(&again));
}

#[test]
fn after_a_failure_nothing_more_is_started_when_that_is_wanted() {
    let ready = |halts: &[&str]| {
        let project = project(&[("tk-1", "priority: 0", "First"), ("tk-2", "", "Second")], "");
        // Its validation never passes, and one iteration is all it has.
        let fails = format!("{}\n## Validation Commands\n\n- `test -e never`\n", project.ticket_text("tk-1"));
        project.write("work/.tickets/tk-1.md", &fails);
        let output = project.run(&[&["run", "--json", "--timeout", "60", "-n", "1", "--ready"], halts].concat());
        assert_eq!(output.status.code(), Some(4), "{}", text(&output));
        (course(&crate::watched::records(&output)), text(&output))
    };
    assert_eq!(ready(&[]).0, ["+tk-1", "-tk-1", "+tk-2", "-tk-2"]);
    let (course, told) = ready(&["--halt-on-failure"]);
    assert_eq!(course, ["+tk-1", "-tk-1"]);
    assert!(told.contains("tk-2 is not started: another ticket has failed"), "{told}");
}
