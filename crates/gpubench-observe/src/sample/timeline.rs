//! The course of an observation in a bounded number of steps.

use std::time::Duration;

use gpubench_contract::ProbePoint;

use super::processes::nanoseconds;

/// The most steps.
const MOST: usize = 256;

/// The course of an observation. When it has too many steps, each two become one.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    points: Vec<ProbePoint>,
    /// Samples in a step.
    width: usize,
    /// Samples in the last step.
    filled: usize,
}

impl Timeline {
    pub(super) fn new() -> Self {
        Self {
            points: Vec::new(),
            width: 1,
            filled: 0,
        }
    }

    /// Adds an interval.
    pub(super) fn add(&mut self, point: ProbePoint) {
        let is_full = self.filled == self.width;
        match self.points.last_mut().filter(|_| !is_full) {
            Some(last) => {
                join(last, &point);
                self.filled += 1;
            }
            None => {
                if self.points.len() == MOST {
                    self.halve();
                }
                self.points.push(point);
                self.filled = 1;
            }
        }
    }

    pub(super) fn points(&self) -> &[ProbePoint] {
        &self.points
    }

    fn halve(&mut self) {
        let halves = self.points.chunks(2).map(|pair| {
            let mut first = pair[0].clone();
            pair[1..].iter().for_each(|second| join(&mut first, second));
            first
        });
        self.points = halves.collect();
        self.width *= 2;
    }
}

/// Adds the step after it to a step.
fn join(step: &mut ProbePoint, next: &ProbePoint) {
    step.elapsed_ns = next.elapsed_ns;
    step.live_bytes = next.live_bytes;
    step.launches += next.launches;
    step.copied_bytes += next.copied_bytes;
    step.errors += next.errors;
}

/// Returns a step that ends now.
pub(super) fn point(elapsed: Duration, live_bytes: u64, [launches, copied_bytes, errors]: [u64; 3]) -> ProbePoint {
    ProbePoint {
        elapsed_ns: nanoseconds(elapsed),
        live_bytes,
        launches,
        copied_bytes,
        errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_observation_has_a_bounded_number_of_steps_and_loses_nothing() {
        let mut timeline = Timeline::new();
        for second in 1..=10_000 {
            timeline.add(point(Duration::from_secs(second), second, [1, 2, 3]));
        }
        let points = timeline.points();
        assert!((MOST / 2..=MOST).contains(&points.len()));
        assert_eq!(points.iter().map(|point| point.launches).sum::<u64>(), 10_000);
        assert_eq!(points.iter().map(|point| point.errors).sum::<u64>(), 30_000);
        assert_eq!(points.last().map(|point| point.live_bytes), Some(10_000));
        assert!(points.is_sorted_by(|a, b| a.elapsed_ns < b.elapsed_ns));
    }

    #[test]
    fn steps_last_twice_as_long_each_time_that_there_are_too_many() {
        let mut timeline = Timeline::new();
        (1..=4 * MOST as u64).for_each(|second| timeline.add(point(Duration::from_secs(second), 0, [1, 0, 0])));
        let launches: Vec<u64> = timeline.points().iter().map(|point| point.launches).collect();
        assert_eq!(launches, vec![4; MOST]);
    }
}
