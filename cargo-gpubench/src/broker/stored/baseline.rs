//! The stored run that results are compared with.

use super::stored_cases::{case_of, chosen};
use super::stored_run::load_baseline;
use crate::broker::BaselineError;
use crate::broker::cases::{Case, Disposition, NameFilter, full_names};
use crate::broker::choice::chosen::ChosenCases;
use crate::broker::options::{BaselineOptions, NewBenchmarks};
use gpubench_contract::{BenchmarkComplete, ResultKeys};
use gpubench_store::{CaseNames, Home, StoreError, StoredRun, adopt_nvbench};

/// A stored run that results are compared with.
#[derive(Debug)]
pub(crate) struct Baseline {
    pub(crate) asked: BaselineOptions,
    pub(crate) run: StoredRun,
}

impl Baseline {
    /// Reads the stored run.
    ///
    /// # Errors
    /// It does not exist, or cannot be used.
    pub(crate) fn load(options: &BaselineOptions, home: &Home) -> Result<Baseline, StoreError> {
        Ok(Baseline {
            asked: options.clone(),
            run: load_baseline(&options.name, home)?,
        })
    }

    /// Drops the results of cases and modes that the run does not select. Otherwise they would look
    /// removed.
    ///
    /// # Errors
    /// The baseline lacks a selected case or one of its modes, and the options do not allow that.
    pub(crate) fn fitted(self, names: &NameFilter, ours: &ChosenCases) -> Result<Baseline, BaselineError> {
        let Baseline { asked, mut run } = self;
        let cases = ours.cases.iter().chain(&ours.left_out);
        // The comparison names what fits several cases.
        let _ = adopt_nvbench(&mut run, cases.map(names_of));
        let stored: ResultKeys = run.results.iter().map(BenchmarkComplete::key).collect();
        let planned: ResultKeys = ours.cases.iter().flat_map(Case::result_keys).collect();
        let to_run = ours.cases.iter().filter(|case| case.disposition == Disposition::Run);
        let lacking: Vec<String> = to_run
            .flat_map(|case| case.result_keys().map(move |key| (case, key)))
            .filter(|(_, key)| planned.counterpart(key, &stored).is_none())
            .map(|(case, key)| key.reading.label(&case.name_as(ours.naming())))
            .collect();
        if !lacking.is_empty() && asked.newcomers == NewBenchmarks::Refused {
            return Err(BaselineError::Lacks {
                baseline: asked.name.to_string(),
                lacking,
                of: ours.results(),
            });
        }
        let (selected, left_out) = (full_names(&ours.cases), full_names(&ours.left_out));
        let results = std::mem::take(&mut run.results).into_iter();
        let (mut shared, mut others): (Vec<_>, Vec<_>) =
            results.partition(|result| selected.contains(&case_name(result)));
        shared.retain(|result| stored.counterpart(&result.key(), &planned).is_some());
        others.retain(|result| ours.packages.contains(&result.package) && !left_out.contains(&case_name(result)));
        run.results = [shared, chosen(others, names, ours.naming())].concat();
        Ok(Baseline { asked, run })
    }
}

fn names_of(case: &Case) -> CaseNames {
    CaseNames {
        package: case.package.clone(),
        benchmark: case.path.clone(),
        params: case.params_in_record(),
    }
}

/// Returns the name of a result's case in the form of [`Case::full_name`].
fn case_name(result: &BenchmarkComplete) -> String {
    case_of(result).full_name()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::Mode;
    use gpubench_testing::on_gpu;

    #[test]
    fn results_of_modes_that_a_run_does_not_measure_are_dropped() {
        let run = on_gpu();
        let cold = run.results[0].clone();
        let warm = BenchmarkComplete {
            mode: Mode::Warm,
            ..cold.clone()
        };
        let ours = ChosenCases {
            packages: vec![cold.package.clone()],
            cases: vec![case_of(&cold)],
            left_out: Vec::new(),
        };
        let baseline = Baseline {
            asked: BaselineOptions {
                name: "main".parse().unwrap(),
                newcomers: NewBenchmarks::Refused,
            },
            run: StoredRun::new(run.started, vec![cold.clone(), warm], Some(run.finished), None),
        };
        let fitted = baseline.fitted(&NameFilter::default(), &ours).unwrap();
        assert_eq!(fitted.run.results, [cold]);
    }
}
