//! `programmator policy edit`: the person's policy file in their editor.

use super::super::error::CliError;
use super::super::session::Session;
use crate::adapters::agent::launch::MARKER;
use crate::adapters::editor::Editor;
use crate::adapters::{policy_file, policy_files, private_file};
use crate::base::text::clean_line;
use crate::policy::verdict::Verdict;
use std::io::Write;

/// Exit code of a command that Claude may not give: `EX_NOPERM` of sysexits.
const NOT_FOR_CLAUDE: u8 = 77;

/// What a new file says: an example of everything, switched off.
const NEW: &str = "\
# Your rules for the calls of every run. They stand before those of the profile (policy.profile in config.yaml);
# the first that is about a part of a call decides it. Try them: programmator policy check 'git push'
version: 1
rules:
#  - name: pushes-to-origin
#    action: allow                # allow, ask, require-passphrase, block
#    command: git
#    args: {prefix: [[push, origin]]}
#    reason: \"the team reviews what is pushed\"
#    examples: {match: [\"git push origin main\"], not_match: [\"git push --force\"]}
";

/// Opens the file, made where there is none, and judges it afterwards.
pub fn run(out: &mut dyn Write, session: &Session) -> Result<u8, CliError> {
    if session.environment.contains_key(MARKER) {
        let message = "a run of programmator may not change what guards it; edit the policy in a shell of your own";
        return Err(CliError { message: message.into(), exit_code: NOT_FOR_CLAUDE });
    }
    let folder = session.config_folder().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))?;
    let path = policy_file::path(&folder);
    if !path.exists() {
        private_file::write(&path, NEW).map_err(|error| CliError::failure(error.to_string()))?;
    }
    let mut command = Editor::from_env().command(&path);
    let program = clean_line(&command.get_program().to_string_lossy(), 200);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(CliError::failure(format!("{program} ended with {status}"))),
        Err(error) => {
            return Err(CliError::failure(format!("{program} could not be started: {error}; set $EDITOR")));
        }
    }
    let policy = policy_files::alone(&path);
    let path = clean_line(&path.display().to_string(), 400);
    if let Some(error) = policy.broken() {
        let error = clean_line(&error.to_string(), 1_000);
        writeln!(out, "{error}\nUntil this is mended, every call of every run is blocked.")?;
        return Ok(Verdict::Block.exit_code());
    }
    let count = policy.rules().count();
    writeln!(out, "{path} can be used ({count} rules). Runs that are open keep the rules they began with.")?;
    Ok(0)
}
