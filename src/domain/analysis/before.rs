//! What the outputs before the present one were.

/// What an output is compared with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before<'a> {
    /// Error lines of the outputs before, newest last.
    pub errors: &'a [Vec<String>],
    /// Length of the output before in bytes; `None`: there is none.
    pub length: Option<u64>,
    pub files_changed: usize,
}
