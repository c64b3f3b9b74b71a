//! The ratio of counts, which repeat exactly or not.

use super::comparison::{Confidence, Ratio};
use super::estimate::Estimate;
use super::student::student_quantile;

/// The inputs of the counted calls of two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedInputs {
    /// Each call of one side has the inputs of the call of the other side at the same position.
    Shared,
    /// Each side has inputs of its own.
    Own,
}

impl Ratio {
    /// Returns the ratio of two counts from those of single calls. The interval is Student's, on
    /// the logarithmic scale. Counts that repeat exactly have the same ratio at both ends.
    ///
    /// Calls with [`CountedInputs::Shared`] are compared in pairs, so that only what does not come
    /// from the inputs is spread: the order of threads, for example. Otherwise both sides are taken
    /// to spread alike (Student's test of two samples, with pooled variance).
    ///
    /// `None` if a count is not positive, or there is none.
    pub fn of_counts(
        baseline: &[f64],
        candidate: &[f64],
        inputs: CountedInputs,
        confidence: Confidence,
    ) -> Option<Ratio> {
        let (before, after) = (logarithms(baseline)?, logarithms(candidate)?);
        let estimate = Estimate::from_workers(&[candidate])?.value() / Estimate::from_workers(&[baseline])?.value();
        let pairs: Vec<f64> = match inputs {
            CountedInputs::Shared if before.len() == after.len() => after
                .iter()
                .zip(&before)
                .map(|(after, before)| after - before)
                .collect(),
            _ => Vec::new(),
        };
        let (center, error, freedom) = match &pairs[..] {
            [] => {
                let freedom = (before.len() + after.len()) as f64 - 2.0;
                let of_both = (squares(&before) + squares(&after)) / freedom.max(1.0);
                let error = (of_both * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
                (mean(&after) - mean(&before), error, freedom)
            }
            pairs => {
                let (number, freedom) = (pairs.len() as f64, pairs.len() as f64 - 1.0);
                (
                    mean(pairs),
                    (squares(pairs) / freedom.max(1.0) / number).sqrt(),
                    freedom,
                )
            }
        };
        let reach = match error {
            0.0 => 0.0,
            error => student_quantile(confidence.fraction(), freedom) * error,
        };
        let around = Ratio::around(center.exp(), reach).reaching(estimate);
        Some(Ratio { estimate, ..around })
    }
}

fn logarithms(counts: &[f64]) -> Option<Vec<f64>> {
    let are_positive = !counts.is_empty() && counts.iter().all(|count| *count > 0.0);
    are_positive.then(|| counts.iter().map(|count| count.ln()).collect())
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the sum of the squared distances from the mean; zero if all values are equal.
fn squares(values: &[f64]) -> f64 {
    if values.iter().all(|value| *value == values[0]) {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;

    fn ratio(baseline: &[f64], candidate: &[f64], inputs: CountedInputs) -> Ratio {
        Ratio::of_counts(baseline, candidate, inputs, Confidence::DEFAULT).unwrap()
    }

    fn contains_one(Interval { low, high }: Interval) -> bool {
        low <= 1.0 && 1.0 <= high
    }

    #[test]
    fn counts_that_repeat_have_an_exact_ratio() {
        for inputs in [CountedInputs::Own, CountedInputs::Shared] {
            let exact = ratio(&[1_000.0; 3], &[1_003.0; 3], inputs);
            assert!((exact.estimate - 1.003).abs() < 1e-12);
            assert!(exact.interval.high / exact.interval.low < 1.0 + 1e-12, "{exact:?}");
            let one = ratio(&[1_000.0], &[1_003.0], inputs);
            assert!(!contains_one(one.interval), "one call of each side is exact, too");
        }
    }

    #[test]
    fn equal_counts_have_the_ratio_one() {
        let same = ratio(&[384_703.0; 3], &[384_703.0; 3], CountedInputs::Own);
        assert_eq!(same.interval, Interval { low: 1.0, high: 1.0 });
    }

    /// Two sets of three numbers from one distribution are apart in one of ten cases.
    #[test]
    fn ranges_that_are_apart_by_chance_are_no_change() {
        let apart = ratio(
            &[1_000.0, 1_010.0, 1_020.0],
            &[1_021.0, 1_031.0, 1_041.0],
            CountedInputs::Own,
        );
        assert!(contains_one(apart.interval), "{apart:?}");
    }

    #[test]
    fn a_change_larger_than_the_spread_is_found() {
        let far = ratio(
            &[1_000.0, 1_010.0, 1_020.0],
            &[1_100.0, 1_110.0, 1_120.0],
            CountedInputs::Own,
        );
        assert!(far.interval.low > 1.0, "{far:?}");
    }

    #[test]
    fn false_alarms_are_as_rare_as_the_confidence_says() {
        let mut random = fastrand::Rng::with_seed(11);
        let mut side = || -> Vec<f64> { (0..3).map(|_| 1e6 + 1e4 * random.f64()).collect() };
        let alarms = (0..2_000).filter(|_| {
            let (baseline, candidate) = (side(), side());
            !contains_one(ratio(&baseline, &candidate, CountedInputs::Own).interval)
        });
        let alarms = alarms.count();
        assert!((2..=60).contains(&alarms), "{alarms} of 2000");
    }

    #[test]
    fn pairs_on_shared_inputs_hide_what_comes_from_the_inputs() {
        let (before, after) = ([1_000.0, 2_000.0, 3_000.0], [1_003.0, 2_006.0, 3_009.0]);
        let shared = ratio(&before, &after, CountedInputs::Shared);
        assert!(
            shared.interval.low > 1.0029 && shared.interval.high < 1.0031,
            "{shared:?}"
        );
        assert!(contains_one(ratio(&before, &after, CountedInputs::Own).interval));
    }

    #[test]
    fn calls_without_a_partner_are_in_no_pairs() {
        let (before, after) = ([1_000.0, 2_000.0, 3_000.0], [1_003.0, 2_006.0]);
        assert_eq!(
            ratio(&before, &after, CountedInputs::Shared),
            ratio(&before, &after, CountedInputs::Own)
        );
    }

    /// The shown ratio is that of the calls between the quartiles, the interval that of all pairs.
    #[test]
    fn the_interval_contains_the_shown_ratio() {
        let calls = |middle: f64| [vec![1_000.0; 10], vec![middle; 20], vec![4_000.0; 10]].concat();
        let Ratio { estimate, interval } = ratio(&calls(2_000.0), &calls(2_200.0), CountedInputs::Shared);
        assert!(
            interval.low <= estimate && estimate <= interval.high,
            "{estimate} {interval:?}"
        );
    }

    #[test]
    fn a_spread_of_one_side_counts_for_a_single_call_of_the_other() {
        let single = ratio(&[1_005.0], &[1_000.0, 1_010.0, 1_020.0], CountedInputs::Own);
        assert!(contains_one(single.interval), "{single:?}");
    }

    #[test]
    fn no_counts_and_counts_of_zero_have_no_ratio() {
        let none =
            |baseline: &[f64]| Ratio::of_counts(baseline, &[1.0], CountedInputs::Own, Confidence::DEFAULT).is_none();
        assert!(none(&[]) && none(&[0.0, 1.0]));
    }
}
