//! Whether this machine has the device of earlier results.

use std::num::{NonZeroU32, NonZeroUsize};

use super::choice::choose_devices;
use super::environment::{DeviceSetup, device, environment};
use super::kind::SameKind;
use super::opened::ChosenDevice;
use crate::broker::options::{DeviceChoice, DeviceOptions, MeasurementOptions, RunOptions};
use gpubench_contract::DeviceIdentity;
use gpubench_device::clocks::ClockSetting;
use gpubench_device::{Backend, Ordinals, kind_in_records};
use gpubench_diagnostic::{ExitCode, Failure, SetupMissing, printable_line};
use gpubench_measure::clients::Interrupt;

/// What to do without the device of a history.
const HINT: &str = "confirm it on that machine, or compare two commits on this one with `--against`";

/// Returns the options of a run with the device, the flush and the clock of earlier results, on the
/// GPU with a UUID if it is known. Opens devices, but measures nothing.
///
/// # Errors
/// This machine lacks the device, or the same driver or processor.
pub(crate) fn on_device_of(
    earlier: &DeviceIdentity,
    gpu: Option<&str>,
    options: &RunOptions,
) -> Result<RunOptions, Failure> {
    let mut backends = Backend::ALL.into_iter();
    let backend = backends.find(|backend| kind_in_records(backend.kind) == earlier.kind);
    let threads = earlier.multiprocessors.filter(|_| earlier.kind.words().is_the_host);
    let threads = threads.and_then(|threads| NonZeroUsize::new(threads.try_into().ok()?));
    let megahertz = earlier.locked_sm_clock_mhz.and_then(|clock| clock.try_into().ok());
    let mut there = RunOptions {
        device: DeviceOptions {
            choice: backend.map_or(options.device.choice, |backend| DeviceChoice::Kind(backend.kind)),
            threads: threads.or(options.device.threads),
            ordinals: match gpu {
                Some(_) => Ordinals::All,
                None => options.device.ordinals.clone(),
            },
            ..options.device.clone()
        },
        measurement: MeasurementOptions {
            flush: earlier.flush.unwrap_or(options.measurement.flush),
            flush_bytes: earlier.flush_bytes,
            lock_clocks: megahertz.and_then(NonZeroU32::new).map(ClockSetting::Megahertz),
            ..options.measurement.clone()
        },
        ..options.clone()
    };
    let missing = |what: String| SetupMissing {
        what,
        hint: HINT.to_owned(),
    };
    let kinds = choose_devices(&there, &Interrupt::default()).map_err(|failure| match failure.exit_code() {
        ExitCode::SetupMissing => {
            let name = printable_line(&earlier.name);
            missing(format!("the history is of the device `{name}`, but {failure}")).into()
        }
        _ => failure,
    })?;
    let devices = kinds.iter().flat_map(|SameKind { devices, .. }| devices);
    let mut refused = None;
    for ChosenDevice { order, facts } in devices {
        let setup = DeviceSetup {
            flush: there.measurement.flush,
            flush_bytes: there.measurement.flushed_bytes(facts),
            locked_mhz: megahertz,
        };
        let here = DeviceIdentity::in_environment(&device(facts), &environment(facts, setup, None));
        let of_gpu = || {
            let (there, here) = (gpu?.to_owned(), facts.identity.clone().unwrap_or_default());
            (there != here).then_some(("GPU", there, here))
        };
        match earlier.difference(&here).or_else(of_gpu) {
            None => {
                there.device.ordinals = Ordinals::one(order.ordinal);
                return Ok(there);
            }
            Some((what, there, here)) => {
                let [there, here] = [there, here].map(|value| printable_line(&value));
                let what = format!("the history is of another {what}: `{there}`; here it is `{here}`");
                refused.get_or_insert_with(|| missing(what));
            }
        }
    }
    // There is at least one device.
    refused.map_or(Ok(there), |refused| Err(refused.into()))
}
