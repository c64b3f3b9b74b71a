//! The median of a case, which several fresh workers measured.

use super::interquartile_mean::interquartile_mean;
use super::moments::Moments;
use super::quantile::sorted;

/// The part of the workers that is left out at either end, the fastest and the slowest tenth, but one at least where there are so many that one does not tell much.
const LEFT_OUT: usize = 10;

/// From so many workers on the fastest and the slowest are left out.
const FEWEST: usize = 5;

/// Each worker's median: its [`interquartile_mean`]. `None` for a worker without samples, and where a sample is not finite.
pub fn worker_medians(workers: &[&[f64]]) -> Vec<Option<f64>> {
    workers.iter().map(|samples| interquartile_mean(samples)).collect()
}

/// The median of a case from those of its workers: their mean without the fastest and the slowest tenth, one at least (J. W. Tukey and D. H. McLaughlin, "Less vulnerable confidence and significance procedures for location based on a single
/// sample", Sankhyā A 25 (1963)); of fewer than five the mean of all. `None` where there are none or one is not finite.
///
/// Workers are what repeats, so each of them counts once, however many samples it has; and one whose processor was somebody else's does not move the case's median. The second of ten does, by an eighth: the price of a mean of eight, which varies less than one of six.
pub fn case_median(of_workers: &[f64]) -> Option<f64> {
    let sorted = sorted(of_workers)?;
    let left_out = match sorted.len() {
        ..FEWEST => 0,
        workers => (workers / LEFT_OUT).max(1),
    };
    let kept = &sorted[left_out..sorted.len() - left_out];
    let mean = Moments::of(kept).mean()?;
    Some(mean.clamp(kept[0], kept[kept.len() - 1]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fewer_than_five_workers_all_count() {
        assert_eq!(case_median(&[1.0]), Some(1.0));
        assert_eq!(case_median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(case_median(&[10.0, 2.0, 3.0, 1.0]), Some(4.0));
    }

    #[test]
    fn of_five_workers_and_more_the_fastest_and_the_slowest_tenth_do_not_count() {
        assert_eq!(case_median(&[1.0, 2.0, 3.0, 4.0, 1e9]), Some(3.0));
        assert_eq!(case_median(&[0.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0, 90.0]), Some(3.0));
        assert_eq!(
            case_median(&[0.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 7.0, 9.0]),
            Some(2.0)
        );
        let twenty: Vec<f64> = [[0.0, 0.0], [9.0, 9.0]].concat().into_iter().chain([1.0; 16]).collect();
        assert_eq!(case_median(&twenty), Some(1.0));
    }

    #[test]
    fn a_worker_without_samples_has_no_median() {
        assert_eq!(worker_medians(&[&[1.0, 1.0], &[]]), [Some(1.0), None]);
        assert_eq!(case_median(&[]), None);
        assert_eq!(case_median(&[1.0, f64::INFINITY]), None);
    }

    proptest! {
        #[test]
        fn it_lies_among_the_medians_and_moves_with_them(mut medians in prop::collection::vec(1.0..1e9f64, 1..40)) {
            let median = case_median(&medians).unwrap();
            let longer: Vec<f64> = medians.iter().map(|median| median * 2.0).collect();
            prop_assert!((case_median(&longer).unwrap() - 2.0 * median).abs() <= 1e-9 * median);
            medians.sort_unstable_by(f64::total_cmp);
            prop_assert!(medians[0] <= median && median <= medians[medians.len() - 1]);
        }
    }
}
