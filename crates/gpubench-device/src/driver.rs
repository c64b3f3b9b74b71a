//! The narrow waist: what the window protocol needs of a device.

use std::os::fd::OwnedFd;
use std::time::Duration;

use gpubench::plan::TensorMapDescription;

use super::{DeviceError, Facts, HostFailure};
use crate::FrozenFile;

/// An address on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePtr(pub u64);

impl DevicePtr {
    /// The address `bytes` further on.
    pub fn offset(self, bytes: u64) -> DevicePtr {
        DevicePtr(self.0.wrapping_add(bytes))
    }
}

/// A shareable allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Memory(pub u32);

/// A queue of operations carried out in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(pub u32);

/// A point in a stream whose time is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event(pub u32);

/// A loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Module(pub u32);

/// A kernel of a loaded module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function(pub u32);

/// What a process may do through its mapping of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Loads.
    Read,
    /// Loads and stores.
    ReadWrite,
}

/// What nobody may do to an allocation any more, whoever holds its descriptor. Devices without such
/// a lock accept and do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freeze {
    /// Change its size.
    Size,
    /// Change its size, or map it for writing; mappings that exist keep their access.
    SizeAndContents,
}

/// Code to load.
#[derive(Clone, Copy, Debug)]
pub enum ModuleImage<'a> {
    /// The tool's own kernels.
    Harness,
    /// A user's compiled kernels. Loading them may run code of theirs.
    File(&'a FrozenFile),
}

/// A call of the user's host code, for [`Driver::host_call`].
pub type HostWork = Box<dyn FnOnce() -> Result<(), HostFailure> + Send>;

/// A launch of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaunchConfig {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block in bytes.
    pub dynamic_shared: u32,
    /// Whether blocks may wait for each other.
    pub cooperation: gpubench::plan::Cooperation,
    /// How the launch depends on its predecessor.
    pub dependence: gpubench::plan::Dependence,
}

impl LaunchConfig {
    /// A plain launch along x.
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

/// Refuses a launch whose arguments are not of the sizes of the kernel's parameters.
pub(crate) fn check_arguments(kernel: &str, arguments: &[&[u8]], parameters: &[u32]) -> Result<(), DeviceError> {
    let sizes = || arguments.iter().map(|argument| argument.len());
    if sizes().eq(parameters.iter().map(|bytes| *bytes as usize)) {
        return Ok(());
    }
    let sizes: Vec<usize> = sizes().collect();
    Err(DeviceError::Unsupported(format!(
        "launch `{kernel}` with arguments of {sizes:?} bytes: its parameters have {parameters:?}"
    )))
}

/// A device as one process sees it.
///
/// Operations that take a [`Stream`] are queued and carried out in order; what goes wrong in them
/// is reported by [`Driver::synchronize`], and nothing queued behind it is carried out. Everything
/// else happens at once.
pub trait Driver: Send {
    /// What the device is.
    fn facts(&self) -> &Facts;

    /// Makes a shareable allocation of `bytes`, a multiple of the granularity.
    ///
    /// # Errors
    /// When there is no memory.
    fn create(&mut self, bytes: u64) -> Result<Memory, DeviceError>;

    /// Makes a shareable allocation of `bytes` in host memory (a memfd) that the device can copy to
    /// and from: what referee and author share.
    ///
    /// # Errors
    /// When there is no memory.
    fn create_host(&mut self, bytes: u64) -> Result<Memory, DeviceError>;

    /// A descriptor of an allocation for another process.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    fn export(&mut self, memory: Memory) -> Result<OwnedFd, DeviceError>;

    /// Takes an allocation of `bytes` that another process made.
    ///
    /// # Errors
    /// When the descriptor is no such allocation.
    fn import(&mut self, descriptor: OwnedFd, bytes: u64) -> Result<Memory, DeviceError>;

    /// Makes host memory that is mapped here, whole pages at `address`, one that streams and
    /// kernels can use; gives the device's address of it.
    ///
    /// # Errors
    /// When the device refuses.
    fn register(&mut self, address: u64, bytes: u64) -> Result<DevicePtr, DeviceError>;

    /// Undoes [`Driver::register`], before the memory is unmapped. Nothing that is queued may use
    /// it any more.
    fn unregister(&mut self, address: u64);

