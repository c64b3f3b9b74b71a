//! Memory that processes share by a file.

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::ptr;

/// Maps the first bytes of a file, which is made if it is missing, until the process ends.
///
/// # Panics
/// If the file cannot be opened or mapped.
pub(crate) fn shared_page(path: &Path, bytes: usize) -> *mut c_void {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path);
    let file = file.unwrap_or_else(|error| panic!("cannot open `{}`: {error}", path.display()));
    file.set_len(bytes as u64).expect("the file can have a size");
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses the address.
    let start = unsafe { libc::mmap(ptr::null_mut(), bytes, rights, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    assert_ne!(start, libc::MAP_FAILED, "the file can be mapped");
    start
}
