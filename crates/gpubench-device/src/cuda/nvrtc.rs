//! NVIDIA's run-time compiler, as an optional library.
//!
//! Results are plain integers: a newer library may return codes that an older header does not have.
//! A compiler can crash on its input, so it runs in a separate process.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

use super::image::KernelImage;
use super::ptxas::reports;

type Program = *mut c_void;
type TextOf = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type SizeOf = unsafe extern "C" fn(Program, *mut usize) -> c_int;

macro_rules! nvrtc_api {
    ($(fn $name:ident($($type:ty),*) -> $result:ty;)*) => {
        /// The library's functions under their own names.
        #[derive(Debug)]
        #[allow(non_snake_case)]
        struct Api {
            $($name: unsafe extern "C" fn($($type),*) -> $result,)*
        }

        impl Api {
            /// Looks up all functions.
            fn resolve(library: &Library, path: &Path) -> Result<Api, NvrtcError> {
                Ok(Api {
                    $(
                        // SAFETY: the signature is the one that nvrtc.h declares for the symbol.
                        $name: *unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }.map_err(|source| {
                            NvrtcError::Missing {
                                path: path.to_owned(),
                                function: stringify!($name),
                                source,
                            }
                        })?,
                    )*
                })
            }
        }
    };
}

nvrtc_api! {
    fn nvrtcVersion(*mut c_int, *mut c_int) -> c_int;
    fn nvrtcGetNumSupportedArchs(*mut c_int) -> c_int;
    fn nvrtcGetSupportedArchs(*mut c_int) -> c_int;
    fn nvrtcGetErrorString(c_int) -> *const c_char;
    fn nvrtcCreateProgram(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> c_int;
    fn nvrtcDestroyProgram(*mut Program) -> c_int;
    fn nvrtcAddNameExpression(Program, *const c_char) -> c_int;
    fn nvrtcCompileProgram(Program, c_int, *const *const c_char) -> c_int;
    fn nvrtcGetLoweredName(Program, *const c_char, *mut *const c_char) -> c_int;
    fn nvrtcGetProgramLogSize(Program, *mut usize) -> c_int;
    fn nvrtcGetProgramLog(Program, *mut c_char) -> c_int;
    fn nvrtcGetCUBINSize(Program, *mut usize) -> c_int;
    fn nvrtcGetCUBIN(Program, *mut c_char) -> c_int;
    fn nvrtcGetPTXSize(Program, *mut usize) -> c_int;
    fn nvrtcGetPTX(Program, *mut c_char) -> c_int;
}

/// Calls a function of the library: `call!(nvrtc, nvrtcAddNameExpression(program, name))`. An error
/// has the function's name.
macro_rules! call {
    ($nvrtc:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $nvrtc.check(stringify!($name), ($nvrtc.api.$name)($($argument),*))
    };
}

const SUCCESS: c_int = 0;
/// `NVRTC_ERROR_INVALID_OPTION` and `NVRTC_ERROR_COMPILATION`: the log has the reason.
const REJECTIONS: [c_int; 2] = [5, 6];

/// The loaded library.
#[derive(Debug)]
pub struct Nvrtc {
    api: Api,
    /// Holds the functions.
    _library: Library,
}

/// A translation unit.
#[derive(Clone, Copy, Debug)]
pub struct Unit<'a> {
    /// The source text.
    pub text: &'a CStr,
    /// The file name in messages.
    pub name: &'a CStr,
    /// The options, each as a whole.
    pub options: &'a [CString],
    /// Name expressions of the wanted kernels.
    pub names: &'a [CString],
}

