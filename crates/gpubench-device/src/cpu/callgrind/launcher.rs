//! Starts a process under callgrind.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::Path;

use super::PROFILE;
use crate::{Absence, AbsenceKind, Launcher};

/// The options of callgrind, besides the file that it writes to.
const OPTIONS: [&str; 7] = [
    // A file `.valgrindrc` in the working directory could name files to overwrite.
    "--command-line-only=yes",
    "--tool=callgrind",
    "--quiet",
    "--collect-atstart=no",
    "--compress-strings=no",
    "--compress-pos=no",
    // Stacks of coroutines are further apart than those of nested calls.
    "--max-stackframe=8388608",
];

/// Returns the launcher of a process whose folder for temporary files is `folder`.
///
/// # Errors
/// Valgrind is not installed, or does not support this processor.
pub(crate) fn launcher(folder: &Path) -> Result<Launcher, Absence> {
    let absent = |reason: &str, hint: &str| Absence {
        kind: AbsenceKind::NotInstalled,
        reason: reason.to_owned(),
        hint: hint.to_owned(),
    };
    if !cfg!(target_arch = "x86_64") {
        return Err(absent(
            "on the CPU device, only x86-64 processors count instructions",
            "",
        ));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("valgrind"));
    let program = programs.find(|program| program.is_file()).ok_or_else(|| {
        absent(
            "on the CPU device, valgrind counts instructions, and `valgrind` is not on the path",
            "install the package `valgrind`",
        )
    })?;
    let mut file = OsString::from("--callgrind-out-file=");
    file.push(folder.join(PROFILE));
    let arguments = OPTIONS.iter().map(OsString::from).chain([file]).collect();
    Ok(Launcher { program, arguments })
}
