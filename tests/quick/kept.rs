//! Questions whose process is gone: they stay open, and Claude goes on with the answers.

use crate::approvals::{Core, call, input_of, is_granted, meant_for, resumed};
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Answer, Presence, QuestionId, Ruling, Scope};
use programmator::domain::command::UserCommand;
use programmator::domain::record::{PhaseSeed, Record, WriteOutcome};
use programmator::domain::settings::Settings;
use programmator::domain::ticket::TicketStatus;
use programmator::domain::tool_call::Via;
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::effect::{Effect, Timer};
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::Stage;
use std::sync::Arc;

fn deferring() -> Settings {
    Settings { approval_defer_after: Some(60), ..Settings::default() }
}

/// Claude's process is gone, and the run is at rest.
fn gone(core: &mut Core) {
    core.give(Input::AgentExited { n: 1, code: Some(143), signal: None, swept: 0, stderr: String::new() });
    rests(core);
}

/// What the interrupted iteration came to is compared.
fn rests(core: &mut Core) {
    core.give(Input::EvidenceGathered { n: 1, iteration_files: vec![], phase_files: vec![], reading: 1 });
}

/// The run as it waits after `defer_after`.
fn waiting() -> Core {
    let mut core = Core::new(deferring());
    core.give(Input::RulesKnown { rules: "a".into() });
    core.asks("t1", Presence::Screen);
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    gone(&mut core);
    core
}

/// The notes that the next prompt brings.
fn told(core: &Core) -> Vec<String> {
    core.state.notes.queued().into_iter().map(|(_, text)| text).collect()
}

fn begins(core: &Core) -> bool {
    core.effects.iter().any(|effect| matches!(effect, Effect::TakeSnapshot { n: 2, .. }))
}

#[test]
fn a_process_is_ended_at_a_question_that_waits_and_goes_on_with_the_answer() {
    let mut core = Core::new(deferring());
    core.give(Input::RulesKnown { rules: "a".into() });
    core.asks("t1", Presence::Screen);
    assert_eq!(core.armed(Timer::Approval(1)), Some(core.now + 60_000));
    core.now += 59_999;
    core.fires(Timer::Approval(1));
    assert_eq!(core.state.stage, Stage::Running, "not before its time");
    core.now += 1;
    core.fires(Timer::Approval(1));
    assert_eq!(core.state.stage, Stage::Stopping);
    core.give(Input::AskWithdrawn { n: 1, tool_use_id: "t1".into() });
    gone(&mut core);
    assert_eq!(core.state.approvals.len(), 1, "the question still waits");
    assert!(core.effects.contains(&Effect::SeekPerson) && !begins(&core), "{:?}", core.effects);

    core.now += 86_400_000;
    core.answers("t1", meant_for("t1"));
    assert!(core.settled().is_empty(), "nobody waits for it");
    assert!(begins(&core), "{:?}", core.effects);
    assert!(told(&core)[0].contains("Bash") && told(&core)[0].contains("allowed"), "{:?}", told(&core));
    // The same call is let through, once; another one is asked about.
    let again = |id: &str, like: &str| {
        let mut again = call(id, Via::CanUseTool);
        again.input = input_of(like);
        again
    };
    begin(&mut core);
    assert!(!is_granted(&mut core, again("t2", "t9")));
    core.answers("t2", Answer::Deny { words: "no".into() });
    assert!(is_granted(&mut core, again("t3", "t1")));
    assert!(!is_granted(&mut core, again("t4", "t1")), "it was for once");
}

/// The second iteration calls Claude.
fn begin(core: &mut Core) {
    core.give(Input::SnapshotTaken { n: 2, id: "s".into() });
    core.give(Input::AgentSpawned { n: 2, pid: 8 });
    let told = programmator::domain::session::Told::default();
    core.give(Input::AgentReady { n: 2, session: "s".into(), model: "m".into(), version: "v".into(), told });
    assert_eq!(core.state.stage, Stage::Running);
}

#[test]
fn a_no_and_words_reach_claude_with_the_next_prompt() {
    let mut core = waiting();
    core.answers("t1", Answer::Deny { words: "use the mirror".into() });
    assert!(begins(&core) && told(&core)[0].contains("no. use the mirror"), "{:?}", told(&core));
    assert!(!core.state.gate.has_granted());
}

