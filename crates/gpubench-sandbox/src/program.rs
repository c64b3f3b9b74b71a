//! The program that runs, whatever has become of its file.

use std::path::Path;

/// The running program as something to execute. Resolved by the child that executes it, to the file
/// that runs and not to its name: host code that replaces the file replaces nothing that this
/// process starts.
pub fn this_program() -> &'static Path {
    Path::new("/proc/self/exe")
}
