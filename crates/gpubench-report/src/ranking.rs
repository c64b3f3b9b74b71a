//! Implementations of one problem side by side.

use std::collections::HashSet;

use crate::wording::best;
use gpubench_contract::{BenchmarkComplete, Metric, Params, Verdict};

/// The results that passed, in the order in which they came.
#[derive(Default)]
pub(super) struct Rankings(Vec<Entry>);

/// An implementation that passed.
struct Entry {
    index: u64,
    package: String,
    problem: String,
    benchmark: String,
    params: Params,
    value: f64,
    interval: [f64; 2],
    metric: Metric,
}

/// One problem at one set of values of the axes that all its implementations have.
pub(super) struct Ranking<'a> {
    /// The problem.
    pub(super) problem: &'a str,
    /// What the values are values of.
    pub(super) metric: &'a Metric,
    /// The axes that all have.
    pub(super) params: Params,
    /// The implementations, the fastest first.
    pub(super) entries: Vec<Ranked>,
}

/// An implementation in a contest.
pub(super) struct Ranked {
    /// Position of the case in the run.
    pub(super) index: u64,
    /// The benchmark, with the values of the axes that only it has.
    pub(super) name: String,
    /// Its median.
    pub(super) value: f64,
    /// How it compares with the fastest.
    pub(super) rank: Rank,
}

/// A ratio from which intervals that overlap say more of the measurement than of the
/// implementations.
const WORTH_TELLING_APART: f64 = 1.1;

/// How an implementation compares with the fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rank {
    /// It is the fastest.
    Best,
    /// It has this many times the fastest's time, and the 95 % intervals of the two overlap.
    NotToldApart(f64),
    /// This many times the fastest's time.
    Behind(f64),
    /// The fastest needs no time that could be measured.
    Undefined,
}

impl Rank {
    /// How it is put beside the value.
    pub(super) fn words(self, metric: &Metric) -> Option<String> {
        let times = |ratio: f64| format!("{ratio:.2}× the {}", metric.name);
        match self {
            Rank::Best => Some(best(metric).to_owned()),
            Rank::NotToldApart(ratio) => Some(format!("{}, not told apart", times(ratio))),
            Rank::Behind(ratio) => Some(times(ratio)),
            Rank::Undefined => None,
        }
    }

    /// Whether more of a measurement may tell it from the best, though it is far from it.
    fn is_worth_telling_apart(self) -> bool {
        let Rank::NotToldApart(ratio) = self else {
            return false;
        };
        !(1.0 / WORTH_TELLING_APART..WORTH_TELLING_APART).contains(&ratio)
    }
}

impl Rankings {
    /// Enters a result that passed; a wrong answer wins nothing.
    pub(super) fn enter(&mut self, result: &BenchmarkComplete) {
        let (Some(problem), Some(stats), Verdict::Pass) = (&result.problem, &result.stats, result.verdict) else {
            return;
        };
        self.0.push(Entry {
            index: result.index,
            package: result.package.clone(),
            problem: problem.clone(),
            benchmark: result.benchmark.clone(),
            params: result.params.clone(),
            value: stats.value,
            interval: stats.ci95,
            metric: result.metric.clone(),
        });
    }

    /// A contest for every problem that at least two implementations solved, at every set of values
    /// of the axes that all of them have.
    pub(super) fn held(&self) -> Vec<Ranking<'_>> {
        let mut problems: Vec<(&str, &str)> = self.0.iter().map(|entry| (&*entry.package, &*entry.problem)).collect();
        let mut seen = HashSet::new();
        problems.retain(|problem| seen.insert(*problem));
        problems
            .into_iter()
            .flat_map(|problem| self.of_problem(problem))
            .collect()
    }

    fn of_problem(&self, (package, problem): (&str, &str)) -> Vec<Ranking<'_>> {
        let of_problem = |entry: &&Entry| entry.package == package && entry.problem == problem;
        let entries: Vec<&Entry> = self.0.iter().filter(of_problem).collect();
        let shared = |name: &str| {
            entries
                .iter()
                .all(|entry| entry.params.0.iter().any(|(own, _)| own == name))
        };
        let mut groups: Vec<(Params, Vec<(String, &Entry)>)> = Vec::new();
        for entry in &entries {
            let (params, own): (Vec<_>, Vec<_>) = entry.params.0.iter().cloned().partition(|(name, _)| shared(name));
            let (params, own) = (Params(params), Params(own));
            let name = format!("{} {own}", entry.benchmark).trim_end().to_owned();
            let mut alike = groups
                .iter_mut()
                .filter(|(known, group)| *known == params && group[0].1.metric == entry.metric);
            match alike.next() {
                Some((_, group)) => group.push((name, entry)),
                None => groups.push((params, vec![(name, entry)])),
            }
        }
        groups.retain(|(_, group)| {
            let mut benchmarks = group.iter().map(|(_, entry)| &entry.benchmark);
            let first = benchmarks.next();
            benchmarks.any(|benchmark| Some(benchmark) != first)
        });
        groups
            .into_iter()
            .map(|(params, group)| Ranking::of(params, group))
            .collect()
    }
}

