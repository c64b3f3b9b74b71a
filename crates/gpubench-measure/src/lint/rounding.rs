//! The rounding errors of right answers.

use gpubench::catalog::{DType, Tolerance};

use super::numbers::{epsilon, rms};

/// Terms of a sum for which the model below holds.
const FEWEST_TERMS: f64 = 8.0;

/// How many terms are added up for an element.
#[derive(Clone, Copy, Debug)]
pub(super) enum Terms {
    /// As the declared operations tell.
    Known(f64),
    /// All elements of an input.
    AtMost(f64),
}

/// How far right answers may be from the expected ones.
#[derive(Clone, Debug)]
pub(super) struct RoundingError {
    /// Standard deviation that a sum in another order has.
    deviation: f64,
    /// Whether the problem adds enough terms for that deviation to be known.
    pub(super) is_of_a_sum: bool,
    step: f64,
    /// Terms of a sum, or the most that there can be.
    terms: f64,
}

impl RoundingError {
    /// Returns the error of an output. `nudged` are the answers after every input has moved to a
    /// neighbour, and `terms` how many products are added up for an element: known, or at most.
    ///
    /// A nudge of both factors moves a product by e (the distance from 1 to the next number) of its
    /// size, and a sum of k products of size s by e s sqrt(k). An addition rounds the partial sum
    /// of j terms, s sqrt(j), with a deviation of 0.21 e of it; over k additions that is 0.15 e s
    /// k. So another order of additions moves the answer 0.14 sqrt(k) times as far as the nudge.
    pub(super) fn of(dtype: DType, right: &[f64], nudged: Option<&[f64]>, terms: Terms) -> RoundingError {
        let step = epsilon(dtype).unwrap_or_default();
        let moved = nudged.map_or(0.0, |nudged| rms(right.iter().zip(nudged).map(|(a, b)| a - b)));
        let (terms, is_known) = match terms {
            Terms::Known(terms) => (terms, true),
            Terms::AtMost(terms) => (terms, false),
        };
        let is_of_a_sum = is_known && nudged.is_some() && terms >= FEWEST_TERMS;
        RoundingError {
            deviation: if is_of_a_sum {
                0.14 * terms.sqrt() * moved
            } else {
                moved
            },
            is_of_a_sum,
            step,
            terms,
        }
    }

    /// Returns how many elements of a right answer fail on average, more than may differ by more,
    /// if the tolerance is `10^-shrink` times as wide.
    pub(super) fn failures(&self, right: &[f64], tolerance: Tolerance, shrink: i32) -> f64 {
        let outside = |tolerance| self.outside(right, tolerance, shrink);
        match (tolerance.mismatched(), tolerance.of_mismatched()) {
            (Some(allowed), Some(of_mismatched)) => {
                let most = allowed.most(right.len() as u64) as f64;
                (outside(tolerance) - most).max(outside(of_mismatched))
            }
            _ => outside(tolerance),
        }
    }

    /// Returns how many elements of a right answer are outside a tolerance on average.
    fn outside(&self, right: &[f64], tolerance: Tolerance, shrink: i32) -> f64 {
        let Some((rtol, atol)) = tolerance.bounds() else {
            return 0.0;
        };
        let factor = 10f64.powi(-shrink);
        let finite = right.iter().filter(|value| value.is_finite());
        finite
            .map(|value| {
                let allowed = factor * (atol + rtol * value.abs());
                let deviation = self.deviation.max(0.3 * self.step * value.abs());
                if deviation == 0.0 {
                    0.0
                } else {
                    two_tails(allowed / deviation)
                }
            })
            .sum()
    }

    /// Returns by how many powers of ten the tolerance can shrink until right answers fail. It
    /// leaves room for other formulas. A sum of k terms of one sign has a relative error with a
    /// deviation of 0.2 e sqrt(k).
    pub(super) fn room(&self, right: &[f64], tolerance: Tolerance) -> i32 {
        let relative = self.step * (1.0 + 0.2 * self.terms.sqrt());
        let careful = RoundingError {
            deviation: 2.0 * self.deviation.max(relative * rms(right.iter().copied())),
            ..self.clone()
        };
        let fits = |shrink: &i32| careful.failures(right, tolerance, *shrink) < 0.01;
        (1..=12).take_while(fits).last().unwrap_or(0)
    }

