//! NVIDIA's run-time compiler as a library that may or may not be there.
//!
//! Its results are C integers here, since a newer library may answer what an older header does not know. A compiler can crash on what it is
//! given, so this is called in a process of its own.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::{Library, Symbol};

use super::image::KernelImage;

type Program = *mut c_void;
type TextOf = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> c_int;

const SUCCESS: c_int = 0;
/// `NVRTC_ERROR_INVALID_OPTION`, `NVRTC_ERROR_COMPILATION`: what the log is about.
const REJECTIONS: [c_int; 2] = [5, 6];

/// The library, loaded.
#[derive(Debug)]
pub struct Nvrtc {
    library: Library,
    path: PathBuf,
}

/// What is to be compiled.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The text.
    pub text: &'a CStr,
    /// How messages call it.
    pub name: &'a CStr,
    /// Options, each whole.
    pub options: &'a [CString],
    /// Name expressions of the kernels that are wanted.
    pub names: &'a [CString],
}

/// Why NVRTC gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum NvrtcError {
    /// It cannot be loaded.
    #[error("cannot load `{}`", .path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// It lacks a function.
    #[error("`{}` has no function `{function}`", .path.display())]
    Missing {
        /// The library.
        path: PathBuf,
        /// The function.
        function: String,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// A function failed.
    #[error("`{function}` of NVRTC failed with `{meaning}`")]
    Call {
        /// The function.
        function: String,
        /// The result in NVRTC's words.
        meaning: String,
    },
    /// The source or the options are wrong.
    #[error("{log}")]
    Rejected {
        /// The compiler's messages.
        log: String,
    },
}

impl Nvrtc {
    /// Loads the library of a path, or by name where the loader finds it. Libraries run code of their own when they are loaded.
    ///
    /// # Errors
    /// If there is none, or it is no library.
    pub fn load(path: &Path) -> Result<Nvrtc, NvrtcError> {
        // SAFETY: NVRTC's initializers have no requirements. A file that only calls itself NVRTC runs in a process that holds no secret.
        match unsafe { Library::new(path) } {
            Ok(library) => Ok(Nvrtc {
                library,
                path: path.to_owned(),
            }),
            Err(source) => Err(NvrtcError::Load {
                path: path.to_owned(),
                source,
            }),
        }
    }

    /// Its version as major and minor.
    ///
    /// # Errors
    /// If it does not say.
    pub fn version(&self) -> Result<(u32, u32), NvrtcError> {
        // SAFETY: the type is that of `nvrtcVersion` in nvrtc.h.
        let function =
            unsafe { self.function::<unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int>(c"nvrtcVersion") }?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that live until the call returns.
        let result = unsafe { function(&raw mut major, &raw mut minor) };
        self.check(c"nvrtcVersion", result)?;
        Ok((major.try_into().unwrap_or(0), minor.try_into().unwrap_or(0)))
    }

    /// The compute capabilities it compiles for, as `major * 10 + minor`, ascending.
    ///
    /// # Errors
    /// If it does not say.
    pub fn capabilities(&self) -> Result<Vec<u32>, NvrtcError> {
        type Query = unsafe extern "C" fn(*mut c_int) -> c_int;
        // SAFETY: the type is that of `nvrtcGetNumSupportedArchs` in nvrtc.h.
        let count = unsafe { self.function::<Query>(c"nvrtcGetNumSupportedArchs") }?;
        // SAFETY: the type is that of `nvrtcGetSupportedArchs` in nvrtc.h.
        let list = unsafe { self.function::<Query>(c"nvrtcGetSupportedArchs") }?;
        let mut length = 0;
        // SAFETY: the pointer is to an integer that lives until the call returns.
        let result = unsafe { count(&raw mut length) };
        self.check(c"nvrtcGetNumSupportedArchs", result)?;
        let mut capabilities = vec![0; usize::try_from(length).unwrap_or(0)];
        // SAFETY: the array has as many elements as the library has just said it writes.
        let result = unsafe { list(capabilities.as_mut_ptr()) };
        self.check(c"nvrtcGetSupportedArchs", result)?;
        let mut capabilities: Vec<u32> = capabilities.into_iter().filter_map(|it| it.try_into().ok()).collect();
        capabilities.sort_unstable();
        Ok(capabilities)
    }

