//! The real Claude Code CLI, kept apart from everything: a dummy key, a HOME and a folder of its own,
//! a stub for the service. Reusable by every test program.
//!
//! `RealCli::new(replies)` gives the stub and the folders; [`RealCli::env`] the whole environment that
//! Claude may see. A missing CLI fails the test and says how to get it.

use super::messages_stub::{Reply, Stub};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// An isolated place for one Claude.
#[allow(dead_code)]
pub struct RealCli {
    pub stub: Stub,
    /// `HOME`.
    pub home: tempfile::TempDir,
    pub folder: tempfile::TempDir,
}

#[allow(dead_code)]
impl RealCli {
    /// A fresh place with this script.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { stub: Stub::start(replies), home: tempfile::tempdir().unwrap(), folder: tempfile::tempdir().unwrap() }
    }

    /// The whole environment.
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> =
            service(&self.stub).into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        env.push(("HOME".into(), self.home.path().into()));
        env.push(("PATH".into(), std::env::var_os("PATH").unwrap_or_default()));
        env
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

/// The variables that send Claude to `stub` and nowhere else.
#[allow(dead_code)]
pub fn service(stub: &Stub) -> Vec<(String, String)> {
    let fixed = [
        ("ANTHROPIC_API_KEY", "dummy"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        // Tests in a container run as root.
        ("IS_SANDBOX", "1"),
    ];
    let url = ("ANTHROPIC_BASE_URL".to_owned(), stub.url());
    fixed.map(|(key, value)| (key.to_owned(), value.to_owned())).into_iter().chain([url]).collect()
}

/// The CLI: `PROGRAMMATOR_TEST_CLAUDE`, else the newest that must work, where `.ci/run` installs it.
#[allow(dead_code)]
pub fn claude() -> String {
    let path = std::env::var_os("PROGRAMMATOR_TEST_CLAUDE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/2.1.330/node_modules/.bin/claude"),
        PathBuf::from,
    );
    assert!(
        path.exists(),
        "no Claude Code CLI at {}: run `npm install --prefix .tools/2.1.330 @anthropic-ai/claude-code@2.1.330`, \
         or name one in PROGRAMMATOR_TEST_CLAUDE",
        path.display()
    );
    path.to_string_lossy().into_owned()
}
