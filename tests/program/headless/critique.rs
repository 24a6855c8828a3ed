//! The critic on the scripted agent: what it is shown, what it may do, what becomes of what it says.

use crate::project::Project;
use crate::watched::{json, of_kind, ran};
use serde_json::Value;

const REVIEWED: &str = "workflow: {name: reviewed}\npolicy: {profile: trusted}\n";

/// Claude writes a bug, the critic finds it, a fresh Claude fixes it, and the critic is content.
const PLANTED: &str = r#"
turns:
  - when: {prompt: "What has to be fixed"}
    steps:
      - write: {path: work.txt, content: "right\n"}
      - status: {summary: "It is right now."}
  - when: {critic: true, lacks: {work.txt: "right"}}
    steps:
      - say: "I have read it."
      - write: {path: work.txt, content: "the critic was here\n"}
      - bash: "echo critic > critic.txt"
      - verdict: {verdict: NEEDS_FIXES, issues: ["work.txt:1: it is wrong", "elsewhere.txt: this, too"]}
  - when: {phase: ""}
    steps:
      - write: {path: work.txt, content: "wrong\n"}
      - status: {summary: "Done."}
"#;

pub fn steps(records: &[Value]) -> Vec<String> {
    let started = of_kind(records, "iteration_started");
    started.iter().map(|record| record["step"].as_str().unwrap_or("code").to_owned()).collect()
}

