//! Counting what kernels do, instead of timing them.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;

use bytemuck::{CheckedBitPattern, NoUninit};

use super::DeviceError;

/// What to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountRequest<'a> {
    /// The instructions that kernels execute: of the processor on the CPU device, of warps on a
    /// GPU.
    Instructions,
    /// Metrics of the hardware, by the names that `ncu --query-metrics` lists.
    Hardware(&'a [String]),
    /// The bytes of device memory that host code has allocated.
    Memory,
}

/// How long a counter keeps the counters of a GPU, which one process can have at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, CheckedBitPattern, NoUninit)]
#[repr(u32)]
pub enum CounterHold {
    /// Until the counter is dropped.
    #[default]
    UntilDropped = 0,
    /// During a call and its passes. Other processes can count between two calls, but each call
    /// takes the counters again, which made the counts of the suite 1.4 times as long on an H200
    /// (`measurements/2026-11-23-counts.md`).
    EachCall = 1,
}

/// A program that must run a process for it to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the path of the process's own program.
    pub arguments: Vec<OsString>,
}

/// A count within one range.
#[derive(Clone, Debug, PartialEq)]
pub struct Count {
    /// The range: the kernel of a launch.
    pub range: String,
    /// The function for instructions, if known; the metric for hardware metrics.
    pub of: String,
    /// The count, or the value of the metric.
    pub value: f64,
}

/// Counts what the device does for this process, call by call. The order of the methods for one
/// call is [`start`](Self::start), then [`begin`](Self::begin) and [`end`](Self::end) for each
/// range, then [`stop`](Self::stop).
///
/// A range covers what the device does between `begin` and `end`. The device has no work of this
/// process at either.
pub trait Counter: Send {
    /// Returns what counts, with its version if known: `callgrind of valgrind`.
    fn description(&self) -> String;

    /// Leaves out what the process has so far: what is counted begins now. Only a counter of memory
    /// needs this.
    ///
    /// # Errors
    /// When the device refuses.
    fn leave_out_so_far(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Prepares to count a call of at most `ranges` ranges, or of as many kernels, if known, in one
    /// range.
    ///
    /// # Errors
    /// When the device refuses.
    fn start(&mut self, ranges: usize) -> Result<(), DeviceError>;

    /// Begins a range.
    ///
    /// # Errors
    /// When the device refuses.
    fn begin(&mut self, range: &str) -> Result<(), DeviceError>;

    /// Ends the range.
    ///
    /// # Errors
    /// When the device refuses.
    fn end(&mut self) -> Result<(), DeviceError>;

    /// Ends the call and returns its counts. Returns `None` if the hardware cannot count everything
    /// in one call. Then another call, of the same kernels, must follow.
    ///
    /// # Errors
    /// When the device refuses, or the counts are incomplete.
    fn stop(&mut self) -> Result<Option<Vec<Count>>, DeviceError>;
}
