//! A process in the records of `cargo gpubench probe`.

use serde::{Deserialize, Serialize};

use super::ProbeMemoryKind;

/// A process that used the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeProcess {
    /// The pid. A process that ended and another one may have the same.
    pub pid: u32,
    /// File name of the executable. Null if the process ended before it could be read.
    pub program: Option<String>,
    /// The arguments, with the name of the program first. Long ones are cut.
    pub command: Vec<String>,
    /// Whether it still runs.
    pub running: bool,
    /// The status that `wait` gives. Null if it runs or its status is not known.
    pub wait_status: Option<i32>,
    /// Time from its first event until now or until its end, in nanoseconds.
    pub seen_ns: u64,
    /// Launches of kernels, without captured ones.
    pub launches: u64,
    /// Launches of graphs.
    pub graph_launches: u64,
    /// Launches of kernels a second. 0 for a process that ended.
    pub launches_per_second: f64,
    /// Bytes that were copied.
    pub copied_bytes: u64,
    /// Number of live allocations.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// The most bytes that were live at once.
    pub peak_bytes: u64,
    /// Age of the oldest live allocation, in nanoseconds.
    pub oldest_ns: Option<u64>,
    /// Live allocations in groups, those with the most bytes first. If the process ended, what it
    /// had then. At most 16.
    pub memory: Vec<ProbeAllocations>,
    /// The same one by one, the largest first, at most 256. With `--allocations` and at the end
    /// alone, else empty.
    pub allocations: Vec<ProbeAllocation>,
    /// Number of allocations that it had when it ended, and its contexts when they did.
    pub unfreed: u64,
    /// Their bytes.
    pub unfreed_bytes: u64,
    /// Frees of memory that was not seen to be allocated.
    pub unknown_frees: u64,
    /// Calls that failed.
    pub errors: u64,
    /// The kernels with the most launches, at most 8.
    pub kernels: Vec<ProbeLaunches>,
}

/// Allocations of the same kind and size by the same thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeAllocations {
    /// How they were allocated.
    pub kind: ProbeMemoryKind,
    /// Size of each, in bytes.
    pub bytes: u64,
    /// How many.
    pub count: u64,
    /// The thread that allocated them.
    pub thread: u32,
    /// Age of the oldest, in nanoseconds.
    pub oldest_ns: u64,
    /// Age of the newest, in nanoseconds.
    pub newest_ns: u64,
}

/// An allocation that was not freed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeAllocation {
    /// Its address, in hexadecimal digits after `0x`, or the handle of an array. Of memory of
    /// `cuMemCreate`, the lowest address where it is mapped, and null if it is not.
    pub address: Option<String>,
    /// How it was allocated.
    pub kind: ProbeMemoryKind,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The thread that allocated it.
    pub thread: u32,
    /// Its age, in nanoseconds.
    pub age_ns: u64,
}

/// Launches of a kernel by a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeLaunches {
    /// Name of the kernel, as its author wrote it.
    pub name: String,
    /// Launches, without captured ones.
    pub launches: u64,
}
