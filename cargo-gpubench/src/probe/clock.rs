//! The clock of events.

use rustix::time::{ClockId, Timespec, clock_gettime};

use gpubench_observe::Timestamp;

/// Returns the time of `CLOCK_MONOTONIC`.
pub(super) fn now() -> Timestamp {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    Timestamp(tv_sec.unsigned_abs() * 1_000_000_000 + tv_nsec.unsigned_abs())
}
