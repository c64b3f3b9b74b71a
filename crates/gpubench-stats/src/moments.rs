//! Mean and standard deviation.

/// Running mean and standard deviation: B. P. Welford, "Note on a method for calculating corrected
/// sums of squares and products", Technometrics 4 (1962). Unlike a sum of squares, it does not
/// suffer from cancellation if the spread is small compared with the mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Computes the moments of some samples.
    pub fn from_samples(samples: &[f64]) -> Moments {
        let mut moments = Moments::default();
        for sample in samples {
            moments.push(*sample);
        }
        moments
    }

    /// Adds a sample.
    pub fn push(&mut self, sample: f64) {
        self.n += 1;
        let from_old_mean = sample - self.mean;
        self.mean += from_old_mean / self.n as f64;
        self.squares += from_old_mean * (sample - self.mean);
    }

    /// Returns the arithmetic mean. `None` if there are no samples or it is not finite.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0 && self.mean.is_finite()).then_some(self.mean)
    }

    /// Returns the standard deviation with `n - 1` in the denominator. `None` if there are fewer
    /// than two samples or it is not finite.
    pub fn stddev(&self) -> Option<f64> {
        let freedom = self.n.checked_sub(2)? + 1;
        let stddev = (self.squares.max(0.0) / freedom as f64).sqrt();
        (stddev.is_finite() && self.squares.is_finite()).then_some(stddev)
    }

    /// Returns the coefficient of variation, `stddev / |mean|`. `None` if one of them is undefined
    /// or the mean is zero.
    pub fn cv(&self) -> Option<f64> {
        let cv = self.stddev()? / self.mean()?.abs();
        cv.is_finite().then_some(cv)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spread_is_bessel_corrected() {
        let moments = Moments::from_samples(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!(moments.mean(), Some(5.0));
        assert!((moments.stddev().unwrap() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((moments.cv().unwrap() - (32.0f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn undefined_moments_are_none() {
        assert_eq!(Moments::from_samples(&[]).mean(), None);
        assert_eq!(Moments::from_samples(&[3.0]).mean(), Some(3.0));
        assert_eq!(Moments::from_samples(&[3.0]).stddev(), None);
        assert_eq!(Moments::from_samples(&[0.0, 0.0]).cv(), None);
        assert_eq!(Moments::from_samples(&[1.0, f64::NAN]).stddev(), None);
        assert_eq!(Moments::from_samples(&[f64::MIN, f64::MAX]).stddev(), None);
    }

    #[test]
    fn a_small_spread_around_a_large_mean_does_not_cancel() {
        let moments = Moments::from_samples(&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0]);
        assert!((moments.stddev().unwrap() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn samples_without_a_finite_mean_have_none() {
        for samples in [
            &[f64::INFINITY][..],
            &[f64::NEG_INFINITY, 1.0],
            &[1.0, f64::NAN],
            &[f64::MIN, f64::MAX],
        ] {
            let moments = Moments::from_samples(samples);
            assert_eq!((moments.mean(), moments.cv()), (None, None), "{samples:?}");
        }
    }

    proptest! {
        #[test]
        fn running_moments_agree_with_the_two_pass_formula(samples in prop::collection::vec(1.0..1e9f64, 2..80)) {
            let mean = samples.iter().sum::<f64>() / samples.len() as f64;
            let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
            let stddev = (squares / (samples.len() - 1) as f64).sqrt();
            let moments = Moments::from_samples(&samples);
            prop_assert!((moments.mean().unwrap() - mean).abs() <= 1e-9 * mean);
            prop_assert!((moments.stddev().unwrap() - stddev).abs() <= 1e-6 * stddev.max(1.0));
        }
    }
}
