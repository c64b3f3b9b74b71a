//! What counts on the device of a run.

use crate::broker::cases::Case;
use gpubench_device::{Backend, DeviceOrder};
use gpubench_diagnostic::SetupMissing;
use gpubench_measure::probe::{Answer, CounterTarget, ask_counter};

/// The counters that a run needs.
#[derive(Clone, Debug, Default)]
pub(in crate::broker) struct Counters {
    /// A description of what counts instructions.
    pub(in crate::broker) instructions: Option<String>,
    /// A description of what reads hardware metrics.
    pub(in crate::broker) hardware: Option<String>,
}

impl Counters {
    /// Returns the counters for these cases.
    ///
    /// # Errors
    /// The device cannot count what a case needs, or does not have one of its metrics.
    pub(in crate::broker) fn for_cases(cases: &[Case], device: DeviceOrder) -> Result<Counters, SetupMissing> {
        let mut metrics: Vec<String> = Vec::new();
        for name in cases.iter().flat_map(|case| case.metrics.hardware()) {
            if !metrics.contains(name) {
                metrics.push(name.clone());
            }
        }
        let counts_instructions = cases.iter().any(|case| case.metrics.counts_instructions());
        Ok(Counters {
            instructions: counts_instructions.then(|| find(device, Vec::new())).transpose()?,
            hardware: (!metrics.is_empty()).then(|| find(device, metrics)).transpose()?,
        })
    }
}

/// Returns a description of what counts on the device.
fn find(device: DeviceOrder, metrics: Vec<String>) -> Result<String, SetupMissing> {
    let backend = Backend::for_order(&device);
    let word = backend.words().word;
    let target = CounterTarget {
        device: if backend.is_numbered {
            format!("{word}:{}", device.ordinal)
        } else {
            word.to_owned()
        },
        metrics,
    };
    match ask_counter(backend, target) {
        Answer::Given(description) => Ok(description),
        Answer::Absent(absence) => Err(absence.into()),
        Answer::Broken { how } => Err(SetupMissing {
            what: format!("the counter of the device {how}"),
            hint: "leave out `--metric` to measure only the time".to_owned(),
        }),
    }
}
