//! `programmator policy edit`: the person's policy file in their editor.

use super::super::error::CliError;
use super::super::session::Session;
use crate::adapters::editor::Editor;
use crate::adapters::policy_file::{self, SaveError};
use crate::adapters::{policy_files, private_file};
use crate::base::text::clean_line;
use crate::domain::verdict::Verdict;
use std::fs;
use std::io::{ErrorKind, Write};

/// What a new file says: an example of everything, switched off.
const NEW: &str = "\
# Your rules for tool calls, in every run. They come before those of the profile (policy.profile in config.yaml);
# the first rule that matches a part of a call decides it. Try them: programmator policy check 'git push'
version: 1
rules:
#  - name: pushes-to-origin
#    action: allow                # allow, ask, require-passphrase, block
#    command: git
#    args: {prefix: [[push, origin]]}
#    reason: \"the team reviews what is pushed\"
#    examples: {match: [\"git push origin main\"], not_match: [\"git push --force\"]}
";

/// Name of a text that could not be used, next to the policy file.
const REJECTED: &str = "policy.yaml.rejected";

/// Opens a copy of the file, and puts it in the file's place when it can be used. One that cannot is kept beside it,
/// and is what the next edit begins with.
pub fn run(out: &mut dyn Write, session: &Session) -> Result<u8, CliError> {
    session.not_for_claude("not allowed inside a run: edit the policy in a shell of your own")?;
    let failed = |error: &dyn std::fmt::Display| CliError::failure(error.to_string());
    let folder = session.config_folder().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))?;
    let path = policy_file::path(&folder);
    let shown = clean_line(&path.display().to_string(), 400);
    let old = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(failed(&format!("{shown}: {error}"))),
    };
    let rejected = folder.join(REJECTED);
    let begun = private_file::read(&rejected).map_err(|error| failed(&error))?;
    let given = begun.as_deref().or(old.as_deref()).unwrap_or(NEW);
    let edited = edited(given)?;
    if begun.is_none() && edited == given {
        writeln!(out, "{shown}: nothing was changed")?;
        return Ok(0);
    }
    match policy_file::replace(&path, old.as_deref(), &edited) {
        saved @ (Ok(()) | Err(SaveError::Mode { .. })) => {
            fs::remove_file(&rejected).ok();
            if let Err(error) = saved {
                writeln!(out, "{}", clean_line(&error.to_string(), 1_000))?;
            }
        }
        Err(error) => {
            private_file::write(&rejected, &edited).map_err(|error| failed(&error))?;
            let (error, kept) =
                (clean_line(&error.to_string(), 1_000), clean_line(&rejected.display().to_string(), 400));
            writeln!(out, "{error}\n{shown} was not changed. Your text is kept in {kept}; the next edit opens it.")?;
            return Ok(Verdict::Block.exit_code());
        }
    }
    let policy = policy_files::alone(&path);
    if let Some(error) = policy.broken() {
        let error = clean_line(&error.to_string(), 1_000);
        writeln!(out, "{error}\nUntil this is fixed, every tool call is blocked.")?;
        return Ok(Verdict::Block.exit_code());
    }
    let rules = match policy.rules().count() {
        1 => "1 rule".to_owned(),
        count => format!("{count} rules"),
    };
    writeln!(out, "{shown} saved ({rules}). It applies from the next tool call on, in every run.")?;
    Ok(0)
}

/// The text as the person leaves it in their editor.
fn edited(text: &str) -> Result<String, CliError> {
    let failed =
        |error: std::io::Error| CliError::failure(format!("cannot create the temporary copy for the editor: {error}"));
    // For the owner alone, and by a name that editors know the colours of.
    let folder = tempfile::tempdir().map_err(failed)?;
    let copy = folder.path().join("policy.yaml");
    fs::write(&copy, text).map_err(failed)?;
    Editor::from_env().edit(&copy).map_err(|error| CliError::failure(format!("{error}; nothing was changed")))?;
    fs::read_to_string(&copy).map_err(failed)
}
