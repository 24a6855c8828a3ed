//! `programmator demo`: the true loop in the true screen, on a throw-away repository and a scripted agent.

use super::error::CliError;
use super::headless::{self, Questions, Work};
use super::session::Session;
use super::start;
use crate::adapters::{config_files, policy_files, private_file};
use crate::demo::repository::{self, DemoRepository, TICKET_ID};
use crate::runtime::headless::Format;
use crate::tui::command::keys_file;

/// How the demo is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// On the screen, at a pace to watch.
    Screen,
    /// In lines, as fast as it goes.
    Lines,
}

/// Factor on the pauses of the script when nobody watches.
const FAST: f64 = 0.05;

/// The rules of the demo's person: its checks may run, everything else is left to the gate's own profile.
const POLICY: &str = r#"version: 1
rules:
  - name: allow-checks
    action: allow
    command: ./test.sh
    reason: "the project's own checks"
"#;

/// Makes the repository, works through its ticket and removes everything again.
pub async fn run(mut session: Session, show: Show) -> Result<u8, CliError> {
    let demo = repository::create(&std::env::temp_dir()).map_err(|error| CliError::failure(error.to_string()))?;
    let program = std::env::current_exe()?;
    let pace = if show == Show::Screen { 1.0 } else { FAST };
    enter(&mut session, &demo, &demo.agent_command(&program, pace))?;
    let tickets = vec![TICKET_ID.to_owned()];
    match show {
        Show::Screen => {
            start::screen(
                &session,
                start::Open::Tickets(start::Named { start: tickets, show: Vec::new() }),
                super::farewell::After::Removed,
            )
            .await
        }
        Show::Lines => headless::run(&session, Work::Tickets(tickets), Format::Text, Questions::Denied).await,
    }
}

/// The demo sees nothing of the person's configuration but their themes and keys, nothing of their tickets and runs, and leaves
/// nothing in them.
fn enter(session: &mut Session, demo: &DemoRepository, agent: &[String]) -> Result<(), CliError> {
    let paths = &demo.paths;
    let config = paths.root.join("config");
    std::fs::create_dir_all(config.join("themes"))?;
    for (name, text) in session.themes() {
        std::fs::write(config.join("themes").join(format!("{name}.yaml")), text)?;
    }
    if let Some(folder) = session.config_folder()
        && let Ok(Some(keys)) = config_files::own_file(&folder, keys_file::NAME)
    {
        std::fs::write(config.join(keys_file::NAME), keys.text)?;
    }
    let command = serde_json::to_string(agent).map_err(std::io::Error::from)?;
    std::fs::write(config.join("config.yaml"), format!("agent:\n  command: {command}\n"))?;
    private_file::write(&config.join(policy_files::NAME), POLICY)
        .map_err(|error| CliError::failure(error.to_string()))?;
    session.folder.clone_from(&paths.folder);
    session.state.clone_from(&paths.state);
    session.environment.retain(|name, _| !name.starts_with("PROGRAMMATOR_") && !name.starts_with("XDG_"));
    session.environment.insert("PROGRAMMATOR_CONFIG_DIR".into(), config.display().to_string());
    session.environment.insert("TICKETS_DIR".into(), paths.tickets.display().to_string());
    Ok(())
}
