//! Signals kept waiting.

use std::mem::MaybeUninit;

/// Signals to this thread wait until it is dropped.
///
/// The verifier gives up with `EAGAIN` when a signal comes, such as the one for a terminal's new
/// size. The verifier takes milliseconds, and the timer of a profiler ticks as often, so a second
/// try can fail too.
#[derive(Debug)]
pub(crate) struct SignalsWait {
    before: libc::sigset_t,
}

impl SignalsWait {
    pub(crate) fn begin() -> SignalsWait {
        let mut before = MaybeUninit::<libc::sigset_t>::zeroed();
        let mut all = before;
        // SAFETY: both sets live as long as the calls, which fill them. A set of zeros is one.
        let before = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
            before.assume_init()
        };
        SignalsWait { before }
    }
}

impl Drop for SignalsWait {
    fn drop(&mut self) {
        // SAFETY: the set lives as long as the call.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut()) };
    }
}
