//! Options of the device and the measurement.

use std::num::NonZeroUsize;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::settings::{DeviceArguments, MeasurementArguments};
use crate::broker::options::{Audit, DeviceChoice, DeviceOptions, MeasurementOptions, OtherRuns};
use crate::config::{CaseLayers, ThreadCount};
use gpubench_contract::Flush;
use gpubench_device::Backend;
use gpubench_device::compilers::NamedCompilers;
use gpubench_measure::measurement::Energy;

/// Returns the parser of `--flush`.
pub(super) fn flush_kinds() -> impl TypedValueParser<Value = Flush> {
    PossibleValuesParser::new(["read", "write"]).map(|kind| match &*kind {
        "write" => Flush::Write,
        _ => Flush::Read,
    })
}

/// An invalid value of `--device`.
#[derive(Debug, thiserror::Error)]
#[error("unknown device `{0}`; use `auto`, `cpu`, `cuda` or `cuda:NUMBER`")]
pub(super) struct UnknownDevice(String);

/// Reads a kind of device and its number.
pub(super) fn parse_device(text: &str) -> Result<(DeviceChoice, u32), UnknownDevice> {
    if text == "auto" {
        return Ok((DeviceChoice::Auto, 0));
    }
    let (backend, ordinal) = Backend::parse(text).ok_or_else(|| UnknownDevice(text.to_owned()))?;
    Ok((DeviceChoice::Kind(backend.kind), ordinal))
}

/// Reads a device like [`parse_device`], and offers the kinds for completion.
#[derive(Clone, Debug)]
pub(super) struct DeviceParser;

impl TypedValueParser for DeviceParser {
    type Value = (DeviceChoice, u32);

    fn parse_ref(
        &self,
        command: &clap::Command,
        option: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Self::Value, clap::Error> {
        parse_device.parse_ref(command, option, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let kinds = ["auto", "cpu", "cuda"];
        Some(Box::new(kinds.into_iter().map(PossibleValue::new)))
    }
}

impl DeviceArguments {
    /// Returns the options of the device. `threads` applies to the CPU device.
    pub(super) fn into_options(self, threads: Option<NonZeroUsize>) -> DeviceOptions {
        let (choice, ordinal) = self.device;
        DeviceOptions {
            choice,
            ordinal,
            threads,
            compilers: NamedCompilers {
                nvrtc: self.nvrtc,
                nvcc: self.nvcc,
            },
        }
    }
}

impl MeasurementArguments {
    /// Returns the options. `cases` has the settings that may differ between cases.
    pub(super) fn into_options(self, cases: CaseLayers) -> (DeviceOptions, MeasurementOptions) {
        let measurement = MeasurementOptions {
            seed: self.seed.unwrap_or_default(),
            flush_bytes: self.flush_bytes,
            flush: self.flush,
            schedule: self.schedule,
            other_runs: if self.no_wait {
                OtherRuns::Ignored
            } else {
                OtherRuns::Awaited
            },
            energy: if self.energy { Energy::Measured } else { Energy::Ignored },
            audit: if self.audit { Audit::Made } else { Audit::Left },
            lock_clocks: self.lock_clocks,
            cases,
        };
        let threads = self.threads.map(ThreadCount::number);
        (self.device.into_options(threads), measurement)
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::DeviceKind;

    use super::*;

    #[test]
    fn a_device_is_named_by_its_kind_and_number() {
        let parsed = parse_device;
        assert_eq!(parsed("auto").unwrap(), (DeviceChoice::Auto, 0));
        assert_eq!(parsed("cuda").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 0));
        assert_eq!(parsed("cuda:3").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 3));
        for wrong in ["gpu", "cuda:", "cuda:-1", "cpu:0", "CUDA"] {
            assert!(parsed(wrong).unwrap_err().to_string().contains(&format!("`{wrong}`")));
        }
    }
}
