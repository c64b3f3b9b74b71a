//! The time budgets of a case in its record.

use std::time::Duration;

use super::protocol::Protocol;
use super::rest::Rests;
use super::samples::Samples;
use gpubench_contract::Budget;

/// Returns the time budgets that `protocol` gives a case, the time of its warm-up, and its rests.
pub(super) fn budget(protocol: &Protocol<'_>, samples: &Samples, rests: &Rests) -> Budget {
    let (warmup_time, sample_time) = (protocol.warm_up.device_time, protocol.stop.sample_time);
    Budget {
        warmup_time_ns: (!warmup_time.is_zero()).then(|| whole_ns(warmup_time)),
        warmed_up_ns: whole_ns(samples.warmed_up()),
        sample_time_ns: (sample_time < Duration::MAX).then(|| whole_ns(sample_time)),
        rests: rests.count(),
        rested_ns: whole_ns(rests.taken()),
    }
}

fn whole_ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
