//! The command line and which layer wins.
