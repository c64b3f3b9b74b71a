//! How long calls took.

use std::time::Duration;

/// How many bounds there are.
const BOUNDS: usize = 22;

/// How long calls took: their number in each class of time, and their time together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Durations {
    counts: [u64; BOUNDS + 1],
    total: Duration,
}

impl Durations {
    /// The longest time of each class but the last: 1 µs, 2 µs, 5 µs, 10 µs and so on to 10 s.
    pub const BOUNDS: [Duration; BOUNDS] = {
        let mut bounds = [Duration::ZERO; BOUNDS];
        let (mut place, mut decade) = (0, 1_000);
        while place < BOUNDS {
            bounds[place] = Duration::from_nanos([1, 2, 5][place % 3] * decade);
            if place % 3 == 2 {
                decade *= 10;
            }
            place += 1;
        }
        bounds
    };

    /// Adds a call.
    pub(super) fn add(&mut self, duration: Duration) {
        self.counts[Self::BOUNDS.partition_point(|bound| *bound < duration)] += 1;
        self.total = self.total.saturating_add(duration);
    }

    /// Adds the calls of another one.
    pub fn merge(&mut self, other: &Durations) {
        for (own, other) in self.counts.iter_mut().zip(other.counts) {
            *own += other;
        }
        self.total = self.total.saturating_add(other.total);
    }

    /// Returns the number of calls.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns their time together.
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Returns the classes, each with its longest time and its calls. The last has no longest time.
    pub fn classes(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let bounds = Self::BOUNDS.into_iter().map(Some).chain([None]);
        bounds.zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_1_2_and_5_of_each_power_of_ten() {
        let micros = Durations::BOUNDS.map(|bound| bound.as_micros());
        assert_eq!(micros[..7], [1, 2, 5, 10, 20, 50, 100]);
        assert_eq!(micros[BOUNDS - 1], 10_000_000);
    }

    #[test]
    fn a_call_is_in_the_class_whose_longest_time_it_does_not_exceed() {
        let classes_of = |duration| {
            let mut durations = Durations::default();
            durations.add(duration);
            let class = durations.classes().find(|(_, count)| *count == 1);
            class.expect("one has it").0
        };
        let micros = Duration::from_micros;
        assert_eq!(classes_of(Duration::ZERO), Some(micros(1)));
        assert_eq!(classes_of(micros(1)), Some(micros(1)));
        assert_eq!(classes_of(Duration::from_nanos(1001)), Some(micros(2)));
        assert_eq!(classes_of(Duration::from_secs(10)), Some(Duration::from_secs(10)));
        assert_eq!(classes_of(Duration::MAX), None);
    }

    #[test]
    fn endless_times_do_not_overflow() {
        let mut durations = Durations::default();
        durations.add(Duration::MAX);
        durations.add(Duration::MAX);
        let other = durations;
        durations.merge(&other);
        assert_eq!((durations.count(), durations.total()), (4, Duration::MAX));
    }
}
