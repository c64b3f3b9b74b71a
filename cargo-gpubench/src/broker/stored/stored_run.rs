//! Loading of stored runs for commands that compare or report them.

use gpubench_diagnostic::print_warning;
use gpubench_store::{Home, RunName, StoreError, StoredRun, load, load_to_compare};

/// Reads a named run. Warns if it is incomplete: missing benchmarks would look new or removed.
///
/// # Errors
/// It does not exist, or cannot be used.
pub(crate) fn load_run(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    load(name, home).map(|run| warned(name, run))
}

/// Reads a named run like [`load_run`], or a file of NVBench, to compare another run with it.
///
/// # Errors
/// It does not exist, or cannot be used.
pub(crate) fn load_baseline(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    load_to_compare(name, home).map(|run| warned(name, run))
}

fn warned(name: &RunName, run: StoredRun) -> StoredRun {
    if !run.is_complete() {
        print_warning(&format!("the run in `{name}` is incomplete; benchmarks may be missing"));
    }
    run
}
