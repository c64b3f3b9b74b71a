//! What a call asks of the CUDA driver.

use serde::{Deserialize, Serialize};

/// What a call asks of the CUDA driver, seen from outside its process by probes on the driver's
/// functions. The audited calls are not among the timed ones. Numbers are means over all audited
/// calls. The tool's own kernels are left out, by their names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct CallAudit {
    /// Number of audited calls.
    pub calls: u64,
    /// Launches of kernels.
    pub launches: f64,
    /// Launches of graphs.
    pub graph_launches: f64,
    /// Streams that got kernels, graphs, copies or memsets.
    pub streams: f64,
    /// Copies of memory.
    pub copies: f64,
    /// Their bytes.
    pub copied_bytes: f64,
    /// Memsets.
    pub memsets: f64,
    /// Allocations of memory of the device or of pinned memory.
    pub allocations: f64,
    /// Frees of such memory.
    pub frees: f64,
    /// Bytes that are allocated after the call and were not before it.
    pub unfreed_bytes: f64,
    /// Modules that were loaded.
    pub modules_loaded: f64,
    /// Calls of the driver that failed.
    pub failed_calls: f64,
    /// Submissions of work to the GPU, as a watchpoint on the GPU's doorbell counts them whatever
    /// way they take: a launch, a launch of a graph, a copy and a fill are one each. What the tool
    /// submits in a window is left out. Null if they could not be counted; a notice says why.
    #[serde(default)]
    pub submissions: Option<f64>,
    /// The kernels, with the most launches first.
    pub kernels: Vec<AuditedKernel>,
    /// The system calls in the timed region of the call, the most frequent first, without
    /// `sched_yield`. Null where host code is not timed: only that of `hosted(sync)` is.
    pub system_calls: Option<Vec<AuditedSystemCall>>,
    /// Number of events that the probes lost. If it is not 0, the numbers may be too low.
    pub lost_events: u64,
}

/// A system call in the timed region of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct AuditedSystemCall {
    /// Its name, such as `ioctl`.
    pub name: String,
    /// How often a call makes it.
    pub calls: f64,
}

/// Launches of a kernel in a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct AuditedKernel {
    /// Its name, as its author wrote it. `(unnamed)` if the driver did not tell it.
    pub name: String,
    /// Launches in a call.
    pub launches: f64,
}
