//! The rankings of cases that were measured alternately.

use std::collections::BTreeSet;

use super::StoredRun;
use gpubench_contract::{
    BenchmarkComplete, ContestComplete, ContestShare, Contestant, DeviceKind, Execution, Grade, Params, SchemaVersion,
    Verdict,
};
use gpubench_diagnostic::in_backticks;
use gpubench_stats::{Confidence, FEWEST_WORKERS, PairTable, Place};

/// Returns the rankings of a run's contests, in order. Those of a problem with several arguments
/// are followed by the ranking over all of them. The same results always give the same records.
pub fn contests(run: &StoredRun) -> Vec<ContestComplete> {
    let contests = Contest::all_of(run);
    let mut rankings = Vec::new();
    for problem in by_problem(&contests) {
        rankings.extend(problem.iter().map(|contest| contest.ranking()));
        rankings.extend(over_all(problem));
    }
    rankings
}

/// The results of a contest.
struct Contest<'a> {
    share: &'a ContestShare,
    /// Its results, at least one.
    results: Vec<&'a BenchmarkComplete>,
    /// Resolution of the samples.
    step: f64,
    device: DeviceKind,
}

/// Whether a result has times that alternate with the others'.
fn is_ranked(result: &BenchmarkComplete) -> bool {
    result.verdict == Verdict::Pass && result.failed_alternating.is_none()
}

fn failed_alternating(result: &BenchmarkComplete) -> Option<Verdict> {
    result
        .failed_alternating
        .as_ref()
        .map(|alternating| alternating.verdict)
}

/// A contestant and its place, before others know its name.
struct Ranked {
    contestant: Contestant,
    /// Positions of those that it may equal.
    ties: Vec<usize>,
}

