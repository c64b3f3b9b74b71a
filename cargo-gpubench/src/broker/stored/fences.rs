//! What the history of a device says is usual.

use crate::compare::{CaseKey, Fences};
use crate::report::BenchmarkComplete;
use crate::stats::history_fence;
use crate::store::history::History;

/// How much neighbouring runs of each case differ, where the history has enough of them.
pub(crate) fn fences(past: &History, results: &[BenchmarkComplete]) -> Fences {
    let fence = |result: &BenchmarkComplete| {
        let fence = history_fence(&past.medians(&result.full_name()))?;
        Some((CaseKey::of(result), fence))
    };
    results.iter().filter_map(fence).collect()
}
