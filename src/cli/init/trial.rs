//! Runs each chosen command once, so that the first claim does not fail for what never worked.

use crate::adapters::environment;
use crate::adapters::room::Room;
use crate::adapters::shell;
use crate::adapters::validate::{self, Place};
use crate::base::text::{Clean, tail};
use crate::base::time::short;
use crate::cli::error::CliError;
use crate::config::Config;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Bytes of a failed command's output that are shown.
const SHOWN: usize = 600;
/// Exit code of what is interrupted.
const INTERRUPTED: u8 = 130;

/// Runs the commands in the folder, one after the other, and says how each ended. Those that passed; an error: interrupted.
pub(super) async fn run(
    out: &mut dyn Write,
    folder: &Path,
    config: &Config,
    commands: &[String],
) -> Result<Vec<String>, CliError> {
    let logs = tempfile::tempdir()?;
    let own = config.agent.variables();
    let mut env = environment::of_commands(&std::env::vars_os().collect(), &own);
    environment::set_scratch(&mut env, logs.path());
    let place = Place {
        folder,
        timeout: Duration::from_secs(config.settings.validation_timeout),
        log_dir: logs.path(),
        output: config.storage.validation_output,
        room: Room { folder: logs.path().to_owned(), reserve: config.storage.reserve },
        env: &env,
        shell: &shell::find(&own, folder),
    };
    let mut passed = Vec::new();
    for (n, command) in (1..).zip(commands) {
        writeln!(out, "running  {}", Clean::new(command))?;
        let ran = tokio::select! {
            ran = validate::run(n, std::slice::from_ref(command), &place) => ran,
            _ = tokio::signal::ctrl_c() => return Err(CliError::new(INTERRUPTED, "interrupted; nothing was changed")),
        };
        for one in ran {
            let took = short(Duration::from_millis(one.ms));
            if one.passed() {
                writeln!(out, "passed   in {took}")?;
                passed.push(command.clone());
            } else {
                writeln!(out, "failed   after {took}\n{}", Clean::new(tail(&one.tail, SHOWN)))?;
            }
        }
    }
    Ok(passed)
}
