//! The history that a run is compared with and added to.

use crate::broker::options::{HistoryOptions, ResultOptions, Verbosity};
use crate::broker::status::status;
use gpubench_contract::DeviceIdentity;
use gpubench_diagnostic::print_warning;
use gpubench_store::history::{self, History, HistoryEntry, Tail};
use gpubench_store::{Home, StoreError, StoredRun};

impl HistoryOptions {
    /// Resolves the folder. A loaded run is never added: it was measured earlier.
    ///
    /// # Errors
    /// The run is to be recorded, but there is neither a named folder nor a target directory.
    pub(crate) fn resolved(options: &ResultOptions, home: &Home) -> Result<HistoryOptions, StoreError> {
        let HistoryOptions { is_recorded, folder } = &options.history;
        let folder = folder.clone().or_else(|| home.histories());
        if folder.is_none() && *is_recorded {
            return Err(StoreError::no_history_folder());
        }
        Ok(HistoryOptions {
            is_recorded: *is_recorded && options.loaded.is_empty(),
            folder,
        })
    }

    /// Reads the history of a device. Checks that the run can be added to it.
    ///
    /// # Errors
    /// The history is damaged, of a later version, not a history, or not writable.
    pub(crate) fn of_device(&self, device: &DeviceIdentity) -> Result<Option<History>, StoreError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let past = history::of_device(folder, device)?;
        if self.is_recorded {
            history::ensure_writable(folder, device)?;
        }
        Ok(past)
    }

    /// Adds a run, if the options ask for it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn record(&self, stored: &StoredRun, verbosity: Verbosity) -> Result<(), StoreError> {
        let (true, Some(folder)) = (self.is_recorded, &self.folder) else {
            return Ok(());
        };
        let appended = history::append(
            folder,
            &DeviceIdentity::from_run(&stored.run),
            &HistoryEntry::from_run(stored),
        )?;
        let path = &appended.path;
        if appended.tail == Tail::Unfinished {
            print_warning(&format!("removed the incomplete last line of the history `{path}`"));
        }
        let run = &stored.run.run_id;
        status(verbosity, "Recorded", format_args!("run {run} ({path})"));
        Ok(())
    }
}
