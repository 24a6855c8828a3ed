//! Leaving a ticket that has no phases, by whole runs on the scripted agent: what ends them, what keeps them going.

use crate::project::Project;
use crate::watched::{DILIGENT, end, of_kind, run, said, text};

/// A turn that changes a file and ends with these lines.
fn turn(when: &str, block: &str) -> String {
    let block = block.trim_end().replace('\n', "\n          ");
    format!(
        "  - when: {when}\n    steps:\n      - bash: \"date +%N >> log.txt\"\n      - say: |\n          {block}\n      - no_status\n"
    )
}

const ANY: &str = "{prompt: \"\"}";

#[test]
fn a_run_ends_when_claude_wanted_to_leave_twice_and_says_so() {
    let block = "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: [log.txt]\n  summary: nothing is left\n  exit_signal: true";
    let project = Project::with(&[], &format!("turns:\n{}", turn(ANY, block)));
    let (code, records) = run(&project, &["tk-1"]);
    assert_eq!((code, end(&records)), (Some(0), ("complete", 2)), "{records:?}");
    assert_eq!(of_kind(&records, "phase_done").len(), 1);
    assert!(project.ticket_text("tk-1").contains("status: closed"));
    // Who closed it said that it is done.
    let told = said(&project, &["run", "tk-1"], 0);
    assert!(told.contains("tk-1 is complete") && told.contains("`programmator ticket reopen tk-1`"), "{told}");
}

#[test]
fn a_closed_ticket_with_an_open_phase_is_in_progress_again() {
    let project = Project::with(&["One"], DILIGENT);
    let closed = project.ticket_text("tk-1").replace("status: open", "status: closed");
    project.write("work/.tickets/tk-1.md", &closed);
    let (code, records) = run(&project, &["tk-1"]);
    let status: Vec<&str> =
        of_kind(&records, "status_intended").into_iter().filter_map(|record| record["to"].as_str()).collect();
    assert_eq!((code, status), (Some(0), vec!["in_progress", "closed"]), "{records:?}");
}

#[test]
fn hanks_own_block_ends_a_run_in_both_spellings() {
    let ruled = "---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: true\nRECOMMENDATION: ship it\n---END_RALPH_STATUS---";
    let yaml = "HANK_STATUS:\n  STATUS: COMPLETE\n  EXIT_SIGNAL: true\n  RECOMMENDATION: ship it";
    for block in [ruled, yaml] {
        let project = Project::with(&[], &format!("turns:\n{}", turn(ANY, block)));
        let (code, records) = run(&project, &["tk-1"]);
        assert_eq!((code, end(&records)), (Some(0), ("complete", 2)), "{block}\n{records:?}");
        assert!(of_kind(&records, "follow_up_sent").is_empty(), "the block is read, nothing is asked");
    }
}

#[test]
fn exit_signal_false_keeps_a_run_going_whatever_else_is_said() {
    let project = Project::new();
    project.ticket("tk-1", &[]);
    let block = "All tasks are complete, the project is done.\n\n---HANK_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: false\nRECOMMENDATION: the next feature\n---END_HANK_STATUS---";
    project.scenario(&format!("turns:\n{}", turn(ANY, block)));
    let (code, records) = run(&project, &["--max-iterations", "4", "tk-1"]);
    assert_eq!((code, end(&records)), (Some(4), ("max_iterations", 4)), "{records:?}");
    assert!(of_kind(&records, "phase_done").is_empty());

    // Also beside our own DONE.
    let block = "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n  files_changed: [log.txt]\n  summary: s\n  exit_signal: false";
    let project = Project::with(&[], &format!("turns:\n{}", turn(ANY, block)));
    let (_, records) = run(&project, &["--max-iterations", "2", "tk-1"]);
    assert_eq!(end(&records), ("max_iterations", 2));
}

