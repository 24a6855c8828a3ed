//! The table of all keys: name, kind, range, environment variable, and whether a project may set it.
//!
//! A key is one row here and one line in `layers::assemble`.

mod builtin;

use crate::base::text::clean_line;
use crate::config::flags;
use crate::config::hangup::OnHangup;
use crate::config::hosts::{self, HostConfig};
use crate::config::own_gate::OwnGate;
use crate::config::per_step::{Each, micros};
use crate::config::webhook::{self, Webhook};
use crate::domain::commit::CommitWhen;
use crate::domain::limits::{HourWindow, OnWarning};
use crate::domain::merge::MergeHow;
use crate::domain::notification::NotifyFor;
use crate::domain::profile::Profile;
use crate::domain::worktree::WorktreeFor;
use serde_json::Value as Yaml;
use std::collections::BTreeMap;

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number from the first to the second.
    Whole(u64, u64),
    /// USD, to the cent, up to a million.
    Usd,
    /// One of these words.
    Choice(&'static [&'static str]),
    Switch,
    Text,
    List,
    /// A list of words; a single text is split like a shell would.
    Words,
    Pairs,
    /// A map of steps to values.
    PerStep(Each),
    Webhooks,
    /// Other machines by their names.
    Hosts,
}

/// Whether a project's file may set a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromProject {
    /// Always: it can do no harm.
    Always,
    /// Once the person trusts the project: it decides what is run or told.
    WhenTrusted,
    /// Never: it reads or runs what is the person's alone.
    Never,
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    /// `group.key`
    pub name: &'static str,
    pub kind: Kind,
    pub env: Option<&'static str>,
    pub from_project: FromProject,
    pub doc: &'static str,
}

const DAY: u64 = 86_400;
const TOKENS: u64 = 1_000_000_000_000;
/// Most MiB that can be set.
const MIB: u64 = 1 << 40;

macro_rules! keys {
    ($($key:ident $name:literal $kind:expr, $env:expr, $from_project:expr, $doc:literal;)+) => {
        /// A key by its meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Key {
            $($key),+
        }

        /// All keys, in the order in which they are shown.
        pub const KEYS: &[Row] = {
            use FromProject::{Always, Never, WhenTrusted};
            use Kind::{Choice, Hosts, List, Pairs, PerStep, Switch, Text, Usd, Webhooks, Whole, Words};
            &[$(Row { key: Key::$key, name: $name, kind: $kind, env: $env, from_project: $from_project, doc: $doc }),+]
        };
    };
}

