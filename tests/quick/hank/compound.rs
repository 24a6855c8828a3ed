//! Compound commands and denials: what Claude's own rules refuse although they let each part of it pass.

use programmator::domain::denial::{Denial, only_compound};

fn bash(command: &str) -> Denial {
    Denial::new("Bash", "t", command)
}

fn list(tools: &[&str]) -> Vec<String> {
    tools.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_only_compound() {
    let cases: [(&str, &[&str], &[&str], bool); 30] = [
        ("a pipeline of one program", &["npm test | npm run report"], &["Bash(npm *)"], true),
        ("two programs, both allowed", &["mvn test | grep FAIL"], &["Bash(mvn *)", "Bash(grep *)"], true),
        ("two programs, one of them not", &["mvn test | grep FAIL"], &["Bash(mvn *)"], false),
        ("joined by &&", &["git add -A && git commit -m x"], &["Bash(git *)"], true),
        ("joined by ;", &["git add -A; git status"], &["Bash(git *)"], true),
        ("joined by ||", &["git diff --quiet || git status"], &["Bash(git *)"], true),
        ("over two lines", &["git add -A\ngit status"], &["Bash(git *)"], true),
        ("in the background", &["npm start & npm test"], &["Bash(npm *)"], true),
        ("with a redirection", &["npm test 2>&1 | npm run report"], &["Bash(npm *)"], true),
        ("to a file", &["npm test &> out.log"], &["Bash(npm *)"], true),
        ("behind cd", &["cd app && npm test"], &["Bash(npm *)"], true),
        ("behind an assignment", &["CI=1 npm test | npm run x"], &["Bash(npm *)"], true),
        ("a separator in quotes", &["git commit -m 'a && rm b'"], &["Bash(git *)"], true),
        ("a separator in double quotes", &["git commit -m \"a | b\""], &["Bash(git *)"], true),
        ("the other way to write the wildcard", &["git add . && git status"], &["Bash(git:*)"], true),
        ("every command is allowed", &["a | b"], &["Bash"], true),
        ("every command by a star", &["a | b"], &["Bash(*)"], true),
        ("a wildcard behind two words", &["npm run a && npm run b"], &["Bash(npm run *)"], true),
        ("another second word", &["npm run a && npm install"], &["Bash(npm run *)"], false),
        ("git is not gitlab", &["gitlab-runner x | cat"], &["Bash(git *)", "Bash(cat *)"], false),
        ("npm is not npmx", &["npmx test"], &["Bash(npm *)"], false),
        ("an exact rule covers nothing more", &["pytest && pytest -x"], &["Bash(pytest)"], false),
        ("not even itself", &["pytest"], &["Bash(pytest)"], false),
        ("a wildcard without a border is none", &["git status"], &["Bash(git*)"], false),
        ("other tools of the list do not help", &["npm test"], &["Write", "Read", "Edit"], false),
        ("an empty list", &["npm test | cat"], &[], false),
        ("no refusals", &[], &["Bash(npm *)"], false),
        ("an empty command", &[""], &["Bash(npm *)"], false),
        ("all of several", &["npm a | npm b", "git a && git b"], &["Bash(npm *)", "Bash(git *)"], true),
        ("not all of several", &["npm a | npm b", "curl x"], &["Bash(npm *)"], false),
    ];
    for (name, commands, allowed, expected) in cases {
        let denials: Vec<Denial> = commands.iter().map(|command| bash(command)).collect();
        assert_eq!(only_compound(&denials, &list(allowed)), expected, "{name}");
    }
    let mixed = [bash("npm a | npm b"), Denial::new("Write", "t", "")];
    assert!(!only_compound(&mixed, &list(&["Bash(npm *)", "Write"])), "a refusal of another tool is a refusal");
}

#[test]
fn how_a_refusal_is_shown() {
    let long = "x".repeat(100);
    let cases = [
        ("a command", bash("npm install"), "Bash(npm install)".to_owned()),
        ("only its first line", bash("npm install\nrm -rf /"), "Bash(npm install)".to_owned()),
        ("the first that is one", bash("\n\n  npm ci"), "Bash(npm ci)".to_owned()),
        ("nothing that a terminal obeys", bash("a\u{1b}[2Jb"), "Bash(ab)".to_owned()),
        ("another tool", Denial::new("Write", "t", ""), "Write".to_owned()),
        ("a command of another tool", Denial::new("Write", "t", "x"), "Write".to_owned()),
        ("no name", Denial::new("", "t", ""), "unknown".to_owned()),
        ("no command", bash(""), "Bash".to_owned()),
    ];
    for (name, denial, expected) in cases {
        assert_eq!(denial.shown(), expected, "{name}");
    }
    let shown = bash(&long).shown().into_owned();
    assert_eq!(shown.chars().count(), "Bash()".len() + 60, "60 columns at most: {shown}");
}

mod runs {
    //! What a refusal does to a run.

    use programmator::base::time::Timestamp;
    use programmator::domain::approval::{Presence, Ruling};
    use programmator::domain::denial::Denial;
    use programmator::domain::limits::admission::{self, Admission, Ledger, Purpose};
    use programmator::domain::outcome::ExitReason;
    use programmator::domain::record::{PhaseSeed, Record};
    use programmator::domain::settings::Settings;
    use programmator::domain::tool_call::{ControlRequest, ToolCall, Via};
    use programmator::domain::turn::TurnResult;
    use programmator::domain::verdict::Verdict;
    use programmator::orchestrator::decide::decide;
    use programmator::orchestrator::input::{Input, Start};
    use programmator::orchestrator::state::State;
    use std::sync::Arc;

    /// Plays one iteration in which `refused` was refused, the call `blocked` by our own gate.
    fn ends(
        phases: &[&str],
        allowed: &[&str],
        refused: &[Denial],
        blocked: Option<&str>,
    ) -> (Option<ExitReason>, String) {
        let mut state = Arc::<State>::default();
        let mut told = String::new();
        let mut give = |input: Input| {
            let now = Timestamp::from_millis(1_000);
            let decision = decide(&state, input, now);
            for record in decision.records {
                if let Record::OutputAnalysed(analysis) = record {
                    told = analysis.told().join(" · ");
                }
            }
            state = decision.next.unwrap_or_else(|| state.clone());
        };
        give(Input::Started(Box::new(Start {
            ticket_path: "/w/t.md".into(),
            title: "T".into(),
            phases: phases.iter().map(|text| PhaseSeed { text: (*text).into(), done: false }).collect(),
            settings: Settings { allowed_tools: super::list(allowed), ..Settings::default() },
            ..Start::default()
        })));
        give(Input::TreeGranted);
        let admission = Admission { verdict: admission::Verdict::Go { probes: vec![] }, ledger: Ledger::default() };
        give(Input::Admitted { n: 1, purpose: Purpose::Iteration, admission: Box::new(admission) });
        give(Input::SnapshotTaken { n: 1, id: "s".into() });
        give(Input::AgentSpawned { n: 1, pid: 7 });
        let (session, model, version) = (String::new(), String::new(), String::new());
        give(Input::AgentReady { n: 1, session, model, version, told: programmator::domain::session::Told::default() });
        if let Some(id) = blocked {
            let request = ControlRequest { id: "r".into(), via: Via::Callback };
            let (tool, input) = ("Bash".to_owned(), "{}".to_owned());
            let call = Box::new(ToolCall { request, tool_use_id: id.into(), tool, input, agent: None, cwd: None });
            let ruling = Box::new(Ruling {
                verdict: Verdict::Block,
                rule: "a rule".into(),
                reason: String::new(),
                target: "npm install".into(),
                units: vec![],
                provable: false,
            });
            give(Input::Judged { n: 1, call, ruling, presence: Presence::Screen });
        }
        let text =
            "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: []\n  summary: s\n";
        let result = TurnResult { text: text.into(), refused: refused.to_vec(), ..TurnResult::default() };
        give(Input::TurnFinished { n: 1, result: Box::new(result) });
        give(Input::AgentExited { n: 1, code: Some(0), signal: None, swept: 0, stderr: String::new() });
        give(Input::EvidenceGathered { n: 1, iteration_files: vec!["a".into()], phase_files: vec![], reading: 1 });
        (state.ended.as_ref().map(|ended| ended.reason), told)
    }

    #[test]
    fn a_refusal_ends_a_run_only_where_it_must() {
        let npm = [Denial::new("Bash", "t1", "npm install | cat")];
        let (reason, told) = ends(&[], &[], &npm, None);
        assert_eq!(reason, Some(ExitReason::PermissionDenied), "Claude's own rules, no phases");
        assert!(told.contains("Bash(npm install | cat)"), "{told}");
        assert_eq!(ends(&[], &[], &npm, Some("t1")).0, None, "our own gate's refusal is none");
        assert_eq!(ends(&[], &[], &npm, Some("t2")).0, Some(ExitReason::PermissionDenied), "it refused another call");
        assert_eq!(ends(&["Phase 1"], &[], &npm, None).0, None, "where there are phases, they decide");
        let (reason, told) = ends(&[], &["Bash(npm *)", "Bash(cat *)"], &npm, None);
        assert_eq!(reason, None, "only compound: the run goes on");
        assert!(told.contains("allow each command but not the combination"), "with a warning: {told}");
        assert_eq!(ends(&[], &[], &[], None).0, None, "nothing was refused");
        let question = [Denial::new("AskUserQuestion", "t1", "")];
        assert_eq!(ends(&[], &[], &question, None).0, None, "a question is no refusal");
    }
}
