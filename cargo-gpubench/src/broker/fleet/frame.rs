//! Frames between the head of a run and its agents: a kind, a length, that many bytes and the end
//! of a line. `srun` passes on what a task writes line by line.

use std::io::{self, BufRead, Read, Write};

/// What an agent writes before its first frame. What comes before it is of the command that
/// started the agent, such as the banner of a login.
pub(super) const MARK: &[u8] = b"\x1egpubench-agent\n";

/// The most bytes before the mark.
const LONGEST_BANNER: usize = 64 << 10;

/// The most bytes of a frame.
const LONGEST: u32 = 64 << 20;

/// Bytes of a file in one frame.
pub(super) const PIECE: usize = 256 << 10;

/// A frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A message, as JSON.
    Message(Vec<u8>),
    /// A piece of a file.
    Piece(Vec<u8>),
}

/// The bytes are no frames.
#[derive(Debug, thiserror::Error)]
pub(super) enum FrameError {
    /// They cannot be read.
    #[error("its output cannot be read")]
    Unread(#[source] io::Error),
    /// They end inside a frame.
    #[error("its output ends in the middle of a frame")]
    Cut,
    /// There is no such kind of frame.
    #[error("its output is no frame: it begins with the byte {0:#04x}")]
    Kind(u8),
    /// A frame is longer than it says.
    #[error("a frame does not end where it should")]
    Unended,
    /// A frame is too long.
    #[error("a frame has {0} bytes, and the most are {LONGEST}")]
    Long(u32),
    /// The agent did not begin.
    #[error("no agent began within the first {LONGEST_BANNER} bytes of its output")]
    NoMark,
}

impl Frame {
    const MESSAGE: u8 = b'M';
    const PIECE: u8 = b'P';

    /// Writes the frame.
    ///
    /// # Errors
    /// It cannot be written, or it is too long.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let (kind, bytes) = match self {
            Frame::Message(bytes) => (Frame::MESSAGE, bytes),
            Frame::Piece(bytes) => (Frame::PIECE, bytes),
        };
        let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LONGEST);
        let length = length.ok_or_else(|| io::Error::other("a frame is too long"))?;
        to.write_all(&[&[kind], &length.to_le_bytes()[..], bytes, b"\n"].concat())?;
        to.flush()
    }

    /// Reads the next frame. `None` at the end.
    ///
    /// # Errors
    /// The bytes are no frame.
    pub(super) fn read(from: &mut impl Read) -> Result<Option<Frame>, FrameError> {
        let mut kind = [0];
        if read_some(from, &mut kind)? == 0 {
            return Ok(None);
        }
        if ![Frame::MESSAGE, Frame::PIECE].contains(&kind[0]) {
            return Err(FrameError::Kind(kind[0]));
        }
        let mut length = [0; 4];
        if read_some(from, &mut length)? < length.len() {
            return Err(FrameError::Cut);
        }
        let length = u32::from_le_bytes(length);
        if length > LONGEST {
            return Err(FrameError::Long(length));
        }
        // A length alone takes no memory.
        let mut bytes = Vec::new();
        let read = from.take(u64::from(length)).read_to_end(&mut bytes);
        if read.map_err(FrameError::Unread)? < length as usize {
            return Err(FrameError::Cut);
        }
        let mut end = [0];
        if read_some(from, &mut end)? == 0 {
            return Err(FrameError::Cut);
        }
        if end != *b"\n" {
            return Err(FrameError::Unended);
        }
        Ok(Some(match kind[0] {
            Frame::PIECE => Frame::Piece(bytes),
            _ => Frame::Message(bytes),
        }))
    }
}

/// Fills the bytes as far as there are some. Returns how many.
fn read_some(from: &mut impl Read, bytes: &mut [u8]) -> Result<usize, FrameError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameError::Unread(error)),
        }
    }
    Ok(filled)
}

/// Reads everything up to the mark, and returns it without the mark. `None` if it never comes: all
/// of the output is then a text.
///
/// # Errors
/// There is too much of it.
pub(super) fn banner(from: &mut impl BufRead, text: &mut Vec<u8>) -> Result<Option<()>, FrameError> {
    loop {
        let mut byte = [0];
        if read_some(from, &mut byte)? == 0 {
            return Ok(None);
        }
        text.push(byte[0]);
        if text.ends_with(MARK) {
            text.truncate(text.len() - MARK.len());
            return Ok(Some(()));
        }
        if text.len() > LONGEST_BANNER {
            return Err(FrameError::NoMark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(frame: &Frame) -> Vec<u8> {
        let mut bytes = Vec::new();
        frame.write(&mut bytes).expect("memory can be written");
        bytes
    }

    #[test]
    fn frames_survive_a_round_trip_and_end_between_two() {
        let frames = [
            Frame::Message(b"{}".to_vec()),
            Frame::Piece(vec![0; 70_000]),
            Frame::Message(Vec::new()),
        ];
        let bytes: Vec<u8> = frames.iter().flat_map(written).collect();
        let mut rest = &bytes[..];
        for frame in frames {
            assert_eq!(Frame::read(&mut rest).expect("a frame"), Some(frame));
        }
        assert_eq!(Frame::read(&mut rest).expect("the end"), None);
    }

    #[test]
    fn bytes_that_are_no_frame_are_refused() {
        let whole = written(&Frame::Message(b"{\"a\":1}".to_vec()));
        for end in 1..whole.len() {
            assert!(matches!(Frame::read(&mut &whole[..end]), Err(FrameError::Cut)), "{end}");
        }
        assert!(matches!(Frame::read(&mut &b"hello"[..]), Err(FrameError::Kind(b'h'))));
        let long = [&b"M"[..], &u32::MAX.to_le_bytes()].concat();
        assert!(matches!(Frame::read(&mut &long[..]), Err(FrameError::Long(u32::MAX))));
        let longer = [&whole[..whole.len() - 1], b"}"].concat();
        assert!(matches!(Frame::read(&mut &longer[..]), Err(FrameError::Unended)));
    }

    #[test]
    fn what_comes_before_the_mark_is_a_text_within_a_limit() {
        let read = |bytes: &[u8]| {
            let mut text = Vec::new();
            banner(&mut &*bytes, &mut text).map(|mark| (mark.is_some(), String::from_utf8_lossy(&text).into_owned()))
        };
        let begun = [b"Welcome\n\x1egpubench", MARK, b"M"].concat();
        assert_eq!(
            read(&begun).expect("a mark"),
            (true, "Welcome\n\x1egpubench".to_owned())
        );
        assert_eq!(
            read(b"no such host").expect("a text"),
            (false, "no such host".to_owned())
        );
        assert!(matches!(read(&vec![b'x'; LONGEST_BANNER + 1]), Err(FrameError::NoMark)));
    }
}