    /// Returns by how many powers of ten the tolerance must grow until right answers pass.
    pub(super) fn growth(&self, right: &[f64], tolerance: Tolerance) -> Option<i32> {
        (1..=12).find(|growth| self.failures(right, tolerance, -growth) < 0.01)
    }
}

/// Returns the probability of a normal variable beyond `z` standard deviations on either side, by
/// formula 7.1.26 of Abramowitz and Stegun.
fn two_tails(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    // The formula is off by up to 1.5e-7, more than the far tails.
    if z > 6.0 { 0.0 } else { sum * (-x * x).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::Rng;
    use gpubench::catalog::Mismatched;

    #[test]
    fn tails_are_those_of_a_table() {
        for (z, tails) in [(0.0, 1.0), (1.0, 0.317_310_5), (1.96, 0.049_995_8), (3.0, 0.002_699_8)] {
            assert!((two_tails(z) - tails).abs() < 1e-6, "{z}");
        }
    }

    /// The model against additions in single precision.
    #[test]
    fn a_sum_in_another_order_is_as_far_off_as_predicted() {
        let (terms, sums) = (1024, 200);
        let mut rng = Rng::new(7);
        let (mut right, mut moved, mut single) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..sums {
            let mut drawn = || (0..terms).map(|_| rng.uniform(-1.0, 1.0) as f32).collect::<Vec<f32>>();
            let (a, b) = (drawn(), drawn());
            let mut nudge = |x: f32| {
                if rng.next_u32() & 1 == 0 {
                    x.next_up()
                } else {
                    x.next_down()
                }
            };
            let products = |a: f32, b: f32| f64::from(a) * f64::from(b);
            right.push(a.iter().zip(&b).map(|(a, b)| products(*a, *b)).sum::<f64>());
            moved.push(
                a.iter()
                    .zip(&b)
                    .map(|(a, b)| products(nudge(*a), nudge(*b)))
                    .sum::<f64>(),
            );
            single.push(f64::from(a.iter().zip(&b).fold(0.0_f32, |sum, (a, b)| sum + a * b)));
        }
        let error = RoundingError::of(DType::F32, &right, Some(&moved), Terms::Known(f64::from(terms)));
        let seen = rms(right.iter().zip(&single).map(|(a, b)| a - b));
        let ratio = seen / error.deviation;
        assert!((0.6..1.6).contains(&ratio), "{ratio}");
    }

    #[test]
    fn the_room_and_the_growth_of_a_tolerance_follow_from_the_error() {
        let right = vec![1.0; 100];
        let moved = vec![1.0 + 1e-6; 100];
        let error = RoundingError::of(DType::F32, &right, Some(&moved), Terms::Known(100.0));
        let close = |atol| Tolerance::Close { rtol: 0.0, atol };
        assert!(error.failures(&right, close(1e-3), 0) < 1e-9);
        assert_eq!(error.room(&right, close(1e-2)), 2);
        assert_eq!(error.room(&right, close(1e-6)), 0);
        assert!(error.failures(&right, close(1e-7), 0) > 50.0);
        assert_eq!(error.growth(&right, close(1e-7)), Some(2));
        assert_eq!(error.failures(&right, Tolerance::Exact, 0), 0.0);
    }

    #[test]
    fn a_share_of_right_elements_may_be_outside_the_tolerance() {
        let error = RoundingError {
            deviation: 1.0,
            is_of_a_sum: true,
            step: 1e-7,
            terms: 8.0,
        };
        let (right, mismatched) = ([0.0; 1000], |share, cap| Mismatched { share, cap });
        let failures = |mismatched| {
            error.failures(
                &right,
                Tolerance::Mostly {
                    rtol: 0.0,
                    atol: 2.0,
                    mismatched,
                },
                0,
            )
        };
        let strict = error.failures(&right, Tolerance::Close { rtol: 0.0, atol: 2.0 }, 0);
        assert!((40.0..50.0).contains(&strict), "{strict}");
        assert!(failures(mismatched(0.1, 10.0)) < 0.01);
        assert!((strict - 10.0 - failures(mismatched(0.01, 10.0))).abs() < 1e-9);
        // Some are beyond a narrow cap.
        assert!(failures(mismatched(0.1, 1.2)) > 1.0);
    }
}
