//! Elements as numbers, and changes of them.

use gpubench::catalog::DType;
use gpubench::{BF16, F8E4M3, F8E5M2, F16, Rng, bits_of};

/// Returns the elements as numbers, a complex one as two. Integers above 2^53 are rounded.
pub(super) fn values(dtype: DType, bytes: &[u8]) -> Vec<f64> {
    let (part, _) = dtype.parts();
    let parts = bytes.chunks_exact(part.size());
    parts.map(|bytes| part.number(bits_of(bytes))).collect()
}

/// Returns numbers as elements, two as a complex one: rounded to the nearest, integers saturated.
pub(super) fn elements(dtype: DType, values: impl Iterator<Item = f64>) -> Vec<u8> {
    fn each<const N: usize>(values: impl Iterator<Item = f64>, element: impl Fn(f64) -> [u8; N]) -> Vec<u8> {
        values.flat_map(element).collect()
    }
    match dtype {
        DType::U8 => each(values, |value| (value.round() as u8).to_le_bytes()),
        DType::I8 => each(values, |value| (value.round() as i8).to_le_bytes()),
        DType::U16 => each(values, |value| (value.round() as u16).to_le_bytes()),
        DType::I16 => each(values, |value| (value.round() as i16).to_le_bytes()),
        DType::U32 => each(values, |value| (value.round() as u32).to_le_bytes()),
        DType::I32 => each(values, |value| (value.round() as i32).to_le_bytes()),
        DType::U64 => each(values, |value| (value.round() as u64).to_le_bytes()),
        DType::I64 => each(values, |value| (value.round() as i64).to_le_bytes()),
        DType::F16 => each(values, |value| F16::from_f64(value).to_bits().to_le_bytes()),
        DType::BF16 => each(values, |value| BF16::from_f64(value).to_bits().to_le_bytes()),
        DType::F8E4M3 => each(values, |value| [F8E4M3::from_f64(value).to_bits()]),
        DType::F8E5M2 => each(values, |value| [F8E5M2::from_f64(value).to_bits()]),
        DType::F32 | DType::Complex32 => each(values, |value| (value as f32).to_le_bytes()),
        DType::F64 => each(values, f64::to_le_bytes),
    }
}

/// Returns the distance from 1 to the next number of a floating-point type.
pub(super) fn epsilon(dtype: DType) -> Option<f64> {
    match dtype {
        DType::F8E4M3 => Some(2f64.powi(-3)),
        DType::F8E5M2 => Some(2f64.powi(-2)),
        DType::F16 => Some(2f64.powi(-10)),
        DType::BF16 => Some(2f64.powi(-7)),
        DType::F32 | DType::Complex32 => Some(f64::from(f32::EPSILON)),
        DType::F64 => Some(f64::EPSILON),
        _ => None,
    }
}

/// A precision below that of `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    Tf32,
    Half,
    BFloat,
}

impl Precision {
    pub(super) const ALL: [Precision; 3] = [Precision::Tf32, Precision::Half, Precision::BFloat];

    pub(super) fn name(self) -> &'static str {
        match self {
            Precision::Tf32 => "TF32",
            Precision::Half => "fp16",
            Precision::BFloat => "bf16",
        }
    }

    /// Returns elements of `f32`, `f64` or complex ones with this precision. `None` for other
    /// types, if nothing changes, and if a number is out of range.
    pub(super) fn round(self, dtype: DType, bytes: &[u8]) -> Option<Vec<u8>> {
        if !matches!(dtype, DType::F32 | DType::F64 | DType::Complex32) {
            return None;
        }
        let before = values(dtype, bytes);
        let after: Vec<f64> = before.iter().map(|value| self.rounded(*value)).collect();
        let mut pairs = before.iter().zip(&after);
        let changed = elements(dtype, after.iter().copied());
        (pairs.all(|(before, after)| before.is_finite() == after.is_finite()) && changed != bytes).then_some(changed)
    }

    fn rounded(self, value: f64) -> f64 {
        match self {
            // As many bits of the mantissa as `F16` has, in the range of `f32`.
            Precision::Tf32 if value.is_finite() => {
                let lost = 1 << 42;
                f64::from_bits(value.to_bits().wrapping_add(lost / 2) & !(lost - 1))
            }
            Precision::Tf32 => value,
            Precision::Half => f64::from(F16::from_f64(value).to_f32()),
            Precision::BFloat => f64::from(BF16::from_f64(value).to_f32()),
        }
    }
}

