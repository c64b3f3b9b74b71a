//! Work that a process gives to the GPU.

use std::time::Duration;

/// A handle of a kernel: a `CUfunction` or a `CUkernel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionHandle(pub u64);

/// A handle of a module: a `CUmodule` or a `CUlibrary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleHandle(pub u64);

/// A handle of a stream. 0 is the default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamHandle(pub u64);

/// A handle of an executable graph, a `CUgraphExec`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GraphHandle(pub u64);

/// Whether a call's work runs, or becomes a node of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Execution {
    /// The work runs.
    Runs,
    /// The stream is being captured: the work runs only when the graph is launched.
    Captured,
}

/// A launch of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel.
    pub function: FunctionHandle,
    /// The stream.
    pub stream: StreamHandle,
    /// Blocks in the grid.
    pub grid: [u32; 3],
    /// Threads in a block.
    pub block: [u32; 3],
    /// Which call it was.
    pub kind: LaunchKind,
    /// Whether it runs.
    pub execution: Execution,
}

/// How launches are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launches {
    /// One by one, each with its time, thread, stream and sizes. A reader that is too slow loses
    /// some, and their number is known.
    Each,
    /// As numbers by kernel: cheaper for the program, and none is lost however fast it launches.
    /// Launches into a capture are reported one by one.
    Counted,
}

/// Whose calls are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// Those of every user.
    All,
    /// Those of processes whose real user has this id, in the kernel's own numbers.
    One(u32),
}

/// The family of calls that launched a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaunchKind {
    /// `cuLaunchKernel`, or the calls before it.
    Plain,
    /// `cuLaunchKernelEx`, with attributes.
    Extended,
    /// `cuLaunchCooperativeKernel`.
    Cooperative,
}

/// A copy of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// From where to where.
    pub direction: CopyDirection,
    /// The number of bytes.
    pub bytes: u64,
    /// The address, or the handle of the array, that is written.
    pub destination: u64,
    /// The address, or the handle of the array, that is read.
    pub source: u64,
    /// The stream.
    pub stream: StreamHandle,
    /// Whether the call waits.
    pub waiting: Waiting,
    /// Whether it runs.
    pub execution: Execution,
    /// From the call's begin to its return. The bandwidth of a copy that waits follows from it.
    pub duration: Duration,
}

/// From where to where memory is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CopyDirection {
    /// From the host to the device.
    HostToDevice,
    /// From the device to the host.
    DeviceToHost,
    /// Within a device.
    DeviceToDevice,
    /// Within the host.
    HostToHost,
    /// From a device to another one.
    PeerToPeer,
    /// The call leaves it to the addresses: `cuMemcpy`, `cuMemcpyAsync`.
    ByAddress,
}

impl CopyDirection {
    /// All directions, in the order of tables.
    pub const ALL: [CopyDirection; 6] = [
        CopyDirection::HostToDevice,
        CopyDirection::DeviceToHost,
        CopyDirection::DeviceToDevice,
        CopyDirection::HostToHost,
        CopyDirection::PeerToPeer,
        CopyDirection::ByAddress,
    ];
}

/// Whether a call returns before its work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waiting {
    /// The call returns when the work is done.
    Blocks,
    /// The call returns at once.
    Queues,
}

/// Memory filled with a value: `cuMemset…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// The number of bytes written.
    pub bytes: u64,
    /// The stream.
    pub stream: StreamHandle,
    /// Whether it runs.
    pub execution: Execution,
}

/// What a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Synchronization {
    /// All work of the context.
    Context,
    /// The work of a stream.
    Stream(StreamHandle),
    /// An event.
    Event,
}
