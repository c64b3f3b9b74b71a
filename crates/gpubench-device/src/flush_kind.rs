//! How the cache is flushed.

use bytemuck::{CheckedBitPattern, NoUninit};
use gpubench_contract::Flush;

/// How the cache is flushed before a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum FlushKind {
    /// Read through the flush buffer: leaves no dirty lines for the kernel to pay for.
    #[default]
    Read,
    /// Write the flush buffer.
    Write,
}

impl From<FlushKind> for Flush {
    fn from(kind: FlushKind) -> Flush {
        match kind {
            FlushKind::Read => Flush::Read,
            FlushKind::Write => Flush::Write,
        }
    }
}
