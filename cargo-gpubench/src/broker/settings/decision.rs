//! The decision that the rounds of alternating cases must reach, and whether they have.

use gpubench_measure::measurement::StoppingQuery;
use gpubench_stats::{Confidence, InterimAnalyses, PairTable};
use gpubench_store::compare::{Threshold, is_decided};

/// The decision that the rounds of alternating cases must reach, for each pair of them.
#[derive(Clone, Copy, Debug)]
pub struct DecisionRule {
    /// The interim analyses.
    pub analyses: InterimAnalyses,
    /// The confidence of all decisions together.
    pub confidence: Confidence,
    /// What counts as a change.
    pub threshold: Threshold,
    /// Resolution of the samples, for example of the device's clock, in their unit.
    pub step: f64,
}

impl StoppingQuery for DecisionRule {
    /// More rounds do not help arms that cannot be compared in pairs.
    fn next(&self, rounds: usize, arms: &[Vec<&[f64]>]) -> Option<usize> {
        let next = self.analyses.next(rounds)?;
        let ratios = PairTable::new(arms, self.step)?.ratios(self.analyses.confidence(self.confidence));
        let mut undecided = ratios.iter().filter(|ratio| !is_decided(ratio, self.threshold));
        undecided.next().map(|_| next)
    }

    fn most(&self, first: usize) -> usize {
        let analyses = std::iter::successors(Some(first), |rounds| self.analyses.next(*rounds));
        analyses.last().unwrap_or(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::ThresholdSource;
    use gpubench_store::compare::Rules;

    const QUESTION: DecisionRule = DecisionRule {
        analyses: InterimAnalyses::UntilDecided,
        confidence: Confidence::DEFAULT,
        threshold: Threshold {
            value: Rules::FLOOR,
            source: ThresholdSource::Floor,
        },
        step: 0.0,
    };

    /// Returns rounds whose ratios are these percentages.
    fn asked(question: &DecisionRule, per_cent: &[f64]) -> Option<usize> {
        let before = vec![vec![100.0; 6]; per_cent.len()];
        let after: Vec<Vec<f64>> = per_cent.iter().map(|change| vec![100.0 + change; 6]).collect();
        let arms = [&before, &after].map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
        question.next(per_cent.len(), &arms)
    }

    #[test]
    fn a_clear_change_ends_the_rounds_and_a_noisy_one_continues_to_the_last_analysis() {
        assert_eq!(asked(&QUESTION, &[3.0, 3.1, 2.9, 3.0, 3.0]), None);
        assert_eq!(asked(&QUESTION, &[0.0, 0.1, -0.1, 0.0, 0.0]), None);
        let spread = [3.0, 9.0, -6.0, 5.0, 1.0];
        assert_eq!(asked(&QUESTION, &spread), Some(10));
        assert_eq!(asked(&QUESTION, &spread.repeat(2)), Some(20));
        assert_eq!(asked(&QUESTION, &spread.repeat(4)), None);
    }

    #[test]
    fn the_requested_number_of_rounds_is_never_exceeded() {
        let once = DecisionRule {
            analyses: InterimAnalyses::Once,
            ..QUESTION
        };
        assert_eq!(asked(&once, &[3.0, 9.0, -6.0, 5.0, 1.0]), None);
    }

    #[test]
    fn sides_that_cannot_be_paired_stop() {
        let (one, two): (Vec<&[f64]>, Vec<&[f64]>) = (vec![&[1.0]; 5], vec![&[1.0]; 4]);
        assert_eq!(QUESTION.next(5, &[one.clone(), two]), None);
        assert_eq!(QUESTION.next(5, &[one]), None, "one arm is left");
    }
}
