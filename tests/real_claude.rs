//! The real Claude Code CLI against a loopback stub.

fn main() {}
