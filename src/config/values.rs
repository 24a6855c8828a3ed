//! The values of all layers made into a [`Config`], with the checks that go beyond one key's kind and range.

use crate::base::text::clean_line;
use crate::config::away::AwayConfig;
use crate::config::hangup::OnHangup;
use crate::config::hosts::HostConfig;
use crate::config::key::{Key, Row, Value, row_of};
use crate::config::own_gate::OwnGate;
use crate::config::per_step::micros;
use crate::config::webhook::Webhook;
use crate::config::{
    AgentConfig, Config, ConfigError, Notice, NotifyConfig, ReviewConfig, ScreenConfig, StorageConfig, WorktreeConfig,
    flags,
};
use crate::domain::commit::{CommitWhen, GitSettings};
use crate::domain::evaluation::AddPhases;
use crate::domain::leftovers::KeepLeftovers;
use crate::domain::limits::{Budget, HourWindow, Limits, OnWarning};
use crate::domain::merge::MergeHow;
use crate::domain::notification::NotifyFor;
use crate::domain::profile::Profile;
use crate::domain::pruning::Keep;
use crate::domain::quiet_hours::QuietHours;
use crate::domain::review::FOCI;
use crate::domain::settings::{BreakerSettings, ExitSettings, Settings};
use crate::domain::source_reply::SourceReply;
use crate::domain::workflow::{MinorIssues, StepSettings, Workflow, WorkflowSettings};
use crate::domain::worktree::WorktreeFor;
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::Duration;

/// The values that were set, with where.
#[derive(Default)]
pub(super) struct Values(pub(super) BTreeMap<Key, (Value, String)>);

impl Values {
    fn get(&self, key: Key) -> Option<Value> {
        self.0.get(&key).map(|(value, _)| value.clone()).or_else(|| row_of(key).builtin())
    }

    pub(super) fn at(&self, key: Key) -> &str {
        self.0.get(&key).map_or("built-in", |(_, at)| at)
    }

    fn whole(&self, key: Key) -> u64 {
        match self.get(key) {
            Some(Value::Whole(n)) => n,
            _ => 0,
        }
    }

    fn count(&self, key: Key) -> u32 {
        u32::try_from(self.whole(key)).unwrap_or(u32::MAX)
    }

    fn switch(&self, key: Key) -> bool {
        matches!(self.get(key), Some(Value::Switch(true)))
    }

