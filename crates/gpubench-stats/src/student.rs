//! Student's distribution and the incomplete beta function.

/// Returns the `t` such that a variable of Student's distribution with `freedom` degrees of freedom
/// lies between `-t` and `t` with probability `confidence`. Infinite for a `confidence` of one or
/// more, or without freedom. Zero for a `confidence` of zero or less.
///
/// It bisects the distribution function, P(|T| > t) = I(freedom / (freedom + t²); freedom / 2,
/// 1/2): M. Abramowitz and I. Stegun, "Handbook of Mathematical Functions", 1964, 26.7.1.
pub fn student_quantile(confidence: f64, freedom: f64) -> f64 {
    if confidence <= 0.0 {
        return 0.0;
    }
    if confidence >= 1.0 || freedom <= 0.0 {
        return f64::INFINITY;
    }
    let outside = 1.0 - confidence;
    let beyond = |t: f64| incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high) > outside {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..60 {
        let middle = low + (high - low) / 2.0;
        if beyond(middle) > outside {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the regularized incomplete beta function I(x; a, b) for positive `a` and `b`. It
/// evaluates the continued fraction (Abramowitz and Stegun, 26.5.8) by the method of W. J. Lentz,
/// "Generating Bessel functions in Mie scattering calculations using continued fractions", Applied
/// Optics 15 (1976).
pub(super) fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges fast on this side of the mean. The other side is its mirror image.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    front / (a * beta_fraction(x, a, b))
}

/// Evaluates the continued fraction 1 + d₁/(1 + d₂/(1 + …)).
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const MOST_TERMS: u32 = 500;
    const TINY: f64 = 1e-300;
    let nonzero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut value, mut upper, mut lower) = (1.0, 1.0, 0.0);
    for term in 1..=MOST_TERMS {
        let m = f64::from(term / 2);
        let coefficient = if term % 2 == 0 {
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        } else {
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        };
        lower = 1.0 / nonzero(1.0 + coefficient * lower);
        upper = nonzero(1.0 + coefficient / upper);
        let step = upper * lower;
        value *= step;
        if (step - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// Returns the natural logarithm of the gamma function for positive `x`. From ten on, it uses
/// Stirling's series (Abramowitz and Stegun, 6.1.41), whose terms here are accurate to 1e-13. Below
/// ten, it uses the recurrence.
pub(super) fn ln_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse
        * (1.0 / 12.0
            - square * (1.0 / 360.0 - square * (1.0 / 1_260.0 - square * (1.0 / 1_680.0 - square / 1_188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, within: f64) {
        assert!((a - b).abs() <= within, "{a} is not {b}");
    }

    #[test]
    fn quantiles_match_the_published_tables() {
        for (confidence, freedom, published) in [
            (0.95, 1.0, 12.706),
            (0.99, 2.0, 9.925),
            (0.99, 4.0, 4.604),
            (0.95, 7.0, 2.365),
            (0.99, 30.0, 2.750),
            (0.999, 5.0, 6.869),
            (0.95, 1e6, 1.960),
        ] {
            near(student_quantile(confidence, freedom), published, 5e-4);
        }
    }

    #[test]
    fn full_confidence_is_infinite_and_no_confidence_is_zero() {
        assert_eq!(student_quantile(1.0, 4.0), f64::INFINITY);
        assert_eq!(student_quantile(0.0, 4.0), 0.0);
        assert_eq!(student_quantile(0.99, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_incomplete_beta_function_matches_its_closed_forms() {
        for x in [0.0, 0.1, 0.5, 0.93, 1.0] {
            near(incomplete_beta(x, 1.0, 1.0), x, 1e-13);
            near(incomplete_beta(x, 3.0, 1.0), x.powi(3), 1e-13);
            near(incomplete_beta(x, 1.0, 4.0), 1.0 - (1.0 - x).powi(4), 1e-13);
        }
        near(incomplete_beta(0.5, 400.0, 400.0), 0.5, 1e-12);
    }

    #[test]
    fn the_gamma_function_matches_the_factorial() {
        near(ln_gamma(1.0), 0.0, 1e-12);
        near(ln_gamma(0.5), std::f64::consts::PI.sqrt().ln(), 1e-12);
        near(ln_gamma(11.0), 3_628_800.0f64.ln(), 1e-12);
    }
}
