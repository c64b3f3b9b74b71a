//! NVTX ranges around windows, for profilers.
//!
//! NVTX has no runtime library. A profiler names its own library in `NVTX_INJECTION64_PATH`, and
//! the application passes it tables for the functions that it wants to receive (`injection`). Older
//! profilers come with `libnvToolsExt.so.1`, which exports the functions by name.

mod injection;

use std::ffi::{CStr, OsString, c_char, c_int};

use libloading::Library;

/// The environment variable with a profiler's library.
pub const INJECTION: &str = "NVTX_INJECTION64_PATH";

/// The library of older NVTX versions.
const LIBRARY: &str = "libnvToolsExt.so.1";

/// `nvtxRangePushA`.
type Push = unsafe extern "C" fn(*const c_char) -> c_int;
/// `nvtxRangePop`.
type Pop = unsafe extern "C" fn() -> c_int;

/// Why no profiler receives the ranges.
#[derive(Debug, thiserror::Error)]
pub enum NvtxError {
    /// No profiler is attached.
    #[error("no profiler is attached for NVTX: `{INJECTION}` is not set, and `{LIBRARY}` was not found")]
    NoProfiler(#[source] libloading::Error),
    /// The profiler's library cannot be loaded.
    #[error("the profiler's library `{}` cannot be loaded", .path.display())]
    Load {
        /// The library.
        path: OsString,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// The library does not belong to a profiler.
    #[error("`{}` does not support NVTX ranges: it has no `{function}`", .path.display())]
    MissingFunction {
        /// The library.
        path: OsString,
        /// The missing function.
        function: &'static str,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// The profiler refuses the connection.
    #[error("the profiler's library `{}` refused the connection", .path.display())]
    Refused {
        /// The library.
        path: OsString,
    },
}

impl NvtxError {
    /// Returns what the user can do.
    pub fn hint(&self) -> String {
        match self {
            NvtxError::NoProfiler(_) => {
                "run under a profiler, such as `nsys profile --trace=cuda,nvtx`, or omit `--nvtx`".to_owned()
            }
            _ => format!("correct or unset `{INJECTION}`"),
        }
    }
}

/// The connection to a profiler. A range belongs to the thread that opens it.
pub struct Nvtx {
    /// The function that the profiler registered, if any.
    push: Option<Push>,
    pop: Option<Pop>,
    reaches: &'static str,
    /// The library with the functions. It is never unloaded: profilers have threads of their own.
    _library: &'static Library,
}

impl Nvtx {
    /// Finds a profiler: the library in `NVTX_INJECTION64_PATH`, else `libnvToolsExt.so.1`.
    ///
    /// # Errors
    /// When there is none.
    pub fn open() -> Result<Nvtx, NvtxError> {
        match std::env::var_os(INJECTION).filter(|path| !path.is_empty()) {
            Some(path) => injection::open(path),
            None => Nvtx::of_library(),
        }
    }

    /// Returns the name of the library that receives the ranges, for messages.
    pub fn reaches(&self) -> &'static str {
        self.reaches
    }

    /// Opens a range.
    pub fn push(&self, text: &CStr) {
        if let Some(push) = self.push {
            // SAFETY: the function is the profiler's own for this call, and the text outlives the
            // call.
            unsafe { push(text.as_ptr()) };
        }
    }

    /// Closes the most recently opened range.
    pub fn pop(&self) {
        if let Some(pop) = self.pop {
            // SAFETY: the function is the profiler's own for this call.
            unsafe { pop() };
        }
    }

    fn of_library() -> Result<Nvtx, NvtxError> {
        // SAFETY: NVTX's library has no constructors with requirements for the program.
        let library = unsafe { Library::new(LIBRARY) }.map_err(NvtxError::NoProfiler)?;
        let library: &'static Library = Box::leak(Box::new(library));
        let missing = |function| {
            move |source| NvtxError::MissingFunction {
                path: LIBRARY.into(),
                function,
                source,
            }
        };
        // SAFETY: NVTX declares the function with this signature.
        let push = unsafe { library.get::<Push>(b"nvtxRangePushA\0") }.map_err(missing("nvtxRangePushA"))?;
        // SAFETY: as above.
        let pop = unsafe { library.get::<Pop>(b"nvtxRangePop\0") }.map_err(missing("nvtxRangePop"))?;
        Ok(Nvtx {
            push: Some(*push),
            pop: Some(*pop),
            reaches: LIBRARY,
            _library: library,
        })
    }
}
