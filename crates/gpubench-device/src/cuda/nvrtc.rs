//! NVIDIA's run-time compiler as a library that may or may not be there.
//!
//! Its results are C integers here, since a newer library may answer what an older header does not
//! know. A compiler can crash on what it is given, so this is called in a process of its own.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

use super::image::KernelImage;

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
            /// Looks every function up.
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

/// Calls a function of the library: `call!(nvrtc, nvrtcAddNameExpression(program, name))`. Where it
/// fails, the error has the function's name.
macro_rules! call {
    ($nvrtc:expr, $name:ident($($argument:expr),* $(,)?)) => {
        $nvrtc.check(stringify!($name), ($nvrtc.api.$name)($($argument),*))
    };
}

const SUCCESS: c_int = 0;
/// `NVRTC_ERROR_INVALID_OPTION`, `NVRTC_ERROR_COMPILATION`: what the log is about.
const REJECTIONS: [c_int; 2] = [5, 6];

/// The library, loaded.
#[derive(Debug)]
pub struct Nvrtc {
    api: Api,
    /// Holds the functions.
    _library: Library,
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
        function: &'static str,
        /// The loader's reason.
        #[source]
        source: libloading::Error,
    },
    /// A function failed.
    #[error("`{function}` of NVRTC failed with `{meaning}`")]
    Call {
        /// The function.
        function: &'static str,
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
    /// Loads the library of a path, or by name where the loader finds it. Libraries run code of
    /// their own when they are loaded.
    ///
    /// # Errors
    /// If there is none, or it is another.
    pub fn load(path: &Path) -> Result<Nvrtc, NvrtcError> {
        // SAFETY: NVRTC's initializers have no requirements. A file that only calls itself NVRTC
        // runs in a process that holds no secret.
        let library = unsafe { Library::new(path) }.map_err(|source| NvrtcError::Load {
            path: path.to_owned(),
            source,
        })?;
        Ok(Nvrtc {
            api: Api::resolve(&library, path)?,
            _library: library,
        })
    }

    /// Its version as major and minor.
    ///
    /// # Errors
    /// If it does not say.
    pub fn version(&self) -> Result<(u32, u32), NvrtcError> {
        let (mut major, mut minor) = (0, 0);
        // SAFETY: both pointers are to integers that live until the call returns.
        unsafe { call!(self, nvrtcVersion(&raw mut major, &raw mut minor)) }?;
        Ok((major.try_into().unwrap_or(0), minor.try_into().unwrap_or(0)))
    }

    /// The compute capabilities it compiles for, as `major * 10 + minor`, ascending.
    ///
    /// # Errors
    /// If it does not say.
    pub fn capabilities(&self) -> Result<Vec<u32>, NvrtcError> {
        let mut length = 0;
        // SAFETY: the pointer is to an integer that lives until the call returns.
        unsafe { call!(self, nvrtcGetNumSupportedArchs(&raw mut length)) }?;
        let mut capabilities = vec![0; usize::try_from(length).unwrap_or(0)];
        // SAFETY: the array has as many elements as the library has just said it writes.
        unsafe { call!(self, nvrtcGetSupportedArchs(capabilities.as_mut_ptr())) }?;
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
        // SAFETY: the function takes any integer and answers a static text or null.
        let words = unsafe { (self.api.nvrtcGetErrorString)(result) };
        if words.is_null() {
            return result.to_string();
        }
        // SAFETY: it is a static text that ends with a zero.
        text(unsafe { CStr::from_ptr(words) })
    }
}

/// An `nvrtcProgram`, destroyed when dropped.
struct LoadedProgram<'a> {
    nvrtc: &'a Nvrtc,
    program: Program,
}

impl LoadedProgram<'_> {
    fn create<'a>(nvrtc: &'a Nvrtc, unit: Unit<'_>) -> Result<LoadedProgram<'a>, NvrtcError> {
        let mut program = ptr::null_mut();
        let (source, name, none) = (unit.text.as_ptr(), unit.name.as_ptr(), ptr::null());
        // SAFETY: the texts end with zeros and live until the call returns, which copies them;
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
        // SAFETY: the array has as many texts as is said, each ending with a zero; the program
        // lives.
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
        match cubin.is_empty() {
            false => Ok(cubin),
            // A virtual architecture.
            true => self.bytes("nvrtcGetPTX", api.nvrtcGetPTXSize, api.nvrtcGetPTX),
        }
    }

    /// What a pair of functions gives: one its size, the other the bytes.
    fn bytes(&self, function: &'static str, size: SizeOf, contents: TextOf) -> Result<Vec<u8>, NvrtcError> {
        let mut length = 0;
        // SAFETY: the program lives, and the pointer is to a local.
        let result = unsafe { size(self.program, &raw mut length) };
        self.nvrtc.check(function, result)?;
        let mut bytes = vec![0_u8; length];
        if length > 0 {
            // SAFETY: the buffer has the size the library has just asked for.
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
            // SAFETY: on success it is a text of the program's, which lives.
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
    fn a_library_that_is_not_there_or_is_another_is_an_error() {
        let error = Nvrtc::load(Path::new("/nowhere/libnvrtc.so.13")).expect_err("there is none");
        assert!(error.to_string().contains("`/nowhere/libnvrtc.so.13`"), "{error}");
        let error = Nvrtc::load(Path::new("libc.so.6")).expect_err("it is no compiler");
        assert!(error.to_string().contains("`nvrtcVersion`"), "{error}");
    }
}
