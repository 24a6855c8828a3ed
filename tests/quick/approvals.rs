//! The core alone: thousands of questions in any order, and the timers around them.

use programmator::base::id::RunId;
use programmator::base::time::Timestamp;
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{
    Again, Answer, AnsweredBy, EditRefused, Presence, QuestionId, Ruling, Scope, UnitView, Voided,
};
use programmator::domain::breaker::Circuit;
use programmator::domain::command::UserCommand;
use programmator::domain::limits::admission::{Facts, admit};
use programmator::domain::record::Record;
use programmator::domain::session::Told;
use programmator::domain::settings::Settings;
use programmator::domain::tool_call::{ControlRequest, ToolCall, Via};
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::apply::after;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::{Effect, Timer};
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::{Stage, State};
use std::collections::HashMap;
use std::sync::Arc;

/// A running iteration and what was done for it.
pub struct Core {
    pub state: Arc<State>,
    pub now: i64,
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

impl Core {
    pub fn new(settings: Settings) -> Self {
        let mut core = Self { state: Arc::default(), now: 1_000_000, records: Vec::new(), effects: Vec::new() };
        core.give(Input::Started(Box::new(Start {
            ticket_path: "/w/t.md".into(),
            title: "T".into(),
            settings,
            ..Start::default()
        })));
        core.give(Input::TreeGranted);
        core.give(Input::SnapshotTaken { n: 1, id: "s".into() });
        core.give(Input::AgentSpawned { n: 1, pid: 7 });
        core.give(Input::AgentReady {
            n: 1,
            session: "s".into(),
            model: "m".into(),
            version: "v".into(),
            told: Told::default(),
        });
        assert_eq!(core.state.stage, Stage::Running);
        core.effects.clear();
        core.records.clear();
        core
    }

    pub fn give(&mut self, input: Input) {
        let time = Timestamp::from_millis(self.now);
        let decision = decide(&self.state, input, time);
        self.state = decision.next.unwrap_or_else(|| self.state.clone());
        self.records.extend(decision.records);
        for effect in decision.effects {
            if let Effect::Admit(ask) = &effect {
                // Nobody else calls, and there is room.
                let admission = admit(&Facts::default(), ask, RunId(uuid::Uuid::nil()), time, &jiff::tz::TimeZone::UTC);
                let (n, purpose) = (ask.n, ask.purpose);
                self.give(Input::Admitted { n, purpose, admission: Box::new(admission) });
            } else {
                self.effects.push(effect);
            }
        }
    }

    pub fn judged(&mut self, call: ToolCall, verdict: Verdict, presence: Presence) {
        let units = vec![UnitView { text: call.input.clone(), ..unit(verdict, "r") }];
        let ruling = Ruling { units, provable: false, ..ruling(verdict, "r") };
        self.give(Input::Judged { n: 1, call: Box::new(call), ruling: Box::new(ruling), presence });
    }

    /// Claude asks, the whole way: callback, then `can_use_tool`.
    pub fn asks(&mut self, id: &str, presence: Presence) {
        for via in [Via::Callback, Via::CanUseTool] {
            self.judged(call(id, via), Verdict::Ask, presence);
        }
    }

    pub fn answers(&mut self, id: &str, answer: Answer) {
        self.answers_question(self.latest(id), answer);
    }

    fn answers_question(&mut self, id: QuestionId, answer: Answer) {
        self.give(Input::Commanded {
            by: Answerer::SCREEN,
            id: "c".into(),
            command: UserCommand::AnswerApproval { id, answer },
        });
    }

    /// The question about the call that is open, else its first.
    fn latest(&self, call: &str) -> QuestionId {
        let open = self.state.approvals.iter().find(|approval| approval.id.call == call);
        open.map_or_else(|| QuestionId::first(call), |approval| approval.id.clone())
    }

    pub fn fires(&mut self, timer: Timer) {
        self.give(Input::TimerFired { timer, last_byte: Timestamp::from_millis(0) });
    }

    /// What Claude was told about each call that waited.
    pub fn settled(&self) -> HashMap<String, Vec<Answer>> {
        let mut settled: HashMap<String, Vec<Answer>> = HashMap::new();
        for effect in &self.effects {
            if let Effect::ResolveApproval { id, answer } = effect {
                settled.entry(id.clone()).or_default().push(answer.clone());
            }
        }
        settled
    }