/// An NVRTC error.
#[derive(Debug, thiserror::Error)]
pub enum NvrtcError {
    /// The library cannot be loaded.
    #[error("cannot load `{}`", .path.display())]
    Load {
        /// The library.
        path: PathBuf,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// The library lacks a function.
    #[error("`{}` has no function `{function}`", .path.display())]
    Missing {
        /// The library.
        path: PathBuf,
        /// The function.
        function: &'static str,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// A call failed.
    #[error("NVRTC's `{function}` failed with `{meaning}`")]
    Call {
        /// The function.
        function: &'static str,
        /// NVRTC's description of the result.
        meaning: String,
    },
    /// The source or an option is wrong.
    #[error("{log}")]
    Rejected {
        /// The compiler's messages.
        log: String,
    },
}

impl Nvrtc {
    /// Loads the library by path, or by name through the loader. Libraries run their own code when
    /// they are loaded.
    ///
    /// # Errors
    /// When there is no such library, or it is not NVRTC.
    pub fn load(path: &Path) -> Result<Nvrtc, NvrtcError> {
        // SAFETY: NVRTC's initializers have no requirements. A fake NVRTC would run in a process
        // without secrets.
        let library = unsafe { Library::new(path) }.map_err(|source| NvrtcError::Load {
            path: path.to_owned(),
            source,
        })?;
        Ok(Nvrtc {
            api: Api::resolve(&library, path)?,
            _library: library,
        })
    }

    /// Returns the library's file, if the loader knows it.
    pub fn file(&self) -> Option<PathBuf> {
        let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: the function only compares the address with those of loaded libraries.
        let is_known = unsafe { libc::dladdr(self.api.nvrtcVersion as *const c_void, found.as_mut_ptr()) } != 0;
        // SAFETY: all fields are pointers, and were null before.
        let name = unsafe { found.assume_init() }.dli_fname;
        if !is_known || name.is_null() {
            return None;
        }
        // SAFETY: the name is the loader's, and stays until the library is unloaded.
        let name = unsafe { CStr::from_ptr(name) };
        Some(OsStr::from_bytes(name.to_bytes()).into())
    }

    /// Returns the version as major and minor.
    ///
    /// # Errors
    /// When the call fails.
    pub fn version(&self) -> Result<(u32, u32), NvrtcError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that live until the call returns.
        unsafe { call!(self, nvrtcVersion(&raw mut major, &raw mut minor)) }?;
        Ok((major.try_into().unwrap_or(0), minor.try_into().unwrap_or(0)))
    }

    /// Returns the supported compute capabilities, as `major * 10 + minor`, in ascending order.
    ///
    /// # Errors
    /// When a call fails.
    pub fn capabilities(&self) -> Result<Vec<u32>, NvrtcError> {
        let mut length = 0;
        // SAFETY: the pointer is to an integer that lives until the call returns.
        unsafe { call!(self, nvrtcGetNumSupportedArchs(&raw mut length)) }?;
        let mut capabilities = vec![0; usize::try_from(length).unwrap_or(0)];
        // SAFETY: the array has the length that the library has just returned.
        unsafe { call!(self, nvrtcGetSupportedArchs(capabilities.as_mut_ptr())) }?;
        let mut capabilities: Vec<u32> = capabilities.into_iter().filter_map(|it| it.try_into().ok()).collect();
        capabilities.sort_unstable();
        Ok(capabilities)
    }

    /// Compiles a unit to machine code, or to PTX if the options name a virtual architecture.
    ///
    /// # Errors
    /// When the unit is wrong, or a call fails.
    pub fn compile(&self, unit: Unit<'_>) -> Result<KernelImage, NvrtcError> {
        let program = LoadedProgram::create(self, unit)?;
        program.add_names(unit.names)?;
        program.compile(unit.options)?;
        Ok(KernelImage {
            names: program.symbols(unit.names)?,
            reports: reports(&program.log()?),
            image: program.image()?,
        })
    }

    fn check(&self, function: &'static str, result: c_int) -> Result<(), NvrtcError> {
        match result {
            SUCCESS => Ok(()),
            result => Err(NvrtcError::Call {
                function,
                meaning: self.meaning(result),
            }),
        }
    }

    fn meaning(&self, result: c_int) -> String {
        // SAFETY: the function takes any integer and returns a static string or null.
        let words = unsafe { (self.api.nvrtcGetErrorString)(result) };
        if words.is_null() {
            return result.to_string();
        }
        // SAFETY: it is a static string that ends with a zero.
        text(unsafe { CStr::from_ptr(words) })
    }
}

/// An `nvrtcProgram`, destroyed on drop.
struct LoadedProgram<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl LoadedProgram<'_> {
    fn create<'a>(nvrtc: &'a Nvrtc, unit: Unit<'_>) -> Result<LoadedProgram<'a>, NvrtcError> {
        let mut program = ptr::null_mut();
        let (source, name, none) = (unit.text.as_ptr(), unit.name.as_ptr(), ptr::null());
        // SAFETY: the strings end with zeros and live until the call returns, which copies them;
        // there are no headers.
        unsafe { call!(nvrtc, nvrtcCreateProgram(&raw mut program, source, name, 0, none, none)) }?;
        Ok(LoadedProgram { nvrtc, program })
    }

