//! Ticket files: finds, reads, lists, creates and edits them.
//!
//! What a ticket is and how its text changes is `domain::ticket`'s; this room only moves bytes, carefully:
//! never another file than the one meant, never a byte of a person's lost.

pub mod create;
pub mod disk;
pub mod find;
mod folder;
pub mod load;
mod os;
mod parts;
pub mod write;
mod writer;

pub use create::{CreateError, NewCard, NewTicket, create, create_card, id_for, reference, write_new};
pub use find::{FindError, Places, find};
pub use folder::{Carded, Listed, cards, files_in, list, list_each, stays_in};
pub use load::{LoadError, load, read};
pub use os::copy_attributes;
pub use parts::{Whole, parts, write_parts};
pub use writer::{TicketWriter, change, reopen, revise, set_status, tick};
