//! Compound commands and denials.
