//! The history that a run is compared with, and added to.

use crate::broker::options::{HistoryOptions, ResultOptions, Verbosity};
use crate::broker::status::status;
use gpubench_contract::DeviceIdentity;
use gpubench_diagnostic::print_warning;
use gpubench_store::history::{self, History, HistoryEntry, Tail};
use gpubench_store::{Home, StoreError, StoredRun};

impl HistoryOptions {
    /// The options with the folder found. A run that was measured before is in its history already,
    /// if it should be.
    ///
    /// # Errors
    /// The run is to be recorded, no folder is named, and there is no target directory.
    pub(crate) fn settled(options: &ResultOptions, home: &Home) -> Result<HistoryOptions, StoreError> {
        let HistoryOptions { is_recorded, folder } = &options.history;
        let folder = folder.clone().or_else(|| home.histories());
        if folder.is_none() && *is_recorded {
            return Err(StoreError::no_history_folder());
        }
        Ok(HistoryOptions {
            is_recorded: *is_recorded && options.loaded.is_none(),
            folder,
        })
    }

    /// Reads the history of a device, and makes sure that the run can be added to it.
    ///
    /// # Errors
    /// It is damaged, of a later tool, no history, or cannot be written.
    pub(crate) fn of_device(&self, device: &DeviceIdentity) -> Result<Option<History>, StoreError> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let past = history::of_device(folder, device)?;
        if self.is_recorded {
            history::ensure_writable(folder, device)?;
        }
        Ok(past)
    }

    /// Adds a run, where it is to be recorded.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn record(&self, stored: &StoredRun, verbosity: Verbosity) -> Result<(), StoreError> {
        let (true, Some(folder)) = (self.is_recorded, &self.folder) else {
            return Ok(());
        };
        let appended = history::append(folder, &DeviceIdentity::of(&stored.run), &HistoryEntry::of(stored))?;
        let path = &appended.path;
        if appended.tail == Tail::Unfinished {
            print_warning(&format!(
                "the last line of the history `{path}` was unfinished and has been cut off"
            ));
        }
        let run = &stored.run.run_id;
        status(verbosity, "Recorded", format_args!("run {run} ({path})"));
        Ok(())
    }
}
