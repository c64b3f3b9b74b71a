//! Histograms with a bounded number of bins.

use super::quantile::{quantile, sorted};

/// Counts of samples in bins of equal width.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// Lower edge of the first bin.
    pub low: f64,
    /// Upper edge of the last bin.
    pub high: f64,
    /// Number of samples in each bin. A sample on an edge counts in the bin above, and one at
    /// `high` in the last bin.
    pub counts: Vec<u64>,
    /// Number of samples below the first bin.
    pub below: u64,
    /// Number of samples above the last bin.
    pub above: u64,
}

/// Minimum and maximum number of bins.
const BINS: (usize, usize) = (8, 40);

/// The range of the histogram beyond the quartiles, in interquartile ranges. It is twice the
/// distance of Tukey's far-out values.
const REACH: f64 = 6.0;

impl Histogram {
    /// Returns the histogram of samples. `None` if there are none or one is not finite.
    ///
    /// The bin width is that of Freedman and Diaconis, "On the histogram as a density estimator",
    /// Probability Theory and Related Fields 57 (1981): twice the interquartile range divided by
    /// the cube root of the number of samples. Samples far outside the quartiles are counted but do
    /// not widen the range, because one disturbed sample would put all others into one bin.
    pub fn from_samples(samples: &[f64]) -> Option<Histogram> {
        let sorted = sorted(samples)?;
        let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
        let (q1, q3) = (quantile(&sorted, 0.25)?, quantile(&sorted, 0.75)?);
        let spread = q3 - q1;
        let reach = REACH * spread;
        let (low, high) = if reach.is_finite() && reach > 0.0 {
            (least.max(q1 - reach), most.min(q3 + reach))
        } else {
            (least, most)
        };
        let width = 2.0 * spread / (samples.len() as f64).cbrt();
        let wanted = ((high - low) / width).ceil();
        let bins = if wanted.is_finite() {
            (wanted as usize).clamp(BINS.0, BINS.1)
        } else {
            BINS.0
        };
        let mut histogram = Histogram {
            low,
            high,
            counts: vec![0; bins],
            below: 0,
            above: 0,
        };
        sorted.iter().for_each(|sample| histogram.count(*sample));
        Some(histogram)
    }

    fn count(&mut self, sample: f64) {
        if sample < self.low {
            self.below += 1;
        } else if sample > self.high {
            self.above += 1;
        } else {
            let bins = self.counts.len();
            let share = (sample - self.low) / (self.high - self.low);
            // If all samples are equal, there is no position, and they go to the middle bin.
            let bin = if share.is_finite() {
                (share * bins as f64) as usize
            } else {
                bins / 2
            };
            self.counts[bin.min(bins - 1)] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_samples_lie_in_one_bin() {
        let histogram = Histogram::from_samples(&[3.0; 5]).unwrap();
        assert_eq!((histogram.low, histogram.high), (3.0, 3.0));
        assert_eq!(histogram.counts.iter().filter(|count| **count > 0).count(), 1);
    }

    #[test]
    fn an_outlier_is_counted_and_does_not_hide_the_others() {
        let samples: Vec<f64> = (0..100).map(f64::from).chain([1e6]).collect();
        let histogram = Histogram::from_samples(&samples).unwrap();
        assert_eq!((histogram.below, histogram.above), (0, 1));
        assert!(histogram.high < 1_000.0, "{histogram:?}");
        assert!(
            histogram.counts.iter().filter(|count| **count > 0).count() > 2,
            "{histogram:?}"
        );
    }

    #[test]
    fn no_samples_and_samples_that_are_not_finite_have_no_histogram() {
        assert_eq!(Histogram::from_samples(&[]), None);
        assert_eq!(Histogram::from_samples(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn the_width_of_a_bin_follows_freedman_and_diaconis() {
        // The interquartile range is 2047.5, and the cube root of the number 16.
        let samples: Vec<f64> = (0..4_096).map(f64::from).collect();
        let bins = Histogram::from_samples(&samples).unwrap().counts.len();
        assert!((16..=17).contains(&bins), "{bins}");
    }

    #[test]
    fn samples_beyond_six_times_the_middle_half_are_counted_below_and_above() {
        // The quartiles are 2 and 6.
        let middle: Vec<f64> = (0..9).map(f64::from).collect();
        let of = |ends: [f64; 2]| {
            let samples: Vec<f64> = [&middle[..], &ends].concat();
            let Histogram {
                low,
                high,
                below,
                above,
                ..
            } = Histogram::from_samples(&samples).unwrap();
            (low, high, below, above)
        };
        let (low, high, ..) = of([0.0, 8.0]);
        assert_eq!((low, high), (0.0, 8.0));
        let (low, high, below, above) = of([-1e3, 1e3]);
        assert!(-40.0 < low && high < 40.0, "{low} {high}");
        assert_eq!((below, above), (1, 1));
    }

    proptest! {
        #[test]
        fn every_sample_is_counted_once(samples in prop::collection::vec(any::<f64>().prop_filter("finite", |x| x.is_finite()), 1..300)) {
            let histogram = Histogram::from_samples(&samples).unwrap();
            let counted = histogram.counts.iter().sum::<u64>() + histogram.below + histogram.above;
            prop_assert_eq!(counted, samples.len() as u64);
            prop_assert!((BINS.0..=BINS.1).contains(&histogram.counts.len()));
        }
    }
}