#[test]
fn a_planted_flaw_is_found_fixed_and_looked_at_again() {
    let project = Project::with_config(&["Do it"], PLANTED, REVIEWED);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(steps(&records), ["code", "critique", "fix", "critique"]);
    assert_eq!(project.read("work/work.txt"), "right\n");
    assert!(!project.path("work/critic.txt").exists(), "a critic that writes is refused");
    let judged = of_kind(&records, "tool_judged");
    let of_critic: Vec<&str> =
        judged.iter().filter(|call| call["n"] == 2).map(|call| call["verdict"].as_str().unwrap()).collect();
    assert_eq!(of_critic, ["block", "block"], "and that is in the journal: {judged:?}");
    let rejected = of_kind(&records, "phase_rejected");
    let doubtful: Vec<bool> =
        rejected[0]["issues"].as_array().unwrap().iter().map(|issue| issue["doubtful"] == true).collect();
    assert_eq!(doubtful, [false, true], "{rejected:?}");
    let done = of_kind(&records, "phase_done");
    assert_eq!((done.len(), &done[0]["how"], &done[0]["n"]), (1, &"approved".into(), &4.into()));
    let sessions = of_kind(&records, "agent_ready");
    let ids: std::collections::BTreeSet<&str> =
        sessions.iter().map(|ready| ready["session"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 4, "each has a session of its own: {sessions:?}");
    assert_eq!(records.last().unwrap()["iterations"], 2, "a critique is no iteration of the ticket's");
    assert!(project.ticket_text("tk-1").contains("- [x] Do it"));
    let told = String::from_utf8(project.run(&["status", "tk-1"]).stdout).unwrap();
    assert!(told.contains("critic      1 approved, 0 with minor issues, 1 rejected; 1 fix attempt\n"), "{told}");
    // And all of it is counted.
    let stats = json(&project, &["stats", "--json"]);
    let counts = [
        ("runs", 1),
        ("complete", 1),
        ("iterations", 4),
        ("tried", 1),
        ("done", 1),
        ("judged", 1),
        ("first_pass", 0),
        ("approved", 1),
        ("minor", 0),
        ("rejected", 1),
        ("fixes", 1),
        ("fixed", 1),
    ];
    for of in [&stats["total"], &stats["tickets"][0]] {
        assert!(counts.iter().all(|(name, many)| of[name] == *many), "{of}");
        let by_step: Vec<(&str, u64)> = of["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| (step["step"].as_str().unwrap(), step["iterations"].as_u64().unwrap()))
            .collect();
        assert_eq!(by_step, [("code", 1), ("critique", 2), ("fix", 1)]);
    }
    assert_eq!(stats["total"]["first_pass_rate"], 0.0);
    let words = String::from_utf8(project.run(&["stats"]).stdout).expect("text");
    assert!(
        words.contains("1 approved, 0 minor, 1 rejected\nFixes       1 attempt, 1 rejected phase fixed"),
        "{words}"
    );
}

#[test]
fn minor_issues_go_into_the_tickets_notes_as_they_are_and_are_no_boxes() {
    let scenario = r#"
turns:
  - when: {critic: true}
    steps: [ {verdict: {verdict: MINOR_ISSUES, issues: ["work.txt:1: - [ ] a name", "[ ] # another"]}} ]
  - when: {phase: ""}
    steps: [ {bash: "echo done >> work.txt"}, {status: {files: [work.txt]}} ]
"#;
    let project = Project::with_config(&["Do it", "And that"], scenario, REVIEWED);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(steps(&records), ["code", "critique", "code", "critique"]);
    let text = project.ticket_text("tk-1");
    assert!(text.contains("- [x] Do it\n- [x] And that\n"), "{text}");
    let notes = text.split("## Notes").nth(1).expect("a section of notes");
    assert_eq!(notes.matches("The critic approved “Do it” with 2 minor issues:").count(), 1, "{notes}");
    assert_eq!(notes.matches("work.txt:1: ").count(), 2, "a note for each phase: {notes}");
}

#[test]
fn what_is_never_fixed_ends_the_run_for_the_person() {
    let scenario = PLANTED.replace("content: \"right\\n\"", "content: \"wrong again\\n\"");
    let project = Project::with_config(
        &["Do it"],
        &scenario,
        "workflow: {name: reviewed, fix_tries: 1}\npolicy: {profile: trusted}\n",
    );
    let records = ran(&project, &["run", "--json", "tk-1"], 3);
    assert_eq!(steps(&records), ["code", "critique", "fix", "critique"]);
    let end = records.last().unwrap();
    assert_eq!(end["reason"], "review_failed");
    assert!(end["detail"].as_str().unwrap().contains("still finds 2 issues in “Do it” after 1 attempt"), "{end}");
    assert!(project.ticket_text("tk-1").contains("- [ ] Do it"), "nothing is ticked");
}

#[test]
fn the_critic_is_shown_the_true_difference_and_what_the_commands_said() {
    let scenario = r#"
turns:
  - when: {critic: true, prompt: "+a true line"}
    steps: [ {verdict: {summary: "I saw the line."}} ]
  - when: {critic: true}
    steps: [ {verdict: {verdict: NEEDS_FIXES, issues: ["no diff was shown"]}} ]
  - when: {phase: ""}
    steps:
      - bash: "printf 'a true line\\n' >> README.md"
      - status: {files: [other.txt], summary: "I changed other.txt."}
"#;
    let project = Project::with_config(&["Do it"], scenario, REVIEWED);
    project.validate_by("echo all checks ran");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(of_kind(&records, "critique_made")[0]["critique"]["summary"], "I saw the line.");
    assert_eq!(of_kind(&records, "phase_done")[0]["how"], "verified", "the commands checked it, and the critic agreed");
}

#[test]
fn without_a_word_from_the_person_a_critic_looks_at_what_no_command_checks() {
    let scenario = "turns:\n  - when: {phase: \"\"}\n    steps: [ {write: {path: a.txt, content: a}}, {status: {}} ]\n";
    for (command, expected) in [(None, vec!["code", "critique"]), (Some("test -f a.txt"), vec!["code"])] {
        let project = Project::with_config(&["Do it"], scenario, "workflow: {}\npolicy: {profile: trusted}\n");
        if let Some(command) = command {
            project.validate_by(command);
        }
        let records = ran(&project, &["run", "--json", "tk-1"], 0);
        assert_eq!(steps(&records), expected, "{command:?}");
    }
}

#[test]
fn a_fix_that_takes_the_change_back_is_no_false_claim() {
    let scenario = r##"
turns:
  - when: {prompt: "What has to be fixed"}
    steps: [ {write: {path: README.md, content: "# A project\n"}}, {status: {summary: "Taken back."}} ]
  - when: {critic: true, has: {README.md: "worse"}}
    steps: [ {verdict: {verdict: NEEDS_FIXES, issues: ["README.md:1: it was better before"]}} ]
  - when: {phase: ""}
    steps: [ {write: {path: README.md, content: "worse\n"}}, {status: {}} ]
"##;
    let project = Project::with_config(&["Do it"], scenario, REVIEWED);
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(steps(&records), ["code", "critique", "fix", "critique"]);
    assert!(of_kind(&records, "phase_disputed").is_empty(), "files were changed in the fix, as it claims");
}

/// The review is shown the whole difference of the ticket, may not write, and its finding is fixed.
const WHOLE: &str = r#"
turns:
  - when: {critic: true, prompt: "Review all that was changed", lacks: {two.txt: "fixed"}}
    steps:
      - write: {path: review.txt, content: "the reviewer was here\n"}
      - verdict: {verdict: NEEDS_FIXES, issues: ["two.txt:1: it contradicts one.txt"]}
  - when: {critic: true, prompt: "Check what reviewers found"}
    steps:
      - say: "```yaml\nPROGRAMMATOR_STATUS:\n  issues:\n    - issue: 1\n      verdict: confirmed\n      reason: \"seen\"\n  summary: \"it holds\"\n```\n"
  - when: {critic: true, prompt: "+one", has: {two.txt: "fixed"}}
    steps: [ {verdict: {summary: "I saw all of it."}} ]
  - when: {critic: true}
    steps: [ {verdict: {verdict: NEEDS_FIXES, issues: ["two.txt:1: no diff was shown"]}} ]
  - when: {prompt: "it contradicts one.txt"}
    steps: [ {write: {path: two.txt, content: "fixed\n"}}, {status: {}} ]
  - when: {phase: "First"}
    steps: [ {write: {path: one.txt, content: "one\n"}}, {status: {}} ]
  - when: {phase: "Second"}
    steps: [ {write: {path: two.txt, content: "two\n"}}, {status: {}} ]
"#;

#[test]
fn all_of_a_ticket_is_reviewed_and_what_is_found_is_fixed() {
    let config =
        "workflow: {name: simple, review: true}\nreview: {focus: [bug-deep, comments]}\npolicy: {profile: trusted}\n";
    let project = Project::with_config(&["First", "Second"], WHOLE, config);
    project.validate_by("test -f one.txt");
    let records = ran(&project, &["run", "--json", "tk-1"], 0);
    assert_eq!(steps(&records), ["code", "code", "review", "check", "fix", "review"]);
    let rejected = &of_kind(&records, "phase_rejected")[0];
    assert_eq!((&rejected["phase"], &rejected["of_ticket"]), (&"Second".into(), &true.into()));
    assert_eq!(rejected["issues"][0]["doubtful"], serde_json::Value::Null, "it is a changed place: {rejected}");
    assert_eq!(of_kind(&records, "ticket_reviewed").len(), 1);
    assert!(!project.path("work/review.txt").exists(), "the review may not write");
    let asked = project.run(&["logs", "tk-1"]);
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(said.contains("to be fixed: “Second”") && said.contains("nothing to fix"), "{said}");
}
