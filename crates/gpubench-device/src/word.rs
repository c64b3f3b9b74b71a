//! A 32-bit word in memory that several processes map: waited for with a futex.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::thread::futex;

/// A shared word of this process's address space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedWord(u64);

impl SharedWord {
    /// The word at `address`.
    ///
    /// # Safety
    /// A mapped, aligned 32-bit word lies there for as long as the value is used.
    pub(crate) unsafe fn at(address: u64) -> SharedWord {
        SharedWord(address)
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: `at` was promised a mapped and aligned word; all access to it is atomic.
        unsafe { AtomicU32::from_ptr(self.0 as *mut u32) }
    }

    pub(crate) fn store(&self, value: u32) {
        self.word().store(value, Ordering::Release);
        // A failed wake leaves the waiter to its next look, at most one slice later.
        let _ = futex::wake(self.word(), futex::Flags::empty(), u32::MAX);
    }

    /// Sleeps until the word is `value`, or `given_up` is set.
    pub(crate) fn wait_for(&self, value: u32, given_up: &AtomicBool) {
        loop {
            let seen = self.word().load(Ordering::Acquire);
            if seen == value || given_up.load(Ordering::Relaxed) {
                return;
            }
            // Sliced, so that a writer that does not wake anyone is seen all the same.
            let _ = futex::wait(self.word(), futex::Flags::empty(), seen, Some(&SLICE));
        }
    }
}

/// A sleeper looks again at least so often.
const SLICE: futex::Timespec = futex::Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};
