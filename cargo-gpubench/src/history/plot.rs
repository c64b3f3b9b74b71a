//! A curve in braille dots.

/// Dots of a cell, across and down.
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// The bits of a braille character by column and row: U+2800 and what is added to it.
const BITS: [[u32; DOWN]; ACROSS] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
const BRAILLE: u32 = 0x2800;

/// A line through the values in `rows` lines of `columns` cells, the largest value at the top. A single value, and values that are all equal, lie in the
/// middle.
pub(super) fn plot(values: &[f64], columns: usize, rows: usize) -> Vec<String> {
    let (width, height) = (columns * ACROSS, rows * DOWN);
    let mut cells = vec![vec![0; columns]; rows];
    let mut dot = |x: usize, y: usize| {
        if let Some(cell) = cells.get_mut(y / DOWN).and_then(|row| row.get_mut(x / ACROSS)) {
            *cell |= BITS[x % ACROSS][y % DOWN];
        }
    };
    let points = points(values, width, height);
    if let [(x, y)] = points[..] {
        dot(x, y);
    }
    for pair in points.windows(2) {
        if let [from, to] = *pair {
            line(from, to, &mut dot);
        }
    }
    let letter = |bits: &u32| match bits {
        0 => ' ',
        bits => char::from_u32(BRAILLE + bits).unwrap_or(' '),
    };
    let text = |row: &Vec<u32>| row.iter().map(letter).collect::<String>().trim_end().to_owned();
    cells.iter().map(text).collect()
}

/// Where the values lie, in dots from the upper left.
fn points(values: &[f64], width: usize, height: usize) -> Vec<(usize, usize)> {
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let last = values.len().saturating_sub(1).max(1);
    let across = |position: usize| position * width.saturating_sub(1) / last;
    let down = |value: f64| {
        if high > low {
            ((high - value) / (high - low) * height.saturating_sub(1) as f64).round() as usize
        } else {
            height / 2
        }
    };
    let values = values.iter().enumerate();
    values
        .map(|(position, value)| (across(position), down(*value)))
        .collect()
}

/// Every dot between two, along the longer side.
fn line(from: (usize, usize), to: (usize, usize), dot: &mut impl FnMut(usize, usize)) {
    let (x, y) = (from.0 as f64, from.1 as f64);
    let (dx, dy) = (to.0 as f64 - x, to.1 as f64 - y);
    let steps = dx.abs().max(dy.abs()).max(1.0);
    for step in 0..=steps as usize {
        let part = step as f64 / steps;
        dot((x + dx * part).round() as usize, (y + dy * part).round() as usize);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rising_line_goes_from_the_lower_left_to_the_upper_right() {
        assert_eq!(plot(&[1.0, 2.0], 4, 2), ["  ⡠⠊", "⡠⠊"]);
    }

    #[test]
    fn equal_values_lie_in_the_middle() {
        assert_eq!(plot(&[7.0, 7.0, 7.0], 3, 1), ["⠤⠤⠤"]);
        assert_eq!(plot(&[7.0], 3, 1), ["⠄"]);
        assert_eq!(plot(&[], 3, 1), [""]);
    }

    proptest! {
        #[test]
        fn a_plot_has_its_size_whatever_the_values_are(
            values in prop::collection::vec(any::<f64>(), 0..300),
            columns in 1usize..80,
            rows in 1usize..8,
        ) {
            let lines = plot(&values, columns, rows);
            prop_assert_eq!(lines.len(), rows);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= columns));
        }
    }
}
