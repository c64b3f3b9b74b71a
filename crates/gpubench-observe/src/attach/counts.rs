//! When counted launches are read.

use std::time::{Duration, Instant};

use crate::{Launches, Timestamp};

/// When counted launches are read. A large table takes milliseconds, so it is read less often.
#[derive(Debug)]
pub(super) struct Counts {
    launches: Launches,
    next: Instant,
}

/// The pause after a reading, as a multiple of its time: at most a twentieth of a processor.
const PAUSE: u32 = 20;

impl Counts {
    pub(super) fn new(launches: Launches) -> Counts {
        Counts {
            launches,
            next: Instant::now(),
        }
    }

    pub(super) fn are_due(&self) -> bool {
        self.launches == Launches::Counted && Instant::now() >= self.next
    }

    /// Reads them.
    pub(super) fn take<E>(&mut self, read: impl FnOnce(Timestamp) -> Result<(), E>) -> Result<(), E> {
        let begun = Instant::now();
        read(Timestamp::now())?;
        let ended = Instant::now();
        self.next = ended + ended.duration_since(begun).max(Duration::from_micros(50)) * PAUSE;
        Ok(())
    }
}
