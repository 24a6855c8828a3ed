//! programmator's own log: what went wrong inside, for those who look into it. Facts about runs are in the store.
//!
//! `programmator.log` in the state folder, readable by the person only; at 10 MB it becomes `programmator.log.1`.
//! `PROGRAMMATOR_LOG` chooses what is written (`warn`, `debug`, `programmator::runtime=trace`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Mutex;
use tracing_subscriber::EnvFilter;

/// Size in bytes from which the log is begun anew.
const MAX: u64 = 10 << 20;

/// Begins to log. A log that cannot be written is not worth stopping for: the program works without.
pub fn start(state: &Path) {
    // The folder is made by the store, which checks whose it is; without one there is nothing to tell yet.
    if !state.is_dir() {
        return;
    }
    let Ok(file) = open(&state.join("programmator.log")) else { return };
    let filter = EnvFilter::try_from_env("PROGRAMMATOR_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    // Nothing is said of a log that cannot be written: stderr is the screen.
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .log_internal_errors(false)
        .with_writer(Mutex::new(file))
        .finish();
    let _ = tracing::subscriber::set_global_default(subscriber);
}

fn open(path: &Path) -> io::Result<File> {
    if fs::symlink_metadata(path).is_ok_and(|data| data.len() > MAX) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
