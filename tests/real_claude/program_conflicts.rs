//! A conflict with the base that the real CLI resolves in the ticket's worktree, asked for on the screen. The service plays
//! the Claude that resolves, and the critic.

use crate::messages_stub::Reply;
use crate::program::{Bench, TICKET, block};
use serde_json::json;

fn bash(command: &str) -> Reply {
    Reply::tool("Bash", json!({"command": command, "description": "work"}))
}

#[test]
fn a_conflict_is_resolved_and_the_base_has_both() {
    let phase = "Phase 1: Change";
    let bench = Bench::new(&[phase]);
    let project = &bench.project;
    project.git(&["config", "user.name", "P"]);
    project.git(&["config", "user.email", "p@example.invalid"]);
    project.write("work/same.txt", "as it was\n");
    // The base moves while the work is validated, once.
    let theirs = format!(
        "test -e {seen} || (touch {seen} && cd {work} && echo theirs > same.txt && git commit -qm Theirs same.txt)",
        seen = project.path("seen").display(),
        work = project.work().display()
    );
    project.validate_by(&theirs);
    project.git(&["add", "-A"]);
    project.git(&["commit", "-q", "-m", "Ticket"]);
    let config = project.read("config/config.yaml");
    project.write("config/config.yaml", &format!("{config}git: {{worktree: ticket, commit: ticket, merge: merge}}\n"));
    bench.script([bash("echo ours > same.txt"), Reply::text(&block(phase, "DONE", &["same.txt"]))]);
    bench.run().ended(3, "merge_failed");
    assert_eq!(project.git(&["show", "main:same.txt"]), "theirs\n");

    bench.script([
        bash("printf 'ours\\ntheirs\\n' > same.txt; echo new > why.txt"),
        Reply::text(&block("", "DONE", &["same.txt"])),
        Reply::text("```yaml\nPROGRAMMATOR_STATUS:\n  verdict: APPROVED\n  issues: []\n  summary: \"looked\"\n```"),
    ]);
    let mut terminal = bench.open(&[]);
    terminal.wait_for("NEEDS YOU");
    terminal.keys_until("\r", "M Claude resolves");
    terminal.keys_until("M", "Let Claude resolve the conflicts of");
    terminal.keys("y");
    terminal.wait_for("run again");
    let asked = bench.asked(2);
    assert!(asked.contains("Resolve merge conflicts") && asked.contains("same.txt"), "{asked}");
    assert_eq!(project.git(&["show", "main:same.txt"]), "ours\ntheirs\n");
    assert_eq!(project.git(&["show", "main:why.txt"]), "new\n");
    assert!(project.ticket_text(TICKET).contains("status: closed\n"));
    terminal.keys("q");
    assert_eq!(terminal.wait_end().exit_code(), 0);
    assert_eq!(project.processes(), Vec::<String>::new());
}
