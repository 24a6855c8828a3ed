//! Something that reached the process.

/// Something that reached the process.
#[derive(Debug)]
pub enum Event {
    Line(Vec<u8>),
    Closed,
    Interrupted,
    ToolEnded(Ended),
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// The tool call it belongs to.
    pub call: String,
    /// The exit code, 128 + n for signal n.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}
