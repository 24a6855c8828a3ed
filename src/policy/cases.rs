//! Cases to test a policy against: one JSON object a line, each a call in a made-up place and the verdict that is
//! expected of it. Home is `/home/dev`, the workspace is the case's `cwd`.

use crate::domain::verdict::Verdict;
use crate::policy::engine::Policy;
use crate::policy::place::{MadeUp, Place};
use crate::policy::verdict::Decision;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A case.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub id: String,
    pub tool: String,
    pub input: Value,
    /// The folder that it starts in, and the workspace.
    #[serde(default = "proj")]
    pub cwd: String,
    pub expect: Verdict,
    /// Verdicts that would do harm, or make the gate useless.
    #[serde(default)]
    pub never: Vec<Verdict>,
    #[serde(default)]
    pub why: String,
    #[serde(default)]
    pub fs: Files,
}

fn proj() -> String {
    "/home/dev/proj".to_owned()
}

/// What is in a made-up workspace.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Files {
    pub symlinks: BTreeMap<String, String>,
    pub files: Vec<String>,
}

impl Case {
    pub fn read(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }

    /// What a policy decides about it.
    pub fn decide(&self, policy: &Policy) -> Decision {
        let root = Path::new(&self.cwd);
        let links = self.fs.symlinks.iter().map(|(path, target)| (path.as_str(), target.as_str()));
        let view = MadeUp::new(root, links, self.fs.files.iter().map(String::as_str));
        let place = Place { workspace: root, cwd: root, home: Path::new("/home/dev"), user: "dev", view: &view };
        policy.decide(&self.tool, &self.input, &place)
    }

    /// What is wrong with a decision about it.
    pub fn miss(&self, decision: &Decision) -> Option<Miss> {
        if self.never.contains(&decision.verdict) {
            Some(Miss::Never)
        } else {
            (decision.verdict != self.expect).then_some(Miss::Other)
        }
    }
}

/// How a decision misses what is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    Other,
    /// It is one that must never be.
    Never,
}