keys! {
    MaxIterations "limits.max_iterations" Whole(1, 10_000), Some("PROGRAMMATOR_MAX_ITERATIONS"), Always, "maximum iterations of one run";
    Stagnation "limits.stagnation" Whole(1, 1_000), Some("PROGRAMMATOR_STAGNATION_LIMIT"), Always, "iterations in a row without any change";
    RepeatedError "limits.repeated_error" Whole(1, 1_000), None, Always, "iterations in a row with the same error";
    IterationTimeout "limits.iteration_timeout" Whole(1, DAY), Some("PROGRAMMATOR_TIMEOUT"), Always, "seconds for one iteration";
    IdleTimeout "limits.idle_timeout" Whole(1, DAY), None, Always, "seconds without output while no tool runs";
    PostResultGrace "limits.post_result_grace" Whole(1, 3_600), None, Always, "seconds from the result to the end of the process";
    AgentCommand "agent.command" Words, Some("PROGRAMMATOR_CLAUDE"), WhenTrusted, "program and arguments that start Claude";
    Model "agent.model" Text, None, WhenTrusted, "model for Claude";
    FallbackModel "agent.fallback_model" Text, None, WhenTrusted, "model to use while the main one is overloaded";
    Flags "agent.flags" Words, Some("PROGRAMMATOR_CLAUDE_FLAGS"), WhenTrusted, "additional flags for Claude";
    AgentEnv "agent.env" Pairs, None, WhenTrusted, "additional environment variables for Claude and the validation commands";
    SettingSources "agent.setting_sources" List, None, WhenTrusted, "Claude's own settings to load: none, or user";
    MaxRetries "agent.max_retries" Whole(0, 100), Some("CLAUDE_CODE_MAX_RETRIES"), WhenTrusted, "retries of a failed request by Claude itself";
    ValidationCommands "validation.commands" List, None, WhenTrusted, "commands that check every claim";
    ValidationTimeout "validation.timeout" Whole(1, DAY), None, WhenTrusted, "seconds for one validation command";
    Theme "screen.theme" Text, Some("PROGRAMMATOR_THEME"), Always, "theme; auto: chosen by the terminal's background";
    Ascii "screen.ascii" Switch, None, Always, "draw with ASCII only";
    Animations "screen.animations" Switch, None, Always, "animate activity; false: only text and numbers change";
    Progress "screen.progress" Switch, None, Always, "show the progress of runs in the terminal's tab or the task bar (OSC 9;4)";
    NotifyBell "notify.bell" Choice(NotifyFor::WORDS), None, WhenTrusted, "ring the terminal's bell while you are looking elsewhere: off, needs_you or all";
    NotifyTerminal "notify.terminal" Choice(NotifyFor::WORDS), None, WhenTrusted, "terminal notifications (OSC 9): off, needs_you or all";
    NotifyDesktop "notify.desktop" Choice(NotifyFor::WORDS), None, WhenTrusted, "desktop notifications (notify-send, osascript): off, needs_you or all";
    NotifyCommand "notify.command" Words, None, WhenTrusted, "command to run for every notification; title and text are appended as arguments";
    NotifyWebhooks "notify.webhooks" Webhooks, None, Never, "webhooks for events of runs, with or without a screen: a list of {url, format: json, ntfy or slack, levels, quiet}";
    TicketsDir "tickets.dir" Text, Some("TICKETS_DIR"), WhenTrusted, "tickets folder";
    SessionContinuity "run.session_continuity" Switch, None, Always, "continue Claude's session from iteration to iteration";
    MaxParallel "run.max_parallel" Whole(1, 100), None, Always, "maximum number of active runs; others wait, by priority, then age; not set: no limit";
    BreakerNoProgress "breaker.no_progress" Whole(1, 1_000), None, Always, "iterations in a row without any change that open the circuit breaker";
    BreakerSameError "breaker.same_error" Whole(1, 1_000), None, Always, "iterations in a row with the same error that open the circuit breaker";
    BreakerPermissionDenials "breaker.permission_denials" Whole(1, 1_000), None, Always, "iterations in a row with denied calls that open the circuit breaker";
    BreakerOutputDecline "breaker.output_decline" Whole(1, 100), None, Always, "percent by which the output must fall, for two iterations, to half-open the circuit breaker";
    OnHangup "run.on_hangup" Choice(OnHangup::WORDS), None, Never, "when the screen's terminal is closed: stop the runs, or detach (keep working in the background; questions wait)";
    OwnSessions "policy.own_sessions" Choice(OwnGate::WORDS), None, Never, "what the policy does in Claude sessions that you start yourself, after `programmator hooks install` was run again: off, observe (log what it would ask about or block), or enforce (ask or block)";
    AwayRepeatAfter "away.repeat_after" Whole(30, DAY), None, Never, "seconds until an unanswered question is sent to the phone again";
    AwayRepeats "away.repeats" Whole(0, 100), None, Never, "how often it is sent again";
    AwayQuiet "away.quiet" Text, None, Never, "hours in which messages on the phone are silent, such as 22:00-07:00; not set: none";
    AwayBulkTools "away.bulk_tools" List, None, Never, "tools whose calls can be allowed in bulk on the phone, for a run";
    AwayAlwaysOn "away.always_on" Switch, None, Never, "use the phone without `away on`: a background run, or a hook of your own Claude session, starts the relay";
    AwayBareAnswers "away.bare_answers" Switch, None, Never, "accept a yes or no on the phone that is not a reply, if only one question is waiting";
    Hosts "hosts" Hosts, None, Never, "other machines for runs, such as {build: {command: [ssh, build, programmator, serve, --stdio], directory: ~/shop}}";
    BreakerCooldown "breaker.cooldown" Whole(0, 7 * DAY), None, Always, "seconds until one iteration is allowed again";
    BreakerAutoReset "breaker.auto_reset" Switch, None, Always, "close the circuit breaker at every start";
    ExitTestLoops "exit.test_loops" Whole(0, 20), None, Always, "iterations that only ran tests that end the run of a ticket without phases; 0: no limit";
    ExitDoneSignals "exit.done_signals" Whole(0, 20), None, Always, "iterations reporting the work complete that end the run of a ticket without phases as complete; 0: no limit";
    ExitTestPercentage "exit.test_percentage" Whole(1, 100), None, Always, "percentage of iterations that only ran tests that ends the run of a ticket without phases when there are more, from its tenth iteration on; 100: when it was all of them; not set: no limit";
    StartTimeout "limits.start_timeout" Whole(1, 3_600), None, Always, "seconds from the start of Claude's process to its first response";
    FirstByteTimeout "limits.first_byte_timeout" Whole(1, DAY), None, Always, "seconds from a prompt to the first byte of the response";
    SessionExpiry "run.session_expiry_hours" Whole(1, 8_760), None, Always, "hours after which an unused session is not continued";
    Calls "limits.calls" Whole(1, 100_000), Some("PROGRAMMATOR_CALLS"), WhenTrusted, "Claude calls per hour, shared by all tickets and processes";
    Tokens "limits.tokens" Whole(1, TOKENS), None, WhenTrusted, "input and output tokens per hour, shared by all tickets and processes";
    HourWindow "limits.window" Choice(HourWindow::WORDS), None, WhenTrusted, "how hours are counted: clock or sliding";
    OnWarning "limits.on_warning" Choice(OnWarning::WORDS), None, WhenTrusted, "when the provider warns: go_on, or park after the phase";
    RunUsd "budget.run_usd" Usd, None, WhenTrusted, "USD for one run";
    RunTokens "budget.run_tokens" Whole(1, TOKENS), None, WhenTrusted, "tokens for one run";
    TicketUsd "budget.ticket_usd" Usd, None, WhenTrusted, "USD for all runs of a ticket";
    TicketTokens "budget.ticket_tokens" Whole(1, TOKENS), None, WhenTrusted, "tokens for all runs of a ticket";
    DayUsd "budget.day_usd" Usd, None, WhenTrusted, "USD per day for everything";
    DayTokens "budget.day_tokens" Whole(1, TOKENS), None, WhenTrusted, "tokens per day for everything";
    ApprovalTimeout "approval.timeout" Whole(1, 7 * DAY), Some("PROGRAMMATOR_APPROVAL_TIMEOUT"), Always, "seconds until an unanswered question is denied; not set: it waits, until nobody has touched the screen for an hour";
    DeferAfter "approval.defer_after" Whole(1, 7 * DAY), None, Always, "seconds until Claude's process is stopped at an unanswered question, to resume with the answer; not set: it keeps running";
    PolicyProfile "policy.profile" Choice(Profile::WORDS), Some("PROGRAMMATOR_PROFILE"), WhenTrusted, "policy profile for calls that none of your rules match: strict, guarded, trusted or read_only";
    WorkflowName "workflow.name" Choice(crate::domain::workflow::Workflow::WORDS), Some("PROGRAMMATOR_WORKFLOW"), WhenTrusted, "who reviews finished work: simple (commands only), reviewed (also a critic), thorough (and an evaluator at the end), auto (a critic if no command checks it)";
    FixTries "workflow.fix_tries" Whole(0, 100), None, WhenTrusted, "attempts to fix what the critic found, before you have to decide";
    MinorIssues "workflow.minor_issues" Choice(crate::domain::workflow::MinorIssues::WORDS), None, WhenTrusted, "what to do with minor issues: note, or fix once";
    WorkflowReview "workflow.review" Switch, None, WhenTrusted, "review all changes of a ticket once its phases are done, by review.focus, and fix the issues";
    Guidelines "workflow.guidelines" Switch, None, WhenTrusted, "tell Claude the project's languages, package managers and checks, detected from its files";
    ContextFiles "prompt.context" List, None, WhenTrusted, "files to include in each prompt, relative to the project's folder: at most 32 KiB each, 96 KiB in total";
    StepModels "workflow.models" PerStep(Each::Text), None, WhenTrusted, "model per step, such as {critique: opus}; others use the run's";
    StepEfforts "workflow.efforts" PerStep(Each::Text), None, WhenTrusted, "effort per step; others use Claude's default";
    StepBudgets "workflow.budgets_usd" PerStep(Each::Usd), None, WhenTrusted, "maximum cost per call of a step, in USD";
    StepProfiles "workflow.profiles" PerStep(Each::Profile), None, WhenTrusted, "policy profile per step, if stricter than policy.profile; plan, critique, check, review and evaluate are always read_only";
    StepPrompts "workflow.prompts" PerStep(Each::Text), None, Never, "prompt file per step, relative to the folder of config.yaml";
    AddPhases "workflow.add_phases" Choice(crate::domain::evaluation::AddPhases::WORDS), None, WhenTrusted, "what to do with phases that the evaluator proposes: ask (in headless mode the run ends and lists them), auto (add them), never (the run ends and lists them)";
    MaxAddedPhases "workflow.max_added_phases" Whole(0, 100), None, WhenTrusted, "maximum number of phases that the evaluator may add in one run";
    ReviewFocus "review.focus" List, None, WhenTrusted, "what the reviewers of `programmator review` look for, one reviewer each";
    ReviewParallel "review.parallel" Whole(1, 20), None, WhenTrusted, "reviewers that run at the same time";
    ReviewModel "review.model" Text, None, WhenTrusted, "model of the reviewers; not set: the run's";
    GitCommit "git.commit" Choice(CommitWhen::WORDS), None, WhenTrusted, "when a run commits its work: off, phase (after each finished phase) or ticket (when it is done)";
    GitMessage "git.message" Text, None, WhenTrusted, "template for commit messages, with id, ticket and phase";
    GitProtected "git.protected" List, None, WhenTrusted, "branches that runs never commit to";
    GitWorktree "git.worktree" Choice(WorktreeFor::WORDS), None, WhenTrusted, "where runs work: off (the current directory) or ticket (a git worktree per ticket)";
    GitBranch "git.branch" Text, None, WhenTrusted, "template for a ticket's branch, with id; if set, runs without a worktree use it, too";
    GitBase "git.base" Text, None, WhenTrusted, "branch that a ticket's branch starts from; not set: the current one";
    GitMerge "git.merge" Choice(MergeHow::WORDS), None, WhenTrusted, "how a worktree's finished work is merged into its base, once your commands pass on the merged tree: off, rebase or merge";
    WorktreeFolder "worktree.folder" Text, None, Never, "folder for worktrees; not set: programmator/worktrees below ~/.local/share";
    WorktreeSetup "worktree.setup" Text, None, Never, "command to run once in a new worktree";
    WorktreeCopy "worktree.copy" List, None, Never, "files to copy into a new worktree, such as .env";
    WorktreeDependencies "worktree.dependencies" List, None, Never, "ignored folders to copy into a new worktree, if the file system supports copy-on-write";
    SnapshotsKeepDays "snapshots.keep_days" Whole(0, 36_500), None, Never, "days to keep snapshots after a run's end; 0: forever";
    SnapshotsKeepRuns "snapshots.keep_runs" Whole(1, 10_000), None, Never, "number of runs per ticket whose snapshots are kept; not set: all";
    SourceComment "source.comment" Switch, None, WhenTrusted, "when a run completes a ticket imported from GitHub, comment on its issue with what was done and how it was verified";
    SourceClose "source.close" Switch, None, WhenTrusted, "when a run completes a ticket imported from GitHub or beads, close its issue";
    StorageKeepDays "storage.keep_days" Whole(0, 36_500), None, Never, "days to keep a run's output and worktree after its end, and old logs; 0: forever";
    StorageMaxGb "storage.max_gb" Whole(0, 1_000_000), None, Never, "maximum size of the state folder in GiB, before the output of the oldest finished runs is removed; 0: no limit";
    StoragePatience "storage.patience" Whole(1, DAY), None, WhenTrusted, "seconds that a run waits while nothing can be stored, before it ends";
    StorageReserve "storage.reserve" Whole(0, MIB), None, WhenTrusted, "MiB of free space reserved for records; below that, output is not stored";
    StorageStream "storage.stream" Whole(16, MIB), None, WhenTrusted, "MiB of Claude's output to keep per iteration: the beginning and the end";
    StorageValidationOutput "storage.validation_output" Whole(1, MIB), None, WhenTrusted, "MiB of a validation command's output to keep: the beginning and the end";
}

