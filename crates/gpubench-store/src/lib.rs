//! Stored runs: baselines, histories and comparisons.
//!
//! [`load`] finds a run by the name of a baseline or a file, and rejects files that are damaged or
//! edited. [`load_to_compare`] also takes files of NVBench. [`merge`](merge()) makes one run of
//! several. [`save`] replaces a whole file atomically. [`history`] stores the values of many runs
//! on one device.
#![forbid(unsafe_code)]

pub mod compare;
mod contest;
mod contradiction;
mod error;
mod grading;
pub mod history;
mod home;
mod icounts;
mod inside;
mod json_lines;
mod last_run;
mod layout;
mod listing;
mod lock;
mod measured_reference;
mod merge;
mod name;
mod nvbench;
mod read;
mod records_file;
mod replacement;
mod stored_run;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod write;

#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;

pub use contest::contests;
pub use contradiction::Contradiction;
pub use error::StoreError;
pub use grading::graded;
pub use home::Home;
pub use inside::{ensure_inside, is_inside};
pub use last_run::{keep_last_run, last_run};
pub use listing::Listing;
pub use lock::{Holder, LockError, lock_within};
pub use measured_reference::measured_reference;
pub use merge::{Lack, Lacking, MergeError, Merged, Part, merge};
pub use name::{BaselineName, NotABaselineName, RunName};
pub use nvbench::{CaseNames, adopt_nvbench};
pub use read::{load, load_to_compare, read};
pub use records_file::RecordsFile;
pub use replacement::Replacement;
pub use stored_run::{FORMAT, FORMAT_VERSION, StoredRun};
pub use write::{Destination, Replaced, Saved, save};
