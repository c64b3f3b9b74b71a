//! How many benchmarks of a comparison have which verdict.

use super::text::NO_BREAK;
use gpubench_contract::{ChangeVerdict, ComparisonComplete};

/// `1 regressed, 12 no change, 1 new`, each count as `painted` has it and in one piece when lines are wrapped; `None` where there is nothing to count.
pub(super) fn tally(
    comparison: &ComparisonComplete,
    painted: impl Fn(ChangeVerdict, &str) -> String,
) -> Option<String> {
    let told = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let verdicts = ChangeVerdict::BY_RELEVANCE.iter().filter_map(|verdict| {
        let count = told(comparison.count(*verdict), &verdict.to_string())?;
        Some(painted(*verdict, &count))
    });
    let one_sided = [(comparison.new.len(), "new"), (comparison.removed.len(), "removed")];
    let one_sided = one_sided.into_iter().filter_map(|(count, what)| told(count, what));
    let counts: Vec<String> = verdicts
        .chain(one_sided)
        .map(|count| count.replace(' ', NO_BREAK))
        .collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}
