//! Histories: the values of many runs on one device. They show trends, and how much values vary
//! without a change.
//!
//! A folder has one file of JSON lines for each
//! [`DeviceIdentity`](gpubench_contract::DeviceIdentity): a head, then one entry per run, oldest
//! first. Writers take a lock on a file next to it. If a writer is killed, the next one cuts off
//! its unfinished line.

mod append;
mod entry;
mod file;
mod series;

#[cfg(test)]
mod tests;

pub use append::{Appended, append, ensure_writable};
pub use entry::{HistoryCase, HistoryEntry};
pub use file::{HISTORY_FORMAT, HISTORY_FORMAT_VERSION, History, HistoryHead, Tail, all, of_device};
pub use series::{Series, SeriesRun, changes};

/// Maximum number of runs in a history. The oldest are dropped.
pub const MOST_RUNS: usize = 500;
