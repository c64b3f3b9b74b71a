//! This process before it measures: its signals, its memory, its children and its descriptors.

use super::options::Annotations;
use crate::error::ExpectedError;
use gpubench_device::Absence;
use gpubench_measure::clients::{Interrupt, adopt_orphans, allow_many_descriptors};
use gpubench_measure::probe::{Answer, Target, ask};
use gpubench_protocol::sandbox::hide_from_others;

/// Catches Ctrl-C and the like from now on.
///
/// # Errors
/// The operating system refuses.
pub(super) fn catch_interrupts() -> Result<Interrupt, ExpectedError> {
    Interrupt::catch().map_err(|source| ExpectedError::Internal {
        what: "cannot listen to signals".to_owned(),
        source: source.into(),
    })
}

/// Catches Ctrl-C, and closes the memory of this process to others: the master seed is drawn in it, and every buffer
/// passes through it.
///
/// # Errors
/// The operating system refuses.
pub(super) fn guard_process() -> Result<Interrupt, ExpectedError> {
    let interrupt = catch_interrupts()?;
    hide_from_others().map_err(|source| ExpectedError::Internal {
        what: "cannot close the memory of this process to others".to_owned(),
        source: source.into(),
    })?;
    Ok(interrupt)
}

/// Makes the process ready to start roles. Nothing that it builds leaves processes behind any more.
///
/// # Errors
/// Windows are to be annotated, and no profiler's library can do so: an empty profile would look like the profiler's fault.
pub(super) fn prepare_for_roles(annotations: Annotations) -> Result<(), ExpectedError> {
    if annotations == Annotations::Nvtx {
        require_nvtx()?;
    }
    adopt_orphans();
    allow_many_descriptors();
    Ok(())
}

fn require_nvtx() -> Result<(), ExpectedError> {
    match ask::<String>(Target::Nvtx) {
        Answer::Given(_) => Ok(()),
        Answer::Absent(Absence { reason, hint, .. }) => Err(ExpectedError::SetupMissing { what: reason, hint }),
        Answer::Broken { how } => Err(ExpectedError::SetupMissing {
            what: format!("the profiler's library {how}"),
            hint: "leave `--nvtx` out, or use another version of the profiler".to_owned(),
        }),
    }
}