    fn add_names(&self, names: &[CString]) -> Result<(), NvrtcError> {
        names.iter().try_for_each(|name| {
            // SAFETY: the program lives, and the name ends with a zero.
            unsafe { call!(self.nvrtc, nvrtcAddNameExpression(self.program, name.as_ptr())) }
        })
    }

    fn compile(&self, options: &[CString]) -> Result<(), NvrtcError> {
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let (count, options) = (options.len() as c_int, options.as_ptr());
        // SAFETY: the array has `count` strings, each ending with a zero; the program lives.
        let result = unsafe { (self.nvrtc.api.nvrtcCompileProgram)(self.program, count, options) };
        if REJECTIONS.contains(&result) {
            return Err(NvrtcError::Rejected { log: self.log()? });
        }
        self.nvrtc.check("nvrtcCompileProgram", result)
    }

    fn log(&self) -> Result<String, NvrtcError> {
        let api = &self.nvrtc.api;
        let log = self.bytes("nvrtcGetProgramLog", api.nvrtcGetProgramLogSize, api.nvrtcGetProgramLog)?;
        Ok(String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned())
    }

    fn image(&self) -> Result<Vec<u8>, NvrtcError> {
        let api = &self.nvrtc.api;
        let cubin = self.bytes("nvrtcGetCUBIN", api.nvrtcGetCUBINSize, api.nvrtcGetCUBIN)?;
        if cubin.is_empty() {
            // The architecture is virtual.
            self.bytes("nvrtcGetPTX", api.nvrtcGetPTXSize, api.nvrtcGetPTX)
        } else {
            Ok(cubin)
        }
    }

    /// Returns the bytes of a pair of functions: `size` returns the length, `contents` the bytes.
    fn bytes(&self, function: &'static str, size: SizeOf, contents: TextOf) -> Result<Vec<u8>, NvrtcError> {
        let mut length = 0;
        // SAFETY: the program lives, and the pointer is to a local.
        let result = unsafe { size(self.program, &raw mut length) };
        self.nvrtc.check(function, result)?;
        let mut bytes = vec![0_u8; length];
        if length > 0 {
            // SAFETY: the buffer has the length that the library has just returned.
            let result = unsafe { contents(self.program, bytes.as_mut_ptr().cast()) };
            self.nvrtc.check(function, result)?;
        }
        Ok(bytes)
    }

    fn symbols(&self, names: &[CString]) -> Result<Vec<(String, String)>, NvrtcError> {
        let symbol = |name: &CString| {
            let mut symbol = ptr::null();
            // SAFETY: the program lives, the name is one that was added, and the pointer is to a
            // local.
            unsafe {
                call!(
                    self.nvrtc,
                    nvrtcGetLoweredName(self.program, name.as_ptr(), &raw mut symbol)
                )
            }?;
            // SAFETY: on success it is a string owned by the program, which lives.
            let symbol = unsafe { CStr::from_ptr(symbol) };
            Ok((text(name), text(symbol)))
        };
        names.iter().map(symbol).collect()
    }
}

impl Drop for LoadedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program lives and is not used again.
        unsafe { (self.nvrtc.api.nvrtcDestroyProgram)(&raw mut self.program) };
    }
}

fn text(text: &CStr) -> String {
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_wrong_library_is_an_error() {
        let error = Nvrtc::load(Path::new("/nowhere/libnvrtc.so.13")).expect_err("there is none");
        assert!(error.to_string().contains("`/nowhere/libnvrtc.so.13`"), "{error}");
        let error = Nvrtc::load(Path::new("libc.so.6")).expect_err("it is not a compiler");
        assert!(error.to_string().contains("`nvrtcVersion`"), "{error}");
    }
}