pub fn row_of(key: Key) -> &'static Row {
    &KEYS[key as usize]
}

/// A value of a key, of the right kind and in range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Whole(u64),
    /// For [`Kind::Usd`], in millionths.
    Usd(u64),
    Switch(bool),
    /// For [`Kind::Text`] and [`Kind::Choice`].
    Text(String),
    /// For [`Kind::List`] and [`Kind::Words`].
    List(Vec<String>),
    Pairs(BTreeMap<String, String>),
    /// By the name of a step.
    PerStep(BTreeMap<String, String>),
    Webhooks(Vec<Webhook>),
    Hosts(BTreeMap<String, HostConfig>),
}

impl Row {
    /// Reads what stands in an environment variable or behind a flag; the error says what would be right.
    pub fn read_text(&self, text: &str) -> Result<Value, String> {
        let wrong = || self.wrong(text);
        if text.contains('\0') {
            return Err(self.nul());
        }
        match self.kind {
            Kind::Whole(..) => text.trim().parse().map_err(|_| wrong()).and_then(|n| self.in_range(n, text)),
            Kind::Usd => {
                text.trim().trim_start_matches('$').parse().ok().and_then(micros).map(Value::Usd).ok_or_else(wrong)
            }
            Kind::Choice(words) if words.contains(&text.trim()) => Ok(Value::Text(text.trim().to_owned())),
            Kind::Switch => text.trim().parse().map(Value::Switch).map_err(|_| wrong()),
            Kind::Text if text.trim().is_empty() => Err(wrong()),
            Kind::Text => Ok(Value::Text(text.to_owned())),
            // An executable from the environment is one path, blanks and all.
            Kind::Words if self.key == Key::AgentCommand => Ok(Value::List(vec![text.to_owned()])),
            Kind::Words => flags::split(text).map(Value::List),
            Kind::List => Ok(Value::List(vec![text.to_owned()])),
            Kind::Choice(_) | Kind::Pairs | Kind::PerStep(_) | Kind::Webhooks | Kind::Hosts => Err(wrong()),
        }
    }

