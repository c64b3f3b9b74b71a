//! Reading no more than was announced.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};

/// Up to so many bytes of a reader. What is behind them is an error, and not the end: a few bytes may decompress to more than any memory or disk holds.
#[derive(Debug)]
pub(super) struct AtMost<R> {
    from: R,
    left: u64,
}

impl<R> AtMost<R> {
    pub(super) fn new(from: R, most: u64) -> AtMost<R> {
        AtMost { from, left: most }
    }
}

impl<R: Read> Read for AtMost<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more than is left shows whether there are more.
        let room = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX);
        let length = buffer.len().min(room);
        let read = self.from.read(&mut buffer[..length])?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other(TooMuch))?;
        Ok(read)
    }
}

/// There is more than was announced.
#[derive(Debug)]
struct TooMuch;

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is more than was announced")
    }
}

impl Error for TooMuch {}

/// Whether reading failed because there is more than [`AtMost`] reads, whatever wrapped the error since.
pub(super) fn is_too_much(error: &io::Error) -> bool {
    let mut inner: Option<&(dyn Error + 'static)> = error.get_ref().map(|inner| inner as _);
    while let Some(error) = inner {
        if error.is::<TooMuch>() {
            return true;
        }
        // An `io::Error` passes over what it wraps when it is asked for its source.
        inner = match error.downcast_ref::<io::Error>() {
            Some(wrapped) => wrapped.get_ref().map(|inner| inner as _),
            None => error.source(),
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_announced_is_read_and_one_byte_more_is_refused() {
        let read = |most| {
            let mut text = Vec::new();
            AtMost::new(&b"twelve bytes"[..], most)
                .read_to_end(&mut text)
                .map(|_| text)
        };
        assert_eq!(read(12).expect("all of it"), b"twelve bytes");
        assert_eq!(read(u64::MAX).expect("all of it"), b"twelve bytes");
        assert!(is_too_much(&read(11).expect_err("one is too many")));
        assert!(!is_too_much(&io::Error::other("something else")));
        let wrapped = io::Error::other(read(0).expect_err("twelve are too many"));
        assert!(is_too_much(&wrapped));
    }
}
