//! Whether what a stored run says can be: its statistics are those of its samples, its counts those of its parts, its figures those that its device can give.

mod device;

use std::collections::HashSet;

use thiserror::Error;

use super::StoredRun;
use gpubench_contract::{BenchmarkComplete, RunFinished, Stats};
use gpubench_contract::{Grade, Verdict};
use gpubench_stats::{Moments, case_median, quantile, worker_interval, worker_medians};

/// Figures that were computed twice differ by less than this part of them, whatever the order of the additions was.
const ROUNDING: f64 = 1e-6;

/// Something in a stored run that cannot be.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Contradiction {
    /// The same case twice.
    #[error("`{case}` is in it twice")]
    Twice {
        /// The case.
        case: String,
    },
    /// A record of another run.
    #[error("`{of}` is of the run `{found}`, and the file of `{run}`")]
    OtherRun {
        /// What is of another run.
        of: String,
        /// The other run.
        found: String,
        /// The file's run.
        run: String,
    },
    /// A time that is none.
    #[error("a sample of `{case}` is {found} ns")]
    Sample {
        /// The case.
        case: String,
        /// The time in nanoseconds.
        found: f64,
    },
    /// Workers that have more or fewer samples than there are.
    #[error("the workers of `{case}` have {workers} samples, and it has {samples}")]
    WorkerSamples {
        /// The case.
        case: String,
        /// Sum over the workers.
        workers: u64,
        /// Number of samples.
        samples: u64,
    },
    /// Residuals that are not one for each sample.
    #[error("`{case}` has {residuals} residuals, and {samples} samples")]
    Residuals {
        /// The case.
        case: String,
        /// Number of residuals.
        residuals: usize,
        /// Number of samples.
        samples: u64,
    },
    /// A flag on a sample that is not there.
    #[error("a flag of `{case}` is on sample {sample}, and it has {samples}")]
    Flag {
        /// The case.
        case: String,
        /// The flagged sample.
        sample: u64,
        /// Number of samples.
        samples: u64,
    },
    /// A figure that is not that of the samples.
    #[error("`{figure}` of `{case}` is {said}, and its samples say {computed}")]
    Figure {
        /// The case.
        case: String,
        /// The field.
        figure: &'static str,
        /// What the file says; `null` where it says nothing.
        said: String,
        /// What the samples say.
        computed: String,
    },
    /// An interval that does not hold its median.
    #[error("the interval of `{case}`, {low} ns to {high} ns, does not hold the median or leaves the samples")]
    Interval {
        /// The case.
        case: String,
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// A result of another device than its run's.
    #[error("`{case}` is said to be of {found}, and its run of {device}")]
    Device {
        /// The case.
        case: String,
        /// The device of the result.
        found: String,
        /// The device of the run.
        device: String,
    },
    /// A grade that no result on such a device can have.
    #[error("`{case}` is said to be `{grade}`, and times of the CPU device are `advisory`")]
    Grade {
        /// The case.
        case: String,
        /// What the file says.
        grade: Grade,
    },
    /// A sample between two steps of a clock on whose steps nearly all others are.
    #[error("a sample of `{case}` is {found} ns, and the device's clock steps by {tick} ns")]
    OffTick {
        /// The case.
        case: String,
        /// The sample in nanoseconds.
        found: f64,
        /// The step in nanoseconds.
        tick: f64,
    },
    /// A rate and a time whose product is no whole number of bytes or operations.
    #[error("`{figure}` of `{case}` times its median is {work}, no whole number")]
    Work {
        /// The case.
        case: String,
        /// The field.
        figure: &'static str,
        /// The product.
        work: f64,
    },
    /// Samples that last longer than the case did.
    #[error("the samples of `{case}` last {samples} ns together, and the case took {wall} ns")]
    Longer {
        /// The case.
        case: String,
        /// The samples together, in nanoseconds.
        samples: f64,
        /// The case from its first step to its verdict, in nanoseconds.
        wall: u64,
    },
    /// Results in one file that are of different devices or were measured differently.
    #[error("it has results of another device or setup: {difference}")]
    Mixed {
        /// What differs.
        difference: String,
    },
    /// A count in the last record that is not that of the results.
    #[error("the run's last record counts {said} cases that {ended}, and there are {counted}")]
    Count {
        /// How they ended.
        ended: &'static str,
        /// What the record says.
        said: u64,
        /// What is there.
        counted: u64,
    },
}

