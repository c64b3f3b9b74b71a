//! The process that runs a crate's reference and generator kernels.

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

/// The process, other than workers, that runs a crate's own kernels: those of references and
/// generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum KernelHost {
    /// The author, because kernels are native code on this device and can do anything to their
    /// process.
    Author,
    /// The referee, because kernels on this device cannot reach its process.
    Referee,
}
