//! A 32-bit word in memory that several processes map, waited for with a futex.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::futex;

/// A shared word of this process's address space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedWord(u64);

impl SharedWord {
    /// The word at `address`.
    ///
    /// # Safety
    /// A mapped, aligned 32-bit word lies there for as long as the value is used.
    pub(super) unsafe fn at(address: u64) -> SharedWord {
        SharedWord(address)
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: `at` was promised a mapped and aligned word; all access to it is atomic.
        unsafe { AtomicU32::from_ptr(self.0 as *mut u32) }
    }

    pub(super) fn store(&self, value: u32) {
        self.word().store(value, Ordering::Release);
        // A failed wake leaves the waiter to its next look, at most one slice later.
        let _ = futex::wake(self.word(), futex::Flags::empty(), u32::MAX);
    }

    /// Sleeps until the word is at least `value`, `patience` is over or `given_up` is set. Says whether it is.
    pub(super) fn wait_at_least(&self, value: u32, patience: Option<Duration>, given_up: &AtomicBool) -> bool {
        let deadline = patience.and_then(|patience| Instant::now().checked_add(patience));
        loop {
            let seen = self.word().load(Ordering::Acquire);
            if seen >= value {
                return true;
            }
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) || given_up.load(Ordering::Relaxed) {
                return false;
            }
            // Sliced, so that a writer that does not wake anyone is seen all the same.
            let slice = left.unwrap_or(SLICE).min(SLICE);
            let slice = futex::Timespec {
                tv_sec: 0,
                tv_nsec: slice.as_nanos() as _,
            };
            let _ = futex::wait(self.word(), futex::Flags::empty(), seen, Some(&slice));
        }
    }
}

const SLICE: Duration = Duration::from_millis(20);
