//! Decoding of untrusted bytes.

use std::fmt;

/// A type that can be part of a message.
///
/// Every type takes at least one byte. This limits how much memory a vector can allocate.
pub trait Decode: Sized {
    /// Reads a value.
    ///
    /// # Errors
    /// Returns an error if the bytes are not what [`encode`](super::encode) writes.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// The reason why bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Does not start with this version's format number.
    Format,
    /// Ends inside the message.
    Truncated,
    /// Continues after the message.
    Trailing {
        /// Number of extra bytes.
        bytes: usize,
    },
    /// A tag that the type does not have.
    Tag {
        /// The type.
        of: &'static str,
        /// Byte found.
        tag: u8,
    },
    /// Text that is not UTF-8.
    Text,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::Format => f.write_str("the message is of another format"),
            DecodeError::Truncated => f.write_str("the message ends early"),
            DecodeError::Trailing { bytes } => write!(f, "{bytes} bytes follow the message"),
            DecodeError::Tag { of, tag } => write!(f, "no {of} has the tag {tag}"),
            DecodeError::Text => f.write_str("a text of the message is not UTF-8"),
        }
    }
}

impl std::error::Error for DecodeError {}

/// The unread bytes of a message.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// As [`Decode::decode`].
    pub fn read<T: Decode>(&mut self) -> Result<T, DecodeError> {
        T::decode(self)
    }

    pub(super) fn finish(self) -> Result<(), DecodeError> {
        match self.rest.len() {
            0 => Ok(()),
            bytes => Err(DecodeError::Trailing { bytes }),
        }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    /// Reads a length. It is at most the number of bytes left, since every element takes at least
    /// one.
    fn len(&mut self) -> Result<usize, DecodeError> {
        let len: u64 = self.read()?;
        usize::try_from(len)
            .ok()
            .filter(|&len| len <= self.rest.len())
            .ok_or(DecodeError::Truncated)
    }
}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Decode for $number {
            fn decode(reader: &mut Reader<'_>) -> Result<$number, DecodeError> {
                Ok($number::from_le_bytes(reader.array()?))
            }
        }
    )*};
}

numbers!(u8 u32 u64 i64 i128 f64);

impl Decode for bool {
    fn decode(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
        match reader.read::<u8>()? {
            0 => Ok(false),
            1 => Ok(true),
            tag => Err(DecodeError::Tag { of: "bool", tag }),
        }
    }
}

impl Decode for String {
    fn decode(reader: &mut Reader<'_>) -> Result<String, DecodeError> {
        let len = reader.len()?;
        let text = std::str::from_utf8(reader.take(len)?).map_err(|_| DecodeError::Text)?;
        Ok(text.to_owned())
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Vec<T>, DecodeError> {
        let len = reader.len()?;
        // Grow as elements are read, so that a false length does not allocate memory.
        let mut elements = Vec::new();
        for _ in 0..len {
            elements.push(reader.read()?);
        }
        Ok(elements)
    }
}

impl<const N: usize> Decode for [u32; N] {
    fn decode(reader: &mut Reader<'_>) -> Result<[u32; N], DecodeError> {
        let mut elements = [0; N];
        for element in &mut elements {
            *element = reader.read()?;
        }
        Ok(elements)
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Option<T>, DecodeError> {
        match reader.read::<u8>()? {
            0 => Ok(None),
            1 => Ok(Some(reader.read()?)),
            tag => Err(DecodeError::Tag { of: "Option", tag }),
        }
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Box<T>, DecodeError> {
        reader.read().map(Box::new)
    }
}

impl<A: Decode, B: Decode> Decode for (A, B) {
    fn decode(reader: &mut Reader<'_>) -> Result<(A, B), DecodeError> {
        Ok((reader.read()?, reader.read()?))
    }
}
