//! Set-up of this process before it measures: signals, memory, children and descriptors.

use super::options::RunOptions;
use gpubench_diagnostic::{Failure, InternalError, SetupMissing};
use gpubench_measure::clients::{Interrupt, adopt_orphans, allow_many_descriptors};
use gpubench_measure::probe::{Answer, Target, ask};
use gpubench_sandbox::hide_from_others;

/// Starts catching Ctrl-C and similar signals.
///
/// # Errors
/// The operating system refuses.
pub(crate) fn catch_interrupts() -> Result<Interrupt, Failure> {
    Ok(Interrupt::catch().map_err(InternalError::because("cannot handle signals"))?)
}

/// Catches Ctrl-C, unless a debugger needs it, and protects the memory of this process from other
/// processes: it draws the master seed and handles every buffer.
///
/// # Errors
/// The operating system refuses.
pub(super) fn guard_process(options: &RunOptions) -> Result<Interrupt, Failure> {
    let interrupt = if options.is_debugged() {
        Interrupt::catch_but_ctrl_c().map_err(InternalError::because("cannot handle signals"))?
    } else {
        catch_interrupts()?
    };
    hide_from_others().map_err(InternalError::because(
        "cannot protect the memory of this process from other processes",
    ))?;
    Ok(interrupt)
}

/// Prepares the process to start roles. Call it after cargo's builds: from then on, processes that
/// a role leaves running are killed with it.
pub(super) fn prepare_for_roles() {
    adopt_orphans();
    allow_many_descriptors();
}

/// Checks that windows can be annotated.
///
/// # Errors
/// No profiler library can record ranges. An empty profile would look like the profiler's fault.
pub(super) fn require_nvtx() -> Result<(), SetupMissing> {
    match ask::<String>(Target::Nvtx) {
        Answer::Given(_) => Ok(()),
        Answer::Absent(absence) => Err(absence.into()),
        Answer::Broken { how } => Err(SetupMissing {
            what: format!("the profiler's library {how}"),
            hint: "leave out `--nvtx`, or use another version of the profiler".to_owned(),
        }),
    }
}
