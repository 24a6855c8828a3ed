//! What the tasks around a process are told to do.

/// For the writer.
#[derive(Debug)]
pub(super) enum Write {
    Line(String),
    Close,
}

/// For the process's group.
#[derive(Clone, Copy, Debug)]
pub(super) enum Signal {
    Terminate,
    Kill,
}
