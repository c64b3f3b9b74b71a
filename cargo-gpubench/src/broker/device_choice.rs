//! The device of a run: what is asked for, or the best there is.

use gpubench::catalog::DeviceKind;

use super::options::{DeviceChoice, RunOptions};
use gpubench_device::DeviceOrder;
use gpubench_device::cpu::{self, available_threads};
use gpubench_device::{Absence, AbsenceKind, Facts};
use gpubench_diagnostic::{Failure, SetupMissing, chain, print_warning};
use gpubench_measure::clients::{Interrupt, Output, RefereeClient, RoleFailure};

/// Kinds that are tried where none is asked for, the best first.
const PREFERENCE: [DeviceKind; 2] = [DeviceKind::Cuda, DeviceKind::Cpu];

/// The device of a run.
pub(super) struct ChosenDevice {
    pub(super) order: DeviceOrder,
    pub(super) facts: Facts,
}

/// A device with the referee that found its facts out, where one had to; or why there is none.
type Opened = Result<(ChosenDevice, Option<RefereeClient>), Absence>;

/// How a kind of device is opened, and spoken of.
struct Kind {
    open: fn(&RunOptions, &Interrupt) -> Result<Opened, Failure>,
    /// `no GPU is used`.
    noun: &'static str,
    /// Where the first thing is missing, others may be: what looks at all of them.
    doctor: Option<&'static str>,
}

impl Kind {
    fn of(kind: DeviceKind) -> Kind {
        match kind {
            DeviceKind::Cpu => Kind {
                open: open_cpu,
                noun: "CPU device",
                doctor: None,
            },
            DeviceKind::Cuda => Kind {
                open: open_cuda,
                noun: "GPU",
                doctor: Some("`cargo gpubench doctor` says what else a GPU needs"),
            },
        }
    }

    fn refused(&self, absence: Absence) -> Failure {
        let Absence { reason, hint, .. } = absence;
        let hint = match self.doctor {
            Some(doctor) if !hint.contains("`cargo gpubench doctor`") => format!("{hint}; {doctor}"),
            _ => hint,
        };
        SetupMissing { what: reason, hint }.into()
    }
}

/// Opens the device that is asked for.
///
/// # Errors
/// It is not there, or the user interrupts.
pub(super) fn choose_device(
    options: &RunOptions,
    interrupt: &Interrupt,
) -> Result<(ChosenDevice, Option<RefereeClient>), Failure> {
    let kinds = match options.device.choice {
        DeviceChoice::Kind(kind) => vec![kind],
        DeviceChoice::Auto => PREFERENCE.to_vec(),
    };
    let mut kinds = kinds.into_iter().map(Kind::of).peekable();
    loop {
        let kind = kinds.next().expect("the last one is opened or refused");
        match (kind.open)(options, interrupt)? {
            Ok(chosen) => return Ok(chosen),
            Err(absence) if kinds.peek().is_none() => return Err(kind.refused(absence)),
            Err(absence) if absence.kind == AbsenceKind::Unusable => {
                print_warning(&format!("no {} is used: {absence}", kind.noun));
            }
            Err(_) => {}
        }
    }
}

fn open_cpu(options: &RunOptions, _: &Interrupt) -> Result<Opened, Failure> {
    if let Err(reason) = gpubench_harness::HOST_BUILD {
        return Ok(Err(Absence {
            kind: AbsenceKind::NotInstalled,
            reason: format!("this tool was built without the CPU device: {reason}"),
            hint: "build the tool again where a C++ compiler is found as `c++` or named in `CXX`".to_owned(),
        }));
    }
    let facts = cpu::facts(options.device.threads.unwrap_or_else(available_threads));
    let order = DeviceOrder::cpu(facts.device.multiprocessors, options.measurement.schedule);
    Ok(Ok((ChosenDevice { order, facts }, None)))
}

/// Only the referee has a context on the GPU, so only the referee can tell whether there is one.
fn open_cuda(options: &RunOptions, interrupt: &Interrupt) -> Result<Opened, Failure> {
    let order = DeviceOrder::cuda(options.device.ordinal);
    match RefereeClient::spawn(&order, Output::Captured, interrupt) {
        Ok(referee) => {
            let facts = referee.facts().clone();
            Ok(Ok((ChosenDevice { order, facts }, Some(referee))))
        }
        Err(RoleFailure::NoDevice(absence)) => Ok(Err(absence)),
        Err(interrupted @ RoleFailure::Interrupted) => Err(interrupted.into()),
        Err(failure) => Ok(Err(Absence {
            kind: AbsenceKind::Unusable,
            reason: format!("the GPU cannot be opened: {}", chain(&failure)),
            hint: "`cargo gpubench doctor` says what this machine can do".to_owned(),
        })),
    }
}