/// Returns elements of `f32`, `f64` or complex ones, each number moved to one of its neighbours.
/// `None` for other types.
pub(super) fn nudged(dtype: DType, bytes: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    let mut up = || rng.next_u32() & 1 == 0;
    match dtype {
        DType::F32 | DType::Complex32 => {
            let (words, _) = bytes.as_chunks();
            let nudge = |word: &[u8; 4]| {
                let value = f32::from_le_bytes(*word);
                let neighbour = if up() { value.next_up() } else { value.next_down() };
                // Zero has no rounding error.
                if value == 0.0 { value } else { neighbour }.to_le_bytes()
            };
            Some(words.iter().flat_map(nudge).collect())
        }
        DType::F64 => {
            let (words, _) = bytes.as_chunks();
            let nudge = |word: &[u8; 8]| {
                let value = f64::from_le_bytes(*word);
                let neighbour = if up() { value.next_up() } else { value.next_down() };
                if value == 0.0 { value } else { neighbour }.to_le_bytes()
            };
            Some(words.iter().flat_map(nudge).collect())
        }
        _ => None,
    }
}

/// The mean and the standard deviation of the finite numbers.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let count = finite().count().max(1) as f64;
    let mean = finite().sum::<f64>() / count;
    let variance = finite().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// The root of the mean square of the finite numbers.
pub(super) fn rms(values: impl Iterator<Item = f64>) -> f64 {
    let (mut count, mut sum) = (0_u64, 0.0);
    for value in values.filter(|value| value.is_finite()) {
        count += 1;
        sum += value * value;
    }
    (sum / count.max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [DType; 15] = [
        DType::U8,
        DType::I8,
        DType::U16,
        DType::I16,
        DType::U32,
        DType::I32,
        DType::U64,
        DType::I64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::F8E4M3,
        DType::F8E5M2,
        DType::Complex32,
    ];

    #[test]
    fn elements_of_every_type_are_read_as_they_are_written() {
        for dtype in ALL {
            let numbers = [0.0, 1.0, 3.0, 96.0];
            let bytes = elements(dtype, numbers.into_iter());
            assert_eq!(bytes.len(), 4 * dtype.size() / dtype.parts().1, "{dtype:?}");
            assert_eq!(values(dtype, &bytes), numbers, "{dtype:?}");
        }
    }

    /// Returns a number of a type after it was rounded. `None` if nothing changes.
    fn rounded(precision: Precision, dtype: DType, value: f64) -> Option<f64> {
        let bytes = elements(dtype, [value].into_iter());
        precision.round(dtype, &bytes).map(|bytes| values(dtype, &bytes)[0])
    }

    #[test]
    fn a_precision_keeps_its_bits_and_leaves_what_it_can_hold() {
        for (precision, bits) in [(Precision::Tf32, 11), (Precision::Half, 11), (Precision::BFloat, 8)] {
            for dtype in [DType::F32, DType::F64] {
                let third = rounded(precision, dtype, 1.0 / 3.0).expect("it changes");
                let relative = (third * 3.0 - 1.0).abs();
                assert!(
                    (1e-5..2f64.powi(-bits)).contains(&relative),
                    "{precision:?} {dtype:?} {relative}"
                );
                for exact in [0.0, 3.0, -1024.0, f64::INFINITY, f64::NAN] {
                    assert_eq!(
                        rounded(precision, dtype, exact),
                        None,
                        "{precision:?} {dtype:?} {exact}"
                    );
                }
            }
            assert_eq!(precision.round(DType::I32, &[1, 2, 3, 4]), None);
        }
    }

    #[test]
    fn numbers_beyond_half_are_not_rounded_to_it() {
        assert_eq!(rounded(Precision::Half, DType::F32, 70_000.5), None);
        assert!(rounded(Precision::BFloat, DType::F32, 70_000.5).is_some());
    }

    #[test]
    fn a_nudge_moves_every_number_but_zero_to_a_neighbour() {
        let numbers: Vec<f64> = (0..100).map(f64::from).collect();
        for dtype in [DType::F32, DType::F64] {
            let bytes = elements(dtype, numbers.iter().copied());
            let moved = values(dtype, &nudged(dtype, &bytes, &mut Rng::new(1)).expect("floats"));
            let step = epsilon(dtype).expect("floats");
            for (before, after) in numbers.iter().zip(moved) {
                assert_eq!(before == &0.0, after == *before);
                assert!((after - before).abs() <= step * before.abs(), "{before} {after}");
            }
        }
    }

    #[test]
    fn moments_ignore_what_is_not_finite() {
        assert_eq!(moments(&[1.0, 3.0, f64::NAN]), (2.0, 1.0));
        assert_eq!(moments(&[]), (0.0, 0.0));
        assert_eq!(rms([3.0, -3.0, f64::INFINITY].into_iter()), 3.0);
    }
}