#[test]
fn of_two_answers_to_a_kept_question_the_first_counts() {
    let mut core = waiting();
    let seen = core.state.approvals[0].id.clone();
    core.answers("t1", Answer::Deny { words: "use the mirror".into() });
    let other = UserCommand::AnswerApproval { id: seen, answer: meant_for("t1") };
    core.give(Input::Commanded { by: Answerer::COMMAND_LINE, id: "c".into(), command: other });
    assert!(matches!(core.records.last(), Some(Record::AnswerTooLate(_))), "{:?}", core.records.last());
    assert!(told(&core).len() == 1 && !core.state.gate.has_granted(), "{:?}", told(&core));
}

#[test]
fn a_phase_that_is_skipped_takes_its_kept_question_along() {
    let seed = |text: &str| PhaseSeed { text: text.into(), done: false };
    let start = Start { phases: vec![seed("A"), seed("B")], settings: deferring(), ..Start::default() };
    let mut core = Core { state: Arc::default(), now: 1_000_000, records: Vec::new(), effects: Vec::new() };
    core.give(Input::Started(Box::new(start)));
    core.give(Input::TreeGranted);
    core.give(Input::StatusSettled { to: TicketStatus::InProgress, outcome: WriteOutcome::Written });
    core.give(Input::SnapshotTaken { n: 1, id: "s".into() });
    core.give(Input::AgentSpawned { n: 1, pid: 7 });
    core.asks("t1", Presence::Screen);
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    gone(&mut core);
    let skip = |phase| UserCommand::SkipPhase { phase };
    let by_person = |command| Input::Commanded { by: Answerer::SCREEN, id: "s".into(), command };
    core.give(by_person(skip(core.state.phases[1].id)));
    assert_eq!(core.state.approvals.len(), 1, "it is another phase's");
    core.give(by_person(UserCommand::RetryPhase { phase: core.state.phases[1].id }));
    core.give(by_person(skip(core.state.phases[0].id)));
    assert!(core.state.approvals.is_empty() && begins(&core), "{:?}", core.effects);
    assert!(told(&core).is_empty(), "Claude hears nothing of it");
}

#[test]
fn a_question_outlives_our_own_death_and_is_kept_once() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    core.asks("t2", Presence::Screen);
    core.give(resumed());
    core.give(resumed());
    core.give(Input::TreeGranted);
    rests(&mut core);
    let kept = core.records.iter().filter(|record| matches!(record, Record::ApprovalsKept { .. })).count();
    assert_eq!((kept, core.state.approvals.len(), begins(&core)), (1, 2, false));
    core.answers("t2", meant_for("t2"));
    assert!(!begins(&core), "one still waits");
    core.answers("t1", Answer::Deny { words: String::new() });
    assert!(begins(&core) && told(&core).len() == 2, "{:?}", core.effects);
}

#[test]
fn where_nobody_is_left_to_answer_the_run_goes_on_and_claude_asks_again() {
    let mut core = waiting();
    core.give(Input::PersonSought { presence: Presence::Nobody });
    assert!(core.state.approvals.is_empty() && begins(&core), "{:?}", core.effects);
    assert!(told(&core).is_empty() && !core.state.gate.has_granted());
}

#[test]
fn an_answer_that_comes_in_time_for_nobody_ends_with_its_time_the_run_or_the_rules() {
    // Its own time.
    let mut core = Core::new(Settings { approval_timeout: Some(600), ..deferring() });
    core.asks("t1", Presence::Screen);
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    gone(&mut core);
    assert_eq!(core.armed(Timer::Approval(1)), Some(core.now + 540_000));
    core.now += 540_000;
    core.fires(Timer::Approval(1));
    assert!(begins(&core) && told(&core)[0].contains("in time"), "{:?}", told(&core));

    // The run's end.
    let mut core = waiting();
    let stop = UserCommand::Stop;
    core.give(Input::Commanded { by: Answerer::SCREEN, id: "s".into(), command: stop });
    assert!(core.state.ended.is_some() && core.state.approvals.is_empty());

    // Other rules: the yes was for a call under these.
    let mut core = waiting();
    core.answers("t1", Answer::Allow { input: input_of("t1"), scope: Scope::Once });
    assert!(core.state.gate.has_granted());
    core.give(Input::RulesKnown { rules: "b".into() });
    assert!(!core.state.gate.has_granted());
}

