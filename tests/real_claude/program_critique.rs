//! A ticket under the workflow `reviewed` on the real CLI: a bug that the validation command catches, a flaw that only the
//! critic catches, and what the critic is shown and may do. The service plays all of them.

use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, block};
use serde_json::{Value, json};

fn bash(command: &str) -> Reply {
    Reply::tool("Bash", json!({"command": command, "description": "work"}))
}

fn verdict(word: &str, issues: &str) -> Reply {
    Reply::text(&format!(
        "I have looked.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  verdict: {word}\n  issues: {issues}\n  summary: \"looked\"\n```"
    ))
}

#[test]
fn a_bug_is_caught_by_the_command_and_a_flaw_by_the_critic() {
    let phases = ["Phase 1: Greet", "Phase 2: Part"];
    let bench = Bench::new(&phases);
    let config = bench.project.read("config/config.yaml").replace("name: simple", "name: reviewed");
    bench.project.write("config/config.yaml", &config);
    bench.project.validate_by("! grep -q BUG *.txt");
    let claim = |phase: usize, status: &str, file: &str| Reply::text(&block(phases[phase], status, &[file]));
    bench.script([
        bash("echo BUG > greeting.txt"),
        claim(0, "CONTINUE", "greeting.txt"),
        bash("echo 'hello flaw' > greeting.txt"),
        claim(0, "CONTINUE", "greeting.txt"),
        bash("echo 'the critic was here' > greeting.txt"),
        verdict("NEEDS_FIXES", "[{severity: major, file: greeting.txt, line: 1, text: \"a flaw\"}]"),
        bash("echo hello > greeting.txt"),
        claim(0, "CONTINUE", "greeting.txt"),
        verdict("APPROVED", "[]"),
        bash("echo bye > parting.txt"),
        claim(1, "DONE", "parting.txt"),
        verdict("APPROVED", "[]"),
    ]);
    let told = bench.run();

    let end = told.ended(0, "complete");
    assert_eq!((&end["iterations"], &end["phases_done"]), (&json!(4), &json!(2)), "critiques are no iterations");
    let steps: Vec<String> =
        told.each("iteration_started", "step").iter().map(|step| step.as_str().unwrap_or("code").to_owned()).collect();
    assert_eq!(steps, ["code", "code", "critique", "fix", "critique", "code", "critique"]);
    assert_eq!(told.of("phase_disputed").len(), 1, "the command caught the bug");
    assert_eq!(told.each("phase_done", "how"), ["verified", "verified"]);
    assert_eq!(bench.project.read("work/greeting.txt"), "hello\n");
    assert_eq!(bench.project.ticket_text(TICKET).matches("- [x]").count(), 2);

    // The critic's own write was refused, and the service was told so.
    let judged = told.of("tool_judged");
    let of_critic: Vec<&Value> = judged.iter().filter(|call| call["n"] == 3).map(|call| &call["verdict"]).collect();
    assert_eq!(of_critic, ["block"]);
    assert!(bench.asked(5).contains("only reads"), "{}", bench.asked(5));

    // What it is shown is what git says, and nothing of what the coder said.
    let shown = bench.asked(4);
    assert!(shown.contains("+hello flaw") && shown.contains("! grep -q BUG"), "{shown}");
    assert!(!shown.contains("summary: \\\"worked\\\"") && !shown.contains("echo BUG"), "{shown}");
    let told_to_fix = bench.asked(6);
    assert!(told_to_fix.contains("major: greeting.txt:1: a flaw"), "{told_to_fix}");

    // Critics and the fixer have sessions of their own; the coder keeps its own over all of it.
    let sessions = told.each("agent_ready", "session");
    assert_eq!(sessions.len(), 7);
    assert_eq!((&sessions[0], &sessions[0]), (&sessions[1], &sessions[5]), "the coder's");
    let mut all: Vec<&str> = sessions.iter().map(|session| session.as_str().unwrap()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 5, "{sessions:?}");
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}

#[test]
fn an_evaluator_is_shown_the_whole_difference_and_has_a_phase_added() {
    let bench = Bench::new(&["Phase 1: Greet"]);
    let config = bench.project.read("config/config.yaml");
    bench.project.write("config/config.yaml", &config.replace("name: simple", "name: thorough, add_phases: auto"));
    bench.project.validate_by("test -f greeting.txt");
    let goal = |word: &str, phases: &str| {
        Reply::text(&format!(
            "```yaml\nPROGRAMMATOR_STATUS:\n  verdict: {word}\n  new_phases: {phases}\n  summary: \"looked\"\n```"
        ))
    };
    bench.script([
        bash("echo hello > greeting.txt"),
        Reply::text(&block("Phase 1: Greet", "DONE", &["greeting.txt"])),
        verdict("APPROVED", "[]"),
        goal("MORE_WORK", "[\"Say goodbye\"]"),
        bash("echo bye > parting.txt"),
        Reply::text(&block("Say goodbye", "DONE", &["parting.txt"])),
        verdict("APPROVED", "[]"),
        goal("ACHIEVED", "[]"),
    ]);
    let told = bench.run();

    told.ended(0, "complete");
    let steps: Vec<String> =
        told.each("iteration_started", "step").iter().map(|step| step.as_str().unwrap_or("code").to_owned()).collect();
    assert_eq!(steps, ["code", "critique", "evaluate", "code", "critique", "evaluate"]);
    let text = bench.project.ticket_text(TICKET);
    assert!(text.contains("- [x] Phase 1: Greet\n- [x] Say goodbye\n"), "{text}");
    let shown = bench.asked(7);
    assert!(shown.contains("+hello") && shown.contains("+bye") && shown.contains("Say goodbye (verified)"), "{shown}");
}
