//! Kernel faults, as the roles report them to each other.

use bytemuck::{CheckedBitPattern, NoUninit, Zeroable};
use serde::{Deserialize, Serialize};

/// Kinds of kernel faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, CheckedBitPattern, NoUninit, Zeroable, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
#[allow(missing_docs)]
pub enum FaultCode {
    None = 0,
    OutOfBounds = 1,
    BarrierDivergence = 2,
    DivisionByZero = 3,
    StackOverflow = 4,
    IllegalInstruction = 5,
    Trap = 6,
    Other = 7,
    InputWritten = 8,
    Misaligned = 9,
    LaunchFailed = 10,
    Ecc = 11,
    HostCallFailed = 32,
    ForeignContext = 33,
}
