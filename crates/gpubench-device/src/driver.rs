//! The device interface that the window protocol needs.

use std::os::fd::OwnedFd;
use std::time::Duration;

use gpubench::plan::{Launch, TensorMapDescription};
use gpubench_contract::OccupancyLimit;

use super::{CountRequest, Counter, CounterHold, DeviceError, Facts, HostFailure, Tracer};
use crate::FrozenFile;

/// A device address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePtr(pub u64);

/// Rows of memory at equal distances, such as a field of structs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedRows {
    /// Start of the first row.
    pub first: DevicePtr,
    /// Bytes of a row.
    pub bytes: u64,
    /// Bytes from the start of a row to the start of the next.
    pub pitch: u64,
    /// Number of rows.
    pub count: u64,
}

impl DevicePtr {
    /// Returns the address `bytes` further on.
    pub fn offset(self, bytes: u64) -> DevicePtr {
        DevicePtr(self.0.wrapping_add(bytes))
    }
}

/// A shareable allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory(pub u32);

/// A queue of operations that run in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(pub u32);

/// A timestamp in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(pub u32);

/// Captured work that can be queued again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Graph(pub u32);

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Module(pub u32);

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function(pub u32);

/// The access of a process to its mapping of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads.
    Read,
    /// Loads and stores.
    ReadWrite,
}

/// A permanent restriction on an allocation, for every process that has its descriptor. Devices
/// without one accept the call and do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freeze {
    /// The size is fixed.
    Size,
    /// The size is fixed, and no new writable mapping can be made. Existing mappings keep their
    /// access.
    SizeAndContents,
}

/// Code to load.
#[derive(Clone, Copy, Debug)]
pub enum ModuleImage<'a> {
    /// The tool's own kernels.
    Harness,
    /// A user's compiled kernels. Loading them may run user code.
    File(&'a FrozenFile),
}

/// When a profiler records, if it only records on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profiling {
    /// From now on.
    Begin,
    /// No longer.
    End,
}

/// A call into the user's host code, for [`Driver::host_call`].
pub type HostWork = Box<dyn FnOnce() -> Result<(), HostFailure> + Send>;

/// The configuration of a kernel launch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchConfig {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Blocks per cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory per block, in bytes.
    pub dynamic_shared: u32,
    /// Whether blocks may wait for each other.
    pub cooperation: gpubench::plan::Cooperation,
    /// How the launch depends on the previous one.
    pub dependence: gpubench::plan::Dependence,
}

impl LaunchConfig {
    /// Returns the configuration of a launch in a plan.
    pub fn new(launch: &Launch) -> LaunchConfig {
        LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared: launch.dynamic_shared,
            cooperation: launch.cooperation,
            dependence: launch.dependence,
        }
    }

    /// Returns whether the blocks form clusters.
    pub fn has_clusters(&self) -> bool {
        self.cluster != [1; 3]
    }

    /// Returns a plain one-dimensional launch.
    pub fn linear(blocks: u32, threads: u32) -> LaunchConfig {
        LaunchConfig {
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            cluster: [1; 3],
            dynamic_shared: 0,
            cooperation: Default::default(),
            dependence: Default::default(),
        }
    }
}

/// What a kernel needs of the device in launches of one shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Registers per thread.
    pub registers: u32,
    /// Local memory per thread in bytes.
    pub local_bytes: u32,
    /// Static shared memory per block in bytes.
    pub static_shared: u32,
    /// Blocks that a multiprocessor can hold at once.
    pub blocks: u32,
    /// Clusters that the whole device can hold at once. `None` without clusters, and if the driver
    /// cannot tell.
    pub clusters: Option<u32>,
    /// What keeps a multiprocessor from holding one more block. Empty if it is not known.
    pub limited_by: Vec<OccupancyLimit>,
}

/// Fails unless the sizes of the arguments match those of the kernel's parameters.
pub(crate) fn check_arguments(kernel: &str, arguments: &[&[u8]], parameters: &[u32]) -> Result<(), DeviceError> {
    let sizes = || arguments.iter().map(|argument| argument.len());
    if sizes().eq(parameters.iter().map(|bytes| *bytes as usize)) {
        return Ok(());
    }
    let sizes: Vec<usize> = sizes().collect();
    Err(DeviceError::Unsupported(format!(
        "the arguments of `{kernel}` are {sizes:?} bytes long, but its parameters are {parameters:?} bytes long"
    )))
}