    /// Reads what stands in a file; the error says what would be right.
    pub fn read_yaml(&self, yaml: &Yaml) -> Result<Value, String> {
        let shown = yaml.as_str().map_or_else(|| yaml.to_string(), str::to_owned);
        let wrong = || self.wrong(&shown);
        if has_nul(yaml) {
            return Err(self.nul());
        }
        match (self.kind, yaml) {
            (Kind::Whole(..), Yaml::Number(n)) => n.as_u64().ok_or_else(wrong).and_then(|n| self.in_range(n, &shown)),
            (Kind::Usd, Yaml::Number(n)) => n.as_f64().and_then(micros).map(Value::Usd).ok_or_else(wrong),
            (Kind::Usd | Kind::Choice(_), Yaml::String(text)) => self.read_text(text),
            (Kind::Switch, Yaml::Bool(on)) => Ok(Value::Switch(*on)),
            (Kind::Text, Yaml::String(text)) if !text.trim().is_empty() => Ok(Value::Text(text.clone())),
            (Kind::Words, Yaml::String(text)) => flags::split(text).map(Value::List),
            (Kind::List | Kind::Words, Yaml::Array(items)) => {
                items.iter().map(scalar).collect::<Option<_>>().map(Value::List).ok_or_else(wrong)
            }
            (Kind::Pairs, Yaml::Object(pairs)) => pairs
                .iter()
                .map(|(name, value)| scalar(value).map(|value| (name.clone(), value)))
                .collect::<Option<_>>()
                .map(Value::Pairs)
                .ok_or_else(wrong),
            (Kind::PerStep(each), Yaml::Object(pairs)) => {
                let read = |(step, value): (&String, &Yaml)| {
                    scalar(value).filter(|value| each.fits(step, value)).map(|value| (step.clone(), value))
                };
                pairs.iter().map(read).collect::<Option<_>>().map(Value::PerStep).ok_or_else(wrong)
            }
            (Kind::Webhooks, yaml) => webhook::read(yaml).map(Value::Webhooks),
            (Kind::Hosts, Yaml::Object(machines)) => hosts::read(machines).map(Value::Hosts),
            _ => Err(wrong()),
        }
    }

