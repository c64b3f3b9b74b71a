//! `--save-baseline`: what a run's results are saved as.

use std::collections::HashSet;

use crate::broker::cases::{CaseSelection, NameFilter, SelectedPart, full_names};
use crate::broker::choice::ChosenCases;
use crate::broker::options::Verbosity;
use crate::broker::status::{first_of, status};
use gpubench_contract::DeviceIdentity;
use gpubench_contract::units::counted;
use gpubench_diagnostic::print_warning;
use gpubench_store::{Destination, Others, RunName, Saved, StoreError, StoredRun};

/// Names of cases that a warning has.
const NAMES_SHOWN: usize = 5;

/// Where results are saved, which ones, and what becomes of the others that are there.
#[derive(Debug)]
pub(crate) struct SavePlan {
    pub(crate) name: RunName,
    pub(crate) destination: Destination,
    /// Full names of the cases that it gets results of.
    pub(crate) cases: HashSet<String>,
    pub(crate) others: Others,
}

/// What becomes of other results where a measured run is saved: they stay where only a part was
/// selected.
pub(crate) fn others_of_measured(selection: &CaseSelection, ours: &ChosenCases) -> Others {
    match selection.reach() {
        SelectedPart::Part => Others::Stay,
        SelectedPart::Everything => Others::GoWithTheirBenchmarks {
            packages: ours.packages.iter().cloned().collect(),
            left_out: full_names(&ours.left_out),
        },
    }
}

/// The same where a run is saved that was measured before. All of it takes the place of another, as
/// a copy of its file would.
pub(crate) fn others_of_loaded(names: &NameFilter) -> Others {
    match names.is_everything() {
        true => Others::Go,
        false => Others::Stay,
    }
}

impl SavePlan {
    /// Makes sure that results of a device can be beside those that stay.
    ///
    /// # Errors
    /// What would stay is of another device.
    pub(crate) fn ensure_keepable(&self, device: &DeviceIdentity) -> Result<(), StoreError> {
        self.destination.ensure_keepable(device, &self.cases, &self.others)
    }

    /// Saves a run that came to its end.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn save(&self, stored: &StoredRun, verbosity: Verbosity) -> Result<(), StoreError> {
        let SavePlan { name, destination, .. } = self;
        let Saved {
            kept,
            gone,
            spared,
            lost,
        } = destination.save(stored.clone(), &self.others)?;
        if gone > 0 {
            let results = counted(gone, "result");
            print_warning(&format!(
                "`{name}` had {results} of benchmarks that this run does not have any more: they are no longer in it"
            ));
        }
        if !spared.is_empty() {
            print_warning(&format!(
                "`{name}` keeps the earlier results of what passed in it and failed now: {}",
                first_of(&spared, NAMES_SHOWN)
            ));
        }
        if !lost.is_empty() {
            print_warning(&format!(
                "`{name}` had good results, measured otherwise than this run, of what failed now: {}; they are no longer in it",
                first_of(&lost, NAMES_SHOWN)
            ));
        }
        let path = destination.path();
        status(verbosity, "Saved", format_args!("`{name}` ({path})"));
        if kept > 0 {
            let results = counted(kept, "result");
            let what = format_args!("{results} in `{name}` of benchmarks that this run did not measure");
            status(verbosity, "Kept", what);
        }
        Ok(())
    }
}
