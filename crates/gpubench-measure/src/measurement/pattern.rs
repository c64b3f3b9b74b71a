//! Where the wrong elements of an output lie, in words.

use gpubench::catalog::Tensor;
use gpubench_protocol::wire::{Coordinates, Differences};

use crate::verdict::placed;

/// A box of wrong and right elements is worth a word if it is at most this part of the output.
const SMALL: f64 = 0.5;

/// Describes the places of wrong elements: exactly, if they are regular in every dimension or by
/// their flat index, or else by a box around them. `None` if there is nothing to say.
pub(super) fn pattern(tensor: &Tensor, found: &Differences) -> Option<String> {
    let elements = tensor.elements();
    if found.wrong < 2 || found.wrong >= elements {
        return None;
    }
    let coordinates = found.coordinates();
    let has_coordinates = coordinates.len() == tensor.shape.len();
    let product = |of: fn(&Coordinates) -> u64| {
        let mut each = coordinates.iter().map(of);
        each.try_fold(1, |product: u64, of| product.checked_mul(of))
    };
    let are_all_of_product = product(|coordinates| coordinates.different) == Some(found.wrong);
    if has_coordinates && are_all_of_product && coordinates.iter().all(Coordinates::are_regular) {
        return Some(format!("the wrong elements are {}", region(tensor, coordinates)));
    }
    if found.wrong > 2 && found.indices.are_regular() {
        let indices = range(found.indices, elements);
        return Some(format!(
            "the wrong elements of `{}` have the flat indices {indices}",
            tensor.name
        ));
    }
    let volume = product(|coordinates| coordinates.last - coordinates.first + 1)?;
    let is_small = has_coordinates && volume as f64 <= SMALL * elements as f64;
    is_small.then(|| {
        let all = coordinates.iter().map(|coordinates| Coordinates {
            step: 1,
            ..*coordinates
        });
        let around = region(tensor, &all.collect::<Vec<_>>());
        format!("the wrong elements are {} of the {volume} in {around}", found.wrong)
    })
}

/// Returns a region such as `` `y[.., 31, 0..64 step 2]` ``.
fn region(tensor: &Tensor, coordinates: &[Coordinates]) -> String {
    let dimensions = coordinates.iter().zip(&tensor.shape);
    let ranges: Vec<String> = dimensions
        .map(|(coordinates, extent)| range(*coordinates, *extent))
        .collect();
    format!("`{}`", placed(&tensor.name, &ranges))
}

fn range(Coordinates { first, last, step, .. }: Coordinates, extent: u64) -> String {
    let end = last + 1;
    match step {
        _ if first == last => first.to_string(),
        1 if first == 0 && end == extent => "..".to_owned(),
        1 => format!("{first}..{end}"),
        step => format!("{first}..{end} step {step}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;
    use gpubench::catalog::{DType, Fill, Role, Tolerance};

    fn tensor(shape: &[u64]) -> Tensor {
        Tensor {
            name: "y".to_owned(),
            dtype: DType::F32,
            shape: shape.to_vec(),
            role: Role::Output,
            fill: Fill::Poison,
            tolerance: Tolerance::Exact,
            record: None,
        }
    }

    /// `first`, `last`, `different` and `step` of each dimension, then of the flat index.
    fn found(wrong: u64, dimensions: &[[u64; 4]], indices: [u64; 4]) -> Differences {
        let coordinates = |[first, last, different, step]: [u64; 4]| Coordinates {
            first,
            last,
            different,
            step,
        };
        let mut found = Differences {
            wrong,
            dimensions: dimensions.len() as u64,
            indices: coordinates(indices),
            ..Differences::zeroed()
        };
        for (own, given) in found.coordinates.iter_mut().zip(dimensions) {
            *own = coordinates(*given);
        }
        found
    }

    #[test]
    fn regular_places_are_named_exactly() {
        let words = |shape: &[u64], found: &Differences| pattern(&tensor(shape), found);
        let every_32nd = found(32, &[[31, 1023, 32, 32]], [31, 1023, 32, 32]);
        assert_eq!(
            words(&[1024], &every_32nd).unwrap(),
            "the wrong elements are `y[31..1024 step 32]`"
        );
        let last_column = found(8, &[[0, 7, 8, 1], [31, 31, 1, 0]], [31, 255, 8, 32]);
        assert_eq!(
            words(&[8, 32], &last_column).unwrap(),
            "the wrong elements are `y[.., 31]`"
        );
        let block = found(256, &[[16, 31, 16, 1], [0, 15, 16, 1]], [1024, 2000, 256, 1]);
        assert_eq!(
            words(&[64, 64], &block).unwrap(),
            "the wrong elements are `y[16..32, 0..16]`"
        );
        let across_rows = found(5, &[[0, 2, 3, 1], [0, 4, 5, 1]], [2, 14, 5, 3]);
        assert_eq!(
            words(&[5, 5], &across_rows).unwrap(),
            "the wrong elements of `y` have the flat indices 2..15 step 3"
        );
        let tail = found(7, &[[2, 4, 3, 1], [0, 4, 5, 1]], [13, 19, 7, 1]);
        assert_eq!(
            words(&[5, 5], &tail).unwrap(),
            "the wrong elements of `y` have the flat indices 13..20"
        );
    }

    #[test]
    fn others_are_in_a_small_box_or_have_no_pattern() {
        let some = found(5, &[[1, 3, 3, 1], [2, 4, 3, 1]], [12, 34, 5, 1]);
        assert_eq!(
            pattern(&tensor(&[10, 10]), &some).unwrap(),
            "the wrong elements are 5 of the 9 in `y[1..4, 2..5]`"
        );
        assert_eq!(pattern(&tensor(&[4, 4]), &some), None, "the box is most of it");
        let all = found(16, &[[0, 3, 4, 1], [0, 3, 4, 1]], [0, 15, 16, 1]);
        assert_eq!(pattern(&tensor(&[4, 4]), &all), None);
        let one = found(1, &[[2, 2, 1, 0], [1, 1, 1, 0]], [9, 9, 1, 0]);
        assert_eq!(pattern(&tensor(&[4, 4]), &one), None, "the message names it");
        let flat = found(2, &[], [3, 9, 2, 6]);
        assert_eq!(pattern(&tensor(&[2; 9]), &flat), None);
    }

    #[test]
    fn a_box_of_half_of_the_elements_is_small_and_one_of_more_is_not() {
        let some = |last| found(5, &[[0, last, 2, 1], [0, 3, 4, 1]], [0, 7, 4, 1]);
        assert_eq!(
            pattern(&tensor(&[4, 4]), &some(1)).as_deref(),
            Some("the wrong elements are 5 of the 8 in `y[0..2, ..]`")
        );
        assert_eq!(pattern(&tensor(&[4, 4]), &some(2)), None);
    }

    #[test]
    fn a_range_is_written_without_its_ends_only_if_it_has_both() {
        let one = |first, last| {
            found(
                last - first + 1,
                &[[first, last, last - first + 1, 1]],
                [first, last, 1, 1],
            )
        };
        let words = |first, last| pattern(&tensor(&[16]), &one(first, last)).unwrap();
        assert_eq!(words(12, 15), "the wrong elements are `y[12..16]`");
        assert_eq!(words(0, 3), "the wrong elements are `y[0..4]`");
        let column = found(4, &[[0, 3, 4, 1], [3, 3, 1, 0]], [3, 15, 4, 4]);
        assert_eq!(
            pattern(&tensor(&[4, 4]), &column).unwrap(),
            "the wrong elements are `y[.., 3]`"
        );
    }
}
