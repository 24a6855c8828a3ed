//! What a call costs that the gate lets through: from Claude's question to the answer.
//!
//! `cargo bench --bench approval`. `core` is the decision, the built-in rules and the fold, with nothing stored.
//! `stored` is the same with the verdict in the journal on disk before the answer, as in a run. `callback_read`
//! is the reading of Claude's question. The differences say where the time goes; `stored` is the cost of the promise
//! that no answer is given which is not recorded.

#![allow(clippy::unwrap_used, missing_docs)]

use divan::{Bencher, black_box};
use programmator::adapters::clock::fresh_run_id;
use programmator::adapters::store::{Append, Store};
use programmator::base::id::{RunId, TicketId};
use programmator::base::time::Timestamp;
use programmator::domain::approval::Presence;
use programmator::domain::limits::admission::{Facts, admit};
use programmator::domain::profile::Profile;
use programmator::domain::record::{FORMAT, Record, Stored};
use programmator::domain::session::Told;
use programmator::domain::stream::control::asked;
use programmator::domain::stream::envelope::Envelope;
use programmator::domain::tool_call::{ControlRequest, ToolCall, Via};
use programmator::domain::workspace::Workspace;
use programmator::orchestrator::apply::apply;
use programmator::orchestrator::decide::decide;
use programmator::orchestrator::effect::Effect;
use programmator::orchestrator::input::{Input, Start};
use programmator::orchestrator::state::State;
use programmator::orchestrator::summary::summary;
use programmator::policy::engine::Policy;
use programmator::runtime::gate::{Gate, Judged};
use programmator::runtime::policy_engine::{Origin, Person, PolicyEngines};

fn main() {
    divan::main();
}

const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

const CALLBACK: &str = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"hook_callback","callback_id":"gate","input":{"session_id":"s","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cargo test --lib","description":"Run the tests"},"tool_use_id":"t1"},"tool_use_id":"t1"}}"#;

struct Run {
    state: State,
    gate: Gate,
}

impl Run {
    fn new(run: RunId) -> Self {
        let person = Person { home: "/home/dev".into(), user: "dev".into(), passphrases: None };
        let origin = Origin { load: Box::new(|_, profile, _| Policy::of(profile)), files: Box::new(|_| Vec::new()) };
        let policy_engines = PolicyEngines::new(person, origin);
        let workspace = Workspace::shared("/w");
        let judged = Judged { run, workspace: &workspace, ticket: None, profile: Profile::default(), env: &[] };
        let gate: Gate = policy_engines.open(&judged);
        let mut this = Self { state: State::default(), gate };
        let start = Start { ticket_path: "/w/t.md".into(), title: "T".into(), ..Start::default() };
        for input in [
            Input::Started(Box::new(start)),
            Input::TreeGranted,
            Input::SnapshotTaken { n: 1, id: "s".into() },
            Input::AgentSpawned { n: 1, pid: 7 },
            Input::AgentReady {
                n: 1,
                session: "s".into(),
                model: "m".into(),
                version: "v".into(),
                told: Told::default(),
            },
        ] {
            let decision = decide(&this.state, input, NOW);
            this.fold(run, decision.records);
            for effect in decision.effects {
                let Effect::Admit(ask) = effect else { continue };
                let admission = admit(&Facts::default(), &ask, run, NOW, &jiff::tz::TimeZone::UTC);
                let admitted = Input::Admitted { n: ask.n, purpose: ask.purpose, admission: Box::new(admission) };
                let records = decide(&this.state, admitted, NOW).records;
                this.fold(run, records);
            }
        }
        this
    }

    fn fold(&mut self, run: RunId, records: Vec<Record>) {
        for record in records {
            let (seq, ticket) = (self.state.seq + 1, TicketId::parse("t").unwrap());
            apply(&mut self.state, &Stored { v: FORMAT, seq, time: NOW, run, ticket, record });
        }
    }

    /// Asked, judged, decided: what is to be stored, and the answer.
    fn verdict(&self, call: ToolCall) -> (Vec<Record>, Vec<Effect>) {
        let asked = decide(&self.state, Input::ToolAsked { n: 1, call: Box::new(call) }, NOW);
        let Some(Effect::Judge { n, call }) = asked.effects.into_iter().next() else { unreachable!("it is judged") };
        let ruling = self.gate.judge(&call);
        let presence = Presence::Nobody;
        let judged = decide(&self.state, Input::Judged { n, call, ruling: Box::new(ruling), presence }, NOW);
        (judged.records, judged.effects)
    }
}

fn call() -> ToolCall {
    ToolCall {
        request: ControlRequest { id: "r1".into(), via: Via::Callback },
        tool_use_id: "t1".into(),
        tool: "Bash".into(),
        input: r#"{"command":"cargo test --lib","description":"Run the tests"}"#.into(),
        agent: None,
        cwd: Some("/w".into()),
    }
}

#[divan::bench]
fn callback_read(bencher: Bencher<'_, '_>) {
    bencher.bench(|| asked(&Envelope::parse(black_box(CALLBACK)).unwrap()));
}

#[divan::bench]
fn core(bencher: Bencher<'_, '_>) {
    let run = Run::new(fresh_run_id());
    bencher.with_inputs(call).bench_values(|call| run.verdict(call));
}

#[divan::bench(sample_count = 200)]
fn stored(bencher: Bencher<'_, '_>) {
    let (id, folder) = (fresh_run_id(), tempfile::tempdir().unwrap());
    let run = Run::new(id);
    let store = Store::open(&folder.path().join("state")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ticket = TicketId::parse("t").unwrap();
    bencher.with_inputs(call).bench_local_values(|call| {
        let (records, effects) = run.verdict(call);
        let summary = summary(&run.state).unwrap();
        let append = Append { run: id, ticket: ticket.clone(), time: NOW, records, summary };
        runtime.block_on(store.append(append)).unwrap();
        effects
    });
}
