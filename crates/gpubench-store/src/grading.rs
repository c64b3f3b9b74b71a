//! The scores and ranks of graded submissions.

use super::StoredRun;
use gpubench_contract::{
    BenchmarkComplete, CacheState, Device, Grade, OVER_REFERENCE, PassedCases, ProblemComplete, SchemaVersion, Score,
    ScoreRule, SpeedOfLight, Speedup, SubmissionFacts, Verdict,
};

/// Returns what the cases of each submission say together, in the order of the submissions. `over`
/// names the submission that the others are compared with. Without a name, the speed-ups are those
/// over the reference, if it was measured, and they decide the ranks. If cases did not run, nobody
/// has a score: a failure of theirs may be among these.
pub fn graded(run: &StoredRun, over: Option<&str>) -> Vec<ProblemComplete> {
    let graded = Graded::all_of(run);
    let device = &run.run.device;
    let all_ran = run.finished.as_ref().is_some_and(|finished| finished.not_run == 0);
    let score = |one: &Graded<'_>| one.score(over, &graded, device).filter(|_| all_ran);
    let scores: Vec<Option<Score>> = graded.iter().map(score).collect();
    let complete = graded.iter().zip(&scores).map(|(one, score)| {
        let rivals = || graded.iter().zip(&scores).filter(|(other, _)| other.is_like(one));
        let mut rival_scores = rivals().filter_map(|(_, score)| score.as_ref());
        let ranked_by = match rival_scores.any(|score| over_reference(score).is_some()) {
            true => Placed::by_speedup,
            false => Placed::by_value,
        };
        let place = |score: &Option<Score>| score.as_ref().and_then(ranked_by);
        let own = place(score);
        let better = |own: Placed| {
            let others = rivals().filter_map(|(_, other)| place(other));
            others.filter(|other| other.value < own.value).count() as u64
        };
        let ties = rivals().filter(|(other, _)| other.name() != one.name());
        let ties = ties.filter(|(_, other)| own.zip(place(other)).is_some_and(|(own, other)| own.may_equal(&other)));
        ProblemComplete {
            rank: own.map(|own| 1 + better(own)),
            ties: ties.map(|(other, _)| other.name().to_owned()).collect(),
            score: score.clone(),
            ..one.outcome()
        }
    });
    complete.collect()
}

/// The results of a submission, measured in one way. At least one.
struct Graded<'a> {
    facts: &'a SubmissionFacts,
    results: Vec<&'a BenchmarkComplete>,
}

impl<'a> Graded<'a> {
    fn all_of(run: &'a StoredRun) -> Vec<Graded<'a>> {
        let mut all: Vec<Graded<'a>> = Vec::new();
        for result in &run.results {
            let Some(facts) = &result.submission else { continue };
            let is_of = |graded: &&mut Graded<'_>| {
                let first = graded.first();
                (&first.package, &first.benchmark) == (&result.package, &result.benchmark)
                    && first.reading() == result.reading()
            };
            // The results of a submission follow each other, except in a contest.
            match all.iter_mut().rev().find(is_of) {
                Some(graded) => graded.results.push(result),
                None => all.push(Graded {
                    facts,
                    results: vec![result],
                }),
            }
        }
        all
    }

