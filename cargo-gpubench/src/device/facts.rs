//! What a device says of itself.

use gpubench::catalog::DeviceFacts;

/// Facts the window protocol depends on.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What benchmark functions may know.
    pub device: DeviceFacts,
    /// Step of the device's clock in nanoseconds.
    pub clock_tick_ns: f64,
    /// Shared allocations are multiples of this many bytes.
    pub granularity: u64,
    /// Buffers start at multiples of this many bytes, so that they can end close to the end of their allocation.
    pub alignment: u64,
    /// Bytes of memory that can still be had, where it is known.
    pub free_memory: Option<u64>,
    /// Bytes of a cache flush, unless the user says otherwise.
    pub flush_bytes: u64,
    /// Where kernels that compute references and inputs are run.
    pub kernels_run_in: CodeHome,
    /// Whether a clock of the referee can bound what a worker claims.
    pub clock_bound: ClockBound,
    /// Peak memory bandwidth in bytes per second, where it is known.
    pub peak_bandwidth: Option<f64>,
    /// Peak arithmetic rate in floating-point operations per second, where it is known.
    pub peak_flops: Option<f64>,
}

/// Whether the time between the referee's stamps proves anything about a worker's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClockBound {
    /// Phases of two processes never overlap on the device.
    Exclusive,
    /// They may, for the reason given.
    Absent(&'static str),
}

/// The role that may run a crate's own kernels beside the worker: those of references and generators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeHome {
    /// The author: kernels are native code here, and could do anything to the process they run in.
    Author,
    /// The referee: kernels run on a device apart from its process.
    Referee,
}

impl CodeHome {
    /// The number that travels.
    pub fn number(self) -> u32 {
        match self {
            CodeHome::Author => 0,
            CodeHome::Referee => 1,
        }
    }

    /// The home of a number.
    pub fn from_number(number: u32) -> Option<CodeHome> {
        [CodeHome::Author, CodeHome::Referee]
            .into_iter()
            .find(|home| home.number() == number)
    }
}
