//! Exit detection.
