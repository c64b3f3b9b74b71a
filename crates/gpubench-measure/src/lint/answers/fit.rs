//! Polynomials through the answers of an earlier call.

use gpubench::catalog::Tolerance;

use super::short;

/// Most points that decide a polynomial.
const MOST_POINTS: usize = 2048;

/// The largest degree: a kernel with a polynomial of this degree is much cheaper than most
/// functions.
const LARGEST_DEGREE: usize = 7;

/// A polynomial in Chebyshev's basis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    low: f64,
    high: f64,
    coefficients: Vec<f64>,
}

impl Fit {
    /// Returns the polynomials of rising degree that meet the tolerance at nearly all points, from
    /// `x` to `y`.
    pub(super) fn all(x: &[f64], y: &[f64], tolerance: Tolerance) -> Vec<Fit> {
        let Some((rtol, atol)) = tolerance.bounds() else {
            return Vec::new();
        };
        let step = x.len().div_ceil(MOST_POINTS).max(1);
        let points: Vec<(f64, f64)> = x.iter().copied().zip(y.iter().copied()).step_by(step).collect();
        let are_finite = points.iter().all(|(x, y)| x.is_finite() && y.is_finite());
        let low = points.iter().map(|(x, _)| *x).fold(f64::INFINITY, f64::min);
        let high = points.iter().map(|(x, _)| *x).fold(f64::NEG_INFINITY, f64::max);
        if !are_finite || low >= high {
            return Vec::new();
        }
        let fits = (1..=LARGEST_DEGREE).filter_map(|degree| Fit::of(degree, (low, high), &points));
        let meets = |fit: &Fit| {
            let near = |(x, y): &&(f64, f64)| (fit.at(*x) - y).abs() <= atol + rtol * y.abs();
            points.iter().filter(near).count() * 100 >= points.len() * 98
        };
        fits.filter(meets).take(2).collect()
    }

    /// Returns the best polynomial of a degree, by least squares.
    fn of(degree: usize, (low, high): (f64, f64), points: &[(f64, f64)]) -> Option<Fit> {
        let size = degree + 1;
        let mut rows = vec![vec![0.0; size + 1]; size];
        for (x, y) in points {
            let basis = basis(size, to_unit(*x, low, high));
            for (row, left) in rows.iter_mut().zip(&basis) {
                for (cell, right) in row.iter_mut().zip(basis.iter().chain(std::iter::once(y))) {
                    *cell += left * right;
                }
            }
        }
        let coefficients = solve(rows)?;
        Some(Fit {
            low,
            high,
            coefficients,
        })
    }

    /// Returns the value at a point.
    pub(super) fn at(&self, x: f64) -> f64 {
        let basis = basis(self.coefficients.len(), to_unit(x, self.low, self.high));
        self.coefficients
            .iter()
            .zip(basis)
            .map(|(factor, term)| factor * term)
            .sum()
    }

    /// Returns the words for it, of an input.
    pub(super) fn describe(&self, input: &str) -> String {
        match self.coefficients.len() - 1 {
            1 => {
                let slope = 2.0 * self.coefficients[1] / (self.high - self.low);
                let offset = self.at(0.0);
                let negligible = offset.abs() <= 1e-3 * (slope * (self.high - self.low)).abs();
                let sum = if negligible {
                    String::new()
                } else {
                    format!(" + {}", short(offset))
                };
                format!("{} * `{input}`{sum}, with constants from another call,", short(slope))
            }
            degree => format!("a polynomial of degree {degree} of each element of `{input}`"),
        }
    }
}

fn to_unit(x: f64, low: f64, high: f64) -> f64 {
    (2.0 * x - low - high) / (high - low)
}

/// Returns the first `size` Chebyshev polynomials at a point.
fn basis(size: usize, x: f64) -> Vec<f64> {
    let mut terms = Vec::with_capacity(size);
    for position in 0..size {
        terms.push(match position {
            0 => 1.0,
            1 => x,
            _ => 2.0 * x * terms[position - 1] - terms[position - 2],
        });
    }
    terms
}

/// Solves linear equations, each row with its right side last. `None` if they have no one solution.
fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let size = rows.len();
    for column in 0..size {
        let pivot = (column..size).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let top = rows[column].clone();
        if top[column].abs() < 1e-12 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(position, _)| *position != column) {
            let factor = row[column] / top[column];
            for (cell, above) in row.iter_mut().zip(&top) {
                *cell -= factor * above;
            }
        }
    }
    Some(rows.iter().enumerate().map(|(at, row)| row[size] / row[at]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_found_and_a_jump_is_not() {
        let x: Vec<f64> = (0..500).map(|i| f64::from(i) / 250.0 - 1.0).collect();
        let close = Tolerance::Close { rtol: 1e-4, atol: 1e-4 };
        let of = |f: fn(&f64) -> f64| Fit::all(&x, &x.iter().map(f).collect::<Vec<_>>(), close);
        let cube = &of(|x| x * x * x - x)[0];
        assert_eq!(cube.coefficients.len(), 4);
        assert!((cube.at(0.5) + 0.375).abs() < 1e-9);
        let soft = &of(|x| x.exp().ln_1p())[0];
        assert_eq!(soft.coefficients.len(), 5);
        assert_eq!(of(|x| x.signum()), []);
        assert_eq!(Fit::all(&x, &x, Tolerance::Exact), []);
    }

    #[test]
    fn a_factor_is_told_with_its_offset() {
        let x: Vec<f64> = (0..100).map(f64::from).collect();
        let close = Tolerance::Close { rtol: 1e-3, atol: 1e-3 };
        let words = |f: fn(&f64) -> f64| Fit::all(&x, &x.iter().map(f).collect::<Vec<_>>(), close)[0].describe("x");
        assert_eq!(words(|x| 2.0 * x), "2 * `x`, with constants from another call,");
        assert_eq!(
            words(|x| 2.0 * x - 20.0),
            "2 * `x` + -20, with constants from another call,"
        );
    }

    #[test]
    fn points_without_an_extent_have_no_polynomial() {
        let close = Tolerance::Close { rtol: 1e-3, atol: 1e-3 };
        assert_eq!(Fit::all(&[1.0; 100], &[2.0; 100], close), []);
        assert_eq!(Fit::all(&[f64::NAN; 100], &[2.0; 100], close), []);
    }
}
