//! The limit that reading is held against: one typed, borrowing pass of the JSON library over a line.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The least that anybody must know of a record.
#[derive(Deserialize)]
pub struct Typed<'a> {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// Its body, not decoded.
    #[serde(borrow)]
    pub message: Option<&'a RawValue>,
    /// Whose it is.
    pub parent_tool_use_id: Option<&'a str>,
}

/// Reads a line so. `true`: it is a record.
pub fn typed(line: &[u8]) -> bool {
    serde_json::from_slice::<Typed<'_>>(line)
        .is_ok_and(|record| !record.kind.is_empty() && record.message.is_some() && record.parent_tool_use_id.is_none())
}
