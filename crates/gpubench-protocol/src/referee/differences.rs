//! Where a wrong output differs from the expected one, element by element. The device only counts.

use bytemuck::Zeroable;
use gpubench::bits_of;
use gpubench::catalog::DType;

use super::RefereeError;
use super::case::Referee;
use crate::wire::{Coordinates, Differences, DifferentElement, MOST_DIMENSIONS};
use gpubench_device::harness::Comparison;

/// Bytes of each side that are read at once.
const PIECE: u64 = 16 << 20;

/// Most bytes of each side that are read. The broker waits meanwhile.
const MOST_BYTES: u64 = 1 << 30;

impl Referee {
    /// Reads both sides of a comparison, up to a limit, and describes the elements that differ.
    /// `part` is the tensor's position, and its field.
    pub(super) fn differences(
        &mut self,
        part: (usize, usize),
        shape: &[u64],
        comparison: &Comparison,
    ) -> Result<Differences, RefereeError> {
        let size = comparison.dtype.size() as u64;
        let mut found = Found::new(shape);
        let len = comparison.len.min(MOST_BYTES / size);
        let mut start = 0;
        while start < len {
            let count = (len - start).min(PIECE / size);
            let [expected, got] = [comparison.expected, comparison.got].map(|side| side.offset(start * size));
            let mut pieces = [(); 2].map(|()| vec![0; (count * size) as usize]);
            for (piece, side) in pieces.iter_mut().zip([expected, got]) {
                self.driver.read(side, piece)?;
            }
            let [expected, got] = &pieces;
            let pairs = expected
                .chunks_exact(size as usize)
                .zip(got.chunks_exact(size as usize));
            for (position, (expected, got)) in pairs.enumerate() {
                if expected != got && !is_right(comparison, bits_of(expected), bits_of(got)) {
                    found.add(start + position as u64, bits_of(expected), bits_of(got));
                }
            }
            start += count;
        }
        Ok(found.differences(part))
    }
}

/// Whether an element is within the tolerance, by the rule of the check kernel.
fn is_right(comparison: &Comparison, expected: u64, got: u64) -> bool {
    let dtype = comparison.dtype;
    let real = |bits: u64| dtype.is_float().then(|| dtype.number(bits));
    let tolerated = |distance: f64, magnitude: f64| {
        let bounds = comparison.tolerance.bounds();
        bounds.is_some_and(|(rtol, atol)| distance <= atol + rtol * magnitude)
    };
    if comparison.dtype == DType::Complex32 {
        let [expected, got] = [expected, got].map(complex);
        let is = |test: fn(f64) -> bool| move |number: [f64; 2]| (test(number[0]), test(number[1]));
        let is_nan = |number| is(f64::is_nan)(number) != (false, false);
        let is_finite = |number| is(f64::is_finite)(number) == (true, true);
        let length = |re: f64, im: f64| (re * re + im * im).sqrt();
        return expected == got
            || is_nan(expected) && is_nan(got)
            || is_finite(expected)
                && is_finite(got)
                && tolerated(
                    length(got[0] - expected[0], got[1] - expected[1]),
                    length(expected[0], expected[1]),
                );
    }
    match (real(expected), real(got)) {
        (Some(expected), Some(got)) => {
            let are_finite = expected.is_finite() && got.is_finite();
            expected == got
                || (expected.is_nan() && got.is_nan())
                || (are_finite && tolerated((got - expected).abs(), expected.abs()))
        }
        _ => {
            let [expected, got] = [expected, got].map(|bits| integer(comparison.dtype, bits));
            expected == got || tolerated(expected.abs_diff(got) as f64, expected.unsigned_abs() as f64)
        }
    }
}

/// The parts of a complex number.
fn complex(bits: u64) -> [f64; 2] {
    [bits as u32, (bits >> 32) as u32].map(|part| f64::from(f32::from_bits(part)))
}

