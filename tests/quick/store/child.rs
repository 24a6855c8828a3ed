//! Running this test binary again as another program.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

const ROLE: &str = "STORE_TEST_ROLE";
const FOLDER: &str = "STORE_TEST_FOLDER";

/// The folder to work in when this process was started for `role`; `None` in an ordinary test run.
pub fn folder_for(role: &str) -> Option<PathBuf> {
    (env::var(ROLE).ok()? == role).then(|| {
        println!(); // behind the harness's own words
        PathBuf::from(env::var_os(FOLDER).unwrap())
    })
}

/// Another program; killed when dropped.
pub struct Other {
    pub process: Child,
    lines: BufReader<ChildStdout>,
}

impl Other {
    /// Starts the test `role` (its path within this binary) in another process.
    pub fn start(role: &str, folder: &Path) -> Self {
        Self::spawn(Command::new(env::current_exe().unwrap()), role, folder)
    }

    /// The same below a shell that ignores SIGXFSZ, so that too large a file is an error and not a death.
    #[cfg(unix)]
    pub fn start_with_file_limits(role: &str, folder: &Path) -> Self {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
        shell.arg(env::current_exe().unwrap());
        Self::spawn(shell, role, folder)
    }

    fn spawn(mut command: Command, role: &str, folder: &Path) -> Self {
        let mut process = command
            .args([role, "--exact", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(FOLDER, folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Self { process, lines }
    }

    /// The rest of the next line that begins with `word`; `None` at the end of the output. A line that was
    /// cut off counts as not said.
    pub fn hear(&mut self, word: &str) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some(rest) = line.strip_prefix(word)
                && let Some(rest) = rest.strip_suffix('\n')
            {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// kill -9, and waits for the end.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