impl<'a> Contest<'a> {
    fn all_of(run: &'a StoredRun) -> Vec<Contest<'a>> {
        let mut contests: Vec<Contest<'_>> = Vec::new();
        let tick = run.run.device.clock_tick_ns.filter(|tick| tick.is_finite());
        for result in &run.results {
            let Some(share) = &result.contest else { continue };
            match contests.iter_mut().find(|contest| contest.is_of(result, share)) {
                Some(contest) => contest.results.push(result),
                None => contests.push(Contest {
                    share,
                    results: vec![result],
                    step: tick.filter(|_| result.metric.is_time()).unwrap_or(0.0),
                    device: run.run.device.kind,
                }),
            }
        }
        contests
    }

    fn is_of(&self, result: &BenchmarkComplete, share: &ContestShare) -> bool {
        self.share.number == share.number && self.results[0].run_id == result.run_id
    }

    /// Whether both are of one problem, measured alike.
    fn is_like(&self, other: &Contest<'_>) -> bool {
        let [one, other] = [self, other].map(|contest| contest.results[0]);
        (&one.run_id, &one.package, &one.problem) == (&other.run_id, &other.package, &other.problem)
            && one.reading() == other.reading()
    }

    /// Returns the arguments that all contestants share.
    fn params(&self) -> Params {
        let is_shared = |param: &(_, _)| self.results.iter().all(|result| result.params.0.contains(param));
        Params(
            self.results[0]
                .params
                .0
                .iter()
                .filter(|param| is_shared(param))
                .cloned()
                .collect(),
        )
    }

    /// Returns the arguments that not all contestants share.
    fn own_params(&self, result: &BenchmarkComplete) -> Params {
        let shared = self.params();
        Params(
            result
                .params
                .0
                .iter()
                .filter(|param| !shared.0.contains(param))
                .cloned()
                .collect(),
        )
    }

    /// Returns the ratios of each pair of these results, which passed.
    fn table(&self, results: &[&BenchmarkComplete]) -> Option<PairTable> {
        let samples: Vec<Vec<&[f64]>> = results.iter().map(|result| result.samples_by_worker()).collect();
        PairTable::new(&samples, self.step)
    }

    /// Returns what code of a contestant could have done to the others.
    fn doubt(&self) -> Option<String> {
        let harm = "it could slow the others down, or make them time out, and cannot reach their outputs";
        if self.device == DeviceKind::Cpu {
            return Some(format!(
                "kernels of the CPU device are native code, and that of each contestant lives while the others are measured: {harm}"
            ));
        }
        let is_hosted =
            |result: &&&BenchmarkComplete| matches!(result.execution, Some(Execution::Hosted | Execution::HostedSync));
        let names: BTreeSet<&str> = self
            .results
            .iter()
            .filter(is_hosted)
            .map(|result| &*result.benchmark)
            .collect();
        (!names.is_empty()).then(|| {
            format!(
                "host code of {} lives while the others are measured: {harm}",
                in_backticks(names)
            )
        })
    }

    fn confidence(&self) -> Confidence {
        let all = Confidence::new(self.share.confidence).unwrap_or_default();
        all.of_each(usize::try_from(self.share.analyses).unwrap_or(1))
    }

    fn ranking(&self) -> ContestComplete {
        let (passed, others): (Vec<&BenchmarkComplete>, Vec<_>) =
            self.results.iter().copied().partition(|result| is_ranked(result));
        let table = self.table(&passed);
        let described = |result: &&BenchmarkComplete| Contestant {
            benchmark: result.benchmark.clone(),
            params: self.own_params(result),
            results: vec![result.index],
            verdict: result.verdict,
            failed_alternating: failed_alternating(result),
            grade: result.grade,
            value: (result.verdict == Verdict::Pass)
                .then(|| result.stats.as_ref().map(|stats| stats.value))
                .flatten(),
            ranks: None,
            ratio: None,
            interval: None,
            ties: Vec::new(),
        };
        let [passed, others] = [passed, others].map(|results| results.iter().map(described).collect::<Vec<_>>());
        self.complete(self.params(), 1, table, passed, others)
    }

    /// Returns the record of a ranking. `passed` are the contestants of the table.
    fn complete(
        &self,
        params: Params,
        arguments: u64,
        table: Option<PairTable>,
        passed: Vec<Contestant>,
        others: Vec<Contestant>,
    ) -> ContestComplete {
        let first = self.results[0];
        let remark = match &table {
            _ if passed.is_empty() => Some("no contestant passed".to_owned()),
            None => Some(format!(
                "there is no ranking with fewer than {FEWEST_WORKERS} workers of each contestant (hint: raise `--workers` and `--max-samples`)"
            )),
            Some(_) => None,
        };
        let mut contestants = match table {
            Some(table) => named(placed(passed, table.ranking(self.confidence()))),
            None => passed,
        };
        contestants.extend(others);
        ContestComplete {
            schema_version: SchemaVersion,
            run_id: first.run_id.clone(),
            package: first.package.clone(),
            problem: first.problem.clone().unwrap_or_default(),
            params,
            arguments,
            mode: first.mode,
            metric: first.metric.clone(),
            confidence: self.share.confidence,
            contestants,
            remark,
            doubt: self.doubt(),
        }
    }
}

/// Groups the contests of one problem, in the order of the first of each.
fn by_problem<'c, 'a>(contests: &'c [Contest<'a>]) -> Vec<Vec<&'c Contest<'a>>> {
    let mut problems: Vec<Vec<&Contest<'_>>> = Vec::new();
    for contest in contests {
        match problems.iter_mut().find(|problem| problem[0].is_like(contest)) {
            Some(problem) => problem.push(contest),
            None => problems.push(vec![contest]),
        }
    }
    problems
}

