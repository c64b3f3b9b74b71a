//! Changes between neighbouring runs that stand out.

use crate::report::{BenchmarkHistory, HistoryRun};

/// A change counts as a jump from here on where the history does not say what is usual.
const NOTABLE: f64 = 0.05;
/// Smaller changes are none, however steady a history is.
const LEAST: f64 = 0.01;

/// A change between neighbouring runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump<'a> {
    /// Relative: above zero is slower.
    pub(super) change: f64,
    /// The run before.
    pub(super) from: &'a HistoryRun,
    /// The run behind.
    pub(super) to: &'a HistoryRun,
}

/// The largest jumps, at most `most` of them, in the order of the runs.
pub(super) fn jumps(history: &BenchmarkHistory, most: usize) -> Vec<Jump<'_>> {
    let bound = history.usual_change.unwrap_or(NOTABLE).max(LEAST);
    let pairs = history.runs.windows(2).filter_map(|pair| match pair {
        [from, to] => Some(Jump {
            change: to.value / from.value - 1.0,
            from,
            to,
        }),
        _ => None,
    });
    let mut found: Vec<(usize, Jump<'_>)> = pairs
        .enumerate()
        .filter(|(_, jump)| jump.change.is_finite() && jump.change.abs() > bound)
        .collect();
    found.sort_by(|(_, a), (_, b)| b.change.abs().total_cmp(&a.change.abs()));
    found.truncate(most);
    found.sort_by_key(|(position, _)| *position);
    found.into_iter().map(|(_, jump)| jump).collect()
}
