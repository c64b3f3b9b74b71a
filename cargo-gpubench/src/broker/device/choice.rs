//! The choice of a run's devices: the requested ones, or the best available.

use std::num::NonZeroUsize;

use super::kind::SameKind;
use super::opened::{ChosenDevice, OpenDevice};
use crate::broker::options::{DeviceOptions, RunOptions};
use gpubench_device::cpu::available_threads;
use gpubench_device::{Absence, AbsenceKind, Backend, DeviceRequest, Facts, Ordinals};
use gpubench_diagnostic::{Failure, SetupMissing, chain, print_warning};
use gpubench_measure::clients::{Interrupt, Output, RefereeClient, RoleFailure};

/// Finds the first kind of device that the options admit and this machine has, in the order of
/// [`Backend::ALL`], and opens the requested devices of it, one at a time: a driver makes contexts
/// one after another anyway. Returns them by kind, at least one.
///
/// # Errors
/// No admitted device is usable, a requested one is not, or the user interrupts.
pub(in crate::broker) fn choose_devices(options: &RunOptions, interrupt: &Interrupt) -> Result<Vec<SameKind>, Failure> {
    let DeviceOptions { choice, threads, .. } = options.device;
    let admitted = Backend::ALL.into_iter().filter(|backend| choice.admits(backend.kind));
    let mut backends = admitted.peekable();
    loop {
        let backend = backends.next().expect("the last one is opened or refused");
        let opened = match &options.device.ordinals {
            Ordinals::Listed(listed) => open_listed(backend, listed, options, interrupt)?,
            Ordinals::All => open_all(backend, options, interrupt)?,
        };
        match opened {
            Ok(opened) => {
                let kinds = SameKind::divide(opened);
                warn_of_crowding(&kinds[0].shared.facts, threads);
                return Ok(kinds);
            }
            Err(absence) if backends.peek().is_none() => return Err(refused(backend, absence)),
            Err(absence) if absence.kind != AbsenceKind::NotInstalled => {
                print_warning(&format!("not using a {}: {absence}", backend.words().noun));
            }
            Err(_) => {}
        }
    }
}

/// Opens the devices with some numbers, or says why the first of them that cannot be opened cannot.
fn open_listed(
    backend: &Backend,
    listed: &[u32],
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<Result<Vec<OpenDevice>, Absence>, Failure> {
    let opened = listed.iter().map(|ordinal| open(backend, *ordinal, options, interrupt));
    // The inner result ends the list too.
    opened.collect::<Result<Result<Vec<OpenDevice>, Absence>, Failure>>()
}

/// Opens every device that can be used. Warns of the others.
fn open_all(
    backend: &Backend,
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<Result<Vec<OpenDevice>, Absence>, Failure> {
    let mut found = Vec::new();
    let mut unusable: Vec<Absence> = Vec::new();
    for ordinal in 0.. {
        match open(backend, ordinal, options, interrupt)? {
            Ok(opened) => found.push(opened),
            // The first failure tells more than that there are no devices beyond it.
            Err(absence) if absence.kind == AbsenceKind::BeyondLast => {
                unusable.push(absence);
                break;
            }
            // A reason that names no device is that of all.
            Err(absence) if unusable.iter().any(|known| known.reason == absence.reason) => break,
            Err(absence) if absence.kind == AbsenceKind::NotInstalled => {
                unusable.push(absence);
                break;
            }
            Err(absence) => unusable.push(absence),
        }
        if !backend.is_numbered {
            break;
        }
    }
    if found.is_empty() {
        return Ok(Err(unusable.swap_remove(0)));
    }
    for absence in unusable.iter().filter(|absence| absence.kind == AbsenceKind::Unusable) {
        print_warning(&format!("measuring without a {}: {absence}", backend.words().noun));
    }
    Ok(Ok(found))
}

fn open(
    backend: &Backend,
    ordinal: u32,
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<Result<OpenDevice, Absence>, Failure> {
    let order = (backend.order)(&DeviceRequest {
        ordinal,
        threads: options.device.threads,
        schedule: options.measurement.schedule.unwrap_or_default(),
    });
    match (backend.facts)(&order) {
        Ok(Some(facts)) => {
            let device = ChosenDevice { order, facts };
            return Ok(Ok(OpenDevice { device, referee: None }));
        }
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
            let order = order.with_identity(facts.identity.as_deref());
            let device = ChosenDevice { order, facts };
            Ok(Ok(OpenDevice {
                device,
                referee: Some(referee),
            }))
        }
        Err(RoleFailure::NoDevice(absence)) => Ok(Err(absence)),
        Err(interrupted @ RoleFailure::Interrupted) => Err(interrupted.into()),
        Err(failure) => {
            let name = match backend.is_numbered {
                true => format!("`{}:{ordinal}`", backend.words().word),
                false => format!("the {}", backend.words().noun),
            };
            Ok(Err(Absence {
                kind: AbsenceKind::Unusable,
                reason: format!("{name} cannot be opened: {}", chain(&failure)),
                hint: "run `cargo gpubench doctor` to see what this machine supports".to_owned(),
            }))
        }
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
