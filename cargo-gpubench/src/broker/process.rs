//! This process before it measures: its signals, its memory, its children and its descriptors.

use gpubench_diagnostic::{Failure, InternalError, SetupMissing};
use gpubench_measure::clients::{Interrupt, adopt_orphans, allow_many_descriptors};
use gpubench_measure::probe::{Answer, Target, ask};
use gpubench_sandbox::hide_from_others;

/// Catches Ctrl-C and the like from now on.
///
/// # Errors
/// The operating system refuses.
pub(super) fn catch_interrupts() -> Result<Interrupt, Failure> {
    Ok(Interrupt::catch().map_err(InternalError::because("cannot listen to signals"))?)
}

/// Catches Ctrl-C, and closes the memory of this process to others: the master seed is drawn in it,
/// and every buffer passes through it.
///
/// # Errors
/// The operating system refuses.
pub(super) fn guard_process() -> Result<Interrupt, Failure> {
    let interrupt = catch_interrupts()?;
    hide_from_others().map_err(InternalError::because(
        "cannot close the memory of this process to others",
    ))?;
    Ok(interrupt)
}

/// Makes the process ready to start roles. Cargo has built all that it builds: what
/// leaves processes behind from now on has them ended with a role.
pub(super) fn prepare_for_roles() {
    adopt_orphans();
    allow_many_descriptors();
}

/// Windows can be annotated.
///
/// # Errors
/// No profiler's library can do so: an empty profile would look like the profiler's fault.
pub(super) fn require_nvtx() -> Result<(), SetupMissing> {
    match ask::<String>(Target::Nvtx) {
        Answer::Given(_) => Ok(()),
        Answer::Absent(absence) => Err(absence.into()),
        Answer::Broken { how } => Err(SetupMissing {
            what: format!("the profiler's library {how}"),
            hint: "leave `--nvtx` out, or use another version of the profiler".to_owned(),
        }),
    }
}
