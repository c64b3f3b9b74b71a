//! Devices of one kind, which share the cases of a run.

use super::opened::{ChosenDevice, OpenDevice};
use crate::broker::options::{Audit, ObserverChoice, RunOptions};
use gpubench_contract::units::counted;
use gpubench_device::{Backend, Facts};
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_measure::clients::RefereeClient;

/// Devices that a plan cannot tell apart, at least one.
pub(in crate::broker) struct SameKind {
    /// What cases are prepared for: the first device, with the memory that all have.
    pub(in crate::broker) shared: ChosenDevice,
    /// The devices, in the order of their numbers.
    pub(in crate::broker) devices: Vec<ChosenDevice>,
    /// A referee that already runs, for each device.
    pub(in crate::broker) referees: Vec<Option<RefereeClient>>,
}

impl SameKind {
    /// Divides devices by kind, in the order of the first of each.
    pub(super) fn divide(opened: Vec<OpenDevice>) -> Vec<SameKind> {
        let mut kinds: Vec<SameKind> = Vec::new();
        for OpenDevice { device, referee } in opened {
            match kinds
                .iter_mut()
                .find(|kind| is_alike(&kind.shared.facts, &device.facts))
            {
                Some(kind) => {
                    let free = &mut kind.shared.facts.free_memory;
                    *free = (*free).min(device.facts.free_memory);
                    kind.devices.push(device);
                    kind.referees.push(referee);
                }
                None => kinds.push(SameKind {
                    shared: device.clone(),
                    devices: vec![device],
                    referees: vec![referee],
                }),
            }
        }
        kinds
    }

    /// Returns how people call the devices: `Fake GPU (cuda:0, cuda:2)`.
    fn named(&self) -> String {
        let word = Backend::for_facts(&self.shared.facts).words().word;
        let numbers = self
            .devices
            .iter()
            .map(|device| format!("{word}:{}", device.order.ordinal));
        let numbers: Vec<String> = numbers.collect();
        format!("`{}` ({})", self.shared.facts.device.name, numbers.join(", "))
    }

    /// Returns the value of `--device` that chooses these devices.
    fn chosen_by(&self) -> String {
        let word = Backend::for_facts(&self.shared.facts).words().word;
        let numbers: Vec<String> = self
            .devices
            .iter()
            .map(|device| device.order.ordinal.to_string())
            .collect();
        format!("`--device {word}:{}`", numbers.join(","))
    }
}

/// Whether the same plan suits both, and their times belong into one table.
pub(in crate::broker) fn is_alike(one: &Facts, other: &Facts) -> bool {
    one.device == other.device && one.driver == other.driver && one.peak_bandwidth == other.peak_bandwidth
}

/// An option that several devices cannot have.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum SeveralDevicesError {
    /// The option is about one device.
    #[error("`{option}` watches a single GPU, and `--device` names {devices}")]
    OneDevice {
        /// The option.
        option: &'static str,
        /// How many GPUs there are.
        devices: usize,
        /// A device to use instead.
        instead: String,
    },
    /// The option writes one file, and each kind has results of its own.
    #[error("`{option}` is about one kind of device, and these are {}: {kinds}", counted(*.number, "kind"))]
    OneKind {
        /// The option.
        option: &'static str,
        /// The number of kinds.
        number: usize,
        /// The kinds, with their devices.
        kinds: String,
        /// The values of `--device` to use one after the other.
        instead: String,
    },
}

impl Expected for SeveralDevicesError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            SeveralDevicesError::OneDevice { option, instead, .. } => {
                format!("choose one with {instead}, or leave out `{option}`")
            }
            SeveralDevicesError::OneKind { instead, .. } => format!("run once for each kind: {instead}"),
        })
    }
}

/// Checks that the options make sense for the chosen devices.
///
/// # Errors
/// An option is about a single device or a single kind, and there are more.
pub(in crate::broker) fn ensure_combinable(
    options: &RunOptions,
    kinds: &[SameKind],
) -> Result<(), SeveralDevicesError> {
    let devices = kinds.iter().map(|kind| kind.devices.len()).sum();
    if devices > 1
        && let Some(option) = watching(options)
    {
        let word = Backend::for_facts(&kinds[0].shared.facts).words().word;
        let instead = format!("`--device {word}:{}`", kinds[0].devices[0].order.ordinal);
        return Err(SeveralDevicesError::OneDevice {
            option,
            devices,
            instead,
        });
    }
    if kinds.len() > 1
        && let Some(option) = writing(options)
    {
        let kinds_named: Vec<String> = kinds.iter().map(SameKind::named).collect();
        let instead: Vec<String> = kinds.iter().map(SameKind::chosen_by).collect();
        return Err(SeveralDevicesError::OneKind {
            option,
            number: kinds.len(),
            kinds: kinds_named.join(", "),
            instead: instead.join(", then "),
        });
    }
    Ok(())
}

/// Returns the first option that watches what one device does.
fn watching(options: &RunOptions) -> Option<&'static str> {
    let of_observer = options.observer.as_ref().and_then(|observer| match observer {
        ObserverChoice::Sanitizer(_) => None,
        ObserverChoice::Profiler(..) => Some("--profile-with"),
        ObserverChoice::Debugger(_) => Some("--debugger"),
    });
    let of_audit = (options.measurement.audit == Audit::Made).then_some("--audit");
    of_observer.or(of_audit)
}

/// Returns the first option that reads or writes one file for the whole run.
fn writing(options: &RunOptions) -> Option<&'static str> {
    let results = &options.results;
    let named = [
        (results.save.is_some(), "--save-baseline"),
        (results.baseline.is_some(), "--baseline"),
        (results.page.is_some(), "--report"),
        (options.output.reward.is_some(), "--reward"),
        (options.output.records.is_some(), "--resume"),
    ];
    let of_results = named
        .into_iter()
        .find_map(|(is_there, option)| is_there.then_some(option));
    of_results.or_else(|| options.output.exports.first().map(|export| export.format.option()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_device::{DeviceOrder, cpu};

    fn opened(ordinal: u32, name: &str, free_memory: u64) -> OpenDevice {
        let mut facts = cpu::facts(std::num::NonZeroUsize::MIN);
        facts.device.name = name.to_owned();
        facts.free_memory = Some(free_memory);
        let order = DeviceOrder::cuda(ordinal);
        OpenDevice {
            device: ChosenDevice { order, facts },
            referee: None,
        }
    }

    #[test]
    fn devices_that_a_plan_cannot_tell_apart_are_of_one_kind_with_the_memory_that_all_have() {
        let kinds = SameKind::divide(vec![opened(0, "A", 9), opened(1, "B", 8), opened(2, "A", 7)]);
        let ordinals = |kind: &SameKind| -> Vec<u32> { kind.devices.iter().map(|it| it.order.ordinal).collect() };
        assert_eq!(kinds.iter().map(ordinals).collect::<Vec<_>>(), [vec![0, 2], vec![1]]);
        assert_eq!(kinds[0].shared.facts.free_memory, Some(7));
        assert_eq!(
            kinds[0].devices[0].facts.free_memory,
            Some(9),
            "what the device itself has"
        );
    }
}