    fn in_range(&self, n: u64, shown: &str) -> Result<Value, String> {
        match self.kind {
            Kind::Whole(least, most) if (least..=most).contains(&n) => Ok(Value::Whole(n)),
            _ => Err(self.wrong(shown)),
        }
    }

    fn nul(&self) -> String {
        format!("{} contains a NUL character; remove it", self.name)
    }

    fn wrong(&self, shown: &str) -> String {
        let takes = match self.kind {
            Kind::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Kind::Usd => "an amount in USD above 0, like 2.50".to_owned(),
            Kind::Choice(words) => words.join(" or "),
            Kind::Switch => "true or false".to_owned(),
            Kind::Text => "a string".to_owned(),
            Kind::List => "a list of strings".to_owned(),
            Kind::Words => "a list of words".to_owned(),
            Kind::Pairs => "a map of names to strings".to_owned(),
            Kind::PerStep(each) => each.takes(),
            Kind::Webhooks => "a list of webhooks".to_owned(),
            Kind::Hosts => "a map of names to a command each".to_owned(),
        };
        format!("{} is `{}`, but must be {takes} ({})", self.name, clean_line(shown, 60), self.doc)
    }
}

fn scalar(yaml: &Yaml) -> Option<String> {
    match yaml {
        Yaml::String(text) => Some(text.clone()),
        Yaml::Number(n) => Some(n.to_string()),
        Yaml::Bool(on) => Some(on.to_string()),
        _ => None,
    }
}

