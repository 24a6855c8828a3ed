//! The real program in a real terminal, on the scripted agent: what a person sees, what keys do, how it leaves.
//!
//! Claude's double works behind gates: a Bash command waits for a file, so a test decides when a turn goes on.

mod approvals;
mod bytes;
mod commits;
pub(crate) mod conflicts;
mod edits;
mod elsewhere;
mod exporting;
mod finding;
mod home;
mod hosts;
mod keys;
mod leaving;
mod looks;
mod own;
mod passphrase;
mod phases;
mod planning;
mod pointing;
mod printed;
mod restores;
mod reverts;
mod runs;
pub mod stage;
mod strain;
mod wheel;
