//! Exit detection: what ends a ticket without phases, in which order, and what does not.

use programmator::adapters::git::{SnapshotName, WorkTree};
use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::analysis::shape::Output;
use programmator::domain::analysis::{Analysis, Before, analyse};
use programmator::domain::claim::parse::parse as read_block;
use programmator::domain::denial::Denial;
use programmator::domain::outcome::IterationOutcome;
use programmator::domain::record::{ChangeAnswered, FORMAT, PhaseSeed, Record, Stored};
use programmator::domain::settings::{ExitSettings, Settings};
use programmator::domain::step::Role;
use programmator::domain::ticket::Boxes;
use programmator::domain::ticket::parse::parse as read_ticket;
use programmator::orchestrator::apply::apply;
use programmator::orchestrator::exit::{CompletionRule, check, corrections};
use programmator::orchestrator::state::State;
use std::process::Command;

/// A run of a ticket, fed with records.
struct Run {
    state: State,
    seq: u64,
}

impl Run {
    fn new(phases: &[&str]) -> Self {
        Self::under(phases, Settings::default())
    }

    fn under(phases: &[&str], settings: Settings) -> Self {
        let mut run = Self { state: State::default(), seq: 0 };
        run.take(Record::RunStarted {
            folder: "/w".into(),
            ticket_path: "/w/fix_plan.md".into(),
            title: "T".into(),
            ticket_status: None,
            phases: phases.iter().map(|text| PhaseSeed { text: (*text).into(), done: false }).collect(),
            unverified: vec![],
            unverified_ids: vec![],
            validation: vec![],
            settings,
        });
        run
    }

    fn take(&mut self, record: Record) {
        self.seq += 1;
        let (run, ticket) = (RunId(uuid::Uuid::nil()), TicketId::parse("t").unwrap());
        let time = Timestamp::from_millis(i64::try_from(self.seq).unwrap());
        apply(&mut self.state, &Stored { v: FORMAT, seq: self.seq, time, run, ticket, record });
    }

    /// One iteration that ends well.
    fn iteration(&mut self, said: Option<Analysis>, files: &[&str]) {
        self.ending(said, files, IterationOutcome::Claimed);
    }

    fn ending(&mut self, said: Option<Analysis>, files: &[&str], outcome: IterationOutcome) {
        let n = self.state.iterations + 1;
        self.take(Record::IterationStarted { n, phase: None, session: None, id: None, role: Role::default() });
        self.take(Record::SnapshotTaken { n, id: "s".into() });
        if let Some(said) = said {
            self.take(Record::OutputAnalysed(Analysis { n, ..said }));
        }
        let iteration_files: Vec<String> = files.iter().map(ToString::to_string).collect();
        let changed = !iteration_files.is_empty();
        self.take(Record::EvidenceGathered { n, phase_files: iteration_files.clone(), iteration_files });
        self.take(Record::IterationEnded { n, outcome, changed, fingerprint: None, ms: 1, reading: None });
    }

    fn gate(&self) -> Option<CompletionRule> {
        check(&self.state)
    }
}

/// What an answer of Claude's says, block and all.
fn said(text: &str) -> Analysis {
    let output = Output::of_turn(&programmator::domain::turn::TurnResult { text: text.into(), ..Default::default() });
    analyse(1, &output, read_block(text).claim.as_ref(), &Before::default())
}

fn tests() -> Analysis {
    said("RALPH_STATUS:\n  STATUS: IN_PROGRESS\n  WORK_TYPE: TESTING\n")
}

fn done() -> Analysis {
    Analysis { done: true, ..Analysis::default() }
}

fn leaves() -> Analysis {
    said("RALPH_STATUS:\n  STATUS: IN_PROGRESS\n  EXIT_SIGNAL: true\n")
}

fn stays() -> Analysis {
    said("RALPH_STATUS:\n  STATUS: COMPLETE\n  EXIT_SIGNAL: false\n")
}

