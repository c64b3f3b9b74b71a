//! Ranking of the implementations of a problem.

use std::collections::HashSet;

use crate::wording::best;
use gpubench_contract::{BenchmarkComplete, Execution, Metric, Mode, Params, Reading, Stats, Verdict};

/// The results that passed, in order of arrival.
#[derive(Default)]
pub(super) struct Rankings(Vec<Entry>);

/// An implementation that passed.
struct Entry {
    index: u64,
    package: String,
    problem: String,
    /// Benchmark, with the values of the axes that it adds to its problem.
    name: String,
    /// Values of the problem's axes.
    params: Params,
    mode: Mode,
    clock: TimedBy,
    stats: Stats,
    metric: Metric,
}

/// Where the times of a result come from. Those of the host contain more than those of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimedBy {
    Device,
    Host,
}

impl TimedBy {
    fn from_execution(execution: Option<Execution>) -> TimedBy {
        match execution {
            None | Some(Execution::Sealed | Execution::Hosted) => TimedBy::Device,
            Some(Execution::HostedSync) => TimedBy::Host,
        }
    }
}

/// A ranking for one problem, one mode, one clock and one set of values for the problem's axes.
pub(super) struct Ranking<'a> {
    /// The problem.
    pub(super) problem: &'a str,
    /// Metric of the values.
    pub(super) metric: &'a Metric,
    /// How the calls were measured.
    mode: Mode,
    clock: TimedBy,
    /// Values of the problem's axes.
    pub(super) params: &'a Params,
    /// Implementations, fastest first.
    pub(super) entries: Vec<Ranked<'a>>,
}

/// An implementation in a ranking.
pub(super) struct Ranked<'a> {
    /// Position of the case in the run.
    pub(super) index: u64,
    /// Benchmark, with the values of the axes that it adds to its problem.
    pub(super) name: &'a str,
    /// Median.
    pub(super) value: f64,
    /// Ratio to the fastest.
    pub(super) rank: Rank,
}

/// From this ratio on, overlapping intervals mean that the measurement is too imprecise.
const LARGE_RATIO: f64 = 1.1;

/// The comparison of an implementation with the fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rank {
    /// It is the fastest.
    Best,
    /// This many times the fastest's time, with overlapping 95% intervals.
    NotSignificant(f64),
    /// This many times the fastest's time.
    Ratio(f64),
    /// The fastest's time is zero.
    Undefined,
}

impl Rank {
    /// Returns the text next to the value.
    pub(super) fn words(self, metric: &Metric) -> Option<String> {
        let times = |ratio: f64| format!("{ratio:.2}× the {}", metric.name);
        match self {
            Rank::Best => Some(best(metric).to_owned()),
            Rank::NotSignificant(ratio) => Some(format!("{}, not significant", times(ratio))),
            Rank::Ratio(ratio) => Some(times(ratio)),
            Rank::Undefined => None,
        }
    }

    /// Returns whether the ratio is large, but more samples are needed to confirm it.
    fn is_large_but_not_significant(self) -> bool {
        let Rank::NotSignificant(ratio) = self else {
            return false;
        };
        !(1.0 / LARGE_RATIO..LARGE_RATIO).contains(&ratio)
    }
}

impl Rankings {
    /// Adds a result if it passed. Contests have rankings of their own.
    pub(super) fn add(&mut self, result: &BenchmarkComplete) {
        if result.contest.is_some() {
            return;
        }
        let (Some(problem), Some(stats), Verdict::Pass) = (&result.problem, &result.stats, result.verdict) else {
            return;
        };
        let params = result.params.0.iter().cloned();
        let (own, params): (Vec<_>, Vec<_>) = params.partition(|(name, _)| result.own_axes.contains(name));
        self.0.push(Entry {
            index: result.index,
            package: result.package.clone(),
            problem: problem.clone(),
            name: format!("{} {}", result.benchmark, Params(own)).trim_end().to_owned(),
            params: Params(params),
            mode: result.mode,
            clock: TimedBy::from_execution(result.execution),
            stats: stats.clone(),
            metric: result.metric.clone(),
        });
    }

    /// Returns a ranking for every problem that at least two implementations solved, for each mode,
    /// each clock and each set of values of the problem's axes.
    pub(super) fn rankings(&self) -> Vec<Ranking<'_>> {
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
        let mut groups: Vec<Vec<&Entry>> = Vec::new();
        for entry in self.0.iter().filter(of_problem) {
            match groups.iter_mut().find(|group| group[0].competes_with(entry)) {
                Some(group) => group.push(entry),
                None => groups.push(vec![entry]),
            }
        }
        groups.retain(|group| group.iter().any(|entry| entry.name != group[0].name));
        groups.into_iter().map(Ranking::new).collect()
    }
}

impl<'a> Ranking<'a> {
    /// Returns how its results were measured.
    pub(super) fn reading(&self) -> Reading {
        Reading::new(self.mode, self.metric)
    }

