//! Output of user code through the C library.
#![allow(unsafe_code)]

use std::io;

unsafe extern "C" {
    /// C's standard output, for which `libc` has no name.
    static mut stdout: *mut libc::FILE;
}

/// Makes the C library write output at once. A role usually ends by a signal, which loses what the
/// C library still buffers, such as a line without its end. If standard output is not a terminal,
/// it buffers everything.
///
/// # Errors
/// If the C library refuses.
pub(super) fn write_output_at_once() -> io::Result<()> {
    // SAFETY: the process has just begun: nothing has been printed, and no other thread exists.
    let refused = unsafe { libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IONBF, 0) };
    match refused {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
