//! What of a comparison makes a command fail, and what a CI service shows as failed.

use gpubench_contract::{ChangeVerdict, ComparisonComplete, ComparisonRow};

/// What of a comparison makes a command fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    /// What a regression does.
    pub on_regression: OnRegression,
    /// What a benchmark does that could not be judged.
    pub on_inconclusive: OnInconclusive,
}

/// What the command makes of a regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRegression {
    /// It fails.
    #[default]
    Fail,
    /// `--no-fail-on-regression`: it shows it.
    Show,
}

/// `--fail-on-inconclusive`: what the command makes of benchmarks that are inconclusive, or could
/// not be compared. New and removed ones are neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnInconclusive {
    /// It is shown, with a warning where nothing was judged
    #[default]
    #[cfg_attr(feature = "clap", value(name = "never"))]
    Show,
    /// Where nothing was judged
    #[cfg_attr(feature = "clap", value(name = "all"))]
    FailForAll,
    /// Where something was not
    #[cfg_attr(feature = "clap", value(name = "any"))]
    FailForAny,
}

/// What a gate says of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateResult {
    /// Nothing speaks against it.
    Open,
    /// Too little could be judged.
    Inconclusive,
    /// A benchmark regressed.
    Regressed,
}

impl Gate {
    /// Whether a comparison passes. Benchmarks that now fail are no matter of a gate: they fail by
    /// themselves.
    pub fn passage(self, comparison: &ComparisonComplete) -> GateResult {
        if self.on_regression == OnRegression::Fail && comparison.has_regressed() {
            return GateResult::Regressed;
        }
        let too_little = match self.on_inconclusive {
            OnInconclusive::Show => false,
            OnInconclusive::FailForAll => comparison.undecided().is_some(),
            OnInconclusive::FailForAny => comparison.undecided().is_some() || comparison.has_undecided_benchmarks(),
        };
        match too_little {
            true => GateResult::Inconclusive,
            false => GateResult::Open,
        }
    }

    /// Whether a benchmark of a comparison is a reason for which the comparison does not pass.
    pub fn stops(self, row: &ComparisonRow, comparison: &ComparisonComplete) -> bool {
        match (row.verdict, self.on_inconclusive) {
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
    fn a_regression_stops_unless_it_is_only_to_be_shown() {
        let comparison = every_change();
        assert_eq!(Gate::default().passage(&comparison), GateResult::Regressed);
        assert_eq!(stopped(Gate::default(), &comparison), [ChangeVerdict::Regressed; 2]);
        assert_eq!(gate(OnInconclusive::Show).passage(&comparison), GateResult::Open);
        assert!(stopped(gate(OnInconclusive::Show), &comparison).is_empty());
    }

    #[test]
    fn one_undecided_benchmark_stops_only_where_any_is_asked_for() {
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
    fn a_comparison_that_decided_nothing_stops_where_that_is_asked_for() {
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
    fn what_was_not_decided_is_said_and_counted() {
        assert_eq!(every_change().undecided(), None);
        let said = on_another_device().undecided();
        assert_eq!(
            said.as_deref(),
            Some("no benchmark was judged against `main`: 3 not compared")
        );
        let mut nothing = on_another_device();
        nothing.rows.clear();
        let said = nothing.undecided();
        assert_eq!(
            said.as_deref(),
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
