//! Time spent on the windows of a worker.

use std::time::Duration;

/// Time spent on some windows of a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// By the host's clock, with everything around the calls.
    pub wall: Duration,
    /// On the device: the sum of the times of the windows' calls.
    pub device: Duration,
}

impl Spent {
    /// Returns a device time of `ns` nanoseconds. Zero if they are negative or no number.
    pub fn device_ns(ns: f64) -> Duration {
        // A cast saturates, and makes zero of what is no number.
        Duration::from_nanos(ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_of_any_value_is_a_device_time() {
        assert_eq!(Spent::device_ns(1.5e6), Duration::from_micros(1_500));
        assert_eq!(Spent::device_ns(f64::INFINITY), Duration::from_nanos(u64::MAX));
        for nothing in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(Spent::device_ns(nothing), Duration::ZERO);
        }
    }
}
