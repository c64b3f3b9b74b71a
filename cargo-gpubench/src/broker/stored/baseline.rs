//! What a run's results are compared with.

use std::collections::HashSet;

use super::stored_cases::{case_of, chosen};
use super::stored_run::load_run;
use crate::broker::BaselineError;
use crate::broker::cases::{Disposition, NameFilter, full_names};
use crate::broker::choice::ChosenCases;
use crate::broker::options::{BaselineOptions, NewBenchmarks};
use gpubench_contract::BenchmarkComplete;
use gpubench_store::{Home, StoreError, StoredRun};

/// A stored run that results are compared with.
#[derive(Debug)]
pub(crate) struct Baseline {
    pub(crate) asked: BaselineOptions,
    pub(crate) run: StoredRun,
}

impl Baseline {
    /// Reads it.
    ///
    /// # Errors
    /// There is none, or it is refused.
    pub(crate) fn load(options: &BaselineOptions, home: &Home) -> Result<Baseline, StoreError> {
        Ok(Baseline {
            asked: options.clone(),
            run: load_run(&options.name, home)?,
        })
    }

    /// Leaves out what the run leaves out, by name or otherwise: that was not removed.
    ///
    /// # Errors
    /// It lacks what is to be measured, and that is refused.
    pub(crate) fn fitted(self, names: &NameFilter, ours: &ChosenCases) -> Result<Baseline, BaselineError> {
        let Baseline { asked, mut run } = self;
        let stored: HashSet<String> = run.results.iter().map(case_name).collect();
        let to_run = ours.cases.iter().filter(|case| case.disposition == Disposition::Run);
        let lacking: Vec<String> = to_run
            .filter(|case| !stored.contains(&case.full_name()))
            .map(|case| case.name_as(ours.naming()))
            .collect();
        if !lacking.is_empty() && asked.newcomers == NewBenchmarks::Refused {
            return Err(BaselineError::Lacks {
                baseline: asked.name.to_string(),
                lacking,
                of: ours.cases.len(),
            });
        }
        let (selected, left_out) = (full_names(&ours.cases), full_names(&ours.left_out));
        let results = std::mem::take(&mut run.results).into_iter();
        let (shared, mut others): (Vec<_>, Vec<_>) = results.partition(|result| selected.contains(&case_name(result)));
        others.retain(|result| ours.packages.contains(&result.package) && !left_out.contains(&case_name(result)));
        run.results = [shared, chosen(others, names, ours.naming())].concat();
        Ok(Baseline { asked, run })
    }
}

/// The name of a result's case as [`Case::full_name`] has it.
fn case_name(result: &BenchmarkComplete) -> String {
    case_of(result).full_name()
}