#[test]
fn a_pause_of_the_persons_outlasts_the_answer() {
    let commanded = |command| Input::Commanded { by: Answerer::SCREEN, id: "p".into(), command };
    let mut core = waiting();
    core.give(commanded(UserCommand::Pause));
    core.answers("t1", meant_for("t1"));
    assert_eq!((core.state.stage.clone(), begins(&core)), (Stage::Paused, false));
    core.give(commanded(UserCommand::Resume));
    assert!(begins(&core));
}

#[test]
fn a_yes_for_once_ends_with_the_iteration_that_it_was_told_in() {
    let mut core = waiting();
    core.answers("t1", meant_for("t1"));
    begin(&mut core);
    core.give(Input::AgentExited { n: 2, code: Some(0), signal: None, swept: 0, stderr: String::new() });
    assert!(core.state.gate.has_granted());
    core.give(Input::EvidenceGathered { n: 2, iteration_files: vec![], phase_files: vec![], reading: 2 });
    assert!(!core.state.gate.has_granted(), "nobody has made the call");
}

#[test]
fn a_process_is_not_ended_while_a_call_is_at_work_in_it() {
    let mut core = Core::new(deferring());
    core.judged(call("t0", Via::Callback), Verdict::Allow, Presence::Screen);
    core.asks("t1", Presence::Screen);
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    assert_eq!(core.state.stage, Stage::Running);
    core.give(Input::ToolFinished { n: 1, tool_use_id: "t0".into(), is_error: false });
    assert!(core.armed(Timer::Approval(1)).is_some_and(|at| at <= core.now), "it is looked at again");
    core.fires(Timer::Approval(1));
    assert_eq!(core.state.stage, Stage::Stopping);
}

#[test]
fn a_changed_call_and_the_answers_to_a_question_need_no_process_to_be_judged() {
    let mut core = waiting();
    let edited = r#"{"command":"make it"}"#;
    core.answers("t1", Answer::Allow { input: edited.into(), scope: Scope::Once });
    let Some(Effect::JudgeEdit { asked, input, .. }) = core.effects.last() else { panic!("{:?}", core.effects) };
    assert_eq!((asked.tool.as_str(), asked.id.call.as_str(), input.as_str()), ("Bash", "t1", edited));
}

#[test]
fn the_time_of_a_question_begins_anew_once_somebody_can_be_asked_again() {
    let mut core = Core::new(Settings { approval_timeout: Some(600), ..Settings::default() });
    core.asks("t1", Presence::Screen);
    for _ in 0..2 {
        // Longer than its time, with nobody there.
        core.now += 86_400_000;
        core.give(resumed());
        core.give(Input::TreeGranted);
        rests(&mut core);
        assert_eq!(core.armed(Timer::Approval(1)), Some(core.now + 600_000));
        core.now += 599_999;
        core.fires(Timer::Approval(1));
        assert_eq!(core.state.approvals.len(), 1);
    }
    core.now += 1;
    core.fires(Timer::Approval(1));
    assert!(core.state.approvals.is_empty() && begins(&core), "{:?}", core.effects);
}

#[test]
fn an_iteration_that_made_way_for_a_question_counts_with_the_next_one_as_one() {
    let counts = |core: &Core| (core.state.iterations, core.state.counted_iterations());
    let mut core = waiting();
    assert_eq!(counts(&core), (1, 1));
    core.answers("t1", meant_for("t1"));
    begin(&mut core);
    assert_eq!(counts(&core), (2, 1));

    // Whom nobody answers would go on so without end.
    let mut core = waiting();
    core.give(Input::PersonSought { presence: Presence::Nobody });
    begin(&mut core);
    assert_eq!(counts(&core), (2, 2));
}

#[test]
fn a_run_at_its_last_iteration_goes_on_with_the_answer() {
    let mut core = Core::new(Settings { max_iterations: 1, ..deferring() });
    core.asks("t1", Presence::Screen);
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    gone(&mut core);
    core.answers("t1", meant_for("t1"));
    assert!(begins(&core), "{:?}", core.state.ended);
}

