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
    const FIRST: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");

    /// Returns a rule with a fixed number of workers.
    pub fn exactly(workers: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: workers,
            most: workers,
        }
    }

    /// Returns a rule with five workers, and up to `most` if they do not agree.
    pub fn until_known(most: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: Self::FIRST.min(most),
            most,
        }
    }

    /// Returns a rule with exactly five workers, or `most` if that is fewer.
    pub fn first_of(most: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule::exactly(Self::FIRST.min(most))
    }

    /// Returns the minimum number of workers.
    pub fn first(self) -> NonZeroUsize {
        self.first
    }

    /// Returns the maximum number of workers.
    pub fn most(self) -> NonZeroUsize {
        self.most
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
    fn five_workers_come_first_if_more_may_follow() {
        let numbers = |worker_count: WorkerCountRule| (worker_count.first().get(), worker_count.most().get());
        assert_eq!(numbers(WorkerCountRule::until_known(number(8))), (5, 8));
        assert_eq!(numbers(WorkerCountRule::until_known(number(3))), (3, 3));
        assert_eq!(numbers(WorkerCountRule::first_of(number(8))), (5, 5));
        assert_eq!(numbers(WorkerCountRule::first_of(number(3))), (3, 3));
        assert_eq!(numbers(WorkerCountRule::exactly(number(8))), (8, 8));
        assert_eq!(
            numbers(WorkerCountRule::until_known(number(8)).at_most(number(6))),
            (5, 6)
        );
        assert_eq!(numbers(WorkerCountRule::exactly(number(8)).at_most(number(2))), (2, 2));
    }
}
