//! What users of Hank rely on, area by area: a named row for each behaviour, in our own words.

mod breaker;
mod compound;
mod exit;
mod flags;
mod output;
mod rate_limit;
mod session;
mod size;
