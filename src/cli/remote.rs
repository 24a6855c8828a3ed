//! `--on HOST`: a run on another machine, seen and answered here, and commands that are run there.

pub mod requests;
pub mod shown;

use self::requests::Requests;
use super::error::CliError;
use super::park;
use super::session::Session;
use super::start::dress::dressed;
use super::terminal_host::{Behind, TerminalHost};
use super::unsent;
use crate::adapters::copy_folder::CopyFolder;
use crate::adapters::other_machine::{Machine, MayAsk, OtherMachine};
use crate::adapters::store::Store;
use crate::base::text::{Clean, clean_line};
use crate::config::hosts::HostConfig;
use crate::domain::approval::Presence;
use crate::domain::messages::reason_words;
use crate::domain::wire::{Ask, Tell};
use crate::runtime::mirror::Mirror;
use crate::runtime::mirror::copy::Copy;
use crate::runtime::reporter::Reporter;
use crate::runtime::shutdown::Signals;
use crate::tui::panes::stream;
use crate::tui::screen_loop;
use crate::tui::terminal::Screen;
use crate::tui::theme::surface::Surface;
use crate::tui::ui::Ui;
use crate::tui::unsent::Unsent;
use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write, stderr};
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The commands that can be run on another machine.
pub const COMMANDS: [&str; 3] = ["run", "status", "queue"];

/// What the person can say before a connection takes it: more is refused at once.
const WANTED: usize = 16;
/// How long a connection may take before the person hears what is waited for.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Shows the run of this name on the other machine, or the latest that is at work there. Gives the exit code.
pub async fn attach(session: &Session, name: &str, run: Option<&str>) -> Result<u8, CliError> {
    let machine = machine(name, &configured(session, name)?);
    let failed = |why: String| failed(name, &why);
    let mut other = connect(&machine).await.map_err(failed)?;
    let asked = other.ask(Ask::Find { name: run.map(str::to_owned) }).await.map_err(|why| failed(why.words()))?;
    let found = loop {
        let told = other.told().await.map_err(failed)?;
        match told.tell {
            Tell::Run(found) if told.id == asked => break *found,
            Tell::Refused(why) | Tell::Unanswered(why) if told.id == asked => {
                // What is told there names commands that are typed there.
                return Err(CliError::failure(format!(
                    "On {name}: {}\nFrom here: `programmator status --on {name}` lists its runs.",
                    clean_line(&why, 600)
                )));
            }
            _ => {}
        }
    };
    let folder = CopyFolder::new(&session.state, name).map_err(|error| {
        CliError::failure(format!("the folder for a copy of the run could not be created: {error}"))
    })?;
    let store = Store::open(folder.path())?;
    let reporter = Reporter::new(store.clone());
    let copy = Copy::new(store, reporter.clone(), found).map_err(failed)?;

    let resolved = session.resolve(&session.folder)?;
    let mut model = dressed(session, &resolved, Surface::of(&session.environment))?;
    model.host = Some(name.to_owned());
    model.unsent = Unsent::new(unsent::read(&session.unsent_folder(Some(name))));
    let at = model.open_tab(&copy.ticket());
    model.show_tab(at);
    model.focus = stream::NAME;
    let (wanted, wants) = mpsc::channel(WANTED);
    let (connection, told) = mpsc::unbounded_channel();
    let requests = Requests { name: name.to_owned(), wanted };
    let clock = session.clock();
    let told_to = reporter.subscribe(Presence::Nobody);
    let mut host = TerminalHost::new(Behind::Remote(requests), told_to, clock.clone(), session.config_folder());
    host.notify = resolved.config.notify.clone();
    host.arrangement = Some(session.arrangement_file());
    host.unsent = Some(session.unsent_folder(Some(name)));
    host.connection = told;
    let mut signals = Signals::listen()?;
    let mut screen = Screen::open().map_err(|error| CliError::failure(error.to_string()))?;
    let mirror = Mirror { machine, copy, wanted: wants, connection, unanswered: BTreeMap::new() };
    // It ends with the screen, and its command with it.
    let mut following = JoinSet::new();
    following.spawn(mirror.follow(other));
    let shown = async {
        tokio::select! {
            signal = signals.next() => Ok(signal.exit_code()),
            shown = screen_loop::run(&mut screen, &mut model, &*clock, CancellationToken::new(), &mut host) => {
                shown.map(|()| 0).map_err(|error| CliError::failure(error.to_string()))
            }
        }
    };
    let shown = tokio::task::block_in_place(|| park::block_on(shown));
    screen_loop::keep_all_unsent(&mut model, &mut host);
    drop(screen);
    following.shutdown().await;
    if shown.is_ok() {
        farewell(&model, name);
    }
    shown
}

/// Starts the command, which may ask for a password where somebody can type one, and says what is waited for.
async fn connect(machine: &Machine) -> Result<OtherMachine, String> {
    let may_ask = if std::io::stdin().is_terminal() { MayAsk::Yes } else { MayAsk::No };
    let connecting = OtherMachine::connect(machine, may_ask);
    tokio::pin!(connecting);
    tokio::select! {
        connected = &mut connecting => return connected,
        () = sleep(AT_ONCE) => {}
    }
    // Nobody may be reading.
    let _ = writeln!(stderr(), "waiting for programmator on {} …", machine.name);
    connecting.await
}

