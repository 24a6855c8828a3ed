//! A person's ticks: through programmator they count at once, whoever works on the ticket; Claude's never do.

use crate::project::{PROGRAM, Project};
use crate::{DILIGENT, of_kind, records, start_until, text};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Works on any phase once the file `go` is there.
const WAITING: &str = "
turns:
  - when: {phase: \"\"}
    steps:
      - write: {path: \"{slug}.txt\", content: \"{phase}\\n\"}
      - bash: \"until [ -e ../go ]; do sleep 0.02; done\"
      - status: {summary: \"did {phase}\"}
";

fn said(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_tick_reaches_the_run_of_another_process_and_counts_at_once() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta", "Gamma"]);
    project.scenario(WAITING);
    let (child, _) = start_until(&project, &["run", "--json", "tk-1"], "tool_finished");
    let ticked = said(&project.run(&["ticket", "tick", "tk-1", "2"]));
    assert!(ticked.contains("“Beta” is ticked") && ticked.contains("has taken it over"), "{ticked}");
    let deadline = Instant::now() + Duration::from_secs(30);
    while !project.ticket_text("tk-1").contains("- [x] Beta") {
        assert!(Instant::now() < deadline, "the run ticks the box in the file");
        std::thread::yield_now();
    }
    let other = said(&project.run(&["ticket", "untick", "tk-1", "2"]));
    assert!(other.contains("open again"), "{other}");
    let last = said(&project.run(&["ticket", "tick", "tk-1", "Gamma"]));
    assert!(last.contains("has taken it over"), "{last}");
    // The running phase as well: its iteration is cut off.
    let ticked = said(&project.run(&["ticket", "tick", "tk-1", "Alpha"]));
    assert!(ticked.contains("has taken it over"), "{ticked}");
    let again = said(&project.run(&["ticket", "tick", "tk-1", "Alpha"]));
    assert!(again.contains("already") || again.contains("has taken it over"), "{again}");
    project.write("go", "");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let journal = project.journal();
    let phases = |kind: &str| {
        let found = of_kind(&journal, kind);
        found.iter().map(|record| record["phase"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(phases("phase_ticked"), ["Beta", "Gamma", "Alpha"]);
    assert_eq!(phases("iteration_started"), ["Alpha", "Beta"]);
    assert_eq!(phases("phase_done"), ["Beta"]);
    let mut wishes: Vec<i64> = of_kind(&journal, "wish_taken").iter().map(|r| r["wish"].as_i64().unwrap()).collect();
    let noted = wishes.len();
    wishes.dedup();
    assert_eq!(wishes.len(), noted, "each wish is noted once");
    assert!(!project.ticket_text("tk-1").contains("[ ]"));
}

#[test]
fn a_tick_counts_also_between_runs_and_is_taken_back() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha", "Beta", "Gamma"]);
    let ticked = said(&project.run(&["ticket", "tick", "tk-1", "1"]));
    assert_eq!(ticked, "tk-1: “Alpha” is ticked.\n");
    assert!(said(&project.run(&["ticket", "tick", "tk-1", "1"])).contains("was ticked already"));
    assert!(project.ticket_text("tk-1").contains("- [x] Alpha"));
    // Claude ticks a box itself and claims nothing: the run ends, and its tick is a claim for the next one.
    project.write("work/tick.sh", "sed -i 's/- ... Beta/- [x] Beta/' .tickets/tk-1.md\n");
    project.scenario("turns: [{when: {phase: Beta}, steps: [{bash: \"sh tick.sh\"}, {status: {phase: \"\"}}]}]");
    let output = project.run(&["run", "--json", "-n", "1", "tk-1"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    let records = records(&output);
    let notices = of_kind(&records, "noticed");
    assert!(notices.iter().any(|notice| notice["text"].as_str().unwrap().contains("“Beta” was ticked in the file")));
    // The person makes it theirs: the next run leaves it out.
    assert!(said(&project.run(&["ticket", "tick", "tk-1", "Beta"])).contains("“Beta” is ticked"));
    project.scenario(DILIGENT);
    let output = project.run(&["run", "--json", "tk-1"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(of_kind(&crate::records(&output), "iteration_started").len(), 1, "Gamma alone: {}", text(&output));
    assert!(said(&project.run(&["ticket", "untick", "tk-1", "3"])).contains("open again"));
    assert!(project.ticket_text("tk-1").contains("- [ ] Gamma"));
    let unknown = project.run(&["ticket", "tick", "tk-1", "4"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", text(&unknown));
}

#[test]
fn a_number_is_the_one_that_a_heading_carries_and_a_name_must_be_of_one_phase() {
    let project = Project::new();
    project.write("work/.tickets/tk-1.md", "# T\n\n### Phase 2: Second\n\n### Phase 3: Third\n");
    assert!(said(&project.run(&["ticket", "tick", "tk-1", "2"])).contains("“Phase 2: Second” is ticked"));
    assert!(said(&project.run(&["ticket", "tick", "tk-1", "3"])).contains("“Phase 3: Third” is ticked"));
    project.ticket("tk-2", &["Fix it", "Other", "Fix it"]);
    for name in ["3", "Fix it"] {
        let refused = project.run(&["ticket", "tick", "tk-2", name]);
        assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
        assert!(text(&refused).contains("several phases of tk-2 are called “Fix it”"), "{}", text(&refused));
    }
    assert!(!project.ticket_text("tk-2").contains("[x]"));
}

/// Also a tool of Claude's that has cleaned its environment.
#[test]
fn a_run_may_not_say_what_is_done() {
    let project = Project::new();
    project.ticket("tk-1", &["Alpha"]);
    let marker = "PROGRAMMATOR_RUN_ID";
    let commands: [&[&str]; 5] =
        [&["ticket", "tick", "tk-1", "1"], &["trust"], &["circuit", "reset"], &["resume"], &["restore", "tk-1", "1"]];
    for args in commands {
        let inside = project.command(args).env(marker, "r").output().unwrap();
        assert_eq!(inside.status.code(), Some(77), "{args:?}: {}", text(&inside));
    }
    let below = Command::new("sh")
        .args(["-c", "env -u PROGRAMMATOR_RUN_ID \"$0\" ticket tick tk-1 1; exit $?", PROGRAM])
        .env_clear()
        .envs(project.env())
        .env(marker, "r")
        .current_dir(project.work())
        .output()
        .unwrap();
    assert_eq!(below.status.code(), Some(77), "{}", text(&below));
    assert!(project.ticket_text("tk-1").contains("- [ ] Alpha"));
}