/// A device as one process sees it.
///
/// Operations that take a [`Stream`] are queued and run in order. After a failure, the rest of the
/// queue does not run, and [`Driver::synchronize`] returns the error. All other operations run
/// immediately.
pub trait Driver: Send {
    /// Returns the device's properties.
    fn facts(&self) -> &Facts;

    /// Creates a shareable allocation of `bytes`, a multiple of the granularity.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn create(&mut self, bytes: u64) -> Result<Memory, DeviceError>;

    /// Creates a shareable allocation of `bytes` in host memory (a memfd) that the device can copy
    /// to and from. The referee and the author share these.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn create_host(&mut self, bytes: u64) -> Result<Memory, DeviceError>;

    /// Returns a descriptor of an allocation, for another process.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    fn export(&mut self, memory: Memory) -> Result<OwnedFd, DeviceError>;

    /// Imports an allocation of `bytes` from another process.
    ///
    /// # Errors
    /// When the descriptor is not an allocation of this size.
    fn import(&mut self, descriptor: OwnedFd, bytes: u64) -> Result<Memory, DeviceError>;

    /// Makes mapped host memory usable by streams and kernels, and returns its device address.
    /// `address` and `bytes` cover whole pages.
    ///
    /// # Errors
    /// When the device refuses.
    fn register(&mut self, address: u64, bytes: u64) -> Result<DevicePtr, DeviceError>;

    /// Reverts [`Driver::register`]. Call it before the memory is unmapped and after all queued
    /// work that uses it.
    fn unregister(&mut self, address: u64);

