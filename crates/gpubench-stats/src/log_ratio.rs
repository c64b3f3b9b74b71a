//! The logarithm of a ratio of two alternating sides, with its error.

use super::comparison::{Confidence, Ratio};
use super::estimate::MOST_FREEDOM;
use super::student::student_quantile;

/// A factor on Student's t. Without it, the rate of false alarms would be exactly one in a hundred
/// if processes differ much more than their samples.
const MARGIN: f64 = 1.05;

/// The logarithm of a ratio, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The logarithm.
    pub center: f64,
    /// Its variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
    /// How far the interval extends at least: one step of the samples.
    pub least_reach: f64,
}

impl LogRatio {
    /// Returns the ratio with its interval: the center plus or minus 1.05 times Student's t times
    /// the standard error.
    pub fn ratio(&self, confidence: Confidence) -> Ratio {
        let reach = match self.variance.sqrt() {
            0.0 => 0.0,
            error => MARGIN * student_quantile(confidence.fraction(), self.freedom) * error,
        };
        Ratio::around(self.center.exp(), reach.max(self.least_reach))
    }

    /// Returns the logarithm of the inverse ratio.
    pub fn inverse(self) -> LogRatio {
        LogRatio {
            center: -self.center,
            ..self
        }
    }

    /// Returns the logarithm of the geometric mean of several ratios, which were measured
    /// independently. Only the geometric mean does not depend on what the ratios are relative to
    /// (P. J. Fleming and J. J. Wallace, "How not to lie with statistics: the correct way to
    /// summarize benchmark results", Communications of the ACM 29 (1986)). The degrees of freedom
    /// are those of F. E. Satterthwaite, "An Approximate Distribution of Estimates of Variance
    /// Components", Biometrics Bulletin 2 (1946), but at most seven. `None` without ratios.
    pub fn mean(ratios: &[LogRatio]) -> Option<LogRatio> {
        let number = ratios.len() as f64;
        let sum = |of: fn(&LogRatio) -> f64| ratios.iter().map(of).sum::<f64>();
        let least = ratios.iter().map(|ratio| ratio.freedom).reduce(f64::min)?;
        let variance = sum(|ratio| ratio.variance);
        let shares = sum(|ratio| ratio.variance * ratio.variance / ratio.freedom);
        let freedom = variance * variance / shares;
        Some(LogRatio {
            center: sum(|ratio| ratio.center) / number,
            variance: variance / (number * number),
            // Without any variance, the formula is 0/0, and the result does not matter.
            freedom: if freedom.is_finite() {
                freedom.min(MOST_FREEDOM)
            } else {
                least
            },
            least_reach: sum(|ratio| ratio.least_reach) / number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known_to(center: f64, error: f64) -> LogRatio {
        LogRatio {
            center,
            variance: error * error,
            freedom: 4.0,
            least_reach: 0.0,
        }
    }

    #[test]
    fn the_mean_of_ratios_is_geometric_and_known_better_than_each() {
        let ratios = [known_to(2f64.ln(), 0.01), known_to(8f64.ln(), 0.01)];
        let mean = LogRatio::mean(&ratios).unwrap();
        assert!((mean.ratio(Confidence::DEFAULT).estimate - 4.0).abs() < 1e-9);
        assert!((mean.variance.sqrt() - 0.01 / 2f64.sqrt()).abs() < 1e-9);
        assert_eq!(mean.freedom, MOST_FREEDOM, "eight degrees of freedom are cut");
        assert_eq!(LogRatio::mean(&[]), None);
    }

    #[test]
    fn the_mean_of_one_ratio_is_that_ratio() {
        for one in [known_to(0.3, 0.02), known_to(0.3, 0.0)] {
            assert_eq!(LogRatio::mean(&[one]), Some(one));
        }
    }

    #[test]
    fn a_mean_of_ratios_reaches_as_far_as_a_step_of_each() {
        let ratios = [0.01, 0.03].map(|least_reach| LogRatio {
            least_reach,
            ..known_to(0.0, 0.0)
        });
        let interval = LogRatio::mean(&ratios).unwrap().ratio(Confidence::DEFAULT).interval;
        let reach = [interval.low.ln(), interval.high.ln()];
        assert!(
            (reach[0] + 0.02).abs() < 1e-9 && (reach[1] - 0.02).abs() < 1e-9,
            "{reach:?}"
        );
    }

    #[test]
    fn one_noisy_ratio_leaves_little_freedom() {
        let mean = LogRatio::mean(&[known_to(0.0, 0.1), known_to(0.0, 1e-6)]).unwrap();
        assert!((mean.freedom - 4.0).abs() < 1e-3, "{mean:?}");
    }
}
