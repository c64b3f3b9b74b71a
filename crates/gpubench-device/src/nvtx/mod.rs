//! NVTX ranges round the windows, for profilers that show them.
//!
//! NVTX is no library but a convention: a profiler names its own library in
//! `NVTX_INJECTION64_PATH`, and the program hands it tables in which it puts the functions it wants
//! to be called (`injection`). Older profilers come with `libnvToolsExt.so.1`, which has the
//! functions by name.

mod injection;

use std::ffi::{CStr, OsString, c_char, c_int};

use libloading::Library;

/// Names a profiler's library.
pub const INJECTION: &str = "NVTX_INJECTION64_PATH";

/// NVTX as a library of its own.
const LIBRARY: &str = "libnvToolsExt.so.1";

/// `nvtxRangePushA`.
type Push = unsafe extern "C" fn(*const c_char) -> c_int;
/// `nvtxRangePop`.
type Pop = unsafe extern "C" fn() -> c_int;

/// Why ranges reach nobody.
#[derive(Debug, thiserror::Error)]
pub enum NvtxError {
    /// Nobody listens.
    #[error("nothing here takes NVTX ranges: `{INJECTION}` is not set, and `{LIBRARY}` is not found")]
    Nobody(#[source] libloading::Error),
    /// The profiler's library cannot be loaded.
    #[error("the profiler's library `{}` cannot be loaded", .path.display())]
    Load {
        /// The library.
        path: OsString,
        /// Why.
        #[source]
        source: libloading::Error,
    },
    /// The library is no profiler's.
    #[error("`{}` does not take NVTX ranges: it lacks `{function}`", .path.display())]
    Lacks {
        /// The library.
        path: OsString,
        /// What it lacks.
        function: &'static str,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// The profiler does not want to.
    #[error("the profiler's library `{}` refuses", .path.display())]
    Refused {
        /// The library.
        path: OsString,
    },
}

impl NvtxError {
    /// What a person can do.
    pub fn hint(&self) -> String {
        match self {
            NvtxError::Nobody(_) => {
                "run under a profiler, such as `nsys profile --trace=cuda,nvtx`, or leave `--nvtx` out".to_owned()
            }
            _ => format!("correct or unset `{INJECTION}`"),
        }
    }
}

/// A way to whoever shows ranges. Ranges belong to the thread that opens them.
pub struct Nvtx {
    /// What the profiler wants to be told, if anything.
    push: Option<Push>,
    pop: Option<Pop>,
    reaches: &'static str,
    /// Holds the functions. Never unloaded: profilers keep threads of their own.
    _library: &'static Library,
}

impl Nvtx {
    /// Finds a profiler: the one that `NVTX_INJECTION64_PATH` names, else whatever
    /// `libnvToolsExt.so.1` reaches.
    ///
    /// # Errors
    /// When there is none.
    pub fn open() -> Result<Nvtx, NvtxError> {
        match std::env::var_os(INJECTION).filter(|path| !path.is_empty()) {
            Some(path) => injection::open(path),
            None => Nvtx::of_library(),
        }
    }

    /// What the ranges reach, for people.
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

    /// Closes the range that was opened last.
    pub fn pop(&self) {
        if let Some(pop) = self.pop {
            // SAFETY: the function is the profiler's own for this call.
            unsafe { pop() };
        }
    }

    fn of_library() -> Result<Nvtx, NvtxError> {
        // SAFETY: NVTX's library has no constructors that expect anything of the program.
        let library = unsafe { Library::new(LIBRARY) }.map_err(NvtxError::Nobody)?;
        let library: &'static Library = Box::leak(Box::new(library));
        let lacks = |function| {
            move |source| NvtxError::Lacks {
                path: LIBRARY.into(),
                function,
                source,
            }
        };
        // SAFETY: NVTX declares the function with this signature.
        let push = unsafe { library.get::<Push>(b"nvtxRangePushA\0") }.map_err(lacks("nvtxRangePushA"))?;
        // SAFETY: as above.
        let pop = unsafe { library.get::<Pop>(b"nvtxRangePop\0") }.map_err(lacks("nvtxRangePop"))?;
        Ok(Nvtx {
            push: Some(*push),
            pop: Some(*pop),
            reaches: LIBRARY,
            _library: library,
        })
    }
}
