//! A process all of whose children are its own.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid, kill_process, waitpid};

/// The signals that end a command and that its user may send to this process.
const FORWARDED: [libc::c_int; 6] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Makes sure that every child of this process, also an orphan that it adopts, descends from
/// something that it has started. Only then may it end children that it does not know.
///
/// A shell that executes a program leaves its background processes to it as children, and the first
/// process of a container gets all orphans. If this process has such children or may get some, it
/// continues in a new child process, which has none. The old one waits, passes on signals, and ends
/// as the new one does. Call it while the process has one thread.
///
/// # Errors
/// If the operating system refuses.
pub fn continue_without_foreign_children() -> io::Result<()> {
    if !has_children() && getpid() != Pid::INIT {
        return Ok(());
    }
    let old = getpid();
    // A caller may have had it ignored, and then no child can be waited for.
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    let (mut awaited, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: the calls initialize the set first, and write the old mask to memory of its type.
    unsafe {
        libc::sigemptyset(awaited.as_mut_ptr());
        for signal in FORWARDED.into_iter().chain([libc::SIGCHLD]) {
            libc::sigaddset(awaited.as_mut_ptr(), signal);
        }
        libc::sigprocmask(libc::SIG_BLOCK, awaited.as_ptr(), before.as_mut_ptr());
    }
    // SAFETY: the process has one thread, so no lock is held in the child.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            if getppid() != Some(old) {
                // The old process has ended already.
                std::process::exit(0);
            }
            // SAFETY: the old mask was written above.
            unsafe { libc::sigprocmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
            Ok(())
        }
        // SAFETY: both sets were written above.
        new => unsafe {
            stand_in_for(
                Pid::from_raw_unchecked(new),
                &awaited.assume_init(),
                &before.assume_init(),
            )
        },
    }
}

fn has_children() -> bool {
    let mut nothing = MaybeUninit::<libc::siginfo_t>::uninit();
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: the call writes at most one record to memory of its type.
    let waited = unsafe { libc::waitid(libc::P_ALL, 0, nothing.as_mut_ptr(), options) };
    waited == 0
}

/// Waits for the end of `new`, and ends as it did. Signals that a person sends to this process are
/// passed on; those of the terminal have reached the other one, too.
fn stand_in_for(new: Pid, awaited: &libc::sigset_t, before: &libc::sigset_t) -> ! {
    loop {
        if let Ok(Some((_, status))) = waitpid(Some(new), WaitOptions::NOHANG) {
            if let Some(signal) = status.terminating_signal() {
                // SAFETY: the calls restore the default action and the mask, and read one set.
                unsafe {
                    libc::signal(signal, libc::SIG_DFL);
                    libc::raise(signal);
                    libc::sigprocmask(libc::SIG_SETMASK, before, ptr::null_mut());
                }
                // The first process of a container does not end by its own signal.
                std::process::exit(128 + signal);
            }
            std::process::exit(status.exit_status().unwrap_or_default());
        }
        let mut origin = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the set was filled before, and the call writes one record.
        let signal = unsafe { libc::sigwaitinfo(awaited, origin.as_mut_ptr()) };
        // SAFETY: zeros are a record, too.
        let by_kernel = unsafe { origin.assume_init() }.si_code == libc::SI_KERNEL;
        if let (false, true, Some(signal)) = (by_kernel, FORWARDED.contains(&signal), Signal::from_named_raw(signal)) {
            // It may have ended meanwhile.
            let _ = kill_process(new, signal);
        }
    }
}
