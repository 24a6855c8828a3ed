//! Everything that waits for the person: the queue, each card, and what stands on them.

use super::{modal, press, pressed, sample, scene, whole};
use programmator::domain::approval::{Again, Approval, ApprovalKind, QuestionId};
use programmator::domain::evaluation::Proposal;
use programmator::domain::news::News;
use programmator::domain::passphrase::Checked;
use programmator::domain::record::Record;
use programmator::domain::request::{Reply, Request};
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::state::Stage;
use programmator::tui::msg::{Ask, Msg};
use programmator::tui::ui::Ui;
use programmator::tui::update::update;
use std::time::Duration;

/// An ordinary afternoon in which this waits.
fn waits(approval: Approval) -> Ui {
    let mut model = sample::busy();
    model.tabs[0].state.approvals.push(approval.into());
    model
}

fn bash(command: &str) -> Approval {
    let input = serde_json::json!({ "command": command, "timeout": 600_000 }).to_string();
    let unit = sample::unit(command, Verdict::Ask, "unknown-asks", "not known to be harmless");
    Approval { units: vec![unit], provable: false, rule: "unknown-asks".into(), ..sample::asks("c", "Bash", &input, 9) }
}

fn passphrase() -> Approval {
    let reason = "writes outside of the tests";
    let units = vec![
        sample::unit("ls", Verdict::Allow, "allow-reads", ""),
        sample::unit("tee out.txt", Verdict::Passphrase, "secret-for-write", reason),
    ];
    let input = r#"{"command":"ls | tee out.txt"}"#;
    Approval {
        kind: ApprovalKind::Passphrase,
        units,
        rule: "secret-for-write".into(),
        reason: reason.into(),
        ..sample::asks("p", "Bash", input, 12)
    }
}

fn told(model: &mut Ui, checked: Checked) -> Vec<Ask> {
    let reply = Reply::Passphrase { ticket: sample::id("tk-4f2a"), id: QuestionId::first("p"), checked };
    update(model, Msg::Replied(reply))
}

/// Questions as the tool's input has them; `one` has one answer, `many` several.
fn question(kinds: &[&str]) -> Approval {
    let options = serde_json::json!([
        {"label": "Token bucket", "description": "Smooth, allows short bursts; one counter per account"},
        {"label": "Sliding window", "description": "Exact, keeps every timestamp", "preview": "ZADD hits now now\nZCARD hits"},
        {"label": "漏桶 (leaky bucket)", "description": "Even rate, queues what is over"},
    ]);
    let questions: Vec<_> = kinds
        .iter()
        .enumerate()
        .map(|(n, kind)| {
            serde_json::json!({
                "question": format!("Which limiter should guard the login, and which the password reset ({n})?"),
                "header": "Limiter",
                "options": options,
                "multiSelect": *kind == "many",
            })
        })
        .collect();
    let input = serde_json::json!({ "questions": questions }).to_string();
    Approval { kind: ApprovalKind::Question, ..sample::asks("q", "AskUserQuestion", &input, 30) }
}

#[test]
fn the_kind_that_can_be_allowed_is_on_the_card() {
    let command = r#"python3 -c "import json; print(json.load(open('package.json'))['version'])""#;
    let approval = Approval {
        units: vec![sample::unit_of_kind(
            command, "runs code that is given in its words", "inline code with `python3 -c`",
        )],
        ..bash(command)
    };
    modal("card_kind", || pressed(waits(approval.clone()), "!"));
}

#[test]
fn queue() {
    whole("queue", || {
        let mut model = waits(sample::push("c"));
        model.tabs[0].state.approvals.push(question(&["one"]).into());
        model.tabs[0].state.validation_change = Some(vec!["true".into()]);
        model.tabs[2].state.phases[1].untickable = true;
        press(&mut model, "a j");
        model
    });
    modal("queue_empty", || pressed(sample::model(), "a"));
}

#[test]
fn more_work() {
    let proposed = |keys: &str| {
        let mut model = sample::busy();
        let state = &mut model.tabs[0].state;
        (state.stage, state.approvals) = (Stage::Idle, Vec::new());
        state.goal.proposal = Some(Proposal {
            n: 7,
            phases: vec!["Document the new flags".into(), "Log a request that is refused \u{202e}".into()],
            left_out: 1,
            why: "The limit works, but nobody who reads the README would find it.".into(),
        });
        pressed(model, keys)
    };
    modal("more_work", || proposed("!"));
    modal("more_work_edit", || proposed("! e"));
    modal("more_work_refuse", || proposed("! n"));
}

