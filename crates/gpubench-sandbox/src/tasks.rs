//! Keeps code from starting threads and processes, also under valgrind.
#![allow(unsafe_code)]

use std::io;

use crate::calls::{FilterError, new_task_filter};

/// Denies the calling thread, for as long as it lives, to start threads, processes and programs.
/// Works under valgrind too, which knows the system call `prctl` and not `seccomp`, and therefore
/// not the [`Sandbox`](crate::Sandbox).
///
/// # Errors
/// If there is no filter for this architecture, or the operating system rejects it.
pub fn deny_new_tasks() -> io::Result<()> {
    let mut program = new_task_filter().map_err(io::Error::other::<FilterError>)?;
    rustix::thread::set_no_new_privs(true)?;
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let filter = libc::sock_fprog {
        len: length,
        filter: program.as_mut_ptr().cast(),
    };
    // SAFETY: the program and its length belong together, and both outlive the call, which copies
    // the program. The instructions have the layout of `sock_filter` in both crates.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    match set {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_can_start_no_other_after_it() {
        let denied = std::thread::spawn(|| {
            deny_new_tasks().unwrap();
            let thread = std::thread::Builder::new().spawn(|| ()).map(drop);
            let program = std::process::Command::new("/bin/true").spawn().map(drop);
            [thread, program].map(|started| started.unwrap_err().kind())
        });
        assert_eq!(denied.join().unwrap(), [io::ErrorKind::PermissionDenied; 2]);
        std::thread::spawn(|| ()).join().unwrap();
    }
}