/// Looks at every figure of a run.
///
/// # Errors
/// The first that cannot be.
pub(super) fn check(stored: &StoredRun) -> Result<(), Contradiction> {
    let run = &stored.run.run_id;
    let of_the_run = |of: &str, found: &String| {
        if found == run {
            Ok(())
        } else {
            Err(Contradiction::OtherRun {
                of: of.to_owned(),
                found: found.clone(),
                run: run.clone(),
            })
        }
    };
    let earlier = &stored.run.earlier_runs;
    let mut seen = HashSet::new();
    for result in &stored.results {
        if !earlier.iter().any(|run| run.run_id == result.run_id) {
            of_the_run(&result.case, &result.run_id)?;
        }
        if !seen.insert(result.full_name()) {
            return Err(Contradiction::Twice {
                case: result.case.clone(),
            });
        }
        check_result(result)?;
        device::check(stored, result)?;
    }
    device::check_samples(stored)?;
    device::check_origins(stored)?;
    if let Some(finished) = &stored.finished {
        of_the_run("run-finished", &finished.run_id)?;
        check_counts(finished, &stored.results)?;
    }
    Ok(())
}

fn check_result(result: &BenchmarkComplete) -> Result<(), Contradiction> {
    let BenchmarkComplete { case, samples_ns, .. } = result;
    let samples = samples_ns.len() as u64;
    if let Some(found) = samples_ns.iter().find(|sample| !sample.is_finite() || **sample < 0.0) {
        return Err(Contradiction::Sample {
            case: case.clone(),
            found: *found,
        });
    }
    if let Some(flag) = result.sample_flags.iter().find(|flag| flag.sample >= samples) {
        return Err(Contradiction::Flag {
            case: case.clone(),
            sample: flag.sample,
            samples,
        });
    }
    let residuals = result
        .conservation
        .as_ref()
        .map_or(0, |clocks| clocks.residuals_ns.len());
    // Records of tools that did not say have none.
    if residuals > 0 && residuals as u64 != samples {
        return Err(Contradiction::Residuals {
            case: case.clone(),
            residuals,
            samples,
        });
    }
    check_workers(result)?;
    match &result.stats {
        Some(stats) => check_stats(result, stats),
        None if samples == 0 => Ok(()),
        None => Err(differs(case, "stats.n", None, Some(samples as f64))),
    }
}

fn check_workers(result: &BenchmarkComplete) -> Result<(), Contradiction> {
    let BenchmarkComplete { case, samples_ns, .. } = result;
    let shares = result.workers.iter().map(|worker| worker.samples);
    let workers = shares.fold(0, u64::saturating_add);
    if !result.workers.is_empty() && workers != samples_ns.len() as u64 {
        return Err(Contradiction::WorkerSamples {
            case: case.clone(),
            workers,
            samples: samples_ns.len() as u64,
        });
    }
    let computed = worker_medians(&result.samples_by_worker());
    for (worker, computed) in result.workers.iter().zip(computed) {
        agree(case, "workers.median_ns", worker.median_ns, computed)?;
    }
    check_worker_interval(result)
}

/// The medians of the workers that have samples.
fn medians(result: &BenchmarkComplete) -> Vec<f64> {
    worker_medians(&result.samples_by_worker())
        .into_iter()
        .flatten()
        .collect()
}