    /// Maps an allocation. Unmapped pages lie before and behind it.
    ///
    /// # Errors
    /// When the access is not permitted or there is no address space.
    fn map(&mut self, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError>;

    /// Locks an allocation for good.
    ///
    /// # Errors
    /// When the device refuses.
    fn freeze(&mut self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError>;

    /// Unmaps and forgets an allocation.
    fn release(&mut self, memory: Memory);

    /// Allocates `bytes` of private memory, mapped for loads and stores.
    ///
    /// # Errors
    /// When there is no memory.
    fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError>;

    /// Frees private memory.
    fn free(&mut self, address: DevicePtr);

    /// Loads code.
    ///
    /// # Errors
    /// When it is not for this device.
    fn load(&mut self, image: ModuleImage<'_>) -> Result<Module, DeviceError>;

    /// Finds a kernel by its name expression.
    ///
    /// # Errors
    /// When the module has none of that name.
    fn function(&mut self, module: Module, name: &str) -> Result<Function, DeviceError>;

    /// Finds a `__constant__` or `__device__` variable: its address and its bytes.
    ///
    /// # Errors
    /// When the module has none of that name.
    fn symbol(&mut self, module: Module, name: &str) -> Result<(DevicePtr, u64), DeviceError>;

    /// A tensor map of memory at `base`, as a kernel takes it.
    ///
    /// # Errors
    /// When the device has no tensor maps, or refuses this one.
    fn encode_tensor_map(&self, base: DevicePtr, map: &TensorMapDescription) -> Result<[u8; 128], DeviceError>;

    /// Blocks of a kernel that are resident on a multiprocessor at once, with `threads` threads and
    /// `dynamic_shared` bytes a block.
    ///
    /// # Errors
    /// When the kernel cannot have so many.
    fn occupancy(&mut self, function: Function, threads: u32, dynamic_shared: u32) -> Result<u32, DeviceError>;

    /// Takes from this process the right to keep lines in the last-level cache, and lets go of
    /// those that are kept. Devices without such lines do nothing.
    ///
    /// # Errors
    /// When the device refuses.
    fn reset_persisting_lines(&mut self) -> Result<(), DeviceError>;

    /// Bytes of each parameter of a kernel; `None` where the driver does not tell.
    fn parameter_sizes(&self, function: Function) -> Option<Vec<u32>>;

    /// Makes ready for launches of a shape, without launching: what a first launch would have to
    /// wait for may never come where its stream waits for another process.
    ///
    /// # Errors
    /// When the kernel cannot be launched so.
    fn prepare(&mut self, function: Function, config: &LaunchConfig) -> Result<(), DeviceError>;

    /// A new stream.
    ///
    /// # Errors
    /// When the device has no more.
    fn stream(&mut self) -> Result<Stream, DeviceError>;

    /// A new event.
    ///
    /// # Errors
    /// When the device has no more.
    fn event(&mut self) -> Result<Event, DeviceError>;

    /// Queues: take the time of `event`.
    ///
    /// # Errors
    /// When the stream cannot take more.
    fn record(&mut self, event: Event, stream: Stream) -> Result<(), DeviceError>;

    /// Nanoseconds between two events that have been recorded and synchronized with.
    ///
    /// # Errors
    /// When one has not been recorded.
    fn elapsed_ns(&mut self, start: Event, end: Event) -> Result<f64, DeviceError>;

    /// Queues: go on when the shared word at the device's address `address` is `value`.
    ///
    /// # Errors
    /// When the stream cannot take more.
    fn wait_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError>;

    /// Queues: store `value` to the shared word at the device's address `address`, behind
    /// everything before it, and wake whoever waits for it.
    ///
    /// # Errors
    /// When the stream cannot take more.
    fn write_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError>;

    /// Stores `value` to the shared word at the host's address `address` from the host and wakes
    /// whoever waits for it.
    fn store_value(&mut self, address: u64, value: u32);

    /// Queues a launch. `arguments` holds the bytes of each argument.
    ///
    /// # Errors
    /// When the arguments do not fit the kernel's parameters, or the device cannot launch so.
    fn launch(
        &mut self,
        stream: Stream,
        function: Function,
        config: &LaunchConfig,
        arguments: &[&[u8]],
    ) -> Result<(), DeviceError>;

    /// Queues a copy between device addresses that do not overlap.
    ///
    /// # Errors
    /// When the stream cannot take more.
    fn copy(&mut self, stream: Stream, target: DevicePtr, source: DevicePtr, bytes: u64) -> Result<(), DeviceError>;

    /// Queues: set bytes.
    ///
    /// # Errors
    /// When the stream cannot take more.
    fn set(&mut self, stream: Stream, target: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError>;

    /// Has the user's host code called for a stream, with the device's context current. All calls
    /// for one stream are made on one thread.
    ///
    /// Where host code queues work for the device, as on a GPU, it is called at once. Where it does
    /// the work itself, the call is queued like any other operation, and how it fails is told by
    /// [`Driver::synchronize`].
    ///
    /// # Errors
    /// [`DeviceError::Host`] where it was called at once and failed, or left another context
    /// current.
    fn host_call(&mut self, stream: Stream, work: HostWork) -> Result<(), DeviceError>;

    /// A stream as the user's host code launches on it, a `CUstream`; 0 where the device has no
    /// driver API.
    fn raw_stream(&self, stream: Stream) -> u64;

    /// Position of the device among those the driver shows this process.
    fn ordinal(&self) -> u32;

    /// Waits for everything queued on a stream, and says what went wrong in it.
    ///
    /// # Errors
    /// The first fault since the last call.
    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError>;

    /// Waits for everything queued on a stream, but no longer than `patience`; says whether all of
    /// it has been carried out.
    ///
    /// # Errors
    /// As [`Driver::synchronize`].
    fn synchronize_within(&mut self, stream: Stream, patience: Duration) -> Result<bool, DeviceError>;

    /// Copies device memory of this process to the host, at once. The stream that wrote it must
    /// have been synchronized with.
    ///
    /// # Errors
    /// When the device refuses.
    fn read(&mut self, source: DevicePtr, target: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies host bytes to device memory of this process, at once.
    ///
    /// # Errors
    /// When the device refuses.
    fn write(&mut self, target: DevicePtr, source: &[u8]) -> Result<(), DeviceError>;
}
