//! How many benchmarks of a comparison have which verdict.

use super::text::NO_BREAK;
use gpubench_contract::{ChangeVerdict, ComparisonComplete};

/// `1 regressed, 12 no change, 1 new`, each count as `painted` has it and in one piece when lines are wrapped; `None` where there is nothing to count.
pub(super) fn tally(
    comparison: &ComparisonComplete,
    painted: impl Fn(ChangeVerdict, &str) -> String,
) -> Option<String> {
    let counts = comparison.counts_shown(|verdict, count| painted(verdict, &count));
    let unbroken: Vec<String> = counts.iter().map(|count| count.replace(' ', NO_BREAK)).collect();
    (!unbroken.is_empty()).then(|| unbroken.join(", "))
}
