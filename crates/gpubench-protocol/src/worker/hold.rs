//! How long a call that may wait for the device can queue its work before the rest of its window
//! follows.

use std::time::Duration;

/// The least time of the call's thread, however short calls are.
const SHORTEST: Duration = Duration::from_millis(1);

/// The most time. A call that works longer on the host before it waits is not held.
const LONGEST: Duration = Duration::from_millis(200);

/// The time for a worker that has not made a call yet.
const UNKNOWN: Duration = Duration::from_millis(20);

/// How often the last whole call fits into the time.
const TIMES: u32 = 4;

/// How much longer the thread may take. One that sleeps in its wait uses no processor time.
const PATIENCE: u32 = 8;

/// How long a call has to queue its work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hold {
    last_call: Option<Duration>,
}

impl Hold {
    /// Notes how long a whole call took on the host, with its wait.
    pub(super) fn note(&mut self, call: Duration) {
        self.last_call = Some(call);
    }

    /// Returns the processor time in which the next call has surely queued its work.
    pub(super) fn work(self) -> Duration {
        self.last_call
            .map_or(UNKNOWN, |call| call.saturating_mul(TIMES).clamp(SHORTEST, LONGEST))
    }

    /// Returns how long to wait until its thread has used that time.
    pub(super) fn patience(self) -> Duration {
        PATIENCE * self.work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_four_times_the_time_of_the_last_whole_one_within_limits() {
        let mut hold = Hold::default();
        assert_eq!(hold.work(), UNKNOWN);
        for (call_us, expected_us) in [(20, 1_000), (250, 1_000), (2_000, 8_000), (900_000, 200_000)] {
            hold.note(Duration::from_micros(call_us));
            assert_eq!(hold.work(), Duration::from_micros(expected_us));
            assert_eq!(hold.patience(), Duration::from_micros(8 * expected_us));
        }
    }
}
