//! How many fresh workers a case has.

use std::num::NonZeroUsize;

/// How many fresh workers a case has: so many, and more where those leave its median open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerCountRule {
    first: NonZeroUsize,
    most: NonZeroUsize,
}

impl WorkerCountRule {
    /// Workers whose medians may be enough: fewer say little of how far others would lie apart.
    const FIRST: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");

    /// So many, whatever they say.
    pub fn exactly(workers: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: workers,
            most: workers,
        }
    }

    /// Five, and up to `most` where they do not agree.
    pub fn until_known(most: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule {
            first: Self::FIRST.min(most),
            most,
        }
    }

    /// Five and no more, where there might be up to `most`.
    pub fn first_of(most: NonZeroUsize) -> WorkerCountRule {
        WorkerCountRule::exactly(Self::FIRST.min(most))
    }

    /// How many there are in any case.
    pub fn first(self) -> NonZeroUsize {
        self.first
    }

    /// How many there are at most.
    pub fn most(self) -> NonZeroUsize {
        self.most
    }

    /// The same for a case that has no more than `limit`.
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
    fn five_workers_are_first_where_more_may_follow() {
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
