//! `--lock-clocks`: the device's clocks are locked while cases are measured.

use super::turn::file_of_clocks;
use crate::broker::options::{Action, RunOptions};
use crate::broker::status::status;
use gpubench_device::telemetry::ThrottleReason;
use gpubench_device::{Backend, Facts};
use gpubench_diagnostic::{Failure, SetupMissing, print_warning};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::clock_lock::{ClockLock, ClockOrder};

/// Locks the clocks if the user asks for it and the run measures times. Call it when no other run
/// measures on the device.
///
/// # Errors
/// The clocks cannot be locked, or Ctrl-C.
pub(in crate::broker) fn lock_clocks(
    options: &RunOptions,
    facts: &Facts,
    interrupt: &Interrupt,
) -> Result<Option<ClockLock>, Failure> {
    let Some(setting) = options.measurement.lock_clocks else {
        return Ok(None);
    };
    if !matches!(options.action, Action::Measure | Action::Profile(_)) {
        return Ok(None);
    }
    let words = Backend::for_facts(facts).words();
    let (Some(_), Some(identity)) = (Backend::for_facts(facts).clocks, &facts.identity) else {
        return Err(SetupMissing {
            what: format!("the {} has no clocks that can be locked", words.noun),
            hint: "leave out `--lock-clocks`, or choose a GPU with `--device cuda`".to_owned(),
        }
        .into());
    };
    let lock_file = file_of_clocks(facts).map_err(|error| SetupMissing {
        what: format!("cannot keep other runs from changing the clocks: {error}"),
        hint: "set `XDG_RUNTIME_DIR` to a folder of yours".to_owned(),
    })?;
    warn_of_other_settings(facts);
    let order = ClockOrder {
        device: words.word.to_owned(),
        identity: identity.clone(),
        setting,
        lock_file: lock_file.into_std_path_buf(),
    };
    let locked = ClockLock::take(&order, interrupt)?;
    let megahertz = locked.megahertz();
    status(
        options.output.verbosity,
        "Locked",
        format_args!("the multiprocessors' clock at {megahertz} MHz until the end of the run"),
    );
    Ok(Some(locked))
}

/// Unlocks the clocks. A failure is a warning: the results are valid.
pub(in crate::broker) fn unlock_clocks(clocks: Option<ClockLock>, options: &RunOptions) {
    match clocks.map(ClockLock::release) {
        None => {}
        Some(Ok(())) => status(options.output.verbosity, "Unlocked", "the multiprocessors' clock"),
        Some(Err(still_locked)) => print_warning(&still_locked),
    }
}

/// Warns if somebody's setting limits the clocks already. It may be a lock, which NVML cannot read.
fn warn_of_other_settings(facts: &Facts) {
    let reasons = (Backend::for_facts(facts).gauge)(facts).and_then(|mut gauge| gauge.throttle_reasons());
    if reasons.is_some_and(|reasons| reasons.contains(&ThrottleReason::ApplicationsClocks)) {
        print_warning(
            &"a setting already limits the clocks of this GPU; if it is a lock, this run replaces it and removes it at the end",
        );
    }
}
