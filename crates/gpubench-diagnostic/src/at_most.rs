//! Reading with a size limit.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use crate::open_regular;

/// A reader with a size limit. More bytes than the limit are an error instead of the end of the
/// input. A few compressed bytes may expand to more than memory or disk can hold, and a system file
/// may report a length of zero.
#[derive(Debug)]
pub struct AtMost<R> {
    from: R,
    left: u64,
    most: u64,
}

impl<R> AtMost<R> {
    /// Limits a reader to `most` bytes.
    pub fn new(from: R, most: u64) -> AtMost<R> {
        AtMost { from, left: most, most }
    }
}

/// Reads a whole file of at most `most` bytes.
///
/// # Errors
/// The file cannot be read, is longer, or is not a regular file (see [`open_regular`]).
pub fn read_at_most(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    // Rejects a file by its reported length without reading it.
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_much(most));
    }
    let mut contents = Vec::with_capacity(length as usize + 1);
    AtMost::new(file, most).read_to_end(&mut contents)?;
    Ok(contents)
}

/// Reads a whole text file of at most `most` bytes.
///
/// # Errors
/// The same as for [`read_at_most`], or the file is not UTF-8.
pub fn read_text_at_most(path: impl AsRef<Path>, most: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read_at_most(path, most)?).map_err(not_text)
}

impl<R: Read> Read for AtMost<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Reading one byte beyond the limit shows whether there are more.
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

/// The input exceeds the limit.
#[derive(Debug)]
struct TooMuch {
    most: u64,
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: u64 = 1 << 20;
        match self.most % MIB {
            0 => write!(f, "it is longer than {} MiB", self.most / MIB),
            _ => write!(f, "it is longer than {} bytes", self.most),
        }
    }
}

impl Error for TooMuch {}

/// Whether reading failed because the input exceeds the limit of [`AtMost`], even if the error was
/// wrapped.
pub fn is_too_much(error: &io::Error) -> bool {
    let mut inner: Option<&(dyn Error + 'static)> = error.get_ref().map(|inner| inner as _);
    while let Some(error) = inner {
        if error.is::<TooMuch>() {
            return true;
        }
        // `io::Error::source` skips the wrapped error itself.
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
    fn a_longer_file_is_rejected_even_if_it_reports_no_length() {
        let whole = std::env::current_exe().unwrap();
        let error = read_at_most(whole, 1 << 20).expect_err("it is longer");
        assert_eq!(error.to_string(), "it is longer than 1 MiB");
        let error = read_text_at_most("/proc/self/status", 3).expect_err("it reports a length of zero");
        assert_eq!(error.to_string(), "it is longer than 3 bytes");
    }

    #[test]
    fn input_up_to_the_limit_is_read_and_one_byte_more_is_rejected() {
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
