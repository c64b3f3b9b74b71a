//! The usual changes in a device's history.

use gpubench_contract::BenchmarkComplete;
use gpubench_stats::history_fence;
use gpubench_store::compare::Fences;
use gpubench_store::history::History;

/// Returns the usual change between neighbouring runs of each result with enough history.
pub(crate) fn fences(past: &History, results: &[BenchmarkComplete]) -> Fences {
    let fence = |result: &BenchmarkComplete| {
        let fence = history_fence(&past.values(
            &result.full_name(),
            result.mode,
            &result.metric,
            result.device.uuid.as_deref(),
        ))?;
        Some((result.key(), fence))
    };
    results.iter().filter_map(fence).collect()
}
