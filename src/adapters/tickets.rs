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
pub mod write;
mod writer;

pub use create::{CreateError, NewTicket, create, id_for, write_new};
pub use find::{FindError, Places, find};
pub use folder::{Listed, files_in, list, list_each};
pub use load::{LoadError, load, read};
pub use os::copy_attributes;
pub use writer::{TicketWriter, reopen, revise, set_status, tick};
