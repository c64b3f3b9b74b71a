//! How much the runs of a history differ by themselves.

use super::quantile::{quantile, sorted};

/// Runs that a history needs before it says what is noise.
pub const FEWEST_RUNS: usize = 10;

/// The largest relative change that is still usual between neighbouring runs: Q3 + 3·IQR of the absolute relative changes of their medians (J. W. Tukey, "Exploratory
/// Data Analysis", 1977: the outer fence), as rustls' and rustc's benchmarks have it.
///
/// The medians are those of one benchmark on one device, in the order of the runs. `None` for fewer than [`FEWEST_RUNS`], and where one is not finite or not above zero.
pub fn history_fence(medians: &[f64]) -> Option<f64> {
    if medians.len() < FEWEST_RUNS || medians.iter().any(|median| !median.is_finite() || *median <= 0.0) {
        return None;
    }
    let changes: Vec<f64> = medians.windows(2).map(|pair| (pair[1] / pair[0] - 1.0).abs()).collect();
    let changes = sorted(&changes)?;
    let (q1, q3) = (quantile(&changes, 0.25)?, quantile(&changes, 0.75)?);
    Some(q3 + 3.0 * (q3 - q1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_fence_is_the_outer_one_of_the_changes_between_neighbours() {
        // Changes of 0, 1, 2, …, 8 %: Q1 is 2 %, Q3 is 6 %.
        let medians: Vec<f64> = (0..10)
            .scan(100.0, |median, change| {
                let here = *median;
                *median *= 1.0 + f64::from(change) / 100.0;
                Some(here)
            })
            .collect();
        let fence = history_fence(&medians).unwrap();
        assert!((fence - 0.18).abs() < 1e-9, "{fence}");
    }

    #[test]
    fn a_short_history_has_no_fence() {
        assert_eq!(history_fence(&[100.0; 9]), None);
        assert_eq!(history_fence(&[100.0; 10]), Some(0.0));
    }

    #[test]
    fn medians_that_are_no_times_have_no_fence() {
        for broken in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut medians = [100.0; 12];
            medians[5] = broken;
            assert_eq!(history_fence(&medians), None, "{broken}");
        }
    }

    #[test]
    fn one_regression_in_a_long_quiet_history_does_not_raise_the_fence() {
        let medians: Vec<f64> = (0..40)
            .map(|run| if run < 20 { 100.0 } else { 150.0 } + f64::from(run % 3) * 0.1)
            .collect();
        assert!(history_fence(&medians).unwrap() < 0.01);
    }

    proptest! {
        #[test]
        fn a_fence_does_not_depend_on_the_unit(medians in prop::collection::vec(1.0..1e6f64, 10..40)) {
            let fence = history_fence(&medians).unwrap();
            prop_assert!(fence.is_finite() && fence >= 0.0);
            let scaled: Vec<f64> = medians.iter().map(|median| median * 1e-3).collect();
            prop_assert!((history_fence(&scaled).unwrap() - fence).abs() <= 1e-9 * (1.0 + fence));
        }
    }
}
