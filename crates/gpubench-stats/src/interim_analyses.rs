//! Interim analyses of alternating comparisons.

use std::num::NonZeroUsize;

use super::Confidence;

/// When an alternating comparison is analyzed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InterimAnalyses {
    /// Once, after the requested number of rounds.
    #[default]
    Once,
    /// After each number of rounds in [`InterimAnalyses::ROUNDS`]. The comparison continues until
    /// an analysis decides it or the rounds are used up.
    UntilDecided,
}

impl InterimAnalyses {
    /// The numbers of rounds after which a comparison that may continue is analyzed. Each analysis
    /// knows the ratio √2 times as well as the one before.
    pub const ROUNDS: [usize; 3] = [5, 10, 20];

    /// Returns the confidence of a single analysis, such that all of them together have the
    /// confidence `all`. By the Bonferroni inequality, each gets an equal part of the probability
    /// of a false alarm. The intervals of all analyses then hold at once: they are repeated
    /// confidence intervals (C. Jennison and B. W. Turnbull, "Interim Analyses: The Repeated
    /// Confidence Interval Approach", Journal of the Royal Statistical Society B 51 (1989)).
    pub fn confidence(self, all: Confidence) -> Confidence {
        all.of_each(self.most())
    }

    /// Returns the largest number of analyses.
    pub fn most(self) -> usize {
        match self {
            InterimAnalyses::Once => 1,
            InterimAnalyses::UntilDecided => Self::ROUNDS.len(),
        }
    }

    /// Returns the number of rounds before the first analysis. `workers` is the number of workers
    /// that a case without a comparison has.
    pub fn first(self, workers: NonZeroUsize) -> NonZeroUsize {
        match self {
            InterimAnalyses::Once => workers,
            InterimAnalyses::UntilDecided => NonZeroUsize::new(Self::ROUNDS[0]).unwrap_or(workers),
        }
    }

    /// Returns the number of rounds before the analysis that follows the one after `rounds`. `None`
    /// if that was the last.
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
    fn analyses_share_the_probability_of_a_false_alarm() {
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
    fn rounds_double_up_to_the_last_analysis() {
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
