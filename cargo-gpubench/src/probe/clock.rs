//! The clock of events.

use gpubench_device::monotonic_ns;
use gpubench_observe::Timestamp;

/// Returns the time of `CLOCK_MONOTONIC`.
pub(super) fn now() -> Timestamp {
    Timestamp(monotonic_ns())
}
