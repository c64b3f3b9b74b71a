//! What the history of a device says is usual.

use gpubench_contract::BenchmarkComplete;
use gpubench_stats::history_fence;
use gpubench_store::compare::{CaseKey, Fences};
use gpubench_store::history::History;

/// How much neighbouring runs of each case differ, where the history has enough of them.
pub(crate) fn fences(past: &History, results: &[BenchmarkComplete]) -> Fences {
    let fence = |result: &BenchmarkComplete| {
        let fence = history_fence(&past.values(&result.full_name(), &result.metric))?;
        Some((CaseKey::of(result), fence))
    };
    results.iter().filter_map(fence).collect()
}
