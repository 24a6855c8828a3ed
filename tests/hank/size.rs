//! Large output.
