//! A secret from the person's terminal, without showing it; or from a pipe, when that was asked for.
//!
//! Reads the descriptor itself: a reader with a buffer would keep a copy. Does not own what the secret is for.

use crate::base::secret::Secret;
use std::io;

/// A secret could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TypedError {
    #[error("stdin is not a terminal; type the passphrase in one, or pass --stdin to read one line from the pipe")]
    NoTerminal,
    /// Ctrl-C, or the end of the input before anything was typed.
    #[error("nothing was changed")]
    Cancelled,
    /// Longer than a secret may be, or not UTF-8.
    #[error("longer than 1,024 bytes, or not UTF-8")]
    Unfit,
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
}

/// Where a secret comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The terminal, its echo switched off.
    Terminal,
    /// One line of whatever stdin is.
    Pipe,
}

/// Reads one line. `prompt` is called when nothing typed is shown any more: who reads it may type.
pub fn read(source: Source, prompt: impl FnOnce()) -> Result<Secret, TypedError> {
    use std::io::IsTerminal as _;
    let quiet = match source {
        Source::Terminal if !io::stdin().is_terminal() => return Err(TypedError::NoTerminal),
        Source::Terminal => Some(unix::Quiet::begin()?),
        Source::Pipe => None,
    };
    prompt();
    let line = unix::line(source);
    drop(quiet);
    line
}

mod unix {
    use super::{Secret, Source, TypedError};
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io;
    use zeroize::{Zeroize as _, Zeroizing};

    /// The terminal takes keys one by one and shows none, until this is dropped. Ctrl-C comes as a key, so that
    /// nothing can end us before the echo is back.
    pub(super) struct Quiet(Termios);

    impl Quiet {
        pub(super) fn begin() -> io::Result<Self> {
            let before = tcgetattr(io::stdin())?;
            let mut quiet = before.clone();
            quiet.local_modes -= LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG;
            tcsetattr(io::stdin(), OptionalActions::Flush, &quiet)?;
            Ok(Self(before))
        }
    }

    impl Drop for Quiet {
        fn drop(&mut self) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
        }
    }

    const CTRL_C: u8 = 3;
    const CTRL_D: u8 = 4;
    const CTRL_U: u8 = 21;
    const BACKSPACE: [u8; 2] = [8, 127];

    /// Bytes up to the end of the line; on a terminal, edited by the keys that people expect.
    pub(super) fn line(source: Source) -> Result<Secret, TypedError> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(1_025));
        loop {
            let mut byte = [0];
            let read = match rustix::io::read(io::stdin(), &mut byte) {
                Err(rustix::io::Errno::INTR) => continue,
                read => read.map_err(io::Error::from)?,
            };
            match (read, byte[0], source) {
                (0, ..) if bytes.is_empty() => return Err(TypedError::Cancelled),
                (0, ..) | (_, b'\n' | b'\r', _) => break,
                (_, CTRL_C, Source::Terminal) => return Err(TypedError::Cancelled),
                (_, CTRL_D, Source::Terminal) if bytes.is_empty() => return Err(TypedError::Cancelled),
                (_, CTRL_U, Source::Terminal) => bytes.clear(),
                (_, key, Source::Terminal) if BACKSPACE.contains(&key) => {
                    // One character, however many bytes it has.
                    while bytes.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                }
                _ if bytes.len() >= 1_024 => return Err(TypedError::Unfit),
                (_, key, _) => bytes.push(key),
            }
            byte.zeroize();
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| TypedError::Unfit)?;
        Ok(Secret::of(text))
    }
}
