//! Which functions execute more or fewer instructions than before.

use std::collections::BTreeMap;

use super::pairing::Pair;
use gpubench_contract::{BenchmarkComplete, FunctionChange};

/// Returns the functions whose counts differ, the largest difference first. Empty if one side has
/// no counts.
pub(super) fn changes(pair: &Pair<'_>) -> Vec<FunctionChange> {
    let [Some(before), Some(after)] = [pair.baseline, pair.candidate].map(functions) else {
        return Vec::new();
    };
    let mut names: Vec<Name<'_>> = before.keys().chain(after.keys()).copied().collect();
    names.sort();
    names.dedup();
    let of = |counts: &Counts<'_>, name| counts.get(name).copied().unwrap_or(0.0);
    let mut changes: Vec<FunctionChange> = names
        .iter()
        .map(|name| FunctionChange {
            kernel: name.0.to_owned(),
            function: name.1.map(str::to_owned),
            baseline: of(&before, name),
            candidate: of(&after, name),
        })
        .filter(|change| change.difference() != 0.0)
        .collect();
    // The sort is stable: functions that tie keep the order of their names.
    changes.sort_by(|one, other| other.difference().abs().total_cmp(&one.difference().abs()));
    changes
}

/// A kernel and its function.
type Name<'a> = (&'a str, Option<&'a str>);

type Counts<'a> = BTreeMap<Name<'a>, f64>;

fn functions(result: &BenchmarkComplete) -> Option<Counts<'_>> {
    let functions = &result.counts.as_ref()?.functions;
    let named = functions
        .iter()
        .map(|count| ((count.kernel.as_str(), count.function.as_deref()), count.instructions));
    (!functions.is_empty()).then(|| named.collect())
}
