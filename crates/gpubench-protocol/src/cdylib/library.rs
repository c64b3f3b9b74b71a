//! Loads the user's cdylib and calls the functions of its table.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::ManuallyDrop;

use gpubench::abi::{self, Buffer, Bytes, HostEnvironment, Sink, Table};
use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};

use super::AuthorError;
use crate::wire::AuthorFailure;
use gpubench_device::FrozenFile;
use gpubench_diagnostic::chain;

const NEEDS_OCCUPANCY: i32 = abi::Status::NeedsOccupancy as i32;

/// The encoded result of recording a case.
pub enum Recorded {
    /// The recording.
    Recording(Vec<u8>),
    /// The occupancy that the recording needs first.
    NeedsOccupancy(Vec<u8>),
}

/// A loaded cdylib. It is never unloaded: unloading a library with live thread-locals crashes.
#[derive(Clone, Copy)]
pub struct Library {
    table: &'static Table,
}

impl Library {
    /// Loads the cdylib, which is the last of `files`, and finds its table. Its dependencies are
    /// loaded first: the linker then uses them for their `SONAME` and does not search folders. Runs
    /// the constructors of all.
    ///
    /// # Errors
    /// If it cannot be loaded, or if this tool cannot use its table.
    pub fn load(files: Vec<FrozenFile>) -> Result<Library, AuthorError> {
        let mut loaded = None;
        for file in files {
            let path = file.path_for_linker().map_err(|error| refused(error.to_string()))?;
            // SAFETY: loading runs the user's constructors. This process exists to run the user's
            // code.
            let library = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
            let library = library.map_err(|error| refused(explain_load_error(&chain(&error))))?;
            loaded = Some(ManuallyDrop::new(library));
        }
        let library = loaded.ok_or_else(|| refused("there is no library to load"))?;
        // SAFETY: our runtime defines the symbol of this name with this type. The magic number
        // below excludes others.
        let entry = unsafe { library.get::<abi::EntryPoint>(abi::ENTRY_SYMBOL.as_bytes()) };
        let entry =
            entry.map_err(|_| AuthorError::new(AuthorFailure::NoBenchmarks, "it has no `#[gpubench]` functions"))?;
        // SAFETY: as above; the function takes nothing and returns a pointer to static data.
        let table = unsafe { entry().as_ref() }.ok_or_else(|| refused("its table is missing"))?;
        if table.magic != abi::MAGIC {
            return Err(refused(format!(
                "its symbol `{}` is not from gpubench",
                abi::ENTRY_SYMBOL
            )));
        }
        if table.abi_major != abi::ABI_MAJOR || (table.table_size as usize) < size_of::<Table>() {
            return Err(refused(version_mismatch(table)));
        }
        Ok(Library { table })
    }

    /// Returns the encoded catalog.
    ///
    /// # Errors
    /// If the table's function fails.
    pub fn catalog(&self) -> Result<Vec<u8>, AuthorError> {
        // SAFETY: the table's function follows the contract of `Table::catalog`.
        call_checked(|sink| unsafe { (self.table.catalog)(sink) })
    }

    /// Records a case.
    ///
    /// # Errors
    /// If the table's function fails.
    pub fn record(&self, benchmark: u32, request: &[u8]) -> Result<Recorded, AuthorError> {
        // SAFETY: as above, for `Table::record`; the bytes live through the call.
        let (status, answer) = call_table(|sink| unsafe { (self.table.record)(benchmark, bytes(request), sink) });
        match status {
            NEEDS_OCCUPANCY => Ok(Recorded::NeedsOccupancy(answer)),
            status => done(status, answer).map(Recorded::Recording),
        }
    }

    /// Runs the user's generator.
    ///
    /// # Errors
    /// If the table's function fails.
    ///
    /// # Safety
    /// Every buffer with an address is writable memory of its length, aligned to 16 bytes, and
    /// nothing else uses it during the call.
    pub unsafe fn generate(
        &self,
        benchmark: u32,
        request: &[u8],
        seed: u64,
        buffers: &[Buffer],
    ) -> Result<(), AuthorError> {
        // SAFETY: the caller guarantees the buffers.
        let call = |sink| unsafe {
            (self.table.generate)(benchmark, bytes(request), seed, buffers.as_ptr(), buffers.len(), sink)
        };
        call_checked(call).map(drop)
    }

    /// Runs the user's reference.
    ///
    /// # Errors
    /// If the table's function fails.
    ///
    /// # Safety
    /// As [`Library::generate`]; inputs need only be readable.
    pub unsafe fn reference(&self, benchmark: u32, request: &[u8], buffers: &[Buffer]) -> Result<(), AuthorError> {
        // SAFETY: the caller guarantees the buffers.
        let call =
            |sink| unsafe { (self.table.reference)(benchmark, bytes(request), buffers.as_ptr(), buffers.len(), sink) };
        call_checked(call).map(drop)
    }
}

