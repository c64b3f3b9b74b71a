//! The largest elements of every row, and where they are.

use gpubench::prelude::*;
use std::ops::RangeInclusive;

/// So few distinct values that most rows have equal elements among the largest, and often some more
/// than there is room for.
const SCORES: RangeInclusive<i32> = -2000..=2000;

/// Finds the `k` largest elements of every row of a matrix, and their columns.
///
/// The values of a row are in descending order, and `columns[i]` is where `values[i]` is in its
/// row. Equal elements count as often as they occur. Their order among each other is free, and if
/// only some of them are among the `k` largest, it is free which. But no column may occur twice in
/// a row.
///
/// The elements are whole numbers from -2000 to 2000, stored as `f32`. `k` is at most the number
/// of elements of a row, and at most 512.
#[problem(
    axes(rows = [4096], width = [4096, 3999], k = [8, 64]),
    cpu(cases((rows, width, k) = [(6, 999, 8), (6, 512, 64), (11, 333, 8), (11, 512, 33)])),
    exact,
    check = equal_elements,
    bytes = 4 * rows * width + 8 * rows * k,
    hidden(rows = draw(1..=5), cases((width, k) = [(1, 1), (513, 512), (100, 100), (77, 5), (1500, 33)]), count = 1),
    limits(time = "10s", source = "64 KiB"),
)]
pub fn top_k(
    rows: usize,
    width: usize,
    k: usize,
    #[fill(Integers(SCORES), [rows, width])] x: &[f32],
    #[shape([rows, k])] values: &mut [f32],
    #[shape([rows, k])] columns: &mut [u32],
) {
    let mut order: Vec<u32> = Vec::with_capacity(width);
    for row in 0..rows {
        let x = &x[row * width..][..width];
        let descending = |a: &u32, b: &u32| x[*b as usize].total_cmp(&x[*a as usize]);
        order.clear();
        order.extend(0..width as u32);
        if k < width {
            order.select_nth_unstable_by(k, descending);
        }
        order[..k].sort_by(descending);
        for (place, column) in (row * k..).zip(&order[..k]) {
            values[place] = x[*column as usize];
            columns[place] = *column;
        }
    }
}

/// Accepts the columns of equal elements, each once.
fn equal_elements(_rows: usize, width: usize, k: usize, x: &[f32], _values: Answer<f32>, mut columns: Answer<u32>) {
    columns.ties(k, x, width);
}

#[cfg(test)]
mod tests {
    use super::{SCORES, top_k};
    use crate::shortcuts::{Tolerance, no_constant_passes, whole_numbers};
    use gpubench::Rng;

    #[test]
    fn the_reference_finds_the_largest_of_each_row_in_descending_order() {
        let (mut values, mut columns) = ([0.0; 4], [0; 4]);
        let x = [1.0, 5.0, 4.0, -7.0, -9.0, -8.0];
        top_k(2, 3, 2, &x, &mut values, &mut columns);
        assert_eq!((values, columns), ([5.0, 4.0, -7.0, -8.0], [1, 2, 0, 2]));
    }

    #[test]
    fn most_rows_have_equal_elements_among_the_largest() {
        let x = whole_numbers(&mut Rng::new(1), SCORES, 100 * 512);
        let (mut values, mut columns) = (vec![0.0; 800], vec![0; 800]);
        top_k(100, 512, 8, &x, &mut values, &mut columns);
        let equal = values
            .chunks(8)
            .filter(|row| row.windows(2).any(|pair| pair[0] == pair[1]));
        assert!(equal.count() > 20);
    }

    #[test]
    fn no_constant_answer_passes() {
        let x = whole_numbers(&mut Rng::new(1), SCORES, 100 * 333);
        let (mut values, mut columns) = (vec![0.0; 800], vec![0; 800]);
        top_k(100, 333, 8, &x, &mut values, &mut columns);
        no_constant_passes(&values, Tolerance::EXACT);
        no_constant_passes(&columns, Tolerance::EXACT);
    }
}
