//! What holds of each key when nobody sets it.

use super::{Key, Row, Value};
use crate::config::hangup::OnHangup;
use crate::config::own_gate::OwnGate;
use crate::domain::approval::EDIT_TOOLS;
use crate::domain::notification::NotifyFor;
use crate::domain::profile::Profile;
use crate::domain::review::FOCI;
use crate::domain::settings::Settings;
use crate::domain::workflow::Workflow;
use std::collections::BTreeMap;

/// Claude's own number, said aloud: about three minutes of retries, whatever a later Claude thinks.
const MAX_RETRIES: u64 = 10;

/// Folders that builds fill.
const DEPENDENCIES: [&str; 2] = ["node_modules", "target"];

impl Row {
    /// The value that holds when nobody sets the key.
    pub fn builtin(&self) -> Option<Value> {
        let settings = Settings::default();
        Some(match self.key {
            Key::MaxIterations => Value::Whole(settings.max_iterations.into()),
            Key::Stagnation => Value::Whole(settings.stagnation_limit.into()),
            Key::RepeatedError => Value::Whole(settings.repeated_error_limit.into()),
            Key::IterationTimeout => Value::Whole(settings.iteration_timeout),
            Key::IdleTimeout => Value::Whole(settings.idle_timeout),
            Key::PostResultGrace => Value::Whole(settings.post_result_grace),
            Key::AgentCommand => Value::List(vec!["claude".to_owned()]),
            Key::Hosts => Value::Hosts(BTreeMap::new()),
            Key::AgentEnv => Value::Pairs(BTreeMap::new()),
            Key::StepModels | Key::StepEfforts | Key::StepBudgets | Key::StepProfiles | Key::StepPrompts => {
                Value::PerStep(BTreeMap::new())
            }
            Key::Flags
            | Key::SettingSources
            | Key::ValidationCommands
            | Key::NotifyCommand
            | Key::ContextFiles
            | Key::WorktreeCopy => Value::List(Vec::new()),
            Key::NotifyWebhooks => Value::Webhooks(Vec::new()),
            Key::ValidationTimeout => Value::Whole(settings.validation_timeout),
            Key::Theme => Value::Text("auto".to_owned()),
            Key::Ascii
            | Key::Progress
            | Key::WorkflowReview
            | Key::AwayAlwaysOn
            | Key::SourceComment
            | Key::SourceClose => Value::Switch(false),
            Key::Animations | Key::Guidelines | Key::AwayBareAnswers => Value::Switch(true),
            Key::NotifyBell | Key::NotifyTerminal => Value::Text(NotifyFor::NeedsYou.word().to_owned()),
            Key::NotifyDesktop => Value::Text(NotifyFor::Nothing.word().to_owned()),
            Key::SessionContinuity => Value::Switch(settings.session_continuity),
            Key::BreakerNoProgress => Value::Whole(settings.breaker.no_progress.into()),
            Key::BreakerSameError => Value::Whole(settings.breaker.same_error.into()),
            Key::BreakerPermissionDenials => Value::Whole(settings.breaker.permission_denials.into()),
            Key::BreakerOutputDecline => Value::Whole(settings.breaker.output_decline.into()),
            Key::BreakerCooldown => Value::Whole(settings.breaker.cooldown),
            Key::BreakerAutoReset => Value::Switch(settings.breaker.auto_reset),
            Key::ExitTestLoops => Value::Whole(settings.exit.test_loops.into()),
            Key::ExitDoneSignals => Value::Whole(settings.exit.done_signals.into()),
            Key::StartTimeout => Value::Whole(settings.start_timeout),
            Key::FirstByteTimeout => Value::Whole(settings.first_byte_timeout),
            Key::SessionExpiry => Value::Whole(settings.session_expiry_hours.into()),
            Key::MaxRetries => Value::Whole(MAX_RETRIES),
            Key::Calls => Value::Whole(settings.limits.calls.into()),
            Key::HourWindow => Value::Text(settings.limits.window.word().to_owned()),
            Key::PolicyProfile => Value::Text(Profile::default().word().to_owned()),
            Key::WorkflowName => Value::Text(Workflow::Auto.word().to_owned()),
            Key::FixTries => Value::Whole(settings.workflow.fix_tries.into()),
            Key::MinorIssues => Value::Text(settings.workflow.minor_issues.word().to_owned()),
            Key::AddPhases => Value::Text(settings.workflow.add_phases.word().to_owned()),
            Key::MaxAddedPhases => Value::Whole(settings.workflow.max_added_phases.into()),
            Key::ReviewFocus => Value::List(FOCI.map(str::to_owned).to_vec()),
            Key::ReviewParallel | Key::AwayRepeats => Value::Whole(3),
            Key::GitCommit => Value::Text(settings.git.commit.word().to_owned()),
            Key::GitMessage => Value::Text(settings.git.message),
            Key::GitProtected => Value::List(settings.git.protected),
            Key::GitWorktree => Value::Text(settings.git.worktree.word().to_owned()),
            Key::GitBranch => Value::Text(settings.git.branch),
            Key::GitMerge => Value::Text(settings.git.merge.word().to_owned()),
            Key::WorktreeDependencies => Value::List(DEPENDENCIES.map(str::to_owned).to_vec()),
            Key::SnapshotsKeepDays | Key::StorageKeepDays => Value::Whole(90),
            Key::StorageMaxGb => Value::Whole(5),
            Key::StoragePatience => Value::Whole(60),
            Key::StorageReserve | Key::StorageValidationOutput => Value::Whole(64),
            Key::StorageStream => Value::Whole(2_048),
            Key::AwayRepeatAfter => Value::Whole(300),
            Key::AwayBulkTools => Value::List(EDIT_TOOLS.map(str::to_owned).to_vec()),
            Key::OnHangup => Value::Text(OnHangup::default().word().to_owned()),
            Key::OwnSessions => Value::Text(OwnGate::default().word().to_owned()),
            Key::OnWarning => Value::Text(settings.limits.on_warning.word().to_owned()),
            Key::Tokens
            | Key::RunUsd
            | Key::RunTokens
            | Key::TicketUsd
            | Key::TicketTokens
            | Key::DayUsd
            | Key::DayTokens
            | Key::ApprovalTimeout
            | Key::DeferAfter
            | Key::MaxParallel
            | Key::ExitTestPercentage
            | Key::AwayQuiet
            | Key::GitBase
            | Key::WorktreeFolder
            | Key::WorktreeSetup
            | Key::ReviewModel
            | Key::SnapshotsKeepRuns
            | Key::Model
            | Key::FallbackModel
            | Key::TicketsDir => return None,
        })
    }
}
