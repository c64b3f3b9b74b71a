//! Reading no more than was announced, or than makes sense.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use crate::open_regular;

/// Up to so many bytes of a reader. What is behind them is an error, and not the end: a few bytes
/// may decompress to more than any memory or disk holds, and a file of the system may say that it
/// is empty.
#[derive(Debug)]
pub struct AtMost<R> {
    from: R,
    left: u64,
    most: u64,
}

impl<R> AtMost<R> {
    /// So many bytes of a reader.
    pub fn new(from: R, most: u64) -> AtMost<R> {
        AtMost { from, left: most, most }
    }
}

/// Reads a file whole that has no more than `most` bytes.
///
/// # Errors
/// It cannot be read, is longer, or is no file, as [`open_regular`] says.
pub fn read_at_most(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    // What says how long it is need not be read to be refused.
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_much(most));
    }
    let mut contents = Vec::with_capacity(length as usize + 1);
    AtMost::new(file, most).read_to_end(&mut contents)?;
    Ok(contents)
}

/// The same of a text.
///
/// # Errors
/// As [`read_at_most`], and it is not UTF-8.
pub fn read_text_at_most(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read_at_most(path, most)?).map_err(not_text)
}

impl<R: Read> Read for AtMost<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte more than is left shows whether there are more.
        let room = usize::try_from(self.left.saturating_add(1)).unwrap_or(usize::MAX);
        let length = buffer.len().min(room);
        let read = self.from.read(&mut buffer[..length])?;
        let left = self.left.checked_sub(read as u64);
        self.left = left.ok_or_else(|| too_much(self.most))?;
        Ok(read)
    }
}

fn too_much(most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, TooMuch { most })
}

/// There is more.
#[derive(Debug)]
struct TooMuch {
    most: u64,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1 << 20;
        match self.most % MIB {
            0 => write!(f, "it is longer than {} MiB, and no more is read", self.most / MIB),
            _ => write!(f, "it is longer than {} bytes, and no more is read", self.most),
        }
    }
}

impl Error for TooMuch {}

/// Whether reading failed because there is more than [`AtMost`] reads, whatever wrapped the error
/// since.
pub fn is_too_much(error: &io::Error) -> bool {
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
    fn a_longer_file_is_refused_whatever_it_says_of_itself() {
        let whole = std::env::current_exe().unwrap();
        let error = read_at_most(whole, 1 << 20).expect_err("it is longer");
        assert_eq!(error.to_string(), "it is longer than 1 MiB, and no more is read");
        let error = read_text_at_most("/proc/self/status", 3).expect_err("it says that it is empty");
        assert_eq!(error.to_string(), "it is longer than 3 bytes, and no more is read");
    }

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
