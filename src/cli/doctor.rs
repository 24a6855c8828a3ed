//! `programmator doctor`: checks what programmator needs; each line says ok, warn or fail, with the fix.

use super::error::CliError;
use super::in_force::in_force;
use super::session::Session;
use crate::adapters::agent::features::TABLE;
use crate::adapters::agent::launch::{Additions, Launch, Options, environment};
use crate::adapters::agent::probe::{self, Found};
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::version::{FLOOR, Fitness, TESTED};
use crate::adapters::agent::{Agent, AgentEvent};
use crate::adapters::clock::boot_time;
use crate::adapters::room::Room;
use crate::adapters::shell;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::config::Resolved;
use crate::domain::passphrase::Checked;
use crate::domain::scrollback::{EntryKind, LiveChange, Sink};
use crate::domain::verdict::Verdict;
use crate::runtime::channels;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Ok,
    Warn,
    Fail,
}

impl Mark {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok  ",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

struct Finding {
    name: &'static str,
    mark: Mark,
    text: String,
}

impl Finding {
    fn new(name: &'static str, mark: Mark, text: impl Into<String>) -> Self {
        Self { name, mark, text: text.into() }
    }
}

/// Prints the findings. Gives the exit code: 1 when a check failed.
pub async fn run(out: &mut dyn Write, session: &Session) -> Result<u8, CliError> {
    let mut worst = 0;
    let mut print = |finding: &Finding| -> Result<(), CliError> {
        if finding.mark == Mark::Fail {
            worst = 1;
        }
        writeln!(out, "{}  {:9} {}", finding.mark.word(), finding.name, clean_line(&finding.text, 600))?;
        Ok(())
    };
    let mut reserve = 0;
    match session.resolve(&session.folder) {
        Ok(resolved) => {
            reserve = resolved.config.storage.reserve;
            print(&Finding::new("config", Mark::Ok, "can be read"))?;
            for notice in &resolved.notices {
                print(&Finding::new("config", Mark::Warn, &notice.text))?;
            }
            for finding in claude(session, &resolved).await {
                print(&finding)?;
            }
            print(&tickets_folder(session, &resolved))?;
            print(&policy(session, &resolved))?;
        }
        Err(error) => print(&Finding::new("config", Mark::Fail, error.message))?,
    }
    print(&git(session).await)?;
    print(&state(session, reserve))?;
    print(&terminal(session))?;
    Ok(worst)
}

/// Whether there is a Claude that can be used, what it knows, and whether it speaks the protocol.
async fn claude(session: &Session, resolved: &Resolved) -> Vec<Finding> {
    let shell = match shell::find(&resolved.config.agent.variables(), &session.folder) {
        Ok(shell) => shell,
        Err(none) => return vec![Finding::new("bash", Mark::Fail, none.to_string())],
    };
    let mut launch = launch(session, resolved, shell);
    let found = match probe::ask(&launch).await {
        Ok(found) => found,
        Err(error) => return vec![Finding::new("claude", Mark::Fail, error.to_string())],
    };
    let mut findings = vec![version(&found, &launch)];
    if findings[0].mark != Mark::Fail {
        findings.extend(features(&found));
        launch.options.features = found.features;
        findings.push(protocol(session, launch).await);
    }
    findings
}

fn launch(session: &Session, resolved: &Resolved, shell: PathBuf) -> Launch {
    let agent = &resolved.config.agent;
    let additions = Additions {
        env: agent.variables(),
        shell: Some(shell),
        max_retries: agent.max_retries,
        marker: format!("doctor-{}", std::process::id()),
        scratch: None,
    };
    Launch {
        command: agent.command.clone(),
        options: Options { extra: agent.flags.clone(), ..Options::default() },
        env: environment(std::env::vars_os(), &additions),
        folder: session.folder.clone(),
        marker: additions.marker,
        patience: Some(Duration::from_secs(resolved.config.settings.start_timeout)),
    }
}

fn version(found: &Found, launch: &Launch) -> Finding {
    let version = found.version;
    let [first, last] = TESTED;
    let (mark, means) = match version.fitness() {
        Fitness::TooOld => (Mark::Fail, format!("{FLOOR} or newer is needed: update it with `claude update`")),
        Fitness::Untested => (Mark::Warn, "yours is older: update it with `claude update`".to_owned()),
        Fitness::Tested => (Mark::Ok, "yours is one of them".to_owned()),
        Fitness::Between => (Mark::Ok, "yours is between them and should work".to_owned()),
        Fitness::Newer => (
            Mark::Ok,
            format!(
                "yours is newer and should work; if not, `npm install -g @anthropic-ai/claude-code@{last}` gives the \
                 tested one"
            ),
        ),
    };
    let text = format!("{version}, started as `{}`: tested with {first} and {last}, {means}", launch.command.join(" "));
    Finding::new("claude", mark, text)
}

/// What of the table this version has, and what is so without it.
fn features(found: &Found) -> impl Iterator<Item = Finding> {
    TABLE.iter().map(|row| {
        let (has, means) = if found.features.have(row.feature) { ("has", row.with) } else { ("lacks", row.without) };
        Finding::new("feature", Mark::Ok, format!("{has} `{}`: {means}", row.name))
    })
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

async fn protocol(session: &Session, launch: Launch) -> Finding {
    let (events, mut seen) = mpsc::channel::<AgentEvent>(channels::AGENT_EVENTS);
    tokio::spawn(async move { while seen.recv().await.is_some() {} });
    match Agent::spawn(launch, session.clock(), Box::new(Nothing), events).await {
        Ok(agent) => {
            agent.stop(&Ladder::DEFAULT).await;
            Finding::new("protocol", Mark::Ok, "claude asks before every tool call")
        }
        Err(error) => Finding::new("protocol", Mark::Fail, error.to_string()),
    }
}

async fn git(session: &Session) -> Finding {
    let output = tokio::process::Command::new("git").arg("--version").output().await;
    match output {
        Ok(output) if output.status.success() => {
            let version = String::from_utf8_lossy(&output.stdout);
            let inside = session.folder.ancestors().any(|folder| folder.join(".git").exists());
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

fn tickets_folder(session: &Session, resolved: &Resolved) -> Finding {
    let dir = session.places(resolved).dir();
    let shown = dir.display();
    match tickets::list(&dir) {
        Ok(listed) if listed.is_empty() => Finding::new(
            "tickets",
            Mark::Warn,
            format!("{shown} is empty: make one with `programmator ticket new \"Title\"`"),
        ),
        Ok(listed) => {
            let broken = listed
                .iter()
                .filter(|one| one.ticket.as_ref().map_or(true, crate::domain::ticket::Ticket::is_broken))
                .count();
            let mark = if broken == 0 { Mark::Ok } else { Mark::Warn };
            Finding::new("tickets", mark, format!("{shown}: tickets: {}, broken: {broken}", listed.len()))
        }
        Err(error) => Finding::new(
            "tickets",
            Mark::Warn,
            format!("{shown}: {error}; make the first one with `programmator ticket new \"Title\"`"),
        ),
    }
}

/// Whether the rules can be used, and whether what they ask for is there.
fn policy(session: &Session, resolved: &Resolved) -> Finding {
    let profile = resolved.config.profile;
    let policy = in_force(session, &session.folder, profile, &[]);
    if let Some(error) = policy.broken() {
        return Finding::new("policy", Mark::Fail, format!("{error}. Fix it: programmator policy edit"));
    }
    let asks = policy.rules().any(|(_, rule)| rule.action == Verdict::Passphrase);
    let standing = session.passphrases().map(|passphrases| passphrases.standing(boot_time()));
    match standing {
        Some(Err(error)) => Finding::new("policy", Mark::Fail, error.to_string()),
        Some(Ok(Checked::Unset)) | None if asks => Finding::new(
            "policy",
            Mark::Warn,
            format!("{}; calls that need a passphrase are blocked: programmator passphrase set", profile.word()),
        ),
        _ => Finding::new("policy", Mark::Ok, format!("{}; can be used", profile.word())),
    }
}

/// Whether what a run must store has room.
fn state(session: &Session, reserve: u64) -> Finding {
    match session.store() {
        Ok(store) => {
            let folder = store.folder();
            let room = Room { folder: folder.to_owned(), reserve }.for_bytes(0);
            match (store.try_to_write(), room) {
                (Ok(()), Ok(())) => Finding::new("state", Mark::Ok, format!("{} can be written", folder.display())),
                (Ok(()), Err(error)) => {
                    let words =
                        format!("{}: {error}, so Claude's output is not stored; free some space", folder.display());
                    Finding::new("state", Mark::Warn, words)
                }
                (Err(error), _) => Finding::new("state", Mark::Fail, error.to_string()),
            }
        }
        Err(error) => Finding::new("state", Mark::Fail, error.message),
    }
}

fn terminal(session: &Session) -> Finding {
    let term = session.environment.get("TERM").cloned().unwrap_or_default();
    if !std::io::stdout().is_terminal() {
        return Finding::new("terminal", Mark::Warn, "stdout is not a terminal: tickets run in headless mode");
    }
    if term.is_empty() || term == "dumb" {
        return Finding::new(
            "terminal",
            Mark::Fail,
            "TERM is not set, or names a terminal without full-screen mode: set TERM, or use `programmator run`",
        );
    }
    let utf8 = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| session.environment.get(*name))
        .find(|value| !value.is_empty());
    if utf8.is_some_and(|value| !value.to_ascii_lowercase().replace('-', "").contains("utf8")) {
        return Finding::new("terminal", Mark::Warn, format!("{term}, but the locale is not UTF-8: use `--ascii`"));
    }
    Finding::new("terminal", Mark::Ok, term)
}