    pub fn armed(&self, wanted: Timer) -> Option<i64> {
        self.effects.iter().rev().find_map(|effect| match effect {
            Effect::Arm { timer, at } if *timer == wanted => Some(at.millis()),
            _ => None,
        })
    }
}

pub fn call(id: &str, via: Via) -> ToolCall {
    ToolCall {
        request: ControlRequest { id: format!("{id}-{via:?}"), via },
        tool_use_id: id.into(),
        tool: "Bash".into(),
        input: input_of(id),
        agent: None,
        cwd: None,
    }
}

pub fn input_of(id: &str) -> String {
    format!(r#"{{"command":"make {id}"}}"#)
}

/// The answer that is meant for this call and no other.
pub fn meant_for(id: &str) -> Answer {
    if id.ends_with(['0', '3', '7']) {
        Answer::Deny { words: format!("no {id}") }
    } else {
        Answer::Allow { input: input_of(id), scope: Scope::Once }
    }
}

/// The call comes back as its answer wants it.
fn back(id: &str) -> Input {
    let is_error = matches!(meant_for(id), Answer::Deny { .. });
    Input::ToolFinished { n: 1, tool_use_id: id.into(), is_error }
}

/// The opposite of what was meant.
fn opposite(id: &str) -> Answer {
    match meant_for(id) {
        Answer::Deny { .. } => Answer::Allow { input: input_of(id), scope: Scope::Once },
        Answer::Allow { .. } => Answer::Deny { words: "changed my mind".into() },
    }
}

/// Every call was settled once, by its own answer, which stands in the journal once.
fn check(core: &Core, ids: &[String]) {
    let settled = core.settled();
    assert_eq!(settled.len(), ids.len());
    for id in ids {
        assert_eq!(settled[id], [meant_for(id)], "{id}");
    }
    let mut stored: HashMap<&str, usize> = HashMap::new();
    for record in &core.records {
        if let Record::ApprovalAnswered(answered) = record {
            assert_eq!(answered.answer, meant_for(&answered.id.call));
            *stored.entry(&answered.id.call).or_default() += 1;
        }
    }
    assert!(stored.len() == ids.len() && stored.values().all(|times| *times == 1));
    assert!(core.state.approvals.is_empty());
}

/// Ten thousand questions, five hundred to a process.
fn batches() -> impl Iterator<Item = Vec<String>> {
    (0..20).map(|batch| (0..500).map(|n| format!("t{batch}-{n}")).collect())
}

#[test]
fn ten_thousand_questions_one_after_another() {
    for ids in batches() {
        let mut core = Core::new(Settings::default());
        for id in &ids {
            core.asks(id, Presence::Screen);
            assert_eq!(core.state.approvals.len(), 1);
            core.answers(id, meant_for(id));
            core.answers(id, opposite(id));
            core.give(back(id));
        }
        check(&core, &ids);
    }
}

#[test]
fn ten_thousand_questions_five_hundred_at_once_answered_in_any_order() {
    let mut dice = 7_u64;
    let mut roll = |sides: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(dice >> 33).unwrap() % sides
    };
    for ids in batches() {
        let mut core = Core::new(Settings::default());
        for id in &ids {
            core.asks(id, Presence::Screen);
        }
        let order: Vec<&str> = core.state.approvals.iter().map(|approval| approval.id.call.as_str()).collect();
        assert_eq!(order, ids, "in the order they were asked");
        let mut open = ids.clone();
        while !open.is_empty() {
            let id = open.swap_remove(roll(open.len()));
            core.answers(&id, meant_for(&id));
            core.answers(&id, opposite(&id));
            core.answers("never asked", meant_for("x"));
            core.give(back(&id));
        }
        check(&core, &ids);
    }
}

/// The clock is set by seconds, a day, ten years, forth and back, while a thousand questions wait. Where time jumped,
/// the person counts as seen just now (`runtime::effects`): nothing is refused for its age, nothing is answered twice.
#[test]
fn a_thousand_questions_under_a_clock_that_jumps_get_their_own_answers() {
    const DAY: i64 = 86_400_000;
    let jumps = [1_000, -3_600_000, DAY, -DAY, 3_650 * DAY, -3_650 * DAY, 7_200_000, -1];
    for turn in 0..2 {
        let ids: Vec<String> = (0..500).map(|n| format!("t{turn}-{n}")).collect();
        let mut core = Core::new(Settings::default());
        core.now = 1_795_269_733_120;
        let jump = |core: &mut Core, n: usize| {
            core.now += jumps[n % jumps.len()];
            let seen = Timestamp::from_millis(core.now);
            core.give(Input::TimerFired { timer: Timer::Approval(1), last_byte: seen });
            assert!(
                core.armed(Timer::Approval(1)).is_none_or(|at| at > core.now),
                "a timer that is due is a busy loop"
            );
        };
        for (n, id) in ids.iter().enumerate() {
            core.asks(id, Presence::Screen);
            jump(&mut core, n + turn);
        }
        assert_eq!(core.state.approvals.len(), ids.len(), "all wait");
        for (n, id) in ids.iter().enumerate().rev() {
            core.answers(id, meant_for(id));
            jump(&mut core, n + turn);
            core.answers(id, opposite(id));
            core.give(back(id));
        }
        check(&core, &ids);
    }
}

#[test]
fn a_verdict_and_an_answer_are_stored_before_they_are_given() {
    let mut core = Core::new(Settings::default());
    core.judged(call("t1", Via::Callback), Verdict::Ask, Presence::Screen);
    assert!(matches!(&core.records[..], [Record::ToolJudged { verdict: Verdict::Ask, .. }]), "{:?}", core.records);
    assert!(matches!(&core.effects[..], [Effect::Answer { verdict: Verdict::Ask, .. }]), "{:?}", core.effects);
    core.judged(call("t1", Via::CanUseTool), Verdict::Ask, Presence::Screen);
    assert!(matches!(&core.records[1..], [Record::ApprovalAsked(_)]), "one verdict, one question: {:?}", core.records);
    assert!(matches!(&core.effects[1..], [Effect::Arm { .. }]), "it waits: {:?}", core.effects);
    core.answers("t1", Answer::Deny { words: " ".into() });
    let Some(Effect::ResolveApproval { answer: Answer::Deny { words }, .. }) = core.effects.get(2) else {
        panic!("{:?}", core.effects)
    };
    assert!(words.contains("the user denied this call"), "Claude is told something in any case: {words}");
}

#[test]
fn with_nobody_there_a_question_is_a_denial_that_is_counted_and_told() {
    let mut core = Core::new(Settings::default());
    for id in ["t1", "t2"] {
        core.judged(call(id, Via::Callback), Verdict::Passphrase, Presence::Nobody);
    }
    let told: Vec<&str> = core
        .effects
        .iter()
        .map(|effect| match effect {
            Effect::Answer { verdict: Verdict::Block, reason, .. } => reason.as_str(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(told.len() == 2 && told[0].starts_with("r: w; nobody is available to approve this"), "{told:?}");
    assert!(core.state.approvals.is_empty());
    assert_eq!(core.state.gate.unasked_count, 2);
    core.give(Input::Faulted { message: "the end".into() });
    let notices: Vec<String> = core
        .records
        .iter()
        .filter_map(|record| match record {
            Record::Noticed { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    let all = "2 calls were denied because nobody could be asked: Bash";
    assert!(notices.iter().any(|text| text.starts_with(all) && !text.ends_with('…')), "{notices:?}");
}

#[test]
fn what_plain_lines_cannot_ask_is_not_denied_by_the_person() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    let (id, answer) = (core.latest("t1"), Answer::Deny { words: "too long".into() });
    let command = UserCommand::AnswerApproval { id, answer };
    core.give(Input::Commanded { by: Answerer::LINES, id: "c".into(), command });
    let answered = core.records.iter().find_map(|record| match record {
        Record::ApprovalAnswered(answered) => Some(&answered.by),
        _ => None,
    });
    assert_eq!(answered, Some(&AnsweredBy::Unshown));
}

#[test]
fn words_to_the_person_are_always_asked_and_the_rules_may_only_refuse_them() {
    for (tool, verdict, asked) in [
        ("AskUserQuestion", Verdict::Allow, true),
        ("ExitPlanMode", Verdict::Allow, true),
        ("ExitPlanMode", Verdict::Block, false),
        ("Bash", Verdict::Allow, false),
    ] {
        let mut core = Core::new(Settings::default());
        for via in [Via::Callback, Via::CanUseTool] {
            let input = r##"{"plan":"# First this"}"##.to_owned();
            core.judged(ToolCall { tool: tool.into(), input, ..call("t", via) }, verdict, Presence::Screen);
        }
        assert_eq!(core.state.approvals.len(), usize::from(asked), "{tool} {verdict:?}");
        // No rule asks it, so none is named.
        assert!(core.state.approvals.iter().all(|question| question.reason == "a person has to answer it"), "{tool}");
    }
}

#[test]
fn an_answer_for_the_ticket_holds_for_the_same_call_only() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    core.answers("t1", Answer::Allow { input: input_of("t1"), scope: Scope::Ticket });
    let again = ToolCall { input: input_of("t1"), ..call("t2", Via::Callback) };
    core.judged(again, Verdict::Ask, Presence::Screen);
    let last = core.records.last().unwrap();
    assert!(matches!(last, Record::ApprovalAnswered(answered) if answered.by == AnsweredBy::Ticket), "{last:?}");
    assert!(matches!(core.effects.last(), Some(Effect::Answer { verdict: Verdict::Allow, .. })));
    core.asks("t3", Presence::Screen);
    assert_eq!(core.state.approvals.len(), 1, "another command is another question");
    // With the passphrase nothing is granted beforehand.
    let locked = ToolCall { input: input_of("t1"), ..call("t4", Via::Callback) };
    core.judged(locked, Verdict::Passphrase, Presence::Screen);
    assert!(matches!(core.effects.last(), Some(Effect::Answer { verdict: Verdict::Passphrase, .. })));
}

/// Whether a call is let through by what was said for the ticket.
pub fn is_granted(core: &mut Core, call: ToolCall) -> bool {
    // The parts say the same of all of them, as those of a command do that is fed.
    let ruling = ruling(Verdict::Ask, "r");
    let (n, before) = (core.state.iterations, core.effects.len());
    core.give(Input::Judged { n, call: Box::new(call), ruling: Box::new(ruling), presence: Presence::Screen });
    core.effects[before..].iter().any(|effect| matches!(effect, Effect::Answer { verdict: Verdict::Allow, .. }))
}

fn fed(id: &str, tool: &str, input: &str, cwd: &str) -> ToolCall {
    ToolCall { tool: tool.into(), input: input.into(), cwd: Some(cwd.into()), ..call(id, Via::CanUseTool) }
}

#[test]
fn an_answer_for_the_ticket_is_for_the_whole_input_in_the_same_folder() {
    let harmless = r#"{"command":"python3 - <<E\nprint(1)\nE","description":"Print"}"#;
    for (tool, input, cwd, granted) in [
        ("Bash", harmless, "/w", true),
        ("Bash", r#"{"description":"again","timeout":5,"command":"python3 - <<E\nprint(1)\nE"}"#, "/w", true),
        ("Bash", r#"{"command":"python3 - <<E\nimport os; os.remove('a')\nE"}"#, "/w", false),
        ("Bash", r#"{"command":"python3 - <<E\nprint(1)\nE","run_in_background":true}"#, "/w", false),
        ("Bash", harmless, "/w/sub", false),
        ("mcp__db__run", harmless, "/w", false),
    ] {
        let mut core = with_grant(fed("t1", "Bash", harmless, "/w"), Scope::Ticket);
        assert_eq!(is_granted(&mut core, fed("t2", tool, input, cwd)), granted, "{tool} {input} in {cwd}");
    }
    let (send, other) = (r#"{"to":"a","description":"x"}"#, r#"{"to":"a","description":"y"}"#);
    let mut core = with_grant(fed("t1", "SendMessage", send, "/w"), Scope::Ticket);
    assert!(!is_granted(&mut core, fed("t2", "SendMessage", other, "/w")), "what other tools are told is no comment");
}

#[test]
fn an_answer_for_the_ticket_ends_with_the_rules_and_outlives_the_process() {
    let input = input_of("x");
    let again = |id: &str| fed(id, "Bash", &input_of("x"), "/w");
    let allow = Answer::Allow { input: input.clone(), scope: Scope::Ticket };
    let known = |rules: &str| Input::RulesKnown { rules: rules.into() };
    let mut core = Core::new(Settings::default());
    core.give(known("a"));
    core.give(Input::RulesChanged { words: "others".into(), trouble: None });
    assert!(!core.records.contains(&Record::GrantsDropped), "there was nothing to end");
    is_granted(&mut core, again("t1"));
    core.answers("t1", allow.clone());
    assert!(is_granted(&mut core, again("t2")));
    core.give(Input::RulesChanged { words: "others again".into(), trouble: None });
    assert_eq!(core.records.last(), Some(&Record::GrantsDropped));
    core.give(known("b"));
    assert!(!is_granted(&mut core, again("t3")));
    core.answers("t3", allow.clone());

    // Another process: nothing holds before it has said which rules it has.
    let records = |core: &Core| core.records.clone();
    let asked = records(&core).into_iter().rev().find_map(|record| match record {
        Record::ApprovalAsked(asked) => Some(asked),
        _ => None,
    });
    let asked = asked.unwrap();
    core.give(resumed());
    assert!(!core.state.gate.grants(&asked), "the rules may be others by now");
    core.give(known("b"));
    assert!(core.state.gate.grants(&asked));
    let applies = |record: &Record| matches!(record, Record::Noticed { text, .. } if text.contains("still apply"));
    assert!(records(&core).iter().any(applies));
    core.give(resumed());
    core.give(known("c"));
    assert!(!core.state.gate.has_granted() && !core.state.gate.grants(&asked));
    let [.., dropped, last] = &core.records[..] else { panic!("{:?}", core.records) };
    assert_eq!((dropped, last), (&Record::GrantsDropped, &Record::RulesKnown { rules: "c".into() }));
}

#[test]
fn what_was_allowed_in_a_process_that_did_not_name_its_rules_ends_with_it() {
    let mut core = Core::new(Settings::default());
    is_granted(&mut core, fed("t1", "Bash", &input_of("x"), "/w"));
    core.answers("t1", Answer::Allow { input: input_of("x"), scope: Scope::Ticket });
    let said = |record: &&Record| matches!(record, Record::ApprovalAsked(_) | Record::ApprovalAnswered(_));
    let yes: Vec<Record> = core.records.iter().filter(said).cloned().collect();
    let known = Record::RulesKnown { rules: "a".into() };
    let resumed = Record::RunResumed { pid: 8 };
    let fold = |records: &[Record]| after(&Arc::default(), records, Timestamp::from_millis(0)).gate.has_granted();
    let with = |before: &[&Record], behind: &[&Record]| -> Vec<Record> {
        before.iter().copied().chain(&yes).chain(behind.iter().copied()).cloned().collect()
    };
    assert!(fold(&with(&[&known], &[&resumed, &known])));
    assert!(!fold(&with(&[], &[&resumed, &known])), "an old journal");
    // As an older version does: it forgot what was allowed, and named no rules.
    assert!(!fold(&with(&[&known, &resumed], &[&resumed, &known])));
}

#[test]
fn a_yes_to_what_needs_the_passphrase_comes_with_it_and_in_no_other_way() {
    let mut core = Core::new(Settings::default());
    for via in [Via::Callback, Via::CanUseTool] {
        core.judged(call("t1", via), Verdict::Passphrase, Presence::Screen);
    }
    for scope in [Scope::Once, Scope::Ticket, Scope::Always] {
        core.answers("t1", Answer::Allow { input: input_of("t1"), scope });
        core.answers("t1", Answer::Allow { input: r#"{"command":"ls"}"#.into(), scope });
    }
    assert_eq!(core.state.approvals.len(), 1, "a key alone opens nothing");
    core.give(Input::Unlocked { id: QuestionId::first("other"), by: Answerer::SCREEN });
    core.asks("t2", Presence::Screen);
    core.give(Input::Unlocked { id: QuestionId::first("t2"), by: Answerer::SCREEN });
    assert_eq!(core.state.approvals.len(), 2, "nor does it answer what asks for no passphrase");
    core.give(Input::Unlocked { id: QuestionId::first("t1"), by: Answerer::SCREEN });
    assert_eq!(core.settled()["t1"], [Answer::Allow { input: input_of("t1"), scope: Scope::Once }]);
    assert!(matches!(core.effects.last(), Some(Effect::Unlock { .. })), "{:?}", core.effects.last());
}

#[test]
fn what_cannot_be_proven_gets_no_lasting_yes() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    core.answers("t1", Answer::Allow { input: input_of("t1"), scope: Scope::Always });
    let once = Answer::Allow { input: input_of("t1"), scope: Scope::Once };
    assert_eq!(core.settled()["t1"], [once]);
    core.judged(ToolCall { input: input_of("t1"), ..call("t2", Via::Callback) }, Verdict::Ask, Presence::Screen);
    assert!(matches!(core.effects.last(), Some(Effect::Answer { verdict: Verdict::Ask, .. })), "it is asked again");
}

#[test]
fn waiting_for_the_person_is_neither_silence_nor_work() {
    let settings = Settings { iteration_timeout: 900, idle_timeout: 300, ..Settings::default() };
    let mut core = Core::new(settings);
    let began = core.now;
    core.now += 100_000;
    core.asks("t1", Presence::Screen);
    core.asks("t2", Presence::Screen);
    core.now = began + 900_000;
    core.fires(Timer::Idle(1));
    core.fires(Timer::Iteration(1));
    assert_eq!(core.state.stage, Stage::Running, "nobody is cut off for waiting");
    core.now = began + 8_000_000;
    core.answers("t1", meant_for("t1"));
    assert_eq!(core.armed(Timer::Iteration(1)), None, "one is still open");
    core.answers("t2", meant_for("t2"));
    // 100 s were worked; 800 are left.
    assert_eq!(core.armed(Timer::Iteration(1)), Some(core.now + 800_000));
    assert_eq!(core.armed(Timer::Idle(1)), Some(core.now + 300_000));
    // One that had fired before the answer says nothing either.
    core.fires(Timer::Iteration(1));
    assert_eq!(core.state.stage, Stage::Running);
    core.now += 800_000;
    core.fires(Timer::Iteration(1));
    assert_eq!(core.state.stage, Stage::Stopping, "but work has its end");
}

#[test]
fn waiting_for_the_person_is_no_time_of_the_phase() {
    let mut core = Core::new(Settings::default());
    core.now += 2_000;
    core.asks("t1", Presence::Screen);
    core.now += 100_000;
    let worked = |core: &Core| core.state.worked(Timestamp::from_millis(core.now)).as_secs();
    assert_eq!(worked(&core), 2, "while it waits too");
    core.answers("t1", meant_for("t1"));
    core.now += 4_000;
    core.give(Input::StorageWorked { waited: std::time::Duration::from_secs(4) });
    assert_eq!(worked(&core), 2, "nor is waiting for the disk");
    core.now += 3_000;
    core.asks("t2", Presence::Screen);
    core.now += 50_000;
    // Cut off while the second waits.
    core.give(Input::Commanded { by: Answerer::SCREEN, id: "c".into(), command: UserCommand::PauseNow });
    core.now += 1_000;
    core.give(Input::AgentExited { n: 1, code: None, signal: Some(15), swept: 0, stderr: String::new() });
    core.give(Input::EvidenceGathered { n: 1, iteration_files: vec![], phase_files: vec![], reading: 1 });
    let times: Vec<u64> = core
        .records
        .iter()
        .filter_map(|record| match record {
            Record::IterationEnded { ms, .. } => Some(*ms),
            Record::Receipt(receipt) => Some(receipt.ms),
            _ => None,
        })
        .collect();
    assert_eq!(times, [6_000, 6_000]);
}

#[test]
fn a_question_ends_with_its_time_where_it_has_one() {
    let (none, short) = (Settings::default(), Settings { approval_timeout: Some(60), ..Settings::default() });
    for (settings, presence, seconds) in [(none, Presence::Screen, Some(3_600)), (short, Presence::Screen, Some(60))] {
        let mut core = Core::new(settings);
        core.asks("t1", presence);
        let expected = seconds.map(|seconds: i64| core.now + seconds * 1_000);
        assert_eq!(core.armed(Timer::Approval(1)), expected, "{presence:?}");
        let Some(at) = expected else { continue };
        core.now += 1_000;
        core.asks("t2", presence);
        assert_eq!(core.armed(Timer::Approval(1)), Some(at), "the first is due first");
        core.now = at;
        core.fires(Timer::Approval(1));
        assert_eq!(core.state.approvals.len(), 1, "the second has a second more");
        assert_eq!(core.armed(Timer::Approval(1)), Some(at + 1_000));
        assert!(matches!(&core.settled()["t1"][..], [Answer::Deny { words }] if words.contains("in time")));
        core.answers("t1", meant_for("t1"));
        assert_eq!(core.settled()["t1"].len(), 1, "too late");
    }
}

#[test]
fn a_question_waits_as_long_as_somebody_is_at_the_screen_and_an_hour_more() {
    const HOUR: i64 = 3_600_000;
    let mut core = Core::new(Settings::default());
    let asked = core.now;
    core.asks("t1", Presence::Screen);
    let mut touched = asked;
    // A clock that was set back touches nothing off.
    for (now, seen) in [(asked + HOUR, asked + 2_000), (asked + 3 * HOUR, asked + 3 * HOUR - 1), (asked - HOUR, asked)]
    {
        core.now = now;
        core.give(Input::TimerFired { timer: Timer::Approval(1), last_byte: Timestamp::from_millis(seen) });
        assert_eq!(core.state.approvals.len(), 1, "at {now}");
        touched = seen;
        assert_eq!(core.armed(Timer::Approval(1)), Some(seen + HOUR), "at {now}");
    }
    core.now = touched + HOUR;
    core.give(Input::TimerFired { timer: Timer::Approval(1), last_byte: Timestamp::from_millis(touched) });
    assert!(matches!(&core.settled()["t1"][..], [Answer::Deny { words }] if words.contains("in time")));
    assert!(
        matches!(core.records.last(), Some(Record::ApprovalAnswered(answered)) if answered.by == AnsweredBy::Timeout)
    );
}

#[test]
fn other_rules_judge_what_waits_again_and_each_question_is_still_answered_once() {
    for (verdict, rule, expected) in [
        (Verdict::Allow, "r", Some(Answer::Allow { input: input_of("t1"), scope: Scope::Once })),
        (Verdict::Block, "r", Some(Answer::Deny { words: "r: w".into() })),
        (Verdict::Ask, "r", None),
        (Verdict::Ask, "other", None),
        (Verdict::Passphrase, "r", None),
    ] {
        let mut core = Core::new(Settings::default());
        core.asks("t1", Presence::Screen);
        let before = core.records.len();
        core.give(Input::RulesChanged { words: "others".into(), trouble: None });
        let Some(Effect::Rejudge { id, .. }) = core.effects.last().cloned() else { panic!("{:?}", core.effects) };
        let units = vec![UnitView { text: input_of("t1"), ..unit(verdict, "r") }];
        let ruling = Ruling { units, provable: false, ..ruling(verdict, rule) };
        core.give(Input::Rejudged { id, ruling: Box::new(ruling) });
        let kinds: Vec<&str> = core.records[before..]
            .iter()
            .map(|record| match record {
                Record::Noticed { .. } => "told",
                Record::ToolJudged { .. } => "judged",
                Record::ApprovalAnswered(_) => "answered",
                Record::ApprovalVoid(_) => "void",
                Record::ApprovalAsked(_) => "asked",
                other => panic!("{other:?}"),
            })
            .collect();
        let same = verdict == Verdict::Ask && rule == "r";
        match &expected {
            Some(answer) => {
                assert_eq!(kinds, ["told", "judged", "answered"], "{verdict:?}");
                assert_eq!(core.settled()["t1"], std::slice::from_ref(answer));
            }
            None if same => assert_eq!(kinds, ["told"], "nothing is asked twice"),
            None => assert_eq!(kinds, ["told", "judged", "asked"], "{verdict:?} {rule}"),
        }
        core.answers("t1", meant_for("t1"));
        let settled = usize::from(verdict != Verdict::Passphrase);
        assert_eq!(core.settled().get("t1").map_or(0, Vec::len), settled, "{verdict:?}: a key alone opens no lock");
    }
}

#[test]
fn rules_that_cannot_be_used_refuse_nothing_that_waits() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    let asked = core.state.approvals[0].clone();
    let broken = |core: &mut Core, why: &str| {
        core.give(Input::NotRejudged { id: core.latest("t1"), why: why.into() });
        core.state.approvals[0].clone()
    };
    // Told once for each fault, and the question is what it was.
    for (why, revision) in [("line 3", 1), ("line 3", 1), ("line 4", 2)] {
        let now = broken(&mut core, why);
        assert_eq!((now.id.revision, now.again, now.reason.as_str()), (revision, Some(Again::RulesUnusable), why));
        assert_eq!((now.kind, &now.rule, &now.units), (asked.kind, &asked.rule, &asked.units));
        assert!(core.settled().is_empty() && core.state.gate.holds_back("t1"));
    }
    // The old rules are back: the card says so, and asks for its old reason.
    let same = Ruling { units: asked.units.clone(), ..ruling(Verdict::Ask, &asked.rule) };
    core.give(Input::Rejudged { id: core.latest("t1"), ruling: Box::new(same) });
    let now = core.state.approvals[0].clone();
    assert_eq!((now.again, now.reason.as_str()), (Some(Again::RulesChanged), "w"));
    broken(&mut core, "line 3");
    core.give(Input::Rejudged { id: core.latest("t1"), ruling: Box::new(ruling(Verdict::Block, "no")) });
    assert_eq!(core.settled()["t1"], [Answer::Deny { words: "no: w".into() }]);
    core.give(Input::NotRejudged { id: QuestionId::first("t1"), why: "line 3".into() });
    assert!(core.state.approvals.is_empty(), "nothing is asked that does not wait");
}

#[test]
fn nothing_is_approved_nor_begun_while_the_rules_cannot_be_used() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    let trouble = Some("the policy cannot be used: line 3".to_owned());
    core.give(Input::RulesChanged { words: "blocked".into(), trouble });
    core.answers("t1", meant_for("t1"));
    core.give(Input::RuleSaved { by: Answerer::SCREEN, id: core.latest("t1"), path: "/p".into() });
    core.give(Input::Unlocked { id: core.latest("t1"), by: Answerer::SCREEN });
    assert!(core.settled().is_empty() && core.state.approvals.len() == 1, "it waits");
    core.answers("t1", Answer::Deny { words: "no".into() });
    assert_eq!(core.settled()["t1"], [Answer::Deny { words: "no".into() }]);
    // They can be used again.
    core.asks("t2", Presence::Screen);
    core.give(Input::RulesChanged { words: "others".into(), trouble: None });
    core.answers("t2", meant_for("t2"));
    assert_eq!(core.settled()["t2"], [meant_for("t2")]);
}

/// What a rule says of one part of a call.
fn unit(verdict: Verdict, rule: &str) -> UnitView {
    UnitView { text: "x".into(), verdict, rule: rule.into(), reason: "w".into(), kind: None }
}

/// What it says of a call of one part.
fn ruling(verdict: Verdict, rule: &str) -> Ruling {
    Ruling {
        verdict,
        rule: rule.into(),
        reason: "w".into(),
        target: "make it".into(),
        units: vec![unit(verdict, rule)],
        provable: true,
    }
}

/// A run in which the person has said yes to this call, as far as that reaches.
fn with_grant(call: ToolCall, scope: Scope) -> Core {
    let mut core = Core::new(Settings::default());
    let (id, input) = (call.tool_use_id.clone(), call.input.clone());
    assert!(!is_granted(&mut core, call));
    core.answers(&id, Answer::Allow { input, scope });
    core
}

#[test]
fn a_changed_input_is_judged_and_asked_about_before_it_runs() {
    let edited = r#"{"command":"make it"}"#;
    let yes = |scope| Answer::Allow { input: edited.into(), scope };
    let judged = |core: &mut Core, id: QuestionId, verdict: Verdict| {
        core.give(Input::EditJudged {
            by: Answerer::SCREEN,
            id,
            input: edited.into(),
            ruling: Box::new(ruling(verdict, "other")),
        });
    };
    for (verdict, asked) in
        [(Verdict::Allow, true), (Verdict::Ask, true), (Verdict::Passphrase, true), (Verdict::Block, false)]
    {
        for by_answer in [false, true] {
            let mut core = Core::new(Settings { approval_timeout: Some(600), ..Settings::default() });
            core.asks("t1", Presence::Screen);
            let first = core.latest("t1");
            if by_answer {
                core.answers("t1", yes(Scope::Ticket));
            } else {
                let command = UserCommand::EditCall { id: first.clone(), input: edited.into() };
                core.give(Input::Commanded { by: Answerer::SCREEN, id: "c".into(), command });
            }
            assert!(matches!(core.effects.last(), Some(Effect::JudgeEdit { .. })), "{:?}", core.effects);
            core.now += 60_000;
            judged(&mut core, first.clone(), verdict);
            let now = core.state.approvals[0].clone();
            assert!(core.settled().is_empty() && core.state.approvals.len() == 1, "{verdict:?}: not without a yes");
            assert!(core.state.gate.holds_back("t1"), "{verdict:?}");
            if !asked {
                let told = EditRefused { id: first.clone(), why: "other: w".into() };
                assert_eq!(core.records.last(), Some(&Record::EditRefused(told)));
                assert_eq!(now.id, first);
                continue;
            }
            assert_eq!((now.id.clone(), now.input.as_str(), now.rule.as_str()), (first.next(), edited, "other"));
            let time = Timestamp::from_millis(core.now);
            assert_eq!(
                (now.asked, now.expires),
                (time, Some(time.plus(std::time::Duration::from_secs(600)))),
                "a question anew"
            );
            assert_eq!(now.edited_from.as_deref(), Some(input_of("t1").as_str()));
            core.answers_question(first.clone(), meant_for("t1"));
            assert!(core.settled().is_empty(), "that was the question before");
            core.answers("t1", yes(Scope::Ticket));
            if verdict == Verdict::Passphrase {
                assert!(core.settled().is_empty(), "a key alone opens no lock");
                core.give(Input::Unlocked { id: first.next(), by: Answerer::SCREEN });
            }
            assert_eq!(core.settled()["t1"], [yes(Scope::Once)], "{verdict:?}: an edit is for once");
            judged(&mut core, first.next(), Verdict::Allow);
            assert_eq!(core.settled()["t1"].len(), 1, "{verdict:?}: once");
        }
    }
}

#[test]
fn an_edit_is_not_let_through_by_other_rules_without_a_yes() {
    let mut core = Core::new(Settings::default());
    core.asks("t1", Presence::Screen);
    let (first, input) = (core.latest("t1"), r#"{"command":"make it"}"#.to_owned());
    core.give(Input::EditJudged {
        by: Answerer::SCREEN,
        id: first,
        input,
        ruling: Box::new(ruling(Verdict::Ask, "other")),
    });
    core.give(Input::Rejudged { id: core.latest("t1"), ruling: Box::new(ruling(Verdict::Allow, "reads")) });
    assert!(core.settled().is_empty() && core.latest("t1").revision == 2);
}

#[test]
fn an_answer_on_its_way_counts_for_the_question_that_the_person_saw() {
    let yes = Answer::Allow { input: input_of("t1"), scope: Scope::Ticket };
    let rejudged = |core: &mut Core, verdict| {
        let id = core.latest("t1");
        core.give(Input::Rejudged { id, ruling: Box::new(ruling(verdict, "stricter")) });
    };
    let told = |core: &Core| match core.records.last() {
        Some(Record::Noticed { text, .. }) => text.clone(),
        other => panic!("{other:?}"),
    };
    // A yes, a no and a rule that was saved, while the rules came to ask for another reason.
    for answer in [yes, Answer::Deny { words: "no".into() }] {
        let mut core = Core::new(Settings::default());
        core.asks("t1", Presence::Screen);
        let seen = core.latest("t1");
        rejudged(&mut core, Verdict::Ask);
        core.answers_question(seen.clone(), answer);
        assert!(core.settled().is_empty() && !core.state.gate.has_granted());
        assert!(told(&core).contains("was not applied: the rules were changed"), "{}", told(&core));
        core.give(Input::RuleSaved { by: Answerer::SCREEN, id: seen, path: "p".into() });
        assert!(core.settled().is_empty());
        core.answers("t1", meant_for("t1"));
        assert_eq!(core.settled()["t1"], [meant_for("t1")]);
    }
    // A passphrase opens the rules that stood on the card, or none.
    let mut core = Core::new(Settings::default());
    for via in [Via::Callback, Via::CanUseTool] {
        core.judged(call("t1", via), Verdict::Passphrase, Presence::Screen);
    }
    let seen = core.latest("t1");
    rejudged(&mut core, Verdict::Passphrase);
    core.give(Input::Unlocked { id: seen.clone(), by: Answerer::SCREEN });
    assert!(core.settled().is_empty() && told(&core).contains("was not applied"));
    assert!(!core.effects.iter().any(|effect| matches!(effect, Effect::Unlock { .. })));
    core.give(Input::Unlocked { id: seen.next(), by: Answerer::SCREEN });
    assert!(matches!(core.effects.last(), Some(Effect::Unlock { rules }) if *rules == ["stricter"]));
    core.give(Input::RulesOpened { words: "rule stricter for 5m".into() });
    assert_eq!(told(&core), "rule stricter for 5m", "what a passphrase opens is no secret");
}

pub fn resumed() -> Input {
    Input::Resumed { pid: 8, reading: 1, phases: vec![], settings: None }
}

#[test]
fn a_question_that_nobody_waits_with_is_void() {
    let commanded = |command| Input::Commanded { by: Answerer::SCREEN, id: "c".into(), command };
    let leave = [
        ("withdrawn", Input::AskWithdrawn { n: 1, tool_use_id: "t1".into() }),
        ("interrupted", commanded(UserCommand::PauseNow)),
        ("stopped", commanded(UserCommand::Stop)),
        ("exited", Input::AgentExited { n: 1, code: Some(0), signal: None, swept: 0, stderr: String::new() }),
    ];
    for (name, leave) in leave {
        let mut core = Core::new(Settings::default());
        core.asks("t1", Presence::Screen);
        core.give(leave);
        assert!(core.state.approvals.is_empty(), "{name}");
        let void = |record: &&Record| matches!(record, Record::ApprovalVoid(Voided { id, .. }) if id.call == "t1");
        assert_eq!(core.records.iter().filter(void).count(), 1, "{name}: {:?}", core.records);
        let before = core.records.len();
        core.answers("t1", meant_for("t1"));
        let more = &core.records[before..];
        let is_late = |record: &Record| matches!(record, Record::AnswerTooLate(late) if late.id.call == "t1");
        assert!(core.settled().is_empty() && more.iter().all(is_late), "{name}: an answer comes too late: {more:?}");
    }
}

#[test]
fn a_tool_that_ran_without_a_verdict_ends_everything() {
    let mut core = Core::new(Settings::default());
    core.judged(call("t1", Via::Callback), Verdict::Allow, Presence::Screen);
    core.judged(call("t2", Via::Callback), Verdict::Block, Presence::Screen);
    core.asks("t3", Presence::Screen);
    for id in ["t1", "t2", "t3"] {
        core.give(Input::ToolRan { n: 1, tool_use_id: id.into(), unasked: false });
    }
    assert_eq!((core.state.stage.clone(), core.state.breaker.state), (Stage::Running, Circuit::Closed));
    core.give(Input::ToolRan { n: 1, tool_use_id: "t4".into(), unasked: false });
    assert_eq!((core.state.stage.clone(), core.state.breaker.state), (Stage::Stopping, Circuit::Open));
    assert!(core.state.breaker.reason.contains("without a verdict"), "{}", core.state.breaker.reason);
    assert_eq!(core.effects.last(), Some(&Effect::KillAgent { n: 1 }));
    // What comes back while everything is being ended is no news.
    let before = core.records.len();
    core.give(Input::ToolRan { n: 1, tool_use_id: "t5".into(), unasked: false });
    assert_eq!(core.records.len(), before);
}

#[test]
fn what_was_refused_or_still_waits_and_ran_nevertheless_ends_everything() {
    let back = |id: &str, is_error| Input::ToolFinished { n: 1, tool_use_id: id.into(), is_error };
    for (id, is_error, trips) in [
        ("allowed", false, false),
        ("blocked", true, false),
        ("blocked", false, true),
        ("waits", true, false),
        ("waits", false, true),
        ("yes", false, false),
        ("no", true, false),
        ("no", false, true),
        ("never seen", false, false),
    ] {
        let mut core = Core::new(Settings::default());
        core.judged(call("allowed", Via::Callback), Verdict::Allow, Presence::Screen);
        core.judged(call("blocked", Via::Callback), Verdict::Block, Presence::Screen);
        for asked in ["waits", "yes", "no"] {
            core.asks(asked, Presence::Screen);
        }
        core.answers("yes", Answer::Allow { input: input_of("yes"), scope: Scope::Once });
        core.answers("no", Answer::Deny { words: "no".into() });
        core.give(back(id, is_error));
        let stage = if trips { Stage::Stopping } else { Stage::Running };
        assert_eq!(core.state.stage, stage, "{id} {is_error}");
        assert_eq!(core.state.breaker.state == Circuit::Open, trips, "{id} {is_error}");
        assert_eq!(core.effects.last() == Some(&Effect::KillAgent { n: 1 }), trips, "{id} {is_error}");
    }
}

/// A call of two parts, of these kinds.
fn of_kinds(core: &mut Core, id: &str, kinds: [Option<&str>; 2]) -> bool {
    let of = |kind: Option<&str>| UnitView { kind: kind.map(str::to_owned), ..unit(Verdict::Ask, "r") };
    let ruling = Ruling { units: kinds.map(of).into(), ..ruling(Verdict::Ask, "r") };
    let call = call(id, Via::CanUseTool);
    let n = core.state.iterations;
    core.give(Input::Judged { n, call: Box::new(call), ruling: Box::new(ruling), presence: Presence::Screen });
    matches!(core.effects.last(), Some(Effect::Answer { verdict: Verdict::Allow, .. }))
}

#[test]
fn a_yes_to_a_kind_lets_through_what_is_all_of_granted_kinds() {
    let mut core = Core::new(Settings::default());
    assert!(!of_kinds(&mut core, "t1", [Some("a"), Some("b")]));
    core.answers("t1", Answer::Allow { input: input_of("t1"), scope: Scope::Kind });
    for (kinds, granted) in [
        ([Some("a"), Some("b")], true),
        ([Some("b"), Some("b")], true),
        ([Some("a"), Some("c")], false),
        ([Some("a"), None], false),
        ([None, None], false),
    ] {
        assert_eq!(of_kinds(&mut core, &format!("t{kinds:?}"), kinds), granted, "{kinds:?}");
    }
    core.give(Input::RulesChanged { words: "others".into(), trouble: None });
    assert!(core.records.contains(&Record::GrantsDropped));
    assert!(!of_kinds(&mut core, "t9", [Some("a"), Some("b")]), "it ends with the rules");
}

#[test]
fn a_yes_to_a_kind_without_a_name_is_for_once() {
    let mut core = Core::new(Settings::default());
    assert!(!of_kinds(&mut core, "t1", [Some("a"), None]));
    core.answers("t1", Answer::Allow { input: input_of("t1"), scope: Scope::Kind });
    let last = core.records.iter().rev().find_map(|record| match record {
        Record::ApprovalAnswered(answered) => Some(answered.answer.clone()),
        _ => None,
    });
    assert_eq!(last, Some(Answer::Allow { input: input_of("t1"), scope: Scope::Once }));
    assert!(!of_kinds(&mut core, "t2", [Some("a"), Some("a")]));
}