fn integer(dtype: DType, bits: u64) -> i128 {
    match dtype {
        DType::I8 => i128::from(bits as i8),
        DType::I16 => i128::from(bits as i16),
        DType::I32 => i128::from(bits as i32),
        DType::I64 => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

/// The wrong elements of an output so far, in order.
struct Found {
    found: Differences,
    /// Extent of each dimension, outermost first. None if there are too many.
    shape: Vec<u64>,
    /// Which coordinates of each dimension a wrong element has.
    seen: Vec<Vec<bool>>,
}

impl Found {
    fn new(shape: &[u64]) -> Found {
        let has_room = shape.len() <= MOST_DIMENSIONS;
        let shape = if has_room { shape.to_vec() } else { Vec::new() };
        Found {
            found: Differences {
                dimensions: shape.len() as u64,
                ..Differences::zeroed()
            },
            seen: shape.iter().map(|extent| vec![false; *extent as usize]).collect(),
            shape,
        }
    }

    fn add(&mut self, index: u64, expected_bits: u64, got_bits: u64) {
        let found = &mut self.found;
        if let Some(element) = found.elements.get_mut(found.wrong as usize) {
            *element = DifferentElement {
                index,
                expected_bits,
                got_bits,
            };
            found.listed += 1;
        }
        let is_first = found.wrong == 0;
        found.wrong += 1;
        note(&mut found.indices, index, is_first);
        found.indices.different += 1;
        let mut rest = index;
        for (dimension, extent) in self.shape.iter().enumerate().rev() {
            let coordinate = rest % extent;
            rest /= extent;
            let coordinates = &mut found.coordinates[dimension];
            note(coordinates, coordinate, is_first);
            let seen = &mut self.seen[dimension][coordinate as usize];
            coordinates.different += u64::from(!*seen);
            *seen = true;
        }
    }

    fn differences(self, (index, field): (usize, usize)) -> Differences {
        Differences {
            tensor: index as u64,
            field: field as u64,
            ..self.found
        }
    }
}

/// Adds a coordinate. The step divides all distances from any of them.
fn note(coordinates: &mut Coordinates, coordinate: u64, is_first: bool) {
    if is_first {
        (coordinates.first, coordinates.last) = (coordinate, coordinate);
        return;
    }
    let distance = coordinate.abs_diff(coordinates.first);
    coordinates.step = greatest_common_divisor(coordinates.step, distance);
    coordinates.first = coordinates.first.min(coordinate);
    coordinates.last = coordinates.last.max(coordinate);
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 {
        one
    } else {
        greatest_common_divisor(other, one % other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns what is found if these elements of a tensor are wrong.
    fn wrong_at(shape: &[u64], indices: impl IntoIterator<Item = u64>) -> Differences {
        let mut found = Found::new(shape);
        for index in indices {
            found.add(index, 1, index);
        }
        found.differences((3, 0))
    }

    #[test]
    fn complex_numbers_and_8_bit_floats_are_judged_as_by_the_kernel() {
        let comparison = |dtype| Comparison {
            got: gpubench_device::DevicePtr(0),
            expected: gpubench_device::DevicePtr(0),
            len: 1,
            dtype,
            tolerance: gpubench::catalog::Tolerance::Close { rtol: 0.3, atol: 0.0 },
            poison_key: 0,
            poison: gpubench_device::harness::PoisonPlace::default(),
            order_key: 0,
        };
        let z = |re: f32, im: f32| u64::from(re.to_bits()) | u64::from(im.to_bits()) << 32;
        let is_right = |dtype, expected, got| super::is_right(&comparison(dtype), expected, got);
        let complex = |expected, got| is_right(DType::Complex32, expected, got);
        assert!(complex(z(1.0, 1e-4), z(1.0, 2e-4)) && !complex(z(1.0, 0.0), z(0.0, 1.0)));
        assert!(complex(z(f32::NAN, 0.0), z(0.0, f32::NAN)) && !complex(z(0.0, 0.0), z(0.0, f32::NAN)));
        assert!(complex(z(f32::INFINITY, 1.0), z(f32::INFINITY, 1.0)));
        assert!(!complex(z(f32::INFINITY, 1.0), z(f32::INFINITY, 1.1)));
        // 1 and 1.25, 1 and 1.5; NaNs of both signs; the infinity, and the same bits of a number.
        assert!(is_right(DType::F8E4M3, 0x38, 0x3a) && !is_right(DType::F8E4M3, 0x38, 0x3c));
        assert!(is_right(DType::F8E4M3, 0x7f, 0xff) && !is_right(DType::F8E4M3, 0x7e, 0x7f));
        assert!(is_right(DType::F8E5M2, 0x7d, 0xff) && !is_right(DType::F8E5M2, 0x7c, 0x7b));
        assert!(is_right(DType::F8E4M3, 0x7c, 0x7b));
    }

    #[test]
    fn the_first_ten_elements_are_listed_and_all_are_counted() {
        let found = wrong_at(&[100], 5..40);
        assert_eq!((found.tensor, found.wrong, found.elements().len()), (3, 35, 10));
        let indices: Vec<u64> = found.elements().iter().map(|element| element.index).collect();
        assert_eq!(indices, (5..15).collect::<Vec<_>>());
        let last = found.elements()[9];
        assert_eq!((last.expected_bits, last.got_bits), (1, 14));
    }

    #[test]
    fn coordinates_of_every_dimension_and_of_the_flat_index_show_the_pattern() {
        let column = wrong_at(&[8, 32], (0..8).map(|row| row * 32 + 31));
        let [rows, columns] = column.coordinates() else {
            panic!("{column:?}")
        };
        let [all, last] = [(0, 7, 8, 1), (31, 31, 1, 0)].map(|(first, last, different, step)| Coordinates {
            first,
            last,
            different,
            step,
        });
        assert_eq!((*rows, *columns), (all, last));
        assert!(rows.are_regular() && columns.are_regular());
        let every_third = wrong_at(&[5, 5], [2, 5, 8, 11, 14]);
        assert_eq!(every_third.indices.step, 3);
        assert!(every_third.indices.are_regular());
        assert!(!wrong_at(&[100], [0, 3, 9]).indices.are_regular(), "one is missing");
    }

    #[test]
    fn a_tensor_of_too_many_dimensions_has_flat_indices_alone() {
        let found = wrong_at(&[2; MOST_DIMENSIONS + 1], [1, 3]);
        assert!(found.coordinates().is_empty());
        assert_eq!(found.indices.step, 2);
    }

    proptest! {
        #[test]
        fn any_subset_keeps_its_extent_and_a_common_step(mut indices in prop::collection::btree_set(0..60u64, 1..60)) {
            let found = wrong_at(&[3, 4, 5], indices.iter().copied());
            let (first, last) = (*indices.first().unwrap(), *indices.last().unwrap());
            prop_assert_eq!((found.indices.first, found.indices.last), (first, last));
            prop_assert!(indices.iter().all(|index| (index - first).checked_rem(found.indices.step).unwrap_or(0) == 0));
            let regular = (first..=last).step_by(found.indices.step.max(1) as usize).count();
            prop_assert_eq!(found.indices.are_regular(), regular == indices.len());
            indices.retain(|index| index % 5 == found.coordinates()[2].first);
            prop_assert!(!indices.is_empty());
        }
    }
}
