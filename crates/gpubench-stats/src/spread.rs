//! How far residuals spread, and what that makes of the difference of two medians.

use super::quantile::{quantile, sorted};

/// The residuals of kernels spread differently: p5 to p95 lie 2 to 8 µs apart (H200). A worker's own spread counts up to the largest of these; more would let it widen
/// its own bound.
const SPREAD_NS: f64 = 8_000.0;

/// A normal distribution's quartiles lie so many standard deviations apart.
const QUARTILES: f64 = 1.349;

/// The standard error of a median of a normal distribution, in standard deviations over the root of the number.
const MEDIAN_ERROR: f64 = 1.2533;

/// Standard errors by which the ranks of each worker's quartiles may be off: together as unlikely as four for the difference of two.
const RANKS_CRITICAL: f64 = 2.83;

/// Where residuals lie, by their quartiles.
pub(super) struct Spread {
    n: f64,
    low: f64,
    pub(super) median: f64,
    high: f64,
    /// How far apart the quartiles lie at least, and at most, of what windows like these are drawn from.
    pub(super) distance_at_least: f64,
    pub(super) distance_at_most: f64,
}

impl Spread {
    /// `None` where there are none or one is not finite.
    pub(super) fn of(residuals: &[f64]) -> Option<Spread> {
        let sorted = sorted(residuals)?;
        let n = sorted.len() as f64;
        // As shares: the number of windows below a quartile is binomial.
        let off = RANKS_CRITICAL * (0.25 * 0.75 / n).sqrt();
        let between = |low: f64, high: f64| Some(quantile(&sorted, high.min(1.0))? - quantile(&sorted, low.max(0.0))?);
        Some(Spread {
            n,
            low: quantile(&sorted, 0.25)?,
            median: quantile(&sorted, 0.5)?,
            high: quantile(&sorted, 0.75)?,
            distance_at_least: between((0.25 + off).min(0.5), (0.75 - off).max(0.5))?,
            distance_at_most: between(0.25 - off, 0.75 + off)?,
        })
    }

    /// As if there were so many times as many windows.
    pub(super) fn grown(self, growth: f64) -> Spread {
        Spread {
            n: self.n * growth,
            ..self
        }
    }

    pub(super) fn distance(&self) -> f64 {
        self.high - self.low
    }

    fn deviation(&self) -> f64 {
        self.distance() / QUARTILES
    }

    /// So many standard errors of the difference between the medians of two normal distributions of these spreads. Each spread is what its windows say, with a margin for how few they are, or the widest that was seen, which needs
    /// none; whichever says less. Where null windows spread more than was ever seen, what is known beforehand counts for less and less.
    pub(super) fn median_error(&self, null: &Spread, number: f64) -> f64 {
        let (own, theirs) = (self.deviation(), null.deviation());
        let (seen_widest, margin) = (SPREAD_NS / 3.29, critical_of(number, self.n.min(null.n)));
        let widest = theirs.max(seen_widest);
        let known = number * widest * (widest / seen_widest);
        let own_error = (margin * own.min(widest)).min(known);
        let null_error = (margin * theirs).min(known);
        MEDIAN_ERROR * (own_error.powi(2) / self.n + null_error.powi(2) / null.n).sqrt()
    }
}

/// Student's t for `z` standard deviations, where a deviation is that of the quartiles of `n` windows: they know it as well as the root of the mean square does from about a third of them.
fn critical_of(z: f64, n: f64) -> f64 {
    critical(z, 0.37 * (n - 1.0))
}

/// Student's t for `z` standard deviations of a normal distribution and some degrees of freedom: the first terms of its expansion in their inverse.
fn critical(z: f64, freedom: f64) -> f64 {
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / freedom + second / freedom.powi(2)
}
