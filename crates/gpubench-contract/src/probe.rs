//! The records of `cargo gpubench probe`: what CUDA processes do, seen from outside.

use serde::{Deserialize, Serialize};

use super::words::words;
use super::{ProbeOutline, ProbeProcess, SchemaVersion};

/// The start of an observation. Printed by `cargo gpubench probe`, before any sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeStarted {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// Start of the observation, as RFC 3339 in UTC.
    pub started_at: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Which processes are observed.
    pub target: ProbeTarget,
    /// Whether processes that they start are observed, too. False with `--no-children`.
    pub children: bool,
    /// The command with its arguments. Empty if none was started.
    pub command: Vec<String>,
    /// The process that was started, or that `--pid` names. Null if several are named, or all
    /// processes are observed.
    pub pid: Option<u32>,
    /// All processes that `--pid` names.
    pub pids: Vec<u32>,
    /// Which of the observed processes the records have. Null if all.
    pub filter: Option<ProbeFilter>,
    /// What cannot be seen on this machine, and what would change that.
    pub notices: Vec<String>,
}

/// Which of the observed processes the records have. A process matches by one value of each list
/// that is not empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeFilter {
    /// File names of executables.
    pub programs: Vec<String>,
    /// Numbers of users.
    pub users: Vec<u32>,
    /// Paths of control groups, with those below them.
    pub cgroups: Vec<String>,
}

/// The processes that a filter leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeLeftOut {
    /// How many began or were found.
    pub processes: u64,
    /// How many of them called the driver. 0 where calls cannot be observed.
    pub used_the_driver: u64,
    /// How many ended before it was known whether they match.
    pub unknown: u64,
}

words! {
    /// Which processes an observation is about.
    pub enum ProbeTarget {
        /// A command that the tool started.
        Command = "command",
        /// Processes that ran already.
        Process = "process",
        /// All processes of the machine.
        System = "system",
    }
}

/// What was seen until now. Printed by `cargo gpubench probe` at each interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeSample {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// Time since the start of the observation, in nanoseconds.
    pub elapsed_ns: u64,
    /// Time since the sample before, in nanoseconds. The rates are about this time.
    pub interval_ns: u64,
    /// What calls of the driver show. Null where they cannot be observed.
    pub calls: Option<ProbeState>,
    /// What is known without them. Null where calls are observed.
    pub processes_only: Option<ProbeOutline>,
}

/// The end of an observation. Printed by `cargo gpubench probe`, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeFinished {
    /// Version of the schema.
    pub schema_version: SchemaVersion,
    /// Time since the start of the observation, in nanoseconds. The rates are about this time.
    pub elapsed_ns: u64,
    /// Why it ended.
    pub end: ProbeEnd,
    /// The exit code of the command. Null if it was ended by a signal, runs on, or none was
    /// started.
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// What calls of the driver show. Null where they cannot be observed.
    pub calls: Option<ProbeState>,
    /// What is known without them. Null where calls are observed.
    pub processes_only: Option<ProbeOutline>,
    /// The course of the observation, in at most 256 equal steps. Empty where calls cannot be
    /// observed.
    pub timeline: Vec<ProbePoint>,
}

words! {
    /// Why an observation ended.
    pub enum ProbeEnd {
        /// The observed command or process ended.
        Ended = "ended",
        /// The time of `--duration` was over.
        Duration = "duration",
        /// A signal ended the observation.
        Interrupted = "interrupted",
    }
}

