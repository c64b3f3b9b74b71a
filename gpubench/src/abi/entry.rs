//! The exported symbol of a cdylib, and the functions in its table.

use std::ffi::c_void;

use super::memory::{addresses, check_data, cpu_data};
use super::panics::guard;
use super::table::{ABI_MAJOR, ABI_MINOR, Buffer, Bytes, HostEnvironment, MAGIC, Sink, Status, Table};
use crate::catalog::{Catalog, OccupancyQuery, RecordRequest, Recording};
use crate::codec::{decode, encode};
use crate::error::{Error, Result};
use crate::host::{Host, HostCall};
use crate::registry::{self, Case, CheckVerdict, Unrecorded};

const VERSION: &str = env!("CARGO_PKG_VERSION");

static TABLE: Table = Table {
    magic: MAGIC,
    abi_major: ABI_MAJOR,
    abi_minor: ABI_MINOR,
    table_size: size_of::<Table>() as u32,
    reserved: 0,
    runtime_version: Bytes {
        data: VERSION.as_ptr(),
        len: VERSION.len(),
    },
    catalog,
    record,
    generate,
    reference,
    host_open,
    host_call,
    check,
};

/// The entry point of a kernel crate built as a cdylib; see [`ENTRY_SYMBOL`](super::ENTRY_SYMBOL).
// SAFETY: the name has this crate's prefix, and `links` in the manifest keeps a second version out
// of the build.
#[unsafe(no_mangle)]
pub extern "C" fn gpubench_abi_v1() -> *const Table {
    &raw const TABLE
}

unsafe extern "C" fn catalog(answer: Sink) -> i32 {
    respond(answer, registry::catalog)
}

unsafe extern "C" fn record(benchmark: u32, request: Bytes, answer: Sink) -> i32 {
    respond(answer, || {
        // SAFETY: the caller lends the request for the call.
        let request = unsafe { read(request)? };
        let case = Case::new(registry::entry(benchmark)?, &request.params)?;
        match case.record(&request) {
            Ok(recording) => Ok(Recorded::Recording(recording)),
            Err(Unrecorded::NeedsOccupancy(query)) => Ok(Recorded::NeedsOccupancy(query)),
            Err(Unrecorded::Failed(error)) => Err(error),
        }
    })
}

unsafe extern "C" fn generate(
    benchmark: u32,
    request: Bytes,
    seed: u64,
    buffers: *const Buffer,
    count: usize,
    answer: Sink,
) -> i32 {
    respond(answer, || {
        // SAFETY: the caller lends the request for the call.
        let request = unsafe { read(request)? };
        let case = Case::new(registry::entry(benchmark)?, &request.params)?;
        // SAFETY: the caller lends `count` buffers, each with its memory, for the call.
        let data = unsafe { cpu_data(case.tensors(), Case::is_generated, buffers, count)? };
        case.generate(seed, data)
    })
}

unsafe extern "C" fn reference(
    benchmark: u32,
    request: Bytes,
    buffers: *const Buffer,
    count: usize,
    answer: Sink,
) -> i32 {
    respond(answer, || {
        // SAFETY: the caller lends the request for the call.
        let request = unsafe { read(request)? };
        let case = Case::new(registry::entry(benchmark)?, &request.params)?;
        // SAFETY: the caller lends `count` buffers, each with its memory, for the call.
        let data = unsafe { cpu_data(case.tensors(), Case::is_operand, buffers, count)? };
        case.reference(request.facts.kind, data)
    })
}

unsafe extern "C" fn check(benchmark: u32, request: Bytes, buffers: *const Buffer, count: usize, answer: Sink) -> i32 {
    respond(answer, || {
        // SAFETY: the caller lends the request for the call.
        let request = unsafe { read(request)? };
        let case = Case::new(registry::entry(benchmark)?, &request.params)?;
        // SAFETY: the caller lends `count` buffers, each with its memory, for the call.
        let data = unsafe { check_data(case.tensors(), buffers, count)? };
        case.check(data)
    })
}

unsafe extern "C" fn host_open(
    benchmark: u32,
    request: Bytes,
    environment: HostEnvironment,
    buffers: *const Buffer,
    count: usize,
    state: *mut *mut c_void,
    answer: Sink,
) -> i32 {
    respond(answer, || {
        // SAFETY: the caller lends the request for the call.
        let request = unsafe { read(request)? };
        let case = Case::new(registry::entry(benchmark)?, &request.params)?;
        // SAFETY: the caller lends `count` buffers for the call.
        let addresses = unsafe { addresses(case.tensors(), buffers, count)? };
        let host = Host::new(
            case.path(),
            case.tensors().to_vec(),
            addresses,
            request.facts.clone(),
            environment,
        );
        let call: Box<HostCall> = Box::new(case.host(host)?);
        // SAFETY: the caller lends the place for the call. The state is never freed, so it lives as
        // long as the process.
        unsafe { state.write(Box::into_raw(call).cast()) };
        Ok(())
    })
}

unsafe extern "C" fn host_call(state: *mut c_void, answer: Sink) -> i32 {
    respond(answer, || {
        // SAFETY: the caller passes what `host_open` stored, on the same thread, and calls one at a
        // time.
        let call = unsafe { &mut *state.cast::<HostCall>() };
        call()
    })
}

/// # Safety
/// `request` must be readable until the function returns.
unsafe fn read(request: Bytes) -> Result<RecordRequest> {
    let bytes = match request.len {
        0 => &[],
        // SAFETY: the caller guarantees that `len` bytes from `data` are readable.
        len => unsafe { std::slice::from_raw_parts(request.data, len) },
    };
    decode(bytes).map_err(|error| Error::from(error).context("request"))
}

/// Runs `work` and writes the answer, the error or the panic message to the sink.
fn respond<T: Answer>(answer: Sink, work: impl FnOnce() -> Result<T>) -> i32 {
    let (status, bytes) = match guard(work) {
        Ok(Ok(value)) => (value.status(), value.into_bytes()),
        Ok(Err(error)) => {
            let status = if error.is_skip() {
                Status::Skipped
            } else {
                Status::Failed
            };
            (status, error.to_string().into_bytes())
        }
        Err(panic) => (Status::Panicked, panic.into_bytes()),
    };
    // SAFETY: the sink takes the bytes during the call, while they are alive.
    unsafe { (answer.write)(answer.context, bytes.as_ptr(), bytes.len()) };
    status as i32
}

/// The answer of a function in the table.
trait Answer {
    fn status(&self) -> Status {
        Status::Done
    }

    fn into_bytes(self) -> Vec<u8>;
}

impl Answer for Catalog {
    fn into_bytes(self) -> Vec<u8> {
        encode(&self)
    }
}

impl Answer for () {
    fn into_bytes(self) -> Vec<u8> {
        Vec::new()
    }
}

impl Answer for CheckVerdict {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            CheckVerdict::Accepted => Vec::new(),
            CheckVerdict::Rejected(reason) => [&[1], reason.as_bytes()].concat(),
        }
    }
}

/// Returns the answer to `record`.
enum Recorded {
    Recording(Recording),
    NeedsOccupancy(OccupancyQuery),
}

impl Answer for Recorded {
    fn status(&self) -> Status {
        match self {
            Recorded::Recording(_) => Status::Done,
            Recorded::NeedsOccupancy(_) => Status::NeedsOccupancy,
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Recorded::Recording(recording) => encode(&recording),
            Recorded::NeedsOccupancy(query) => encode(&query),
        }
    }
}