impl Value {
    /// For people, on one line. Values of an environment may be secrets: only their names are shown.
    pub fn show(&self) -> String {
        let text = match self {
            Self::Whole(n) => n.to_string(),
            Self::Usd(micros) => format!("{:.2}", *micros as f64 / 1e6),
            Self::Switch(on) => on.to_string(),
            Self::Text(text) => text.clone(),
            Self::List(items) => Yaml::from(items.clone()).to_string(),
            Self::PerStep(pairs) => {
                let all: Vec<_> = pairs.iter().map(|(step, value)| format!("{step}: {value}")).collect();
                format!("{{{}}}", all.join(", "))
            }
            Self::Webhooks(hooks) => {
                let all: Vec<_> = hooks.iter().map(ToString::to_string).collect();
                format!("[{}]", all.join(", "))
            }
            Self::Hosts(hosts) => {
                let all = hosts.iter().map(|(name, host)| format!("{name}: {}", Yaml::from(host.command.clone())));
                format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
            }
            Self::Pairs(pairs) => {
                let names: Vec<_> = pairs.keys().map(|name| format!("{name}: …")).collect();
                format!("{{{}}}", names.join(", "))
            }
        };
        clean_line(&text, 200)
    }
}

fn has_nul(yaml: &Yaml) -> bool {
    match yaml {
        Yaml::String(text) => text.contains('\0'),
        Yaml::Array(items) => items.iter().any(has_nul),
        Yaml::Object(pairs) => pairs.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::settings::Settings;

    #[test]
    fn every_timer_of_the_watchdog_has_its_key() {
        use crate::domain::watchdog::Watch;
        for &watch in Watch::ALL {
            let row = KEYS.iter().find(|row| row.name == watch.key()).unwrap_or_else(|| panic!("{watch:?}"));
            assert_eq!(row.builtin(), Some(Value::Whole(Settings::default().limit_of(watch))), "{watch:?}");
        }
    }

    #[test]
    fn amounts_and_choices_are_read_or_explained() {
        let row = row_of(Key::RunUsd);
        for (text, micros) in [("5", 5_000_000), ("0.50", 500_000), (" $12.345 ", 12_345_000)] {
            assert_eq!(row.read_text(text), Ok(Value::Usd(micros)), "{text}");
        }
        assert_eq!(row.read_yaml(&serde_json::json!(2.5)), Ok(Value::Usd(2_500_000)));
        for bad in ["0", "-1", "NaN", "inf", "5 EUR", "2000000", ""] {
            assert!(row.read_text(bad).unwrap_err().contains("budget.run_usd"), "{bad}");
        }
        let row = row_of(Key::HourWindow);
        assert_eq!(row.read_text("sliding"), Ok(Value::Text("sliding".into())));
        assert!(row.read_text("rolling").unwrap_err().contains("clock or sliding"));
    }

    #[test]
    fn a_nul_is_refused_by_name_before_anything_is_started() {
        let yaml = [serde_json::json!("a\0b"), serde_json::json!(["x", "a\0b"]), serde_json::json!({"A": "a\0b"})];
        for (key, yaml) in [Key::Model, Key::ValidationCommands, Key::AgentEnv].into_iter().zip(yaml) {
            let error = row_of(key).read_yaml(&yaml).unwrap_err();
            assert!(error.contains(row_of(key).name) && error.contains("NUL"), "{error}");
        }
        assert!(row_of(Key::Model).read_text("a\0b").unwrap_err().contains("NUL"));
    }

    #[test]
    fn numbers_out_of_range_name_key_and_range() {
        let row = row_of(Key::MaxIterations);
        for bad in ["0", "-1", "10001", "abc", "1.5", "99999999999999999999", "1e3", " "] {
            let error = row.read_text(bad).unwrap_err();
            assert!(error.contains("limits.max_iterations") && error.contains("from 1 to 10000"), "{error}");
        }
        for bad in
            [serde_json::json!(0), serde_json::json!(-3), serde_json::json!("7"), serde_json::json!(1.5), Yaml::Null]
        {
            assert!(row.read_yaml(&bad).is_err(), "{bad}");
        }
        assert_eq!(row.read_text(" 7 "), Ok(Value::Whole(7)));
    }
}
