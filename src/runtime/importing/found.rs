//! What a source has.

use crate::domain::import::item::Item;
use crate::domain::import::rc::Told;

/// Tasks, and what a person should know of their source.
#[derive(Debug, Default)]
pub struct Found {
    pub items: Vec<Item>,
    /// What the keys of its tasks begin with.
    pub places: Vec<String>,
    /// The documents that were read, as references name them.
    pub documents: Vec<String>,
    /// Everything was read: what is missing is gone.
    pub is_whole: bool,
    /// Its program has more than it was asked for.
    pub has_more: bool,
    pub notes: Vec<String>,
    pub settings: Vec<Told>,
}
