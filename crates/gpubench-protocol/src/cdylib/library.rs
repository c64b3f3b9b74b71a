//! The user's cdylib: loading it and calling the functions of its table.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::ManuallyDrop;

use gpubench::abi::{self, Buffer, Bytes, HostEnvironment, Sink, Table};
use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};

use super::AuthorError;
use crate::wire::AuthorFailure;
use gpubench_device::FrozenFile;

const NEEDS_OCCUPANCY: i32 = abi::Status::NeedsOccupancy as i32;

/// What comes of recording a case, encoded.
pub enum Recorded {
    /// The recording.
    Recording(Vec<u8>),
    /// The question whose answer it depends on.
    NeedsOccupancy(Vec<u8>),
}

/// A loaded cdylib. It is never unloaded: unloading a library with live thread-locals crashes.
#[derive(Clone, Copy)]
pub struct Library {
    table: &'static Table,
}

impl Library {
    /// Loads the cdylib, the last of `files`, and finds its table. Those before it, which it needs,
    /// are loaded first: the linker takes a library that is there already for one that is needed
    /// under its `SONAME`, and looks for none in folders. Runs their constructors.
    ///
    /// # Errors
    /// When it cannot be loaded, or its table is not one that this tool can use.
    pub fn load(files: Vec<FrozenFile>) -> Result<Library, AuthorError> {
        let refused = |message: String| AuthorError::new(AuthorFailure::Library, message);
        let mut loaded = None;
        for file in files {
            let path = file.path_for_linker().map_err(|error| refused(error.to_string()))?;
            // SAFETY: loading runs the user's constructors, which is what this process is for.
            let library = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
            let library = library.map_err(|error| refused(explain_load_error(&error.to_string())))?;
            loaded = Some(ManuallyDrop::new(library));
        }
        let library = loaded.ok_or_else(|| refused("there is no library to load".to_owned()))?;
        // SAFETY: the symbol of this name, made by our runtime, has this type; a foreign one is
        // refused by its magic below.
        let entry = unsafe { library.get::<abi::EntryPoint>(abi::ENTRY_SYMBOL.as_bytes()) };
        let entry =
            entry.map_err(|_| AuthorError::new(AuthorFailure::NoBenchmarks, "it has no `#[gpubench]` functions"))?;
        // SAFETY: as above; the function takes nothing and returns a pointer to static data.
        let table = unsafe { entry().as_ref() }.ok_or_else(|| refused("its table is missing".to_owned()))?;
        if table.magic != abi::MAGIC {
            return Err(refused(format!("its `{}` is not gpubench's", abi::ENTRY_SYMBOL)));
        }
        if table.abi_major != abi::ABI_MAJOR || (table.table_size as usize) < size_of::<Table>() {
            return Err(refused(version_mismatch(table)));
        }
        Ok(Library { table })
    }

    /// The encoded catalog.
    ///
    /// # Errors
    /// What the function of the table answers with.
    pub fn catalog(&self) -> Result<Vec<u8>, AuthorError> {
        // SAFETY: the table's function follows the contract of `Table::catalog`.
        answered(|sink| unsafe { (self.table.catalog)(sink) })
    }

    /// What comes of recording a case.
    ///
    /// # Errors
    /// What the function of the table answers with.
    pub fn record(&self, benchmark: u32, request: &[u8]) -> Result<Recorded, AuthorError> {
        // SAFETY: as above, for `Table::record`; the bytes live through the call.
        let (status, answer) = called(|sink| unsafe { (self.table.record)(benchmark, bytes(request), sink) });
        match status {
            NEEDS_OCCUPANCY => Ok(Recorded::NeedsOccupancy(answer)),
            status => done(status, answer).map(Recorded::Recording),
        }
    }

    /// Runs the user's generator.
    ///
    /// # Errors
    /// What the function of the table answers with.
    ///
    /// # Safety
    /// Every buffer with an address is memory of its length, aligned to 16 bytes and writable, that
    /// nothing else uses meanwhile.
    pub unsafe fn generate(
        &self,
        benchmark: u32,
        request: &[u8],
        seed: u64,
        buffers: &[Buffer],
    ) -> Result<(), AuthorError> {
        // SAFETY: the caller vouches for the buffers.
        let call = |sink| unsafe {
            (self.table.generate)(benchmark, bytes(request), seed, buffers.as_ptr(), buffers.len(), sink)
        };
        answered(call).map(drop)
    }