    /// Returns what the values are.
    pub(super) fn value_name(&self) -> &str {
        match self.clock {
            TimedBy::Device => &self.metric.name,
            TimedBy::Host => "wall time",
        }
    }

    /// Returns the remark for a ranking of times that contain more than the device's.
    pub(super) fn clock_remark(&self) -> Option<&'static str> {
        match self.clock {
            TimedBy::Device => None,
            TimedBy::Host => Some("wall times of `hosted(sync)` calls, with their launches and waits"),
        }
    }

    /// Returns the remark for a ranking in which a large ratio is not significant.
    pub(super) fn remark(&self) -> Option<&'static str> {
        let mut ranks = self.entries.iter().map(|ranked| ranked.rank);
        ranks
            .any(Rank::is_large_but_not_significant)
            .then_some("not significant: the 95% intervals overlap (hint: use more `--workers`)")
    }

    fn new(mut entries: Vec<&'a Entry>) -> Ranking<'a> {
        let better = entries[0].metric.better;
        entries.sort_by(|one, other| better.order(one.stats.value, other.stats.value));
        let best = entries[0];
        Ranking {
            problem: &best.problem,
            metric: &best.metric,
            mode: best.mode,
            clock: best.clock,
            params: &best.params,
            entries: entries
                .into_iter()
                .map(|entry| Ranked {
                    index: entry.index,
                    name: &entry.name,
                    value: entry.stats.value,
                    rank: entry.rank(best),
                })
                .collect(),
        }
    }
}

impl Entry {
    fn competes_with(&self, other: &Entry) -> bool {
        let how = |entry: &Entry| (entry.mode, entry.clock);
        (&self.params, &self.metric, how(self)) == (&other.params, &other.metric, how(other))
    }

