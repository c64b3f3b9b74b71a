//! How many fresh workers a case has.

use std::num::NonZeroUsize;

/// How many fresh workers a case has: so many, and more where those leave its median open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turnout {
    first: NonZeroUsize,
    most: NonZeroUsize,
}

impl Turnout {
    /// Workers whose medians may be enough: fewer say little of how far others would lie apart.
    const FIRST: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not 0");

    /// So many, whatever they say.
    pub fn exactly(workers: NonZeroUsize) -> Turnout {
        Turnout {
            first: workers,
            most: workers,
        }
    }

    /// Five, and up to `most` where they do not agree.
    pub fn until_known(most: NonZeroUsize) -> Turnout {
        Turnout {
            first: Self::FIRST.min(most),
            most,
        }
    }

    /// Five and no more, where there might be up to `most`.
    pub fn first_of(most: NonZeroUsize) -> Turnout {
        Turnout::exactly(Self::FIRST.min(most))
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
    pub fn at_most(self, limit: NonZeroUsize) -> Turnout {
        Turnout {
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
        let numbers = |turnout: Turnout| (turnout.first().get(), turnout.most().get());
        assert_eq!(numbers(Turnout::until_known(number(8))), (5, 8));
        assert_eq!(numbers(Turnout::until_known(number(3))), (3, 3));
        assert_eq!(numbers(Turnout::first_of(number(8))), (5, 5));
        assert_eq!(numbers(Turnout::first_of(number(3))), (3, 3));
        assert_eq!(numbers(Turnout::exactly(number(8))), (8, 8));
        assert_eq!(numbers(Turnout::until_known(number(8)).at_most(number(6))), (5, 6));
        assert_eq!(numbers(Turnout::exactly(number(8)).at_most(number(2))), (2, 2));
    }
}
