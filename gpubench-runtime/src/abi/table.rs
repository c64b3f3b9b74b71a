//! The table of functions a cdylib exports.

use std::ffi::c_void;

/// The symbol that [`EntryPoint`] is found under.
pub const ENTRY_SYMBOL: &str = "gpubench_abi_v1";

/// First word of every [`Table`]: tells a table of ours from anything else.
pub const MAGIC: u64 = u64::from_le_bytes(*b"gpubench");

/// Major version: a tool refuses a table whose major version is not its own.
pub const ABI_MAJOR: u32 = 2;

/// Minor version: grows when fields are appended to [`Table`], or words to [`Status`].
pub const ABI_MINOR: u32 = 2;

/// Type of the exported function.
pub type EntryPoint = unsafe extern "C" fn() -> *const Table;

/// Receives bytes: `data` is borrowed for the call. May be called several times; the pieces are
/// appended.
pub type Write = unsafe extern "C" fn(context: *mut c_void, data: *const u8, len: usize);

/// Where a function of the table puts its answer, or its error message when its status is not
/// [`Status::Done`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sink {
    /// Handed back to `write`.
    pub context: *mut c_void,
    /// Appends bytes.
    pub write: Write,
}

/// Borrowed bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    /// First byte; may dangle when `len` is zero.
    pub data: *const u8,
    /// Number of bytes.
    pub len: usize,
}

/// One tensor's memory, in the order of [`Recording::tensors`](crate::catalog::Recording); `data`
/// is null for a tensor the call does not concern.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Buffer {
    /// First element, aligned to at least 16 bytes.
    pub data: *mut u8,
    /// Number of bytes.
    pub len: usize,
}

/// What a hosted benchmark launches with.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostEnvironment {
    /// The stream that a call is timed on, a `CUstream`; null where the device has no driver API.
    pub stream: *mut c_void,
    /// Ordinal of the device among those that the driver shows the process.
    pub ordinal: u32,
    /// Zero.
    pub reserved: u32,
}

/// How a call ended, as its `i32` result.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The answer is in the sink.
    Done = 0,
    /// The user's function returned an error; its text is in the sink.
    Failed = 1,
    /// The user's function panicked; the panic message with its place is in the sink.
    Panicked = 2,
    /// A recording depends on an occupancy that the request does not have; the encoded
    /// [`OccupancyQuery`](crate::catalog::OccupancyQuery) is in the sink.
    NeedsOccupancy = 3,
    /// The case is to be skipped; the reason is in the sink.
    Skipped = 4,
}

/// The functions of one kernel crate. Fields are only ever appended.
#[repr(C)]
pub struct Table {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`ABI_MAJOR`] of the runtime the crate links.
    pub abi_major: u32,
    /// [`ABI_MINOR`] of the runtime the crate links.
    pub abi_minor: u32,
    /// Bytes of this table, so that a newer tool knows which fields an older crate has.
    pub table_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Version of `gpubench-runtime`, UTF-8.
    pub runtime_version: Bytes,
    /// Writes the encoded [`Catalog`](crate::catalog::Catalog).
    pub catalog: unsafe extern "C" fn(answer: Sink) -> i32,
    /// Writes the encoded [`Recording`](crate::catalog::Recording) of benchmark number `benchmark`
    /// (its position in the catalog) for a [`RecordRequest`](crate::catalog::RecordRequest) in
    /// `request`.
    pub record: unsafe extern "C" fn(benchmark: u32, request: Bytes, answer: Sink) -> i32,
    /// Fills, from `seed`, the tensors whose fill is [`Fill::Cpu`](crate::catalog::Fill::Cpu).
    /// `request` as for `record`; all of those tensors have memory.
    pub generate: unsafe extern "C" fn(
        benchmark: u32,
        request: Bytes,
        seed: u64,
        buffers: *const Buffer,
        count: usize,
        answer: Sink,
    ) -> i32,
    /// Runs the CPU reference, for a recording whose reference is
    /// [`Author`](crate::catalog::Reference::Author): reads inputs and constants, writes outputs;
    /// an in-out tensor holds its input and is overwritten. Scratch has no memory.
    pub reference:
        unsafe extern "C" fn(benchmark: u32, request: Bytes, buffers: *const Buffer, count: usize, answer: Sink) -> i32,
    /// Calls the function of a hosted benchmark, which sets itself up, and stores what
    /// [`host_call`](Table::host_call) is given. `request` as for `record`; every tensor has memory
    /// of the device, which the tool keeps mapped until the process ends.
    pub host_open: unsafe extern "C" fn(
        benchmark: u32,
        request: Bytes,
        environment: HostEnvironment,
        buffers: *const Buffer,
        count: usize,
        state: *mut *mut c_void,
        answer: Sink,
    ) -> i32,
    /// Queues one call of a benchmark that `host_open` has set up, on the thread that set it up.
    pub host_call: unsafe extern "C" fn(state: *mut c_void, answer: Sink) -> i32,
}

// SAFETY: a table is immutable data and function pointers.
unsafe impl Sync for Table {}