#[test]
fn a_process_is_ended_for_a_question_after_an_hour_whatever_is_at_work_in_it() {
    let mut core = Core::new(deferring());
    core.judged(call("t0", Via::Callback), Verdict::Allow, Presence::Screen);
    core.asks("t1", Presence::Screen);
    assert_eq!(core.armed(Timer::Approval(1)), Some(core.now + 3_600_000));
    core.now += 3_599_999;
    core.fires(Timer::Approval(1));
    assert_eq!(core.state.stage, Stage::Running, "not before its time");
    core.now += 1;
    core.fires(Timer::Approval(1));
    assert_eq!(core.state.stage, Stage::Stopping);
    assert_eq!(core.state.approvals.len(), 1, "kept, not denied");

    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    core.now += 7_200_000;
    core.fires(Timer::Approval(1));
    assert!(core.state.approvals.is_empty(), "a process that is held gets a denial");
}

/// What Claude is told of a call with this input and what the person made of it, once its process was gone.
fn told_of(tool: &str, input: &str, edited: Option<&str>) -> String {
    let mut core = Core::new(deferring());
    for via in [Via::Callback, Via::CanUseTool] {
        let mut call = call("t1", via);
        (call.tool, call.input) = (tool.into(), input.into());
        core.judged(call, Verdict::Ask, Presence::Screen);
    }
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    gone(&mut core);
    if let Some(edited) = edited {
        let (id, by, input) = (QuestionId::first("t1"), Answerer::SCREEN, edited.to_owned());
        let (rule, reason, target) = ("r".to_owned(), String::new(), String::new());
        let ruling = Ruling { verdict: Verdict::Ask, rule, reason, target, units: vec![], provable: false };
        core.give(Input::EditJudged { id, by, input, ruling: Box::new(ruling) });
    }
    let input = core.state.approvals[0].input.clone();
    core.answers("t1", Answer::Allow { input, scope: Scope::Once });
    told(&core).remove(0)
}

#[test]
fn what_was_answered_is_told_whole_to_a_claude_that_may_have_forgotten_it() {
    let lines = r#"{"command":"make a\nmake b"}"#;
    let told = told_of("Bash", lines, None);
    assert!(told.contains(lines) && told.contains("Make the same call again"), "{told}");

    let long = format!(r#"{{"command":"make {}"}}"#, "x".repeat(10_000));
    let told = told_of("Bash", lines, Some(&long));
    assert!(told.contains(&long) && told.contains(lines), "{told}");

    let huge = format!(r#"{{"command":"make {}"}}"#, "x".repeat(1_000_000));
    let told = told_of("Bash", lines, Some(&huge));
    assert!(told.len() < 2_000 && !told.contains("same call") && told.contains("too long"), "{told}");

    let told = told_of("ExitPlanMode", r##"{"plan":"# Plan\nFirst this, then that."}"##, None);
    assert!(told.contains("# Plan\nFirst this, then that.") && told.contains("approved"), "{told}");
}

#[test]
fn several_answers_of_one_prompt_share_the_room_for_what_they_are_about() {
    let mut core = Core::new(deferring());
    let input = format!(r#"{{"command":"make {}"}}"#, "x".repeat(120_000));
    let ids = ["t1", "t2", "t3"];
    for (id, via) in ids.iter().flat_map(|id| [(id, Via::Callback), (id, Via::CanUseTool)]) {
        let mut call = call(id, via);
        call.input.clone_from(&input);
        core.judged(call, Verdict::Ask, Presence::Screen);
    }
    core.now += 60_000;
    core.fires(Timer::Approval(1));
    gone(&mut core);
    for id in ids {
        core.answers(id, Answer::Allow { input: input.clone(), scope: Scope::Once });
    }
    let told = told(&core);
    let whole: Vec<bool> = told.iter().map(|told| told.contains(&input)).collect();
    assert_eq!(whole, [true, false, false]);
    assert!(told.iter().all(|told| told.contains("Make the same call again")), "{:?}", &told[1..]);
}

#[test]
fn a_stop_withdraws_the_question_as_the_quit_dialog_says() {
    for command in [UserCommand::Stop, UserCommand::FinishAndStop] {
        let mut core = waiting();
        core.give(Input::Commanded { by: Answerer::SCREEN, id: "s".into(), command });
        assert!(core.state.ended.is_some() && core.state.approvals.is_empty());
    }
}