/// What has become of the run, as far as it is known here.
fn farewell(model: &Ui, name: &str) {
    for tab in &model.tabs {
        let how = match &tab.state.ended {
            Some(ended) => format!("{} on {name}", reason_words(ended.reason)),
            None => format!("still running on {name}; `programmator attach --on {name} {}` shows it", tab.id),
        };
        // Nobody may be reading any more.
        let _ = writeln!(std::io::stdout(), "{}  {how}", tab.id);
    }
}

/// Runs this program with the words that were typed here on the other machine, and prints what it prints. Gives its exit code.
pub async fn command(
    out: &mut dyn Write,
    session: &Session,
    name: &str,
    directory: Option<&Path>,
) -> Result<u8, CliError> {
    let host = configured(session, name)?;
    let failed = |why: String| failed(name, &why);
    let directory = match directory {
        Some(folder) => Some(folder.to_str().ok_or_else(|| CliError::usage("-C: the name is not UTF-8"))?.to_owned()),
        None => host.directory.clone(),
    };
    let typed = std::env::args_os().skip(1).map(|word| word.into_string().ok()).collect::<Option<Vec<_>>>();
    let words = there(&typed.ok_or_else(|| CliError::usage("an argument is not UTF-8"))?);
    // What is told there names commands that are typed there.
    let lost = lost(name, &words);
    let is_told = !words.iter().any(|word| word == "--json");
    let shows = words.first().is_some_and(|word| word == "run" || word == "queue");
    let mut other = connect(&machine(name, &host)).await.map_err(failed)?;
    let asked = other.ask(Ask::Run { directory, words }).await.map_err(|why| failed(why.words()))?;
    if is_told {
        writeln!(out, "On {name}:")?;
    }
    loop {
        let told = other.told().await.map_err(|why| failed(format!("{why}{lost}")))?;
        match told.tell {
            _ if told.id != asked => {}
            Tell::Line { text, is_error, goes_on } => {
                let (text, end) = (Clean::new(&text), if goes_on { "" } else { "\n" });
                if is_error {
                    // Nobody may be reading.
                    let _ = write!(stderr(), "{}{end}", text.as_str());
                } else {
                    write!(out, "{}{end}", text.as_str())?;
                }
            }
            Tell::Ended(0) if is_told && shows => {
                writeln!(out, "From here: watch, answer or stop it with `programmator attach --on {name}`.")?;
                return Ok(0);
            }
            Tell::Ended(code) => return Ok(code),
            Tell::Refused(why) | Tell::Unanswered(why) => return Err(failed(why)),
            _ => {}
        }
    }
}

/// What is said of a connection that is lost once these words were passed on: a run may be at work there all the same.
fn lost(name: &str, words: &[String]) -> String {
    if words.first().is_none_or(|word| word != "run") || words.iter().any(|word| word == "--dry-run") {
        return String::new();
    }
    format!(
        "; the run had already been sent, and may have started: check `programmator status --on {name}`. Repeating the command does not start it twice"
    )
}

/// What was typed here, as it is typed there: without the machine and the folder, and runs in the background.
fn there(typed: &[String]) -> Vec<String> {
    let end = typed.iter().position(|word| word == "--").unwrap_or(typed.len());
    let (options, tickets) = typed.split_at(end);
    let (mut words, mut is_value) = (Vec::new(), false);
    for word in options {
        if std::mem::take(&mut is_value) {
            continue;
        }
        match word.as_str() {
            "--on" | "-C" | "--directory" => is_value = true,
            own if own.starts_with("--on=") || own.starts_with("-C") || own.starts_with("--directory=") => {}
            word => words.push(word.to_owned()),
        }
    }
    if words.first().is_some_and(|word| word == "run") && !words.iter().any(|word| word == "--detach") {
        words.insert(1, "--detach".to_owned());
    }
    words.extend_from_slice(tickets);
    words
}

fn configured(session: &Session, name: &str) -> Result<HostConfig, CliError> {
    let mut hosts = session.resolve(&session.folder)?.config.hosts;
    hosts.remove(name).ok_or_else(|| {
        let known = hosts.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let shown = clean_line(name, 40);
        CliError::usage(if known.is_empty() {
            format!(
                "no machine is configured: add `hosts: {{{shown}: {{command: [ssh, {shown}, programmator, serve, --stdio]}}}}` to your own config.yaml"
            )
        } else {
            format!("no machine `{shown}` is configured; known: {known}")
        })
    })
}

fn machine(name: &str, host: &HostConfig) -> Machine {
    Machine { name: name.to_owned(), command: host.command.clone() }
}

fn failed(name: &str, why: &str) -> CliError {
    CliError::failure(format!("{name}: {}", clean_line(why, 600)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_is_lost_with_a_run_on_it_says_what_is_not_known() {
        let of = |words: &str| lost("build", &words.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert!(of("run --detach tk-1").contains("may have started: check `programmator status --on build`"));
        assert_eq!((of("status --json"), of("run --dry-run tk-1")), (String::new(), String::new()));
    }

    #[test]
    fn what_was_typed_here_is_typed_there_without_the_machine_and_the_folder() {
        let typed = |words: &str| there(&words.split(' ').map(str::to_owned).collect::<Vec<_>>()).join(" ");
        assert_eq!(typed("run --on build tk-1 -n 3"), "run --detach tk-1 -n 3");
        assert_eq!(typed("-C /w run --on=build --detach tk-1"), "run --detach tk-1");
        assert_eq!(typed("--directory=/w run -C/w --on build -- --on"), "run --detach -- --on");
        assert_eq!(typed("status --on build --json --directory /w"), "status --json");
        assert_eq!(typed("queue ab12 --on build"), "queue ab12");
    }
}
