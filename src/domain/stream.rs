//! Claude's stream records, read from their JSON lines: leniently (unknown types, missing fields, string
//! or object), in two stages (a borrowed envelope, bodies only when they are needed).

pub mod api_error;
pub mod background;
pub mod control;
pub mod envelope;
pub mod live;
pub mod message;
pub mod rate_limit;
pub mod raw;
pub mod repair;
pub mod show;
pub mod system;
pub mod transcript;
pub mod turn;
