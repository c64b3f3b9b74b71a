//! Answers that ignore the inputs, for tests that every problem rejects them.

/// The allowed difference between an element and the expected one.
pub(crate) struct Tolerance {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
}

impl Tolerance {
    pub(crate) const EXACT: Tolerance = Tolerance { rtol: 0.0, atol: 0.0 };

    fn accepts(&self, got: f64, expected: f64) -> bool {
        (got - expected).abs() <= self.atol + self.rtol * expected.abs()
    }
}

/// Fails if zeros, the mean, or any constant among the expected values is right for more than a
/// fifth of the elements.
#[track_caller]
pub(crate) fn no_constant_passes<T: Copy + Into<f64>>(expected: &[T], tolerance: Tolerance) {
    let expected: Vec<f64> = expected.iter().map(|&value| value.into()).collect();
    let mean = expected.iter().sum::<f64>() / expected.len() as f64;
    let picked = expected.iter().copied().step_by(expected.len().div_ceil(50));
    for constant in [0.0, mean].into_iter().chain(picked) {
        let right = expected.iter().filter(|&&value| tolerance.accepts(constant, value));
        let right = right.count();
        let (len, allowed) = (expected.len(), expected.len() / 5);
        assert!(right <= allowed, "{constant} is right for {right} of {len} elements");
    }
}

/// Fails if a number that does not depend on the inputs is right for more than one of several
/// calls.
#[track_caller]
pub(crate) fn no_constant_passes_twice<T: Copy + Into<f64>>(answers: &[T], tolerance: Tolerance) {
    let answers: Vec<f64> = answers.iter().map(|&value| value.into()).collect();
    let mean = answers.iter().sum::<f64>() / answers.len() as f64;
    for &constant in [0.0, mean].iter().chain(&answers) {
        let right = answers
            .iter()
            .filter(|&&answer| tolerance.accepts(constant, answer))
            .count();
        assert!(right <= 1, "{constant} is right for {right} of {} calls", answers.len());
    }
}

/// Draws whole numbers, as the fill `Integers(range)` does.
pub(crate) fn whole_numbers(rng: &mut gpubench::Rng, range: std::ops::RangeInclusive<i32>, len: usize) -> Vec<f32> {
    let (least, span) = (*range.start(), i64::from(*range.end()) - i64::from(*range.start()) + 1);
    (0..len)
        .map(|_| (rng.below(span as u64) as i32 + least) as f32)
        .collect()
}
