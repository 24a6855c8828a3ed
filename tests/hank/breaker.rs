//! Breaker recovery.