    fn first(&self) -> &'a BenchmarkComplete {
        self.results[0]
    }

    fn name(&self) -> &'a str {
        &self.first().benchmark
    }

    /// Whether the scores of both can be compared: they are of one problem, measured alike.
    fn is_like(&self, other: &Graded<'_>) -> bool {
        let [one, other] = [self.first(), other.first()];
        (&one.package, &one.problem) == (&other.package, &other.problem) && one.reading() == other.reading()
    }

    /// Returns its record without score and rank.
    fn outcome(&self) -> ProblemComplete {
        let first = self.first();
        let judged = || {
            let results = self.results.iter();
            results.filter(|result| result.verdict != Verdict::Skipped)
        };
        let failed = judged().find(|result| result.verdict != Verdict::Pass);
        ProblemComplete {
            schema_version: SchemaVersion,
            run_id: first.run_id.clone(),
            package: first.package.clone(),
            problem: first.problem.clone().unwrap_or_default(),
            submission: first.benchmark.clone(),
            graded: SubmissionFacts {
                hidden_case: None,
                ..self.facts.clone()
            },
            mode: first.mode,
            metric: first.metric.clone(),
            verdict: match failed {
                Some(failed) => failed.verdict,
                None if judged().next().is_none() => Verdict::Skipped,
                None => Verdict::Pass,
            },
            cause: failed.and_then(|failed| failed.cause),
            failed_case: failed.map(|failed| failed.case.clone()),
            public: passed_of(judged().filter(|result| !result.is_hidden())),
            hidden: passed_of(judged().filter(|result| result.is_hidden())),
            grade: self
                .results
                .iter()
                .filter_map(|result| result.grade)
                .reduce(Grade::lower),
            score: None,
            rank: None,
            ties: Vec::new(),
        }
    }

    fn public(&self) -> impl Iterator<Item = &'a BenchmarkComplete> {
        self.results.iter().copied().filter(|result| !result.is_hidden())
    }

    /// Returns the value of each public case. `None` if a case has none, or one did not pass.
    fn values(&self) -> Option<Vec<Known>> {
        let all_passed = self.results.iter().all(|result| result.verdict == Verdict::Pass);
        let values: Option<Vec<Known>> = self.public().map(Known::of).collect();
        values.filter(|values| all_passed && !values.is_empty())
    }

    fn score(&self, over: Option<&str>, all: &[Graded<'_>], device: &Device) -> Option<Score> {
        let values = self.values()?;
        let rates = self.public().map(|result| result.throughput.flops_per_s);
        let rates: Option<Vec<f64>> = rates.collect();
        let rule = self.facts.score_rule;
        let (value, ci95) = match rule {
            ScoreRule::GeometricMean => geometric_mean(&values),
            ScoreRule::ArithmeticMean => arithmetic_mean(&values),
            ScoreRule::Last => geometric_mean(std::slice::from_ref(values.last()?)),
        };
        let over = match over {
            None => self.over_reference().map(|ratios| (OVER_REFERENCE, ratios)),
            Some(over) => {
                let other = all.iter().find(|other| other.name() == over && other.is_like(self));
                other.and_then(|other| Some((other.name(), self.over(&values, other)?)))
            }
        };
        let ratios = over.as_ref().map(|(_, ratios)| &ratios[..]);
        let (speed_of_light, no_speed_of_light) = match self.least_times(device) {
            Ok(shares) => (Some(speed_of_light(&shares, ratios)), None),
            Err(why) => (None, Some(why.to_owned())),
        };
        Some(Score {
            speed_of_light,
            no_speed_of_light,
            rule,
            value,
            ci95,
            mean_flops_per_s: rates.map(|rates| rates.iter().sum::<f64>() / rates.len() as f64),
            speedup: over.map(|(other, ratios)| speedup(other, &ratios, rule)),
        })
    }

    /// Returns the least time of each public case divided by its own, or why it is not known.
    fn least_times(&self, device: &Device) -> Result<Vec<f64>, &'static str> {
        if !self.first().metric.is_time() {
            return Err("what is measured is not a time");
        }
        if device.peak_bandwidth.is_none() && device.peak_flops.is_none() {
            return Err("the peak rates of the device are not known");
        }
        let share = |result: &BenchmarkComplete| {
            if result.cache != Some(CacheState::Cold) {
                return Err("calls found data in the cache, so the bandwidth of the memory is no bound");
            }
            let rates = &result.throughput;
            let shares = [rates.of_peak_bandwidth, rates.of_peak_flops].into_iter().flatten();
            let share = shares.reduce(f64::max).filter(|share| *share > 0.0);
            share.ok_or("a case has neither bytes nor operations that a peak rate is known for")
        };
        self.public().map(share).collect()
    }

    /// Returns how many times as fast each public case is as the reference, if that was measured.
    fn over_reference(&self) -> Option<Vec<Known>> {
        let ratio = |result: &BenchmarkComplete| {
            let measured = result.reference?;
            let log = measured.speedup.ln();
            let reach = measured.ci95.map(|[low, high]| (high / low).ln() / 2.0);
            log.is_finite().then_some(Known {
                log,
                reach: reach.filter(|reach| reach.is_finite()),
            })
        };
        self.public().map(ratio).collect()
    }

    /// Returns how many times as fast each public case is as that of another submission.
    fn over(&self, values: &[Known], other: &Graded<'_>) -> Option<Vec<Known>> {
        let of_other = other.public().map(|result| (&result.params, Known::of(result)));
        let of_other: Vec<_> = of_other.collect();
        let ratio = |(result, value): (&BenchmarkComplete, &Known)| {
            let (_, other) = of_other.iter().find(|(params, _)| **params == result.params)?;
            Some(other.as_ref()?.over(value))
        };
        self.public().zip(values).map(ratio).collect()
    }
}

/// Returns the speed-up over a submission or the reference, from the ratio in each case.
fn speedup(over: &str, ratios: &[Known], rule: ScoreRule) -> Speedup {
    let share = |least: f64| {
        let faster = ratios.iter().filter(|ratio| ratio.log > least.ln()).count();
        faster as f64 / ratios.len() as f64
    };
    let scored = match (rule, ratios) {
        (ScoreRule::Last, [.., last]) => std::slice::from_ref(last),
        _ => ratios,
    };
    let (ratio, ci95) = geometric_mean(scored);
    Speedup {
        over: over.to_owned(),
        ratio,
        ci95,
        fast_1: share(1.0),
        fast_2: share(2.0),
    }
}

