//! How often a comparison in turns looks at its rounds, and how sure each look must be.

use std::num::NonZeroUsize;

use super::Confidence;

/// How many rounds a comparison in turns has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterimAnalyses {
    /// As many as were asked for: it is looked at once, behind the last of them.
    #[default]
    Once,
    /// As many as it takes to decide, up to a limit: it is looked at behind each number of
    /// [`InterimAnalyses::ROUNDS`], and goes on where that has not decided.
    UntilDecided,
}

impl InterimAnalyses {
    /// Rounds behind which a comparison that may go on is looked at: each look knows the ratio √2
    /// times as well as the one before.
    pub const ROUNDS: [usize; 3] = [5, 10, 20];

    /// How sure a single look must be, for all of them together to be as sure as `all`. Each has
    /// the same part of the probability of a false alarm, by the inequality of Bonferroni, so the
    /// intervals of all looks hold at once: repeated confidence intervals (C. Jennison and B. W.
    /// Turnbull, "Interim Analyses: The Repeated Confidence Interval Approach", Journal of the
    /// Royal Statistical Society B 51 (1989)).
    pub fn confidence(self, all: Confidence) -> Confidence {
        let analyses = match self {
            InterimAnalyses::Once => 1.0,
            InterimAnalyses::UntilDecided => Self::ROUNDS.len() as f64,
        };
        Confidence::new(1.0 - (1.0 - all.fraction()) / analyses).unwrap_or(all)
    }

    /// How many rounds there are before the first look, where a case on its own would have so many
    /// workers.
    pub fn first(self, workers: NonZeroUsize) -> NonZeroUsize {
        match self {
            InterimAnalyses::Once => workers,
            InterimAnalyses::UntilDecided => NonZeroUsize::new(Self::ROUNDS[0]).unwrap_or(workers),
        }
    }

    /// How many rounds there are before the next look, behind so many.
    pub fn next(self, rounds: usize) -> Option<usize> {
        match self {
            InterimAnalyses::Once => None,
            InterimAnalyses::UntilDecided => Self::ROUNDS.into_iter().find(|next| *next > rounds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_share_the_probability_of_a_false_alarm() {
        let each = InterimAnalyses::UntilDecided.confidence(Confidence::DEFAULT).fraction();
        assert!((1.0 - each - 0.01 / 3.0).abs() < 1e-12, "{each}");
        assert_eq!(
            InterimAnalyses::Once.confidence(Confidence::DEFAULT),
            Confidence::DEFAULT
        );
    }

    #[test]
    fn a_confidence_next_to_certainty_stays_one() {
        let all = Confidence::new(1.0 - f64::EPSILON / 2.0).unwrap();
        assert!(InterimAnalyses::UntilDecided.confidence(all).fraction() < 1.0);
    }

    #[test]
    fn rounds_double_up_to_the_last_look() {
        let next: Vec<_> = [0, 5, 10, 20]
            .map(|rounds| InterimAnalyses::UntilDecided.next(rounds))
            .into();
        assert_eq!(next, [Some(5), Some(10), Some(20), None]);
        assert_eq!(InterimAnalyses::Once.next(5), None);
        let workers = NonZeroUsize::new(8).unwrap();
        assert_eq!(
            [InterimAnalyses::Once, InterimAnalyses::UntilDecided].map(|analyses| analyses.first(workers).get()),
            [8, 5]
        );
    }
}
