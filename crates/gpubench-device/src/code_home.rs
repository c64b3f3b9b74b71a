//! Where a crate's own kernels run.

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

/// The role that may run a crate's own kernels beside the worker: those of references and
/// generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum KernelHost {
    /// The author: kernels are native code here, and could do anything to the process they run in.
    Author,
    /// The referee: kernels run on a device apart from its process.
    Referee,
}