    /// Runs the user's reference.
    ///
    /// # Errors
    /// What the function of the table answers with.
    ///
    /// # Safety
    /// As [`Library::generate`]; inputs need only be readable.
    pub unsafe fn reference(&self, benchmark: u32, request: &[u8], buffers: &[Buffer]) -> Result<(), AuthorError> {
        // SAFETY: the caller vouches for the buffers.
        let call =
            |sink| unsafe { (self.table.reference)(benchmark, bytes(request), buffers.as_ptr(), buffers.len(), sink) };
        answered(call).map(drop)
    }
}

/// A hosted benchmark that has set itself up. It lives as long as the process.
#[derive(Clone, Copy)]
pub struct HostedBenchmark {
    table: &'static Table,
    state: *mut c_void,
}

// SAFETY: the state is used by `HostedBenchmark::call` alone, whose callers keep to the thread that
// made it.
unsafe impl Send for HostedBenchmark {}

impl Library {
    /// Calls the function of a hosted benchmark, which sets itself up.
    ///
    /// # Errors
    /// What the function of the table answers with.
    ///
    /// # Safety
    /// Every buffer is memory of the device of its length that is mapped until the process ends.
    pub unsafe fn host_open(
        &self,
        benchmark: u32,
        request: &[u8],
        environment: HostEnvironment,
        buffers: &[Buffer],
    ) -> Result<HostedBenchmark, AuthorError> {
        let mut state = std::ptr::null_mut();
        // SAFETY: the caller vouches for the buffers; request and state live through the call.
        let open = |sink| unsafe {
            let (request, count) = (bytes(request), buffers.len());
            (self.table.host_open)(
                benchmark,
                request,
                environment,
                buffers.as_ptr(),
                count,
                &raw mut state,
                sink,
            )
        };
        answered(open)?;
        Ok(HostedBenchmark {
            table: self.table,
            state,
        })
    }
}

impl HostedBenchmark {
    /// Queues one call.
    ///
    /// # Errors
    /// What the user's code returned, or its panic.
    ///
    /// # Safety
    /// On the thread that set the benchmark up, one call at a time.
    pub unsafe fn call(self) -> Result<(), AuthorError> {
        // SAFETY: the state is what `host_open` stored, and the caller keeps to its thread.
        answered(|sink| unsafe { (self.table.host_call)(self.state, sink) }).map(drop)
    }
}

fn bytes(of: &[u8]) -> Bytes {
    Bytes {
        data: of.as_ptr(),
        len: of.len(),
    }
}

/// Calls a function of the table: its status, and what it wrote.
fn called(call: impl FnOnce(Sink) -> i32) -> (i32, Vec<u8>) {
    let mut answer: Vec<u8> = Vec::new();
    let status = call(Sink {
        context: (&raw mut answer).cast(),
        write: append,
    });
    (status, answer)
}

/// Calls a function of the table and turns its status into a result.
fn answered(call: impl FnOnce(Sink) -> i32) -> Result<Vec<u8>, AuthorError> {
    let (status, answer) = called(call);
    done(status, answer)
}

fn done(status: i32, answer: Vec<u8>) -> Result<Vec<u8>, AuthorError> {
    let failure = match status {
        0 => return Ok(answer),
        1 => AuthorFailure::Returned,
        2 => AuthorFailure::Panicked,
        4 => AuthorFailure::Skipped,
        _ => AuthorFailure::Library,
    };
    Err(AuthorError::new(failure, String::from_utf8_lossy(&answer)))
}

unsafe extern "C" fn append(context: *mut c_void, data: *const u8, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: `called` passes its vector, alive and unshared through the call, and the table passes
    // bytes that it lends for the call.
    unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data, len)) };
}

fn version_mismatch(table: &Table) -> String {
    let theirs = (table.abi_major, table.abi_minor);
    let ours = (abi::ABI_MAJOR, abi::ABI_MINOR);
    let older = if theirs < ours {
        "gpubench-runtime is older than this tool"
    } else {
        "this tool is older than gpubench-runtime"
    };
    format!(
        "it speaks version {}.{} of the interface and this tool speaks version {}.{}: {older}; bring both to the same version",
        theirs.0, theirs.1, ours.0, ours.1
    )
}

/// The loader's message, with advice where the cause is known.
fn explain_load_error(message: &str) -> String {
    if message.contains("static TLS block") {
        return format!(
            "{message} (hint: a global allocator such as jemalloc or mimalloc needs its feature for use in shared libraries: \
             `disable_initial_exec_tls` or `local_dynamic_tls`)"
        );
    }
    message.to_owned()
}
