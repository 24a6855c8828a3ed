//! What a command prints when it prints names.

use serde::Deserialize;

/// What a lister's lines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lists {
    /// Paths that begin as the operands do, so never with a dash.
    Operands,
    /// Paths that may begin with a dash.
    Anything,
    #[serde(skip)]
    Lines,
}
