//! Planning on the real CLI, in its plan mode: what it may do, what it is asked twice, and what comes of its draft.

use crate::messages_stub::Reply;
use crate::program::Bench;
use serde_json::json;

fn draft(phases: &str) -> Reply {
    Reply::text(&format!(
        "I have looked.\n\n```yaml\nPROGRAMMATOR_STATUS:\n  phases: {phases}\n  validation: [\"test -f README.md\"]\n  summary: \"looked\"\n```"
    ))
}

#[test]
fn a_planner_only_reads_and_its_draft_is_written_when_asked_for() {
    let bench = Bench::new(&[]);
    bench.project.write("work/.tickets/tk-1.md", "---\nid: tk-1\nstatus: open\n---\n# Greet\n");
    let home = bench.project.path("home/.claude/plans/mine.md");
    bench.script([
        Reply::tool("Read", json!({"file_path": bench.file("README.md")})),
        Reply::tool("Write", json!({"file_path": bench.file("plan.txt"), "content": "mine"})),
        Reply::tool("Write", json!({"file_path": home, "content": "mine"})),
        Reply::tool("Bash", json!({"command": "echo mine > plan.txt", "description": "write"})),
        Reply::text("My plan: greet, then part."),
        draft("[\"Greet\", \"Part\"]"),
    ]);
    let output = bench.command(&["plan", "tk-1", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["draft"]["phases"], json!(["Greet", "Part"]));
    assert!(!bench.file("plan.txt").exists(), "it only reads");
    let journal = bench.project.journal();
    let of = |kind: &str| journal.iter().filter(|record| record["kind"] == kind).collect::<Vec<_>>();
    let verdicts: Vec<&str> = of("tool_judged").iter().map(|call| call["verdict"].as_str().unwrap()).collect();
    // Claude's own plan files are no files of the project: the gate leaves them to its plan mode.
    assert_eq!(verdicts, ["allow", "block", "allow", "block"]);
    assert_eq!((of("claim_missing").len(), of("follow_up_sent").len()), (1, 1));
    assert_eq!(bench.stub.requests().len(), 6);
    let tools = bench.stub.requests()[0]["tools"].to_string();
    assert!(!tools.contains("\"ExitPlanMode\""), "{tools}");

    let output = bench.command(&["plan", "tk-1", "--save"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(bench.stub.requests().len(), 6, "the draft is paid for once");
    let text = bench.project.ticket_text("tk-1");
    assert!(
        text.contains("## Design\n\n- [ ] Greet\n- [ ] Part\n") && text.contains("- `test -f README.md`"),
        "{text}"
    );
    assert_eq!(bench.project.processes(), Vec::<String>::new());
}
