//! A log that several processes write to, for its owner alone, and of a bounded size: what is older is kept once, beside it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Where what is older is kept.
pub fn older(log: &Path) -> PathBuf {
    log.with_extension("log.old")
}

/// Appends whole lines; once it has more than `most` bytes the log is begun anew. A line of which a full disk has left only the
/// beginning gets its end first.
pub fn append(log: &Path, lines: &str, most: u64) -> io::Result<()> {
    let open = || own(OpenOptions::new().read(true).append(true).create(true), log);
    let mut file = open()?;
    // Several may write at once: one of them renames it, once.
    if file.metadata()?.len() > most && file.try_lock().is_ok() {
        if file.metadata()?.ino() == fs::metadata(log)?.ino() {
            fs::rename(log, older(log))?;
        }
        file = open()?;
    }
    let size = file.metadata()?.len();
    let mut last = *b"\n";
    if size > 0 {
        file.read_exact_at(&mut last, size - 1)?;
    }
    let end = if last == *b"\n" { "" } else { "\n" };
    file.write_all(format!("{end}{lines}").as_bytes())
}

/// All that is there, the oldest first.
pub fn read(log: &Path) -> io::Result<Vec<u8>> {
    let bytes = |path: &Path| match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    };
    Ok([bytes(&older(log))?, bytes(log)?].concat())
}

/// Opens it for its owner alone, and behind no link.
pub fn own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let no_link = i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default();
    options.mode(0o600).custom_flags(no_link).open(path)
}
