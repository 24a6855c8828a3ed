//! stub

use super::Claim;

/// stub
pub struct Reading {
    /// x
    pub found: bool,
    /// x
    pub claim: Option<Claim>,
    /// x
    pub reason: Option<Reason>,
    /// x
    pub warnings: Vec<String>,
}

/// stub
pub struct Reason;

impl Reason {
    /// x
    pub fn word(&self) -> &'static str {
        "missing"
    }
}

/// stub
pub fn parse(_text: &str) -> Reading {
    Reading {
        found: false,
        claim: None,
        reason: None,
        warnings: vec![],
    }
}