/// What was seen from the start until now. Rates are about an interval, all else about the whole
/// time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeState {
    /// Number of events.
    pub events: u64,
    /// Number of lost events. If it is not 0, everything but `calls` may be incomplete.
    pub lost_events: u64,
    /// Which files of drivers are not observed, whose they are, and why.
    pub notices: Vec<String>,
    /// The processes that the filter leaves out. Null without a filter.
    pub left_out: Option<ProbeLeftOut>,
    /// The files of the driver that are probed, and what that costs.
    pub drivers: Vec<ProbeDriver>,
    /// Number of processes that began or were found.
    pub processes_seen: u64,
    /// Processes that used the driver: those that run, with the most memory first, then those that
    /// ended, the last one first.
    pub processes: Vec<ProbeProcess>,
    /// Number of processes that used the driver and are not listed.
    pub processes_left_out: u64,
    /// Work that was given to the GPU.
    pub work: ProbeWork,
    /// Kernels, with the most launches first.
    pub kernels: Vec<ProbeKernel>,
    /// Number of kernels that are not listed.
    pub kernels_left_out: u64,
    /// Copies by direction. Directions without copies are missing.
    pub copies: Vec<ProbeCopies>,
    /// Memory by kind. Kinds that nobody allocated are missing.
    pub memory: Vec<ProbeMemory>,
    /// How long calls took that allocate or wait. Kinds without calls are missing.
    pub durations: Vec<ProbeDurations>,
    /// Frees of memory that was not seen to be allocated, because it was before the observation,
    /// or because an event was lost.
    pub unknown_frees: u64,
    /// Calls that failed, the most frequent first.
    pub errors: Vec<ProbeError>,
    /// Number of failed calls that are not listed.
    pub errors_left_out: u64,
    /// Functions of the driver that were called, from counters that lose nothing. Those that only
    /// ask, such as `cuCtxGetCurrent`, are not observed. Empty with a filter, since the counters
    /// are those of all processes.
    pub calls: Vec<ProbeCalls>,
}

/// Work that was given to the GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeWork {
    /// Launches of kernels by `cuLaunchKernel`.
    pub plain_launches: u64,
    /// Launches of kernels by `cuLaunchKernelEx`.
    pub extended_launches: u64,
    /// Launches of kernels by `cuLaunchCooperativeKernel`.
    pub cooperative_launches: u64,
    /// Launches of kernels into a capture. They run only as a part of their graph.
    pub captured_launches: u64,
    /// Launches of graphs.
    pub graph_launches: u64,
    /// Launches of kernels a second, without captured ones.
    pub launches_per_second: f64,
    /// Launches of graphs a second.
    pub graph_launches_per_second: f64,
    /// Functions of the host that were queued on streams.
    pub host_functions: u64,
    /// Memsets.
    pub memsets: u64,
    /// Bytes that they wrote.
    pub memset_bytes: u64,
    /// Waits for a context, a stream or an event.
    pub waits: u64,
    /// Time of these calls together, in nanoseconds.
    pub waited_ns: u64,
    /// Streams that were created.
    pub streams_created: u64,
    /// Streams that were destroyed.
    pub streams_destroyed: u64,
    /// Modules that were loaded.
    pub modules_loaded: u64,
}

impl ProbeWork {
    /// Returns the launches of kernels, without captured ones.
    pub fn launches(&self) -> u64 {
        self.plain_launches + self.extended_launches + self.cooperative_launches
    }
}

/// Launches of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeKernel {
    /// Name, as its author wrote it. `(unnamed)` for kernels whose names the driver did not tell,
    /// and `(other)` for kernels beyond the number that the tool keeps.
    pub name: String,
    /// Name, as the driver has it. Null for `(unnamed)` and `(other)`.
    pub mangled: Option<String>,
    /// Launches, without captured ones.
    pub launches: u64,
    /// Launches into a capture.
    pub captured_launches: u64,
    /// Launches a second, without captured ones.
    pub launches_per_second: f64,
}

/// Copies in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeCopies {
    /// The direction.
    pub direction: ProbeDirection,
    /// Number of copies.
    pub copies: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes a second of the interval.
    pub bytes_per_second: f64,
    /// Bandwidth of the copies whose call waited for them, in bytes per second. Null without such
    /// copies: how long others take cannot be seen.
    pub bandwidth: Option<f64>,
}

words! {
    /// From where to where memory is copied.
    pub enum ProbeDirection {
        /// From the host to a device.
        HostToDevice = "host-to-device",
        /// From a device to the host.
        DeviceToHost = "device-to-host",
        /// Within a device.
        DeviceToDevice = "device-to-device",
        /// Within the host.
        HostToHost = "host-to-host",
        /// From a device to another one.
        PeerToPeer = "peer-to-peer",
        /// The call left it to the addresses, and these are not known.
        Unknown = "unknown",
    }
}

/// Memory of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeMemory {
    /// The kind.
    pub kind: ProbeMemoryKind,
    /// Number of allocations.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// Number of allocations that were freed.
    pub frees: u64,
    /// Their bytes.
    pub freed_bytes: u64,
    /// Number of allocations that processes have now.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Number of allocations that processes had when they ended, and contexts when they did.
    pub unfreed: u64,
    /// Their bytes.
    pub unfreed_bytes: u64,
    /// Number of allocations beyond the number that the tool follows.
    pub untracked: u64,
}