/// Returns how near the cases are to the speed of light. `shares` has the least time of each
/// divided by its own, and `ratios` how many times as fast it is as the baseline's.
fn speed_of_light(shares: &[f64], ratios: Option<&[Known]>) -> SpeedOfLight {
    let number = shares.len() as f64;
    let mean_log = shares.iter().map(|share| share.ln()).sum::<f64>() / number;
    let scores = ratios.map(|ratios| {
        let ratios = ratios.iter().map(|ratio| ratio.log.exp());
        shares
            .iter()
            .zip(ratios)
            .map(|(share, ratio)| sol_score(*share, ratio))
            .sum::<f64>()
    });
    SpeedOfLight {
        fraction: mean_log.exp(),
        sol_score: scores.map(|sum| sum / number),
    }
}

/// Returns the SOL score of one case, from the least time and the baseline's time, both divided by
/// its own: `1 / (1 + (t - t_sol) / (t_b - t_sol))`, the score of SOL-ExecBench
/// (`src/sol_execbench/sol_score.py`). A time below the least one counts as that. A baseline that
/// is not slower than the least time leaves nothing to gain: 0, or 1 for the least time itself.
fn sol_score(least: f64, baseline: f64) -> f64 {
    let least = least.min(1.0);
    let gap = baseline - least;
    if gap <= 0.0 {
        return if least < 1.0 { 0.0 } else { 1.0 };
    }
    1.0 / (1.0 + (1.0 - least) / gap)
}

fn passed_of<'r>(results: impl Iterator<Item = &'r &'r BenchmarkComplete>) -> PassedCases {
    results.fold(PassedCases::default(), |count, result| PassedCases {
        cases: count.cases + 1,
        passed: count.passed + u64::from(result.verdict == Verdict::Pass),
    })
}

/// The logarithm of a positive value, and half the width of its 95 % interval.
#[derive(Clone, Copy, Debug)]
struct Known {
    log: f64,
    reach: Option<f64>,
}

impl Known {
    fn of(result: &BenchmarkComplete) -> Option<Known> {
        let stats = result.stats.as_ref().filter(|_| result.verdict == Verdict::Pass)?;
        let log = stats.value.ln();
        let reach = stats.ci95.map(|[low, high]| (high / low).ln() / 2.0);
        log.is_finite().then_some(Known {
            log,
            reach: reach.filter(|reach| reach.is_finite()),
        })
    }

    /// Returns the ratio of this one to another, with independent errors.
    fn over(&self, other: &Known) -> Known {
        Known {
            log: self.log - other.log,
            reach: self.reach.zip(other.reach).map(|(one, other)| one.hypot(other)),
        }
    }
}

/// Returns the geometric mean with its interval. The errors of the values are independent, so the
/// squares of their intervals add up.
fn geometric_mean(values: &[Known]) -> (f64, Option<[f64; 2]>) {
    let number = values.len() as f64;
    let log = values.iter().map(|value| value.log).sum::<f64>() / number;
    let squares: Option<f64> = values.iter().map(|value| value.reach.map(|reach| reach * reach)).sum();
    let reach = squares.map(|squares| squares.sqrt() / number);
    (log.exp(), reach.map(|reach| [(log - reach).exp(), (log + reach).exp()]))
}

/// Returns the arithmetic mean with its interval, likewise.
fn arithmetic_mean(values: &[Known]) -> (f64, Option<[f64; 2]>) {
    let number = values.len() as f64;
    let mean = values.iter().map(|value| value.log.exp()).sum::<f64>() / number;
    let reach = |value: &Known| Some(value.log.exp() * value.reach?.sinh());
    let squares: Option<f64> = values.iter().map(|value| reach(value).map(|reach| reach * reach)).sum();
    let reach = squares.map(|squares| squares.sqrt() / number);
    (mean, reach.map(|reach| [mean - reach, mean + reach]))
}

/// What decides the rank of a submission: less is better.
#[derive(Clone, Copy, Debug)]
struct Placed {
    value: f64,
    interval: Option<[f64; 2]>,
}

impl Placed {
    fn by_value(score: &Score) -> Option<Placed> {
        Some(Placed {
            value: score.value,
            interval: score.ci95,
        })
    }

    fn by_speedup(score: &Score) -> Option<Placed> {
        let speedup = over_reference(score)?;
        Some(Placed {
            value: 1.0 / speedup.ratio,
            interval: speedup.ci95.map(|[low, high]| [1.0 / high, 1.0 / low]),
        })
    }

    /// Whether both may be equal: their intervals overlap, or one has none and its value is in the
    /// other's.
    fn may_equal(&self, other: &Placed) -> bool {
        let [[low, high], [other_low, other_high]] =
            [self, other].map(|placed| placed.interval.unwrap_or([placed.value; 2]));
        low <= other_high && other_low <= high
    }
}

/// Returns the speed-up over the reference of the problem, if it was measured.
fn over_reference(score: &Score) -> Option<&Speedup> {
    let speedup = score.speedup.as_ref();
    speedup.filter(|speedup| speedup.over == OVER_REFERENCE)
}

#[cfg(test)]
mod tests;