fn works() -> Analysis {
    said("RALPH_STATUS:\n  STATUS: IN_PROGRESS\n  WORK_TYPE: IMPLEMENTATION\n")
}

/// Wanted to leave, but said nothing about it in so many words.
fn hints() -> Analysis {
    Analysis { done: false, exit_signal: Some(true), ..Analysis::default() }
}

fn refused(command: &str) -> Analysis {
    Analysis { refused: vec![Denial::new("Bash", "t1", command)], ..works() }
}

const SRC: &[&str] = &["src/a.rs"];
const NONE: &[&str] = &[];

/// What an iteration said and which files it changed.
type Said<'a> = (Analysis, &'a [&'a str]);

fn rows(rows: Vec<(&str, Vec<Said<'_>>, Option<CompletionRule>)>) {
    for (name, iterations, expected) in rows {
        let mut run = Run::new(&[]);
        for (said, files) in iterations {
            run.iteration(Some(said), files);
        }
        assert_eq!(run.gate(), expected, "{name}");
    }
}

#[test]
fn thresholds() {
    use CompletionRule::{DoneSignals, PermissionDenied, ProjectComplete, Safety, TestSaturation};
    let times = |said: Analysis, times: usize| vec![(said, SRC); times];
    let testing = |times: usize| vec![(tests(), &["tests/a.rs"] as &[&str]); times];
    // Five that wanted to leave, the last without a word about it.
    let mut five = vec![(Analysis { done: false, exit_signal: Some(true), ..works() }, SRC); 5];
    five.push((works(), SRC));
    rows(vec![
        ("nothing was said yet", vec![], None),
        ("two iterations of tests go on", testing(2), None),
        ("three iterations of tests are enough", testing(3), Some(TestSaturation)),
        ("four as well", testing(4), Some(TestSaturation)),
        ("tests that changed nothing count too", vec![(tests(), NONE); 3], Some(TestSaturation)),
        ("one done signal goes on", times(done(), 1), None),
        ("two done signals are enough", times(done(), 2), Some(DoneSignals)),
        ("they need not follow each other", vec![(done(), SRC), (works(), SRC), (done(), SRC)], Some(DoneSignals)),
        ("one indicator with the signal goes on", times(leaves(), 1), None),
        ("two indicators with the signal are enough", times(leaves(), 2), Some(ProjectComplete)),
        ("two indicators without the signal go on", vec![(leaves(), SRC), (leaves(), SRC), (works(), SRC)], None),
        ("four indicators without the signal go on", [times(leaves(), 4), times(works(), 1)].concat(), None),
        ("five indicators end it without the signal", five, Some(Safety)),
        (
            "more of a kind than are needed change nothing",
            [times(leaves(), 9), times(works(), 1)].concat(),
            Some(Safety),
        ),
        (
            "a refusal comes before all else",
            [testing(3), vec![(refused("npm i"), SRC)]].concat(),
            Some(PermissionDenied),
        ),
        (
            "tests come before done",
            [testing(3), vec![(Analysis { tests_only: true, ..done() }, NONE); 2]].concat(),
            Some(TestSaturation),
        ),
        ("done comes before indicators", times(Analysis { done: true, ..hints() }, 2), Some(DoneSignals)),
        ("the safety comes before the dual gate", times(leaves(), 5), Some(Safety)),
    ]);
}

#[test]
fn the_limits_are_the_persons() {
    use CompletionRule::{DoneSignals, TestSaturation, TestShare};
    let exit = |test_loops, done_signals, test_percentage| ExitSettings { test_loops, done_signals, test_percentage };
    let testing = |times: usize| vec![(tests(), &["tests/a.rs"] as &[&str]); times];
    let mixed = |tested: usize, worked: usize| [testing(tested), vec![(works(), SRC); worked]].concat();
    for (name, settings, iterations, expected) in [
        ("one iteration of tests", exit(1, 2, None), testing(1), Some(TestSaturation)),
        ("four are asked for", exit(4, 2, None), testing(3), None),
        ("twenty can be asked for", exit(20, 2, None), testing(20), Some(TestSaturation)),
        ("tests end nothing", exit(0, 2, None), testing(30), None),
        ("one done signal", exit(3, 1, None), vec![(done(), SRC)], Some(DoneSignals)),
        ("done signals end nothing", exit(3, 0, None), vec![(done(), SRC); 4], None),
        ("four of ten are more than 30 %", exit(0, 2, Some(30)), mixed(4, 6), Some(TestShare)),
        ("three of ten are not", exit(0, 2, Some(30)), mixed(3, 7), None),
        ("all of ten are all, whatever the limit", exit(0, 2, Some(100)), mixed(10, 0), Some(TestShare)),
        ("nine of ten are not all", exit(0, 2, Some(100)), mixed(9, 1), None),
        ("nine iterations are too few", exit(0, 2, Some(30)), mixed(9, 0), None),
        (
            "work in between does not take them back",
            exit(3, 2, Some(30)),
            [mixed(2, 1), mixed(2, 5)].concat(),
            Some(TestShare),
        ),
    ] {
        let mut run = Run::under(&[], Settings { exit: settings, ..Settings::default() });
        for (said, files) in iterations {
            run.iteration(Some(said), files);
        }
        assert_eq!(run.gate(), expected, "{name}");
    }
}

#[test]
fn an_explicit_word_beats_every_other_sign() {
    let plan = Boxes { ticked: 3, open: 0, optional: 0 };
    for (name, before) in [
        ("COMPLETE twice", vec![done(), done()]),
        ("five indicators", vec![hints(), hints(), hints(), hints(), hints()]),
        ("the dual gate", vec![leaves(), leaves()]),
        ("test after test", vec![tests(), tests(), tests()]),
    ] {
        let mut run = Run::new(&[]);
        for said in before {
            run.iteration(Some(said), NONE);
        }
        assert!(run.gate().is_some(), "{name}");
        run.iteration(Some(stays()), NONE);
        assert_eq!(run.gate(), None, "EXIT_SIGNAL false beats {name}");
    }
    let mut run = Run::new(&[]);
    run.take(Record::BoxesRead(plan));
    run.iteration(Some(stays()), SRC);
    assert_eq!(run.gate(), None, "EXIT_SIGNAL false beats a ticked plan");
    run.iteration(Some(refused("npm i")), NONE);
    assert_eq!(run.gate(), Some(CompletionRule::PermissionDenied), "but a refusal is no sign");
}

#[test]
fn what_a_block_says_about_leaving() {
    let block = |keys: &str| said(&format!("---RALPH_STATUS---\n{keys}\n---END_RALPH_STATUS---\n"));
    // Explicit, done, indicates.
    let cases = [
        ("EXIT_SIGNAL false beats COMPLETE", "STATUS: COMPLETE\nEXIT_SIGNAL: false", (Some(false), false, false)),
        ("COMPLETE alone wants to leave", "STATUS: COMPLETE", (None, true, true)),
        ("EXIT_SIGNAL true alone wants to leave", "STATUS: IN_PROGRESS\nEXIT_SIGNAL: true", (Some(true), false, true)),
        ("both agree", "STATUS: COMPLETE\nEXIT_SIGNAL: true", (Some(true), true, true)),
        ("IN_PROGRESS stays", "STATUS: IN_PROGRESS", (None, false, false)),
        ("IN_PROGRESS and false stay", "STATUS: IN_PROGRESS\nEXIT_SIGNAL: false", (Some(false), false, false)),
        ("BLOCKED is not done", "STATUS: BLOCKED", (None, false, false)),
        ("a value that is no truth says nothing", "STATUS: IN_PROGRESS\nEXIT_SIGNAL: maybe", (None, false, false)),
        ("lower case is read", "status: complete\nexit_signal: TRUE", (Some(true), true, true)),
    ];
    for (name, keys, expected) in cases {
        let said = block(keys);
        assert_eq!((said.exit_signal, said.done, said.indicates_completion()), expected, "{name}");
    }
    let words = said("All tasks are complete. The project is done and ready.");
    assert!(!words.done && !words.indicates_completion(), "words alone never leave");
    let ours = said(
        "PROGRAMMATOR_STATUS:\n  phase_completed: null\n  status: CONTINUE\n  files_changed: []\n  summary: s\n  exit_signal: true\n",
    );
    assert_eq!(ours.exit_signal, Some(true), "an optional key of our own block");
}

#[test]
fn signs_that_are_missing_or_broken() {
    let mut run = Run::new(&[]);
    run.iteration(None, SRC);
    assert_eq!(run.gate(), None, "no signs at all go on");

    let of = |fields: &str| serde_json::from_str::<Record>(&format!("{{\"kind\":\"output_analysed\"{fields}}}"));
    let Ok(Record::OutputAnalysed(bare)) = of("") else { panic!("a record without fields is read") };
    assert_eq!((bare.exit_signal, bare.indicates_completion()), (None, false), "what is missing says no");
    assert!(of(",\"exit_signal\":null,\"later\":1").is_ok(), "what is unknown is passed over");
    assert!(of(",\"exit_signal\":\"perhaps\"").is_err(), "what is broken is no record, and is skipped");
    for _ in 0..2 {
        run.iteration(Some(bare.clone()), SRC);
    }
    assert_eq!(run.gate(), None, "empty signs go on");
    run.iteration(Some(leaves()), SRC);
    run.iteration(None, SRC);
    run.iteration(None, SRC);
    assert_eq!(run.gate(), None, "an iteration without signs neither adds nor ends");
}

#[test]
fn stale_signs_are_forgotten_at_every_start() {
    let mut run = Run::new(&[]);
    run.iteration(Some(leaves()), SRC);
    run.iteration(Some(leaves()), SRC);
    assert_eq!(run.gate(), Some(CompletionRule::ProjectComplete));
    run.take(Record::RunResumed { pid: 2 });
    assert_eq!(run.gate(), None, "going on begins with none");
    run.iteration(Some(leaves()), SRC);
    assert_eq!(run.gate(), None, "one is one again");
    run.iteration(Some(leaves()), SRC);
    assert_eq!(run.gate(), Some(CompletionRule::ProjectComplete));
    assert_eq!(Run::new(&[]).gate(), None, "a fresh run has none");
}

#[test]
fn which_iterations_count() {
    let mut run = Run::new(&[]);
    run.iteration(Some(tests()), &["tests/a.rs"]);
    run.iteration(Some(tests()), &["tests/a.rs"]);
    run.iteration(Some(works()), SRC);
    run.iteration(Some(tests()), &["tests/a.rs"]);
    assert_eq!(run.gate(), None, "real work begins the count of tests anew");
    run.iteration(Some(works()), NONE);
    run.iteration(Some(tests()), NONE);
    run.iteration(Some(tests()), NONE);
    assert_eq!(run.gate(), Some(CompletionRule::TestSaturation), "work that changed nothing does not");

    let mut run = Run::new(&[]);
    for _ in 0..3 {
        run.iteration(Some(tests()), SRC);
    }
    assert_eq!(run.gate(), None, "what changed more than tests is no testing, whatever it is called");

    for outcome in [IterationOutcome::Interrupted, IterationOutcome::CutOff] {
        let mut run = Run::new(&[]);
        run.iteration(Some(leaves()), SRC);
        run.ending(Some(leaves()), SRC, outcome);
        assert_eq!(run.gate(), None, "{outcome:?} says nothing");
    }

    let mut run = Run::new(&["Phase 1"]);
    for _ in 0..5 {
        run.iteration(Some(Analysis { tests_only: true, ..leaves() }), NONE);
    }
    run.iteration(Some(refused("npm i")), NONE);
    assert_eq!(run.gate(), None, "where a ticket has phases, the phases decide");
    assert!(!corrections(&run.state).is_empty(), "but what goes wrong is pointed out");
}

#[test]
fn boxes_of_a_plan() {
    let plan = |body: &str| read_ticket(body.as_bytes(), "fix_plan.md");
    let cases = [
        ("all ticked", "- [x] a\n- [X] b\n", true),
        ("one is open", "- [x] a\n- [ ] b\n", false),
        ("none is ticked", "- [ ] a\n", false),
        ("no boxes at all", "# Plan\n\nwords\n", false),
        ("an empty file", "", false),
        ("indented ones count", "- a\n  - [x] b\n  - [ ] c\n", false),
        ("indented and ticked", "- [x] a\n  - [x] b\n", true),
        ("a date is no box", "- [x] a\n- [2026-01-29] b\n", true),
        ("[NOTE] is no box", "- [x] a\n- [NOTE] b\n", true),
        ("[v1.0] is no box", "- [x] a\n- [v1.0] b\n", true),
        ("[#123] is no box", "- [x] a\n- [#123] b\n", true),
        ("[TODO] is no box", "- [x] a\n- [TODO] b\n", true),
        ("a link is no box", "- [x] a\n- [b](c)\n", true),
        ("only dates are no plan", "- [2026-01-29] a\n", false),
        ("a fence hides its boxes", "- [x] a\n```\n- [ ] b\n```\n", true),
        ("Optional may stay open", "- [x] a\n## Optional\n- [ ] b\n", true),
        ("Future may stay open", "- [x] a\n## Future\n- [ ] b\n", true),
        ("Future Enhancements may stay open", "- [x] a\n## Future Enhancements\n- [ ] b\n", true),
        ("Nice to Have may stay open", "- [x] a\n## Nice to Have\n- [ ] b\n", true),
        ("in any case", "- [x] a\n## NICE TO HAVE\n- [ ] b\n### optional\n- [ ] c\n", true),
        ("at any level", "- [x] a\n#### Optional\n- [ ] b\n", true),
        ("what is nested in it too", "- [x] a\n## Optional\n### Looks\n- [ ] b\n", true),
        ("the section ends at its own level", "- [x] a\n## Optional\n- [ ] b\n## High Priority\n- [ ] c\n", false),
        ("one behind it that is ticked", "## Optional\n- [ ] b\n## High\n- [x] c\n", true),
        ("only optional ones are no plan", "## Optional\n- [ ] a\n", false),
        ("a name that only begins so", "- [x] a\n## Optional arguments\n- [ ] b\n", false),
        ("CRLF", "- [x] a\r\n## Optional\r\n- [ ] b\r\n", true),
    ];
    for (name, body, complete) in cases {
        let ticket = plan(body);
        assert!(ticket.phases.is_empty(), "{name}: its boxes are tasks");
        let mut run = Run::new(&[]);
        run.take(Record::BoxesRead(ticket.boxes));
        assert_eq!(run.gate(), complete.then_some(CompletionRule::PlanComplete), "{name}");
    }
    assert_eq!(read_ticket(b"- [x] a\n- [ ] b\n", "plan.md").phases.len(), 2, "any other plan has phases");
    assert_eq!(plan("## Phase 1: A\n- [ ] t\n## Phase 2: B\n").phases.len(), 2, "and so have its phase headings");
}

#[test]
fn a_ticked_plan_that_fails_its_check_is_not_complete() {
    let mut run = Run::new(&[]);
    run.take(Record::ValidationChangeAnswered(ChangeAnswered { commands: vec!["make".into()], accepted: true }));
    run.take(Record::BoxesRead(Boxes { ticked: 1, open: 0, optional: 0 }));
    run.iteration(Some(works()), SRC);
    assert_eq!(run.gate(), None, "nobody has checked it");
}

#[test]
fn lengths_that_tell_nothing() {
    let output = |text: &str| Output { text: text.into(), ..Output::default() };
    for (name, length) in [("no last length", None), ("a last length of zero", Some(0)), ("a huge one", Some(u64::MAX))]
    {
        for text in ["", "short", "äöü"] {
            let before = Before { length, ..Before::default() };
            let analysis = analyse(1, &output(text), None, &before);
            assert_eq!(analysis.length, text.len() as u64, "{name}");
            assert_eq!(analysis.confidence, if length == Some(u64::MAX) { 10 } else { 0 }, "{name}: {text}");
        }
    }
    let odd: Analysis = serde_json::from_str("{}").unwrap();
    assert_eq!(odd.length, 0, "a record without a length");
    assert!(serde_json::from_str::<Analysis>("{\"length\":\"abc\"}").is_err(), "one that is no number is no record");
}

#[test]
fn being_stuck_takes_the_same_errors_in_three_outputs() {
    let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (a, ab, b) = (lines(&["error: a"]), lines(&["error: a", "error: b"]), lines(&["error: b"]));
    let stuck = programmator::domain::analysis::is_stuck;
    let cases = [
        ("three the same", &a, vec![a.clone(), a.clone(), a.clone()], true),
        ("only two before", &a, vec![a.clone(), a.clone()], false),
        ("one of three differs", &a, vec![a.clone(), b.clone(), a.clone()], false),
        ("all of several", &ab, vec![ab.clone(), ab.clone(), ab.clone()], true),
        ("one of several is new", &ab, vec![a.clone(), ab.clone(), ab.clone()], false),
        ("no errors", &vec![], vec![a.clone(), a.clone(), a.clone()], false),
        ("only the last three count", &a, vec![b.clone(), a.clone(), a.clone(), a.clone()], true),
    ];
    for (name, errors, before, expected) in cases {
        assert_eq!(stuck(errors, &before), expected, "{name}");
    }
    let mut run = Run::new(&[]);
    for _ in 0..3 {
        let signs = &run.state.signs;
        let before = Before { errors: &signs.errors, ..Before::default() };
        let analysis = analyse(1, &output_of("error: it broke"), None, &before);
        run.iteration(Some(analysis), SRC);
        assert!(corrections(&run.state).is_empty());
    }
    let before = Before { errors: &run.state.signs.errors, ..Before::default() };
    let analysis = analyse(1, &output_of("error: it broke"), None, &before);
    assert!(analysis.stuck);
    run.iteration(Some(analysis), SRC);
    assert!(corrections(&run.state)[0].contains("error: it broke"), "the next prompt shows them");
}

fn output_of(text: &str) -> Output {
    Output { text: text.into(), ..Output::default() }
}

/// What Claude commits is as much a change as what it leaves in the tree.
#[tokio::test]
async fn commits_count_as_progress() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().canonicalize().unwrap().join("work");
    std::fs::create_dir_all(&folder).unwrap();
    let git = |args: &[&str]| {
        let names = ["-c", "user.name=P", "-c", "user.email=p@example.invalid"];
        let status = Command::new("git").args(names).args(args).current_dir(&folder).status().unwrap();
        assert!(status.success());
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "Begin"]);
    let tree = WorkTree::open(&folder, &root.path().join("keep")).await.unwrap();
    let name = SnapshotName { ticket: TicketId::parse("t").unwrap(), run: RunId(uuid::Uuid::nil()), n: 1 };
    let before = tree.snapshot(&name, &[]).await.unwrap().id;
    assert!(tree.changed_since_each(&[&before], &[]).await.unwrap()[0].is_empty());
    std::fs::write(folder.join("new.txt"), "x").unwrap();
    assert_eq!(tree.changed_since_each(&[&before], &[]).await.unwrap(), [["new.txt"]], "untracked");
    git(&["add", "-A"]);
    assert_eq!(tree.changed_since_each(&[&before], &[]).await.unwrap(), [["new.txt"]], "staged");
    git(&["commit", "-q", "-m", "Work"]);
    assert_eq!(tree.changed_since_each(&[&before], &[]).await.unwrap(), [["new.txt"]], "committed");
}