words! {
    /// How memory was allocated.
    pub enum ProbeMemoryKind {
        /// Memory of the device: `cuMemAlloc`.
        Device = "device",
        /// In the order of a stream: `cuMemAllocAsync`.
        StreamOrdered = "stream-ordered",
        /// From a pool that the call names: `cuMemAllocFromPoolAsync`.
        Pool = "pool",
        /// Moves between host and device: `cuMemAllocManaged`.
        Managed = "managed",
        /// Memory of the host, pinned: `cuMemHostAlloc`.
        Pinned = "pinned",
        /// Memory of the process that the driver pinned: `cuMemHostRegister`.
        Registered = "registered",
        /// Physical memory that the process maps itself: `cuMemCreate`.
        Physical = "physical",
        /// An array for textures and surfaces.
        Array = "array",
    }
}

/// How long calls of one kind took, of all processes together, from their begin to their return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeDurations {
    /// The calls.
    pub calls: ProbeTimedCalls,
    /// How many succeeded.
    pub count: u64,
    /// Their time together, in nanoseconds.
    pub total_ns: u64,
    /// The calls by their time, the shortest first. Classes without calls are missing.
    pub classes: Vec<ProbeDurationClass>,
}

words! {
    /// Calls whose times are counted.
    pub enum ProbeTimedCalls {
        /// Allocations of memory of every kind: `cuMemAlloc`, `cuMemAllocAsync`, `cuMemHostAlloc`.
        Allocation = "allocation",
        /// Waits for a context: `cuCtxSynchronize`.
        ContextWait = "context-wait",
        /// Waits for a stream: `cuStreamSynchronize`.
        StreamWait = "stream-wait",
        /// Waits for an event: `cuEventSynchronize`.
        EventWait = "event-wait",
    }
}

/// Calls that took about as long. The bounds are 1, 2 and 5 of each power of ten, from 1 µs to
/// 10 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeDurationClass {
    /// They took longer than this, in nanoseconds, but for the first class.
    pub above_ns: u64,
    /// They took at most this, in nanoseconds. Null for the last class.
    pub at_most_ns: Option<u64>,
    /// How many.
    pub count: u64,
}

/// Calls that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeError {
    /// The function of the driver.
    pub call: String,
    /// The `CUresult` that it returned.
    pub code: u32,
    /// Its name: `CUDA_ERROR_OUT_OF_MEMORY`. Null if the tool does not know it.
    pub name: Option<String>,
    /// How often.
    pub count: u64,
}

/// Calls of a function of the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeCalls {
    /// The function.
    pub call: String,
    /// Number of calls.
    pub calls: u64,
    /// Number of calls that failed. Null where returns are not counted.
    pub errors: Option<u64>,
    /// Number of calls whose event was lost.
    pub lost: u64,
}

/// A file of the driver, and where its functions are probed. Each call that comes to such a place
/// traps into the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbeDriver {
    /// Where it was found, perhaps through `/proc`.
    pub path: String,
    /// Number of functions that are probed at an instruction that the kernel emulates.
    pub emulated: u64,
    /// Number of functions that are probed at an instruction that the kernel steps over: a trap
    /// there takes 15 times as long or more.
    pub stepped: u64,
    /// Number of functions whose return is another trap.
    pub returns: u64,
    /// Whose calls trap.
    pub pays: ProbePayer,
}

words! {
    /// Whose calls trap into the kernel at a probe.
    pub enum ProbePayer {
        /// Every process that uses the file, observed or not.
        EveryProcess = "every-process",
        /// The observed process.
        OneProcess = "one-process",
    }
}

/// A step of the course of an observation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct ProbePoint {
    /// Time since the start of the observation at the end of the step, in nanoseconds.
    pub elapsed_ns: u64,
    /// Bytes of live memory of all processes at the end of the step.
    pub live_bytes: u64,
    /// Launches of kernels during the step.
    pub launches: u64,
    /// Bytes that were copied during the step.
    pub copied_bytes: u64,
    /// Calls that failed during the step.
    pub errors: u64,
}
