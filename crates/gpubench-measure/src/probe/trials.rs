//! Trials that a GPU must pass before it measures anything.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use gpubench_device::harness::Harness;
use gpubench_device::{self, Access, DeviceError, DeviceOrder, DevicePtr, Driver, Facts};
use gpubench_protocol::wire::SharedPage;

/// Time limit for a stream to pass an open gate.
const GATE: Duration = Duration::from_secs(2);

/// An open GPU and its trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The facts that it reports.
    pub facts: Facts,
    /// Each trial, with the error if it failed.
    pub trials: Vec<(Trial, Result<(), String>)>,
}

impl Opened {
    /// Returns the first failed trial and its error.
    pub fn first_failure(&self) -> Option<(Trial, &str)> {
        self.trials
            .iter()
            .find_map(|(trial, outcome)| Some((*trial, outcome.as_ref().err()?.as_str())))
    }
}

/// A trial of a GPU. Every window needs all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trial {
    /// Load the tool's own kernels.
    Kernels,
    /// Share memory by descriptor.
    Sharing,
    /// Hold a stream at a gate in shared host memory.
    Gate,
}

impl Trial {
    /// Returns the trial's description, to follow "the GPU cannot".
    pub fn what(self) -> &'static str {
        match self {
            Trial::Kernels => "load the tool's own kernels",
            Trial::Sharing => "share memory between processes",
            Trial::Gate => "hold a stream at a gate",
        }
    }
}

/// Opens a GPU by its number and runs every trial.
///
/// # Errors
/// If it cannot be opened.
pub(super) fn open(ordinal: u32) -> Result<Opened, DeviceError> {
    let mut driver = gpubench_device::open(&DeviceOrder::cuda(ordinal))?;
    let driver = &mut *driver;
    let trials = [
        (Trial::Kernels, Harness::load(driver).map(drop)),
        (Trial::Sharing, share(driver)),
        (Trial::Gate, pass_gate(driver)),
    ];
    Ok(Opened {
        facts: driver.facts().clone(),
        trials: trials
            .into_iter()
            .map(|(trial, outcome)| (trial, outcome.map_err(|error| gpubench_diagnostic::chain(&error))))
            .collect(),
    })
}

/// Makes an allocation, exports it, imports it as another process would, and maps it read-only.
fn share(driver: &mut dyn Driver) -> Result<(), DeviceError> {
    let bytes = driver.facts().granularity;
    let memory = driver.create(bytes)?;
    let shared = driver.export(memory)?;
    let imported = driver.import(shared, bytes)?;
    driver.map(imported, Access::Read)?;
    driver.release(imported);
    driver.release(memory);
    Ok(())
}

/// Makes a stream wait for a word of shared host memory, opens the gate, and waits for the word
/// that the stream writes next.
fn pass_gate(driver: &mut dyn Driver) -> Result<(), DeviceError> {
    let os = |source| DeviceError::Os {
        what: "making the shared page",
        source,
    };
    let page = SharedPage::create(1).map_err(os)?;
    let on_host = page.on_host();
    let on_device = page.mapped_at(driver.register(on_host.base(), page.bytes())?.0);
    let stream = driver.stream()?;
    driver.wait_value(stream, DevicePtr(on_device.go()), 1)?;
    driver.write_value(stream, DevicePtr(on_device.done()), 1)?;
    driver.store_value(on_host.go(), 1);
    if !driver.synchronize_within(stream, GATE)? {
        return Err(DeviceError::Unsupported(format!(
            "pass an open gate within {}",
            humantime::format_duration(GATE)
        )));
    }
    driver.unregister(on_host.base());
    match page.in_window(0).done.load(Ordering::Acquire) {
        1 => Ok(()),
        _ => Err(DeviceError::Unsupported(
            "write a word of shared host memory".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_device_shares_memory_and_passes_the_gate() {
        let mut driver = gpubench_device::open(&DeviceOrder::cpu(1, 0)).unwrap();
        share(&mut *driver).unwrap();
        pass_gate(&mut *driver).unwrap();
    }
}
