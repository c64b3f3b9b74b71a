//! What a source reports.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::{
    Allocation, ContextHandle, Copy, FunctionHandle, GraphHandle, Launch, LaunchKind, MemoryHandle, ModuleHandle,
    ProcessId, ProcessStart, Set, StreamHandle, Synchronization, Timestamp,
};

/// Something that a process did.
///
/// Each kind but [`EventKind::Failed`] and [`EventKind::Started`] to [`EventKind::Exited`] reports
/// a call of the driver that succeeded, seen at its return. A launch or a copy whose return is not
/// recorded, because only its entry is, counts as one that succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When the call began. For [`EventKind::Allocate`], when it returned: only then does the
    /// program know the address, so a free that began earlier is that of an earlier allocation.
    pub at: Timestamp,
    /// Which process did it.
    pub process: ProcessId,
    /// Which of its threads did it, as the observer numbers threads.
    pub thread: u32,
    /// What it did.
    pub kind: EventKind,
}

/// What a process did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It began, or the observation found it. The first event of each process.
    Started(ProcessStart),
    /// It ended, and what it still had was freed by the driver. The last event of each process. The
    /// end of a program by an exec is such an end, too.
    Exited {
        /// The status that `wait` gives, if the source knows it.
        status: Option<i32>,
    },
    /// It launched a kernel.
    Launch(Launch),
    /// It launched a kernel several times. Reported instead of most [`EventKind::Launch`] where
    /// launches are counted, some time after them, and before any event that depends on them.
    Launches {
        /// The kernel.
        function: FunctionHandle,
        /// Which call it was.
        kind: LaunchKind,
        /// How often, never 0.
        count: u64,
    },
    /// It launched a graph.
    GraphLaunch {
        /// The graph.
        graph: GraphHandle,
        /// The stream.
        stream: StreamHandle,
    },
    /// It put an event into a stream that is not captured. Reported where each launch is.
    RecordEvent {
        /// The stream.
        stream: StreamHandle,
    },
    /// It queued a function of the host on a stream.
    HostFunction {
        /// The stream.
        stream: StreamHandle,
    },
    /// It allocated memory.
    Allocate(Allocation),
    /// It freed memory. Freeing the address 0 frees nothing and is no error.
    Free(MemoryHandle),
    /// It mapped physical memory.
    Map {
        /// Where.
        address: u64,
        /// The handle of the memory, of `cuMemCreate` or of [`EventKind::ShareHandle`].
        memory: u64,
    },
    /// It ended all mappings of physical memory in a range.
    Unmap {
        /// Where the range begins.
        address: u64,
        /// Its length.
        bytes: u64,
    },
    /// It got a handle of physical memory that was there before. It releases it as one of
    /// `cuMemCreate`.
    ShareHandle {
        /// The handle. It may be one that the process has already.
        handle: u64,
        /// Where the memory is mapped. `None` if another process may have created it.
        address: Option<u64>,
    },
    /// It put an allocation into a capture. Launches of the graph allocate this address.
    AllocateInGraph {
        /// The address.
        address: u64,
    },
    /// It ended a context, and with it the memory that was allocated in it and not freed.
    ContextEnd {
        /// The context. The unknown one ends if the process has just one.
        context: ContextHandle,
    },
    /// It copied memory.
    Copy(Copy),
    /// It filled memory.
    Set(Set),
    /// The driver told the name of a kernel, mangled as the driver has it. Names may come after
    /// launches. Another name for a known handle means that the driver uses the handle again.
    Name {
        /// The kernel.
        function: FunctionHandle,
        /// Its name.
        name: Arc<str>,
        /// The module it is in, if the call has it.
        module: Option<ModuleHandle>,
    },
    /// A handle is another one's kernel: `cuKernelGetFunction`.
    Alias {
        /// The new handle.
        function: FunctionHandle,
        /// The handle that is known.
        of: FunctionHandle,
    },
    /// It loaded a module.
    ModuleLoad {
        /// The module.
        module: ModuleHandle,
    },
    /// It unloaded a module: the handles of its kernels are free for others.
    ModuleUnload {
        /// The module.
        module: ModuleHandle,
    },
    /// It created a stream.
    StreamCreate {
        /// The stream.
        stream: StreamHandle,
    },
    /// It destroyed a stream.
    StreamDestroy {
        /// The stream.
        stream: StreamHandle,
    },
    /// It waited.
    Synchronize {
        /// For what.
        what: Synchronization,
        /// How long.
        duration: Duration,
    },
    /// A call failed. Whatever it was meant to do did not happen.
    Failed {
        /// The call.
        call: DriverCall,
        /// The `CUresult`, never 0.
        code: u32,
    },
}

/// A function of the driver, by the name that programs call: `cuMemAlloc` for `cuMemAlloc_v2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DriverCall(pub Arc<str>);

impl fmt::Display for DriverCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
