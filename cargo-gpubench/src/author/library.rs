//! The user's cdylib: loading it and calling the functions of its table.

use std::ffi::c_void;
use std::path::Path;

use gpubench::abi::{self, Buffer, Bytes, Sink, Table};
use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};

use super::AuthorError;
use crate::wire::AuthorFailure;

const NEEDS_OCCUPANCY: i32 = abi::Status::NeedsOccupancy as i32;

/// What comes of recording a case, encoded.
pub(super) enum Recorded {
    /// The recording.
    Recording(Vec<u8>),
    /// The question whose answer it depends on.
    NeedsOccupancy(Vec<u8>),
}

/// A loaded cdylib. It is never unloaded: unloading a library with live thread-locals crashes.
pub(super) struct Library {
    table: &'static Table,
}

impl Library {
    /// Loads the cdylib and finds its table. Runs the library's constructors.
    pub(super) fn load(path: &Path) -> Result<Library, AuthorError> {
        let refused = |message: String| AuthorError::new(AuthorFailure::Library, message);
        // SAFETY: loading runs the user's constructors, which is what this process is for.
        let library = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let library = library.map_err(|error| refused(explain_load_error(&error.to_string())))?;
        // SAFETY: the symbol of this name, made by our runtime, has this type; a foreign one is refused by its magic below.
        let entry = unsafe { library.get::<abi::EntryPoint>(abi::ENTRY_SYMBOL.as_bytes()) };
        let entry =
            entry.map_err(|_| AuthorError::new(AuthorFailure::NoBenchmarks, "it has no `#[gpubench]` functions"))?;
        // SAFETY: as above; the function takes nothing and returns a pointer to static data.
        let table = unsafe { entry().as_ref() }.ok_or_else(|| refused("its table is missing".to_owned()))?;
        std::mem::forget(library);
        if table.magic != abi::MAGIC {
            return Err(refused(format!("its `{}` is not gpubench's", abi::ENTRY_SYMBOL)));
        }
        if table.abi_major != abi::ABI_MAJOR || (table.table_size as usize) < size_of::<Table>() {
            return Err(refused(version_mismatch(table)));
        }
        Ok(Library { table })
    }

    /// The encoded catalog.
    pub(super) fn catalog(&self) -> Result<Vec<u8>, AuthorError> {
        // SAFETY: the table's function follows the contract of `Table::catalog`.
        answered(|sink| unsafe { (self.table.catalog)(sink) })
    }

    /// What comes of recording a case.
    pub(super) fn record(&self, benchmark: u32, request: &[u8]) -> Result<Recorded, AuthorError> {
        // SAFETY: as above, for `Table::record`; the bytes live through the call.
        let (status, answer) = called(|sink| unsafe { (self.table.record)(benchmark, bytes(request), sink) });
        match status {
            NEEDS_OCCUPANCY => Ok(Recorded::NeedsOccupancy(answer)),
            status => done(status, answer).map(Recorded::Recording),
        }
    }

    /// Runs the user's generator.
    ///
    /// # Safety
    /// Every buffer with an address is memory of its length, aligned to 16 bytes and writable, that nothing else uses meanwhile.
    pub(super) unsafe fn generate(
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
    /// # Safety
    /// As [`Library::generate`]; inputs need only be readable.
    pub(super) unsafe fn reference(
        &self,
        benchmark: u32,
        request: &[u8],
        buffers: &[Buffer],
    ) -> Result<(), AuthorError> {
        // SAFETY: the caller vouches for the buffers.
        let call =
            |sink| unsafe { (self.table.reference)(benchmark, bytes(request), buffers.as_ptr(), buffers.len(), sink) };
        answered(call).map(drop)
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
        _ => AuthorFailure::Library,
    };
    Err(AuthorError::new(failure, String::from_utf8_lossy(&answer)))
}

unsafe extern "C" fn append(context: *mut c_void, data: *const u8, len: usize) {
    if len == 0 {
        return;
    }
    // SAFETY: `called` passes its vector, alive and unshared through the call, and the table passes bytes that it lends for the call.
    unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data, len)) };
}

fn version_mismatch(table: &Table) -> String {
    let (theirs, ours) = (table.abi_major, abi::ABI_MAJOR);
    let older = if theirs < ours {
        "gpubench-runtime is older than this tool"
    } else {
        "this tool is older than gpubench-runtime"
    };
    format!(
        "it speaks version {theirs} of the interface and this tool speaks version {ours}: {older}; bring both to the same version"
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