    fn text(&self, key: Key) -> Option<String> {
        match self.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn channel(&self, key: Key) -> NotifyFor {
        self.text(key).and_then(|word| NotifyFor::from_word(&word)).unwrap_or_default()
    }

    fn list(&self, key: Key) -> Vec<String> {
        match self.get(key) {
            Some(Value::List(items)) => items,
            _ => Vec::new(),
        }
    }

    fn pairs(&self, key: Key) -> BTreeMap<String, String> {
        match self.get(key) {
            Some(Value::Pairs(pairs)) => pairs,
            _ => BTreeMap::new(),
        }
    }

    /// The limits of calls, tokens and money.
    fn limits(&self) -> Limits {
        let budget = |usd, tokens| Budget { micro_usd: self.amount(usd), tokens: self.amount(tokens) };
        Limits {
            calls: self.count(Key::Calls),
            tokens: self.amount(Key::Tokens),
            window: self.text(Key::HourWindow).and_then(|word| HourWindow::from_word(&word)).unwrap_or_default(),
            on_warning: self.text(Key::OnWarning).and_then(|word| OnWarning::from_word(&word)).unwrap_or_default(),
            run: budget(Key::RunUsd, Key::RunTokens),
            ticket: budget(Key::TicketUsd, Key::TicketTokens),
            day: budget(Key::DayUsd, Key::DayTokens),
        }
    }

    fn webhooks(&self) -> Vec<Webhook> {
        match self.get(Key::NotifyWebhooks) {
            Some(Value::Webhooks(hooks)) => hooks,
            _ => Vec::new(),
        }
    }

    fn hosts(&self) -> BTreeMap<String, HostConfig> {
        match self.get(Key::Hosts) {
            Some(Value::Hosts(hosts)) => hosts,
            _ => BTreeMap::new(),
        }
    }

    fn per_step(&self, key: Key) -> BTreeMap<String, String> {
        match self.get(key) {
            Some(Value::PerStep(pairs)) => pairs,
            _ => BTreeMap::new(),
        }
    }

    /// What single steps have of their own.
    fn steps(&self) -> BTreeMap<String, StepSettings> {
        let mut steps: BTreeMap<String, StepSettings> = BTreeMap::new();
        for (step, model) in self.per_step(Key::StepModels) {
            steps.entry(step).or_default().model = Some(model);
        }
        for (step, effort) in self.per_step(Key::StepEfforts) {
            steps.entry(step).or_default().effort = Some(effort);
        }
        for (step, usd) in self.per_step(Key::StepBudgets) {
            steps.entry(step).or_default().micro_usd = usd.parse().ok().and_then(micros);
        }
        for (step, profile) in self.per_step(Key::StepProfiles) {
            steps.entry(step).or_default().profile = Profile::from_word(&profile);
        }
        steps
    }

    /// Who looks at finished work.
    fn workflow(&self) -> WorkflowSettings {
        WorkflowSettings {
            name: self.text(Key::WorkflowName).and_then(|word| Workflow::from_word(&word)).unwrap_or_default(),
            fix_tries: self.count(Key::FixTries),
            minor_issues: self
                .text(Key::MinorIssues)
                .and_then(|word| MinorIssues::from_word(&word))
                .unwrap_or_default(),
            review: if self.switch(Key::WorkflowReview) { self.list(Key::ReviewFocus) } else { Vec::new() },
            steps: self.steps(),
            add_phases: self.text(Key::AddPhases).and_then(|word| AddPhases::from_word(&word)).unwrap_or_default(),
            max_added_phases: self.count(Key::MaxAddedPhases),
        }
    }

    /// How a run commits its own work.
    fn git(&self) -> GitSettings {
        GitSettings {
            commit: self.text(Key::GitCommit).and_then(|word| CommitWhen::from_word(&word)).unwrap_or_default(),
            message: self.text(Key::GitMessage).unwrap_or_default(),
            protected: self.list(Key::GitProtected),
            worktree: self.text(Key::GitWorktree).and_then(|word| WorktreeFor::from_word(&word)).unwrap_or_default(),
            branch: self.text(Key::GitBranch).unwrap_or_default(),
            merge: self.text(Key::GitMerge).and_then(|word| MergeHow::from_word(&word)).unwrap_or_default(),
            switches: self.0.contains_key(&Key::GitBranch),
            base: self.text(Key::GitBase).filter(|base| !base.trim().is_empty()),
        }
    }

    /// A number or an amount that need not be set.
    fn amount(&self, key: Key) -> Option<u64> {
        match self.get(key)? {
            Value::Whole(n) | Value::Usd(n) => Some(n),
            _ => None,
        }
    }

    pub(super) fn explain(&self, row: &Row) -> Explained {
        Explained {
            name: row.name.to_owned(),
            value: self.get(row.key).map_or_else(|| "(not set)".to_owned(), |value| value.show()),
            from: self.at(row.key).to_owned(),
        }
    }
}

/// The configuration that the values make, and everything that makes it unusable.
pub(super) fn assemble(
    values: &Values,
    given: Vec<Key>,
    notices: &mut Vec<Notice>,
    errors: &mut Vec<ConfigError>,
) -> Config {
    let mut wrong = |key: Key, message: String| {
        errors.push(ConfigError { at: values.at(key).to_owned(), message });
    };
    let vetted = flags::vet(values.list(Key::Flags));
    for refused in vetted.refused {
        wrong(Key::Flags, refused);
    }
    notices
        .extend(vetted.notices.into_iter().map(|notice| Notice::warn(format!("{}: {notice}", values.at(Key::Flags)))));

    let command = values.list(Key::AgentCommand);
    if command.first().is_none_or(|program| program.trim().is_empty()) {
        wrong(Key::AgentCommand, "agent.command is empty".to_owned());
    }
    let setting_sources = values.list(Key::SettingSources);
    if let Some(other) = setting_sources.iter().find(|source| *source != "user") {
        let other = clean_line(other, 40);
        wrong(
            Key::SettingSources,
            format!(
                "agent.setting_sources has `{other}`, but takes only `user`: a repository's settings could switch the gate off"
            ),
        );
    }
    let quiet = values.text(Key::AwayQuiet);
    let quiet = quiet.and_then(|text| {
        let hours = QuietHours::read(&text);
        if hours.is_none() {
            let text = clean_line(&text, 40);
            wrong(Key::AwayQuiet, format!("away.quiet is `{text}`, but must be a time range, such as 22:00-07:00"));
        }
        hours
    });
    for key in [Key::WorktreeCopy, Key::WorktreeDependencies, Key::ContextFiles] {
        for path in values.list(key).iter().filter(|path| !stays_below(path)) {
            let (name, path) = (row_of(key).name, clean_line(path, 60));
            wrong(key, format!("{name} has `{path}`, but takes paths below the top of the repository"));
        }
        // Its paths are absolute: what is run from a copy changes the original.
        if key != Key::ContextFiles
            && values.list(key).iter().any(|path| Path::new(path).iter().any(|part| part == ".venv"))
        {
            wrong(
                key,
                format!("{} has .venv, which is not relocatable; create it in worktree.setup", row_of(key).name),
            );
        }
    }
    let env = values.pairs(Key::AgentEnv);
    for name in env.keys() {
        if let Some(message) = bad_variable(name) {
            wrong(Key::AgentEnv, message);
        }
    }
    let focus = values.list(Key::ReviewFocus);
    if let Some(other) = focus.iter().find(|name| !FOCI.contains(&name.as_str())) {
        let other = clean_line(other, 40);
        wrong(Key::ReviewFocus, format!("review.focus has `{other}`; use {}", FOCI.join(", ")));
    }
    if focus.is_empty() {
        wrong(Key::ReviewFocus, format!("review.focus is empty; use {}", FOCI.join(", ")));
    }
    Config {
        soul: None,
        settings: Settings {
            max_iterations: values.count(Key::MaxIterations),
            stagnation_limit: values.count(Key::Stagnation),
            repeated_error_limit: values.count(Key::RepeatedError),
            iteration_timeout: values.whole(Key::IterationTimeout),
            idle_timeout: values.whole(Key::IdleTimeout),
            post_result_grace: values.whole(Key::PostResultGrace),
            validation_timeout: values.whole(Key::ValidationTimeout),
            model: values.text(Key::Model),
            session_continuity: values.switch(Key::SessionContinuity),
            approval_timeout: values.get(Key::ApprovalTimeout).map(|_| values.whole(Key::ApprovalTimeout)),
            approval_defer_after: values.get(Key::DeferAfter).map(|_| values.whole(Key::DeferAfter)),
            allowed_tools: flags::allowed_tools(&vetted.flags),
            breaker: BreakerSettings {
                no_progress: values.count(Key::BreakerNoProgress),
                same_error: values.count(Key::BreakerSameError),
                permission_denials: values.count(Key::BreakerPermissionDenials),
                output_decline: values.count(Key::BreakerOutputDecline),
                cooldown: values.whole(Key::BreakerCooldown),
                auto_reset: values.switch(Key::BreakerAutoReset),
            },
            exit: ExitSettings {
                test_loops: values.count(Key::ExitTestLoops),
                done_signals: values.count(Key::ExitDoneSignals),
                test_percentage: values.get(Key::ExitTestPercentage).map(|_| values.count(Key::ExitTestPercentage)),
            },
            start_timeout: values.whole(Key::StartTimeout),
            first_byte_timeout: values.whole(Key::FirstByteTimeout),
            session_expiry_hours: values.count(Key::SessionExpiry),
            limits: Box::new(values.limits()),
            workflow: values.workflow(),
            git: values.git(),
        },
        agent: AgentConfig {
            command,
            flags: vetted.flags,
            env,
            setting_sources,
            fallback_model: values.text(Key::FallbackModel),
            max_retries: values.get(Key::MaxRetries).map(|_| values.count(Key::MaxRetries)),
        },
        validation: values.list(Key::ValidationCommands),
        worktree: WorktreeConfig {
            folder: values.text(Key::WorktreeFolder),
            setup: values.text(Key::WorktreeSetup).filter(|command| !command.trim().is_empty()),
            copy: values.list(Key::WorktreeCopy),
            dependencies: values.list(Key::WorktreeDependencies),
        },
        keep_snapshots: Keep {
            days: Some(values.count(Key::SnapshotsKeepDays)).filter(|days| *days > 0),
            runs: values.amount(Key::SnapshotsKeepRuns).and_then(|runs| u32::try_from(runs).ok()),
        },
        storage: StorageConfig {
            patience: Duration::from_secs(values.whole(Key::StoragePatience)),
            reserve: values.whole(Key::StorageReserve) << 20,
            stream: values.whole(Key::StorageStream) << 20,
            validation_output: values.whole(Key::StorageValidationOutput) << 20,
            keep: KeepLeftovers {
                days: Some(values.count(Key::StorageKeepDays)).filter(|days| *days > 0),
                bytes: Some(values.whole(Key::StorageMaxGb) << 30).filter(|bytes| *bytes > 0),
            },
        },
        source: SourceReply { comment: values.switch(Key::SourceComment), close: values.switch(Key::SourceClose) },
        review: ReviewConfig {
            focus,
            parallel: values.count(Key::ReviewParallel),
            model: values.text(Key::ReviewModel),
        },
        screen: ScreenConfig {
            theme: values.text(Key::Theme).unwrap_or_default(),
            ascii: values.switch(Key::Ascii),
            animations: values.switch(Key::Animations),
            progress: values.switch(Key::Progress),
        },
        notify: NotifyConfig {
            bell: values.channel(Key::NotifyBell),
            terminal: values.channel(Key::NotifyTerminal),
            desktop: values.channel(Key::NotifyDesktop),
            command: values.list(Key::NotifyCommand),
            webhooks: values.webhooks(),
        },
        away: AwayConfig {
            repeat_after: Duration::from_secs(values.whole(Key::AwayRepeatAfter)),
            repeats: values.count(Key::AwayRepeats),
            quiet,
            bulk_tools: values.list(Key::AwayBulkTools),
            bare_answers: values.switch(Key::AwayBareAnswers),
            always_on: values.switch(Key::AwayAlwaysOn),
        },
        hosts: values.hosts(),
        max_parallel: values.amount(Key::MaxParallel).and_then(|most| usize::try_from(most).ok()),
        on_hangup: values.text(Key::OnHangup).and_then(|word| OnHangup::from_word(&word)).unwrap_or_default(),
        own_sessions: values.text(Key::OwnSessions).and_then(|word| OwnGate::from_word(&word)).unwrap_or_default(),
        tickets_dir: values.text(Key::TicketsDir),
        guidelines: values.switch(Key::Guidelines),
        context_files: values.list(Key::ContextFiles),
        step_prompts: values.per_step(Key::StepPrompts),
        profile: values.text(Key::PolicyProfile).and_then(|name| Profile::from_word(&name)).unwrap_or_default(),
        given,
    }
}

/// A relative path that leads nowhere else, and not into git's own folder.
fn stays_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(name) if name != ".git");
    !path.is_empty() && parts.all(is_plain)
}

/// Why a variable cannot be handed to Claude.
fn bad_variable(name: &str) -> Option<String> {
    let shown = clean_line(name, 60);
    let well_formed = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !well_formed {
        return Some(format!("agent.env has `{shown}`, which is not a variable name"));
    }
    // `--bare` and `--safe-mode` in another form: both switch the gate off.
    let gate = ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"].contains(&name);
    (gate || name.starts_with("PROGRAMMATOR_"))
        .then(|| format!("agent.env cannot set `{shown}`: programmator sets it itself"))
}

/// One value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// `group.key`
    pub name: String,
    pub value: String,
    /// `built-in`, `path:line`, the variable or the flag.
    pub from: String,
}
