//! Tickets worked through on the real CLI: tools, claims, sessions, subagents, background work.

use crate::approvals::{LAUNCHED, SUBAGENT};
use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, Told, block, honest};
use serde_json::{Value, json};

#[test]
fn a_ticket_of_three_phases_is_completed_and_a_false_claim_caught() {
    let phases = ["Phase 1: Greet", "Phase 2: Shout it", "Phase 3: Part"];
    let bench = Bench::new(&phases);
    bench.project.write(
        "work/check.sh",
        "if grep -q WRONG greeting.txt; then echo 'checked: the greeting is WRONG'; exit 1; fi\n",
    );
    bench.project.validate_by("sh check.sh");
    let greeting = bench.file("greeting.txt");
    let read = || Reply::tool("Read", json!({"file_path": greeting}));
    let edit = |old: &str, new: &str| {
        Reply::tool("Edit", json!({"file_path": greeting, "old_string": old, "new_string": new}))
    };
    let claim = |phase: usize, status: &str, file: &str| Reply::text(&block(phases[phase], status, &[file]));
    bench.script([
        Reply::text("I write the greeting.").and_tool("Write", json!({"file_path": greeting, "content": "hello\n"})),
        claim(0, "CONTINUE", "greeting.txt"),
        read(),
        edit("hello", "WRONG"),
        claim(1, "CONTINUE", "greeting.txt"),
        read(),
        edit("WRONG", "HELLO"),
        claim(1, "CONTINUE", "greeting.txt"),
        Reply::tool("Bash", json!({"command": "echo bye > parting.txt", "description": "part"})),
        claim(2, "DONE", "parting.txt"),
    ]);
    let head = bench.project.git(&["rev-parse", "HEAD"]);
    let told = bench.run();

    let end = told.ended(0, "complete");
    assert_eq!((&end["iterations"], &end["phases_done"]), (&json!(4), &json!(3)));
    assert!(end["cost_usd"].as_f64().unwrap() > 0.0, "{end}");
    assert_eq!(told.judged(), ["Write", "Read", "Edit", "Read", "Edit", "Bash"]);
    assert_eq!(bench.project.read("work/greeting.txt"), "HELLO\n");
    assert_eq!(bench.project.read("work/parting.txt"), "bye\n");
    let ticket = bench.project.ticket_text(TICKET);
    assert_eq!((ticket.matches("- [x]").count(), ticket.contains("\nstatus: closed\n")), (3, true), "{ticket}");

    // Every claim was checked by us; the false one came back with the output.
    assert_eq!(told.each("phase_done", "how"), ["verified", "verified", "verified"]);
    let disputes = told.of("phase_disputed");
    assert_eq!((disputes.len(), &disputes[0]["n"]), (1, &json!(2)));
    assert!(disputes[0]["why"].as_str().unwrap().contains("the greeting is WRONG"), "{disputes:?}");
    assert!(!bench.asked(4).contains("the greeting is WRONG"), "nobody had said so yet");
    assert!(bench.asked(5).contains("the greeting is WRONG"), "the next prompt says why");

    // One session through all of it, each prompt on top of what was said before, with the same model.
    let sessions = told.each("agent_ready", "session");
    assert_eq!(sessions.len(), 4);
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    let resumed = told.each("iteration_started", "session");
    assert_eq!(resumed, [Value::Null, sessions[0].clone(), sessions[0].clone(), sessions[0].clone()]);
    let requests = bench.stub.requests();
    assert_eq!(requests.len(), 10, "one request for each answer");
    for first in [2, 5, 8] {
        assert!(bench.asked(first).contains("I write the greeting."), "request {first}");
        assert_eq!(requests[first]["model"], requests[0]["model"]);
    }
    let models = told.each("agent_ready", "model");
    assert!(models.iter().all(|model| *model == models[0]), "{models:?}");

    assert_eq!(bench.project.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}

#[test]
fn a_ticket_without_phases_is_done_when_claude_says_so() {
    let bench = Bench::new(&[]);
    let write = Reply::tool("Write", json!({"file_path": bench.file("a.txt"), "content": "a\n"}));
    bench.script([
        write,
        Reply::text(
            "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: DONE\n  files_changed: [a.txt]\n  summary: all\n",
        ),
    ]);
    let told = bench.run();
    told.ended(0, "complete");
    let done = told.of("phase_done");
    assert_eq!((done.len(), &done[0]["phase"], &done[0]["how"]), (1, &Value::Null, &json!("claimed_unchecked")));
    assert!(bench.project.ticket_text(TICKET).contains("\nstatus: closed\n"));
}

#[test]
fn a_broken_block_is_mended_in_the_same_process() {
    let bench = Bench::new(&["Do it"]);
    let [write, claim] = honest(&bench, "Do it", "a.txt");
    bench.script([write, Reply::text("Done.\n\nPROGRAMMATOR_STATUS:\n  phase_completed: \"Do it\"\n  stat"), claim]);
    let told = bench.run();
    assert_eq!(told.ended(0, "complete")["iterations"], 1, "asking again is no iteration");
    assert_eq!(told.of("claim_missing").len(), 1);
    assert_eq!(told.of("follow_up_sent").len(), 1);
    assert_eq!(told.of("agent_spawned").len(), 1, "no second process");
    assert_eq!(told.of("call_counted").len(), 2, "but it is a call");
    let last = bench.asked(2);
    assert!(last.contains("Done.") && last.matches("PROGRAMMATOR_STATUS").count() > 2, "{last}");
}

#[test]
fn half_an_emoji_in_the_answer_does_not_cost_the_claim() {
    let bench = Bench::new(&["Do it"]);
    let [write, _] = honest(&bench, "Do it", "a.txt");
    let literal = json!(format!("cut HALF here\n\n{}", block("Do it", "DONE", &["a.txt"]))).to_string();
    bench.script([write, Reply::text_json(&literal.replace("HALF", "\\ud83c"))]);
    let told = bench.run();
    told.ended(0, "complete");
    assert_eq!((told.of("claim_made").len(), told.of("follow_up_sent").len()), (1, 0));
    assert!(bench.scrollback().contains("cut \\ud83c here"), "it did come so, and is kept so");
}

#[test]
fn twenty_five_megabytes_of_output_are_no_hindrance() {
    let bench = Bench::new(&["Do it"]);
    bench.script([
        Reply::tool("Bash", json!({"command": "head -c 25000000 /dev/zero | tr '\\0' 'x' | tee big.txt"})),
        Reply::text(&block("Do it", "DONE", &["big.txt"])),
    ]);
    let told = bench.run();
    told.ended(0, "complete");
    assert_eq!(told.judged(), ["Bash"]);
    assert_eq!(std::fs::metadata(bench.file("big.txt")).unwrap().len(), 25_000_000);
    assert!(bench.asked(1).contains("Output too large"), "Claude itself saw a part only");
}

#[test]
fn a_session_that_is_gone_is_replaced_by_a_fresh_one() {
    let bench = Bench::new(&["Alpha", "Beta"]);
    // It runs between the iterations, after Claude has ended.
    bench.project.validate_by("rm -rf $HOME/.claude/projects");
    bench.script(honest(&bench, "Alpha", "a.txt"));
    bench.script(honest(&bench, "Beta", "b.txt"));
    let told = bench.run();
    assert_eq!(told.ended(0, "complete")["iterations"], 2, "a fresh session is no iteration");
    let sessions = told.each("agent_ready", "session");
    assert_eq!((sessions.len(), sessions[0] == sessions[1]), (2, false));
    assert_eq!(told.each("session_lost", "session"), [sessions[0].clone()]);
    let notices = told.each("noticed", "text");
    assert!(notices.iter().any(|text| text.as_str().unwrap().contains("cannot resume the session")), "{notices:?}");
    assert!(!bench.asked(2).contains("a.txt\\\",\\\"content"), "nothing of the old conversation");
}

#[test]
fn the_calls_of_a_subagent_are_judged_and_its_words_are_no_claim() {
    let bench = Bench::new(&["Do it"]);
    bench.script([
        Reply::tool("Task", json!({"description": "a part", "prompt": SUBAGENT, "subagent_type": "general-purpose"})),
        // It takes longer than the main agent, whose turn ends before it where it works in the background.
        Reply::tool("Bash", json!({"command": "sleep 2; echo sub > sub.txt"})).in_conversation(SUBAGENT),
        Reply::text("PROGRAMMATOR_STATUS:\n  status: BLOCKED\n  summary: \"a subagent has no say\"\n  error: \"none\"")
            .in_conversation(SUBAGENT),
        Reply::text(&block("Do it", "BLOCKED", &[])).when(LAUNCHED),
        Reply::text(&block("Do it", "DONE", &["sub.txt"])),
    ]);
    let told = bench.run();
    told.ended(0, "complete");
    assert_eq!(bench.project.read("work/sub.txt"), "sub\n", "it was let finish");
    assert_eq!(told.of("follow_up_sent").len(), 0, "Claude had its last word by itself");
    let tools = told.judged();
    assert_eq!((tools.len(), tools.last()), (2, Some(&"Bash")), "{tools:?}");
    let targets = told.each("tool_judged", "target");
    assert_eq!(targets[1], "sleep 2; echo sub > sub.txt");
    assert_eq!(told.each("claim_made", "claim").len(), 1);
}

#[test]
fn work_in_the_background_neither_holds_the_run_nor_outlives_it() {
    let bench = Bench::new(&["Alpha", "Beta"]);
    let background = |command: &str| Reply::tool("Bash", json!({"command": command, "run_in_background": true}));
    bench.script([
        // Ends after the claim, and gives Claude a turn of its own.
        background("sleep 2; echo late > late.txt"),
        Reply::text(&block("Alpha", "CONTINUE", &["late.txt"])),
        Reply::text("The background task is done."),
    ]);
    let program = bench.start();
    bench.stub.wait_for(3);
    bench.script([
        // Never ends.
        background("echo $$ > forever.pid; sleep 600"),
        Reply::text(&block("Beta", "DONE", &["forever.pid"])),
    ]);
    let told = Told::new(&program.wait_with_output().unwrap());
    assert_eq!(told.ended(0, "complete")["iterations"], 2);
    assert_eq!(told.of("claim_made").len(), 2);
    assert_eq!(told.of("follow_up_sent").len(), 0, "a turn after the claim is not asked for a block");
    assert_eq!(bench.project.read("work/late.txt"), "late\n", "it was let finish");
    assert!(bench.file("forever.pid").exists());
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}
