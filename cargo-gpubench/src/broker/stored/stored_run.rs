//! Stored runs, as commands read them that compare or report them.

use gpubench_diagnostic::print_warning;
use gpubench_store::{Home, RunName, StoreError, StoredRun, load};

/// Reads the run that a person names, and warns where it may lack benchmarks: they would look new
/// or removed.
///
/// # Errors
/// There is none, or it is refused.
pub(crate) fn load_run(name: &RunName, home: &Home) -> Result<StoredRun, StoreError> {
    let run = load(name, home)?;
    if !run.is_complete() {
        print_warning(&format!(
            "the run in `{name}` did not come to its end: it may lack benchmarks"
        ));
    }
    Ok(run)
}
