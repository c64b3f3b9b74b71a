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
