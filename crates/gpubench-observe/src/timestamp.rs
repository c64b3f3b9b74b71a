//! Points in time.

use std::time::Duration;

/// A point in time: nanoseconds of `CLOCK_MONOTONIC`, the clock of eBPF and of perf events here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Returns the current time.
    pub fn now() -> Timestamp {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        Timestamp(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
    }

    /// Returns the time from `earlier` to this point, or zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}
