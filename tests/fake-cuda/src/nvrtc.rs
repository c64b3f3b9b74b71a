//! NVRTC: compiles sources to libraries for the CPU device.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_device::compilers::{Compiler as _, HostCompiler, Wanted};
use gpubench_harness::SHIM;

/// `NVRTC_ERROR_COMPILATION`.
const COMPILATION: c_int = 6;
/// `NVRTC_ERROR_INTERNAL_ERROR`.
const INTERNAL: c_int = 11;

/// The supported compute capabilities.
const CAPABILITIES: [c_int; 5] = [75, 80, 90, 100, 120];

/// A source and the results of its compilation.
pub(crate) struct Program {
    name: String,
    text: Vec<u8>,
    names: Vec<CString>,
    symbols: Vec<CString>,
    log: Vec<u8>,
    image: Vec<u8>,
}

/// The minor version is a digest of the shim, because the tool caches compiled kernels by NVRTC
/// version.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcVersion(major: *mut c_int, minor_number: *mut c_int) -> c_int {
    let bytes = SHIM.iter().flat_map(|(path, text)| path.bytes().chain(text.bytes()));
    let digest = bytes.fold(0_u32, |digest, byte| {
        digest.wrapping_mul(31).wrapping_add(u32::from(byte))
    });
    // A crashing double needs another version, so that it never finds a kernel in the cache.
    let minor = if crashes() {
        1
    } else {
        2000 + (digest % 1_000_000) as c_int
    };
    // SAFETY: the caller passes valid pointers to numbers.
    unsafe { (*major, *minor_number) = (12, minor) };
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcGetNumSupportedArchs(count: *mut c_int) -> c_int {
    // SAFETY: the caller passes a valid pointer to a number.
    unsafe { *count = CAPABILITIES.len() as c_int };
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcGetSupportedArchs(list: *mut c_int) -> c_int {
    // SAFETY: the caller's array has room for the count from `nvrtcGetNumSupportedArchs`.
    unsafe { std::ptr::copy_nonoverlapping(CAPABILITIES.as_ptr(), list, CAPABILITIES.len()) };
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcGetErrorString(code: c_int) -> *const c_char {
    let words = match code {
        0 => c"NVRTC_SUCCESS",
        COMPILATION => c"NVRTC_ERROR_COMPILATION",
        _ => c"NVRTC_ERROR_INTERNAL_ERROR",
    };
    words.as_ptr()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcCreateProgram(
    program: *mut *mut Program,
    text: *const c_char,
    name: *const c_char,
    _headers: c_int,
    _header_texts: *const *const c_char,
    _header_names: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's texts end with zeros.
    let (text, name) = unsafe { (CStr::from_ptr(text), CStr::from_ptr(name)) };
    let made = Program {
        name: name.to_string_lossy().into_owned(),
        text: text.to_bytes().to_vec(),
        names: Vec::new(),
        symbols: Vec::new(),
        log: Vec::new(),
        image: Vec::new(),
    };
    // SAFETY: the caller passes a valid pointer to a handle.
    unsafe { *program = Box::into_raw(Box::new(made)) };
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcDestroyProgram(program: *mut *mut Program) -> c_int {
    // SAFETY: the caller's program lives and is not used again.
    drop(unsafe { Box::from_raw(*program) });
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcAddNameExpression(program: *mut Program, name: *const c_char) -> c_int {
    // SAFETY: the caller's program lives, and the name ends with a zero.
    let (program, name) = unsafe { (&mut *program, CStr::from_ptr(name).to_owned()) };
    program.symbols.push(symbol_of(&name, &program.text));
    program.names.push(name);
    0
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcCompileProgram(
    program: *mut Program,
    count: c_int,
    options: *const *const c_char,
) -> c_int {
    if crashes() {
        std::process::abort();
    }
    // SAFETY: the caller's program lives.
    let program = unsafe { &mut *program };
    let option = |position: usize| {
        // SAFETY: the caller passes `count` zero-terminated texts.
        unsafe { CStr::from_ptr(*options.add(position)) }
            .to_string_lossy()
            .into_owned()
    };
    let options = (0..count as usize).map(option).collect();
    match compile(program, options) {
        Ok(image) => {
            program.image = image;
            0
        }
        Err(Failure::Rejected(log)) => {
            program.log = log.into_bytes();
            COMPILATION
        }
        Err(Failure::Broken(reason)) => {
            eprintln!("fake-cuda: {reason}");
            INTERNAL
        }
    }
}

fn crashes() -> bool {
    std::env::var_os("FAKE_NVRTC_CRASH").is_some()
}

enum Failure {
    Rejected(String),
    Broken(String),
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Broken(error.to_string())
    }
}

fn compile(program: &Program, options: Vec<String>) -> Result<Vec<u8>, Failure> {
    let mut files = vec![SourceFile {
        path: program.name.clone(),
        contents: program.text.clone(),
    }];
    collect(Path::new("."), &mut files)?;
    let source = Source {
        name: program.name.clone(),
        form: SourceForm::Cuda,
        files,
        options: options.into_iter().filter(|option| is_definition(option)).collect(),
    };
    let names: Vec<String> = program
        .names
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let compiler = HostCompiler::find().map_err(|error| Failure::Broken(error.to_string()))?;
    let (_folder, cache) = crate::image::scratch()?;
    let made = compiler.compile(Wanted {
        source: &source,
        names: &names,
        cache: &cache,
        interrupt: &AtomicBool::new(false),
        most: None,
    });
    let library = made.map_err(|error| Failure::Rejected(as_front_end(&gpubench_diagnostic::chain(&error))))?;
    Ok(std::fs::read(library)?)
}

fn is_definition(option: &str) -> bool {
    option.starts_with("-D") || option.starts_with("-U")
}

/// Collects the files that the program may include: all files below the current directory.
fn collect(folder: &Path, files: &mut Vec<SourceFile>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
            continue;
        }
        let name = path.strip_prefix(".").unwrap_or(&path).to_string_lossy().into_owned();
        if files.iter().all(|file| file.path != name) {
            let contents = std::fs::read(&path)?;
            files.push(SourceFile { path: name, contents });
        }
    }
    Ok(())
}

/// Converts `a.cu:3:5: error: text` to the format of NVRTC's front end, `a.cu(3): error: text`.
fn as_front_end(messages: &str) -> String {
    let mut log = String::new();
    for line in messages.lines() {
        let parts: Vec<&str> = line.splitn(4, ':').collect();
        let place = match parts[..] {
            [file, line, _, rest] if line.parse::<u32>().is_ok() => Some((file, line, rest)),
            _ => None,
        };
        // Writing to a `String` cannot fail.
        let _ = match place {
            Some((file, line, rest)) => writeln!(log, "{}({line}):{rest}", file.trim_start()),
            None => writeln!(log, "{line}"),
        };
    }
    log
}

macro_rules! parts {
    ($($size:ident $contents:ident $part:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $size(program: *mut Program, size: *mut usize) -> c_int {
            // SAFETY: the caller's program lives, and the pointer to the number is valid.
            unsafe { *size = (*program).$part.len() };
            0
        }

        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $contents(program: *mut Program, target: *mut c_void) -> c_int {
            // SAFETY: the caller's program lives, and its buffer has the size that the call above
            // returned.
            unsafe {
                let part = &(*program).$part;
                std::ptr::copy_nonoverlapping(part.as_ptr(), target.cast(), part.len());
            }
            0
        }
    )*};
}

parts! {
    nvrtcGetProgramLogSize nvrtcGetProgramLog log;
    nvrtcGetCUBINSize nvrtcGetCUBIN image;
    nvrtcGetPTXSize nvrtcGetPTX image;
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn nvrtcGetLoweredName(
    program: *mut Program,
    name: *const c_char,
    lowered: *mut *const c_char,
) -> c_int {
    // SAFETY: the caller's program lives, and the name ends with a zero.
    let (program, name) = unsafe { (&*program, CStr::from_ptr(name)) };
    let Some(position) = program.names.iter().position(|known| known.as_c_str() == name) else {
        return INTERNAL;
    };
    // SAFETY: the caller passes a valid pointer to a text.
    unsafe { *lowered = program.symbols[position].as_ptr() };
    0
}

/// Returns a symbol for a name expression. Unless the source declares the kernel as `extern "C"` in
/// one line, the symbol differs from the expression, as a mangled name does.
fn symbol_of(name: &CStr, source: &[u8]) -> CString {
    let declared = format!("{}(", name.to_string_lossy());
    let is_declared = |line: &str| line.starts_with("extern \"C\"") && line.contains(&declared);
    if String::from_utf8_lossy(source).lines().any(is_declared) {
        name.to_owned()
    } else {
        let name = name.to_string_lossy();
        CString::new(format!("_Z{}{name}v", name.len())).unwrap_or_default()
    }
}

/// Returns the name expression of a symbol: the name by which the CPU device finds the kernel.
pub(crate) fn name_of(symbol: &str) -> &str {
    let mangled = symbol.strip_prefix("_Z").and_then(|rest| rest.strip_suffix('v'));
    mangled.map_or(symbol, |rest| {
        rest.trim_start_matches(|digit: char| digit.is_ascii_digit())
    })
}