    /// Maps an allocation, with unmapped pages before and after it.
    ///
    /// # Errors
    /// When the access is not permitted, or there is no address space left.
    fn map(&mut self, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError>;

    /// Maps `new` where `old` is mapped, with the same access, instead of `old`, which stays
    /// allocated. Both have the same size. Nothing queued may use the addresses.
    ///
    /// # Errors
    /// When `old` is not mapped, or the device refuses; then `old` is mapped as before, if the
    /// device allows that.
    fn remap(&mut self, old: Memory, new: Memory) -> Result<(), DeviceError>;

    /// Freezes an allocation permanently.
    ///
    /// # Errors
    /// When the device refuses.
    fn freeze(&mut self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError>;

    /// Unmaps an allocation and releases it.
    fn release(&mut self, memory: Memory);

    /// Allocates `bytes` of private memory, mapped for loads and stores.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError>;

    /// Frees private memory.
    fn free(&mut self, address: DevicePtr);

    /// Loads code.
    ///
    /// # Errors
    /// When the code is not for this device.
    fn load(&mut self, image: ModuleImage<'_>) -> Result<Module, DeviceError>;

    /// Finds a kernel by its name expression.
    ///
    /// # Errors
    /// When the module has no kernel of that name.
    fn function(&mut self, module: Module, name: &str) -> Result<Function, DeviceError>;

    /// Finds a `__constant__` or `__device__` variable, and returns its address and its size in
    /// bytes.
    ///
    /// # Errors
    /// When the module has no variable of that name.
    fn symbol(&mut self, module: Module, name: &str) -> Result<(DevicePtr, u64), DeviceError>;

    /// Encodes a tensor map of the memory at `base`, as a kernel parameter.
    ///
    /// # Errors
    /// When the device has no tensor maps, or refuses this one.
    fn encode_tensor_map(&self, base: DevicePtr, map: &TensorMapDescription) -> Result<[u8; 128], DeviceError>;

    /// Returns what a kernel needs of the device in launches of this shape. `None` if the device
    /// has no such resources.
    ///
    /// # Errors
    /// When the kernel cannot have that many threads per block or that much shared memory.
    fn resources(&mut self, function: Function, config: &LaunchConfig) -> Result<Option<Resources>, DeviceError>;

    /// Releases the persisting lines of the last-level cache, and disables new ones in this
    /// process. Devices without persisting lines do nothing.
    ///
    /// # Errors
    /// When the device refuses.
    fn reset_persisting_lines(&mut self) -> Result<(), DeviceError>;

    /// Returns the size of each parameter of a kernel in bytes; `None` when the driver cannot
    /// report them.
    fn parameter_sizes(&self, function: Function) -> Option<Vec<u32>>;

    /// Prepares a launch of this shape without launching. A first launch may wait for the whole
    /// device. If another stream is waiting for a different process, that wait never ends.
    ///
    /// # Errors
    /// When the kernel cannot be launched with this configuration.
    fn prepare(&mut self, function: Function, config: &LaunchConfig) -> Result<(), DeviceError>;

    /// Creates a stream.
    ///
    /// # Errors
    /// When the device has no more.
    fn stream(&mut self) -> Result<Stream, DeviceError>;

    /// Creates an event.
    ///
    /// # Errors
    /// When the device has no more.
    fn event(&mut self) -> Result<Event, DeviceError>;

    /// Queues a timestamp for `event`.
    ///
    /// # Errors
    /// When the stream is full.
    fn record(&mut self, event: Event, stream: Stream) -> Result<(), DeviceError>;

    /// Returns the nanoseconds between two events that have been recorded and synchronized with.
    ///
    /// # Errors
    /// When one has not been recorded.
    fn elapsed_ns(&mut self, start: Event, end: Event) -> Result<f64, DeviceError>;

    /// Queues a wait until the shared word at device address `address` is `value`.
    ///
    /// # Errors
    /// When the stream is full.
    fn wait_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError>;

    /// Queues a store of `value` to the shared word at device address `address`, and wakes its
    /// waiters. The store follows all earlier work of the stream.
    ///
    /// # Errors
    /// When the stream is full.
    fn write_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError>;

    /// Stores `value` from the host to the shared word at host address `address`, and wakes its
    /// waiters.
    fn store_value(&mut self, address: u64, value: u32);

    /// Waits on the host, up to `patience`, until the shared word at host address `address` is
    /// `value`. Returns whether it is, and in `missed_ns` the time of the last look that found
    /// another value, if there was one, as [`monotonic_ns`](crate::monotonic_ns) tells it. If the
    /// device's writes wake no waiter, the wait takes a whole processor, since a sleeping thread
    /// would notice them late.
    fn see_value(&mut self, address: u64, value: u32, patience: Duration, missed_ns: &mut u64) -> bool;

    /// Returns the time by the device's clock in nanoseconds, if the host can read that clock.
    fn host_reads_clock_ns(&self) -> Option<u64>;

    /// Queues a launch. `arguments` has the bytes of each argument.
    ///
    /// # Errors
    /// When the arguments do not match the kernel's parameters, or the device does not support the
    /// configuration.
    fn launch(
        &mut self,
        stream: Stream,
        function: Function,
        config: &LaunchConfig,
        arguments: &[&[u8]],
    ) -> Result<(), DeviceError>;

    /// Queues a copy between device ranges that do not overlap.
    ///
    /// # Errors
    /// When the stream is full.
    fn copy(&mut self, stream: Stream, target: DevicePtr, source: DevicePtr, bytes: u64) -> Result<(), DeviceError>;

    /// Queues a copy of rows that lie `pitch` bytes apart to `target`, where each follows the one
    /// before. The ranges do not overlap, and a row is not longer than the pitch.
    ///
    /// # Errors
    /// When the stream is full, or the device has no such pitch.
    fn gather(&mut self, stream: Stream, target: DevicePtr, rows: &StridedRows) -> Result<(), DeviceError>;

    /// Queues a fill of `bytes` bytes with `value`.
    ///
    /// # Errors
    /// When the stream is full.
    fn set(&mut self, stream: Stream, target: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError>;

    /// Starts to capture the work of a stream: launches, copies, fills and events are added to a
    /// graph, in order, instead of being queued.
    ///
    /// # Errors
    /// When the stream already captures.
    fn begin_capture(&mut self, stream: Stream) -> Result<(), DeviceError>;

    /// Ends a capture, and makes the graph ready to launch.
    ///
    /// # Errors
    /// When the stream does not capture, or some of its work cannot be in a graph.
    fn end_capture(&mut self, stream: Stream) -> Result<Graph, DeviceError>;

    /// Queues all work of a graph.
    ///
    /// # Errors
    /// When the stream is full.
    fn launch_graph(&mut self, stream: Stream, graph: Graph) -> Result<(), DeviceError>;

    /// Frees a graph that is not queued.
    fn release_graph(&mut self, graph: Graph);

    /// Calls the user's host code for a stream, with the device's context current. All calls for
    /// one stream run on one thread.
    ///
    /// If host code queues work on the device, as on a GPU, the call runs immediately. If it does
    /// the work itself, the call is queued like any other operation, and [`Driver::synchronize`]
    /// returns its error.
    ///
    /// # Errors
    /// [`DeviceError::Host`] when an immediate call fails or leaves another context current.
    fn host_call(&mut self, stream: Stream, work: HostWork) -> Result<(), DeviceError>;

    /// Begins a call into the user's host code on a thread of its own, with the device's context
    /// current there, and returns at once. Until [`Driver::end_host_call`] says that it has ended,
    /// the call may wait for the device, and other work can be queued. All calls that begin like
    /// this run on one thread.
    ///
    /// # Errors
    /// When the device does not run host code like this, or the machine has no thread left.
    fn begin_host_call(&mut self, work: HostWork) -> Result<(), DeviceError>;

    /// Waits for the end of the call that was begun, until its thread has worked for `work`, or
    /// has had `patience` to do so. Returns whether the call has ended.
    ///
    /// # Errors
    /// [`DeviceError::Host`] when it has failed or left another context current.
    fn end_host_call(&mut self, work: Duration, patience: Duration) -> Result<bool, DeviceError>;

    /// Returns the stream of host code that names none. Streams that do not opt out of it wait for
    /// its work.
    ///
    /// # Errors
    /// When the device has none.
    fn default_stream(&mut self) -> Result<Stream, DeviceError>;

    /// Returns the `CUstream` on which the user's host code launches; 0 when the device has no
    /// driver API.
    fn raw_stream(&self, stream: Stream) -> u64;

    /// Returns the index of the device among those that the driver shows to this process.
    fn ordinal(&self) -> u32;

    /// Returns a counter of what this process's kernels do. Open it before any code is loaded.
    ///
    /// # Errors
    /// When the device, the machine or the process's rights do not allow it.
    fn counter(&mut self, request: CountRequest<'_>, hold: CounterHold) -> Result<Box<dyn Counter>, DeviceError>;

    /// Returns a tracer of what the device does for this process.
    ///
    /// # Errors
    /// When the device or the machine has none.
    fn tracer(&mut self) -> Result<Box<dyn Tracer>, DeviceError>;

    /// Tells a profiler of this process when to record. Without a profiler this does nothing.
    ///
    /// # Errors
    /// When the device refuses.
    fn profile(&mut self, profiling: Profiling) -> Result<(), DeviceError>;

    /// Waits for everything queued on a stream.
    ///
    /// # Errors
    /// The first fault since the last call.
    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError>;

    /// Waits for all work of this process on the device, on any stream, including that of the
    /// user's host code.
    ///
    /// # Errors
    /// The first fault since the last call.
    fn synchronize_all(&mut self) -> Result<(), DeviceError>;

    /// Waits up to `patience` for everything queued on a stream. Returns whether all of it has run.
    ///
    /// # Errors
    /// As [`Driver::synchronize`].
    fn synchronize_within(&mut self, stream: Stream, patience: Duration) -> Result<bool, DeviceError>;

    /// Copies device memory of this process to the host immediately. Synchronize with the stream
    /// that wrote it first.
    ///
    /// # Errors
    /// When the device refuses.
    fn read(&mut self, source: DevicePtr, target: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies host bytes to device memory of this process immediately.
    ///
    /// # Errors
    /// When the device refuses.
    fn write(&mut self, target: DevicePtr, source: &[u8]) -> Result<(), DeviceError>;
}
