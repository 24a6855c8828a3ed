//! Whether the programs that runs need are there and fit: Claude Code, its login, git. `programmator doctor` prints all of
//! it; an empty Home says what would go wrong.

use crate::adapters::agent::features::{Features, TABLE};
use crate::adapters::agent::launch::{Launch, Options};
use crate::adapters::agent::probe::{self, Found};
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::version::{FLOOR, Fitness, TESTED};
use crate::adapters::agent::{Agent, AgentEvent};
use crate::base::text::clean_line;
use crate::base::time::Clock;
use crate::config::Config;
use crate::domain::finding::{Finding, Mark};
use crate::domain::scrollback::{EntryKind, LiveChange, Sink};
use crate::runtime::channels;
use crate::runtime::launching;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Whether there is a Claude that can be used, what it knows, and whether it speaks the protocol.
pub async fn claude(config: &Config, folder: &Path, clock: &Arc<dyn Clock>) -> Vec<Finding> {
    let (mut launch, found) = match installed(config, folder).await {
        Ok(installed) => installed,
        Err(finding) => return vec![finding],
    };
    let mut findings = vec![version(&found, &launch)];
    if findings[0].mark != Mark::Fail {
        findings.push(login(&launch).await);
        findings.extend(features(&found.features));
        launch.options.features = found.features;
        findings.push(protocol(clock.clone(), launch).await);
    }
    findings
}

/// What a first run would fail for; Claude's own protocol is left for that run. The fix is in the words.
pub async fn troubles(config: &Config, folder: &Path) -> Vec<Finding> {
    let of_claude = async {
        match installed(config, folder).await {
            Ok((launch, found)) => match version(&found, &launch) {
                too_old if too_old.mark == Mark::Fail => vec![too_old],
                version => vec![version, login(&launch).await],
            },
            Err(finding) => vec![finding],
        }
    };
    let (mut findings, git, identity) = tokio::join!(of_claude, git(folder), identity(folder));
    findings.extend([Some(git), identity].into_iter().flatten());
    findings.retain(|finding| finding.mark != Mark::Ok);
    findings
}

/// An error without a Claude that runs can be started with; the fix is in the words.
pub async fn has_claude(config: &Config, folder: &Path) -> Result<(), Finding> {
    let (launch, found) = installed(config, folder).await?;
    let version = version(&found, &launch);
    if version.mark == Mark::Fail { Err(version) } else { Ok(()) }
}

/// The Claude that runs would start, and what it knows.
async fn installed(config: &Config, folder: &Path) -> Result<(Launch, Found), Finding> {
    let options = Options { extra: config.agent.flags.clone(), ..Options::default() };
    let marker = format!("doctor-{}", std::process::id());
    let launch = launching::launch(&config.agent, folder, options, marker, None);
    let mut launch = launch.map_err(|none| Finding::new("bash", Mark::Fail, none.to_string()))?;
    launch.patience = Some(Duration::from_secs(config.settings.start_timeout));
    let found = probe::ask(&launch).await;
    let found = found.map_err(|error| Finding::new("claude", Mark::Fail, error.to_string()))?;
    Ok((launch, found))
}

/// Whether Claude can reach an account.
async fn login(launch: &Launch) -> Finding {
    match probe::is_logged_in(launch).await {
        Some(true) => Finding::new("login", Mark::Ok, "Claude Code is logged in"),
        Some(false) => Finding::new(
            "login",
            Mark::Fail,
            format!(
                "Claude Code is not logged in: run `{} auth login`, or set ANTHROPIC_API_KEY",
                launch.command.join(" ")
            ),
        ),
        None => Finding::new("login", Mark::Ok, "not checked: not reported by this version of Claude Code"),
    }
}

fn version(found: &Found, launch: &Launch) -> Finding {
    let version = found.version;
    let [first, last] = TESTED;
    let (mark, means) = match version.fitness() {
        Fitness::TooOld => (Mark::Fail, format!("{FLOOR} or newer is needed: update it with `claude update`")),
        Fitness::Untested => (Mark::Warn, "yours is older: update it with `claude update`".to_owned()),
        Fitness::Tested => (Mark::Ok, "a tested version".to_owned()),
        Fitness::Between => (Mark::Ok, "yours should work".to_owned()),
        Fitness::Newer => (
            Mark::Ok,
            format!(
                "yours is newer and should work; if not, `npm install -g @anthropic-ai/claude-code@{last}` gives the \
                 tested one"
            ),
        ),
    };
    let text = format!("{version}, started as `{}` (tested: {first}, {last}): {means}", launch.command.join(" "));
    Finding::new("claude", mark, text)
}

/// What is so because this version has, or lacks, features of the table; nothing of what it does not need.
fn features(features: &Features) -> Option<Finding> {
    let means = TABLE.iter().filter_map(|row| if features.have(row.feature) { Some(row.with) } else { row.without });
    let means = means.collect::<Vec<_>>().join("; ");
    (!means.is_empty()).then(|| Finding::new("features", Mark::Ok, means))
}

/// Keeps nothing: the probe says nothing worth keeping.
struct Nothing;

impl Sink for Nothing {
    fn line(&mut self, _: &[u8], _: Option<EntryKind>) -> std::io::Result<()> {
        Ok(())
    }

    fn live(&mut self, _: LiveChange<'_>) {}

    fn burst_ended(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

async fn protocol(clock: Arc<dyn Clock>, launch: Launch) -> Finding {
    let (events, mut seen) = mpsc::channel::<AgentEvent>(channels::AGENT_EVENTS);
    tokio::spawn(async move { while seen.recv().await.is_some() {} });
    match Agent::spawn(launch, clock, Box::new(Nothing), events).await {
        Ok(agent) => {
            agent.stop(&Ladder::DEFAULT).await;
            Finding::new("protocol", Mark::Ok, "claude asks before every tool call")
        }
        Err(error) => Finding::new("protocol", Mark::Fail, error.to_string()),
    }
}

/// Whether git knows whose commits it makes; `None` without git.
pub async fn identity(folder: &Path) -> Option<Finding> {
    let mut git = tokio::process::Command::new("git");
    let output = git.args(["var", "GIT_AUTHOR_IDENT"]).current_dir(folder).output().await.ok()?;
    if output.status.success() {
        // Behind the address stands the time.
        let who = String::from_utf8_lossy(&output.stdout);
        let who = who.rsplit_once('>').map_or(who.trim(), |(who, _)| who);
        return Some(Finding::new("identity", Mark::Ok, clean_line(&format!("git commits as {who}>"), 200)));
    }
    let fix = "git has no name and email configured, so nothing can be committed: run `git config --global user.name \"Your \
               Name\"` and `git config --global user.email you@example.com`";
    Some(Finding::new("identity", Mark::Warn, fix))
}

/// Whether changes can be seen and undone.
pub async fn git(folder: &Path) -> Finding {
    let output = tokio::process::Command::new("git").arg("--version").output().await;
    match output {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            let inside = folder.ancestors().any(|folder| folder.join(".git").exists());
            if inside {
                Finding::new("git", Mark::Ok, format!("{}, and this is a repository", version.trim()))
            } else {
                Finding::new(
                    "git",
                    Mark::Warn,
                    "not a git repository: changes are detected but cannot be undone; run `git init` to get \
                    snapshots",
                )
            }
        }
        _ => Finding::new("git", Mark::Fail, "git cannot be started: install it and put it on the PATH"),
    }
}
