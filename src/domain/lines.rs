//! Lines that are made for people: the same on the screen and on the command line.

use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Line {
    Heading(String),
    Text(String),
    Gap,
}
