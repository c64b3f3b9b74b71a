//! Quantiles.

/// Returns the samples in ascending order. `None` if there are none or one is not finite.
pub(super) fn sorted(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// Returns the quantile `p` (0 to 1) of ascending samples, interpolated linearly between the two
/// nearest. It is definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", The
/// American Statistician 50 (1996), the default of R and NumPy.
///
/// `None` if there are no samples or `p` is outside 0 to 1.
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let position = p * last as f64;
    let below = (position as usize).min(last);
    let above = (below + 1).min(last);
    let weight = position - below as f64;
    Some(between(sorted[below], sorted[above], weight))
}

/// Returns the median of samples in any order. `None` if there are none or one is not finite.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile(&sorted(samples)?, 0.5)
}

/// Interpolates from `low` to `high` by `weight`, without leaving that range.
fn between(low: f64, high: f64, weight: f64) -> f64 {
    (low * (1.0 - weight) + high * weight).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_interpolate_between_the_two_nearest_samples() {
        let samples = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantile(&samples, 0.0), Some(1.0));
        assert_eq!(quantile(&samples, 0.25), Some(1.75));
        assert_eq!(quantile(&samples, 0.5), Some(3.0));
        assert_eq!(quantile(&samples, 1.0), Some(8.0));
    }

    #[test]
    fn no_samples_and_invalid_p_have_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(quantile(&[1.0], f64::NAN), None);
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn samples_near_the_largest_number_do_not_overflow() {
        assert_eq!(quantile(&[f64::MIN, f64::MAX], 0.5), Some(0.0));
        assert_eq!(quantile(&[f64::MAX, f64::MAX], 0.5), Some(f64::MAX));
    }

    proptest! {
        #[test]
        fn a_quantile_lies_among_the_samples_and_grows_with_p(
            samples in prop::collection::vec(-1e12..1e12f64, 1..60), p in 0.0..=1.0f64, q in 0.0..=1.0f64,
        ) {
            let sorted = sorted(&samples).unwrap();
            let (low, high) = (p.min(q), p.max(q));
            let (at_low, at_high) = (quantile(&sorted, low).unwrap(), quantile(&sorted, high).unwrap());
            prop_assert!(sorted[0] <= at_low && at_low <= at_high && at_high <= sorted[sorted.len() - 1]);
        }

        #[test]
        fn half_of_the_samples_lie_on_either_side_of_the_median(samples in prop::collection::vec(-1e12..1e12f64, 1..60)) {
            let median = median(&samples).unwrap();
            let below = samples.iter().filter(|sample| **sample < median).count();
            let above = samples.iter().filter(|sample| **sample > median).count();
            prop_assert!(below <= samples.len() / 2 && above <= samples.len() / 2);
        }
    }
}