/// Returns the ranking over several contests of one problem, of those that took part in each.
fn over_all(contests: Vec<&Contest<'_>>) -> Option<ContestComplete> {
    let (first, further) = contests.split_first()?;
    let name_in =
        |contest: &Contest<'_>, result: &BenchmarkComplete| (result.benchmark.clone(), contest.own_params(result));
    let in_each: Vec<Vec<&BenchmarkComplete>> = first
        .results
        .iter()
        .filter_map(|result| {
            let name = name_in(first, result);
            let same = further.iter().map(|contest| {
                let mut results = contest.results.iter().copied();
                results.find(|result| name_in(contest, result) == name)
            });
            std::iter::once(Some(*result)).chain(same).collect()
        })
        .collect();
    if further.is_empty() || in_each.len() < 2 {
        return None;
    }
    let has_passed = |results: &Vec<&BenchmarkComplete>| results.iter().all(|result| is_ranked(result));
    let (passed, others): (Vec<_>, Vec<_>) = in_each.into_iter().partition(has_passed);
    let tables = contests.iter().enumerate().map(|(position, contest)| {
        let of_contest: Vec<&BenchmarkComplete> = passed.iter().map(|results| results[position]).collect();
        contest.table(&of_contest)
    });
    let table = tables
        .collect::<Option<Vec<PairTable>>>()
        .and_then(|tables| PairTable::mean(&tables));
    let [passed, others] = [passed, others].map(|contestants| {
        let described = contestants.iter().map(|results| over_arguments(first, results));
        described.collect::<Vec<Contestant>>()
    });
    Some(first.complete(Params::default(), contests.len() as u64, table, passed, others))
}

/// Returns a contestant with a result for each of several arguments.
fn over_arguments(first: &Contest<'_>, results: &[&BenchmarkComplete]) -> Contestant {
    let failed = results.iter().find(|result| result.verdict != Verdict::Pass);
    Contestant {
        benchmark: results[0].benchmark.clone(),
        params: first.own_params(results[0]),
        results: results.iter().map(|result| result.index).collect(),
        verdict: failed.map_or(Verdict::Pass, |failed| failed.verdict),
        failed_alternating: results.iter().find_map(|result| failed_alternating(result)),
        grade: results.iter().filter_map(|result| result.grade).reduce(Grade::lower),
        value: None,
        ranks: None,
        ratio: None,
        interval: None,
        ties: Vec::new(),
    }
}

/// Returns the contestants in the order of their places.
fn placed(contestants: Vec<Contestant>, places: Vec<Place>) -> Vec<Ranked> {
    let place_of = |contestant: usize| places.iter().position(|place| place.contestant == contestant);
    let ranked = places.iter().map(|place| Ranked {
        contestant: Contestant {
            ranks: Some(place.ranks.map(|rank| rank as u64)),
            ratio: Some(place.ratio.estimate),
            interval: Some([place.ratio.interval.low, place.ratio.interval.high]),
            ..contestants[place.contestant].clone()
        },
        ties: place.ties.iter().filter_map(|tie| place_of(*tie)).collect(),
    });
    ranked.collect()
}

