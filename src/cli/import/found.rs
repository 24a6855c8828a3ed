//! What a source has.

use crate::domain::import::item::Item;
use crate::domain::import::rc::Told;

/// Tasks, and what a person should know of their source.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) items: Vec<Item>,
    /// What the keys of its tasks begin with.
    pub(super) places: Vec<String>,
    /// Everything was read: what is missing is gone.
    pub(super) is_whole: bool,
    /// Its program has more than it was asked for.
    pub(super) has_more: bool,
    pub(super) notes: Vec<String>,
    pub(super) settings: Vec<Told>,
}
