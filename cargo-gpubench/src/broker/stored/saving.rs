//! `--save-baseline`: the name and destination of a run's results.

use std::collections::HashSet;

use crate::broker::cases::{CaseSelection, NameFilter, SelectedPart};
use crate::broker::choice::chosen::ChosenCases;
use crate::broker::options::Verbosity;
use crate::broker::status::{first_of, status};
use gpubench_contract::ResultKey;
use gpubench_contract::units::counted;
use gpubench_diagnostic::print_warning;
use gpubench_store::{Destination, Replaced, RunName, Saved, StoreError, StoredRun};

/// Number of cases that a warning names.
const NAMES_SHOWN: usize = 5;

/// Where to save results, which ones, and which other results there they replace.
#[derive(Debug)]
pub(crate) struct SavePlan {
    pub(crate) name: RunName,
    pub(crate) destination: Destination,
    /// The results that the run will have.
    pub(crate) results: HashSet<ResultKey>,
    pub(crate) replaced: Replaced,
}

/// Decides which results a measured run replaces that it does not have.
pub(crate) fn replaced_by_measured(selection: &CaseSelection, ours: &ChosenCases) -> Replaced {
    match selection.reach() {
        SelectedPart::Part => Replaced::None,
        SelectedPart::Everything => Replaced::OfPackages(ours.packages.iter().cloned().collect()),
    }
}

/// Decides the same for a loaded run. A whole run replaces the other, as a copy of its file would.
pub(crate) fn replaced_by_loaded(names: &NameFilter) -> Replaced {
    if names.is_everything() {
        Replaced::All
    } else {
        Replaced::None
    }
}

impl SavePlan {
    /// Checks that no results are lost when the run is saved.
    ///
    /// # Errors
    /// Some would be, or the existing run cannot be read.
    pub(crate) fn ensure_nothing_is_lost(&self) -> Result<(), StoreError> {
        self.destination.ensure_nothing_is_lost(&self.results, &self.replaced)
    }

    /// Saves a complete run, unless that would lose the good results of cases that fail now.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn save(&self, stored: &StoredRun, verbosity: Verbosity) -> Result<(), StoreError> {
        let SavePlan { name, destination, .. } = self;
        let Saved { gone, icounts } = match destination.save(stored, &self.replaced) {
            Ok(saved) => saved,
            Err(StoreError::FailsNow { cases, .. }) => {
                print_warning(&format!(
                    "`{name}` is not replaced, because it has the good results of cases that fail now: {} (hint: to store the \
                     failures too, save under another name)",
                    first_of(&cases, NAMES_SHOWN)
                ));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if gone > 0 {
            let results = counted(gone, "result");
            print_warning(&format!(
                "removed {results} from `{name}`: this run does not have their cases or modes"
            ));
        }
        let path = destination.path();
        let place = match name {
            RunName::Baseline(name) => format!("`{name}` ({path})"),
            RunName::File(_) => format!("`{path}`"),
        };
        let table = icounts.map(|table| format!(", instructions by function in `{table}`"));
        status(verbosity, "Saved", format_args!("{place}{}", table.unwrap_or_default()));
        Ok(())
    }
}
