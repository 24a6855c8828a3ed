//! `programmator doctor`: checks what programmator needs; each line says ok, warn or fail, with the cure.

use super::error::CliError;
use super::policy::in_force;
use super::session::Session;
use crate::adapters::agent::launch::{Additions, Launch, Options, environment};
use crate::adapters::agent::probe::{self, Fitness};
use crate::adapters::agent::stop::Ladder;
use crate::adapters::agent::{Agent, AgentEvent};
use crate::adapters::clock::boot_time;
use crate::adapters::tickets;
use crate::base::text::clean_line;
use crate::config::Resolved;
use crate::domain::passphrase::Checked;
use crate::domain::scrollback::{EntryKind, LiveChange, Sink};
use crate::policy::verdict::Verdict;
use crate::runtime::channels;
use std::io::{IsTerminal, Write};
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
    match session.resolve(&session.folder) {
        Ok(resolved) => {
            print(&Finding::new("config", Mark::Ok, "can be read"))?;
            for notice in &resolved.notices {
                print(&Finding::new("config", Mark::Warn, &notice.text))?;
            }
            let launch = launch(session, &resolved);
            let version = version(&launch).await;
            let there = version.mark != Mark::Fail;
            print(&version)?;
            if there {
                print(&protocol(session, launch).await)?;
            }
            print(&tickets_folder(session, &resolved))?;
            print(&policy(session, &resolved))?;
        }
        Err(error) => print(&Finding::new("config", Mark::Fail, error.message))?,
    }
    print(&git(session).await)?;
    print(&state(session))?;
    print(&terminal(session))?;
    Ok(worst)
}

fn launch(session: &Session, resolved: &Resolved) -> Launch {
    let agent = &resolved.config.agent;
    let additions = Additions {
        env: agent.env.iter().map(|(key, value)| (key.into(), value.into())).collect(),
        max_retries: agent.max_retries,
        marker: format!("doctor-{}", std::process::id()),
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

async fn version(launch: &Launch) -> Finding {
    let name = "claude";
    match probe::version(launch).await {
        Err(error) => Finding::new(name, Mark::Fail, error.to_string()),
        Ok(version) => {
            let found = format!("{version}, started as `{}`", launch.command.join(" "));
            match version.fitness() {
                Fitness::Good => Finding::new(name, Mark::Ok, found),
                Fitness::Untested => Finding::new(
                    name,
                    Mark::Warn,
                    format!("{found}: older than {}, which is tested; update with `claude update`", probe::TESTED),
                ),
                Fitness::TooOld => Finding::new(
                    name,
                    Mark::Fail,
                    format!("{found}: {} or newer is needed; update with `claude update`", probe::FLOOR),
                ),
            }
        }
    }
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
                    "this folder is no repository: changes are seen, but cannot be gone back to; `git init` helps",
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
            Finding::new("tickets", mark, format!("{shown}: {} tickets, {broken} broken", listed.len()))
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
        return Finding::new("policy", Mark::Fail, format!("{error}. Mend it: programmator policy edit"));
    }
    let asks = policy.rules().any(|(_, rule)| rule.action == Verdict::Passphrase);
    let standing = session.passphrases().map(|passphrases| passphrases.standing(boot_time()));
    match standing {
        Some(Err(error)) => Finding::new("policy", Mark::Fail, error.to_string()),
        Some(Ok(Checked::Unset)) | None if asks => Finding::new(
            "policy",
            Mark::Warn,
            format!("{}; what needs a passphrase is blocked: programmator passphrase set", profile.name()),
        ),
        _ => Finding::new("policy", Mark::Ok, format!("{}; can be used", profile.name())),
    }
}

fn state(session: &Session) -> Finding {
    match session.store() {
        Ok(store) => Finding::new("state", Mark::Ok, format!("{} can be written", store.folder().display())),
        Err(error) => Finding::new("state", Mark::Fail, error.message),
    }
}

fn terminal(session: &Session) -> Finding {
    let term = session.environment.get("TERM").cloned().unwrap_or_default();
    if !std::io::stdout().is_terminal() {
        return Finding::new("terminal", Mark::Warn, "stdout is no terminal: tickets will run without a screen");
    }
    if term.is_empty() || term == "dumb" {
        return Finding::new(
            "terminal",
            Mark::Fail,
            "TERM says that this terminal cannot draw: use `programmator run`",
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
