//! `programmator policy import`: Clanker's rules become the person's policy file, and its passphrase theirs. What is
//! there already stays.

use super::super::error::CliError;
use super::super::session::Session;
use crate::adapters::clock::boot_time;
use crate::adapters::passphrase::PassphraseError;
use crate::adapters::policy_file;
use crate::base::text::clean_line;
use crate::domain::passphrase::Checked;
use crate::policy::import::{self, Imported};
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

/// Largest file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// Prints the rules as ours, with remarks, and saves them where there are none yet. Exit code 1 when something of it
/// was not taken over.
pub fn run(out: &mut dyn Write, session: &Session, file: &Path, only_print: bool) -> Result<u8, CliError> {
    let shown = clean_line(&file.display().to_string(), 400);
    let imported = import::clanker(&text(file)?).map_err(|why| CliError::bad_input(format!("{shown}: {why}")))?;
    if !only_print {
        session.not_for_claude("not allowed inside a run: import in a shell of your own")?;
    }
    let mut remarks = imported.remarks.clone();
    let refused = if only_print {
        if imported.sha256.is_some() {
            remarks.push("its passphrase is imported only without --print".to_owned());
        }
        None
    } else {
        let folder = session.config_folder().ok_or_else(|| CliError::failure("there is no config folder: set HOME"))?;
        let path =
            policy_file::create(&folder, &imported.yaml).map_err(|error| CliError::failure(error.to_string()))?;
        remarks.push(format!("saved as {}", path.display()));
        passphrase(session, &imported, &mut remarks)?
    };
    for remark in &remarks {
        writeln!(out, "# {}", clean_line(remark, 400))?;
    }
    write!(out, "{}", imported.yaml)?;
    match refused {
        None => Ok(0),
        Some(why) => Err(CliError::failure(format!("the rules were imported, the passphrase was not: {why}"))),
    }
}

/// Takes its passphrase over; says why not.
fn passphrase(session: &Session, imported: &Imported, remarks: &mut Vec<String>) -> Result<Option<String>, CliError> {
    let (Some(hash), Some(passphrases)) = (&imported.sha256, session.passphrases()) else { return Ok(None) };
    let failed = |error: PassphraseError| CliError::failure(error.to_string());
    if passphrases.standing(boot_time()).map_err(failed)? != Checked::Unset {
        return Ok(Some("one is already set and was kept".to_owned()));
    }
    match passphrases.import_sha256(hash) {
        Ok(()) => {
            remarks.push("its passphrase was imported; it stays the same".to_owned());
            Ok(None)
        }
        Err(error @ (PassphraseError::Published | PassphraseError::NotSha256)) => {
            Ok(Some(format!("{error}: programmator passphrase set")))
        }
        Err(error) => Err(failed(error)),
    }
}

fn text(file: &Path) -> Result<String, CliError> {
    let failed = |why: String| CliError::bad_input(format!("{}: {why}", file.display()));
    let mut text = String::new();
    let opened = File::open(file).map_err(|error| failed(error.to_string()))?;
    opened.take(MAX_FILE + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if text.len() as u64 > MAX_FILE { Err(failed(format!("larger than {MAX_FILE} bytes"))) } else { Ok(text) }
}
