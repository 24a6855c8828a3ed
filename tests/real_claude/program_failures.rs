//! What goes wrong at the service, and what the program makes of it.

use crate::messages_stub::Reply;
use crate::program::{Bench, Told, block, honest};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_rate_limit_that_passes_is_waited_out() {
    let bench = Bench::new(&["Do it"]);
    bench.script([Reply::status(429).header("retry-after", "0")]);
    bench.script(honest(&bench, "Do it", "a.txt"));
    let told = bench.run();
    assert_eq!(told.ended(0, "complete")["iterations"], 1);
    assert_eq!(told.each("api_retried", "error"), ["rate_limit"]);
}

#[test]
fn what_waiting_cannot_cure_ends_the_run_with_the_cure() {
    let cases = [
        (Reply::status(401), "authentication_failed", "/login"),
        (Reply::status(403), "authentication_failed", "/login"),
        (Reply::status(404), "model_not_found", "--model"),
    ];
    for (reply, kind, cure) in cases {
        let bench = Bench::new(&["Do it"]);
        bench.script([reply.forever()]);
        let program = bench.start();
        bench.stub.wait_for(1);
        // Claude itself would try a refused key for three minutes.
        let refused = Instant::now();
        let told = Told::new(&program.wait_with_output().unwrap());
        assert!(refused.elapsed() < Duration::from_secs(15), "{kind}: {:?}", refused.elapsed());
        let end = told.ended(1, "error");
        assert!(end["detail"].as_str().unwrap().contains(cure), "{kind}: {end}");
        assert_eq!(told.each("turn_failed", "error"), [kind]);
        assert_eq!(end["iterations"], 1, "{kind}");
        assert!(bench.project.ticket_text("tk-1").contains("- [ ] Do it"));
        assert_eq!(bench.project.processes(), Vec::<String>::new(), "{kind}");
    }
}

#[test]
fn words_of_a_lost_connection_are_no_claim() {
    let bench = Bench::new(&["Do it"]);
    let [write, claim] = honest(&bench, "Do it", "a.txt");
    // The lost half holds a whole block; what comes in its place has none.
    let lost = format!("{}\n\n{}", block("", "BLOCKED", &[]), "and more words ".repeat(40));
    bench.script([
        write,
        Reply::dropped_in(&lost).slowly(20, Duration::from_millis(2)),
        Reply::text("The work is done."),
        claim,
    ]);
    let told = bench.run();
    assert_eq!(told.ended(0, "complete")["iterations"], 1);
    assert!(bench.scrollback().contains("BLOCKED"), "the lost words did arrive");
    assert_eq!((told.of("claim_missing").len(), told.of("follow_up_sent").len()), (1, 1));
    assert_eq!(told.each("claim_made", "claim")[0]["status"], json!("CONTINUE"));
}

#[test]
fn a_block_that_is_sent_again_after_a_lost_connection_is_one_claim() {
    let bench = Bench::new(&["Do it"]);
    let [write, claim] = honest(&bench, "Do it", "a.txt");
    let text = block("Do it", "CONTINUE", &["a.txt"]);
    bench.script([write, Reply::dropped_in(&text).slowly(5, Duration::from_millis(5)), claim]);
    let told = bench.run();
    assert_eq!(told.ended(0, "complete")["iterations"], 1);
    assert_eq!((told.of("claim_made").len(), told.of("follow_up_sent").len()), (1, 0));
    let notices = told.each("noticed", "text");
    assert!(notices.is_empty(), "nothing to be careful about: {notices:?}");
}
