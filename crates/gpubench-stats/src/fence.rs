//! The outlier fence of a history: how much its runs differ without a change.

use super::quantile::{quantile, sorted};

/// The fewest runs for a fence.
pub const FEWEST_RUNS: usize = 10;

/// From this number of steps between runs of the same sources on, other steps do not count.
pub const FEWEST_STEPS: usize = 10;

/// The value of a benchmark in one run of a history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PastValue<S> {
    /// The value of the benchmark.
    pub value: f64,
    /// The time of its twin in the same run. `None` if unknown.
    pub twin: Option<f64>,
    /// The sources of the run. Runs with equal sources measured the same code. `None` if unknown or
    /// modified.
    pub sources: Option<S>,
}

/// Returns the largest relative change between consecutive runs that is still normal: Q3 + 3·IQR of
/// the absolute relative changes. It is Tukey's outer fence (J. W. Tukey, "Exploratory Data
/// Analysis", 1977), which rustls' and rustc's benchmarks also use.
///
/// `runs` has the values of one benchmark on one device, in the order of the runs. A change between
/// runs of different sources can be a change of the code instead of noise. If at least
/// [`FEWEST_STEPS`] consecutive pairs have the same sources, only these count; otherwise all pairs
/// do. `None` for fewer than [`FEWEST_RUNS`] runs, or if a value is not finite or not positive.
pub fn history_fence<S: PartialEq>(runs: &[PastValue<S>]) -> Option<f64> {
    let is_above_zero = |run: &PastValue<S>| run.value.is_finite() && run.value > 0.0;
    if runs.len() < FEWEST_RUNS || !runs.iter().all(is_above_zero) {
        return None;
    }
    let steps = || runs.windows(2).map(|pair| (&pair[0], &pair[1]));
    let change = |(one, other): (&PastValue<S>, &PastValue<S>)| (other.value / one.value - 1.0).abs();
    let of_same_sources = steps().filter(|(one, other)| one.sources.is_some() && one.sources == other.sources);
    let mut changes: Vec<f64> = of_same_sources.map(change).collect();
    if changes.len() < FEWEST_STEPS {
        changes = steps().map(change).collect();
    }
    let changes = sorted(&changes)?;
    let (q1, q3) = (quantile(&changes, 0.25)?, quantile(&changes, 0.75)?);
    let fence = q3 + 3.0 * (q3 - q1);
    fence.is_finite().then_some(fence)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the fence of runs with unknown sources.
    fn fence_of(medians: &[f64]) -> Option<f64> {
        let runs: Vec<PastValue<u32>> = medians.iter().map(|median| run(*median, None)).collect();
        history_fence(&runs)
    }

    fn run(value: f64, sources: Option<u32>) -> PastValue<u32> {
        PastValue {
            value,
            twin: None,
            sources,
        }
    }

    /// Returns runs of six revisions. Each revision is 30 % slower than the one before, and
    /// consecutive runs of one revision differ by 0.1 %.
    fn six_revisions(runs_of_each: u32, sources: fn(u32) -> Option<u32>) -> Vec<PastValue<u32>> {
        let revisions = (0..6u32).flat_map(|revision| (0..runs_of_each).map(move |run| (revision, run)));
        let slower = |revision: u32| 100.0 * 1.3f64.powi(revision as i32);
        revisions
            .map(|(revision, position)| {
                run(
                    slower(revision) * (1.0 + f64::from(position % 2) / 1e3),
                    sources(revision),
                )
            })
            .collect()
    }

    #[test]
    fn changes_between_revisions_are_no_noise_where_enough_runs_are_of_the_same() {
        let fence = history_fence(&six_revisions(3, Some)).unwrap();
        assert!(fence < 0.002, "{fence}");
    }

    #[test]
    fn with_fewer_than_ten_steps_inside_revisions_all_steps_count() {
        let fence = history_fence(&six_revisions(2, Some)).unwrap();
        assert!(fence > 0.3, "{fence}");
    }

    #[test]
    fn ten_steps_inside_revisions_are_enough() {
        let runs = six_revisions(3, Some);
        let fence = |runs: &[PastValue<u32>]| history_fence(runs).unwrap();
        assert!(fence(&runs[..15]) < 0.002, "five revisions of two steps each");
        assert!(fence(&runs[..14]) > 0.2, "one step less");
    }

    #[test]
    fn sources_that_are_not_known_are_not_the_same() {
        let fence = history_fence(&six_revisions(3, |_| None)).unwrap();
        assert!(fence > 0.3, "{fence}");
    }

    #[test]
    fn runs_of_unknown_sources_do_not_join_those_of_the_same() {
        let mut runs = six_revisions(3, Some);
        runs.extend((0..20).map(|position| run(if position % 2 == 0 { 100.0 } else { 130.0 }, None)));
        let fence = history_fence(&runs).unwrap();
        assert!(fence < 0.002, "{fence}");
    }

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
        let fence = fence_of(&medians).unwrap();
        assert!((fence - 0.18).abs() < 1e-9, "{fence}");
    }

    #[test]
    fn a_short_history_has_no_fence() {
        assert_eq!(fence_of(&[100.0; 9]), None);
        assert_eq!(fence_of(&[100.0; 10]), Some(0.0));
    }

    #[test]
    fn values_that_are_not_positive_have_no_fence() {
        for broken in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut medians = [100.0; 12];
            medians[5] = broken;
            assert_eq!(fence_of(&medians), None, "{broken}");
        }
    }

    #[test]
    fn one_regression_in_a_long_quiet_history_does_not_raise_the_fence() {
        let medians: Vec<f64> = (0..40)
            .map(|run| if run < 20 { 100.0 } else { 150.0 } + f64::from(run % 3) * 0.1)
            .collect();
        assert!(fence_of(&medians).unwrap() < 0.01);
    }

    proptest! {
        #[test]
        fn a_fence_does_not_depend_on_the_unit(medians in prop::collection::vec(1.0..1e6f64, 10..40)) {
            let fence = fence_of(&medians).unwrap();
            prop_assert!(fence.is_finite() && fence >= 0.0);
            let scaled: Vec<f64> = medians.iter().map(|median| median * 1e-3).collect();
            prop_assert!((fence_of(&scaled).unwrap() - fence).abs() <= 1e-9 * (1.0 + fence));
        }
    }
}
