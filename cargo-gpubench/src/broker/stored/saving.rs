//! `--save-baseline`: the name and destination of a run's results.

use std::collections::HashSet;

use crate::broker::cases::{CaseSelection, NameFilter, SelectedPart, full_names};
use crate::broker::choice::ChosenCases;
use crate::broker::options::Verbosity;
use crate::broker::status::{first_of, status};
use gpubench_contract::units::counted;
use gpubench_contract::{DeviceIdentity, ResultKey};
use gpubench_diagnostic::print_warning;
use gpubench_store::{Destination, Others, RunName, Saved, StoreError, StoredRun};

/// Number of cases that a warning names.
const NAMES_SHOWN: usize = 5;

/// Where to save results, which ones, and what to do with other results there.
#[derive(Debug)]
pub(crate) struct SavePlan {
    pub(crate) name: RunName,
    pub(crate) destination: Destination,
    /// The results that the run will have.
    pub(crate) results: HashSet<ResultKey>,
    pub(crate) others: Others,
}

/// Decides what to do with other results when a measured run is saved. They stay if only some
/// benchmarks were selected.
pub(crate) fn others_of_measured(selection: &CaseSelection, ours: &ChosenCases) -> Others {
    match selection.reach() {
        SelectedPart::Part => Others::Stay,
        SelectedPart::Everything => Others::GoWithTheirBenchmarks {
            packages: ours.packages.iter().cloned().collect(),
            left_out: full_names(&ours.left_out),
        },
    }
}

/// Decides what to do with other results when a loaded run is saved. A whole run replaces the
/// other, as a copy of its file would.
pub(crate) fn others_of_loaded(names: &NameFilter) -> Others {
    match names.is_everything() {
        true => Others::Go,
        false => Others::Stay,
    }
}

impl SavePlan {
    /// Checks that results of a device can be stored with the results that stay.
    ///
    /// # Errors
    /// The results that would stay are of another device.
    pub(crate) fn ensure_keepable(&self, device: &DeviceIdentity) -> Result<(), StoreError> {
        self.destination.ensure_keepable(device, &self.results, &self.others)
    }

    /// Saves a complete run.
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
            icounts,
        } = destination.save(stored.clone(), &self.others)?;
        if gone > 0 {
            let results = counted(gone, "result");
            print_warning(&format!(
                "removed {results} from `{name}`: this run does not have their cases or modes"
            ));
        }
        if !spared.is_empty() {
            print_warning(&format!(
                "`{name}` keeps the earlier results of cases that passed then and fail now: {}",
                first_of(&spared, NAMES_SHOWN)
            ));
        }
        if !lost.is_empty() {
            print_warning(&format!(
                "removed from `{name}` the passing results of cases that now fail: they were measured on another device or with other settings: {}",
                first_of(&lost, NAMES_SHOWN)
            ));
        }
        let path = destination.path();
        status(verbosity, "Saved", format_args!("`{name}` ({path})"));
        if let Some(table) = icounts {
            status(verbosity, "Saved", format_args!("instructions by function ({table})"));
        }
        if kept > 0 {
            let results = counted(kept, "result");
            let what = format_args!("{results} that this run did not measure, in `{name}`");
            status(verbosity, "Kept", what);
        }
        Ok(())
    }
}