    /// Compiles a unit to machine code, or to PTX where the options ask for a virtual architecture.
    ///
    /// # Errors
    /// If the unit is wrong, or a function fails.
    pub fn compile(&self, unit: Unit<'_>) -> Result<KernelImage, NvrtcError> {
        let program = LoadedProgram::create(self, unit)?;
        program.add_names(unit.names)?;
        program.compile(unit.options)?;
        Ok(KernelImage {
            names: program.symbols(unit.names)?,
            image: program.image()?,
        })
    }

    /// A function of the library.
    ///
    /// # Safety
    /// `T` is the type nvrtc.h gives it.
    unsafe fn function<T>(&self, name: &CStr) -> Result<Symbol<'_, T>, NvrtcError> {
        // SAFETY: the caller has the type from nvrtc.h.
        unsafe { self.library.get(name.to_bytes_with_nul()) }.map_err(|source| NvrtcError::Missing {
            path: self.path.clone(),
            function: text(name),
            source,
        })
    }

    fn check(&self, function: &CStr, result: c_int) -> Result<(), NvrtcError> {
        match result {
            SUCCESS => Ok(()),
            result => Err(NvrtcError::Call {
                function: text(function),
                meaning: self.meaning(result),
            }),
        }
    }

    fn meaning(&self, result: c_int) -> String {
        type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;
        // SAFETY: the type is that of `nvrtcGetErrorString` in nvrtc.h.
        let function = unsafe { self.function::<ErrorString>(c"nvrtcGetErrorString") };
        let Ok(function) = function else {
            return result.to_string();
        };
        // SAFETY: the function takes any integer and answers a static text or null.
        let text = unsafe { function(result) };
        if text.is_null() {
            return result.to_string();
        }
        // SAFETY: it is a static text that ends with a zero.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// An `nvrtcProgram`, destroyed when dropped.
struct LoadedProgram<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl<'a> LoadedProgram<'a> {
    fn create(nvrtc: &'a Nvrtc, unit: Unit<'_>) -> Result<LoadedProgram<'a>, NvrtcError> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            c_int,
            *const *const c_char,
            *const *const c_char,
        ) -> c_int;
        // SAFETY: the type is that of `nvrtcCreateProgram` in nvrtc.h.
        let create = unsafe { nvrtc.function::<Create>(c"nvrtcCreateProgram") }?;
        let mut program = ptr::null_mut();
        // SAFETY: the texts end with zeros and live until the call returns, which copies them; there are no headers.
        let result = unsafe {
            create(
                &raw mut program,
                unit.text.as_ptr(),
                unit.name.as_ptr(),
                0,
                ptr::null(),
                ptr::null(),
            )
        };
        nvrtc.check(c"nvrtcCreateProgram", result)?;
        Ok(LoadedProgram { nvrtc, program })
    }

    fn add_names(&self, names: &[CString]) -> Result<(), NvrtcError> {
        type Add = unsafe extern "C" fn(Program, *const c_char) -> c_int;
        // SAFETY: the type is that of `nvrtcAddNameExpression` in nvrtc.h.
        let add = unsafe { self.nvrtc.function::<Add>(c"nvrtcAddNameExpression") }?;
        for name in names {
            // SAFETY: the program lives, and the name ends with a zero.
            let result = unsafe { add(self.program, name.as_ptr()) };
            self.nvrtc.check(c"nvrtcAddNameExpression", result)?;
        }
        Ok(())
    }

    fn compile(&self, options: &[CString]) -> Result<(), NvrtcError> {
        type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
        // SAFETY: the type is that of `nvrtcCompileProgram` in nvrtc.h.
        let compile = unsafe { self.nvrtc.function::<Compile>(c"nvrtcCompileProgram") }?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the array has as many texts as is said, each ending with a zero; the program lives.
        let result = unsafe { compile(self.program, options.len() as c_int, options.as_ptr()) };
        if REJECTIONS.contains(&result) {
            return Err(NvrtcError::Rejected { log: self.log()? });
        }
        self.nvrtc.check(c"nvrtcCompileProgram", result)
    }

    fn log(&self) -> Result<String, NvrtcError> {
        let log = self.bytes(c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")?;
        Ok(String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned())
    }

    fn image(&self) -> Result<Vec<u8>, NvrtcError> {
        let cubin = self.bytes(c"nvrtcGetCUBINSize", c"nvrtcGetCUBIN")?;
        match cubin.is_empty() {
            false => Ok(cubin),
            // A virtual architecture.
            true => self.bytes(c"nvrtcGetPTXSize", c"nvrtcGetPTX"),
        }
    }

    fn symbols(&self, names: &[CString]) -> Result<Vec<(String, String)>, NvrtcError> {
        type Lowered = unsafe extern "C" fn(Program, *const c_char, *mut *const c_char) -> c_int;
        // SAFETY: the type is that of `nvrtcGetLoweredName` in nvrtc.h.
        let lowered = unsafe { self.nvrtc.function::<Lowered>(c"nvrtcGetLoweredName") }?;
        let symbol = |name: &CString| {
            let mut symbol = ptr::null();
            // SAFETY: the program lives, the name is one that was added, and the pointer is to a local.
            let result = unsafe { lowered(self.program, name.as_ptr(), &raw mut symbol) };
            self.nvrtc.check(c"nvrtcGetLoweredName", result)?;
            // SAFETY: on success it is a text of the program's, which lives.
            let symbol = unsafe { CStr::from_ptr(symbol) };
            Ok((text(name), text(symbol)))
        };
        names.iter().map(symbol).collect()
    }

    /// What a pair of functions gives: one its size, the other the bytes.
    fn bytes(&self, size: &CStr, contents: &CStr) -> Result<Vec<u8>, NvrtcError> {
        // SAFETY: every caller names a function that takes a program and a pointer to a size.
        let size_of = unsafe { self.nvrtc.function::<SizeOf>(size) }?;
        // SAFETY: every caller names a function that takes a program and a buffer.
        let contents_of = unsafe { self.nvrtc.function::<TextOf>(contents) }?;
        let mut length = 0;
        // SAFETY: the program lives, and the pointer is to a local.
        let result = unsafe { size_of(self.program, &raw mut length) };
        self.nvrtc.check(size, result)?;
        let mut bytes = vec![0_u8; length];
        if length > 0 {
            // SAFETY: the buffer has the size the library has just asked for.
            let result = unsafe { contents_of(self.program, bytes.as_mut_ptr().cast()) };
            self.nvrtc.check(contents, result)?;
        }
        Ok(bytes)
    }
}

impl Drop for LoadedProgram<'_> {
    fn drop(&mut self) {
        type Destroy = unsafe extern "C" fn(*mut Program) -> c_int;
        // SAFETY: the type is that of `nvrtcDestroyProgram` in nvrtc.h.
        let destroy = unsafe { self.nvrtc.function::<Destroy>(c"nvrtcDestroyProgram") };
        if let Ok(destroy) = destroy {
            // SAFETY: the program lives and is not used again.
            unsafe { destroy(&raw mut self.program) };
        }
    }
}

fn text(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_or_is_another_is_an_error() {
        let error = Nvrtc::load(Path::new("/nowhere/libnvrtc.so.13")).expect_err("there is none");
        assert!(error.to_string().contains("`/nowhere/libnvrtc.so.13`"), "{error}");
        let other = Nvrtc::load(Path::new("libc.so.6")).expect("the C library");
        let error = other.version().expect_err("it is no compiler");
        assert!(error.to_string().contains("`nvrtcVersion`"), "{error}");
    }
}
