//! The running program, even if its file has been replaced.

use std::path::Path;

/// Returns a path that executes the running program. The child that executes it resolves it to the
/// running file, not to its name. So host code that replaces the file does not change the processes
/// that this one starts.
pub fn this_program() -> &'static Path {
    Path::new("/proc/self/exe")
}