#[test]
fn test_after_test_ends_a_run_and_is_pointed_out_before() {
    let block = "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: [tests/log.txt]\n  summary: more cases\n  work_type: TESTING";
    let turns = turn(ANY, block).replace("date +%N >> log.txt", "mkdir -p tests; date +%N >> tests/log.txt");
    let pointed = turn("{prompt: \"ran or wrote tests and did nothing else\"}", &format!("I was told.\n\n{block}"))
        .replace("date +%N >> log.txt", "echo told >> tests/log.txt");
    let project = Project::with(&[], &format!("turns:\n{pointed}{turns}"));
    let (code, records) = run(&project, &["tk-1"]);
    assert_eq!((code, end(&records)), (Some(4), ("test_saturation", 3)), "{records:?}");
    assert!(project.read("work/tests/log.txt").ends_with("told\n"), "the third prompt points it out");

    // As many as the person says; a run keeps what it began with, and the preview says it.
    let project =
        Project::with_config(&[], &format!("turns:\n{pointed}{turns}"), "exit: {test_loops: 1, done_signals: 0}\n");
    let dry = text(&project.run(&["run", "--dry-run", "tk-1"]));
    assert!(dry.contains("ends after 1 iteration that only ran tests\n"), "{dry}");
    let (code, records) = run(&project, &["tk-1"]);
    assert_eq!((code, end(&records)), (Some(4), ("test_saturation", 1)), "{records:?}");

    // Real work in between, and it never comes to that.
    let turns = turn(ANY, block);
    let project = Project::with(&[], &format!("turns:\n{turns}"));
    let (_, records) = run(&project, &["--max-iterations", "4", "tk-1"]);
    assert_eq!(end(&records), ("max_iterations", 4), "what it calls testing changed more than tests");
}

#[test]
fn words_of_completion_do_not_outvote_a_failing_check() {
    let block = "RALPH_STATUS:\n  STATUS: COMPLETE\n  EXIT_SIGNAL: true";
    let mended = turn("{prompt: \"test -e good.txt` failed\", lacks: {good.txt: x}}", block)
        .replace("date +%N >> log.txt", "echo x > good.txt");
    let begin = turn(ANY, block);
    let project = Project::with(&[], &format!("turns:\n{mended}{begin}"));
    project.validate_by("test -e good.txt");
    let (code, records) = run(&project, &["tk-1"]);
    assert_eq!((code, end(&records)), (Some(0), ("complete", 3)), "{records:?}");
    assert_eq!(of_kind(&records, "phase_disputed").len(), 1);
    assert_eq!(of_kind(&records, "phase_done")[0]["how"], "verified");
}

const PLAN: &str =
    "# Fix plan\n\n## High Priority\n\n- [x] Parse\n- [ ] Print\n- [ ] Tell\n\n## Nice to have\n\n- [ ] Polish\n";

#[test]
fn a_hank_plan_is_over_when_every_box_but_the_optional_ones_is_ticked() {
    let project = Project::new();
    project.write("work/.hank/fix_plan.md", PLAN);
    let block = "---HANK_STATUS---\nSTATUS: IN_PROGRESS\nWORK_TYPE: IMPLEMENTATION\n---END_HANK_STATUS---";
    let ticks = |name: &str, when: &str| {
        let command =
            format!("sed -i 's/- \\\\[ \\\\] {name}/- [x] {name}/' .hank/fix_plan.md; echo {name} >> log.txt");
        turn(when, block).replace("date +%N >> log.txt", &command)
    };
    let turns = ticks("Print", "{prompt: \"has 2 open checkboxes\"}") + &ticks("Tell", "{prompt: \"has 1 open\"}");
    project.scenario(&format!("turns:\n{turns}"));
    let (code, records) = run(&project, &[".hank/fix_plan.md"]);
    assert_eq!((code, end(&records)), (Some(0), ("complete", 2)), "{records:?}");
    assert_eq!(of_kind(&records, "boxes_read").len(), 3, "at the start and after each iteration");

    // With everything ticked, nothing is called at all; also when it is run again.
    let (code, records) = run(&project, &[".hank/fix_plan.md"]);
    assert_eq!((code, end(&records)), (Some(0), ("complete", 0)), "{records:?}");
    assert!(of_kind(&records, "call_counted").is_empty());
}

#[test]
fn a_question_is_answered_by_the_next_prompt() {
    let asks = "Should I use a file or a table? Please let me know.\n\nPROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: []\n  summary: asked";
    let done = "PROGRAMMATOR_STATUS:\n  phase_completed: Choose\n  status: CONTINUE\n  files_changed: [log.txt]\n  summary: chose";
    let turns = turn("{prompt: \"nobody is there to answer\"}", done) + &turn(ANY, asks);
    let project = Project::with(&["Choose"], &format!("turns:\n{turns}"));
    let (code, records) = run(&project, &["tk-1"]);
    assert_eq!((code, end(&records)), (Some(0), ("complete", 2)), "{records:?}");
    assert_eq!(of_kind(&records, "output_analysed")[0]["question"], "should i");
}
