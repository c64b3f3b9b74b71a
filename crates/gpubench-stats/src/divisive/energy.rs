//! The divergence of the values before and after a position.

use std::ops::Range;

/// The most divergent position of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) position: usize,
    /// The end of the values after the position that differ most from those before.
    pub(super) end: usize,
    pub(super) divergence: f64,
}

/// The distances between the values of a window, summed for each part of it.
pub(super) struct Energy {
    /// The sum of the distances between the values from `a` to before `b`, at `a * (n + 1) + b`.
    within: Vec<f64>,
    n: usize,
}

impl Energy {
    /// Sums the distances of all parts of a window in quadratic time.
    pub(super) fn of(window: &[f64]) -> Energy {
        let n = window.len();
        let mut within = vec![0.0; (n + 1) * (n + 1)];
        for end in 1..=n {
            // The distances from the last value to the others of a part, which grows to the left.
            let mut from_last = 0.0;
            for start in (0..end).rev() {
                from_last += (window[end - 1] - window[start]).abs();
                within[start * (n + 1) + end] = within[start * (n + 1) + end - 1] + from_last;
            }
        }
        Energy { within, n }
    }

    fn within(&self, start: usize, end: usize) -> f64 {
        self.within[start * (self.n + 1) + end]
    }

    /// Returns the position that the values of a segment differ most before and after. What comes
    /// after may end before the segment does, since it may contain further changes. `None` if the
    /// segment is too short for `least` values on both sides.
    pub(super) fn candidate(&self, segment: Range<usize>, least: usize) -> Option<Candidate> {
        let least = least.max(1);
        let mut best: Option<Candidate> = None;
        for position in segment.start + least..(segment.end + 1).saturating_sub(least) {
            for end in position + least..=segment.end {
                let divergence = self.divergence(segment.start, position, end);
                if best.is_none_or(|best| divergence > best.divergence) {
                    best = Some(Candidate {
                        position,
                        end,
                        divergence,
                    });
                }
            }
        }
        best
    }

    /// Returns the scaled energy distance of the values from `start` to `position` and those from
    /// there to `end`.
    pub(super) fn divergence(&self, start: usize, position: usize, end: usize) -> f64 {
        let (left, right) = (self.within(start, position), self.within(position, end));
        let between = self.within(start, end) - left - right;
        let (n, m) = ((position - start) as f64, (end - position) as f64);
        // The mean distance of a pair inside a part. A single value has no pair.
        let mean_pair = |sum: f64, count: f64| {
            if count > 1.0 {
                sum / (count * (count - 1.0) / 2.0)
            } else {
                0.0
            }
        };
        let distance = 2.0 * between / (n * m) - mean_pair(left, n) - mean_pair(right, m);
        n * m / (n + m) * distance
    }
}
