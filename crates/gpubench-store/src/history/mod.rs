//! The figures of many runs on one device: what its figures vary by when nothing changed, and how
//! they went.
//!
//! A folder has a file of JSON lines for each
//! [`DeviceIdentity`](gpubench_contract::DeviceIdentity): a head, then an entry a run, oldest
//! first. Writers take turns by a lock beside the file; what a killed one left unfinished is cut
//! off by the next.

mod append;
mod entry;
mod file;

#[cfg(test)]
mod tests;

pub use append::{Appended, append, ensure_writable};
pub use entry::{HistoryCase, HistoryEntry};
pub use file::{HISTORY_FORMAT, HISTORY_FORMAT_VERSION, History, HistoryHead, Tail, all, of_device};

/// How many runs a history keeps: the oldest are dropped.
pub const MOST_RUNS: usize = 500;
