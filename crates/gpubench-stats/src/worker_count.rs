//! The number of fresh workers of a case.

use std::num::NonZeroUsize;

/// The number of fresh workers of a case: a first number, and more if these leave its value
/// uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerCountRule {
    first: NonZeroUsize,
    most: NonZeroUsize,
}

impl WorkerCountRule {
    /// The number of workers that may be enough. Fewer say little about the spread among workers.
    const FIRST: NonZeroUsize = NonZeroUsize::new(3).expect("3 is not 0");

    /// The number of workers that comes next.
    const SECOND: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");

    /// Returns a rule with a fixed number of workers.
    pub fn exactly(workers: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: workers,
            most: workers,
        }
    }

    /// Returns a rule with three workers, five if these do not agree, and up to `most` if those do
    /// not agree either.
    pub fn until_known(most: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: Self::FIRST.min(most),
            most,
        }
    }

    /// Returns a rule with exactly five workers, or `most` if that is fewer.
    pub fn five_of(most: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule::exactly(Self::SECOND.min(most))
    }

    /// Returns the minimum number of workers.
    pub fn first(self) -> NonZeroUsize {
        self.first
    }

    /// Returns the maximum number of workers.
    pub fn most(self) -> NonZeroUsize {
        self.most
    }

    /// Returns how many workers there are to be if `workers` are not enough.
    pub fn after(self, workers: usize) -> usize {
        let next = [self.first, Self::SECOND]
            .into_iter()
            .find(|stage| stage.get() > workers);
        next.unwrap_or(self.most).min(self.most).get().max(workers)
    }

    /// Whether the worker at `position`, from 0, is one of those that may be enough.
    pub(crate) fn may_end_with(self, position: usize) -> bool {
        self.first < self.most && position < Self::SECOND.get()
    }

    /// Returns the same rule with at most `limit` workers.
    pub fn at_most(self, limit: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: self.first.min(limit),
            most: self.most.min(limit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(workers: usize) -> NonZeroUsize {
        NonZeroUsize::new(workers).unwrap()
    }

    #[test]
    fn three_workers_come_first_if_more_may_follow() {
        let numbers = |worker_count: WorkerCountRule| (worker_count.first().get(), worker_count.most().get());
        assert_eq!(numbers(WorkerCountRule::until_known(number(8))), (3, 8));
        assert_eq!(numbers(WorkerCountRule::until_known(number(3))), (3, 3));
        assert_eq!(numbers(WorkerCountRule::five_of(number(8))), (5, 5));
        assert_eq!(numbers(WorkerCountRule::five_of(number(3))), (3, 3));
        assert_eq!(numbers(WorkerCountRule::exactly(number(8))), (8, 8));
        assert_eq!(
            numbers(WorkerCountRule::until_known(number(8)).at_most(number(6))),
            (3, 6)
        );
        assert_eq!(numbers(WorkerCountRule::exactly(number(8)).at_most(number(2))), (2, 2));
    }

    #[test]
    fn after_three_workers_there_are_five_and_then_as_many_as_possible() {
        let after = |most, workers| WorkerCountRule::until_known(number(most)).after(workers);
        assert_eq!([3, 5, 10].map(|workers| after(10, workers)), [5, 10, 10]);
        assert_eq!([3, 4].map(|workers| after(4, workers)), [4, 4]);
        assert_eq!([3, 5].map(|workers| after(5, workers)), [5, 5]);
        assert_eq!(WorkerCountRule::exactly(number(8)).after(8), 8);
    }
}
