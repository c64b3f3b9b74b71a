//! The choice of a run's device: the requested one, or the best available.

use std::num::NonZeroUsize;

use crate::broker::options::{DeviceOptions, RunOptions};
use gpubench_device::cpu::available_threads;
use gpubench_device::{Absence, AbsenceKind, Backend, DeviceOrder, DeviceRequest, Facts};
use gpubench_diagnostic::{Failure, SetupMissing, chain, print_warning};
use gpubench_measure::clients::{Interrupt, Output, RefereeClient, RoleFailure};

/// The chosen device of a run.
pub(in crate::broker) struct ChosenDevice {
    pub(in crate::broker) order: DeviceOrder,
    pub(in crate::broker) facts: Facts,
}

/// A usable device, with the referee if one was started to query it; or why the device is not
/// usable.
type Opened = Result<(ChosenDevice, Option<RefereeClient>), Absence>;

/// Finds the first usable device that the options admit, in the order of [`Backend::ALL`].
///
/// # Errors
/// No admitted device is usable, or the user interrupts.
pub(in crate::broker) fn choose_device(
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<(ChosenDevice, Option<RefereeClient>), Failure> {
    let DeviceOptions {
        choice,
        threads,
        ordinal,
        ..
    } = options.device;
    let wishes = DeviceRequest {
        ordinal,
        threads,
        schedule: options.measurement.schedule.unwrap_or_default(),
    };
    let admitted = Backend::ALL.into_iter().filter(|backend| choice.admits(backend.kind));
    let mut backends = admitted.peekable();
    loop {
        let backend = backends.next().expect("the last one is opened or refused");
        match open(backend, (backend.order)(&wishes), interrupt)? {
            Ok(chosen) => {
                warn_of_crowding(&chosen.0.facts, threads);
                return Ok(chosen);
            }
            Err(absence) if backends.peek().is_none() => return Err(refused(backend, absence)),
            Err(absence) if absence.kind == AbsenceKind::Unusable => {
                print_warning(&format!("not using a {}: {absence}", backend.words().noun));
            }
            Err(_) => {}
        }
    }
}

fn open(backend: &Backend, order: DeviceOrder, interrupt: &Interrupt) -> Result<Opened, Failure> {
    match (backend.facts)(&order) {
        Ok(Some(facts)) => return Ok(Ok((ChosenDevice { order, facts }, None))),
        Ok(None) => {}
        Err(absence) => return Ok(Err(absence)),
    }
    let opened = std::thread::scope(|threads| {
        threads.spawn(backend.load_telemetry);
        RefereeClient::spawn(&order, Output::Captured, interrupt)
    });
    match opened {
        Ok(referee) => {
            let facts = referee.facts().clone();
            Ok(Ok((ChosenDevice { order, facts }, Some(referee))))
        }
        Err(RoleFailure::NoDevice(absence)) => Ok(Err(absence)),
        Err(interrupted @ RoleFailure::Interrupted) => Err(interrupted.into()),
        Err(failure) => Ok(Err(Absence {
            kind: AbsenceKind::Unusable,
            reason: format!("the {} cannot be opened: {}", backend.words().noun, chain(&failure)),
            hint: "run `cargo gpubench doctor` to see what this machine supports".to_owned(),
        })),
    }
}

/// Warns if there are more threads than processors: the threads wait for each other at every
/// barrier of every block.
fn warn_of_crowding(facts: &Facts, threads: Option<NonZeroUsize>) {
    let processors = available_threads();
    let crowded = threads.filter(|threads| *threads > processors && Backend::for_facts(facts).words().is_the_host);
    if let Some(threads) = crowded {
        print_warning(&format!(
            "{threads} threads share {processors} processors, so they wait for each other and times include the waits (hint: leave out `--threads`)"
        ));
    }
}

fn refused(backend: &Backend, absence: Absence) -> Failure {
    let Absence { reason, hint, .. } = absence;
    let hint = match backend.hint {
        Some(more) if !hint.contains("`cargo gpubench doctor`") => format!("{hint}; {more}"),
        _ => hint,
    };
    SetupMissing { what: reason, hint }.into()
}
