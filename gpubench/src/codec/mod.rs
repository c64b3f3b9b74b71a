//! Encoding of catalogs, requests and recordings as bytes.
//!
//! Bytes written by [`encode`] start with a format number. The type determines the rest: integers
//! are little-endian, and a length or tag precedes the data that it describes. [`decode`] reads
//! bytes from an untrusted process. It fails on anything that [`encode`] would not write, never
//! panics, and allocates at most a small multiple of the input.

mod catalog;
mod plan;
mod read;
mod write;

pub use read::{Decode, DecodeError, Reader};
pub use write::Encode;

/// First four bytes of every message. They change with the format.
const FORMAT: u32 = u32::from_le_bytes(*b"gpb\x0b");

/// Returns `message` as bytes.
pub fn encode<T: Encode>(message: &T) -> Vec<u8> {
    let mut out = Vec::new();
    FORMAT.encode(&mut out);
    message.encode(&mut out);
    out
}

/// Reads a message from `bytes`, which must not continue after it.
///
/// # Errors
/// Returns an error if the bytes have another format, end early, continue after the message, or
/// contain an invalid tag or text.
pub fn decode<T: Decode>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes);
    if reader.read::<u32>()? != FORMAT {
        return Err(DecodeError::Format);
    }
    let message = reader.read()?;
    reader.finish()?;
    Ok(message)
}

/// Implements both traits for a struct, field by field in this order.
macro_rules! codec_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::codec::Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                let $name { $($field),* } = self;
                $($crate::codec::Encode::encode($field, out);)*
            }
        }

        impl $crate::codec::Decode for $name {
            fn decode(reader: &mut $crate::codec::Reader<'_>) -> Result<$name, $crate::codec::DecodeError> {
                $(let $field = reader.read()?;)*
                Ok($name { $($field),* })
            }
        }
    };
}

/// Implements both traits for an enum: a tag byte, then the variant's fields.
macro_rules! codec_enum {
    ($name:ident { $($tag:literal = $variant:ident $(($inner:ident))? $({ $($field:ident),* })?),* $(,)? }) => {
        impl $crate::codec::Encode for $name {
            fn encode(&self, out: &mut Vec<u8>) {
                match self {
                    $($name::$variant $(($inner))? $({ $($field),* })? => {
                        out.push($tag);
                        $($crate::codec::Encode::encode($inner, out);)?
                        $($($crate::codec::Encode::encode($field, out);)*)?
                    })*
                }
            }
        }

        impl $crate::codec::Decode for $name {
            fn decode(reader: &mut $crate::codec::Reader<'_>) -> Result<$name, $crate::codec::DecodeError> {
                match reader.read::<u8>()? {
                    $($tag => {
                        $(let $inner = reader.read()?;)?
                        $($(let $field = reader.read()?;)*)?
                        Ok($name::$variant $(($inner))? $({ $($field),* })?)
                    })*
                    tag => Err($crate::codec::DecodeError::Tag { of: stringify!($name), tag }),
                }
            }
        }
    };
}

use {codec_enum, codec_struct};

#[cfg(test)]
mod tests;