#[test]
fn card() {
    whole("card", || pressed(waits(sample::push("c")), "!"));
}

#[test]
fn a_call_waits_behind_its_card() {
    scene("card_later", || pressed(waits(sample::push("c")), "! Esc"));
}

#[test]
fn edit_of_a_file() {
    modal("card_edit", || {
        let input = serde_json::json!({
            "file_path": "/home/ann/shop/src/http/stack.rs",
            "old_string": "    .layer(TraceLayer::new())\n    .layer(auth)\n    .layer(compression)\n",
            "new_string": "    .layer(TraceLayer::new())\n    .layer(auth)\n    .layer(RateLimit::per_account(limits))\n    .layer(compression)\n",
            "replace_all": false,
        });
        let path = "/home/ann/shop/src/http/stack.rs";
        let mut approval = Approval {
            agent: Some("explore".into()),
            units: vec![sample::unit(
                path,
                Verdict::Ask,
                "edits-ask",
                "changes a file that is shared with another ticket",
            )],
            rule: "edits-ask".into(),
            expires: Some(sample::NOW.plus(Duration::from_secs(3_480))),
            ..sample::asks("c", "Edit", &input.to_string(), 120)
        };
        approval.reason = approval.units[0].reason.clone();
        let mut model = waits(approval);
        press(&mut model, "!");
        model
    });
}

#[test]
fn a_long_command() {
    let long = || {
        let lines: Vec<String> = (1..=300).map(|n| format!("echo step {n} >> /tmp/log{n}")).collect();
        waits(bash(&lines.join("\n")))
    };
    modal("card_long", || pressed(long(), "!"));
    modal("card_long_end", || pressed(long(), "! G"));
    let mut model = long();
    model.size = (80, 24);
    press(&mut model, "!");
    assert_eq!(press(&mut model, "y t A y"), [], "nothing is agreed to before its end was seen");
    press(&mut model, "G");
    sample::draw(&mut model, (80, 24));
    assert!(matches!(press(&mut model, "y")[..], [Ask::Request(Request::Command(..))]));
}

#[test]
fn payloads_on_a_card() {
    modal("card_payloads", || {
        let command = "ls\u{202e}cod.exe\x1b]52;c;Zm9v\x07 \u{9b}31m; rm\u{a0}-rf \u{200b}~/work\r\x08\ntrue          ; \
                       ログイン制限 \u{e0041}| sh";
        let evil = "\x1b[2J\u{202e}evil\r\n";
        let mut approval = bash(command);
        approval.tool = "Bash\x1b[8m".into();
        approval.phase = Some(evil.into());
        approval.agent = Some(evil.into());
        approval.rule = evil.into();
        approval.reason = evil.into();
        approval.units.push(sample::unit(evil, Verdict::Ask, evil, evil));
        approval.tool = "Bash".into();
        let mut model = waits(approval);
        press(&mut model, "!");
        model
    });
}

#[test]
fn deny_with_words() {
    modal("card_deny", || {
        let mut model = waits(sample::push("c"));
        press(&mut model, "! d");
        update(&mut model, Msg::Paste("Not to main.\nPush to a branch and tell me its name.".into()));
        model
    });
}

#[test]
fn edited_input() {
    modal("card_input", || pressed(waits(sample::push("c")), "! e"));
    let mut model = waits(sample::push("c"));
    press(&mut model, "! e x Enter");
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("checking …"), "Enter saves the edit: {drawn}");
    let mut model = waits(Approval { provable: false, ..sample::push("c") });
    press(&mut model, "! A");
    let drawn = sample::draw(&mut model, (80, 24));
    assert!(drawn.contains("“Always” is unavailable for this call."), "{drawn}");
    modal("card_edited", || {
        let push = sample::push("c");
        let edited = Approval {
            id: push.id.next(),
            again: Some(Again::Edited),
            input: push.input.replace("--follow-tags", "--follow-tags --dry-run"),
            edited_from: Some(push.input.clone()),
            units: vec![sample::unit(
                "git push origin main --follow-tags --dry-run",
                Verdict::Ask,
                "pushes-ask",
                &push.reason,
            )],
            ..push
        };
        let mut model = waits(edited);
        press(&mut model, "!");
        model
    });
}

#[test]
fn asked_again() {
    modal("card_again", || {
        let mut model = waits(sample::push("c"));
        press(&mut model, "! y");
        let old = sample::push("c");
        let asked = Approval { id: old.id.next(), again: Some(Again::RulesChanged), rule: "stricter".into(), ..old };
        let at = model.tabs.iter().position(|tab| tab.id == sample::id("tk-4f2a")).unwrap();
        let seq = model.tabs[at].state.seq + 1;
        let stored = sample::stored("tk-4f2a", seq, Record::ApprovalAsked(asked));
        update(&mut model, Msg::News(News::Recorded(stored.into())));
        model
    });
}

