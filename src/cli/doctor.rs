//! `programmator doctor`: checks what programmator needs; each line says ok, warn or fail, with the fix.

use super::away;
use super::error::{CliError, for_person};
use super::hooks;
use super::host;
use super::in_force::in_force;
use super::notify;
use super::session::Session;
use crate::adapters::clock::boot_time;
use crate::adapters::disk_use::bytes_of;
use crate::adapters::room::Room;
use crate::adapters::tickets::{self, Listed};
use crate::base::amount::{counted, size};
use crate::base::text::clean_line;
use crate::config::Resolved;
use crate::domain::finding::{Finding, Mark};
use crate::domain::passphrase::Checked;
use crate::domain::ticket::Ticket;
use crate::domain::verdict::Verdict;
use crate::runtime::doctor;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// Most broken tickets that are named.
const NAMED: usize = 5;

/// Prints the findings. Gives the exit code: 1 when a check failed.
pub async fn run(out: &mut dyn Write, session: &Session) -> Result<u8, CliError> {
    let mut worst = 0;
    let mut print = |finding: &Finding| -> Result<(), CliError> {
        if finding.mark == Mark::Fail {
            worst = 1;
        }
        writeln!(
            out,
            "{}  {:9} {}",
            finding.mark.word(),
            finding.name,
            clean_line(for_person(&finding.text).as_str(), 600)
        )?;
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
            for finding in doctor::claude(&resolved.config, &session.folder, &session.clock()).await {
                print(&finding)?;
            }
            print(&tickets_folder(session, &resolved))?;
            print(&policy(session, &resolved))?;
            if let Some(channels) = notify::check(&resolved.config.notify) {
                print(&channels)?;
            }
        }
        Err(error) => print(&Finding::new("config", Mark::Fail, error.message))?,
    }
    print(&doctor::git(&session.folder).await)?;
    if let Some(finding) = doctor::identity(&session.folder).await {
        print(&finding)?;
    }
    print(&state(session, reserve))?;
    print(&terminal(session))?;
    if let Some(phone) = away::check(session).await {
        print(&phone)?;
    }
    print(&host::check(session))?;
    print(&hooks::check(session))?;
    Ok(worst)
}

fn tickets_folder(session: &Session, resolved: &Resolved) -> Finding {
    let dir = session.places(resolved).dir();
    let shown = dir.display();
    match tickets::list(&dir) {
        Ok(listed) if listed.is_empty() => Finding::new(
            "tickets",
            Mark::Warn,
            format!(
                "{shown} has no tickets: set the project up with `programmator init`, or create one with `programmator ticket new \"Title\"`"
            ),
        ),
        Ok(listed) => {
            let broken = listed.iter().filter(|one| one.ticket.as_ref().map_or(true, Ticket::is_broken));
            let name = |one: &Listed| clean_line(&one.path.file_name().unwrap_or_default().to_string_lossy(), 80);
            let broken: Vec<String> = broken.map(name).collect();
            let all = format!("{shown}: {}", counted(listed.len(), "ticket"));
            if broken.is_empty() {
                return Finding::new("tickets", Mark::Ok, all);
            }
            let more = if broken.len() > NAMED { ", …" } else { "" };
            let named = broken[..broken.len().min(NAMED)].join(", ");
            let cure = "see `programmator ticket lint`";
            Finding::new("tickets", Mark::Warn, format!("{all}, {} broken ({named}{more}): {cure}", broken.len()))
        }
        Err(error) => Finding::new(
            "tickets",
            Mark::Warn,
            format!("{shown}: {error}; create the first one with `programmator ticket new \"Title\"`"),
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
                (Ok(()), Ok(())) => {
                    Finding::new("state", Mark::Ok, format!("{}: writable; {}", folder.display(), sizes(folder)))
                }
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

/// What the state folder takes, and what of it most.
fn sizes(folder: &Path) -> String {
    let of = |name: &str| bytes_of(&folder.join(name));
    let all = size(bytes_of(folder));
    let records = size(of("programmator.db").saturating_add(of("programmator.db-wal")));
    format!("{all} used (output {}, records {records}); `programmator gc` frees space", size(of("runs")))
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
