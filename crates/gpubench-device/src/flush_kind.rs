//! How the cache is flushed.

use gpubench_contract::Flush;

/// How the cache is flushed before a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlushKind {
    /// Read through the flush buffer: leaves no dirty lines for the kernel to pay for.
    #[default]
    Read,
    /// Write the flush buffer.
    Write,
}

impl FlushKind {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            FlushKind::Read => 0,
            FlushKind::Write => 1,
        }
    }

    /// The kind of a number.
    pub fn from_number(number: u32) -> Option<FlushKind> {
        [FlushKind::Read, FlushKind::Write]
            .into_iter()
            .find(|kind| kind.number() == number)
    }
}

impl From<FlushKind> for Flush {
    fn from(kind: FlushKind) -> Flush {
        match kind {
            FlushKind::Read => Flush::Read,
            FlushKind::Write => Flush::Write,
        }
    }
}
