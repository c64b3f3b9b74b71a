//! The headers and the library of TVM-FFI, which the Python of the reference may have.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpubench_contract::Cause;
use gpubench_diagnostic::printable_line;
use gpubench_measure::measurement::CaseFailure;

/// Prints a folder for each option that follows.
const FOLDERS: [&str; 5] = [
    "-m",
    "tvm_ffi.config",
    "--includedir",
    "--dlpack-includedir",
    "--libdir",
];

/// The file with the library.
const LIBRARY: &str = "libtvm_ffi.so";

/// Where TVM-FFI is.
#[derive(Debug)]
pub(super) struct TvmFfi {
    /// The folders of its headers.
    pub(super) includes: Vec<String>,
    /// Its shared library.
    pub(super) library: PathBuf,
}

impl TvmFfi {
    /// Asks an interpreter for its package, in a folder that has no package of that name.
    ///
    /// # Errors
    /// The interpreter has none. No solution can be blamed for that.
    pub(super) fn of(python: &str, folder: &Path) -> Result<TvmFfi, CaseFailure> {
        let found = ask(python, folder).map_err(|error| error.to_string());
        found.and_then(|printed| TvmFfi::printed(&printed)).map_err(|why| {
            let python = printable_line(python);
            let message = format!(
                "it includes the headers of TVM-FFI, which `{python}` does not have: {} (hint: install the package `apache-tvm-ffi` for it, or \
                 name another Python with `--python`)",
                printable_line(&why)
            );
            CaseFailure::error(Cause::CompilerMissing, message)
        })
    }

    fn printed(printed: &str) -> Result<TvmFfi, String> {
        let lines: Vec<&str> = printed.lines().collect();
        let [header, dlpack, library] = lines[..] else {
            return Err("it does not say where they are".to_owned());
        };
        let library = Path::new(library).join(LIBRARY);
        let real = library.canonicalize();
        let mut includes = vec![header.to_owned()];
        if dlpack != header {
            includes.push(dlpack.to_owned());
        }
        Ok(TvmFfi {
            includes,
            library: real.map_err(|error| format!("`{}`: {error}", library.display()))?,
        })
    }
}

fn ask(python: &str, folder: &Path) -> io::Result<String> {
    let mut command = Command::new(python);
    // A package in the current folder would be found first.
    let asked = command
        .args(FOLDERS)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()?;
    if asked.status.success() {
        return Ok(String::from_utf8_lossy(&asked.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&asked.stderr);
    Err(io::Error::other(said.lines().last().unwrap_or("it failed").to_owned()))
}

/// Whether a text includes a header of TVM-FFI or of DLPack, which comes with it.
pub(super) fn includes_tvm_ffi(text: &str) -> bool {
    gpubench_declarations::includes(text).any(|include| {
        let (gpubench_declarations::Include::Quoted(path) | gpubench_declarations::Include::Angled(path)) = include;
        path.starts_with("tvm/ffi/") || path.starts_with("dlpack/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_tvm_ffi_is_one_by_its_folder() {
        for text in ["#include <tvm/ffi/function.h>", "# include \"dlpack/dlpack.h\"\n"] {
            assert!(includes_tvm_ffi(text), "{text}");
        }
        for text in [
            "#include \"tvm.h\"",
            "// tvm/ffi/function.h",
            "#include <my/tvm/ffi/x.h>",
        ] {
            assert!(!includes_tvm_ffi(text), "{text}");
        }
    }

    #[test]
    fn what_python_prints_names_the_headers_and_an_existing_library() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(LIBRARY), "").unwrap();
        let printed = format!("/include\n/include\n{}\n", folder.path().display());
        let found = TvmFfi::printed(&printed).unwrap();
        assert_eq!((found.includes.len(), found.library.ends_with(LIBRARY)), (1, true));
        TvmFfi::printed("/include\n/dlpack\n/missing\n").unwrap_err();
        TvmFfi::printed("/include\n").unwrap_err();
    }

    #[test]
    fn an_interpreter_without_the_package_is_named_with_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        for python in ["false", "/missing/python"] {
            let failure = TvmFfi::of(python, folder.path()).unwrap_err();
            assert_eq!(failure.cause, Cause::CompilerMissing);
            assert!(failure.message.contains(python) && failure.message.contains("--python"));
        }
    }
}
