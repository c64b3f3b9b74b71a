//! A 32-bit word in shared memory, with futex waits.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::thread::futex;

use crate::monotonic_ns;

/// A shared word in this process's address space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SharedWord(u64);

impl SharedWord {
    /// Returns the word at `address`.
    ///
    /// # Safety
    /// `address` must be that of a mapped, aligned 32-bit word for as long as the value is used.
    pub(crate) unsafe fn at(address: u64) -> SharedWord {
        SharedWord(address)
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the caller of `at` guarantees a mapped and aligned word; all access to it is
        // atomic.
        unsafe { AtomicU32::from_ptr(self.0 as *mut u32) }
    }

    pub(crate) fn store(&self, value: u32) {
        self.word().store(value, Ordering::Release);
        // If the wake fails, the waiter polls again within one slice.
        let _ = futex::wake(self.word(), futex::Flags::empty(), u32::MAX);
    }

    /// Whether the word is `value`.
    pub(crate) fn is(&self, value: u32) -> bool {
        self.word().load(Ordering::Acquire) == value
    }

    /// Sleeps up to `patience` until the word is `value`. Returns whether it is, and in `missed_ns`
    /// the time of the last look that found another value, as [`monotonic_ns`] tells it.
    pub(crate) fn wait_within(&self, value: u32, patience: Duration, missed_ns: &mut u64) -> bool {
        let began = Instant::now();
        loop {
            let look_ns = monotonic_ns();
            let seen = self.word().load(Ordering::Acquire);
            if seen == value {
                return true;
            }
            *missed_ns = look_ns;
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return false;
            }
            let left = futex::Timespec {
                tv_sec: left.as_secs() as i64,
                tv_nsec: i64::from(left.subsec_nanos()),
            };
            let _ = futex::wait(self.word(), futex::Flags::empty(), seen, Some(&left));
        }
    }

    /// Sleeps until the word is `value` or `cancelled` is set.
    pub(crate) fn wait_for(&self, value: u32, cancelled: &AtomicBool) {
        loop {
            let seen = self.word().load(Ordering::Acquire);
            if seen == value || cancelled.load(Ordering::Relaxed) {
                return;
            }
            // The wait is sliced, so that it also sees stores of a writer that wakes nobody.
            let _ = futex::wait(self.word(), futex::Flags::empty(), seen, Some(&SLICE));
        }
    }
}

/// The longest time between two polls of a sleeping waiter.
const SLICE: futex::Timespec = futex::Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_look_that_missed_a_value_was_before_it_was_stored() {
        let memory = AtomicU32::new(0);
        // SAFETY: the word outlives its users.
        let word = unsafe { SharedWord::at(memory.as_ptr() as u64) };
        let began_ns = monotonic_ns();
        let mut missed_ns = began_ns;
        assert!(!word.wait_within(7, Duration::from_millis(1), &mut missed_ns));
        assert!(missed_ns > began_ns);
        let stored_ns = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                let stored_ns = monotonic_ns();
                word.store(7);
                stored_ns
            });
            assert!(word.wait_within(7, Duration::from_secs(20), &mut missed_ns));
            writer.join().unwrap()
        });
        assert!(missed_ns <= stored_ns && word.is(7));
    }
}
