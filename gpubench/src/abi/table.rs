//! The table of functions that a cdylib exports.

use std::ffi::c_void;

/// Name of the exported [`EntryPoint`].
pub const ENTRY_SYMBOL: &str = "gpubench_abi_v1";

/// First word of every [`Table`], which identifies it.
pub const MAGIC: u64 = u64::from_le_bytes(*b"gpubench");

/// Major version. The tool rejects a table with another major version.
pub const ABI_MAJOR: u32 = 4;

/// Minor version. It grows when [`Table`] gets a field or [`Status`] a value.
pub const ABI_MINOR: u32 = 1;

/// Type of the exported function.
pub type EntryPoint = unsafe extern "C" fn() -> *const Table;

/// Receives bytes. `data` is valid for the call. Several calls append.
pub type Write = unsafe extern "C" fn(context: *mut c_void, data: *const u8, len: usize);

/// The destination for the answer of a function, or for its error message if the status is not
/// [`Status::Done`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Sink {
    /// First argument of `write`.
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

/// The memory of a tensor, in the order of [`Recording::tensors`](crate::catalog::Recording).
/// `data` is null for a tensor that the call does not use.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Buffer {
    /// First element, aligned to at least 16 bytes.
    pub data: *mut u8,
    /// Number of bytes.
    pub len: usize,
}

/// The device handles of a hosted benchmark.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostEnvironment {
    /// Stream that a call is timed on, a `CUstream`. Null if the device has no driver API.
    pub stream: *mut c_void,
    /// Device ordinal in this process.
    pub ordinal: u32,
    /// Padding, zero.
    pub reserved: u32,
}

/// The result of a function, as `i32`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The answer is in the sink.
    Done = 0,
    /// The user's function returned an error. The message is in the sink.
    Failed = 1,
    /// The user's function panicked. The message with its location is in the sink.
    Panicked = 2,
    /// A recording depends on an occupancy that the request does not have. The encoded
    /// [`OccupancyQuery`](crate::catalog::OccupancyQuery) is in the sink.
    NeedsOccupancy = 3,
    /// The case is skipped. The reason is in the sink.
    Skipped = 4,
}

/// The functions of a kernel crate. New fields are only ever appended.
#[repr(C)]
pub struct Table {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`ABI_MAJOR`] of the crate's runtime.
    pub abi_major: u32,
    /// [`ABI_MINOR`] of the crate's runtime.
    pub abi_minor: u32,
    /// Size of this table in bytes, from which a newer tool knows the fields of an older crate.
    pub table_size: u32,
    /// Padding, zero.
    pub reserved: u32,
    /// Version of `gpubench` in UTF-8.
    pub runtime_version: Bytes,
    /// Writes the encoded [`Catalog`](crate::catalog::Catalog).
    pub catalog: unsafe extern "C" fn(answer: Sink) -> i32,
    /// Writes the encoded [`Recording`](crate::catalog::Recording) of a benchmark. `benchmark` is
    /// its position in the catalog, `request` an encoded
    /// [`RecordRequest`](crate::catalog::RecordRequest).
    pub record: unsafe extern "C" fn(benchmark: u32, request: Bytes, answer: Sink) -> i32,
    /// Fills the tensors of which [`is_made_on_cpu`](crate::catalog::Fill::is_made_on_cpu) is true,
    /// from `seed`. All
    /// of these tensors have memory. `request` is as for `record`.
    pub generate: unsafe extern "C" fn(
        benchmark: u32,
        request: Bytes,
        seed: u64,
        buffers: *const Buffer,
        count: usize,
        answer: Sink,
    ) -> i32,
    /// Runs the CPU reference of a recording whose reference is
    /// [`Author`](crate::catalog::Reference::Author). It reads inputs and constants, writes
    /// outputs, and overwrites the inputs in in-out tensors. Scratch tensors have no memory.
    pub reference:
        unsafe extern "C" fn(benchmark: u32, request: Bytes, buffers: *const Buffer, count: usize, answer: Sink) -> i32,
    /// Calls the function of a hosted benchmark, which does its setup, and stores the state for
    /// [`host_call`](Table::host_call). `request` is as for `record`. Every tensor has device
    /// memory, which the tool keeps mapped until the process ends.
    pub host_open: unsafe extern "C" fn(
        benchmark: u32,
        request: Bytes,
        environment: HostEnvironment,
        buffers: *const Buffer,
        count: usize,
        state: *mut *mut c_void,
        answer: Sink,
    ) -> i32,
    /// Queues one call of a benchmark after `host_open`, on the thread that called `host_open`.
    pub host_call: unsafe extern "C" fn(state: *mut c_void, answer: Sink) -> i32,
    /// Runs the check of a recording whose reference is
    /// [`Checked`](crate::catalog::Reference::Checked). There are three buffers for each tensor:
    /// the contents before the call, the expected ones, which it changes where it accepts others,
    /// and those after the call. Outputs have no first one, inputs and constants only the first,
    /// scratch none. It writes nothing if it accepts the outputs, or else one byte and the reason.
    pub check:
        unsafe extern "C" fn(benchmark: u32, request: Bytes, buffers: *const Buffer, count: usize, answer: Sink) -> i32,
}

// SAFETY: a table is immutable and holds only data and function pointers.
unsafe impl Sync for Table {}
