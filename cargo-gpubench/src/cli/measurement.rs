//! Options that say on what, how long and how often is measured.
#![forbid(unsafe_code)]

use std::num::NonZeroUsize;
use std::str::FromStr;

use clap::ValueEnum;
use gpubench::catalog::DeviceKind;

use super::settings::{DeviceArguments, MeasurementArguments};
use crate::broker::options::{DeviceChoice, DeviceOptions, MasterSeed, MeasurementOptions};
use crate::config::{CaseLayers, ThreadCount};
use crate::wire::FlushKind;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum FlushArgument {
    /// Read through the flush buffer
    Read,
    /// Write the flush buffer
    Write,
}

impl From<FlushArgument> for FlushKind {
    fn from(flush: FlushArgument) -> Self {
        match flush {
            FlushArgument::Read => Self::Read,
            FlushArgument::Write => Self::Write,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceArgument {
    choice: DeviceChoice,
    ordinal: u32,
}

/// A `--device` that is none.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is none of `auto`, `cpu`, `cuda` and `cuda:NUMBER`")]
pub(super) struct UnknownDevice(String);

impl FromStr for DeviceArgument {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, UnknownDevice> {
        let first = |choice| Self { choice, ordinal: 0 };
        let unknown = || UnknownDevice(text.to_owned());
        match text {
            "auto" => Ok(first(DeviceChoice::Auto)),
            "cpu" => Ok(first(DeviceChoice::Kind(DeviceKind::Cpu))),
            "cuda" => Ok(first(DeviceChoice::Kind(DeviceKind::Cuda))),
            _ => {
                let ordinal = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                Ok(Self {
                    choice: DeviceChoice::Kind(DeviceKind::Cuda),
                    ordinal: ordinal.parse().map_err(|_| unknown())?,
                })
            }
        }
    }
}

impl DeviceArguments {
    /// The device, with this many threads where it is the CPU device.
    pub(super) fn into_options(self, threads: Option<NonZeroUsize>) -> DeviceOptions {
        DeviceOptions {
            choice: self.device.choice,
            threads,
            ordinal: self.device.ordinal,
            nvrtc: self.nvrtc,
        }
    }
}

impl MeasurementArguments {
    /// What is asked for, where `cases` says which settings hold for which cases.
    pub(super) fn into_options(self, cases: CaseLayers) -> (DeviceOptions, MeasurementOptions) {
        let measurement = MeasurementOptions {
            seed: self
                .seed
                .map_or(MasterSeed::Fresh, |seed| MasterSeed::Pinned(seed.bytes())),
            flush_bytes: self.flush_bytes.map(|size| size.bytes()),
            flush: self.flush.into(),
            schedule: self.schedule,
            cases,
        };
        let threads = self.threads.map(ThreadCount::number);
        (self.device.into_options(threads), measurement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_by_its_kind_and_number() {
        let parsed = |text: &str| {
            text.parse::<DeviceArgument>()
                .map(|device| (device.choice, device.ordinal))
        };
        assert_eq!(parsed("auto").unwrap(), (DeviceChoice::Auto, 0));
        assert_eq!(parsed("cuda").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 0));
        assert_eq!(parsed("cuda:3").unwrap(), (DeviceChoice::Kind(DeviceKind::Cuda), 3));
        for wrong in ["gpu", "cuda:", "cuda:-1", "cpu:0", "CUDA"] {
            assert!(parsed(wrong).unwrap_err().to_string().contains(&format!("`{wrong}`")));
        }
    }
}
