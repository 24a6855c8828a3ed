//! Questions with nobody there, by the program itself under the default rules.

use crate::approvals::bash;
use crate::messages_stub::Reply;
use crate::program::{Bench, block};
use serde_json::{Value, json};

/// The names of the tools that Claude has.
fn tools(request: &Value) -> Vec<&str> {
    request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn with_nobody_there_a_question_is_a_denial_that_claude_works_around() {
    let bench = Bench::new(&["Do it"]);
    bench.judged_by("guarded");
    bench.script([
        bash("frobnicate; touch ran.txt"),
        Reply::tool("WebFetch", json!({"url": "http://127.0.0.1:9/", "prompt": "p"})),
        bash("rm -rf .git"),
        bash("touch fine.txt"),
        Reply::text(&block("Do it", "DONE", &["fine.txt"])),
    ]);
    let told = bench.run();
    told.ended(0, "complete");
    assert!(!bench.file("ran.txt").exists() && bench.file(".git").exists() && bench.file("fine.txt").exists());
    assert_eq!(told.each("tool_judged", "verdict"), ["ask", "ask", "block", "allow"]);
    for n in [1, 2] {
        let asked = bench.asked(n);
        assert!(
            asked.contains("nobody is available to approve this") && asked.contains("needs no approval"),
            "{asked}"
        );
    }
    assert_eq!(told.each("approval_answered", "by"), ["nobody", "nobody"]);
    let notices = told.each("noticed", "text");
    let listed = notices.iter().filter_map(Value::as_str).find(|text| text.starts_with("2 calls were denied"));
    let listed = listed.unwrap_or_else(|| panic!("{notices:?}"));
    assert!(listed.contains("Bash frobnicate") && listed.contains("WebFetch"), "{listed}");
    let has = tools(&bench.stub.requests()[0]).contains(&"Bash");
    let asks = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];
    let requests = bench.stub.requests();
    assert!(has && !tools(&requests[0]).iter().any(|tool| asks.contains(tool)), "{:?}", tools(&requests[0]));
}
