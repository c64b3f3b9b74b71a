//! Catalogs, requests and recordings as bytes.
//!
//! Bytes written by [`encode`] start with a format number; everything after it is fixed by the
//! type: integers in little-endian order, lengths and tags in front of what they count or select.
//! [`decode`] takes bytes from a process that is not trusted: it fails on anything [`encode`] would
//! not have written, never panics, and allocates no more than a small multiple of the input.

mod catalog;
mod plan;
mod read;
mod write;

pub use read::{Decode, DecodeError, Reader};
pub use write::Encode;

/// First four bytes of every message; changes with the format.
const FORMAT: u32 = u32::from_le_bytes(*b"gpb\x03");

/// `message` as bytes.
pub fn encode<T: Encode>(message: &T) -> Vec<u8> {
    let mut out = Vec::new();
    FORMAT.encode(&mut out);
    message.encode(&mut out);
    out
}

/// The message in `bytes`, all of which it must take up.
///
/// # Errors
/// When the bytes are of another format, end early, go on after the message, or hold a tag or text
/// that no message has.
pub fn decode<T: Decode>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut reader = Reader::new(bytes);
    if reader.read::<u32>()? != FORMAT {
        return Err(DecodeError::Format);
    }
    let message = reader.read()?;
    reader.finish()?;
    Ok(message)
}

/// Implements both directions for a struct, field by field in this order.
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

/// Implements both directions for an enum: a tag byte, then the variant's fields.
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