/// Records of tools that did not say have none.
fn check_worker_interval(result: &BenchmarkComplete) -> Result<(), Contradiction> {
    let Some(stats) = result.stats.as_ref().filter(|stats| stats.workers_ci95_ns.is_some()) else {
        return Ok(());
    };
    let of_workers = medians(result);
    let computed = worker_interval(&of_workers).map(|interval| [interval.low, interval.high]);
    let said = stats.workers_ci95_ns;
    let end = |interval: Option<[f64; 2]>, end: usize| interval.map(|interval| interval[end]);
    (0..2).try_for_each(|at| agree(&result.case, "stats.workers_ci95_ns", end(said, at), end(computed, at)))
}

fn check_stats(result: &BenchmarkComplete, stats: &Stats) -> Result<(), Contradiction> {
    let (case, samples) = (result.case.as_str(), result.samples_ns.as_slice());
    let of_workers = medians(result);
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let moments = Moments::of(samples);
    let figures = [
        ("stats.n", Some(stats.n as f64), Some(samples.len() as f64)),
        ("stats.median_ns", Some(stats.median_ns), case_median(&of_workers)),
        ("stats.mean_ns", Some(stats.mean_ns), moments.mean()),
        ("stats.stddev_ns", stats.stddev_ns, moments.stddev()),
        ("stats.cv", stats.cv, moments.cv()),
        ("stats.min_ns", Some(stats.min_ns), sorted.first().copied()),
        ("stats.max_ns", Some(stats.max_ns), sorted.last().copied()),
        ("stats.q1_ns", Some(stats.q1_ns), quantile(&sorted, 0.25)),
        ("stats.q3_ns", Some(stats.q3_ns), quantile(&sorted, 0.75)),
    ];
    for (figure, said, computed) in figures {
        agree(case, figure, said, computed)?;
    }
    // How the interval is drawn may change between versions; where it lies cannot.
    let [low, high] = stats.ci95_ns;
    let ascending = [stats.min_ns, low, stats.median_ns, high, stats.max_ns];
    if ascending.is_sorted_by(|a, b| a <= b || is_close(*a, *b)) {
        Ok(())
    } else {
        Err(Contradiction::Interval {
            case: case.to_owned(),
            low,
            high,
        })
    }
}

fn check_counts(finished: &RunFinished, results: &[BenchmarkComplete]) -> Result<(), Contradiction> {
    let count =
        |is_counted: fn(Verdict) -> bool| results.iter().filter(|result| is_counted(result.verdict)).count() as u64;
    let counts = [
        ("passed", finished.passed, count(|verdict| verdict == Verdict::Pass)),
        ("failed", finished.failed, count(Verdict::is_failure)),
        (
            "were skipped",
            finished.skipped,
            count(|verdict| verdict == Verdict::Skipped),
        ),
    ];
    match counts.into_iter().find(|(_, said, counted)| said != counted) {
        None => Ok(()),
        Some((ended, said, counted)) => Err(Contradiction::Count { ended, said, counted }),
    }
}

fn agree(case: &str, figure: &'static str, said: Option<f64>, computed: Option<f64>) -> Result<(), Contradiction> {
    let agrees = match (said, computed) {
        (Some(said), Some(computed)) => is_close(said, computed),
        (None, None) => true,
        _ => false,
    };
    if agrees {
        Ok(())
    } else {
        Err(differs(case, figure, said, computed))
    }
}

fn differs(case: &str, figure: &'static str, said: Option<f64>, computed: Option<f64>) -> Contradiction {
    let shown = |figure: Option<f64>| figure.map_or_else(|| "null".to_owned(), |figure| figure.to_string());
    Contradiction::Figure {
        case: case.to_owned(),
        figure,
        said: shown(said),
        computed: shown(computed),
    }
}

fn is_close(a: f64, b: f64) -> bool {
    // Deviations of equal samples are zero up to the rounding of their mean.
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs()).max(f64::MIN_POSITIVE)
        || (a.abs() < ROUNDING && b.abs() < ROUNDING)
}
