//! The nouns: what a ticket, a claim, a record of the journal and a stream record are.
//!
//! Invariants of their own, no behaviour beyond them, no I/O, no clock.

pub mod analysis;
pub mod answerer;
pub mod approval;
pub mod background;
pub mod breaker;
pub mod changes;
pub mod claim;
pub mod command;
pub mod commit;
pub mod critique;
pub mod denial;
pub mod errors;
pub mod export;
pub mod find;
pub mod finding;
pub mod limits;
pub mod merge;
pub mod messages;
pub mod news;
pub mod note;
pub mod notification;
pub mod outcome;
pub mod passphrase;
pub mod phase;
pub mod profile;
pub mod record;
pub mod request;
pub mod scrollback;
pub mod search;
pub mod session;
pub mod settings;
pub mod step;
pub mod stream;
pub mod summary;
pub mod syntax;
pub mod ticket;
pub mod tool_call;
pub mod turn;
pub mod verdict;
pub mod watchdog;
pub(crate) mod worded;
pub mod workflow;
pub mod workspace;
pub mod worktree;
