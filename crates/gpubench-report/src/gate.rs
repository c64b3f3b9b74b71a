//! The gate: which results of a comparison make a command fail, and which CI services show as
//! failed.

use gpubench_contract::{ChangeVerdict, ComparisonComplete, ComparisonRow};

/// The conditions under which a comparison makes a command fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// Effect of a regression.
    pub on_regression: OnRegression,
    /// Effect of a benchmark that was not judged.
    pub on_inconclusive: OnInconclusive,
}

/// The effect of a regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRegression {
    /// The command fails.
    #[default]
    Fail,
    /// `--no-fail-on-regression`: the command only shows it.
    Show,
}

/// `--fail-on-inconclusive`: the effect of benchmarks that are inconclusive or not compared. New
/// and removed benchmarks do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnInconclusive {
    /// Show them, with a warning if nothing was judged
    #[default]
    #[cfg_attr(feature = "clap", value(name = "never"))]
    Show,
    /// Fail if nothing was judged
    #[cfg_attr(feature = "clap", value(name = "all"))]
    FailForAll,
    /// Fail if any benchmark was not judged
    #[cfg_attr(feature = "clap", value(name = "any"))]
    FailForAny,
}

/// The gate's decision on a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateResult {
    /// The comparison passes.
    Open,
    /// Too few benchmarks were judged.
    Inconclusive,
    /// A benchmark regressed.
    Regressed,
    /// A side of an alternating run failed, so the change of a benchmark is not known.
    SideFailed,
}

impl Gate {
    /// Decides on a comparison. Benchmarks that now fail do not count: their own verdict fails the
    /// command. In an alternating run, a baseline that fails counts like a regression, which it
    /// could hide.
    pub fn passage(self, comparison: &ComparisonComplete) -> GateResult {
        if self.on_regression == OnRegression::Fail {
            if comparison.rows_with_failed_side().next().is_some() {
                return GateResult::SideFailed;
            }
            if comparison.has_regressed() {
                return GateResult::Regressed;
            }
        }
        let too_little = match self.on_inconclusive {
            OnInconclusive::Show => false,
            OnInconclusive::FailForAll => comparison.undecided().is_some(),
            OnInconclusive::FailForAny => comparison.undecided().is_some() || comparison.has_undecided_benchmarks(),
        };
        if too_little {
            GateResult::Inconclusive
        } else {
            GateResult::Open
        }
    }

    /// Returns whether this benchmark is a reason for the comparison not to pass.
    pub fn stops(self, row: &ComparisonRow, comparison: &ComparisonComplete) -> bool {
        match (row.verdict, self.on_inconclusive) {
            _ if comparison.has_failed_side(row) && self.on_regression == OnRegression::Fail => true,
            (ChangeVerdict::Regressed, _) => self.on_regression == OnRegression::Fail,
            (verdict, _) if verdict.is_decided() => false,
            (_, OnInconclusive::Show) => false,
            (_, OnInconclusive::FailForAll) => comparison.undecided().is_some(),
            (_, OnInconclusive::FailForAny) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{Arrangement, Verdict};
    use gpubench_testing::{every_change, on_another_device};

    fn gate(on_inconclusive: OnInconclusive) -> Gate {
        Gate {
            on_regression: OnRegression::Show,
            on_inconclusive,
        }
    }

    fn stopped(gate: Gate, comparison: &ComparisonComplete) -> Vec<ChangeVerdict> {
        let rows = comparison.rows.iter().filter(|row| gate.stops(row, comparison));
        rows.map(|row| row.verdict).collect()
    }

    #[test]
    fn a_regression_stops_unless_the_option_only_shows_it() {
        let comparison = every_change();
        assert_eq!(Gate::default().passage(&comparison), GateResult::Regressed);
        assert_eq!(stopped(Gate::default(), &comparison), [ChangeVerdict::Regressed; 2]);
        assert_eq!(gate(OnInconclusive::Show).passage(&comparison), GateResult::Open);
        assert!(stopped(gate(OnInconclusive::Show), &comparison).is_empty());
    }

    #[test]
    fn a_side_that_failed_in_alternation_stops_unless_the_option_only_shows_it() {
        let mut comparison = every_change();
        comparison.arrangement = Arrangement::Interleaved;
        let row = &mut comparison.rows[0];
        row.verdict = ChangeVerdict::NotCompared;
        row.baseline.verdict = Verdict::WrongOutput;
        assert_eq!(Gate::default().passage(&comparison), GateResult::SideFailed);
        assert!(Gate::default().stops(&comparison.rows[0], &comparison));
        assert_eq!(gate(OnInconclusive::Show).passage(&comparison), GateResult::Open);
        comparison.rows[0].baseline.verdict = Verdict::Pass;
        comparison.rows[0].candidate.failed_alternating = Some(Verdict::Timeout);
        assert_eq!(Gate::default().passage(&comparison), GateResult::SideFailed);
        // What was stored before cannot have failed because of the candidate.
        comparison.arrangement = Arrangement::Apart;
        assert_eq!(Gate::default().passage(&comparison), GateResult::Regressed);
    }

    #[test]
    fn one_undecided_benchmark_stops_only_with_any() {
        let comparison = every_change();
        assert_eq!(gate(OnInconclusive::FailForAll).passage(&comparison), GateResult::Open);
        assert!(stopped(gate(OnInconclusive::FailForAll), &comparison).is_empty());
        let any = gate(OnInconclusive::FailForAny);
        assert_eq!(any.passage(&comparison), GateResult::Inconclusive);
        assert_eq!(
            stopped(any, &comparison),
            [ChangeVerdict::Inconclusive, ChangeVerdict::NotCompared]
        );
    }

    #[test]
    fn a_comparison_without_decisions_stops_if_the_option_is_set() {
        let all = gate(OnInconclusive::FailForAll);
        let comparison = on_another_device();
        assert_eq!(all.passage(&comparison), GateResult::Inconclusive);
        assert_eq!(stopped(all, &comparison), [ChangeVerdict::NotCompared; 3]);
        assert_eq!(Gate::default().passage(&comparison), GateResult::Open);
        let mut only_new = comparison;
        only_new.rows.clear();
        only_new.new = vec!["axpy".to_owned()];
        assert_eq!(all.passage(&only_new), GateResult::Inconclusive);
        assert_eq!(
            gate(OnInconclusive::FailForAny).passage(&only_new),
            GateResult::Inconclusive
        );
    }

    #[test]
    fn undecided_benchmarks_are_shown_and_counted() {
        assert_eq!(every_change().undecided(), None);
        let reason = on_another_device().undecided();
        assert_eq!(
            reason.as_deref(),
            Some("no benchmark was judged against `main`: 3 not compared")
        );
        let mut nothing = on_another_device();
        nothing.rows.clear();
        let reason = nothing.undecided();
        assert_eq!(
            reason.as_deref(),
            Some("no benchmark was judged against `main`: neither run measured one")
        );
    }

    #[test]
    fn benchmarks_that_are_not_shown_count_as_decided() {
        let mut comparison = every_change();
        comparison.keep_changes_of(100.0);
        comparison.rows.retain(|row| !row.verdict.is_decided());
        assert_eq!(comparison.undecided(), None);
    }
}
