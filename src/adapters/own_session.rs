//! A program in a session of its own: without a terminal to ask on, and not ended with ours.
//!
//! It is this program, started with another word, that makes the session and then becomes the other one.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;
use tokio::process::Command;

/// The word that our program is started with. Not for people.
pub const WORD: &str = "own-session";

static OURSELVES: OnceLock<PathBuf> = OnceLock::new();

/// This program knows the [`WORD`]. Without this, programs get only a process group of their own.
pub fn offer() {
    // Also after its file was replaced by a newer one.
    let linux = PathBuf::from("/proc/self/exe");
    let path = if linux.exists() { Some(linux) } else { std::env::current_exe().ok() };
    path.map(|path| OURSELVES.set(path));
}

/// `program` in a session of its own, as the leader of its process group; arguments may follow.
pub fn command(program: &str) -> Command {
    let Some(ourselves) = OURSELVES.get() else {
        let mut command = Command::new(program);
        command.process_group(0);
        return command;
    };
    let mut command = Command::new(ourselves);
    command.args([WORD, program]);
    command
}

/// Makes the session and becomes the program: `words` are those behind the [`WORD`].
pub fn main(words: &[OsString]) -> ExitCode {
    let [program, args @ ..] = words else { return ExitCode::FAILURE };
    // Refused only to the leader of a process group, which has its own already.
    let _ = rustix::process::setsid();
    let error = std::process::Command::new(program).args(args).exec();
    let _ = writeln!(std::io::stderr(), "{}: {error}", program.to_string_lossy());
    ExitCode::from(127)
}
