//! Calls and tokens per hour.