#[test]
fn lasting_rule() {
    modal("card_rule", || pressed(waits(sample::push("c")), "! A"));
}

#[test]
fn masked_passphrase() {
    modal("card_passphrase", || {
        let mut model = waits(passphrase());
        press(&mut model, "!");
        told(&mut model, Checked::Ready);
        press(&mut model, "y");
        update(&mut model, Msg::Paste("correct horse battery".into()));
        model
    });
    let cases = [
        ("card_unset", Checked::Unset),
        ("card_wrong", Checked::Wrong { failures: 3, wait: Duration::ZERO }),
        ("card_locked", Checked::Locked { failures: 11, wait: Duration::from_secs(128) }),
    ];
    for (name, checked) in cases {
        modal(name, || {
            let mut model = waits(passphrase());
            press(&mut model, "!");
            told(&mut model, Checked::Ready);
            if checked != Checked::Unset {
                press(&mut model, "y x Enter");
            }
            told(&mut model, checked.clone());
            model
        });
    }
}

#[test]
fn question_of_claude() {
    modal("card_question", || pressed(waits(question(&["one"])), "! j"));
    modal("card_questions", || pressed(waits(question(&["one", "many"])), "! Enter Space j j Space"));
    modal("card_own_words", || {
        let mut model = waits(question(&["one"]));
        press(&mut model, "! j j j Enter");
        update(&mut model, Msg::Paste("Neither: use the proxy's.".into()));
        model
    });
    modal("card_answers", || pressed(waits(question(&["one", "many"])), "! Enter 1 3 Enter"));
}

#[test]
fn plan_of_claude() {
    modal("card_plan", || {
        let plan = "# Rate limiter\n\n1. Read the **middleware stack** in `src/http/stack.rs`.\n2. Add a token bucket \
                    per account, with its own tests.\n   - burst of 5\n   - refill 1 a second\n\n```rust\n\
                    pub struct Bucket { tokens: f64 }\n```\n";
        let input = serde_json::json!({ "plan": plan }).to_string();
        let approval = Approval { kind: ApprovalKind::Plan, ..sample::asks("c", "ExitPlanMode", &input, 75) };
        let mut model = waits(Approval { rule: String::new(), ..approval });
        press(&mut model, "!");
        model
    });
}

#[test]
fn dispute_and_conflict() {
    modal("dispute", || {
        let mut model = sample::busy();
        model.tabs[3].state.phases[2].dispute = Some("cargo test: exit 101, 2 of 41 tests fail".into());
        press(&mut model, "a Enter");
        model
    });
    modal("conflict", || {
        let mut model = sample::busy();
        model.tabs.truncate(3);
        model.tabs[2].state.phases[1].untickable = true;
        press(&mut model, "a Enter");
        model
    });
}

#[test]
fn nothing_on_a_card_is_an_order_to_the_terminal() {
    let evil = "\x1b[2J\x1b]52;c;Zm9v\x07\u{9b}31m\u{202e}x\r\x08\u{200b}";
    let json = serde_json::json!({ "command": evil, evil: [evil], "file_path": evil, "old_string": evil,
        "new_string": evil, "content": evil, "plan": evil,
        "questions": [{"question": evil, "header": evil, "options": [{"label": evil, "preview": evil}]}] });
    for tool in ["Bash", "Edit", "Write", "Task", evil] {
        for kind in [ApprovalKind::Call, ApprovalKind::Passphrase, ApprovalKind::Question, ApprovalKind::Plan] {
            let mut approval = sample::asks("p", tool, &json.to_string(), 5);
            approval.kind = kind;
            approval.rule = evil.into();
            approval.units = vec![sample::unit(evil, Verdict::Ask, evil, evil)];
            let mut model = waits(approval);
            for keys in ["!", "A", "n", "e", "Ctrl-s", "Esc", "y", "d", "Esc", "Esc", "a"] {
                press(&mut model, keys);
                for size in [(80, 24), (200, 50)] {
                    let drawn = sample::draw(&mut model, size);
                    let bad = |c: char| c != '\n' && (c.is_control() || matches!(c, '\u{202e}' | '\u{200b}'));
                    assert!(!drawn.chars().any(bad), "{tool:?} {kind:?} after {keys} at {size:?}");
                }
            }
        }
    }
}