/// Names the ties of each contestant.
fn named(ranked: Vec<Ranked>) -> Vec<Contestant> {
    let names: Vec<String> = ranked.iter().map(|ranked| ranked.contestant.name()).collect();
    let named = ranked.into_iter().map(|Ranked { contestant, mut ties }| {
        ties.sort_unstable();
        Contestant {
            ties: ties.iter().map(|tie| names[*tie].clone()).collect(),
            ..contestant
        }
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{FailedAlternating, Metric, Mode, ParamValue};
    use gpubench_testing::{competition, in_contests};

    fn run() -> StoredRun {
        let run = in_contests(competition());
        StoredRun::new(run.started, run.results, Some(run.finished), None)
    }

    fn names(contest: &ContestComplete) -> Vec<&str> {
        let contestants = contest.contestants.iter();
        contestants.map(|contestant| contestant.benchmark.as_str()).collect()
    }

    #[test]
    fn contests_are_ranked_one_by_one_and_over_all_arguments() {
        let contests = contests(&run());
        let [of_256, of_512, over_both] = &contests[..] else {
            panic!("{contests:#?}");
        };
        assert_eq!(
            names(of_256),
            ["matmul::tiled", "matmul::vectorized", "matmul::naive", "matmul::wrong"]
        );
        assert_eq!(of_256.contestants[3].verdict, Verdict::WrongOutput);
        let ranks = |contest: &ContestComplete| contest.contestants.iter().map(|one| one.ranks).collect::<Vec<_>>();
        assert_eq!(ranks(of_256), [Some([1, 2]), Some([1, 2]), Some([3, 3]), None]);
        assert_eq!((of_512.params.to_string(), of_512.arguments), ("n=512".to_owned(), 1));
        assert_eq!((over_both.params.to_string(), over_both.arguments), (String::new(), 2));
        assert_eq!(
            names(over_both),
            ["matmul::tiled", "matmul::vectorized", "matmul::naive"]
        );
        let naive = &over_both.contestants[2];
        assert!(
            (naive.ratio.unwrap() - 3.2).abs() < 0.01 && naive.results.len() == 2,
            "{naive:?}"
        );
        assert_eq!(over_both.contestants[0].ties, ["matmul::vectorized"]);
    }

    #[test]
    fn a_contestant_that_passes_only_alone_has_no_rank() {
        let mut run = run();
        run.results[0].failed_alternating = Some(FailedAlternating {
            rival: "`matmul::naive`".to_owned(),
            verdict: Verdict::Timeout,
            cause: None,
            message: None,
        });
        let name = run.results[0].benchmark.clone();
        let contests = contests(&run);
        let found = contests[0]
            .contestants
            .iter()
            .find(|one| one.benchmark == name)
            .unwrap();
        assert_eq!(
            (found.verdict, found.failed_alternating, found.ranks),
            (Verdict::Pass, Some(Verdict::Timeout), None)
        );
        assert!(contests[0].winner().is_some_and(|winner| winner.benchmark != name));
    }

    #[test]
    fn a_contestant_that_fails_for_one_argument_has_no_rank_over_all() {
        let winner = "matmul::tiled";
        for verdict in [Verdict::WrongOutput, Verdict::TimeMismatch, Verdict::Crashed] {
            for argument in [0, 1] {
                let mut run = run();
                let mut of_winner = run.results.iter_mut().filter(|result| result.benchmark == winner);
                of_winner.nth(argument).unwrap().verdict = verdict;
                let over_all = contests(&run).pop().unwrap();
                assert_eq!(names(&over_all), ["matmul::vectorized", "matmul::naive", winner]);
                let failed = &over_all.contestants[2];
                assert_eq!((failed.verdict, failed.ranks, failed.ratio), (verdict, None, None));
                let first = &over_all.contestants[0];
                assert_eq!((first.ranks, first.ties.len()), (Some([1, 1]), 0));
            }
        }
    }

    #[test]
    fn a_ratio_over_all_arguments_is_the_mean_of_those_for_each() {
        let slowest = "matmul::naive";
        for argument in [0, 1] {
            let mut run = run();
            let mut of_slowest = run.results.iter_mut().filter(|result| result.benchmark == slowest);
            let slower = of_slowest.nth(argument).unwrap();
            slower.samples.iter_mut().for_each(|sample| *sample *= 4.0);
            let found: Vec<f64> = contests(&run)
                .iter()
                .map(|contest| {
                    let mut contestants = contest.contestants.iter();
                    let found = contestants.find(|one| one.benchmark == slowest);
                    found.and_then(|one| one.ratio).unwrap()
                })
                .collect();
            let [of_256, of_512, over_both] = found[..] else {
                panic!("{found:?}")
            };
            assert!((of_256 - of_512).abs() > 5.0, "{found:?}");
            assert!((over_both - (of_256 * of_512).sqrt()).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_step_of_the_clock_widens_intervals_of_times_only() {
        for (metric, ranks) in [
            (Metric::time(), [Some([1, 3]); 3]),
            (Metric::instructions(), [Some([1, 2]), Some([1, 2]), Some([3, 3])]),
        ] {
            let mut run = run();
            run.run.device.clock_tick_ns = Some(1e12);
            run.results.iter_mut().for_each(|result| result.metric = metric.clone());
            let of_256 = &contests(&run)[0];
            let found: Vec<Option<[u64; 2]>> = of_256.contestants.iter().take(3).map(|one| one.ranks).collect();
            assert_eq!(found, ranks, "{}", metric.name);
        }
    }

    #[test]
    fn the_grade_over_all_arguments_is_the_lowest() {
        for argument in [0, 1] {
            let mut run = run();
            run.results
                .iter_mut()
                .for_each(|result| result.grade = Some(Grade::Sealed));
            let mut of_first = run
                .results
                .iter_mut()
                .filter(|result| result.benchmark == "matmul::tiled");
            of_first.nth(argument).unwrap().grade = Some(Grade::Unverified);
            let over_all = contests(&run).pop().unwrap();
            let grades: Vec<Option<Grade>> = over_all.contestants.iter().map(|one| one.grade).collect();
            let sealed = Some(Grade::Sealed);
            assert_eq!(grades, [Some(Grade::Unverified), sealed, sealed], "{argument}");
        }
    }

    #[test]
    fn code_that_lives_while_others_are_measured_is_told() {
        let mut run = run();
        run.run.device.kind = DeviceKind::Cuda;
        run.results
            .iter_mut()
            .for_each(|result| result.execution = Some(Execution::Sealed));
        assert_eq!(contests(&run)[0].doubt, None);
        let name = contests(&run)[0].contestants[1].benchmark.clone();
        for execution in [Execution::Hosted, Execution::HostedSync] {
            let of_contestant = run.results.iter_mut().filter(|result| result.benchmark == name);
            of_contestant.for_each(|result| result.execution = Some(execution));
            let doubt = contests(&run)[0].doubt.clone().unwrap_or_default();
            assert!(
                doubt.starts_with(&format!("host code of `{name}`")),
                "{execution:?}: {doubt}"
            );
        }
        run.run.device.kind = DeviceKind::Cpu;
        assert!(
            contests(&run)[0]
                .doubt
                .clone()
                .unwrap()
                .starts_with("kernels of the CPU device")
        );
    }

    #[test]
    fn own_axes_name_variants_and_results_without_a_contest_are_in_none() {
        let mut run = run();
        run.results
            .retain(|result| result.contest.as_ref().is_some_and(|contest| contest.number == 0));
        for (tile, result) in run.results.iter_mut().enumerate() {
            result.benchmark = "matmul::tiled".to_owned();
            result.params.0.push(("tile".to_owned(), ParamValue::Int(tile as i64)));
        }
        run.results[2].contest = None;
        let contests = contests(&run);
        let [contest] = &contests[..] else {
            panic!("{contests:#?}")
        };
        let variants: Vec<String> = contest.contestants.iter().map(Contestant::name).collect();
        assert_eq!(contest.params.to_string(), "n=256");
        assert_eq!(
            variants,
            ["matmul::tiled tile=1", "matmul::tiled tile=0", "matmul::tiled tile=3"]
        );
    }

    #[test]
    fn contests_of_two_runs_in_a_file_stay_apart() {
        let mut run = run();
        let mut kept = run.results.clone();
        kept.iter_mut()
            .for_each(|result| result.run_id = "an earlier run".to_owned());
        run.results.extend(kept);
        assert_eq!(contests(&run).len(), 6);
    }

    #[test]
    fn contests_of_two_modes_have_no_ranking_over_all_arguments() {
        let mut run = run();
        let is_second = |result: &BenchmarkComplete| result.contest.as_ref().is_some_and(|contest| contest.number == 1);
        let second = run.results.iter_mut().filter(|result| is_second(result));
        second.for_each(|result| result.mode = Mode::Warm);
        let arguments: Vec<u64> = contests(&run).iter().map(|contest| contest.arguments).collect();
        assert_eq!(arguments, [1, 1]);
    }

    #[test]
    fn without_three_rounds_or_a_contestant_that_passed_a_remark_says_why() {
        let mut run = run();
        run.results
            .retain(|result| result.contest.as_ref().is_some_and(|contest| contest.number == 0));
        for result in &mut run.results {
            result.workers.truncate(2);
            result.samples.truncate(2 * result.samples.len() / 5);
        }
        let few = contests(&run).remove(0);
        assert!(few.winner().is_none() && few.remark.unwrap().contains("fewer than 3 workers"));
        run.results
            .iter_mut()
            .for_each(|result| result.verdict = Verdict::Timeout);
        assert_eq!(contests(&run)[0].remark.as_deref(), Some("no contestant passed"));
    }

    #[test]
    fn only_a_contestant_that_passed_has_a_value() {
        let mut run = run();
        let stats = run.results[0].stats.clone();
        assert!(stats.is_some());
        run.results.iter_mut().for_each(|result| result.stats = stats.clone());
        for contest in contests(&run).iter().filter(|contest| contest.arguments == 1) {
            for one in &contest.contestants {
                assert_eq!(one.value.is_some(), one.verdict == Verdict::Pass, "{}", one.benchmark);
            }
        }
    }

    #[test]
    fn a_single_contestant_of_all_arguments_is_no_contest_over_them() {
        let mut run = run();
        let is_tiled = |result: &BenchmarkComplete| result.benchmark == "matmul::tiled";
        let is_first = |result: &BenchmarkComplete| result.contest.as_ref().is_some_and(|contest| contest.number == 0);
        run.results.retain(|result| is_tiled(result) || is_first(result));
        let arguments: Vec<u64> = contests(&run).iter().map(|contest| contest.arguments).collect();
        assert_eq!(arguments, [1, 1]);
    }

    #[test]
    fn a_contestant_that_passes_only_alone_for_one_argument_is_told_over_all() {
        for argument in [0, 1] {
            let mut run = run();
            let mut of_tiled = run
                .results
                .iter_mut()
                .filter(|result| result.benchmark == "matmul::tiled");
            of_tiled.nth(argument).unwrap().failed_alternating = Some(FailedAlternating {
                rival: "`matmul::naive`".to_owned(),
                verdict: Verdict::Timeout,
                cause: None,
                message: None,
            });
            let over_all = contests(&run).pop().unwrap();
            let tiled = over_all
                .contestants
                .iter()
                .find(|one| one.benchmark == "matmul::tiled")
                .unwrap();
            assert_eq!(
                (tiled.failed_alternating, tiled.ranks),
                (Some(Verdict::Timeout), None),
                "{argument}"
            );
        }
    }

    #[test]
    fn ties_are_named_in_the_order_of_the_ranking() {
        let mut run = run();
        run.run.device.clock_tick_ns = Some(1e12);
        let of_256 = &contests(&run)[0];
        let ranked: Vec<String> = of_256
            .contestants
            .iter()
            .filter(|one| one.ranks.is_some())
            .map(Contestant::name)
            .collect();
        assert_eq!(ranked.len(), 3);
        for (position, one) in of_256.contestants.iter().take(3).enumerate() {
            let mut others = ranked.clone();
            others.remove(position);
            assert_eq!(one.ties, others, "all three tie");
        }
    }

    #[test]
    fn a_contest_has_the_arguments_of_its_results_and_the_confidence_of_its_share() {
        for (contest, number) in contests(&run()).iter().zip([0, 1]) {
            let run = run();
            let own = run.results.iter().filter(|result| {
                let share = result.contest.as_ref();
                share.is_some_and(|share| share.number == number)
            });
            let mut indices: Vec<u64> = own.map(|result| result.index).collect();
            let mut found: Vec<u64> = contest.contestants.iter().flat_map(|one| one.results.clone()).collect();
            indices.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, indices);
            assert_eq!(contest.run_id, run.run.run_id);
            for one in contest.contestants.iter().filter(|one| one.ranks.is_some()) {
                let [low, high] = one.interval.expect("a rank has an interval");
                let ratio = one.ratio.expect("a rank has a ratio");
                assert!(low <= ratio && ratio <= high, "{one:?}");
            }
        }
    }

    #[test]
    fn a_step_of_the_clock_that_is_not_finite_is_none() {
        let mut run = run();
        let wanted = contests(&run);
        run.run.device.clock_tick_ns = Some(f64::INFINITY);
        let found = contests(&run);
        let ranks = |contests: &[ContestComplete]| {
            let contestants = contests.iter().flat_map(|contest| &contest.contestants);
            contestants.map(|one| one.ranks).collect::<Vec<_>>()
        };
        assert_eq!(ranks(&found), ranks(&wanted));
    }
}
