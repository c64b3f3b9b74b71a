//! The usual changes in a device's history.

use gpubench_contract::BenchmarkComplete;
use gpubench_stats::history_fence;
use gpubench_store::compare::{CaseKey, Fences};
use gpubench_store::history::History;

/// Returns the usual change between neighbouring runs of each case with enough history.
pub(crate) fn fences(past: &History, results: &[BenchmarkComplete]) -> Fences {
    let fence = |result: &BenchmarkComplete| {
        let fence = history_fence(&past.values(&result.full_name(), &result.metric))?;
        Some((CaseKey::of(result), fence))
    };
    results.iter().filter_map(fence).collect()
}
