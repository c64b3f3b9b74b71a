//! What `cargo gpubench probe` knows of processes where it cannot observe their calls.

use serde::{Deserialize, Serialize};

use super::ProbeLeftOut;

/// What is known of processes without the calls that they make: that they run, whether they loaded
/// the CUDA driver, and how often they submitted work to a GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeOutline {
    /// The processes that the filter leaves out. Null without a filter.
    pub left_out: Option<ProbeLeftOut>,
    /// Number of processes that began or were found. The program after an exec is another one.
    pub processes_seen: u64,
    /// Processes: those that run, then those that ended, the last one first. Those that have to do
    /// with a GPU come before others.
    pub processes: Vec<OutlinedProcess>,
    /// Number of processes that are not listed.
    pub processes_left_out: u64,
    /// Submissions of all processes together. Null if none could be counted.
    pub submissions: Option<u64>,
    /// Submissions a second. Null if none could be counted.
    pub submissions_per_second: Option<f64>,
    /// Number of lost records of the kernel. If it is not 0, processes may be missing.
    pub lost_events: u64,
}

/// A process whose calls are not observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct OutlinedProcess {
    /// The pid. A process that ended and another one may have the same.
    pub pid: u32,
    /// File name of the executable. Null if the process ended before it could be read.
    pub program: Option<String>,
    /// The arguments, with the name of the program first. Long ones are cut.
    pub command: Vec<String>,
    /// Whether it still runs.
    pub running: bool,
    /// Time from its begin until now or until its end, in nanoseconds.
    pub seen_ns: u64,
    /// Whether it was seen with the CUDA driver in its memory. A process of a few milliseconds may
    /// have had it, unseen.
    pub driver: bool,
    /// How often it told a GPU that there is work, as a watchpoint on the GPU's doorbell counts: a
    /// launch, a launch of a graph and a copy are one each. Null if it was not counted, because no
    /// doorbell was found or the machine has no watchpoints.
    pub submissions: Option<u64>,
    /// How long they were counted, in nanoseconds: until now or its end, from when the doorbell was
    /// found, up to 0.25 s after its first use.
    pub counted_ns: Option<u64>,
}
