//! Matching of the results of two runs.

use std::collections::HashMap;

use super::Matching;
use gpubench_contract::{BenchmarkComplete, ResultKey, ResultKeys, Verdict};

/// The matched and unmatched results of two runs.
#[derive(Debug)]
pub(super) struct Pairing<'a> {
    /// In the candidate's order.
    pub both: Vec<Pair<'a>>,
    /// In the candidate's order.
    pub new: Vec<&'a BenchmarkComplete>,
    /// In the baseline's order.
    pub removed: Vec<&'a BenchmarkComplete>,
}

/// Two results that match.
#[derive(Debug)]
pub(super) struct Pair<'a> {
    pub baseline: &'a BenchmarkComplete,
    pub candidate: &'a BenchmarkComplete,
    /// All results with this key, if a run has several. The match is ambiguous.
    pub ambiguous: Vec<&'a BenchmarkComplete>,
}

impl Pair<'_> {
    /// Whether neither run has a value: it was skipped, as for a benchmark of another device, or
    /// passed without samples, because its calls have nothing to write.
    pub(super) fn has_no_values(&self) -> bool {
        [self.baseline, self.candidate]
            .iter()
            .all(|result| match result.verdict {
                Verdict::Skipped => true,
                Verdict::Pass => result.samples.is_empty(),
                _ => false,
            })
    }
}

impl<'a> Pairing<'a> {
    pub(super) fn new(
        baseline: &'a [BenchmarkComplete],
        candidate: &'a [BenchmarkComplete],
        matching: &Matching,
    ) -> Pairing<'a> {
        let before = by_key(baseline, matching);
        let after = by_key(candidate, matching);
        let [theirs, ours] = [&before, &after].map(|side| side.keys().cloned().collect::<ResultKeys>());
        let mut pairing = Pairing {
            both: Vec::new(),
            new: Vec::new(),
            removed: Vec::new(),
        };
        for (key, result) in keyed(candidate, matching) {
            match ours.counterpart(&key, &theirs) {
                Some(counterpart) => pairing.both.push(Pair {
                    baseline: before[&counterpart][0],
                    candidate: result,
                    ambiguous: ambiguous(&before[&counterpart], &after[&key]),
                }),
                None => pairing.new.push(result),
            }
        }
        let gone = keyed(baseline, matching).filter(|(key, _)| theirs.counterpart(key, &ours).is_none());
        pairing.removed = gone.map(|(_, result)| result).collect();
        pairing
    }
}

/// Returns the results of a run that can be matched, with their keys.
fn keyed<'a>(
    results: &'a [BenchmarkComplete],
    matching: &Matching,
) -> impl Iterator<Item = (ResultKey, &'a BenchmarkComplete)> {
    results
        .iter()
        .filter_map(|result| Some((matching.key(result)?, result)))
}

fn by_key<'a>(results: &'a [BenchmarkComplete], matching: &Matching) -> HashMap<ResultKey, Vec<&'a BenchmarkComplete>> {
    let mut by_key: HashMap<ResultKey, Vec<&BenchmarkComplete>> = HashMap::new();
    for (key, result) in keyed(results, matching) {
        by_key.entry(key).or_default().push(result);
    }
    by_key
}

/// Returns all results with a key if one of the runs has several, else nothing.
fn ambiguous<'a>(
    baselines: &[&'a BenchmarkComplete],
    candidates: &[&'a BenchmarkComplete],
) -> Vec<&'a BenchmarkComplete> {
    match (baselines, candidates) {
        ([_], [_]) => Vec::new(),
        ([_], several) | (several, [_]) | (several, _) => several.to_vec(),
    }
}
