//! How much of the stream is shown.

/// How much is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fold {
    /// Results by their size, thoughts and edits by their first lines, subagents in one line.
    #[default]
    Brief,
    Full,
}

impl Fold {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Brief => Self::Full,
            Self::Full => Self::Brief,
        }
    }

    pub(super) fn cap(self, brief: usize) -> usize {
        match self {
            Self::Brief => brief,
            Self::Full => 5_000,
        }
    }
}
