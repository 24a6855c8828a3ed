//! Claude's sessions: expiry, loss, reset.