impl<'a> Ranking<'a> {
    /// What is said below the ranking where an implementation is far from the best and not told
    /// apart from it.
    pub(super) fn remark(&self) -> Option<&'static str> {
        let mut ranks = self.entries.iter().map(|ranked| ranked.rank);
        ranks
            .any(Rank::is_worth_telling_apart)
            .then_some("not told apart: the 95% intervals overlap; more `--workers` may tell")
    }

    fn of(params: Params, mut entries: Vec<(String, &'a Entry)>) -> Ranking<'a> {
        let better = entries[0].1.metric.better;
        entries.sort_by(|(_, one), (_, other)| better.order(one.value, other.value));
        let best = entries[0].1;
        Ranking {
            problem: &best.problem,
            metric: &best.metric,
            params,
            entries: entries
                .into_iter()
                .map(|(name, entry)| Ranked {
                    index: entry.index,
                    name,
                    value: entry.value,
                    rank: entry.rank(best),
                })
                .collect(),
        }
    }
}

impl Entry {
    fn rank(&self, best: &Entry) -> Rank {
        let ratio = self.value / best.value;
        let overlap = self.interval[0] <= best.interval[1] && best.interval[0] <= self.interval[1];
        match overlap {
            _ if std::ptr::eq(self, best) => Rank::Best,
            _ if !ratio.is_finite() => Rank::Undefined,
            true => Rank::NotToldApart(ratio),
            false => Rank::Behind(ratio),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::ParamValue;

    fn entry(benchmark: &str, params: &[(&str, i64)], value: f64) -> Entry {
        Entry {
            index: 0,
            package: "suite".to_owned(),
            problem: "matmul".to_owned(),
            benchmark: benchmark.to_owned(),
            params: Params(
                params
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)))
                    .collect(),
            ),
            value,
            interval: [value - 1.0, value + 1.0],
            metric: Metric::time(),
        }
    }

    fn ranking(ranking: &Ranking<'_>) -> Vec<(String, Rank)> {
        ranking
            .entries
            .iter()
            .map(|ranked| (ranked.name.clone(), ranked.rank))
            .collect()
    }

    #[test]
    fn an_axis_that_only_one_implementation_has_names_its_entries() {
        let rankings = Rankings(vec![
            entry("naive", &[("n", 64)], 400.0),
            entry("tiled", &[("n", 64), ("tile", 16)], 100.0),
            entry("tiled", &[("n", 64), ("tile", 32)], 200.0),
            entry("naive", &[("n", 128)], 800.0),
        ]);
        let held = rankings.held();
        assert_eq!(held.len(), 1);
        assert_eq!(
            (held[0].problem, held[0].params.to_string()),
            ("matmul", "n=64".to_owned())
        );
        let expected = [
            ("tiled tile=16", Rank::Best),
            ("tiled tile=32", Rank::Behind(2.0)),
            ("naive", Rank::Behind(4.0)),
        ];
        assert_eq!(ranking(&held[0]), expected.map(|(name, rank)| (name.to_owned(), rank)));
    }

    #[test]
    fn medians_whose_intervals_overlap_are_not_told_apart() {
        let rankings = Rankings(vec![entry("one", &[], 100.0), entry("other", &[], 101.5)]);
        assert_eq!(ranking(&rankings.held()[0])[1].1, Rank::NotToldApart(1.015));
        assert_eq!(rankings.held()[0].remark(), None);
    }

    #[test]
    fn a_ratio_is_told_whatever_the_intervals_say() {
        let wide = |benchmark, value| Entry {
            interval: [value - 2000.0, value + 2000.0],
            ..entry(benchmark, &[], value)
        };
        let rankings = Rankings(vec![wide("one", 100.0), wide("other", 1300.0)]);
        let held = rankings.held();
        let rank = held[0].entries[1].rank;
        assert_eq!(
            rank.words(held[0].metric).as_deref(),
            Some("13.00× the time, not told apart")
        );
        assert!(held[0].remark().is_some_and(|remark| remark.contains("`--workers`")));
    }
}
