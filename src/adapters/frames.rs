//! Lines of JSON between two programs, each at most [`LONGEST`] bytes: one that is longer is an error, whoever sends it.

use crate::domain::wire::LONGEST;
use serde::Serialize;
use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};

/// The reading end.
#[derive(Debug)]
pub struct Frames<R> {
    from: R,
    /// The beginning of the line at hand.
    line: Vec<u8>,
    /// Bytes that have come so far.
    bytes: u64,
}

impl<R: AsyncBufRead + Unpin> Frames<R> {
    pub fn new(from: R) -> Self {
        Self { from, line: Vec::new(), bytes: 0 }
    }

    /// How many bytes have come so far: a long line over a slow line is heard before it is whole.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line without its newline; `None`: the other end is closed, between two lines. Cancel-safe.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let bytes = self.from.fill_buf().await?;
            if bytes.is_empty() {
                let cut =
                    || io::Error::new(io::ErrorKind::UnexpectedEof, "the connection ended in the middle of a line");
                return if self.line.is_empty() { Ok(None) } else { Err(cut()) };
            }
            let end = memchr::memchr(b'\n', bytes);
            let (more, taken) = end.map_or((bytes.len(), bytes.len()), |at| (at, at + 1));
            if self.line.len() + more > LONGEST {
                return Err(too_long(io::ErrorKind::InvalidData));
            }
            self.line.extend_from_slice(&bytes[..more]);
            self.from.consume(taken);
            self.bytes += taken as u64;
            if end.is_some() {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}

/// Writes a line, and waits until it is handed over. An error where it would be too long: nothing is written then.
pub async fn write(to: &mut (impl AsyncWrite + Unpin), what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    if line.len() > LONGEST {
        return Err(too_long(io::ErrorKind::InvalidInput));
    }
    line.push(b'\n');
    to.write_all(&line).await?;
    to.flush().await
}

fn too_long(kind: io::ErrorKind) -> io::Error {
    io::Error::new(kind, format!("a line is longer than {} KiB", LONGEST >> 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::BufReader;

    async fn read(bytes: &[u8], buffer: usize) -> (Vec<Vec<u8>>, io::Result<()>) {
        let mut frames = Frames::new(BufReader::with_capacity(buffer, bytes));
        let mut lines = Vec::new();
        loop {
            match frames.next().await {
                Ok(Some(line)) => lines.push(line),
                Ok(None) => return (lines, Ok(())),
                Err(error) => return (lines, Err(error)),
            }
        }
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_are_cut_and_a_half_one_is_an_error() {
        for buffer in [1, 2, 3, 64] {
            let (lines, end) = read(b"one\n\ntwo\n", buffer).await;
            assert_eq!((lines, end.is_ok()), (vec![b"one".to_vec(), vec![], b"two".to_vec()], true));
            let (lines, end) = read(b"one\ntw", buffer).await;
            assert_eq!((lines.len(), end.unwrap_err().kind()), (1, io::ErrorKind::UnexpectedEof));
        }
    }

    #[tokio::test]
    async fn what_is_too_long_is_neither_read_nor_written() {
        let fits = "x".repeat(LONGEST - 2);
        let mut written = Vec::new();
        write(&mut written, &fits).await.unwrap();
        assert_eq!(read(&written, 8 << 10).await.0, [serde_json::to_vec(&fits).unwrap()]);
        let mut none = Vec::new();
        assert_eq!(write(&mut none, &(fits + "x")).await.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert!(none.is_empty());
        // Without an end, too: it is not kept until one comes.
        let (lines, end) = read(&vec![b'x'; LONGEST + 1], 8 << 10).await;
        assert_eq!((lines.len(), end.unwrap_err().kind()), (0, io::ErrorKind::InvalidData));
    }

    #[tokio::test]
    async fn who_stops_waiting_loses_nothing() {
        let (mut said, heard) = tokio::io::duplex(64);
        let mut frames = Frames::new(BufReader::new(heard));
        said.write_all(b"ha").await.unwrap();
        tokio::select! {
            biased;
            _ = frames.next() => panic!("it is no whole line"),
            () = tokio::task::yield_now() => {}
        }
        said.write_all(b"lf\n").await.unwrap();
        assert_eq!(frames.next().await.unwrap().unwrap(), b"half");
    }
}
