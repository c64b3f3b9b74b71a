//! A 32-bit word in memory that several processes map: waited for with a futex where a process writes it, by looking where a GPU does.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

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

    /// Sleeps until the word is at least `value`, `patience` is over or `given_up` is set. Says whether it is.
    pub(crate) fn wait_at_least(&self, value: u32, patience: Option<Duration>, given_up: &AtomicBool) -> bool {
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

    /// Looks until the word is at least `value` or `patience` is over, and says whether it is: for a word that a GPU writes, which wakes nobody.
    pub(crate) fn poll_at_least(&self, value: u32, patience: Duration) -> bool {
        let started = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if self.word().load(Ordering::Acquire) >= value {
                    return true;
                }
                std::hint::spin_loop();
            }
            let waited = started.elapsed();
            if waited >= patience {
                return false;
            }
            if waited >= EAGER {
                std::thread::yield_now();
            }
        }
    }
}

/// A sleeper looks again at least so often.
const SLICE: Duration = Duration::from_millis(20);

/// Looks between two of the clock.
const LOOKS: u32 = 64;

/// How long a word is looked at without letting others have the core.
const EAGER: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    fn word_of(value: &mut AtomicU32) -> SharedWord {
        // SAFETY: the tests keep the value until after the last use of the word.
        unsafe { SharedWord::at(value.as_ptr() as u64) }
    }

    #[test]
    fn a_word_is_polled_until_it_has_the_value_or_patience_is_over() {
        let mut value = AtomicU32::new(1);
        let word = word_of(&mut value);
        assert!(word.poll_at_least(1, Duration::ZERO));
        assert!(!word.poll_at_least(2, Duration::ZERO));
        let writer = std::thread::spawn(move || word.store(2));
        assert!(word.poll_at_least(2, Duration::from_secs(60)));
        writer.join().unwrap();
    }
}
