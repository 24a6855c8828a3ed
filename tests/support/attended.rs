//! A run in this very process with a person behind it: opens it, follows its records, answers its questions.
//!
//! Claude is whatever the project's `config/config.yaml` names; the gate is given by the test.

use super::project::Project;
use programmator::adapters::clock::SystemClock;
use programmator::adapters::store::Store;
use programmator::config::{FileText, Files, Layers, Trust, resolve};
use programmator::domain::answerer::Answerer;
use programmator::domain::approval::{Answer, Approval, Presence, QuestionId, Ruling, Scope, UnitView};
use programmator::domain::command::UserCommand;
use programmator::domain::news::News;
use programmator::domain::outcome::ExitReason;
use programmator::domain::record::Record;
use programmator::domain::ticket::TicketKey;
use programmator::domain::tool_call::ToolCall;
use programmator::domain::verdict::Verdict;
use programmator::orchestrator::apply::{apply, folded};
use programmator::orchestrator::state::State;
use programmator::runtime::gate::{Gate, Judged};
use programmator::runtime::offline::state_of;
use programmator::runtime::reporter::{Reporter, Subscription};
use programmator::runtime::supervisor::{Ended, Opener, Rules, Supervisor};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub struct Attended {
    /// What the screen would know.
    pub state: State,
    pub store: Store,
    supervisor: Supervisor,
    ticket: TicketKey,
    news: Subscription,
    endings: mpsc::UnboundedReceiver<Ended>,
}