impl Library {
    /// Runs the user's check. Returns the reason if it rejects the outputs.
    ///
    /// # Errors
    /// If the table's function fails.
    ///
    /// # Safety
    /// As [`Library::generate`], for the buffers of `Table::check`; only expected contents are
    /// written.
    pub unsafe fn check(
        &self,
        benchmark: u32,
        request: &[u8],
        buffers: &[Buffer],
    ) -> Result<Option<String>, AuthorError> {
        // SAFETY: the caller guarantees the buffers.
        let call =
            |sink| unsafe { (self.table.check)(benchmark, bytes(request), buffers.as_ptr(), buffers.len(), sink) };
        let answer = call_checked(call)?;
        Ok(answer
            .get(1..)
            .map(|reason| String::from_utf8_lossy(reason).into_owned()))
    }
}

fn refused(message: impl Into<String>) -> AuthorError {
    AuthorError::new(AuthorFailure::Library, message)
}

/// A hosted benchmark after its set-up. It lives as long as the process.
#[derive(Clone, Copy)]
pub struct HostedBenchmark {
    table: &'static Table,
    state: *mut c_void,
}

// SAFETY: only `HostedBenchmark::call` uses the state, and its callers stay on the thread that made
// it.
unsafe impl Send for HostedBenchmark {}

impl Library {
    /// Runs the set-up of a hosted benchmark.
    ///
    /// # Errors
    /// If the table's function fails.
    ///
    /// # Safety
    /// Every buffer is device memory of its length and stays mapped until the process ends.
    pub unsafe fn host_open(
        &self,
        benchmark: u32,
        request: &[u8],
        environment: HostEnvironment,
        buffers: &[Buffer],
    ) -> Result<HostedBenchmark, AuthorError> {
        let mut state = std::ptr::null_mut();
        // SAFETY: the caller guarantees the buffers; request and state live through the call.
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
        call_checked(open)?;
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
    /// If the user's code returns an error or panics.
    ///
    /// # Safety
    /// The caller is on the thread of the set-up and makes one call at a time.
    pub unsafe fn call(self) -> Result<(), AuthorError> {
        // SAFETY: the state is what `host_open` stored, and the caller keeps to its thread.
        call_checked(|sink| unsafe { (self.table.host_call)(self.state, sink) }).map(drop)
    }
}

fn bytes(of: &[u8]) -> Bytes {
    Bytes {
        data: of.as_ptr(),
        len: of.len(),
    }
}

/// Calls a function of the table. Returns its status and its output.
fn call_table(call: impl FnOnce(Sink) -> i32) -> (i32, Vec<u8>) {
    let mut answer: Vec<u8> = Vec::new();
    let status = call(Sink {
        context: (&raw mut answer).cast(),
        write: append,
    });
    (status, answer)
}

/// Calls a function of the table and turns its status into a result.
fn call_checked(call: impl FnOnce(Sink) -> i32) -> Result<Vec<u8>, AuthorError> {
    let (status, answer) = call_table(call);
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
    // SAFETY: `call_table` passes its vector, which is alive and unshared through the call, and the
    // table passes bytes that it lends for the call.
    unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data, len)) };
}

fn version_mismatch(table: &Table) -> String {
    let theirs = (table.abi_major, table.abi_minor);
    let ours = (abi::ABI_MAJOR, abi::ABI_MINOR);
    let older = if theirs < ours {
        "gpubench is older than this tool"
    } else {
        "this tool is older than gpubench"
    };
    format!(
        "it uses version {}.{} of the interface, and this tool uses version {}.{}: {older} (hint: use the same version of both)",
        theirs.0, theirs.1, ours.0, ours.1
    )
}

/// Returns the loader's message, with a hint if the cause is known.
fn explain_load_error(message: &str) -> String {
    if message.contains("static TLS block") {
        return format!(
            "{message} (hint: a global allocator such as jemalloc or mimalloc needs its feature for use in shared libraries: \
             `disable_initial_exec_tls` or `local_dynamic_tls`)"
        );
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_cannot_be_loaded_shows_the_words_of_the_dynamic_linker() {
        let text = FrozenFile::of_contents(
            "text",
            &b"this is a text, and too long for a header of ELF: ................"[..],
        )
        .unwrap();
        let error = Library::load(vec![text]).err().unwrap();
        assert!(error.message.contains("invalid ELF header"), "{}", error.message);
    }
}