    fn rank(&self, best: &Entry) -> Rank {
        let ratio = self.stats.value / best.stats.value;
        if std::ptr::eq(self, best) {
            Rank::Best
        } else if !ratio.is_finite() {
            Rank::Undefined
        } else if self.stats.may_equal(&best.stats) {
            Rank::NotSignificant(ratio)
        } else {
            Rank::Ratio(ratio)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{Better, ParamValue};

    fn entry(benchmark: &str, params: &[(&str, i64)], value: f64) -> Entry {
        Entry {
            index: 0,
            package: "suite".to_owned(),
            problem: "matmul".to_owned(),
            mode: Mode::Cold,
            clock: TimedBy::Device,
            name: benchmark.to_owned(),
            params: Params(
                params
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), ParamValue::Int(*value)))
                    .collect(),
            ),
            stats: stats(value, Some([value - 1.0, value + 1.0])),
            metric: Metric::time(),
        }
    }

    fn stats(value: f64, ci95: Option<[f64; 2]>) -> Stats {
        let alone = gpubench_stats::summary(&[&[value]]).unwrap();
        Stats { ci95, ..alone }
    }

    fn ranking(ranking: &Ranking<'_>) -> Vec<(String, Rank)> {
        ranking
            .entries
            .iter()
            .map(|ranked| (ranked.name.to_owned(), ranked.rank))
            .collect()
    }

    #[test]
    fn times_of_the_host_are_not_ranked_with_times_of_the_device() {
        let from_outside = |benchmark, value| Entry {
            clock: TimedBy::from_execution(Some(Execution::HostedSync)),
            ..entry(benchmark, &[], value)
        };
        let rankings = Rankings(vec![
            entry("kernel", &[], 4.0),
            from_outside("library", 30.0),
            entry("other kernel", &[], 5.0),
            from_outside("other library", 40.0),
        ]);
        let held = rankings.rankings();
        let names: Vec<Vec<&str>> = held
            .iter()
            .map(|ranking| ranking.entries.iter().map(|ranked| ranked.name).collect())
            .collect();
        assert_eq!(names, [["kernel", "other kernel"], ["library", "other library"]]);
        assert_eq!(held[0].clock_remark(), None);
        assert!(
            held[1]
                .clock_remark()
                .is_some_and(|remark| remark.contains("wall times"))
        );
    }

    /// A benchmark, its arguments, the axes that it adds to its problem, and its time.
    type Timed<'a> = (&'a str, &'a [(&'a str, i64)], &'a [&'a str], f64);

    /// Returns the rankings of results of one problem.
    fn rankings_of(results: &[Timed<'_>]) -> Rankings {
        let mut run = gpubench_testing::competition();
        let of = run.results.swap_remove(0);
        let mut rankings = Rankings::default();
        for (benchmark, params, own_axes, value) in results {
            let mut result = BenchmarkComplete {
                benchmark: (*benchmark).to_owned(),
                params: entry(benchmark, params, *value).params,
                own_axes: own_axes.iter().map(|axis| (*axis).to_owned()).collect(),
                ..of.clone()
            };
            let stats = result.stats.as_mut().unwrap();
            (stats.value, stats.ci95) = (*value, Some([value - 1.0, value + 1.0]));
            rankings.add(&result);
        }
        rankings
    }

    #[test]
    fn an_axis_that_a_benchmark_adds_names_its_entries() {
        let rankings = rankings_of(&[
            ("naive", &[("n", 64)], &[], 400.0),
            ("tiled", &[("n", 64), ("tile", 16)], &["tile"], 100.0),
            ("tiled", &[("n", 64), ("tile", 32)], &["tile"], 200.0),
            ("naive", &[("n", 128)], &[], 800.0),
        ]);
        let held = rankings.rankings();
        assert_eq!(held.len(), 1);
        assert_eq!(held[0].params.to_string(), "n=64");
        let expected = [
            ("tiled tile=16", Rank::Best),
            ("tiled tile=32", Rank::Ratio(2.0)),
            ("naive", Rank::Ratio(4.0)),
        ];
        assert_eq!(ranking(&held[0]), expected.map(|(name, rank)| (name.to_owned(), rank)));
    }

    #[test]
    fn block_sizes_compete_alone_and_with_those_of_other_benchmarks() {
        let sizes: [Timed<'_>; 4] = [
            ("a", &[("n", 64), ("threads", 128)], &["threads"], 100.0),
            ("a", &[("n", 64), ("threads", 256)], &["threads"], 200.0),
            ("b", &[("n", 64), ("threads", 256)], &["threads"], 400.0),
            ("b", &[("n", 64), ("threads", 512)], &["threads"], 800.0),
        ];
        let names = |rankings: &Rankings| {
            let held = rankings.rankings();
            assert_eq!(held.len(), 1);
            ranking(&held[0]).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&rankings_of(&sizes[..2])), ["a threads=128", "a threads=256"]);
        let all = ["a threads=128", "a threads=256", "b threads=256", "b threads=512"];
        assert_eq!(names(&rankings_of(&sizes)), all);
    }

    #[test]
    fn a_noisy_time_that_is_hundreds_of_times_the_best_is_worse() {
        let noisy = |benchmark, value| Entry {
            stats: stats(value, Some([value * -0.5, value * 2.5])),
            ..entry(benchmark, &[], value)
        };
        let rankings = Rankings(vec![noisy("one", 1.0), noisy("other", 600.0), noisy("close", 4.0)]);
        let ranks: Vec<Rank> = rankings.rankings()[0]
            .entries
            .iter()
            .map(|ranked| ranked.rank)
            .collect();
        assert_eq!(ranks, [Rank::Best, Rank::NotSignificant(4.0), Rank::Ratio(600.0)]);
    }

    #[test]
    fn single_samples_have_no_interval_so_their_order_is_not_significant() {
        let single = |name, value| Entry {
            stats: stats(value, None),
            ..entry(name, &[], value)
        };
        let rankings = Rankings(vec![single("a", 100.0), single("b", 900.0)]);
        let ranked = ranking(&rankings.rankings()[0]);
        assert_eq!(ranked[1], ("b".to_owned(), Rank::NotSignificant(9.0)));
        assert!(rankings.rankings()[0].remark().is_some());
    }

    #[test]
    fn a_large_ratio_of_a_metric_that_should_be_high_has_a_remark_too() {
        for (lower, has_remark) in [(950.0, false), (920.0, false), (900.0, true), (90.0, true)] {
            let high = |name, value| Entry {
                stats: stats(value, None),
                metric: Metric {
                    better: Better::Higher,
                    ..Metric::time()
                },
                ..entry(name, &[], value)
            };
            let rankings = Rankings(vec![high("best", 1_000.0), high("other", lower)]);
            assert_eq!(rankings.rankings()[0].remark().is_some(), has_remark, "{lower}");
        }
    }

    #[test]
    fn medians_with_overlapping_intervals_are_not_significant() {
        let rankings = Rankings(vec![entry("one", &[], 100.0), entry("other", &[], 101.5)]);
        assert_eq!(ranking(&rankings.rankings()[0])[1].1, Rank::NotSignificant(1.015));
        assert_eq!(rankings.rankings()[0].remark(), None);
    }

    #[test]
    fn a_ratio_is_shown_whatever_the_intervals() {
        let wide = |benchmark, value| Entry {
            stats: stats(value, Some([value - 2000.0, value + 2000.0])),
            ..entry(benchmark, &[], value)
        };
        let rankings = Rankings(vec![wide("one", 100.0), wide("other", 1300.0)]);
        let held = rankings.rankings();
        let rank = held[0].entries[1].rank;
        assert_eq!(
            rank.words(held[0].metric).as_deref(),
            Some("13.00× the time, not significant")
        );
        assert!(held[0].remark().is_some_and(|remark| remark.contains("`--workers`")));
    }
}
