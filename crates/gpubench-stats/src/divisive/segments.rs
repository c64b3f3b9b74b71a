//! The segments between change points, and the test whether two of them differ.

use std::ops::Range;

use super::{ChangePoint, Judgement};
use crate::student::incomplete_beta;

/// The segments that change points divide a window into.
pub(super) struct Segments<'p> {
    len: usize,
    /// In order.
    points: &'p [usize],
}

impl<'p> Segments<'p> {
    pub(super) fn new(len: usize, points: &'p [usize]) -> Segments<'p> {
        Segments { len, points }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = [0].into_iter().chain(self.points.iter().copied());
        let ends = self.points.iter().copied().chain([self.len]);
        starts.zip(ends).map(|(start, end)| start..end)
    }

    /// Returns the segment that contains a position.
    pub(super) fn around(&self, position: usize) -> Range<usize> {
        let found = self.iter().find(|segment| segment.contains(&position));
        found.unwrap_or(0..self.len)
    }
}

/// Compares the values before and after a position with Student's t-test for two samples of the
/// same variance.
pub(super) fn compared(position: usize, before: &[f64], after: &[f64], judgement: Judgement) -> ChangePoint {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (one, other) = (mean(before), mean(after));
    let spread = |values: &[f64], mean: f64| {
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        match judgement {
            Judgement::Strict => squares,
            Judgement::AsOtava => squares * (values.len() as f64 - 1.0) / values.len() as f64,
        }
    };
    let (n, m) = (before.len() as f64, after.len() as f64);
    let freedom = n + m - 2.0;
    let p_value = if freedom > 0.0 {
        let pooled = (spread(before, one) + spread(after, other)) / freedom;
        let t = (one - other).abs() / (pooled * (1.0 / n + 1.0 / m)).sqrt();
        // Without any spread, equal means give NaN and different ones infinity.
        if t.is_nan() {
            f64::NAN
        } else {
            incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
        }
    } else {
        1.0
    };
    ChangePoint {
        position,
        p_value,
        before: one,
        after: other,
    }
}
