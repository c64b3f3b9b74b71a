//! What user code prints through the C library.
#![allow(unsafe_code)]

use std::io;

unsafe extern "C" {
    /// C's standard output, for which `libc` has no name.
    static mut stdout: *mut libc::FILE;
}

/// Arranges that what kernels and libraries print is written line by line. A process of a role ends
/// by a signal as a rule, and what the C library still keeps then is lost; unless standard output
/// is a terminal, that is all of it.
///
/// # Errors
/// When the C library refuses.
pub(super) fn print_by_lines() -> io::Result<()> {
    // SAFETY: the process has just begun: nothing has been printed, and no other thread is there to
    // print. The C library brings the buffer.
    let refused = unsafe { libc::setvbuf(stdout, std::ptr::null_mut(), libc::_IOLBF, libc::BUFSIZ as libc::size_t) };
    match refused {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
