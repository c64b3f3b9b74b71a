//! Loading of stored runs for commands that compare or report them.

use gpubench_diagnostic::print_warning;
use gpubench_store::{Home, RunName, StoreError, StoredRun, load};

/// Reads a named run. Warns if it is incomplete: missing benchmarks would look new or removed.
///
/// # Errors
/// It does not exist, or cannot be used.
pub(crate) fn load_run(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    let run = load(name, home)?;
    if !run.is_complete() {
        print_warning(&format!("the run in `{name}` is incomplete; benchmarks may be missing"));
    }
    Ok(run)
}
