//! Whether the system grants the threads that the program will need, asked before any work is begun.

use super::error::CliError;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// Threads that a run needs beside those of the processors: of the store, the watches, Claude's streams, work on files.
pub(super) const WORK: usize = 16;

/// Makes sure that the system grants the threads of the processors and so many more. Without this a limit that is reached
/// would be a panic at the start, or work that waits for a thread for ever.
pub(super) fn room(more: usize) -> Result<(), CliError> {
    let wanted = more + thread::available_parallelism().map_or(1, NonZero::get);
    // They wait until all are there.
    let gate = Mutex::new(());
    let all_start = thread::scope(|scope| {
        let closed = gate.lock();
        let asked = (0..wanted).map(|_| thread::Builder::new().spawn_scoped(scope, || drop(gate.lock())));
        let asked: Vec<_> = asked.collect();
        drop(closed);
        // Until the system has taken a thread back it counts, and the ones that are needed would be too many.
        asked.into_iter().try_for_each(|thread| thread.map(|thread| drop(thread.join())))
    });
    all_start.map_err(|error| {
        CliError::failure(format!(
            "cannot create {wanted} threads ({error}): close other programs or raise the process (`ulimit -u`) or memory limit (`ulimit -v`)"
        ))
    })
}