#[allow(dead_code, reason = "not every test needs all of it")]
impl Attended {
    /// Opens the project's ticket: begins a run, or resumes the one there is.
    pub fn open(project: &Project, ticket: &str, presence: Presence, gate: Gate) -> Self {
        let store = Store::open(&project.path("state")).unwrap();
        let (ended, endings) = mpsc::unbounded_channel();
        let reporter = Reporter::new(store.clone());
        let news = reporter.subscribe(presence);
        let gates = Arc::new(move |_: &Judged<'_>| gate.clone());
        let (rules, config_folder) = (rules(project), None);
        let opener = Opener { store: store.clone(), clock: Arc::new(SystemClock), rules, gates, config_folder };
        let mut supervisor = Supervisor::new(store.clone(), Arc::new(SystemClock), reporter, ended);
        let file = project.path(&format!("work/.tickets/{ticket}.md"));
        let (ticket, _) = supervisor.launch(opener.open(&file, &project.work()).unwrap()).unwrap();
        Self { state: State::default(), store, supervisor, ticket, news, endings }
    }

    /// Follows the run until this holds.
    pub async fn until(&mut self, what: &str, ask: impl Fn(&State) -> bool) {
        while !ask(&self.state) {
            let Ok(news) = timeout(PATIENCE, self.news.next()).await else {
                panic!("{what} did not come: {:#?}", self.words());
            };
            self.hear(&news);
        }
    }

    fn hear(&mut self, news: &News) {
        match news {
            News::Recorded(stored) if stored.seq == self.state.seq + 1 => apply(&mut self.state, stored),
            News::Recorded(stored) if stored.seq > self.state.seq => {
                self.state = state_of(&self.store, stored.run).unwrap();
            }
            News::RunOpened { records, .. } => {
                self.state = folded(records.iter().map(|stored| &**stored));
            }
            _ => {}
        }
    }

    /// The next question that waits and was not seen before.
    pub async fn question(&mut self, seen: &[QuestionId]) -> Approval {
        self.until("a question", |state| state.approvals.iter().any(|approval| !seen.contains(&approval.id))).await;
        let mut new = self.state.approvals.iter().filter(|approval| !seen.contains(&approval.id));
        Approval::clone(new.next().unwrap())
    }

    /// The next question, with what is answered.
    pub async fn decide(&mut self, answer: impl FnOnce(&Approval) -> Answer) -> Approval {
        let approval = self.question(&[]).await;
        self.answer(&approval.id, answer(&approval)).await;
        let id = approval.id.clone();
        self.until("the answer", move |state| !state.approvals.iter().any(|approval| approval.id == id)).await;
        approval
    }

    pub async fn answer(&self, id: &QuestionId, answer: Answer) {
        self.command(UserCommand::AnswerApproval { id: id.clone(), answer }).await;
    }

    /// The person wants something.
    pub async fn command(&self, command: UserCommand) {
        self.command_by(Answerer::SCREEN, command).await;
    }

    /// This one wants something.
    pub async fn command_by(&self, by: Answerer, command: UserCommand) {
        let decided = self.supervisor.command(&self.ticket, by, command).await.expect("the run is not open");
        timeout(PATIENCE, decided).await.expect("it is decided").expect("the run goes on until then");
    }

    /// Waits for the end of the run.
    pub async fn end(&mut self) -> Option<ExitReason> {
        loop {
            tokio::select! {
                ended = timeout(PATIENCE, self.endings.recv()) => {
                    let ended = ended.unwrap_or_else(|_| panic!("the run does not end: {:#?}", self.words()));
                    let reason = ended.and_then(|(_, reason)| reason);
                    self.state = state_of(&self.store, self.state.run.unwrap()).unwrap();
                    return reason;
                }
                news = self.news.next() => self.hear(&news),
            }
        }
    }

    /// Waits so long and gives what was recorded meanwhile.
    pub async fn silent_for(&mut self, time: Duration) -> Vec<String> {
        let (until, before) = (tokio::time::Instant::now() + time, self.state.seq);
        while let Ok(news) = tokio::time::timeout_at(until, self.news.next()).await {
            self.hear(&news);
        }
        let records = self.store.load(self.state.run.unwrap()).unwrap().records;
        records.iter().filter(|stored| stored.seq > before).map(|stored| format!("{:?}", stored.record)).collect()
    }

    pub fn journal(&self) -> Vec<Record> {
        let loaded = self.store.load(self.state.run.unwrap()).unwrap();
        loaded.records.iter().map(|stored| stored.record.clone()).collect()
    }

    /// What the gate said of each call, in the order of the calls.
    pub fn verdicts(&self) -> Vec<Verdict> {
        let verdict = |record| if let Record::ToolJudged { verdict, .. } = record { Some(verdict) } else { None };
        self.journal().into_iter().filter_map(verdict).collect()
    }

    /// The last records, for messages.
    fn words(&self) -> Vec<String> {
        let Some(run) = self.state.run else { return Vec::new() };
        let records = self.store.load(run).unwrap().records;
        let from = records.len().saturating_sub(30);
        records[from..].iter().map(|stored| format!("{:?}", stored.record)).collect()
    }
}

/// The project's configuration, for its runs.
#[allow(dead_code, reason = "not every test needs it")]
pub fn rules(project: &Project) -> Rules {
    let config = FileText { path: "config.yaml".into(), text: project.read("config/config.yaml") };
    let layers = Layers {
        user: Files { config: Some(config), ..Files::default() },
        project: Files::default(),
        trust: Trust::Unknown,
        environment: BTreeMap::new(),
        flags: Vec::new(),
    };
    let resolved = resolve(&layers).unwrap();
    let (config, templates) = (Arc::new(resolved.config), Arc::new(resolved.templates));
    Arc::new(move |_| Ok((config.clone(), templates.clone())))
}

/// A gate that looks for words in a call: `blocked` is blocked, `locked` needs the passphrase, `asked` is put to the
/// person, everything else runs.
#[allow(dead_code, reason = "not every test needs it")]
pub fn by_words() -> Gate {
    Arc::new(|call: &ToolCall| {
        let has = |word: &str| call.input.contains(word);
        let verdict = match () {
            () if has("blocked") => Verdict::Block,
            () if has("locked") => Verdict::Passphrase,
            () if has("asked") => Verdict::Ask,
            () => Verdict::Allow,
        };
        let unit = UnitView {
            text: format!("{} {}", call.tool, call.input),
            verdict,
            rule: "words".into(),
            reason: "the word is in it".into(),
            kind: None,
        };
        Ruling {
            verdict,
            rule: "words".into(),
            reason: "the word is in it".into(),
            target: call.input.chars().take(80).collect(),
            units: vec![unit],
            provable: true,
        }
    })
}

/// Yes, as it is, once.
#[allow(dead_code, reason = "not every test needs it")]
pub fn yes(approval: &Approval) -> Answer {
    Answer::Allow { input: approval.input.clone(), scope: Scope::Once }
}

/// No, with words.
#[allow(dead_code, reason = "not every test needs it")]
pub fn no(words: &str) -> Answer {
    Answer::Deny { words: words.into() }
}
