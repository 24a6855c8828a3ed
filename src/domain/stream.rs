//! Claude's stream records, read from their JSON lines: leniently (unknown types, missing fields, string
//! or object), in two stages (a borrowed envelope, bodies only when they are needed).

pub mod envelope;
pub mod repair;
pub mod show;
