//! A submission's case and the reference of its problem, measured alternately.

use gpubench_contract::{BenchmarkComplete, MeasuredReference, Verdict};
use gpubench_stats::{Confidence, Paired};

/// Returns what the samples of a case say about the reference that it alternated with, both given
/// by their results. `None` if one of both has no value. `analyses` is the largest number of times
/// that the rounds were analysed to decide whether more are needed, and `step` the resolution of
/// the samples.
pub fn measured_reference(
    submission: &BenchmarkComplete,
    reference: &BenchmarkComplete,
    analyses: usize,
    step: f64,
) -> Option<MeasuredReference> {
    let value = |result: &BenchmarkComplete| {
        let alternated = result.verdict == Verdict::Pass && result.failed_alternating.is_none();
        let value = result.stats.as_ref().filter(|_| alternated)?.value;
        (value.is_finite() && value > 0.0).then_some(value)
    };
    let (own, of_reference) = (value(submission)?, value(reference)?);
    // The samples of the reference divided by those of the submission.
    let paired = Paired::new(&submission.samples_by_worker(), &reference.samples_by_worker());
    let ratio = paired.map(|paired| paired.ratio(Confidence::new(0.95).unwrap_or_default().of_each(analyses), step));
    Some(MeasuredReference {
        value: of_reference,
        speedup: ratio.map_or(of_reference / own, |ratio| ratio.estimate),
        ci95: ratio.map(|ratio| [ratio.interval.low, ratio.interval.high]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{Stats, WorkerShare};
    use gpubench_testing::{competition, in_contests, submitted};

    /// A result of `rounds` workers with these samples each.
    fn result(samples: &[f64], rounds: usize) -> BenchmarkComplete {
        let of_submission = submitted(in_contests(competition())).results.remove(0);
        let share = WorkerShare {
            samples: samples.len() as u64,
            ..of_submission.workers[0].clone()
        };
        BenchmarkComplete {
            samples: samples.repeat(rounds),
            workers: vec![share; rounds],
            stats: of_submission.stats.clone().map(|stats| Stats {
                value: samples[0],
                ..stats
            }),
            ..of_submission.clone()
        }
    }

    #[test]
    fn a_submission_that_takes_half_as_long_is_twice_as_fast_whatever_the_machine_does() {
        let drifting = [100.0, 130.0, 90.0, 110.0];
        let submission = result(&drifting.map(|sample| sample / 2.0), 5);
        let measured = measured_reference(&submission, &result(&drifting, 5), 1, 0.0).expect("both have samples");
        assert_eq!(measured.value, 100.0);
        assert!((measured.speedup - 2.0).abs() < 1e-9, "{measured:?}");
        let [low, high] = measured.ci95.expect("five rounds");
        assert!(
            low <= measured.speedup && measured.speedup <= high && high - low < 1e-6,
            "{measured:?}"
        );
    }

    #[test]
    fn one_worker_gives_a_ratio_without_an_interval() {
        let measured = measured_reference(&result(&[50.0], 1), &result(&[100.0], 1), 1, 0.0).expect("a ratio");
        assert_eq!((measured.speedup, measured.ci95), (2.0, None));
    }

    #[test]
    fn a_side_that_failed_gives_no_ratio() {
        let good = result(&[50.0, 51.0], 5);
        let failed = BenchmarkComplete {
            verdict: Verdict::WrongOutput,
            ..good.clone()
        };
        assert_eq!(measured_reference(&good, &failed, 1, 0.0), None);
        assert_eq!(measured_reference(&failed, &good, 1, 0.0), None);
    }
}
